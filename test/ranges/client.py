"""test/ranges/client.py - what an SDK does with ranges, in small: a routing map, session tokens, queries over ranges."""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "wire")]

# The wire cases' client, which has this file's name.
import importlib.util

_spec = importlib.util.spec_from_file_location("wire_client", os.path.join(os.path.dirname(HERE), "wire", "client.py"))
wire = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(wire)

QUERY = [("x-ms-documentdb-isquery", "True"), ("content-type", "application/query+json"),
         ("x-ms-documentdb-query-enablecrosspartition", "True"), ("x-orrery-whole", "true")]


class Wrong(Exception):
    """The server's answer is not what the model says."""


def expect(status, wanted, text):
    if status not in (wanted if isinstance(wanted, tuple) else (wanted,)):
        raise Wrong("%s instead of %s: %s" % (status, wanted, text[:300]))


class Container:
    """One container over one connection: its ranges as the incremental feed tells them, its session."""

    def __init__(self, url, key, link):
        self.http, self.link = wire.Signed(url, key), link
        self.ranges, self.etag = {}, None
        self.session = {}

    # ---- ranges ----

    def refresh(self):
        """As SDKs do: read until nothing is new, each range in the place of those that it names."""
        while True:
            headers = [("A-IM", "Incremental Feed"), ("x-ms-max-item-count", "-1")]
            if self.etag:
                headers.append(("If-None-Match", self.etag))
            status, answered, text = self.http.ask("GET", self.link + "/pkranges", headers)
            expect(status, (200, 304), text)
            self.etag = answered["etag"]
            if status == 304:
                return self.ranges
            self.combine(json.loads(text)["PartitionKeyRanges"])

    def combine(self, new):
        for each in new:
            for parent in each["parents"]:
                self.ranges.pop(parent, None)
        self.ranges.update((each["id"], (each["minInclusive"], each["maxExclusive"])) for each in new)
        bounds = sorted(self.ranges.values())
        if bounds[0][0] != "" or bounds[-1][1] != "FF" or any(a[1] != b[0] for a, b in zip(bounds, bounds[1:])):
            raise Wrong("the ranges do not tile all keys: %s" % self.ranges)

    def live(self):
        status, _, text = self.http.ask("GET", self.link + "/pkranges", [])
        expect(status, 200, text)
        return {each["id"]: (each["minInclusive"], each["maxExclusive"]) for each in json.loads(text)["PartitionKeyRanges"]}

    def admin(self, command, wanted):
        body = {"container": self.link.strip("/"), **wanted}
        status, _, text = self.http.ask("POST", "/_orrery/" + command, [], body)
        return status, json.loads(text)

    # ---- items ----

    def item(self, method, target, key, body=None, headers=()):
        """With every token that this client was ever given."""
        tokens = ",".join("%s:-1#%d" % pair for pair in self.session.items())
        sent = [("x-ms-documentdb-partitionkey", json.dumps(key)), *headers]
        if tokens:
            sent.append(("x-ms-session-token", tokens))
        status, answered, text = self.http.ask(method, self.link + target, sent, body)
        for token in answered.get("x-ms-session-token", "").split(","):
            if token:
                name, lsn = token.split(":-1#")
                self.session[name] = max(self.session.get(name, 0), int(lsn))
        if status < 300 and answered.get("x-ms-documentdb-partitionkeyrangeid") is None:
            raise Wrong("an answer about one item names no range")
        return status, text

    def page(self, query, size, continuation, headers=()):
        """(rows, continuation), or None when the range is gone."""
        sent = [*QUERY, ("x-ms-max-item-count", str(size)), *headers]
        if continuation:
            sent.append(("x-ms-continuation", continuation))
        status, answered, text = self.http.ask("POST", self.link + "/docs", sent, {"query": query})
        if status == 410 and answered.get("x-ms-substatus") == "1002":
            return None
        expect(status, 200, text)
        return json.loads(text)["Documents"], answered.get("x-ms-continuation")


class RangeQuery:
    """A query that is asked of each range, a page a step; a range that is gone is asked of those that came for it."""

    def __init__(self, container, query, size):
        self.container, self.query, self.size = container, query, size
        self.left = [(*bounds, None) for bounds in sorted(container.refresh().values())]

    def step(self):
        """Rows of one page, or None at the end."""
        if not self.left:
            return None
        low, high, continuation = self.left.pop(0)
        parts = [(name, max(low, bounds[0]), min(high, bounds[1])) for name, bounds in self.container.ranges.items()
                 if bounds[0] < high and low < bounds[1]]
        if len(parts) > 1:
            self.left[:0] = sorted((part[1], part[2], continuation) for part in parts)
            return []
        answer = self.container.page(self.query, self.size, continuation,
                                     [("x-ms-documentdb-partitionkeyrangeid", parts[0][0]), ("x-ms-start-epk", low),
                                      ("x-ms-end-epk", high), ("x-ms-read-key-type", "EffectivePartitionKeyRange")])
        if answer is None:
            self.container.refresh()
            self.left.insert(0, (low, high, continuation))
            return []
        if answer[1]:
            self.left.insert(0, (low, high, answer[1]))
        return answer[0]


class WholeQuery:
    """The same query of the container as a whole, or of one key."""

    def __init__(self, container, query, size, headers=()):
        self.container, self.query, self.size, self.headers = container, query, size, headers
        self.continuation, self.ended = None, False

    def step(self):
        if self.ended:
            return None
        rows, self.continuation = self.container.page(self.query, self.size, self.continuation, self.headers)
        self.ended = not self.continuation
        return rows
