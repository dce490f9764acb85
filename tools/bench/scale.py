"""tools/bench/scale.py - what ten times the items cost: loading, starting, asking, copying and checking them.

ITEMS (10,000,000) of 1 KB beside a tenth of them, by default flags. The server has all cores. What is asked gives as many
rows at either size. Times of loading and checking are an item's; of a request its CPU time counts, so that others on the
machine matter less. The items are those of test/scale, which looks whether answers are right.
"""
import json
import os
import random
import statistics
import subprocess
import sys
import time

from rig import BUILD, EMULATOR_KEY, ROOT, ROUNDS, SCRATCH, Server, cpu_seconds, folder_mb, rss_mb, wrk

sys.path.append(os.path.join(ROOT, "test", "scale"))
import items as corpus
import client as clients

CONNECTIONS = 16
REQUESTS = 5000  # different ones, sent again and again
GROWTH_MAX = 2
PROGRAM = os.path.join(BUILD, "orrery")


# ---- requests ----


def signed(method, link, kind="docs"):
    date = clients.date_of()
    token = clients.authorization(EMULATOR_KEY, method, kind, link, (date, ""))
    return [("Host", "127.0.0.1"), ("authorization", clients.encoded(token)), ("x-ms-date", date), ("x-ms-version", clients.VERSION)]


def request(method, target, headers, body=""):
    lines = [f"{method} {target} HTTP/1.1"] + ["%s: %s" % pair for pair in headers]
    return "\r\n".join(lines + [f"Content-Length: {len(body)}"] * bool(body) + ["", body])


def read_request(number):
    link = f"{corpus.LINK}/docs/doc-{number}"
    return request("GET", "/" + link, signed("GET", link) + [("x-ms-documentdb-partitionkey", json.dumps([corpus.tenant_of(number)]))])


def query_requests(query, numbers, items):
    headers = signed("POST", corpus.LINK) + corpus.QUERY_HEADERS
    return [request("POST", f"/{corpus.LINK}/docs", headers, json.dumps(query.body(number, items))) for number in numbers]


def cost(server, requests):
    """CPU microseconds of one."""
    path = os.path.join(SCRATCH, "requests")
    with open(path, "w") as file:
        file.write("".join(one + "\0" for one in requests))
    wrk(server.pid, server.url, CONNECTIONS, "replay.lua", path, seconds=1, core=None)
    return statistics.median(wrk(server.pid, server.url, CONNECTIONS, "replay.lua", path, core=None)[1] for _ in range(ROUNDS))


# ---- what is measured ----


def seconds_of(*words):
    """(elapsed, of CPU)"""
    began, before = time.monotonic(), os.times()
    subprocess.run([PROGRAM, *words], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return time.monotonic() - began, spent


def measure_load(server, items):
    spent, began = cpu_seconds(server.pid), time.monotonic()
    corpus.load(PROGRAM, server.url, items)
    yield "load, CPU", 1e6 * (cpu_seconds(server.pid) - spent) / items, "us an item"
    yield "load", 1e6 * (time.monotonic() - began) / items, "us an item"


def measure_requests(server, items):
    numbers = random.Random(1).choices(range(items), k=REQUESTS)
    yield "point read", cost(server, [read_request(number) for number in numbers]), "us CPU"
    for query in corpus.QUERIES:
        yield query.name, cost(server, query_requests(query, numbers, items)), "us CPU"


def measure(items):
    """(name, figure, unit), one after the other."""
    data = os.path.join(SCRATCH, f"scale-{items}")
    server = Server(data, core=None)
    yield from measure_load(server, items)
    server.stop()
    yield "disk", 1e6 * folder_mb(data) / items, "bytes an item"
    server = Server(data, core=None)
    yield "restart", server.start_ms, "ms"
    yield from measure_requests(server, items)
    yield "RSS", rss_mb(server.pid), "MB"
    yield "backup", 1000 * seconds_of("backup", "copy", "--data", data)[0], "ms"
    server.stop()
    yield "check, CPU", 1e6 * seconds_of("check", data)[1] / items, "us an item"


def bench_scale():
    many = int(os.environ.get("ITEMS", "10000000"))
    few = many // 10
    print(f"items of 1 KB, {CONNECTIONS} connections   {few:>12,d} {many:>12,d}   growth (at most {GROWTH_MAX})", flush=True)
    before = {name: figure for name, figure, _ in measure(few)}
    for name, figure, unit in measure(many):
        print(f"  {name:32s} {before[name]:12.1f} {figure:12.1f}   {figure / before[name]:6.2f}   {unit}", flush=True)
