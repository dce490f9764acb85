"""test/client/proxy.py - stands between a client and a server, and fails where it is told to: once, at one request.

proxy = Proxy(server.http); proxy.arm(2, "crash after request"); ... proxy.url ...; proxy.fired; proxy.stop()

HTTP, or frames of Direct mode, of which the greeting is a request as well. A fault is a step and what happens there. What a crash leaves is nobody who listens, until the server would have started again.
"""
import os
import socket
import struct
import sys
import threading
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "direct"))

from frames import BYTE, ULONG, token, tokens_of

RESTART_SECONDS = 0.03  # of a crash: how long nobody listens. No test's outcome depends on it.
UNAVAILABLE = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\nx-ms-retry-after-ms: 0\r\n\r\n{}"
STEPS = ("before request", "half request", "after request", "half answer", "after answer")
FAULTS = [how + " " + step for how in ("cut", "reset", "crash") for step in STEPS] + [
    "refuse before request", "stall after request", "unavailable before request", "dribble after request"]


def body_bytes(head, is_answer):
    """How many bytes follow the head; None: chunks."""
    lines = head.decode("latin-1").split("\r\n")
    fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    if is_answer and lines[0].split()[1] in ("204", "304"):
        return 0
    if fields.get("transfer-encoding", "").lower() == "chunked":
        return None
    return int(fields.get("content-length", 0))


def unavailable(request):
    """503 in a frame; the greeting has no other words."""
    number = tokens_of(request[24:struct.unpack_from("<I", request)[0]])[0x4d]
    told = token(0x35, ULONG, number) + token(0x0c, ULONG, 0) + token(0x00, BYTE, 0)
    return struct.pack("<II", 24 + len(told), 503) + request[8:24] + told


def is_frame(data):
    return len(data) >= 8 and data[3] == 0


class Reader:
    """Whole messages from a connection; b"": it has ended."""

    def __init__(self, connection):
        self.connection, self.bytes = connection, b""

    def more(self):
        try:
            got = self.connection.recv(65536)
        except OSError:
            got = b""
        self.bytes += got
        return bool(got)

    def need(self, size):
        while len(self.bytes) < size:
            if not self.more():
                return False
        return True

    def take(self, size):
        message, self.bytes = self.bytes[:size], self.bytes[size:]
        return message

    def frame(self, is_answer):
        """One whole frame; its head has been seen to be one."""
        size, = struct.unpack_from("<I", self.bytes)
        if not self.need(size):
            return b""
        is_greeting = self.bytes[4:8] == b"\0\0\0\0" or (is_answer and 0x35 not in tokens_of(self.bytes[24:size]))
        if is_greeting or not tokens_of(self.bytes[24:size]).get(0x00 if is_answer else 0x02):
            return self.take(size)
        if not self.need(size + 4) or not self.need(size + 4 + struct.unpack_from("<I", self.bytes, size)[0]):
            return b""
        return self.take(size + 4 + struct.unpack_from("<I", self.bytes, size)[0])

    def message(self, is_answer):
        if not self.need(8):
            return b""
        if is_frame(self.bytes):
            return self.frame(is_answer)
        while b"\r\n\r\n" not in self.bytes:
            if not self.more():
                return b""
        head = self.bytes.index(b"\r\n\r\n") + 4
        body = body_bytes(self.bytes[:head], is_answer)
        while (not self.bytes[head:].endswith(b"0\r\n\r\n")) if body is None else len(self.bytes) < head + body:
            if not self.more():
                return b""
        size = len(self.bytes) if body is None else head + body
        message, self.bytes = self.bytes[:size], self.bytes[size:]
        return message


class Proxy:
    def __init__(self, url):
        place = urllib.parse.urlsplit(url)
        self.target = (place.hostname, place.port)
        self.lock, self.asked, self.at, self.fault, self.fired = threading.Lock(), 0, 0, None, False
        self.connections, self.ended = set(), False
        self.listener = None
        self.address = ("127.0.0.1", 0)
        self.listen()
        self.address = self.listener.getsockname()
        self.url = "http://127.0.0.1:%d" % self.address[1]

    def listen(self):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(self.address)
        listener.listen(64)
        self.listener = listener
        threading.Thread(target=self.accept, args=(listener,), daemon=True).start()

    def accept(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections.add(connection)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def close_listener(self):
        listener, self.listener = self.listener, None
        if listener:
            listener.shutdown(socket.SHUT_RDWR)  # accept() would keep it open
            listener.close()

    def stop(self):
        self.ended = True
        self.close_listener()
        for connection in list(self.connections):
            self.end(connection)

    def restart(self):
        with self.lock:
            if not self.ended and not self.listener:
                self.listen()

    def arm(self, at, fault):
        """The at-th request from now on, counted from 1, meets the fault."""
        with self.lock:
            self.asked, self.at, self.fault, self.fired = 0, at, fault, False

    def disarm(self):
        self.arm(0, None)

    def next_fault(self):
        with self.lock:
            self.asked += 1
            if self.fault and self.asked == self.at:
                self.fired = True
                return self.fault
            return ""

    def end(self, connection, resets=False):
        self.connections.discard(connection)
        try:
            if resets:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            else:
                connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        connection.close()

    def happen(self, fault, connection):
        """The end of the connection; of a crash, the end of all."""
        if fault.startswith(("crash", "refuse")):
            with self.lock:
                self.close_listener()
            for other in list(self.connections):
                self.end(other)
            threading.Timer(RESTART_SECONDS, self.restart).start()
        self.end(connection, fault.startswith("reset"))

    def serve(self, connection):
        upstream = socket.create_connection(self.target)
        upstream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        asking, answering = Reader(connection), Reader(upstream)
        try:
            while True:
                request = asking.message(False)
                if not request or not self.pass_on(request, connection, upstream, answering):
                    break
        except OSError:
            pass
        finally:
            upstream.close()
            self.end(connection)

    def pass_on(self, request, connection, upstream, answering):
        """One request and its answer; False: the connection is no more."""
        fault = self.next_fault()
        if fault.startswith("unavailable") and request[3:8] == bytes(5):
            fault = ""  # a greeting is not refused
        how, _, step = fault.partition(" ")
        if how == "unavailable":
            connection.sendall(unavailable(request) if is_frame(request) else UNAVAILABLE)
            return True
        if step == "half request":
            upstream.sendall(request[:len(request) // 2])
        elif step != "before request":
            upstream.sendall(request)
            answer = answering.message(True)
            if step == "half answer":
                connection.sendall(answer[:len(answer) // 2])
            elif how == "dribble":
                for i in range(len(answer)):
                    connection.sendall(answer[i:i + 1])
            elif how == "stall":
                connection.recv(1)  # until the client has had enough
            elif step != "after request":
                connection.sendall(answer)
        if not fault or how == "dribble":
            return True
        self.happen(fault, connection)
        return False
