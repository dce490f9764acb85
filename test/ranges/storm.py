"""test/ranges/storm.py - writers and readers at the same time as one who splits and merges without a rest."""
import json
import random
import threading

from client import Container, RangeQuery, Wrong, expect

WRITERS, LINK = 3, "/dbs/storm/colls/c"
PARTS_MAX = 20


class Storm:
    def __init__(self, url, key, seed, items):
        self.url, self.key, self.seed, self.items = url, key, seed, items
        self.ended, self.problems, self.changes = threading.Event(), [], 0
        http = Container(url, key, LINK).http
        status, _, text = http.ask("POST", "/dbs", [], {"id": "storm"})
        expect(status, 201, text)
        definition = {"id": "c", "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}}
        status, _, text = http.ask("POST", "/dbs/storm/colls", [], definition)
        expect(status, 201, text)

    def guarded(self, work, *arguments):
        try:
            work(*arguments)
        except Exception as problem:  # told by run(), in the main thread
            self.problems.append("%s: %r" % (work.__name__, problem))
            self.ended.set()

    def write(self, which):
        client = Container(self.url, self.key, LINK)
        for n in range(self.items):
            if self.ended.is_set():
                return
            pk = "p%d" % (n % 50)
            status, text = client.item("POST", "/docs", [pk], {"id": "%d-%d" % (which, n), "pk": pk})
            expect(status, 201, text)
            status, text = client.item("GET", "/docs/%d-%d" % (which, n), [pk])
            expect(status, 200, text)

    def read(self):
        """What was there when a query began comes once, whatever becomes of the ranges."""
        client = Container(self.url, self.key, LINK)
        while not self.ended.is_set():
            rows, _ = client.page("SELECT VALUE c.id FROM c", 10000, None)
            query, seen = RangeQuery(client, "SELECT VALUE c.id FROM c", 20), []
            while (page := query.step()) is not None:
                seen += page
            if len(seen) != len(set(seen)) or not set(rows) <= set(seen):
                raise Wrong("%d rows, %d of them different, of at least %d" % (len(seen), len(set(seen)), len(rows)))

    def change(self):
        client, chance = Container(self.url, self.key, LINK), random.Random(self.seed)
        while not self.ended.is_set():
            live = sorted(client.live().items(), key=lambda each: each[1])
            if len(live) > 1 and (len(live) > PARTS_MAX or chance.random() < 0.4):
                first = chance.randrange(len(live) - 1)
                status, body = client.admin("merge", {"ranges": [name for name, _ in live[first:first + 2]]})
            else:
                status, body = client.admin("split", {"range": chance.choice(live)[0]})
            if status == 400 and "different buckets" in body["message"]:
                continue
            expect(status, 200, json.dumps(body))
            self.changes += 1

    def run(self):
        writers = [threading.Thread(target=self.guarded, args=(self.write, n)) for n in range(WRITERS)]
        others = [threading.Thread(target=self.guarded, args=(work,)) for work in (self.read, self.change)]
        for thread in writers + others:
            thread.start()
        for thread in writers:
            thread.join()
        self.ended.set()
        for thread in others:
            thread.join()
        if self.problems:
            raise Wrong("; ".join(self.problems))
        self.count()

    def count(self):
        client = Container(self.url, self.key, LINK)
        query, seen = RangeQuery(client, "SELECT VALUE c.id FROM c", 100), []
        while (page := query.step()) is not None:
            seen += page
        wanted = {"%d-%d" % (w, n) for w in range(WRITERS) for n in range(self.items)}
        if len(seen) != len(wanted) or set(seen) != wanted:
            raise Wrong("%d rows, %d different, instead of %d" % (len(seen), len(set(seen)), len(wanted)))
