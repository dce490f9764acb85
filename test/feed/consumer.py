"""test/feed/consumer.py - a consumer as the SDKs' change feed processors are: leases are items, changed with If-Match.

A lease is a part of the key space and how far its changes were delivered. Consumers of a group share its leases evenly:
one takes what nobody has renewed for a while, or one of somebody who has too many. A part that was split becomes
leases of its parts, in one batch. What is delivered counts with the checkpoint of the lease, and so once.
"""
import json
import threading
import time
import uuid

from link import Link, Stopped, Unknown

MONITORED, LEASES = "/dbs/feed/colls/monitored", "/dbs/feed/colls/leases"
EXPIRY_SECONDS, BALANCE_SECONDS = 3.0, 0.5
MODES = {"latest": "Incremental Feed", "all": "Full-Fidelity Feed"}
PAGE_ITEMS = "20"


class Consumer(threading.Thread):
    def __init__(self, place, ledger, name, ending):
        super().__init__(daemon=True)
        self.link, self.ledger, self.name, self.ending = Link(place), ledger, name, ending
        self.key = ("x-ms-documentdb-partitionkey", json.dumps([ledger.name]))
        self.ranges, self.mine, self.balanced_at = [], {}, 0.0
        self.splits, self.problem = 0, None

    def run(self):
        try:
            while not self.ending.is_set():
                self.balance()
                for lease in list(self.mine.values()):
                    self.work(lease)
        except Stopped:
            pass
        except Exception as problem:  # told by whoever waits for this thread
            self.problem = repr(problem)

    # Leases

    def load(self):
        _, _, body = self.link.ask("GET", LEASES + "/docs", [self.key, ("x-ms-max-item-count", "1000")])
        return body["Documents"]

    def balance(self):
        """Keeps what is its own, takes what nobody has, or one of somebody who has more than the others."""
        if time.monotonic() - self.balanced_at < BALANCE_SECONDS:
            return
        self.balanced_at = time.monotonic()
        leases, now = self.load(), time.time()
        fresh = [lease for lease in leases if lease["owner"] and now - lease["renewed"] < EXPIRY_SECONDS]
        counts = {lease["owner"]: 0 for lease in fresh}
        counts[self.name] = 0
        for lease in fresh:
            counts[lease["owner"]] += 1
        share = -(-len(leases) // len(counts))
        self.forget(leases)
        free = [lease for lease in leases if lease not in fresh or (lease["owner"] == self.name and lease["id"] not in self.mine)]
        rich = [lease for lease in fresh if counts[lease["owner"]] > share and lease["owner"] != self.name]
        for lease in (free + rich[:1])[:max(0, share - len(self.mine))]:
            self.take(lease)
        for lease in list(self.mine.values()):
            if now - lease["renewed"] > EXPIRY_SECONDS / 3:
                self.take(lease)

    def forget(self, leases):
        """What others have changed since is not its own any more, whatever it says of its owner."""
        etags = {lease["id"]: lease["_etag"] for lease in leases}
        self.mine = {name: lease for name, lease in self.mine.items() if etags.get(name) == lease["_etag"]}

    def take(self, lease):
        sent_at = self.ledger.now()
        try:
            if self.put(lease):
                self.ledger.adopt(lease["id"], lease["checkpoint"], sent_at)
        except Unknown:
            pass

    def put(self, lease, **changes):
        """Writes a lease as one's own; False when somebody else has changed it."""
        wanted = {**lease, "owner": self.name, "renewed": time.time(), **changes}
        self.mine.pop(lease["id"], None)  # unless the answer says so
        status, _, body = self.link.ask_once("PUT", "%s/docs/%s" % (LEASES, lease["id"]), [self.key, ("If-Match", lease["_etag"])], wanted)
        if status == 200:
            self.mine[lease["id"]] = body
        elif status not in (404, 412):
            raise RuntimeError("a lease was answered %d: %s" % (status, body))
        return status == 200

    # Changes

    def read_ranges(self):
        _, _, body = self.link.ask("GET", MONITORED + "/pkranges")
        self.ranges = [(one["minInclusive"], one["maxExclusive"], one["id"]) for one in body["PartitionKeyRanges"]]

    def overlapping(self, lease):
        return [one for one in self.ranges if one[0] < lease["max"] and lease["min"] < one[1]]

    def work(self, lease):
        if not self.ranges:
            self.read_ranges()
        found = self.overlapping(lease)
        try:
            if len(found) > 1:
                self.divide(lease, found)
            elif found:
                self.read(lease, found[0])
        except Unknown:
            pass

    def divide(self, lease, ranges):
        """All of it or nothing, so that no change is delivered for the whole and for a part."""
        parts = [(max(lease["min"], low), min(lease["max"], high)) for low, high, _ in ranges]
        operations = [{"operationType": "Delete", "id": lease["id"], "ifMatch": lease["_etag"]}]
        operations += [{"operationType": "Create", "resourceBody": lease_of(self.ledger.name, low, high, lease["token"])} for low, high in parts]
        self.mine.pop(lease["id"], None)
        self.balanced_at = 0.0
        status, _, _ = self.link.ask_once("POST", LEASES + "/docs", [
            ("x-ms-cosmos-is-batch-request", "True"), ("x-ms-cosmos-batch-atomic", "True"), self.key], operations)
        self.splits += status == 200

    def read(self, lease, found):
        headers = [("A-IM", MODES[self.ledger.name]), ("x-ms-max-item-count", PAGE_ITEMS),
                   ("x-ms-documentdb-partitionkeyrangeid", found[2]), ("x-ms-start-epk", lease["min"]), ("x-ms-end-epk", lease["max"])]
        if lease["token"]:
            headers.append(("If-None-Match", lease["token"]))
        status, answered, body = self.link.ask_once("GET", MONITORED + "/docs", headers)
        if status == 410:
            self.ranges = []
        elif status == 304:
            lease["token"] = answered["etag"]
        elif status == 200:
            self.deliver(lease, answered["etag"], [self.change_of(one) for one in body["Documents"]])
        else:
            raise RuntimeError("the feed was answered %d: %s" % (status, body))

    def change_of(self, one):
        if self.ledger.name == "latest":
            return one["id"], "", one["version"]
        if one["metadata"]["operationType"] == "delete":
            return one["metadata"]["id"], "delete", None
        return one["current"]["id"], one["metadata"]["operationType"], one["current"]["version"]

    def deliver(self, lease, token, changes):
        checkpoint = uuid.uuid4().hex
        self.ledger.begin(lease["id"], checkpoint, changes)
        self.ledger.end(checkpoint, self.put(lease, token=token, checkpoint=checkpoint))


def lease_of(group, low, high, token):
    return {"id": "%s-%s" % (low, high), "group": group, "min": low, "max": high, "token": token, "owner": "",
            "renewed": 0, "checkpoint": ""}
