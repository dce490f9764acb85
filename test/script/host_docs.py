"""test/script/host_docs.py - the examples of docs/scripts.md do what it says."""
import os
import re

from host import Store

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "scripts.md")


def _example(name):
    with open(PAGE, encoding="utf-8") as page:
        blocks = re.findall(r"^```js\n(.*?)^```", page.read(), re.MULTILINE | re.DOTALL)
    [found] = [block for block in blocks if re.search(r"function %s\(" % name, block)]
    return found


def createAll_counts_and_stops_when_it_is_not_accepted(host):
    items = [{"id": str(i)} for i in range(5)]
    assert host.body(_example("createAll"), items) == 5
    assert host.body(_example("createAll"), items, quota={"operations": 3}) == 3
    assert host.failure(_example("createAll"), items, store=Store({"id": "2"}))["number"] == 409


def transfer_moves_an_amount_or_refuses(host):
    store = Store({"id": "a", "balance": 5}, {"id": "b", "balance": 0})
    assert host.body(_example("transfer"), "a", "b", 3, store=store) == {"from": 2, "to": 3}
    assert len(store.frames[0]) == 2
    assert "too little on a" in host.failure(_example("transfer"), "a", "b", 3, store=store)["message"]
    assert host.failure(_example("transfer"), "a", "z", 3, store=store)["number"] == 404


def stamp_changes_the_item(host):
    request = {"body": {"id": "1", "name": " n "}, "operation": "Create", "writable": True}
    kind, payload = host.run(_example("stamp"), request=request, response=None)
    assert payload["request"]["name"] == "n" and payload["request"]["created"].endswith("Z")


def countItems_counts(host):
    store = Store({"id": "totals", "items": 1})
    host.body(_example("countItems"), store=store, response={"body": {}})
    assert store.documents["totals"]["items"] == 2


def tax_is_a_function_of_its_argument(host):
    assert host.call(_example("tax"), [100], [1000], {"args": [None], "undefined": [0]}) == [
        {"value": 10},
        {"value": 200},
        {},
    ]


def namesOfTheOld_sorts_them(host):
    store = Store(
        {"id": "1", "name": "A", "age": 70}, {"id": "2", "name": "B", "age": 20}, {"id": "3", "name": "C", "age": 90}
    )
    assert host.body(_example("namesOfTheOld"), 60, store=store) == {"names": ["C", "A"]}
