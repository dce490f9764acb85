"""test/index/twin.py - servers that are told the same things: one on RocksDB, one in memory, one over PostgreSQL if asked for.

All must answer alike, down to the pages. Those that keep their data can be stopped, or killed, and started again.
"""
import concurrent.futures
import json
import subprocess

import case as cases
import client as clients
from server import KEY, Server

PAGES_MAX = 3000  # a query that has more does not end
STORES = ("rocksdb", "memory")  # the first is the one that the others are compared with
FORGETFUL = "memory"
SCAN = ("x-orrery-index", "off")
INDEX = ("x-orrery-index", "always")  # also where a scan would be cheaper
QUERY = [("x-ms-documentdb-isquery", "True"), ("content-type", "application/query+json"),
         ("x-ms-documentdb-query-enablecrosspartition", "True"), ("x-orrery-whole", "true")]


class Mismatch(Exception):
    """Something is not as it should be."""


class Refused(Exception):
    """400, and no rows."""


class One:
    """A server and a client of it."""

    def __init__(self, program, store):
        self.store, self.server = store, Server(program, store)
        self.client = None

    def open(self):
        self.server.start()
        self.client = clients.Signed(self.server.http, KEY)

    def reopen(self, kill):
        self.client.close()
        if kill:
            self.server.process.kill()
            self.server.process.wait()
        elif self.server.stop() != 0:
            raise Mismatch("the server did not end well\n" + self.server.log())
        self.open()

    def must(self, method, target, headers=(), body=None):
        status, _, text = self.client.ask(method, target, list(headers), body)
        if status >= 400:
            raise Mismatch("%s: %s %s answered %d: %s" % (self.store, method, target, status, cases.shown(text)))
        return json.loads(text) if text else None

    def page(self, target, query, size, continuation, more):
        """(rows, continuation)"""
        headers = QUERY + [("x-ms-max-item-count", str(size))] + [one for one in query.headers if not more or one != INDEX] + more
        if query.key is not None:
            headers.append(("x-ms-documentdb-partitionkey", query.key))
        if continuation:
            headers.append(("x-ms-continuation", continuation))
        status, answered, text = self.client.ask("POST", target, headers, {"query": query.text, "parameters": query.params})
        if status == 400:
            raise Refused(cases.shown(text))
        if status != 200:
            raise Mismatch("%s answered %d: %s" % (self.store, status, cases.shown(text)))
        rows = json.loads(text)["Documents"]
        if 0 < size < len(rows):
            raise Mismatch("%s: a page of %d has %d rows" % (self.store, size, len(rows)))
        return rows, answered.get("x-ms-continuation")

    def pages(self, target, query, sizes, more=()):
        """Every page, or "refused"."""
        found, continuation = [], None
        for number in range(PAGES_MAX):
            try:
                rows, continuation = self.page(target, query, sizes[number % len(sizes)], continuation, list(more))
            except Refused:
                return "refused"
            found.append(rows)
            if not continuation:
                return found
        raise Mismatch("%s: more than %d pages" % (self.store, PAGES_MAX))

    def check(self):
        """orrery check of what it left behind."""
        out = subprocess.run([self.server.program, "check", self.server.data], capture_output=True, text=True)
        if out.returncode != 0 or " 0 problems" not in out.stdout:
            raise Mismatch("orrery check ended with %d\n%s%s" % (out.returncode, out.stdout, out.stderr))


class Twin:
    def __init__(self, program, stores):
        self.all = {store: One(program, store) for store in stores}
        self.first = stores[0]
        # There a range has a bucket of its own, which counts items by itself; and a page ends when it has taken long.
        self.remote = "postgres" in stores
        self.pool = concurrent.futures.ThreadPoolExecutor(len(stores))

    def __enter__(self):
        self.each(lambda one: one.open())
        return self

    def __exit__(self, kind, value, trace):
        for one in self.all.values():
            one.server.__exit__(kind, value, trace)
        self.pool.shutdown()

    def each(self, call):
        """What all say, by store; they are asked at a time."""
        futures = {store: self.pool.submit(call, one) for store, one in self.all.items()}
        return {store: future.result() for store, future in futures.items()}

    def must(self, method, target, headers=(), body=None):
        return self.each(lambda one: one.must(method, target, headers, body))

    def reopen(self, kill):
        for one in self.all.values():
            if one.store != FORGETFUL:
                one.reopen(kill)

    def finish(self):
        """All end well, and what is on disk is sound."""
        for one in self.all.values():
            ended = one.server.stop()
            if ended != 0:
                raise Mismatch("the server of %s ended with %s\n%s" % (one.store, ended, one.server.log()))
        self.all["rocksdb"].check()
