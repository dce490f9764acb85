"""test/script/world.py - a server, a container with scripts, and clients that ask it for things."""
import contextlib
import glob
import json
import re
import shutil
import threading
import time

from client import Client, authorization, date_of, encoded, resource_of
from server import KEY, Server

COLL = "/dbs/d/colls/c"
SECONDS, MB = 1, 200
OTHERS = 2
P99_MS_MAX = 20  # of other clients, whatever a script does, on a machine that does nothing else


class World:
    def __init__(self, program, options=(), is_quiet=False):
        """is_quiet: nothing else runs on the machine."""
        self.server = Server(program, options=["--script-seconds", str(SECONDS), "--script-mb", str(MB), *options])
        self.is_quiet = is_quiet

    def open(self):
        self.server.start()
        self.ask("POST", "/dbs", {"id": "d"}, expect=201)
        self.container("c")

    def close(self):
        """A sanitizer's complaint is an exit status that is not 0; no child may be left."""
        children = self.children()
        status = self.server.stop()
        assert status == 0, "the server ended with %s:\n%s" % (status, self.server.log())
        assert_ended(children)

    def destroy(self):
        if self.server.process and self.server.process.poll() is None:
            self.server.process.kill()
            self.server.process.wait()
        shutil.rmtree(self.server.directory, ignore_errors=True)

    # ---- requests ----

    def send(self, method, target, body=None, key=None, headers=(), client=None):
        """(status, sub-status, body); a connection of its own unless one is given, so that any thread may ask."""
        date = date_of()
        kind, link = resource_of(target)
        headers = list(headers) + [("x-ms-date", date), ("x-ms-version", "2020-07-15"),
                                   ("authorization", encoded(authorization(KEY, method, kind, link, (date, ""))))]
        if key is not None:
            headers.append(("x-ms-documentdb-partitionkey", json.dumps([key])))
        own = client or Client(self.server.http)
        try:
            status, _, head, content = own.send(method, target, headers,
                                                None if body is None else json.dumps(body).encode())
        finally:
            if not client:
                own.close()
        named = dict((name.lower(), value) for name, value in head)
        return status, int(named.get("x-ms-substatus", 0)), json.loads(content) if content else None

    def ask(self, method, target, body=None, key=None, headers=(), expect=200):
        status, _, answer = self.send(method, target, body, key, headers)
        assert status in (expect if isinstance(expect, tuple) else (expect,)), "%s %s answered %s %s" % (method, target, status, answer)
        return answer

    def container(self, name):
        self.ask("POST", "/dbs/d/colls", {"id": name, "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}},
                 expect=201)

    def metric(self, name):
        client = Client(self.server.http)
        text = client.send("GET", "/_orrery/metrics", [("Host", "localhost")], None)[3].decode()
        client.close()
        return float(re.search("^orrery_%s (.*)$" % name, text, re.M).group(1))

    def procedure(self, name, source):
        self.ask("POST", COLL + "/sprocs", {"id": name, "body": source}, expect=201)

    def execute(self, name, args=(), key="a"):
        return self.send("POST", COLL + "/sprocs/" + name, list(args), key)

    def query(self, text, key="a"):
        return self.send("POST", COLL + "/docs", {"query": text}, key,
                         [("x-ms-documentdb-isquery", "true"), ("content-type", "application/query+json")])

    def count(self, key="a"):
        status, _, answer = self.query("SELECT VALUE COUNT(1) FROM c", key)
        assert status == 200, answer
        return answer["Documents"][0]

    # ---- children ----

    def children(self):
        """The processes that the server has started and not yet buried."""
        found = []
        for path in glob.glob("/proc/%d/task/*/children" % self.server.process.pid):
            with open(path) as file:
                found += map(int, file.read().split())
        return found

    def busy_child(self):
        """The one that uses the processor, once one does."""
        while True:
            for pid in self.children():
                with open("/proc/%d/stat" % pid) as file:
                    fields = file.read().rsplit(")", 1)[1].split()
                if fields[0] == "R" and int(fields[11]) > 5:
                    return pid


class Others:
    """Clients of other partitions who read and write while something else goes on, and how long they waited."""

    def __init__(self, world):
        self.world, self.times_s, self.problem = world, [], None
        self.ends = threading.Event()
        self.threads = [threading.Thread(target=self.work, args=(number,)) for number in range(OTHERS)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        for thread in self.threads:
            thread.join()
        assert not self.problem, self.problem

    def work(self, number):
        key, client = "other%d" % number, Client(self.world.server.http)
        try:
            while not self.ends.is_set():
                self.time(self.world.send, "POST", COLL + "/docs", {"id": "x", "pk": key}, key,
                          [("x-ms-documentdb-is-upsert", "true")], client)
                self.time(self.world.send, "GET", COLL + "/docs/x", None, key, (), client)
        except Exception as problem:
            self.problem = problem
        finally:
            client.close()

    def time(self, ask, *args):
        began = time.monotonic()
        status = ask(*args)[0]
        self.times_s.append(time.monotonic() - began)
        assert status in (200, 201), status

    @property
    def served(self):
        return len(self.times_s)

    def wait_ms(self, percent):
        """So many in a hundred waited no longer."""
        times = sorted(self.times_s)
        return 1000 * times[min(len(times) - 1, len(times) * percent // 100)]


@contextlib.contextmanager
def undisturbed(world, served_min=20):
    """What goes on inside leaves the others alone: each is answered as ever; on a quiet machine so many, and soon."""
    with Others(world) as others:
        yield others
    if world.is_quiet:
        assert others.served >= served_min, "others were served %d times" % others.served
        assert others.wait_ms(99) < P99_MS_MAX, "the slowest of others waited %.1f ms" % others.wait_ms(99)


def assert_ended(pids, within_s=10):
    """Those whose parent was killed are the system's to bury: it takes a moment."""
    until = time.monotonic() + within_s
    while any(is_running(pid) for pid in pids):
        assert time.monotonic() < until, "a child outlived the server"


def is_running(pid):
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def in_thread(function, *args):
    """Runs it beside; what comes back gives what it returned, and tells whether it has."""
    box = {}
    thread = threading.Thread(target=lambda: box.update(result=function(*args)))
    thread.start()

    def join():
        thread.join()
        return box["result"]
    join.is_over = lambda: not thread.is_alive()
    return join
