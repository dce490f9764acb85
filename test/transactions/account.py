"""test/transactions/account.py - one connection to the account: what is sent, and what each answer tells of it."""
import http.client
import json
import threading
import uuid

import client as wire
from server import KEY

BATCH = [("x-ms-cosmos-is-batch-request", "True"), ("x-ms-cosmos-batch-atomic", "True")]
QUERY = [("x-ms-documentdb-isquery", "True"), ("content-type", "application/query+json"),
         ("x-ms-documentdb-query-enablecrosspartition", "True"), ("x-orrery-whole", "true")]
TRIES_MAX = 1000  # of what the server says may succeed later


class Wrong(Exception):
    """The server did what it promised not to do."""


def expect(holds, text, *values):
    if not holds:
        raise Wrong(text % values)


class Place:
    """Where an item lies. Its list is in the member `log`."""

    def __init__(self, database, container, key, name):
        self.database, self.container, self.key, self.id = database, container, key, name
        self.home = "%s/%s" % (database, container)
        self.docs = "/dbs/%s/colls/%s/docs" % (database, container)
        self.name = "%s/%s/%s" % (self.home, "-".join(key), name)
        self.headers = [("x-ms-documentdb-partitionkey", json.dumps(key))]

    def document(self, log):
        return {"id": self.id, **dict(zip(("pk", "sub"), self.key)), "log": log}


def lsn_of(token):
    return int(token.rpartition("#")[2])


class Account:
    def __init__(self, url, key=KEY):
        self.url, self.http = url, wire.Signed(url, key)

    def close(self):
        self.http.close()

    def ask(self, method, target, headers=(), body=None):
        return self.http.ask(method, target, list(headers), body)

    def must(self, status, method, target, headers=(), body=None):
        answer = self.ask(method, target, headers, body)
        expect(answer[0] == status, "%s %s: %d and not %d: %s", method, target, answer[0], status, answer[2][:300])
        return answer

    # ---- transactions ----

    @staticmethod
    def operation(kind, place, index, body=None, if_match=None):
        made = {"databaseName": place.database, "collectionName": place.container, "id": place.id,
                "partitionKey": place.key, "index": index, "operationType": kind, "resourceType": "Document"}
        if body is not None:
            made["resourceBody"] = body
        if if_match is not None:
            made["ifMatch"] = if_match
        return made

    @staticmethod
    def transaction_headers(kind, token):
        return [("x-ms-cosmos-idempotency-token", token), ("x-ms-cosmos-operation-type", kind)]

    def transact(self, operations, token=None):
        """(status, rows) once it is decided: what may succeed later is asked again with the same token."""
        headers = self.transaction_headers("CommitDistributedTransaction", token or str(uuid.uuid4()))
        for _ in range(TRIES_MAX):
            status, _, text = self.ask("POST", "/operations/dtc", headers, {"operations": operations})
            answer = json.loads(text)
            if status in (200, 452):
                return status, answer["operationResponses"]
            expect(status in (408, 429, 449) and answer["isRetriable"] is True, "a transaction answered %d %s", status, text[:300])
        raise Wrong("a transaction was not decided in %d tries: %s" % (TRIES_MAX, text[:300]))

    def transact_and_leave(self, operations, token):
        """Sends it, and is gone before the answer."""
        other = Account(self.url)
        other.http.send = other.send_only
        other.ask("POST", "/operations/dtc", self.transaction_headers("CommitDistributedTransaction", token),
                  {"operations": operations})
        other.close()

    def send_only(self, method, target, headers, body):
        connection = http.client.HTTPConnection(*self.http.address, timeout=120)
        connection.request(method, target, body, dict(headers))
        connection.close()
        return 0, "", [], b""

    def transact_twice_at_once(self, operations, token):
        """Two connections with one token: both are told the same."""
        answers, others = [], []

        def ask_too():
            other = Account(self.url)
            try:
                others.append(other.transact(operations, token))
            except Exception as problem:  # raised below, in the thread that waits for it
                others.append(problem)
            other.close()
        thread = threading.Thread(target=ask_too)
        thread.start()
        answers.append(self.transact(operations, token))
        thread.join()
        expect(others == answers, "one token, two answers: %s and %s", answers, others)
        return answers[0]

    def read_together(self, places):
        """(status, rows) of a read transaction."""
        operations = [self.operation("Read", place, index) for index, place in enumerate(places)]
        status, _, text = self.ask("POST", "/operations/dtc", self.transaction_headers("Read", str(uuid.uuid4())),
                                   {"operations": operations})
        expect(status in (200, 404), "a read transaction answered %d %s", status, text[:300])
        return status, json.loads(text)["operationResponses"]

    # ---- others ----

    def batch(self, place, operations):
        """(status, LSN, rows) of a batch about the place's key."""
        status, headers, text = self.ask("POST", place.docs, place.headers + BATCH, operations)
        expect(status in (200, 207, 449), "a batch answered %d %s", status, text[:300])
        return status, lsn_of(headers["x-ms-session-token"]) if status == 200 else 0, json.loads(text) if status != 449 else []

    def single(self, method, target, place, body=None, headers=()):
        """(status, LSN, ETag) of a write of one item."""
        status, answered, text = self.ask(method, target, [*place.headers, *headers], body)
        expect(status in (200, 201, 204, 404, 409, 412, 449), "%s %s answered %d %s", method, target, status, text[:300])
        return status, lsn_of(answered["x-ms-session-token"]) if status < 300 else 0, answered.get("etag")

    def read(self, place):
        """The item, or None."""
        status, _, text = self.ask("GET", place.docs + "/" + place.id, place.headers)
        expect(status in (200, 404), "a read answered %d %s", status, text[:300])
        return json.loads(text) if status == 200 else None

    def query(self, docs, text):
        """One page, which has to be all."""
        _, headers, text = self.must(200, "POST", docs, [*QUERY, ("x-ms-max-item-count", "1000")], {"query": text})
        expect("x-ms-continuation" not in headers, "a query of few items has a second page")
        return json.loads(text)["Documents"]

    def changes(self, docs):
        """The change feed from its beginning: the last change of every item."""
        rows, after = [], []
        while True:
            status, headers, text = self.ask("GET", docs, [("A-IM", "Incremental feed"), *after])
            if status == 304:
                return rows
            expect(status == 200, "the change feed answered %d %s", status, text[:300])
            rows += json.loads(text)["Documents"]
            after = [("If-None-Match", headers["etag"])]
