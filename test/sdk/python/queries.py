"""test/sdk/python/queries.py - queries with azure-cosmos: the table of ../queries.json, then pages, metrics and lists."""
import json
import os
import re
import traceback
import uuid

from azure.cosmos import CosmosClient, PartitionKey, exceptions

NAME = "queries-python-" + uuid.uuid4().hex[:8]
SYSTEM = {"_rid", "_self", "_etag", "_attachments", "_ts"}
METRICS = "x-ms-documentdb-query-metrics"
RESUMED = ["everything", "values", "ORDER BY", "ORDER BY of two", "ORDER BY of every type", "OFFSET LIMIT", "TOP of an order", "JOIN",
           "DISTINCT values", "everything of a key", "a filter and an order of a key"]

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "queries.json"), encoding="utf-8") as file:
    TABLE = json.load(file)


def connect(credential=None, **options):
    return CosmosClient(os.environ["ORRERY_ENDPOINT"], credential or os.environ["ORRERY_KEY"],
                        connection_verify=os.environ.get("ORRERY_CERTIFICATE") or True, **options)


def canonical(value):
    """Text that is the same for values that are: members sorted, numbers to twelve digits."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return "%.12g" % value
    if isinstance(value, list):
        return "[%s]" % ",".join(map(canonical, value))
    if isinstance(value, dict):
        return "{%s}" % ",".join("%r:%s" % (name, canonical(value[name])) for name in sorted(value))
    return repr(value)


def plain(row):
    """An item as it was before the server added to it; other rows as they are."""
    if isinstance(row, dict):
        return {name: value for name, value in row.items() if name not in SYSTEM}
    return row


def check(entry, rows):
    if "count" in entry:
        assert len(rows) == entry["count"], "%d rows, not %d" % (len(rows), entry["count"])
        return
    expected = [canonical(row) for row in (TABLE["items"] if entry["rows"] == "items" else entry["rows"])]
    found = [canonical(plain(row)) for row in rows]
    if not entry.get("ordered"):
        expected, found = sorted(expected), sorted(found)
    assert found == expected, "found    %s\nexpected %s" % (found, expected)


def entry_of(name):
    return next(entry for entry in TABLE["queries"] if entry["name"] == name)


def options_of(entry):
    """One key, or part of one, or every key."""
    options = {"query": entry["query"], "parameters": entry.get("parameters")}
    if "key" in entry:
        options["partition_key"] = entry["key"] if entry.get("container") else entry["key"][0]
    else:
        options["enable_cross_partition_query"] = True
    return options


class Queries:
    def __init__(self, client):
        self.client, self.other = client, connect()
        self.database = client.create_database(NAME)
        self.containers = {"one": self.filled("one", TABLE["definition"]),
                           "three": self.filled("three", TABLE["definition"], 18000),
                           "levels": self.filled("levels", TABLE["levels"], 18000)}
        self.passed = self.failed = 0

    def filled(self, name, definition, throughput=None):
        key = definition["partitionKey"]
        paths = key["paths"] if key["kind"] == "MultiHash" else key["paths"][0]
        container = self.database.create_container(name, PartitionKey(paths, kind=key["kind"], version=2), offer_throughput=throughput,
                                                   indexing_policy=definition.get("indexingPolicy"))
        for item in TABLE["items"]:
            container.create_item(item)
        return container

    def attempt(self, sentence, run, *arguments):
        try:
            run(*arguments)
            self.passed += 1
        except Exception:
            self.failed += 1
            print("FAILED", sentence)
            print(traceback.format_exc(limit=-3))

    # The table

    def rows(self, entry, where, **options):
        check(entry, list(self.containers[where].query_items(**options_of(entry), **options)))

    def refused(self, entry, where, **options):
        try:
            list(self.containers[where].query_items(**options_of(entry), **options))
        except exceptions.CosmosHttpResponseError as problem:
            assert problem.status_code == entry["error"]["status"], problem.status_code
            assert entry["error"]["message"] in problem.message, problem.message
            return
        raise AssertionError("it was answered")

    def table(self):
        for entry in TABLE["queries"]:
            for where in [entry["container"]] if "container" in entry else ["one", "three"]:
                for mode, options in ("as it comes", {}), ("by pages of two", {"max_item_count": 2}):
                    run = self.refused if "error" in entry else self.rows
                    self.attempt("%s of %s, %s" % (entry["name"], where, mode), lambda: run(entry, where, **options))

    # Pages: by two clients in turn, which know nothing of one another but the token

    def resumed(self, name, where):
        entry, token, rows, pages = entry_of(name), None, [], 0
        while True:
            container = (self.client, self.other)[pages % 2].get_database_client(NAME).get_container_client(where)
            pager = container.query_items(**options_of(entry), max_item_count=3).by_page(token)
            page = list(next(pager))
            assert len(page) <= 3, "a page of %d" % len(page)
            rows, pages, token = rows + page, pages + 1, pager.continuation_token
            assert pages < 100, "the pages have no end"
            if not token:
                break
        assert pages > 1, "all of it came in one page"
        check(entry, rows)

    def pages(self):
        for where in "one", "three":
            for name in RESUMED:
                self.attempt("%s of %s goes on in another client" % (name, where), self.resumed, name, where)

    # By range, and what else an answer tells

    def by_range(self):
        container = self.containers["three"]
        ranges = list(container.read_feed_ranges())
        assert len(ranges) == 3, len(ranges)
        parts = [list(container.query_items("SELECT * FROM c", feed_range=one)) for one in ranges]
        assert all(parts), "a range without items"
        check({"rows": "items"}, sum(parts, []))

    def metrics(self):
        container = self.containers["one"]
        rows = list(container.query_items("SELECT * FROM c WHERE c.radius > 1000", enable_cross_partition_query=True, populate_query_metrics=True))
        told = container.client_connection.last_response_headers[METRICS]
        values = dict(part.split("=") for part in told.split(";"))
        assert int(values["outputDocumentCount"]) == len(rows), told
        assert int(values["retrievedDocumentCount"]) >= len(rows), told
        assert re.fullmatch(r"\d+\.\d+", values["totalExecutionTimeInMs"]), told

    def read_all(self):
        check({"rows": "items"}, list(self.containers["three"].read_all_items(max_item_count=5)))

    def read_many(self):
        wanted = TABLE["items"][::3]
        found = self.containers["three"].read_items([(item["id"], item["planet"]) for item in wanted])
        check({"rows": wanted}, list(found))

    def lists(self):
        found = list(self.client.query_databases("SELECT * FROM r WHERE r.id = @id", parameters=[{"name": "@id", "value": NAME}]))
        assert [one["id"] for one in found] == [NAME], found
        found = list(self.database.query_containers("SELECT * FROM r WHERE r.id IN ('one', 'three')"))
        assert sorted(one["id"] for one in found) == ["one", "three"], found

    def run(self):
        self.table()
        self.pages()
        self.attempt("each range has its items, and all have all", self.by_range)
        self.attempt("metrics are told when they are asked for", self.metrics)
        self.attempt("read_all_items has every item", self.read_all)
        self.attempt("read_items has those that were asked for", self.read_many)
        self.attempt("databases and containers are found by a query", self.lists)
        self.client.delete_database(NAME)
        return self.passed, self.failed
