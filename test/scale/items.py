"""test/scale/items.py - any number of items of 1 KB that compress badly, and what queries over them must answer.

An item follows from its number, and so does every answer: nothing is kept to compare with. Each item has 25 entries in
the index. How many rows an equality or a range gives does not depend on how many items there are.
"""
import hashlib
import json
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "wire")]

import client as clients
from server import KEY

DATABASE, CONTAINER = "scale", "items"
LINK = f"dbs/{DATABASE}/colls/{CONTAINER}"
TENANTS, CITIES, TAGS, ZIPS = 10, 100, 50, 90000
ROWS = 20  # of an equality, and of a range
ITEM_BYTES = 1000
PADS = random.Random(1).randbytes(512 * 1024).hex()  # LZ4 finds next to nothing to spare in it


def tenant_of(number):
    return f"tenant-{number // 7 % TENANTS}"


def teams(items):
    return items // ROWS


def text_of(number, items):
    digest = hashlib.md5(b"%d" % number).hexdigest()
    text = (f'{{"id":"doc-{number}","pk":"{tenant_of(number)}","n":{number},"team":"g{number % teams(items)}",'
            f'"city":"city-{number // 3 % CITIES}","price":{int(digest[:6], 16) / 100},"active":{"true" if number % 2 == 0 else "false"},'
            f'"address":{{"street":"{digest}","zip":"{number % ZIPS}","geo":{{"lat":{number % 90},"lon":{number % 180}}}}},'
            f'"tags":["a","b","t{number % TAGS}"],"owner":{{"name":"o{digest[:8]}","since":{number % 3000}}},"pad":"')
    at = number * 977 % (len(PADS) - ITEM_BYTES)
    return text + PADS[at:at + ITEM_BYTES - len(text) - 2] + '"}'


# ---- queries, with what they must answer ----


def numbers_of_team(number, items):
    return range(number % teams(items), items, teams(items))


def start_of_range(number, items):
    return min(number, items - 5 * ROWS)


def range_bounds(number, items):
    return {"@a": start_of_range(number, items), "@b": start_of_range(number, items) + 5 * ROWS}


def numbers_of_range(number, items):
    start = start_of_range(number, items)
    return range(start, start + ROWS)


def city_of(number):
    return number // 3 % CITIES


def count_of_city(number, items):
    whole, rest = divmod(items, 3 * CITIES)
    return 3 * whole + min(3, max(0, rest - 3 * city_of(number)))


class Query:
    """A text, its parameters by a number of chance, and its rows: items by their numbers, or values."""

    def __init__(self, name, text, parameters, numbers=None, values=None):
        self.name, self.text, self.parameters, self.numbers, self.values = name, text, parameters, numbers, values

    def body(self, number, items):
        parameters = [{"name": name, "value": value} for name, value in self.parameters(number, items).items()]
        return {"query": self.text, "parameters": parameters}

    def rows(self, number, items):
        if self.values:
            return self.values(number, items)
        return [json.loads(text_of(one, items)) for one in self.numbers(number, items)]


QUERIES = (
    Query("equality, 20 rows", "SELECT * FROM c WHERE c.team = @g",
          lambda number, items: {"@g": f"g{number % teams(items)}"}, numbers_of_team),
    Query("range, order, top 20", "SELECT TOP 20 * FROM c WHERE c.n >= @a AND c.n < @b ORDER BY c.n", range_bounds, numbers_of_range),
    Query("count of a hundredth", "SELECT VALUE COUNT(1) FROM c WHERE c.city = @c",
          lambda number, items: {"@c": f"city-{city_of(number)}"}, values=lambda number, items: [count_of_city(number, items)]),
    Query("count of all", "SELECT VALUE COUNT(1) FROM c", lambda number, items: {}, values=lambda number, items: [items]),
)
QUERY_HEADERS = [("content-type", "application/query+json"), ("x-ms-documentdb-isquery", "True"),
                 ("x-ms-documentdb-query-enablecrosspartition", "True"), ("x-orrery-whole", "true"), ("x-ms-max-item-count", "1000")]


# ---- into a server ----


def make_container(url):
    client = clients.Signed(url, KEY)
    for target, body in (("/dbs", {"id": DATABASE}),
                         (f"/dbs/{DATABASE}/colls", {"id": CONTAINER, "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}})):
        status, _, text = client.ask("POST", target, [], body)
        if status != 201:
            sys.exit(f"POST {target} answered {status}: {text}")


def load(program, url, items):
    """All items, by orrery import."""
    make_container(url)
    command = [program, "import", "-", "--to", LINK, "--format", "jsonl", "--endpoint", url, "--quiet"]
    importer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    for number in range(items):
        importer.stdin.write(text_of(number, items) + "\n")
    importer.stdin.close()
    if importer.wait() != 0:
        sys.exit(f"orrery import ended with {importer.returncode}")
