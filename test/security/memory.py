"""test/security/memory.py - those who fill the server's memory, while another one reads. Each has a server of its own.

How much memory the process took at most is compared with --memory only of a build without sanitizers, whose own memory is
many times the server's.
"""
import json
import socket
import threading
import time

from peer import Peer, check, head
from server import Server

MB = 1024 * 1024
MEMORY_MB = 512
DOCS = "/dbs/s/colls/c/docs"
QUERY = (("x-ms-documentdb-isquery", "true"), ("Content-Type", "application/query+json"))
POLICY = {"id": "c", "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}}


class Reader:
    """Reads an item and asks for readiness, again and again, until it is stopped."""

    def __init__(self, server):
        self.server, self.took, self.problem, self.stopped = server, [], None, threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        peer = Peer(self.server.http)
        try:
            while not self.stopped.is_set():
                began = time.monotonic()
                peer.must(200, "GET", DOCS + "/1")
                peer.must(200, "GET", "/_orrery/ready")
                self.took.append(time.monotonic() - began)
        except Exception as problem:
            self.problem = problem

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join()
        check(self.problem is None, "the reader was hindered: %s", self.problem)
        check(len(self.took) > 0, "the reader read nothing")

    def told(self):
        took = sorted(self.took)
        return "%d reads of another, p50 %.1f ms, p99 %.1f ms" % (
            len(took), 1000 * took[len(took) // 2], 1000 * took[len(took) * 99 // 100])


def peak_mb(server):
    with open("/proc/%d/status" % server.process.pid) as file:
        return int(next(line for line in file if line.startswith("VmHWM")).split()[1]) // 1024


def attacked(world, attack):
    """Starts a server, has `attack` at it while another client reads, and sees that it stays in its bounds and ends well."""
    server = Server(world.server.program, "rocksdb", ["--memory", str(MEMORY_MB), "--log", "error"])
    with server:
        peer = Peer(server.http)
        peer.must(201, "POST", "/dbs", {"id": "s"})
        peer.must(201, "POST", "/dbs/s/colls", POLICY)
        peer.must(201, "POST", DOCS, {"id": "1", "pk": "a"})
        with Reader(server) as reader:
            told = attack(server)
        peak = peak_mb(server)
        check("asan" in server.program or peak <= MEMORY_MB * 1.1, "it took %d MB of %d MB", peak, MEMORY_MB)
        check(server.stop() == 0, "the server did not end well: %s", server.log()[-3000:])
    return "%s; at most %d MB; %s" % (told, peak, reader.told())


def send_all(server, count, data, source="127.0.0.1"):
    """Sends the same bytes on so many connections; what came of each, up to the end of what is there after a while."""
    came = [b""] * count

    def send(number):
        try:
            with socket.create_connection(("127.0.0.1", int(server.http.rsplit(":", 1)[1])), 60, (source, 0)) as s:
                try:
                    s.sendall(data)
                except (ConnectionResetError, BrokenPipeError):
                    pass
                held.wait(60)
                s.settimeout(5)
                came[number] = s.recv(65536)
        except OSError:
            pass

    held = threading.Event()
    threads = [threading.Thread(target=send, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    time_up = threading.Timer(3, held.set)  # how long they hold what they have: the reader reads meanwhile
    time_up.start()
    for thread in threads:
        thread.join()
    return [part[9:12].decode() for part in came]


def bodies_of_strangers(world):
    def attack(server):
        body = b"x" * (4 * MB - 1)
        lines = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (DOCS.encode(), 4 * MB)
        statuses = send_all(server, 66, lines + body)
        check(set(statuses) <= {"401", ""}, "%s", statuses)
        return "%d refused before their bodies" % statuses.count("401")
    return attacked(world, attack)


def bodies_of_one_peer(world):
    def attack(server):
        body = b"x" * (4 * MB - 1)
        statuses = send_all(server, 200, head("POST", DOCS, "Content-Length: %d\r\n" % (4 * MB)) + body, "127.0.0.2")
        check("503" in statuses and set(statuses) <= {"503", "408", ""}, "%s", statuses)
        return "%d refused" % statuses.count("503")
    return attacked(world, attack)


def writes_with_many_paths(world):
    def attack(server):
        item = {"id": "x", "pk": "a", **{"m%d" % i: i for i in range(120000)}}
        data = json.dumps(item).encode()
        statuses = []

        def write(number):
            for turn in range(3):
                try:
                    answer = Peer(server.http).ask("POST", DOCS, data.replace(b'"x"', b'"x%d-%d"' % (number, turn), 1))
                    statuses.append(answer.status)
                except OSError:
                    statuses.append(0)

        threads = [threading.Thread(target=write, args=(number,)) for number in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check(statuses.count(201) > 0 and set(statuses) <= {201, 429, 503}, "%s", set(statuses))
        told = Peer(server.http).must(200, "POST", DOCS, {"query": "SELECT VALUE COUNT(1) FROM c"}, headers=QUERY).json()
        check(told["Documents"] == [1 + statuses.count(201)], "%d were told that they are there, of %s", statuses.count(201), told)
        return "%d writes, %d refused" % (statuses.count(201), len(statuses) - statuses.count(201))
    return attacked(world, attack)


def scripts_of_many_containers(world):
    def attack(server):
        peer, source = Peer(server.http), "// %s" % ("x" * 2000000)
        containers = 8 if "asan" in server.program else 60
        for number in range(containers):
            path = "/dbs/s/colls/c%d" % number
            peer.must(201, "POST", "/dbs/s/colls", {**POLICY, "id": "c%d" % number})
            for script in range(8):
                peer.must(201, "POST", path + "/udfs", {"id": "f%d" % script, "body": source})
            check(peer.ask("POST", path + "/udfs", {"id": "more", "body": source}).status == 403, "no limit")
            check(len(peer.must(200, "GET", path + "/udfs/f7").json()["body"]) == len(source), "another body")
        metrics = peer.must(200, "GET", "/_orrery/metrics").body.decode()
        held = int(metrics.split('orrery_memory_bytes{holder="definitions"} ')[1].split()[0])
        check(0 < held < 1000 * 8 * containers, "definitions take %d bytes of memory", held)
        return "%d MB of scripts take %d KB of memory" % (2 * 8 * containers, held // 1024)
    return attacked(world, attack)


ALL = [("bodies of strangers", bodies_of_strangers), ("bodies of one peer", bodies_of_one_peer),
       ("writes with many paths", writes_with_many_paths), ("scripts of many containers", scripts_of_many_containers)]
