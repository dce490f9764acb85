"""test/crash/together.py - writers whose transactions are about items of several keys and containers, too.

Each has a token. One that was decided is asked again after a crash, and must be told as it was then. One whose answer
never came took place whole or not at all; asked again, it is told so or takes place now.
"""
import json
import uuid

import load

TOGETHER_SHARE = 0.2
ITEMS_MAX = 8
KEPT = 6  # of each writer, to be asked again
DECIDED = (200, 452)
ROLLED_BACK = 453


class Together(load.Batch):
    """A transaction, in flight or decided. It is asked with the same bytes however often."""

    def __init__(self, items, names, wanted, statuses):
        super().__init__(items)
        self.token, self.names, self.wanted = str(uuid.uuid4()), names, wanted
        failed = [status >= 400 for status in statuses]
        self.is_aborted = any(failed)
        self.statuses = [status if i == failed.index(True) else ROLLED_BACK for i, status in enumerate(statuses)] if any(failed) else statuses
        self.operations = [self.operation(i) for i in range(len(items))]
        for item, version in zip(items, wanted):
            item.wanted = item.version if self.is_aborted else version

    def operation(self, i):
        item = self.items[i]
        made = {"databaseName": load.DATABASE[len("dbs/"):], "collectionName": item.container, "id": item.id, "partitionKey": [item.key],
                "index": i, "operationType": self.names[i], "resourceType": "Document"}
        if self.wanted[i]:
            made["resourceBody"] = item.document(self.wanted[i])
        return made

    def ask(self, connection):
        headers = ["x-ms-cosmos-idempotency-token: " + self.token, "x-ms-cosmos-operation-type: CommitDistributedTransaction"]
        return connection.ask("POST", "operations/dtc", headers, {"operations": self.operations})

    def is_told_by(self, answer):
        """Whether that is what must become of it."""
        return answer.status == (452 if self.is_aborted else 200) and [
            row["statusCode"] for row in answer.json()["operationResponses"]] == self.statuses

    def lsns(self, answer):
        """By container. A second one there is a problem of the caller's."""
        found = {}
        for item, row in zip(self.items, answer.json()["operationResponses"]):
            found.setdefault(item.container, set()).add(int(row["sessionToken"].rpartition("#")[2]))
        return found

    def take(self, model, answer):
        """It was done: LSNs by container."""
        lsns = self.lsns(answer)
        if any(len(each) > 1 for each in lsns.values()):
            model.problem("a transaction has two LSNs in one container: %s", lsns)
        for item, row in zip(self.items, answer.json()["operationResponses"]):
            model.wrote(item, {**item.kept(), "lsn": min(lsns[item.container]), "_etag": row["Etag"]} if item.wanted else None)
        return {container: min(each) for container, each in lsns.items()}


class Writer(load.Writer):
    def write(self, connection, item):
        free = self.free()
        if len(free) > 1 and self.random.random() < TOGETHER_SHARE:
            self.write_together(connection, self.random.sample(free, self.random.randint(2, min(ITEMS_MAX, len(free)))))
        else:
            super().write(connection, item)

    def write_together(self, connection, items):
        together = Together(items, *self.plan(items))
        answer = together.ask(connection)
        if self.may_refuse and answer.status == 503:
            if self.model.refused(answer):
                together.end()
        elif self.may_refuse and answer.status == 408:  # not known: it stays in flight
            if answer.json()["isRetriable"] is not True:
                self.model.problem("what is not known may not be asked again: %s", answer)
        elif not together.is_told_by(answer):
            self.model.problem("a transaction of %s answered %s, not %s", together.names, answer, together.statuses)
        else:
            self.accept_together(together, answer)

    def accept_together(self, together, answer):
        kept = self.model.together[int(together.items[0].id[1:].partition("-")[0])]
        kept[:] = [*kept[-KEPT + 1:], (together, answer.json())]
        self.model.transactions += 1
        if together.is_aborted:
            return together.end()
        for container, lsn in together.take(self.model, answer).items():
            self.on_count(self.model.acknowledge(container, self.rises(container, lsn), None))
        return None


def verify(model, url):
    """As load.verify(), and then every transaction that may be asked again is."""
    in_flight = {item.batch for items in model.items for item in items if isinstance(item.batch, Together)}
    settled = load.verify(model, url)
    if not model.problems:
        connection = load.Connection(url)
        for together in sorted(in_flight, key=lambda each: each.token):
            settle(model, connection, together)
        for together, answered in [each for kept in model.together.values() for each in kept]:
            answer = together.ask(connection)
            model.repeated += 1
            if answer.status not in DECIDED or answer.json() != answered:
                model.problem("a transaction that was answered %s is now told %s", json.dumps(answered)[:300], answer)
        connection.close()
    return settled


def settle(model, connection, together):
    """Its answer never came. What took place is told by the LSNs that its items have; what did not takes place now."""
    if not together.took_place:
        for item, version in zip(together.items, together.wanted):
            item.wanted = item.version if together.is_aborted else version
    answer = together.ask(connection)
    model.repeated += 1
    if not together.is_told_by(answer):
        model.problem("a transaction of %s, asked again, answered %s, not %s", together.names, answer, together.statuses)
    elif together.is_aborted:
        together.end()
    elif together.took_place:
        lsns = together.lsns(answer)
        for item in together.items:
            if item.version and lsns[item.container] != {item.facts["lsn"]}:
                model.problem("%s was written with LSN %d, and its transaction is told %s", item.id, item.facts["lsn"], lsns)
    else:
        for container, lsn in together.take(model, answer).items():
            model.acknowledge(container, lsn, None)
