"""tools/bench/script.py - stored procedures beside batches and single writes, functions beside built-in filters.

Everything is durable, over HTTP, and measured in turns within one run. CPU is that of the server and its children.
"""
import json
import os
import statistics
import sys
import time

from rig import EMULATOR_KEY, ROOT, SCRATCH, SECONDS, Server, cpu_seconds, wrk

sys.path.append(os.path.join(ROOT, "test", "wire"))
import client as clients

CREATES, TURNS = 100, 40
ITEMS, LOADED_AT_ONCE = 100000, 100
CONNECTIONS = 4
FIRST_CALLS = 5

SCRIPTS = {
    "queued": """function (items) { var c = getContext().getCollection(), link = c.getSelfLink(), count = 0;
        items.forEach(function (item) { c.createDocument(link, item, function (error) {
            if (error) throw error; if (++count === items.length) getContext().getResponse().setBody(count); }); }); }""",
    "chained": """function (items) { var c = getContext().getCollection(), link = c.getSelfLink(), count = 0;
        next(); function next() { if (count === items.length) return getContext().getResponse().setBody(count);
            c.createDocument(link, items[count], function (error) { if (error) throw error; count++; next(); }); } }""",
    "working": """function (items) { var c = getContext().getCollection(), primes = [];
        for (var n = 2; primes.length < 500; n++) { if (primes.every(function (p) { return p * p > n || n % p; })) primes.push(n); }
        c.createDocument(c.getSelfLink(), { pk: "k", last: primes.pop() }); }""",
    "computing": """function () { var primes = [];
        for (var n = 2; primes.length < 1500; n++) { if (primes.every(function (p) { return p * p > n || n % p; })) primes.push(n); }
        getContext().getResponse().setBody(primes.pop()); }""",
    "first": "function () { getContext().getResponse().setBody(1); }",
}
FUNCTION = "function (n) { return n % 7 === 3; }"


class Bench(clients.Signed):
    """A container with the scripts above, and what is asked of it."""

    def __init__(self, server):
        super().__init__(server.url, EMULATOR_KEY)
        self.home, self.pid = "/dbs/bench/colls/script", server.pid

    def send_to(self, target, body, *headers):
        status, answered, text = self.ask("POST", target, list(headers), body)
        if status not in (200, 201):
            sys.exit(f"POST {target} answered {status}: {text}")
        return answered, json.loads(text)

    def set_up(self):
        self.send_to("/dbs", {"id": "bench"})
        self.send_to("/dbs/bench/colls", {"id": "script", "partitionKey": {"paths": ["/pk"], "version": 2}})
        for name, source in SCRIPTS.items():
            self.send_to(self.home + "/sprocs", {"id": name, "body": source})

    def run(self, script, *arguments):
        self.send_to(f"{self.home}/sprocs/{script}", list(arguments), ("x-ms-documentdb-partitionkey", '["k"]'))

    def batch(self, documents):
        self.send_to(self.home + "/docs", [{"operationType": "Create", "resourceBody": one} for one in documents],
                     ("x-ms-documentdb-partitionkey", '["k"]'), ("x-ms-cosmos-is-batch-request", "True"), ("x-ms-cosmos-batch-atomic", "True"))

    def single(self, documents):
        for document in documents:
            self.send_to(self.home + "/docs", document, ("x-ms-documentdb-partitionkey", '["k"]'))


def documents_of(name):
    return [{"id": f"{name}-{i}", "pk": "k", "pad": "x" * 950} for i in range(CREATES)]


def timed(pid, work, *arguments):
    """(milliseconds, milliseconds of CPU): the latter are counted in tens."""
    began, spent = time.perf_counter(), cpu_seconds(pid)
    work(*arguments)
    return 1000 * (time.perf_counter() - began), 1000 * (cpu_seconds(pid) - spent)


def bench_creates(bench):
    """One client; medians of turns that are taken one after the other, so that all see the same machine."""
    ways = {"a batch": bench.batch, "a procedure that queues them all": lambda one: bench.run("queued", one),
            "a procedure, one after the other": lambda one: bench.run("chained", one), "single creates": bench.single}
    taken = {name: [] for name in ways}
    for turn in range(-2, TURNS):
        for name, way in ways.items():
            if name == "single creates" and turn % 8:
                continue
            cost = timed(bench.pid, way, documents_of(f"{name}-{turn}"))
            if turn >= 0:
                taken[name].append(cost)
    print(f"{CREATES} creates of 1 KB, durable, one client (median of {TURNS} turns; CPU of server and children)")
    medians = {name: statistics.median(ms for ms, _ in costs) for name, costs in taken.items()}
    batch, singles = medians["a batch"], medians["single creates"]
    for name, ms in medians.items():
        more = f"   by a batch {ms / batch:5.2f} (at most 2)   faster than single creates {singles / ms:5.1f} times (at least 3)"
        print(f"  {name:34s} {ms:8.2f} ms   {statistics.mean(cpu for _, cpu in taken[name]):6.2f} ms CPU{more if 'procedure' in name else ''}")


