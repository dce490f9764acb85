"""test/ranges/model.py - steps by chance on one container, and what each must find."""
import json

from client import Container, RangeQuery, WholeQuery, Wrong, expect

KEYS = {
    "v2": {"paths": ["/a"], "kind": "Hash", "version": 2},
    "v1": {"paths": ["/a"], "kind": "Hash", "version": 1},
    "levels": {"paths": ["/a", "/b"], "kind": "MultiHash", "version": 2},
}
RANGES_MAX = 40  # more are merged
SELECT = "SELECT c.id, c.a, c.b, c.n FROM c"


class Open:
    """A query on its way: what was there when it began and is still untouched must come, once."""

    def __init__(self, query, must, order=None):
        self.query, self.must, self.order = query, dict(must), order
        self.may, self.seen, self.rows = set(must), set(), []

    def touched(self, place):
        self.must.pop(place, None)
        self.may.add(place)

    def step(self):
        rows = self.query.step()
        if rows is None:
            return False
        for row in rows:
            place = (row["a"], row["b"], row["id"])
            if place in self.seen and place in self.must:
                raise Wrong("%s came twice" % (place,))
            if place not in self.may:
                raise Wrong("%s was never there" % (place,))
            self.seen.add(place)
            self.rows.append(row)
        return True

    def end(self):
        missing = set(self.must) - self.seen
        if missing:
            raise Wrong("%d items did not come: %s" % (len(missing), sorted(missing)[:3]))
        if self.order:
            values = [row["n"] for row in self.rows if (row["a"], row["b"], row["id"]) in self.must]
            if values != sorted(values):
                raise Wrong("the order is not that of the query: %s" % values[:20])


