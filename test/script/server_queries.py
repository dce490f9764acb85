"""test/script/server_queries.py - queries of scripts: by the index they see what a scan sees, the script's own writes too."""
import random

from client import Signed
from server import KEY
from world import World

SEEDS, ROUNDS, STEPS, ITEMS, PAGE = 3, 5, 40, 120, 7
OTHERS = ["b", "c"]  # logical partitions that no script may see
POLICY = {"indexingMode": "consistent", "includedPaths": [{"path": "/*"}], "excludedPaths": [{"path": "/hidden/*"}],
          "compositeIndexes": [[{"path": "/s"}, {"path": "/n", "order": "descending"}], [{"path": "/s"}, {"path": "/_ts"}]]}
BY_TIME = "SELECT VALUE c.id FROM c WHERE c.s = 'a' AND c._ts < 40000000000 ORDER BY c.s, c._ts"
QUERIES = [
    "SELECT VALUE c.id FROM c",
    "SELECT VALUE c.id FROM c WHERE c.n = 3",
    "SELECT VALUE c.id FROM c WHERE c.n > 4 AND c.s = 'b'",
    "SELECT VALUE c.id FROM c WHERE c.n < 2 OR c.s = 'd'",
    "SELECT VALUE c.id FROM c WHERE NOT IS_DEFINED(c.n)",
    "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.t, 'x')",
    "SELECT VALUE c.id FROM c WHERE c.hidden = 1",
    "SELECT VALUE c.id FROM c ORDER BY c.n",
    "SELECT VALUE c.id FROM c ORDER BY c.m",  # which few lack
    "SELECT TOP 5 VALUE c.id FROM c ORDER BY c.m",
    "SELECT DISTINCT VALUE c.m FROM c",
    "SELECT VALUE COUNT(c.m) FROM c",
    "SELECT VALUE c.id FROM c WHERE c.s >= 'b' ORDER BY c.n DESC",
    "SELECT VALUE c.id FROM c ORDER BY c.s, c.n DESC",
    BY_TIME,
    "SELECT VALUE c.id FROM c WHERE c._ts > 0 AND c._ts < 40000000000",
    "SELECT VALUE COUNT(1) FROM c WHERE c._ts < 40000000000",
    "SELECT VALUE COUNT(1) FROM c",
    "SELECT VALUE COUNT(1) FROM c WHERE c.s = 'c'",
    "SELECT VALUE SUM(c.n) FROM c WHERE c.n >= 1",
    "SELECT DISTINCT VALUE c.n FROM c",
    "SELECT c.s, COUNT(1) AS k FROM c GROUP BY c.s",
    "SELECT VALUE t FROM c JOIN t IN c.t WHERE t = 'y'",
]
WRITE_AND_ASK = """function (steps, queries, pageSize) {
    var c = getContext().getCollection(), self = c.getSelfLink(), alt = c.getAltLink() + "/docs/", found = [];
    function tell(query) { return function (error, rows) { if (error) throw error; found.push({ query: query, rows: rows }); }; }
    function known(error) { if (error && error.number !== 404 && error.number !== 409) throw error; }
    steps.forEach(function (step, at) {
        if (step.how === "create") c.createDocument(self, step.item, { indexAction: step.index }, known);
        if (step.how === "upsert") c.upsertDocument(self, step.item, known);
        if (step.how === "replace") c.replaceDocument(alt + step.id, step.item, known);
        if (step.how === "delete") c.deleteDocument(alt + step.id, known);
        if (at % 4 === 3) ask(queries[at % queries.length]);
    });
    queries.forEach(ask);
    pages(0, [], undefined);
    function ask(query) { c.queryDocuments(self, query, { pageSize: -1 }, tell(query)); }
    function pages(which, before, continuation) {
        if (which === queries.length) return getContext().getResponse().setBody(found);
        var accepted = c.queryDocuments(self, queries[which], { pageSize: pageSize, continuation: continuation }, function (error, rows, info) {
            if (error) throw error;
            if (info.continuation) return pages(which, before.concat(rows), info.continuation);
            tell(queries[which])(undefined, before.concat(rows));
            pages(which + 1, [], undefined);
        });
        if (!accepted) throw new Error("no time left");
    } }"""
