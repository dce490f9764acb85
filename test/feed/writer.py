"""test/feed/writer.py - writers that know what became of each of their writes, batches and deletes too."""
import json
import random
import threading

from link import Link, Stopped, Unknown

DOCS = "/dbs/feed/colls/monitored/docs"
KEYS_EACH, ITEMS_OF_A_KEY = 6, 4
BATCH = [("x-ms-cosmos-is-batch-request", "True"), ("x-ms-cosmos-batch-atomic", "True")]


def key_header(key):
    return ("x-ms-documentdb-partitionkey", json.dumps([key]))


class Writer(threading.Thread):
    """Items of its own: `written` has for each every change that took place, in order."""

    def __init__(self, place, name, seed, ending):
        super().__init__(daemon=True)
        self.link, self.name, self.ending = Link(place), name, ending
        self.random, self.version = random.Random("%s %s" % (seed, name)), 0
        self.written, self.problem = {}, None

    def run(self):
        try:
            while not self.ending.is_set():
                self.write()
        except Stopped:
            pass
        except Exception as problem:  # told by whoever waits for this thread
            self.problem = repr(problem)

    def is_there(self, item):
        return item in self.written and self.written[item][-1][0] != "delete"

    def plan(self, item):
        """(operation of the protocol, what the feed calls it, version)"""
        self.version += 1
        if not self.is_there(item):
            return ("Create", "create", self.version)
        if self.random.random() < 0.2:
            return ("Delete", "delete", self.version)
        return ("Replace", "replace", self.version)

    def write(self):
        key = "%s-%d" % (self.name, self.random.randrange(KEYS_EACH))
        items = ["%s-%d" % (key, i) for i in range(ITEMS_OF_A_KEY)]
        chosen = self.random.sample(items, self.random.randint(2, ITEMS_OF_A_KEY)) if self.random.random() < 0.3 else [self.random.choice(items)]
        plans = {item: self.plan(item) for item in chosen}
        try:
            self.send(key, plans)
            done = True
        except Unknown:
            done = self.took_place(key, plans)
        if done:
            for item, (_, kind, version) in plans.items():
                self.written.setdefault(item, []).append((kind, None if kind == "delete" else version))

    def send(self, key, plans):
        operations = []
        for item, (operation, _, version) in plans.items():
            one = {"operationType": operation}
            if operation != "Create":
                one["id"] = item
            if operation != "Delete":
                one["resourceBody"] = {"id": item, "pk": key, "version": version, "pad": "x" * self.random.randrange(300)}
            operations.append(one)
        status, _, body = self.link.ask_once("POST", DOCS, [*BATCH, key_header(key)], operations)
        if status != 200:
            raise RuntimeError("a batch was answered %d: %s" % (status, body))

    def took_place(self, key, plans):
        """A batch is done whole or not at all: one of its items tells."""
        item, (operation, _, version) = next(iter(plans.items()))
        status, _, body = self.link.ask("GET", "%s/%s" % (DOCS, item), [key_header(key)])
        if operation == "Delete":
            return status == 404
        return status == 200 and body["version"] == version