class Model:
    def __init__(self, server, key, random, kind):
        self.server, self.key, self.random, self.kind = server, key, random, kind
        self.items, self.order = {}, {}  # place -> body; key -> ids in the order of creation
        self.open, self.made, self.counts = [], 0, {}
        self.connect()
        status, _, text = self.client.http.ask("POST", "/dbs", [], {"id": "db"})
        expect(status, 201, text)
        status, _, text = self.client.http.ask("POST", "/dbs/db/colls", [], {"id": "c", "partitionKey": KEYS[kind]})
        expect(status, 201, text)
        self.client.refresh()

    def connect(self):
        old = getattr(self, "client", None)
        self.client = Container(self.server.http, self.key, "/dbs/db/colls/c")
        if old:  # what a client knew of before the restart
            self.client.ranges, self.client.etag, self.client.session = old.ranges, old.etag, old.session
            for each in self.open:
                each.query.container = self.client

    def key_of(self, place):
        return list(place[:2]) if self.kind == "levels" else [place[0]]

    # ---- steps ----

    def create(self):
        a, b = "t%d" % min(self.random.randrange(8), self.random.randrange(8)), "u%d" % self.random.randrange(12)
        self.made += 1
        place = (a, b, "i%d" % self.made)
        body = {"id": place[2], "a": a, "b": b, "n": self.random.randrange(1000)}
        status, text = self.client.item("POST", "/docs", self.key_of(place), body)
        expect(status, 201, text)
        self.items[place] = body
        self.order.setdefault(tuple(self.key_of(place)), []).append(place[2])
        self.touch(place)

    def touch(self, place):
        for each in self.open:
            each.touched(place)

    def any_place(self):
        return self.random.choice(list(self.items)) if self.items else None

    def replace(self):
        place = self.any_place()
        if not place:
            return
        body = {**self.items[place], "n": self.random.randrange(1000)}
        status, text = self.client.item("PUT", "/docs/" + place[2], self.key_of(place), body)
        expect(status, 200, text)
        self.items[place] = body
        self.touch(place)

    def delete(self):
        place = self.any_place()
        if not place:
            return
        status, text = self.client.item("DELETE", "/docs/" + place[2], self.key_of(place))
        expect(status, 204, text)
        del self.items[place]
        self.order[tuple(self.key_of(place))].remove(place[2])
        self.touch(place)

    def read(self):
        place = self.any_place()
        if not place:
            return
        status, text = self.client.item("GET", "/docs/" + place[2], self.key_of(place))
        expect(status, 200, text)
        if json.loads(text)["n"] != self.items[place]["n"]:
            raise Wrong("%s has another value than was written" % (place,))

    def read_absent(self):
        status, text = self.client.item("GET", "/docs/none", ["t1", "u1"] if self.kind == "levels" else ["t1"])
        expect(status, 404, text)
        if "session" in text:
            raise Wrong("a token of before is refused: %s" % text)

    def begin_query(self):
        size = self.random.choice([1, 3, 10])
        ordered = self.random.random() < 0.5
        query = SELECT + (" ORDER BY c.n" if ordered else "")
        if self.random.random() < 0.6:
            self.open.append(Open(RangeQuery(self.client, SELECT, size), self.items))
        else:
            self.open.append(Open(WholeQuery(self.client, query, size), self.items, ordered))

    def go_on(self):
        if not self.open:
            return self.begin_query()
        each = self.random.choice(self.open)
        if not each.step():
            each.end()
            self.open.remove(each)
        return None

    def logical_partition(self):
        """All of it, in the order in which it was made."""
        place = self.any_place()
        if not place:
            return
        key = self.key_of(place)
        query = WholeQuery(self.client, "SELECT VALUE c.id FROM c", 5, [("x-ms-documentdb-partitionkey", json.dumps(key))])
        got = []
        while (rows := query.step()) is not None:
            got += rows
        if got != self.order[tuple(key)]:
            raise Wrong("the partition %s is %s and not %s" % (key, got, self.order[tuple(key)]))

    def prefix(self):
        """A part of a hierarchical key, over all the ranges that it lies in."""
        if self.kind != "levels":
            return
        tenant = "t%d" % self.random.randrange(8)
        query = WholeQuery(self.client, "SELECT VALUE c.id FROM c", 7, [("x-ms-documentdb-partitionkey", json.dumps([tenant]))])
        got = []
        while (rows := query.step()) is not None:
            got += rows
        wanted = sorted(place[2] for place in self.items if place[0] == tenant)
        if sorted(got) != wanted:
            raise Wrong("the keys that begin with %s have %d items and not %d" % (tenant, len(got), len(wanted)))

    def split(self):
        live = self.client.live()
        if len(live) >= RANGES_MAX:
            return self.merge()
        how = self.random.choice([{}, {"at": "median"}, {"parts": 3}])
        status, body = self.client.admin("split", {"range": self.random.choice(list(live)), **how})
        if status == 400 and "no items" in body["message"]:
            return None
        expect(status, 200, str(body))
        return self.check_map()

    def merge(self):
        live = sorted(self.client.live().items(), key=lambda each: each[1])
        if len(live) < 2:
            return
        first = self.random.randrange(len(live) - 1)
        count = self.random.choice([2, 2, 3, len(live)])
        status, body = self.client.admin("merge", {"ranges": [name for name, _ in live[first:first + count]]})
        if status == 400 and "different buckets" in body["message"] and "--buckets" in self.server.command:
            return
        expect(status, 200, str(body))
        self.check_map()

    def check_map(self):
        if self.random.random() < 0.3 and self.client.refresh() != self.client.live():
            raise Wrong("the incremental feed leads to other ranges than there are")

    def gone(self):
        ids = {name for name in self.client.session if name not in self.client.live()}
        if ids and self.client.page(SELECT, 1, None, [("x-ms-documentdb-partitionkeyrangeid", min(ids))]) is not None:
            raise Wrong("a range that is gone answers")

    def restart(self):
        if "memory" in self.server.command:
            return
        self.server.process.kill()
        self.server.process.wait()
        self.server.http = None
        self.server.start()
        self.connect()

    def run(self, steps):
        chances = [(self.create, 30), (self.replace, 8), (self.delete, 6), (self.read, 12), (self.read_absent, 2),
                   (self.begin_query, 3), (self.go_on, 40), (self.logical_partition, 4), (self.prefix, 2), (self.split, 5),
                   (self.merge, 4), (self.gone, 1)]
        for _ in range(steps):
            step = self.random.choices([each[0] for each in chances], [each[1] for each in chances])[0]
            self.counts[step.__name__] = self.counts.get(step.__name__, 0) + 1
            step()
            if self.random.random() < 0.002:
                self.restart()
        self.finish()

    def finish(self):
        for each in self.open:
            while each.step():
                pass
            each.end()
        for query in (RangeQuery(self.client, SELECT, 100), WholeQuery(self.client, SELECT, 100)):
            everything = Open(query, self.items)
            while everything.step():
                pass
            everything.end()
            if everything.seen != set(self.items):
                raise Wrong("something came that was deleted")