FIND = """function () { var c = getContext().getCollection();
    c.queryDocuments(c.getSelfLink(), "SELECT VALUE c.id FROM c WHERE c.n = 3", function (error, rows) {
        if (error) throw error; getContext().getResponse().setBody(rows); }); }"""


def _item(dice, name):
    item = {"id": name, "pk": "a", "s": dice.choice("abcd"), "hidden": dice.randrange(3), "t": dice.sample(["x", "y", "z"], dice.randrange(3))}
    if dice.random() < 0.8:
        item["n"] = dice.randrange(8)
    if name not in ("i5", "i50"):
        item["m"] = dice.randrange(100)
    return item


def _steps(dice):
    steps = []
    for _ in range(STEPS):
        how, old = dice.choice(["create", "create", "upsert", "replace", "delete"]), "i%d" % dice.randrange(ITEMS)
        name = "j%d" % dice.randrange(STEPS) if how == "create" else old
        steps.append({"how": how, "id": old, "item": _item(dice, name), "index": dice.choice(["default", "exclude", "include"])})
    return steps


def _make(world, name, dice):
    """A container whose items, but for their times, depend on the dice alone."""
    home = "/dbs/d/colls/" + name
    world.ask("POST", "/dbs/d/colls", {"id": name, "partitionKey": {"paths": ["/pk"], "version": 2}, "indexingPolicy": POLICY}, expect=201)
    world.ask("POST", home + "/sprocs", {"id": "ask", "body": WRITE_AND_ASK}, expect=201)
    world.ask("POST", home + "/sprocs", {"id": "find", "body": FIND}, expect=201)
    for key in ["a"] + OTHERS:
        rows = [{**_item(dice, "i%d" % number), "pk": key} for number in range(ITEMS)]
        for first in range(0, ITEMS, 60):
            world.ask("POST", home + "/docs", [{"operationType": "Create", "resourceBody": row} for row in rows[first:first + 60]], key,
                      [("x-ms-cosmos-is-batch-request", "True"), ("x-ms-cosmos-batch-atomic", "True")])
    return home


def _found(world, home, steps, way):
    return world.ask("POST", home + "/sprocs/ask", [steps, QUERIES, PAGE], "a", [("x-orrery-index", way)])


def _compare(world, seed):
    homes = {way: _make(world, "by-%s-%d" % (way, seed), random.Random(seed)) for way in ("off", "always")}
    dice = random.Random(-seed)
    for turn in range(ROUNDS):
        steps = _steps(dice)
        scanned, looked_up = (_found(world, homes[way], steps, way) for way in ("off", "always"))
        assert len(scanned) == len(looked_up)
        for one, other in zip(scanned, looked_up):
            if one["query"] == BY_TIME: # the two containers were not written in the same seconds
                one["rows"].sort(), other["rows"].sort()
            assert one == other, "seed %d, turn %d: %s by scan, %s by index" % (seed, turn, one, other["rows"])


def _compare_in(world, *options):
    """In a server with other options, and more time for scripts: these do hundreds of operations."""
    other = World(world.server.program)
    other.server.command += ["--script-seconds", "30", *options]
    try:
        other.open()
        for seed in range(1, SEEDS + 1):
            _compare(other, seed)
        other.close()
    finally:
        other.destroy()


def by_the_index_a_script_sees_what_a_scan_sees_its_own_writes_too(world):
    _compare_in(world)


def and_so_it_does_in_a_store_that_keeps_entries_as_plain_keys(world):
    _compare_in(world, "--store", "memory")


def a_query_of_a_script_reads_by_the_index_what_it_needs_and_no_more(world):
    home = _make(world, "many", random.Random(1))
    charges = [_charge(world, home, way) for way in ("off", "always")]
    assert charges[1] < charges[0], charges


def _charge(world, home, way):
    client = Signed(world.server.http, KEY)
    status, head, text = client.ask("POST", home + "/sprocs/find", [("x-orrery-index", way), ("x-ms-documentdb-partitionkey", '["a"]')], [])
    client.close()
    assert status == 200, text
    return float(head["x-ms-request-charge"])