def requests_for(bench, script):
    """A request that may be sent again and again."""
    target, body, date = f"{bench.home}/sprocs/{script}", "[]", clients.date_of()
    token = clients.encoded(clients.authorization(EMULATOR_KEY, "POST", *clients.resource_of(target), (date, "")))
    path = os.path.join(SCRATCH, "executes")
    with open(path, "w") as file:
        file.write(f"POST {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nauthorization: {token}\r\nx-ms-date: {date}\r\nx-ms-version: 2020-07-15\r\n"
                   f'x-ms-documentdb-partitionkey: ["k"]\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}\0')
    return path


def rate_of(children, script):
    """Procedures a second, so many at a time."""
    server = Server(os.path.join(SCRATCH, f"children-{children}-{script}"), core=None, options=["--script-children", str(children)])
    bench = Bench(server)
    bench.set_up()
    path = requests_for(bench, script)
    wrk(server.pid, server.url, CONNECTIONS, "replay.lua", path, seconds=1, core=None)
    rate, cpu, p50, p99 = wrk(server.pid, server.url, CONNECTIONS, "replay.lua", path, seconds=SECONDS, core=None)
    print(f"  {script:10s} {children} at a time {rate:8.0f}/s   {cpu / 1000:.2f} ms CPU each   p50 {p50} p99 {p99}")
    server.stop()
    return rate


def bench_children():
    """What a second child is for is the script's own time; commits are one after the other whatever it does, and clients want cores, too."""
    print("procedures of some milliseconds: working computes a little and writes, computing only computes")
    for script in ("working", "computing"):
        one, two = (rate_of(children, script) for children in (1, 2))
        print(f"  {script:10s} two children against one {two / one:.2f} (at least 1.4, of what computes)", flush=True)


def load_items(bench):
    bench.send_to("/dbs/bench/colls", {"id": "plain", "partitionKey": {"paths": ["/pk"], "version": 2},
                                       "indexingPolicy": {"indexingMode": "none", "automatic": False}})
    for first in range(0, ITEMS, LOADED_AT_ONCE):
        rows = [{"id": str(n), "pk": "k", "n": n, "text": "some text of a few words"} for n in range(first, first + LOADED_AT_ONCE)]
        bench.send_to("/dbs/bench/colls/plain/docs", [{"operationType": "Create", "resourceBody": row} for row in rows],
                      ("x-ms-documentdb-partitionkey", '["k"]'), ("x-ms-cosmos-is-batch-request", "True"), ("x-ms-cosmos-batch-atomic", "True"))
    bench.send_to("/dbs/bench/colls/plain/udfs", {"id": "third", "body": FUNCTION})


def count_where(bench, condition):
    """(seconds, CPU seconds, rows) of all pages."""
    headers = [("x-ms-documentdb-isquery", "True"), ("content-type", "application/query+json"), ("x-ms-documentdb-partitionkey", '["k"]')]
    began, spent, found, more = time.perf_counter(), cpu_seconds(bench.pid), 0, []
    while True:
        answered, page = bench.send_to("/dbs/bench/colls/plain/docs", {"query": "SELECT VALUE COUNT(1) FROM c WHERE " + condition}, *headers, *more)
        found += sum(page["Documents"])
        if "x-ms-continuation" not in answered:
            return time.perf_counter() - began, cpu_seconds(bench.pid) - spent, found
        more = [("x-ms-continuation", answered["x-ms-continuation"])]


def bench_functions(bench):
    load_items(bench)
    conditions = {"a built-in filter": "c.n % 7 = 3", "a function": "udf.third(c.n)"}
    turns = {name: [] for name in conditions}
    for _ in range(5):
        for name, condition in conditions.items():
            turns[name].append(count_where(bench, condition))
    print(f"a filter over {ITEMS:,d} items, no index (median of 5 turns)")
    wall, cpu = ({name: statistics.median(turn[i] for turn in rows) for name, rows in turns.items()} for i in range(2))
    for name, rows in turns.items():
        print(f"  {name:20s} {1000 * wall[name]:8.0f} ms   {1000 * cpu[name]:8.0f} ms CPU   {rows[0][2]} rows")
    by_wall, by_cpu = (one["a function"] / one["a built-in filter"] for one in (wall, cpu))
    print(f"  a function against the filter {by_wall:.2f} (at most 5)   by CPU {by_cpu:.2f}", flush=True)


def bench_first_call(data):
    taken = []
    for _ in range(FIRST_CALLS):
        server = Server(data, core=None)
        taken.append(timed(server.pid, Bench(server).run, "first")[0])
        server.stop()
    print(f"first call of a procedure after start {statistics.median(taken):6.0f} ms (at most 150)", flush=True)


def bench_script():
    data = os.path.join(SCRATCH, "script")
    server = Server(data, core=None)
    bench = Bench(server)
    bench.set_up()
    bench_creates(bench)
    bench_functions(bench)
    server.stop()
    bench_first_call(data)
    bench_children()
