"""test/reshape/writer.py - writes orders by a seed, and knows which of them must be there.

It is a client like others: it goes by the partition key that it knows of the container, and looks again when it is told that
something is wrong. What it was told to come back with, it does later.
"""
import json
import random
import threading


class Writer:
    def __init__(self, account, link, seed, name="w"):
        self.account, self.link, self.name = account, link, name
        self.random = random.Random(seed)
        self.items, self.count, self.waits = {}, 0, 0
        self.look()

    def look(self):
        self.path = self.account.must(200, "GET", self.link, [])["partitionKey"]["paths"][0].strip("/")

    def key_of(self, item):
        return [("x-ms-documentdb-partitionkey", json.dumps([item[self.path]]))]

    def order(self, name, customer):
        lines = [{"sku": "s%d" % i, "count": self.random.randrange(9)} for i in range(self.random.randrange(4))]
        return {"id": name, "customer": customer, "total": self.random.randrange(1000), "lines": lines}

    def ask(self, method, place, item, body=None):
        """True: it was done. False: it is to be done later."""
        for _ in range(2):
            status, _, text = self.account.ask(method, self.link + "/docs" + place, self.key_of(item), body)
            if status in (200, 201, 204):
                return True
            if status in (429, 449):
                self.waits += 1
                return False
            if status not in (400, 404):
                break
            self.look()  # another container has the name by now, with another key
        raise AssertionError("%s %s: %s %s" % (method, place, status, text[:300]))

    def step(self):
        choice = self.random.random()
        if choice < 0.5 or not self.items:
            self.count += 1
            item = self.order("%s%d" % (self.name, self.count), "c%d" % self.random.randrange(7))
            if self.ask("POST", "", item, item):
                self.items[item["id"]] = item
            return
        name = self.random.choice(sorted(self.items))
        old = self.items[name]
        if choice < 0.8:
            item = self.order(name, old["customer"])
            if self.ask("PUT", "/" + name, old, item):
                self.items[name] = item
        elif self.ask("DELETE", "/" + name, old):
            del self.items[name]

    def steps(self, count):
        for _ in range(count):
            self.step()


class Background:
    """Writers of their own threads, until they are told to end."""

    def __init__(self, writers):
        self.ended, self.failures = threading.Event(), []
        self.threads = [threading.Thread(target=self.run, args=(writer,)) for writer in writers]

    def run(self, writer):
        try:
            while not self.ended.is_set():
                writer.step()
        except Exception as failure:
            self.failures.append(failure)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        for thread in self.threads:
            thread.join()
        if self.failures:
            raise self.failures[0]
