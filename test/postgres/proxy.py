"""test/postgres/proxy.py - stands between a server and its PostgreSQL, and fails as networks do when it is told to.

    with Proxy(postgres) as proxy:
        proxy.before(where)     what --store takes, by way of the proxy
        proxy.delay_s = 0.02    every piece comes later
        proxy.stall(), resume() what is sent arrives when it resumes, and so do connections
        proxy.reset()           every connection ends in the middle, whatever was on its way
        proxy.at(COMMIT, LOSE_ANSWER)   the next time somebody sends that; proxy.met() waits for it
        proxy.deliver()         what was kept arrives, and has been answered when this returns
        proxy.most = 10000      it stalls when so many bytes have gone through, both ways; proxy.met() waits for that, too
"""
import os
import socket
import struct
import threading
import time
import urllib.parse

COMMIT = b"\0commit\0"  # the statement's name, as a Bind message has it
AT_ONCE_COMMIT = b"\0advance_from\0"  # which is in the first piece of a commit that is sent whole
READY = b"Z\0\0\0\x05"  # the database is ready for the next
DONE = READY + b"I"  # outside of any transaction
AT_ONCE = struct.pack("ii", 1, 0)  # for SO_LINGER: the other side is told that the connection was reset

LOSE_ANSWER = "it is passed on and done, and the connection ends before the answer"
LOSE_ALL = "it is not passed on, and the connection ends"
STALL_BEFORE = "it is not passed on, nor anything else until resume()"
STALL_BEHIND = "it is passed on, and nothing else until resume()"
KEEP = "the connection ends, and what was sent on it arrives when it is delivered"


class Connection:
    """Two threads, one for each direction. The sockets are closed when both have ended."""

    def __init__(self, proxy, client):
        self.proxy, self.client = proxy, client
        self.server = socket.socket(socket.AF_UNIX)
        self.cut = False  # answers are read, and go nowhere
        self.open = 2
        self.kept, self.answered = False, threading.Event()
        threading.Thread(target=self.run, args=(self.requests,), daemon=True).start()

    def run(self, direction):
        try:
            direction()
        except OSError:
            pass  # either side has gone
        self.end()
        with self.proxy.changed:
            self.open -= 1
            last = self.open == 0
        if last:
            self.client.close()
            self.server.close()
            self.proxy.connections.discard(self)

    def end(self, reset=False):
        """Wakes whoever reads, and sends nothing."""
        for each in (self.client, self.server):
            try:
                if reset and each.family == socket.AF_INET:
                    each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
                each.shutdown(socket.SHUT_RD)
            except OSError:
                pass

    def requests(self):
        try:
            self.proxy.wait()
            self.server.connect(self.proxy.target)
        finally:
            threading.Thread(target=self.run, args=(self.answers,), daemon=True).start()
        before = b""
        while data := self.client.recv(1 << 16):
            self.proxy.carries(data)
            how = self.proxy.meets(before + data)
            if how == LOSE_ALL:
                return
            if how == KEEP:
                return self.keep(data)
            self.cut = self.cut or how == LOSE_ANSWER
            if how != STALL_BEHIND:
                self.proxy.wait()
            self.server.sendall(data)
            before = data[-len(COMMIT):]

    def keep(self, data):
        """To the client the connection is over; to the database it is not, and what comes on it comes late."""
        self.cut = self.kept = True
        self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        self.client.close()
        with self.proxy.changed:
            self.proxy.kept += 1
            self.proxy.changed.notify_all()
            self.proxy.changed.wait_for(lambda: self.proxy.delivers)
        self.server.sendall(data)
        self.answered.wait()
        with self.proxy.changed:
            self.proxy.kept -= 1
            self.proxy.changed.notify_all()

    def answers(self):
        while data := self.server.recv(1 << 16):
            self.proxy.carries(data)
            self.proxy.wait()
            if not self.cut:
                self.client.sendall(data)
            elif data[-len(DONE):-1] == READY and self.kept:
                self.answered.set()
                return
            elif data.endswith(DONE):
                return


class Proxy:
    def __init__(self, postgres):
        self.target = os.path.join(postgres.directory, ".s.PGSQL.5432")
        self.place = "host=" + urllib.parse.quote(postgres.directory, safe="")
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.delay_s, self.passes, self.rule, self.count = 0, True, None, 0
        self.bytes, self.most = 0, None
        self.kept, self.delivers = 0, False
        self.connections = set()
        self.changed = threading.Condition()
        threading.Thread(target=self.accept, daemon=True).start()

    def before(self, where):
        assert self.place in where, where
        return where.replace(self.place, "host=127.0.0.1&port=%d" % self.listener.getsockname()[1])

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections.add(Connection(self, client))

    def wait(self):
        with self.changed:
            self.changed.wait_for(lambda: self.passes)
        if self.delay_s:
            time.sleep(self.delay_s)

    def stall(self):
        with self.changed:
            self.passes = False

    def resume(self):
        with self.changed:
            self.passes = True
            self.changed.notify_all()

    def carries(self, data):
        """Before it is passed on."""
        with self.changed:
            self.bytes += len(data)
            if self.most is not None and self.bytes >= self.most:
                self.passes, self.most = False, None
                self.count += 1
                self.changed.notify_all()

    def reset(self):
        for each in list(self.connections):
            each.end(reset=True)

    # ---- at a certain message ----

    def at(self, message, how):
        self.rule, self.count = (message, how), 0

    def meets(self, data):
        with self.changed:
            if not self.rule or self.rule[0] not in data:
                return None
            how, self.rule = self.rule[1], None
            self.passes = self.passes and how not in (STALL_BEFORE, STALL_BEHIND)
            self.count += 1
            self.changed.notify_all()
            return how

    def met(self):
        with self.changed:
            self.changed.wait_for(lambda: self.count)

    def deliver(self):
        with self.changed:
            assert self.kept, "nothing was kept"
            self.delivers = True
            self.changed.notify_all()
            self.changed.wait_for(lambda: not self.kept)
            self.delivers = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        self.resume()
        self.reset()
