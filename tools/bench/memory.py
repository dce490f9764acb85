"""tools/bench/memory.py - what the server's process takes over minutes of everything at once, and who has it.

ITEMS (200,000) of 1 KB; then MINUTES (4) of point reads, creates, replaces, and queries by index, in order, in groups, with aggregates and with
pages of 4 MB, by 16 connections. Every round brings new items, so data grows and memory must not.
"""
import json
import os
import random
import time

from index import kinds, signed
from rig import SCRATCH, Server, load, requests_file, rss_mb, wrk

CONNECTIONS = 16
ROUND_SECONDS = 10
CACHE_MB = "64"  # small enough to be full within the first minute: what grows later is something else
GROWTH_MAX = 1.1

# How many of each are in a thousand requests; those of index.kinds() share what is left.
POINTS = {"read": 500, "create": 150, "replace": 150}
QUERIES = 200
UPSERT = b"x-ms-documentdb-is-upsert: True\r\n"  # a round that is sent twice creates its items once

BUDGETS = ("resident_bytes", "heap_bytes", "store_block_cache_bytes", "store_write_buffer_bytes", "index_memory_bytes", "cache_bytes")

PAGES = (
    "SELECT * FROM c",
    "SELECT c.user, COUNT(1) AS k, SUM(c.price) AS total, MIN(c.n) AS least FROM c GROUP BY c.user",
    "SELECT * FROM c WHERE c.price > 1000 ORDER BY c.price DESC",
    "SELECT DISTINCT VALUE c.address.zip FROM c",
    "SELECT VALUE AVG(c.price) FROM c WHERE c.active",
)


def page_request(text, signature):
    body = json.dumps({"query": text})
    return ("POST /dbs/bench/colls/c/docs HTTP/1.1\r\nHost: 127.0.0.1\r\n%sContent-Type: application/query+json\r\n"
            "x-ms-documentdb-isquery: True\r\nx-ms-documentdb-query-enablecrosspartition: True\r\nx-orrery-whole: true\r\nx-ms-max-item-count: -1\r\n"
            "Content-Length: %d\r\n\r\n%s" % (signature, len(body), body)).encode()


def point_requests(kind, start, count, items):
    path = requests_file(kind, start, count, 0 if kind == "create" else items)
    with open(path, "rb") as file:
        requests = file.read().split(b"\0")[:-1]
    os.remove(path)
    if kind == "create":
        requests = [one.replace(b"\r\n", b"\r\n" + UPSERT, 1) for one in requests]
    return requests


def mixed_file(items, made, rng):
    """A round's requests in an order of chance."""
    signature = signed("c")
    requests = [one for kind, share in POINTS.items() for one in point_requests(kind, made, 10 * share, items)]
    asked = [kind for kind in kinds(items) if kind.container == "c"]
    for i in range(QUERIES):
        requests.append(asked[i % len(asked)].request(rng, signature).encode())
    requests += [page_request(text, signature) for text in PAGES]
    rng.shuffle(requests)
    path = os.path.join(SCRATCH, "mixed")
    with open(path, "wb") as file:
        file.write(b"".join(one + b"\0" for one in requests))
    return path


def bench_memory():
    items = int(os.environ.get("ITEMS", "200000"))
    rounds = max(2, int(float(os.environ.get("MINUTES", "4")) * 60 / ROUND_SECONDS))
    server = Server(os.path.join(SCRATCH, "memory"), core=None, options=["--cache-mb", CACHE_MB])
    print(f"idle RSS {rss_mb(server.pid):.0f} MB", flush=True)
    load(server, items)
    print(f"loaded RSS {rss_mb(server.pid):.0f} MB", flush=True)
    rng, rss, made, began = random.Random(1), [], items, time.monotonic()
    for _ in range(rounds):
        rate, cpu, *_ = wrk(server.pid, server.url, CONNECTIONS, "replay.lua", mixed_file(items, made, rng), seconds=ROUND_SECONDS, core=None)
        made += 10 * POINTS["create"]
        rss.append(rss_mb(server.pid))
        print(f"  {time.monotonic() - began:5.0f} s   RSS {rss[-1]:6.0f} MB   {rate:6.0f}/s   {cpu:6.1f} us CPU a request", flush=True)
    minute = 60 // ROUND_SECONDS
    print(f"  the last minute against the first {max(rss[-minute:]) / max(rss[:minute]):.2f} (at most {GROWTH_MAX})")
    for name in BUDGETS:
        print(f"  {name:28s} {server.metric(name) / 2 ** 20:6.0f} MB")
    server.stop()
