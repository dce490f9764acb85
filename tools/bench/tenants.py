"""tools/bench/tenants.py - many tenants in one container by a hierarchical key, or a container for each: what either costs.

A part of tools/bench/run. docs/tenants.md has what it printed.
"""
import asyncio
import json
import multiprocessing
import os
import statistics
import sys
import time

from rig import BUILD, EMULATOR_KEY, ROOT, rss_mb

sys.path[:0] = [os.path.join(ROOT, "test", part) for part in ("throughput", "wire", "")]

import client as clients
import load
import server as servers

TENANTS, USERS, SECONDS = 500, 100, 5  # items of about 500 bytes, one for each user
READS_PER_SECOND, FLOOD_PER_SECOND = 100, 1000  # by key; creates, of about five request units each
SHARED_UNITS, OWN_UNITS = 4000, 400
REMOVED = 5
BULK = [("x-ms-cosmos-is-batch-request", "True"), ("x-ms-cosmos-batch-continue-on-error", "True")]


class Way:
    """A way to lay tenants out, and a server that has them."""

    def __init__(self):
        self.server = servers.Server(os.path.relpath(os.path.join(BUILD, "orrery"), ROOT))
        self.server.start()
        self.client = clients.Client(self.server.http)
        self.ask("POST", "/dbs", {"id": "t"})

    def ask(self, method, target, body=None, more=()):
        date = clients.date_of()
        token = clients.authorization(EMULATOR_KEY, method, *clients.resource_of(target), (date, ""))
        headers = [("authorization", clients.encoded(token)), ("x-ms-date", date), ("x-ms-version", "2020-07-15"), *more]
        text = None if body is None else json.dumps(body).encode()
        status, _, _, content = self.client.send(method, target, headers, text)
        if status not in (200, 201, 204):
            sys.exit("%s %s answered %d: %s" % (method, target, status, content[:300]))
        return content

    def make_container(self, name, paths, units):
        key = {"paths": paths, "kind": "MultiHash" if len(paths) > 1 else "Hash", "version": 2}
        self.ask("POST", "/dbs/t/colls", {"id": name, "partitionKey": key}, [("x-ms-offer-throughput", str(units))])

    def item(self, tenant, user):
        return {"id": "profile", "tenant": tenant, "user": user, "text": "x" * 400}

    def fill(self, tenant):
        users = ["u%d" % i for i in range(USERS)]
        self.ask("POST", self.docs(tenant), [
            {"operationType": "Create", "partitionKey": json.dumps(self.key(tenant, user)), "resourceBody": self.item(tenant, user)}
            for user in users], BULK)

    def reads(self, tenant):
        def one(user):
            key = [("x-ms-documentdb-partitionkey", json.dumps(self.key(tenant, user)))]
            return load.request(load.head_of("GET", self.docs(tenant) + "/profile", key))
        ready = [one("u%d" % i) for i in range(USERS)]
        return lambda number: ready[number % USERS]

    def creates(self, tenant):
        head = load.head_of("POST", self.docs(tenant))

        def make(number):
            user = "new%d" % number
            key = "x-ms-documentdb-partitionkey: %s\r\n" % json.dumps(self.key(tenant, user))
            return load.request(head + key, json.dumps(self.item(tenant, user)).encode())
        return make

    def restart(self, more=()):
        """Milliseconds until it is ready."""
        self.client.close()
        self.server.stop()
        self.server.command += more
        began = time.monotonic()
        self.server.start()
        self.client = clients.Client(self.server.http)
        return 1000 * (time.monotonic() - began)


class Together(Way):
    name = "one container, tenant first in its key"

    def __init__(self):
        super().__init__()
        self.make_container("all", ["/tenant", "/user"], SHARED_UNITS)

    def add(self, tenant):
        self.fill(tenant)

    def docs(self, tenant):
        return "/dbs/t/colls/all/docs"

    def key(self, tenant, user):
        return [tenant, user]

    def remove(self, tenant):
        query = [("x-ms-documentdb-partitionkey", json.dumps([tenant])), ("x-ms-documentdb-isquery", "True"),
                 ("Content-Type", "application/query+json"), ("x-ms-max-item-count", "1000")]
        found = json.loads(self.ask("POST", self.docs(tenant), {"query": "SELECT VALUE c.user FROM c"}, query))["Documents"]
        self.ask("POST", self.docs(tenant), [
            {"operationType": "Delete", "id": "profile", "partitionKey": json.dumps([tenant, user])} for user in found], BULK)


class Apart(Way):
    name = "a container for each tenant"

    def add(self, tenant):
        self.make_container(tenant, ["/user"], OWN_UNITS)
        self.fill(tenant)

    def docs(self, tenant):
        return "/dbs/t/colls/%s/docs" % tenant

    def key(self, tenant, user):
        return [user]

    def remove(self, tenant):
        self.ask("DELETE", "/dbs/t/colls/" + tenant)


def read_paced(way, when):
    run = asyncio.run(load.Load(way.server.http, way.reads("tenant-1"), READS_PER_SECOND, SECONDS).run())
    print("  reads of a tenant, %d a second, %-22s p50 %.2f ms   p99 %.2f ms   refused %d of %d" %
          (READS_PER_SECOND, when, run.percentile(0.5), run.percentile(0.99), run.statuses.get(429, 0), run.total))


def flood(url, make):
    asyncio.run(load.Load(url, make, FLOOD_PER_SECOND, SECONDS + 2).run())


def measure(way):
    began = time.monotonic()
    for number in range(TENANTS):
        way.add("tenant-%d" % number)
    print("%s: %d tenants of %d items, made in %.1f s" % (way.name, TENANTS, USERS, time.monotonic() - began))
    starts = [way.restart(more) for more in (["--enforce-throughput"], [], [])]
    print("  start to ready %.0f ms   RSS then %.0f MB" % (statistics.median(starts), rss_mb(way.server.process.pid)))
    read_paced(way, "alone")
    noisy = multiprocessing.Process(target=flood, args=(way.server.http, way.creates("tenant-2")))
    noisy.start()
    time.sleep(1)
    read_paced(way, "beside a noisy one")
    noisy.join()
    way.restart()
    times = []
    for number in range(10, 10 + REMOVED):
        began = time.monotonic()
        way.remove("tenant-%d" % number)
        times.append(1000 * (time.monotonic() - began))
    print("  a tenant removed in %.1f ms" % statistics.median(times), flush=True)


def bench_tenants():
    for kind in (Together, Apart):
        way = kind()
        try:
            measure(way)
        finally:
            way.server.__exit__(None, None, None)
