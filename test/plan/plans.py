"""test/plan/plans.py - a server that is asked for plans, and for what a plan says to ask."""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TEST = os.path.dirname(HERE)
# In this order: there is a case.py in test/query/, which is wanted, and another in test/wire/.
sys.path[:0] = [os.path.join(TEST, "query"), TEST, os.path.join(TEST, "wire")]

import case as queries
import client as clients
from server import KEY

VERSION = "2020-07-15"
FEATURES = ("Aggregate, CompositeAggregate, Distinct, GroupBy, MultipleAggregates, MultipleOrderBy, OffsetAndLimit, "
            "OrderBy, Top, NonValueAggregate, DCount, NonStreamingOrderBy, ListAndSetAggregate, CountIf, HybridSearch, "
            "WeightedRankFusion, HybridSearchSkipOrderByRewrite")
QUERY = [("content-type", "application/query+json"), ("x-ms-documentdb-isquery", "True")]


class Asker:
    """One connection, and a database of its own from open() to close()."""

    def __init__(self, url):
        self.client = clients.Client(url)
        self.database = "plans-%d" % os.getpid()

    def ask(self, method, target, headers=(), body=None):
        """(status, text)"""
        status, _, text = self.ask_for_all(method, target, headers, body)
        return status, text

    def ask_for_all(self, method, target, headers=(), body=None):
        """(status, headers by their names in small letters, text)"""
        date = clients.date_of()
        token = clients.authorization(KEY, method, *clients.resource_of(target), (date, ""))
        signed = [("authorization", clients.encoded(token)), ("x-ms-date", date), ("x-ms-version", VERSION)]
        text = None if body is None else json.dumps(body).encode()
        status, _, given, content = self.client.send(method, target, signed + list(headers), text)
        return status, {name.lower(): value for name, value in given}, content.decode("utf-8", "replace")

    def must(self, method, target, headers=(), body=None):
        """The answer as JSON; anything but success is a Mismatch."""
        status, text = self.ask(method, target, headers, body)
        if status >= 400:
            raise queries.Mismatch("%s %s answered %d: %s" % (method, target, status, queries.shown(text)))
        return json.loads(text) if text else None

    def open(self):
        self.must("POST", "/dbs", body={"id": self.database})

    def close(self):
        self.must("DELETE", "/dbs/" + self.database)

    def make_container(self, name, definition, headers=()):
        """Its target."""
        self.must("POST", "/dbs/%s/colls" % self.database, headers, {**definition, "id": name})
        return "/dbs/%s/colls/%s" % (self.database, name)

    def plan(self, container, query, params=(), features=FEATURES):
        """(status, text)"""
        headers = QUERY + [("x-ms-cosmos-is-query-plan-request", "True"), ("x-ms-cosmos-query-version", "1.0")]
        if features != "none":
            headers.append(("x-ms-cosmos-supported-query-features", features))
        return self.ask("POST", container + "/docs", headers, {"query": query, "parameters": list(params)})
