"""test/security/crowds.py - greedy, slow and idle clients, while another one reads."""
import json
import os
import resource
import selectors
import socket
import struct
import time

from peer import Peer, check, head

DOCS = "/dbs/s/colls/c/docs"
READS, IDLE = 100, 4000
READ_SECONDS_MAX = 10  # a read that takes this long is one that was stopped
QUERIES_RUN, QUERIES_WAIT = max(32, min(96, 4 * len(os.sched_getaffinity(0)))), 1000  # POOL_SLOW_... in src/base/limits.h
WRITES = 50
QUERY = "x-ms-documentdb-isquery: true\r\nx-ms-documentdb-query-enablecrosspartition: true\r\nContent-Type: application/query+json\r\n"

ENDLESS = ["SELECT VALUE COUNT(1) FROM c " + " ".join("JOIN j%d IN c.list" % i for i in range(9)),
           "SELECT VALUE COUNT(1) FROM c JOIN a IN c.list JOIN b IN c.list JOIN d IN c.list "
           "WHERE REGEXMATCH(CONCAT(c.text, TOSTRING(a), '!'), '^(a+)+$')"]
LARGE = ["SELECT VALUE COUNT(1) FROM c WHERE c.n IN (%s)" % ",".join(["1"] * 250000),
         "SELECT " + "(" * 200000, "SELECT * FROM c WHERE " + "NOT " * 120000 + "true"]


def latencies(world):
    """Point reads, one after another, in seconds and in order of size."""
    peer, took = Peer(world.server.http), []
    for _ in range(READS):
        began = time.monotonic()
        peer.must(200, "GET", DOCS + "/1")
        took.append(time.monotonic() - began)
    check(max(took) < READ_SECONDS_MAX, "a point read took %.1f s", max(took))
    took.sort()
    return "point reads p50 %.1f ms, p99 %.1f ms" % (1000 * took[len(took) // 2], 1000 * took[len(took) * 99 // 100])


def query_bytes(text):
    body = json.dumps({"query": text}).encode()
    return head("POST", DOCS, QUERY + "Content-Length: %d\r\n" % len(body)).replace(
        b'x-ms-documentdb-partitionkey: ["a"]\r\n', b"") + body


def has_come(s):
    s.setblocking(False)
    try:
        return s.recv(100)
    except BlockingIOError:
        return b""


def leave(s):
    """For good: a client that only says it has nothing more to send still gets its answer."""
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def send_queries(world, texts):
    sockets = [world.peer.connect() for _ in texts]
    for s, text in zip(sockets, texts):
        s.sendall(query_bytes(text))
    return sockets


def query_bombs(world):
    """Each four times at once. The endless ones are under way during all of the reads; whoever leaves, ends his."""
    before = world.peer.metric("http_requests_on_pool_total")
    endless, large = send_queries(world, 4 * ENDLESS), send_queries(world, 4 * LARGE)
    while world.peer.metric("http_requests_on_pool_total") < before + len(endless) + len(large):
        world.reads()
    text = latencies(world)
    for s in endless:  # where reads are slow the deadline may have come: they had company up to then
        check(has_come(s)[9:12] in (b"", b"408"), "an endless query was answered: the reads had no company")
    late = []
    for s, query in zip(large, 4 * LARGE):
        s.settimeout(120)
        status = int(s.recv(12)[9:12])
        check(status in (200, 400, 408), "a large query was answered %d", status)
        late += [query] if status == 408 else []
    for s in endless:
        leave(s)
    for s in large:
        s.close()
    for query in set(late):  # on a slow machine, for want of time among the endless ones: alone it has enough
        s, = send_queries(world, [query])
        s.settimeout(120)
        status = int(s.recv(12)[9:12])
        check(status in (200, 400), "a large query, asked alone, was answered %d", status)
        s.close()
    return text


def more_queries_than_threads(world):
    """As many as may run and wait, and some: those are told to come back, and nobody's writes wait for the others."""
    allow_descriptors()
    extra, refused, peer, took = 20, 0, Peer(world.server.http), []
    sockets = send_queries(world, [ENDLESS[0]] * (QUERIES_RUN + QUERIES_WAIT + extra))
    waiting = selectors.DefaultSelector()
    for s in sockets:
        waiting.register(s, selectors.EVENT_READ)
    while refused < extra:
        ready = waiting.select(READ_SECONDS_MAX)
        check(ready, "%d of %d queries too many were refused", refused, extra)
        for s in [key.fileobj for key, _ in ready]:
            came = s.recv(4000)
            check(came[9:12] == b"429" and b"x-ms-substatus: 3200" in came and b"x-ms-retry-after-ms:" in came,
                  "a query was answered %s", came)
            refused += 1
            waiting.unregister(s)
    for number in range(WRITES):
        began = time.monotonic()
        peer.must(201, "POST", DOCS, {"id": "w%d" % number, "pk": "a"})
        took.append(time.monotonic() - began)
    check(max(took) < READ_SECONDS_MAX, "a write took %.1f s", max(took))
    text = "%d refused, writes p50 %.1f ms, max %.1f ms, %s" % (
        refused, 1000 * sorted(took)[WRITES // 2], 1000 * max(took), latencies(world))
    for s in sockets:
        leave(s)
    return text


def slow_clients(world):
    sockets = []
    for _ in range(150):
        for data in (b"GET /dbs HT", head("GET", DOCS)[:-2], head("POST", DOCS, "Content-Length: 1000\r\n") + b'{"id"'):
            s = world.peer.connect()
            s.sendall(data)
            sockets.append(s)
    text = latencies(world)
    for s in sockets:
        s.close()
    return text


def readers_that_do_not_read(world):
    """Answers of megabytes pile up nowhere: the server stops reading from whoever does not read."""
    sockets = []
    ask = query_bytes("SELECT VALUE REPLICATE('x', 9000) FROM c JOIN a IN c.list JOIN b IN c.list")
    for _ in range(20):
        s = world.peer.connect()
        s.setblocking(False)
        try:
            for _ in range(500):
                s.send(ask)
        except BlockingIOError:
            pass
        sockets.append(s)
    text = latencies(world)
    for s in sockets:
        leave(s)
    return text


def allow_descriptors():
    """As many as we may have, and how many that is."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def idle_connections(world):
    hard = allow_descriptors()
    count = min(IDLE, hard - 500) if hard != resource.RLIM_INFINITY else IDLE
    sockets = [world.peer.connect() for _ in range(count)]
    while world.peer.metric("connections_open") < count:
        world.reads()
    text = latencies(world)
    for s in sockets:
        s.close()
    return "%d idle, %s" % (count, text)


ALL = [("query bombs", query_bombs), ("more queries than threads", more_queries_than_threads), ("slow clients", slow_clients),
       ("readers that do not read", readers_that_do_not_read), ("idle connections", idle_connections)]
