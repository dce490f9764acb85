"""tools/bench/transaction.py - the part transaction: ten creates over ten keys and two containers, beside a batch of ten in one key."""
import json
import os
import statistics
import sys

from rig import EMULATOR_KEY, ROUNDS, SCRATCH, Server
from direct import Http, measure, signed, wire

ITEMS, CLIENTS = 10, 16
NUMBER = "%012d" % 10**9  # stands where each request has a number of its own, which makes its items and its token new
BATCH = "x-ms-cosmos-is-batch-request: True\r\nx-ms-cosmos-batch-atomic: True\r\nx-ms-documentdb-partitionkey: [\"%s\"]\r\n" % NUMBER
TRANSACTION = "x-ms-cosmos-operation-type: CommitDistributedTransaction\r\n" \
              "x-ms-cosmos-idempotency-token: 51eb84be-bf65-4749-8806-%s\r\n" % NUMBER


def document(name, key):
    return {"id": name, "pk": key, "text": "x" * 960}


def batch_body():
    return [{"operationType": "Create", "resourceBody": document("%s-%d" % (NUMBER, i), NUMBER)} for i in range(ITEMS)]


def transaction_body():
    names = ["%s-%d" % (NUMBER, i) for i in range(ITEMS)]
    return {"operations": [{"databaseName": "d", "collectionName": "tu"[i % 2], "id": name, "partitionKey": [name], "index": i,
                            "operationType": "Create", "resourceType": "Document", "resourceBody": document(name, name)}
                           for i, name in enumerate(names)]}


def requests(target, headers, body, numbers=iter(range(10**9 + 1, 2 * 10**9))):
    """Each call gives the next one: signatures are of the path, so that one is good for all."""
    date, token = signed("POST", *wire.resource_of(target))
    data = json.dumps(body)
    head = "POST %s HTTP/1.1\r\nHost: localhost\r\nauthorization: %s\r\nx-ms-date: %s\r\nx-ms-version: 2020-07-15\r\n%s" \
           "Content-Length: %d\r\n\r\n" % (target, token, date, headers, len(data))
    made = (head + data).encode()
    return lambda: made.replace(NUMBER.encode(), b"%012d" % next(numbers))


def compare(server, sides, clients):
    """Of each side requests a second, and CPU microseconds of the server for each: medians of rounds that take turns."""
    connections = [Http(("127.0.0.1", server.port)) for _ in range(clients)]
    found = {name: [] for name in sides}
    for _ in range(ROUNDS):
        for name, made in sides.items():
            found[name].append(measure(server, connections, 1, made, 200))
    return {name: [statistics.median(column) for column in zip(*rows)] for name, rows in found.items()}


def bench_transaction():
    server = Server(os.path.join(SCRATCH, "transaction"))
    peer = wire.Signed(server.url, EMULATOR_KEY)
    for target, name in (("/dbs", "d"), ("/dbs/d/colls", "b"), ("/dbs/d/colls", "t"), ("/dbs/d/colls", "u")):
        status, _, text = peer.ask("POST", target, [], {"id": name, "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}})
        if status != 201:
            sys.exit(text)
    sides = {"batch": requests("/dbs/d/colls/b/docs", BATCH, batch_body()),
             "transaction": requests("/operations/dtc", TRANSACTION, transaction_body())}
    print(f"{ITEMS} durable creates of 1 KB: a batch in one key, a transaction over {ITEMS} keys and 2 containers (median of {ROUNDS})")
    one, many = compare(server, sides, 1), compare(server, sides, CLIENTS)
    for name in sides:
        print(f"  {name:12s} {one[name][0]:8.0f}/s by one client   {one[name][1]:6.0f} us CPU"
              f"   {many[name][0]:8.0f}/s by {CLIENTS}   {many[name][1]:6.0f} us CPU")
    print(f"  transaction by batch: time {one['batch'][0] / one['transaction'][0]:.2f} (at most 1.3)"
          f"   CPU {one['transaction'][1] / one['batch'][1]:.2f} (at most 1.3)")
    gains = {name: many[name][0] / one[name][0] for name in sides}
    print(f"  {CLIENTS} clients against one: batches {gains['batch']:.2f}, transactions {gains['transaction']:.2f}"
          f"   one by the other {gains['transaction'] / gains['batch']:.2f}")
    server.stop()
