"""tools/bench/feed.py - one client that reads the change feed from the beginning, by large pages.

The figure is items for each second of the server's CPU time: the client takes longer to read them than the server to
make them. The container is drained twice: as it was written, and after a restart, from files. ITEMS says how many items.
"""
import os
import random
import sys
import time

from rig import EMULATOR_KEY, ROOT, ROUNDS, SCRATCH, Server, cpu_seconds

sys.path.append(os.path.join(ROOT, "test", "wire"))
import client as clients

FEED_MIN = 200000  # items of 200 bytes, a second and core
BULK_ITEMS = 100
DOCS = "/dbs/bench/colls/feed/docs"


def write(client, items):
    """Bulk creates with keys in no order, so that the items lie scattered, as those of many users do."""
    rng = random.Random(5)
    client.ask("POST", "/dbs", [], {"id": "bench"})
    client.ask("POST", "/dbs/bench/colls", [], {"id": "feed", "partitionKey": {"paths": ["/pk"], "version": 2}})
    for first in range(0, items, BULK_ITEMS):
        body = [{"operationType": "Create",
                 "resourceBody": {"id": str(first + i), "pk": f"user-{rng.randrange(items)}", "n": first + i, "pad": "x" * 140}}
                for i in range(BULK_ITEMS)]
        status, _, text = client.ask("POST", DOCS, [("x-ms-cosmos-is-batch-request", "True"), ("x-ms-cosmos-batch-continue-on-error", "True"),
                                                    ("x-ms-documentdb-partitionkeyrangeid", "0")], body)
        if status != 200:
            sys.exit(f"a bulk create was answered {status}: {text[:200]}")


def drain(client):
    """How many items came."""
    count, etag = 0, None
    while True:
        headers = [("A-IM", "Incremental Feed"), ("x-ms-max-item-count", "10000")] + ([("If-None-Match", etag)] if etag else [])
        status, answered, _ = client.ask("GET", DOCS, headers)
        if status == 304:
            return count
        if status != 200:
            sys.exit(f"the feed was answered {status}")
        count, etag = count + int(answered["x-ms-item-count"]), answered["etag"]


def measure(server, name, items):
    client, rates = clients.Signed(server.url, EMULATOR_KEY), []
    drain(client)
    for _ in range(ROUNDS):
        before, began = cpu_seconds(server.pid), time.monotonic()
        count = drain(client)
        if count != items:
            sys.exit(f"the feed has {count} items of {items}")
        rates.append((count / (cpu_seconds(server.pid) - before), count / (time.monotonic() - began)))
    rates.sort()
    print(f"change feed, {items} items of 200 bytes, {name:24s} {rates[len(rates) // 2][0]:9.0f} items a CPU second"
          f" (at least {FEED_MIN})   {rates[len(rates) // 2][1]:8.0f}/s to one client")


def bench_feed():
    items = int(os.environ.get("ITEMS", "200000"))
    data = os.path.join(SCRATCH, "feed")
    server = Server(data, core=None)
    write(clients.Signed(server.url, EMULATOR_KEY), items)
    measure(server, "as they were written", items)
    server.stop()
    server = Server(data, core=None)
    measure(server, "after a restart", items)
    server.stop()
