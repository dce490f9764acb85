"""test/postgres/bank.py - a bank whose transfers are batches: what was acknowledged is there, once, and the money stays.

    open_bank(server)
    with_tellers([server], disturb, rounds)     tellers make transfers through any of the servers, while disturb() disturbs
"""
import json
import threading
import time
import urllib.error
import urllib.request

from client import Signed

KEY = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="
ACCOUNTS, MONEY = 8, 1000
PLACE = "/dbs/bank/colls/accounts"


def expect(holds, what, *values):
    if not holds:
        raise AssertionError(what % values)


def ask(client, method, target, body=None, **headers):
    named = [(name.replace("_", "-"), value) for name, value in headers.items()]
    status, answered, text = client.ask(method, target, named, body)
    return status, answered, json.loads(text) if text else None


def in_partition(**more):
    return dict(x_ms_documentdb_partitionkey='["bank"]', **more)


def open_bank(server):
    client = Signed(server.http, KEY)
    expect(ask(client, "POST", "/dbs", {"id": "bank"})[0] == 201, "no database")
    made = ask(client, "POST", "/dbs/bank/colls", {"id": "accounts", "partitionKey": {"paths": ["/bank"], "kind": "Hash"}})
    expect(made[0] == 201, "no container: %s", made)
    for number in range(ACCOUNTS):
        made = ask(client, "POST", PLACE + "/docs", {"id": "a%d" % number, "bank": "bank", "balance": MONEY}, **in_partition())
        expect(made[0] == 201, "no account: %s", made)
    client.close()


UNKNOWN = "not known whether it took place"


def transfer(client, name, source, target):
    """Money goes from one account to another, and an item with the transfer's name says so: all of it or nothing. Gives the
    status, or UNKNOWN when the server says that it could not find out what became of it."""
    def move(account, amount):
        return {"operationType": "Patch", "id": account, "resourceBody": {
            "operations": [{"op": "incr", "path": "/balance", "value": amount}]}}
    operations = [move(source, -1), move(target, 1),
                  {"operationType": "Create", "resourceBody": {"id": name, "bank": "bank", "from": source, "to": target}}]
    status, _, answer = ask(client, "POST", PLACE + "/docs", operations,
                            **in_partition(x_ms_cosmos_is_batch_request="true", x_ms_cosmos_batch_atomic="true"))
    return UNKNOWN if status == 503 and UNKNOWN in json.dumps(answer) else status


class Teller(threading.Thread):
    """Makes transfers, each through the next server, and keeps apart those whose answer it did not get."""

    def __init__(self, servers, number, stop):
        super().__init__()
        self.servers, self.number, self.stop = servers, number, stop
        self.done, self.unknown, self.count = set(), set(), 0

    def run(self):
        clients = {}
        while not self.stop.is_set():
            self.count += 1
            name = "t%d-%d" % (self.number, self.count)
            self.unknown.add(name)
            server = self.servers[(self.number + self.count) % len(self.servers)]
            try:
                if server not in clients:
                    clients[server] = Signed(server.http, KEY)
                status = self.once(clients[server], name)
            except OSError:
                clients.pop(server, None)
                time.sleep(0.05)  # the server is being started
                continue
            if status == 200:
                self.done.add(name)
            if status in (200, 429, 449, 503):  # refused: nothing was written
                self.unknown.discard(name)

    def once(self, client, name):
        first = (self.number + self.count) % ACCOUNTS
        answer = client.send_once  # a request that was sent once is not sent again by the client itself
        client.send, before = answer, client.send
        try:
            return transfer(client, name, "a%d" % first, "a%d" % ((first + 1 + self.count % 3) % ACCOUNTS))
        except Exception as error:
            client.close()
            raise OSError(str(error))
        finally:
            client.send = before


def all_items(client):
    """All of the container, through the change feed from its beginning: each item once, as it is now."""
    items, etag = [], None
    while True:
        headers = {"a_im": "Incremental Feed", "x_ms_documentdb_partitionkeyrangeid": "0", "x_ms_max_item_count": "100"}
        if etag:
            headers["if_none_match"] = etag
        status, answered, page = ask(client, "GET", PLACE + "/docs", **headers)
        if status == 304:
            return items
        expect(status == 200, "the feed answers %d", status)
        items += page["Documents"]
        etag = answered["etag"]


def check_bank(server, tellers):
    client = Signed(server.http, KEY)
    items = all_items(client)
    names = [item["id"] for item in items]
    expect(len(names) == len(set(names)), "the feed has an item twice")
    transfers = {item["id"]: item for item in items if item["id"][0] == "t"}
    balance = {"a%d" % number: MONEY for number in range(ACCOUNTS)}
    for each in transfers.values():
        balance[each["from"]] -= 1
        balance[each["to"]] += 1
    for item in items:
        if item["id"][0] == "a":
            expect(item["balance"] == balance[item["id"]], "%s has %d, by its transfers %d", item["id"], item["balance"],
                   balance[item["id"]])
    for teller in tellers:
        for name in teller.done:
            expect(name in transfers, "%s was acknowledged and is lost", name)
        mine = {name for name in transfers if name.startswith("t%d-" % teller.number)}
        expect(mine <= teller.done | teller.unknown, "refused, and there: %s", sorted(mine - teller.done - teller.unknown)[:3])
    client.close()
    return "%d transfers, %d in doubt" % (len(transfers), sum(len(teller.unknown) for teller in tellers))


def readiness(server):
    try:
        with urllib.request.urlopen(server.http + "/_orrery/ready", timeout=120) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def until(holds, what):
    """What must come about by itself. The limit is for a test that never ends, not for a slow machine."""
    end = time.monotonic() + 120
    while not holds():
        expect(time.monotonic() < end, "never: %s", what)
        time.sleep(0.02)


def with_tellers(servers, disturb, rounds):
    stop = threading.Event()
    tellers = [Teller(servers, number, stop) for number in range(4)]
    for teller in tellers:
        teller.start()
    try:
        for _ in range(rounds):
            before = sum(len(teller.done) for teller in tellers)
            until(lambda: sum(len(teller.done) for teller in tellers) >= before + 40, "forty more transfers")
            disturb()
        before = sum(len(teller.done) for teller in tellers)
        until(lambda: sum(len(teller.done) for teller in tellers) >= before + 40, "forty more transfers")
    finally:
        stop.set()
        for teller in tellers:
            teller.join()
    return [check_bank(server, tellers) for server in servers][0]
