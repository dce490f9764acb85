"""tools/bench/tail.py - the slowest point reads of one steady client, while the server has large work to do.

ITEMS (200,000) of 1 KB in one container. The client, a process of its own, reads items of one partition key, one after the
other over one connection; each line tells what went on meanwhile. Both have all cores, as the work beside them has.
"""
import concurrent.futures
import json
import multiprocessing
import os
import random
import socket
import sys
import time

from ranges import Splitter
from rig import CREATES_A_SECOND, EMULATOR_KEY, SCRATCH, Server, load, requests_file, send
from scale import PROGRAM, clients, corpus, read_request, seconds_of

SECONDS = float(os.environ.get("SECONDS_EACH", "8"))
READS = 2000  # different ones
P999_MS_MAX, MAX_MS_MAX = 20, 250
READ_TENANT = "tenant-0"  # the one that is not deleted
NAMES = ("p50", "p99", "p99.9", "max")
SHARES = (0.5, 0.99, 0.999, 1)


# ---- the client ----


def receive(connection):
    got = connection.recv(65536)
    if not got:
        sys.exit("the connection of the reads was closed")
    return got


def read_answer(connection):
    """Whole, with its head."""
    got = receive(connection)
    while b"\r\n\r\n" not in got:
        got += receive(connection)
    head, _, body = got.partition(b"\r\n\r\n")
    size = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    while len(body) < size:
        body += receive(connection)
    return head


def times_of_reads(port, requests, ended):
    """Milliseconds of each, until it is told to end."""
    connection, times, number = socket.create_connection(("127.0.0.1", port)), [], 0
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while not ended.is_set():
        began = time.monotonic()
        connection.sendall(requests[number % len(requests)])
        head = read_answer(connection)
        times.append(1000 * (time.monotonic() - began))
        number += 1
        if not head.startswith(b"HTTP/1.1 200"):
            sys.exit(f"a read was answered {head[:40]}")
    return times


def read_steadily(port, requests, ended, results):
    """Puts None where a read has failed."""
    times = None
    try:
        times = times_of_reads(port, requests, ended)
    finally:
        results.put(times)


def slowest(server, requests, work):
    """What NAMES say, in milliseconds, of reads while work(ended) goes on. Where either fails there is nothing to tell."""
    ended, results = multiprocessing.Event(), multiprocessing.Queue()
    client = multiprocessing.Process(target=read_steadily, args=(server.port, requests, ended, results), daemon=True)
    client.start()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        beside = pool.submit(work, ended)
        time.sleep(SECONDS)
        ended.set()
        beside.result()
    times = sorted(results.get() or sys.exit("the reads have ended before their time"))
    client.join()
    return [times[min(len(times) - 1, int(share * len(times)))] for share in SHARES]


# ---- what goes on beside it; each returns soon after `ended` is set ----


class Beside:
    def __init__(self, server, data, items):
        self.server, self.data, self.items = server, data, items
        self.client = clients.Signed(server.url, EMULATOR_KEY)

    def ask(self, method, target, headers=(), body=None):
        status, answered, text = self.client.ask(method, target, list(headers), body)
        if status >= 300:
            sys.exit(f"{method} {target} answered {status}: {text}")
        return answered

    def nothing(self, ended):
        ended.wait()

    def creates(self, ended):
        """Until write buffers become files and files are merged."""
        start = 0
        while not ended.is_set():
            requests = requests_file("create", start, CREATES_A_SECOND)
            send(self.server.url, 16, "replay.lua", requests, seconds=1, core=None)
            os.remove(requests)
            start += CREATES_A_SECOND

    def reindexing(self, ended):
        """Another policy as soon as the one before is complete."""
        target, turn = "/" + corpus.LINK, 0
        while not ended.is_set():
            turn += 1
            policy = {"includedPaths": [{"path": "/*"}], "excludedPaths": [{"path": "/pad/*" if turn % 2 else "/owner/*"}]}
            self.ask("PUT", target, [], {"id": corpus.CONTAINER, "indexingPolicy": policy,
                                         "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}})
            while not ended.is_set() and self.progress(target) < 100:
                ended.wait(0.2)

    def progress(self, target):
        headers = self.ask("GET", target, [("x-ms-documentdb-populatequotainfo", "true")])
        return int(headers["x-ms-documentdb-collection-index-transformation-progress"])

    def backups(self, ended):
        number = 0
        while not ended.is_set():
            seconds_of("backup", f"copy-{number}", "--data", self.data)
            number += 1

    def splits(self, ended):
        """And merges."""
        splitter = Splitter(self.server.url, corpus.LINK)
        splitter.start()
        ended.wait()
        splitter.ended.set()
        splitter.join()

    def deletes(self, ended):
        """Every item of one partition key after the other, for as long as there are any."""
        for tenant in range(1, corpus.TENANTS):
            if not ended.is_set():
                self.ask("POST", f"/{corpus.LINK}/operations/partitionkeydelete", [("x-ms-documentdb-partitionkey", json.dumps([f"tenant-{tenant}"]))])


def bench_tail():
    items, data = int(os.environ.get("ITEMS", "200000")), os.path.join(SCRATCH, "tail")
    server = Server(data, core=None)
    corpus.load(PROGRAM, server.url, items)
    load(server, 0)  # where the creates go
    readable = [number for number in range(items) if corpus.tenant_of(number) == READ_TENANT]
    requests = [read_request(number).encode() for number in random.Random(1).choices(readable, k=READS)]
    beside = Beside(server, data, items)
    works = {"nothing": beside.nothing, "creates and compactions": beside.creates, "re-indexing": beside.reindexing,
             "backups": beside.backups, "splits and merges": beside.splits,
             f"a delete of {items // corpus.TENANTS:,d} items of a key": beside.deletes}
    print(f"point reads by one client, {items:,d} items of 1 KB, {SECONDS:.0f} s each, in ms")
    for name, work in works.items():
        found = slowest(server, requests, work)
        print(f"  beside {name:34s}" + "".join(f"   {of} {ms:7.2f}" for of, ms in zip(NAMES, found))
              + f"   (p99.9 at most {P999_MS_MAX}, max {MAX_MS_MAX})", flush=True)
    server.stop()
