"""test/crash/load.py - writers that know what they were promised, and the check that it was kept.

Each writer has items of its own, so it always knows what the next answer must be. An item's `wanted`
is set while a write of it is in flight: if the answer never comes, the item may hold the old
version or the new one, whole, and nothing else. The items of a batch hold all their old ones or all
their new ones.
"""
import functools
import json
import random
import socket
import threading
import urllib.parse

import client
from server import KEY

WRITERS = 16
ITEMS_EACH = 24
ITEMS_OF_A_KEY = 4  # a batch is about these
CONTAINERS = ["c0", "c1", "c2"]
MORE_OF = {  # so that entries of unique keys are written, and the sweep of expired items looks at everything
    "c1": {"defaultTtl": 1000000},
    "c2": {"uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/id", "/version"]}, {"paths": ["/id"]}]}},
}
DATABASE = "dbs/crash"
COMING_AND_GOING = ["x0", "x1"]  # containers that are made and dropped all the time
TIMEOUT_S = 20
SYSTEM = ("_rid", "_self", "_etag", "_attachments", "_ts")


class Lost(Exception):
    """The connection ended before the answer was complete."""


@functools.lru_cache(maxsize=None)
def signature(verb, kind, link, date):
    return client.encoded(client.authorization(KEY, verb, kind, link, (date, "")))


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    def lsn(self):
        return int(self.headers["x-ms-session-token"].rpartition("#")[2])

    def __str__(self):
        return "%d %s" % (self.status, self.body[:300].decode("utf-8", "replace"))


class Connection:
    """One socket, kept alive, never opened again: a lost answer must stay lost."""

    def __init__(self, url):
        place = urllib.parse.urlsplit(url)
        self.host, self.date = place.netloc, client.date_of()
        try:
            self.socket = socket.create_connection((place.hostname, place.port), TIMEOUT_S)
        except OSError as problem:
            raise Lost(str(problem)) from None
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.input = self.socket.makefile("rb")

    def close(self):
        self.input.close()
        self.socket.close()

    def ask(self, method, path, headers=(), document=None):
        kind, link = client.resource_of(path)
        body = b"" if document is None else json.dumps(document).encode()
        lines = ["%s /%s HTTP/1.1" % (method, path), "Host: " + self.host, "x-ms-date: " + self.date,
                 "x-ms-version: 2020-07-15", "authorization: " + signature(method, kind, link, self.date),
                 "Content-Length: %d" % len(body), *headers, "", ""]
        try:
            self.socket.sendall("\r\n".join(lines).encode() + body)
            return self.answer()
        except OSError as problem:
            raise Lost(str(problem)) from None

    def answer(self):
        line = self.input.readline()
        headers = {}
        while True:
            field = self.input.readline()
            if not field.endswith(b"\r\n"):
                raise Lost("in the middle of an answer's head")
            if field == b"\r\n":
                break
            name, _, value = field.decode().partition(":")
            headers[name.lower()] = value.strip()
        size = int(headers.get("content-length", 0))
        body = self.input.read(size)
        if len(body) < size:
            raise Lost("in the middle of an answer's body")
        return Answer(int(line.split()[1]), headers, body)


class Item:
    def __init__(self, container, key, name):
        self.container, self.key, self.id = container, key, name
        self.version = 0  # 0: it does not exist
        self.next_version = 1
        self.wanted = None  # the version that a write in flight would leave
        self.facts = None  # what the server said of this version: _rid, _etag, _ts, LSN, as far as it did
        self.batch = None  # that this write in flight is a part of
        self.is_set_aside = False  # nobody writes it

    def document(self, version):
        """The same for the same version, so that what comes back can be compared whole."""
        source = random.Random("%s %d" % (self.id, version))
        size = source.choice([20, 200, 200, 200, 1000, 1000, 6000, source.randint(1, 60000)])
        return {"id": self.id, "pk": self.key, "version": version, "pad": source.randbytes(size // 2).hex()}

    def kept(self):
        """What a write of it does not change, as far as it is known."""
        return {"_rid": self.facts["_rid"]} if self.version and "_rid" in self.facts else {}

    def path(self):
        return "%s/colls/%s/docs" % (DATABASE, self.container)

    def headers(self, *more):
        return ['x-ms-documentdb-partitionkey: ["%s"]' % self.key, *more]


class Batch:
    """Several writes in flight that are one: what is learned of each must be the same. It has an LSN in each container."""

    def __init__(self, items):
        self.items, self.took_place, self.counted = items, None, set()
        for item in items:
            item.batch = self

    def end(self):
        for item in self.items:
            item.batch = item.wanted = None

    def learn(self, container, took_place):
        """(Whether this was the first to be learned there, whether it goes with what was learned before.)"""
        first = container not in self.counted
        self.counted.add(container)
        if self.took_place is None:
            self.took_place = took_place
        return first, self.took_place == took_place


class Model:
    """What the database must hold, by what its answers promised."""

    def __init__(self, seed):
        source = random.Random(seed)
        self.items = [self.items_of(source, writer) for writer in range(WRITERS)]
        self.extra = {name: None for name in COMING_AND_GOING}  # None, or how many items it has
        self.extra_wanted = None  # (name, what it would become)
        self.changed = threading.Condition()  # guards what follows
        self.heads = {name: 1 for name in CONTAINERS}  # the last LSN that is accounted for: the first is the creation's
        self.times = {name: (0, 0) for name in CONTAINERS}  # an LSN and its _ts
        self.acknowledged = {name: [] for name in CONTAINERS}  # (LSN, _ts or None), since the last verification
        self.rids = set()
        self.count = 0  # acknowledged writes
        self.scripts = self.lost_scripts = 0  # of them by scripts; and scripts whose child was killed
        self.together = {writer: [] for writer in range(WRITERS)}  # the last transactions that were decided, and their answers
        self.transactions = self.repeated = 0  # decided, and asked again after a crash
        self.refusals = []  # answers of 503
        self.problems = []

    @staticmethod
    def items_of(source, writer):
        places = [(source.choice(CONTAINERS), "key-%d" % source.randrange(8))
                  for _ in range(ITEMS_EACH // ITEMS_OF_A_KEY)]
        return [Item(*places[i // ITEMS_OF_A_KEY], "w%d-%d" % (writer, i)) for i in range(ITEMS_EACH)]

    def problem(self, text, *values):
        with self.changed:
            if len(self.problems) < 10:
                self.problems.append(text % values)
            self.changed.notify_all()

    def wrote(self, item, facts):
        """What was wanted of an item is now so."""
        item.version, item.facts, item.wanted, item.batch = item.wanted, facts, None, None

    def acknowledge(self, container, lsn, time):
        """A write, or a batch of them, was acknowledged with an LSN of its own; how many that makes."""
        with self.changed:
            self.acknowledged[container].append((lsn, time))
            self.count += 1
            self.changed.notify_all()
            return self.count

    def refused(self, answer):
        """Whether nothing was written: then that is a promise too, and otherwise nobody knows."""
        with self.changed:
            self.refusals.append(answer)
            self.changed.notify_all()
        return "Nothing was written" in answer.json()["message"]

    def wait_until(self, condition, seconds):
        """False when time is up or there was a problem."""
        with self.changed:
            return self.changed.wait_for(lambda: self.problems or condition(), seconds) and not self.problems

    def claim_rid(self, rid):
        with self.changed:
            known = rid in self.rids
            self.rids.add(rid)
        if known:
            self.problem("the _rid %s was given out twice", rid)


def facts_of(answer, body):
    return {"_rid": body["_rid"], "_etag": body["_etag"], "_ts": body["_ts"],
            "lsn": int(answer.headers.get("x-ms-item-lsn", 0))}


def prepare(url):
    connection = Connection(url)
    answers = [connection.ask("POST", "dbs", document={"id": "crash"})]
    answers += [make_container(connection, name) for name in CONTAINERS]
    connection.close()
    for answer in answers:
        if answer.status != 201:
            raise RuntimeError("cannot prepare: %s" % answer)


def make_container(connection, name):
    definition = {"id": name, "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}}
    definition.update(MORE_OF.get(name, {}))
    return connection.ask("POST", DATABASE + "/colls", document=definition)


# ---- writers ----

# An operation: what it sends, which version it leaves when it succeeds, and the status it must have.
OPERATIONS = {
    "create": lambda item, version: (("POST", item.path(), item.headers(), item.document(version)),
                                     201 if item.version == 0 else 409),
    "upsert": lambda item, version: (("POST", item.path(), item.headers("x-ms-documentdb-is-upsert: True"),
                                      item.document(version)), 201 if item.version == 0 else 200),
    "replace": lambda item, version: (("PUT", item.path() + "/" + item.id, item.headers(),
                                       item.document(version)), 200 if item.version else 404),
    "delete": lambda item, _: (("DELETE", item.path() + "/" + item.id, item.headers(), None),
                               204 if item.version else 404),
}


BATCH_SHARE = 0.3  # of the writes that could be one
BATCH_HEADERS = ("x-ms-cosmos-is-batch-request: True", "x-ms-cosmos-batch-atomic: True")
BATCH_STATUS = {
    "Create": lambda item: 409 if item.version else 201,
    "Upsert": lambda item: 200 if item.version else 201,
    "Replace": lambda item: 200 if item.version else 404,
    "Delete": lambda item: 204 if item.version else 404,
}


def batch_operation(name, item, version):
    operation = {"operationType": name, "id": item.id}
    if name != "Delete":
        operation["resourceBody"] = item.document(version)
    return operation


class Writer(threading.Thread):
    """Writes its own items at random until the connection is lost or `stop` is set.

    on_count(n) is called after the n-th acknowledged write of all writers together.
    """

    def __init__(self, model, url, seed, items, on_count, stop, may_refuse=False):
        super().__init__(daemon=True)
        self.model, self.url, self.random, self.items = model, url, random.Random(seed), items
        self.on_count, self.stop, self.may_refuse = on_count, stop, may_refuse
        self.last = {name: 0 for name in CONTAINERS}

    def run(self):
        try:
            connection = Connection(self.url)
            while not self.stop.is_set() and not self.model.problems:
                free = self.free()
                if not free:
                    break
                self.write(connection, self.random.choice(free))
            connection.close()
        except Lost:
            pass
        except Exception as problem:  # a writer that dies in silence would prove nothing
            self.model.problem("a writer failed: %r", problem)

    def free(self):
        return [item for item in self.items if item.wanted is None and not item.is_set_aside]

    def siblings(self, item):
        return [other for other in self.free() if (other.container, other.key) == (item.container, item.key)]

    def write(self, connection, item):
        siblings = self.siblings(item)
        if len(siblings) > 1 and self.random.random() < BATCH_SHARE:
            self.write_batch(connection, self.random.sample(siblings, self.random.randint(2, len(siblings))))
        else:
            self.write_one(connection, item)

    def plan(self, items):
        """What to do with each, the version that leaves, and the status it would have by itself."""
        names = [self.random.choice(["Upsert", "Upsert", "Create", "Replace", "Delete"]) for _ in items]
        statuses, wanted = [], []
        for name, item in zip(names, items):
            statuses.append(BATCH_STATUS[name](item))
            wanted.append(0 if name == "Delete" else item.next_version)
            item.next_version += 1
        return names, wanted, statuses

    def write_batch(self, connection, items):
        names, wanted, statuses = self.plan(items)
        failed = [status >= 400 for status in statuses]
        request = [batch_operation(name, item, version) for name, item, version in zip(names, items, wanted)]
        for item, version in zip(items, wanted):
            item.wanted = item.version if any(failed) else version
        batch = Batch(items)
        answer = connection.ask("POST", items[0].path(), items[0].headers(*BATCH_HEADERS), request)
        if any(failed):
            statuses = [status if i == failed.index(True) else 424 for i, status in enumerate(statuses)]
        if answer.status == 503 and self.may_refuse:
            if self.model.refused(answer):
                batch.end()
        elif answer.status != (207 if any(failed) else 200) or [
                row["statusCode"] for row in answer.json()] != statuses:
            self.model.problem("a batch of %s answered %s, not %s", names, answer, statuses)
        elif any(failed):
            batch.end()
        else:
            self.accept_batch(items, wanted, answer)

    def accept_batch(self, items, wanted, answer):
        """Every item has the batch's one LSN."""
        lsn, time = self.next_lsn(items[0], answer), None
        for item, version, row in zip(items, wanted, answer.json()):
            facts, body = None, row.get("resourceBody")
            if body:
                facts = {"_rid": body["_rid"], "_etag": body["_etag"], "_ts": body["_ts"], "lsn": lsn}
                time = body["_ts"]
                self.check_body(item, version, body)
            self.model.wrote(item, facts)
        self.on_count(self.model.acknowledge(items[0].container, lsn, time))

    def write_one(self, connection, item):
        name = self.random.choice(["create", "upsert", "replace", "replace", "delete"])
        request, expected = OPERATIONS[name](item, item.next_version)
        item.wanted = 0 if name == "delete" else item.next_version
        item.next_version += 1
        if expected >= 400:
            item.wanted = item.version
        answer = connection.ask(*request)
        if answer.status == 503 and self.may_refuse:
            if self.model.refused(answer):
                item.wanted = None
        elif answer.status != expected:
            self.model.problem("%s of %s answered %s, not %d", name, item.id, answer, expected)
        elif expected >= 400:
            item.wanted = None
        else:
            self.accept(item, name, answer)

    def accept(self, item, name, answer):
        body = None if name == "delete" else answer.json()
        facts = body and facts_of(answer, body)
        lsn = self.next_lsn(item, answer)
        if body:
            self.check_body(item, item.wanted, body)
        self.model.wrote(item, facts)
        self.on_count(self.model.acknowledge(item.container, lsn, facts and facts["_ts"]))

    def next_lsn(self, item, answer):
        return self.rises(item.container, answer.lsn())

    def rises(self, container, lsn):
        if lsn <= self.last[container]:
            self.model.problem("LSN %d of %s follows %d", lsn, container, self.last[container])
        self.last[container] = lsn
        return lsn

    def check_rid(self, item, rid):
        """Of an item that a transaction made, it is not known before somebody sees it."""
        known = item.kept()
        if not known:
            self.model.claim_rid(rid)
        elif known["_rid"] != rid:
            self.model.problem("%s got another _rid by a replace", item.id)

    def check_body(self, item, version, body):
        self.check_rid(item, body["_rid"])
        if not same_document(item, version, body):
            self.model.problem("%s was answered with another document", item.id)


class Builder(Writer):
    """Makes containers, puts items into them and drops them."""

    def free(self):
        return [None] if self.model.extra_wanted is None else []

    def write(self, connection, _):
        name = self.random.choice(COMING_AND_GOING)
        size = self.model.extra[name]
        if size is None:
            self.want(name, 0)
            answer, expected = make_container(connection, name), 201
        elif self.random.random() < 0.8:
            item = extra_item(name, size)
            self.want(name, size + 1)
            answer, expected = connection.ask("POST", item.path(), item.headers(), item.document(1)), 201
        else:
            self.want(name, None)
            answer, expected = connection.ask("DELETE", "%s/colls/%s" % (DATABASE, name)), 204
        if answer.status == 503 and self.may_refuse:
            if self.model.refused(answer):
                self.model.extra_wanted = None
        elif answer.status != expected:
            self.model.problem("container %s with %s items answered %s, not %d", name, size, answer, expected)
        else:
            self.model.extra[name] = self.model.extra_wanted[1]
            self.model.extra_wanted = None

    def want(self, name, size):
        self.model.extra_wanted = (name, size)


def extra_item(container, index):
    return Item(container, "key-%d" % (index % 3), "extra-%d" % index)


def start_writers(model, url, seed, on_count, stop, may_refuse=False, containers_change=True, kind=Writer):
    writers = [kind(model, url, "%s writer %d" % (seed, i), items, on_count, stop, may_refuse)
               for i, items in enumerate(model.items)]
    if containers_change:
        writers.append(Builder(model, url, "%s builder" % seed, [], on_count, stop, may_refuse))
    for writer in writers:
        writer.start()
    return writers


def run_writers(*arguments, **more):
    for writer in start_writers(*arguments, **more):
        writer.join()


# ---- verification ----

def same_document(item, version, body):
    found = {name: value for name, value in body.items() if name not in SYSTEM}
    return found == item.document(version)


def verify(model, url):
    """Compares everything with the model, and settles what was in flight: (in flight, of them written)."""
    connection = Connection(url)
    in_flight = [item for items in model.items for item in items if item.wanted is not None]
    highest = {name: max([lsn for lsn, _ in rows], default=0) for name, rows in model.acknowledged.items()}
    settled = {name: [] for name in CONTAINERS}
    heads = {name: set() for name in CONTAINERS}
    for item in [item for items in model.items for item in items]:
        verify_item(model, connection, item, highest[item.container], settled, heads)
    for name in CONTAINERS:
        verify_sequence(model, name, settled[name], heads[name])
        verify_feed(model, connection, name)
        verify_changes(model, connection, name)
    verify_extra(model, connection)
    connection.close()
    return len(in_flight), sum(map(len, settled.values()))


def verify_item(model, connection, item, highest, settled, heads):
    token = "x-ms-session-token: 0:-1#%d" % max(highest, model.heads[item.container])
    answer = connection.ask("GET", item.path() + "/" + item.id, item.headers(token))
    if answer.status not in (200, 404) or answer.headers.get("x-ms-substatus", "0") != "0":
        return model.problem("reading %s answered %s", item.id, answer)
    body = answer.json() if answer.status == 200 else None
    version = body["version"] if body else 0
    if "x-ms-session-token" in answer.headers:
        heads[item.container].add(answer.lsn())
    if version not in (item.version, item.wanted):
        return model.problem("%s has version %s, not %s%s", item.id, version, item.version,
                             "" if item.wanted is None else " or %d" % item.wanted)
    if body and not same_document(item, version, body):
        return model.problem("%s is not what was written as version %d", item.id, version)
    facts = body and facts_of(answer, body)
    counts, fits = True, True
    if item.batch and item.wanted != item.version:
        counts, fits = item.batch.learn(item.container, version != item.version)
    if not fits:
        model.problem("half a batch was written: %s has version %s", item.id, version)
    if version == item.version:
        if version and "_rid" not in item.facts:
            model.claim_rid(facts["_rid"])
        if version and any(facts[name] != value for name, value in item.facts.items()):
            model.problem("%s has %s, not %s", item.id, facts, item.facts)
    else:
        if version and not item.version:
            model.claim_rid(facts["_rid"])
        if counts:  # a batch has one LSN in a container
            settled[item.container].append((facts["lsn"], facts["_ts"]) if facts else (None, None))
        item.version = version
    item.facts = facts
    item.wanted = item.batch = None


def verify_sequence(model, name, settled, heads):
    """LSNs: none twice, none left out, none taken back; and _ts never falls while they rise."""
    acknowledged, head = model.acknowledged[name], model.heads[name]
    lsns = [lsn for lsn, _ in acknowledged] + [lsn for lsn, _ in settled if lsn]
    expected = head + len(acknowledged) + len(settled)
    if len(set(lsns)) < len(lsns) or (lsns and (min(lsns) <= head or max(lsns) > expected)):
        model.problem("%s: the LSNs after %d are not the next %d", name, head, expected - head)
    if heads and heads != {expected}:
        model.problem("%s: reads have LSN %s, not %d", name, sorted(heads), expected)
    rows = sorted((lsn, ts) for lsn, ts in acknowledged + settled if ts)
    for row in rows:
        if row[1] < model.times[name][1]:
            model.problem("%s: _ts falls: (LSN, _ts) %s before %s", name, model.times[name], row)
        model.times[name] = row
    model.heads[name], model.acknowledged[name] = expected, []


def read_feed(connection, path, member):
    rows, continuation = [], []
    while True:
        answer = connection.ask("GET", path, ["x-ms-max-item-count: 100", *continuation])
        if answer.status != 200:
            return [{"id": "feed answered %s" % answer}]
        rows += answer.json()[member]
        if "x-ms-continuation" not in answer.headers:
            return rows
        continuation = ["x-ms-continuation: " + answer.headers["x-ms-continuation"]]


def verify_feed(model, connection, name):
    expected = {item.id: item for items in model.items for item in items if item.container == name and item.version}
    rows = read_feed(connection, "%s/colls/%s/docs" % (DATABASE, name), "Documents")
    found = {row["id"]: row for row in rows}
    if len(rows) != len(found) or set(found) != set(expected):
        return model.problem("the feed of %s has %d items, not %d: %s", name, len(rows), len(expected),
                             sorted(set(found) ^ set(expected))[:5])
    for key, item in expected.items():
        if not same_document(item, item.version, found[key]) or found[key]["_etag"] != item.facts["_etag"]:
            model.problem("the feed of %s has another %s than a read", name, key)


def read_changes(connection, name):
    """The change feed from its beginning: the last change of every item."""
    rows, after = [], []
    while True:
        answer = connection.ask("GET", "%s/colls/%s/docs" % (DATABASE, name), ["A-IM: Incremental feed", *after])
        if answer.status != 200:
            return rows if answer.status == 304 else [{"id": "the change feed answered %s" % answer, "_lsn": 0}]
        rows += answer.json()["Documents"]
        after = ["If-None-Match: " + answer.headers["etag"]]


def verify_changes(model, connection, name):
    """Every item is there, at the LSN of the transaction that wrote it last, and these never fall."""
    expected = {item.id: item.facts["lsn"] for items in model.items for item in items
                if item.container == name and item.version}
    rows = read_changes(connection, name)
    lsns = [row["_lsn"] for row in rows]
    if lsns != sorted(lsns):
        model.problem("the change feed of %s is not in the order of its LSNs", name)
    if len(rows) != len(expected) or {row["id"]: row["_lsn"] for row in rows} != expected:
        model.problem("the change feed of %s has other items or LSNs: %s", name,
                      sorted({(row["id"], row["_lsn"]) for row in rows} ^ set(expected.items()))[:5])


def verify_extra(model, connection):
    names = {row["id"] for row in read_feed(connection, DATABASE + "/colls", "DocumentCollections")}
    if names - set(CONTAINERS) - set(COMING_AND_GOING) or set(CONTAINERS) - names:
        model.problem("the containers are %s", sorted(names))
    for name, size in model.extra.items():
        allowed = [size] + ([model.extra_wanted[1]] if model.extra_wanted and model.extra_wanted[0] == name else [])
        model.extra[name] = verify_extra_container(model, connection, name, name in names, allowed)
    model.extra_wanted = None


def verify_extra_container(model, connection, name, is_there, allowed):
    rows = read_feed(connection, "%s/colls/%s/docs" % (DATABASE, name), "Documents") if is_there else []
    size = len(rows) if is_there else None
    if size not in allowed:
        model.problem("container %s has %s items, not %s", name, size, allowed)
    elif is_there and {row["id"] for row in rows} != {"extra-%d" % i for i in range(size)}:
        model.problem("container %s has other items: %s", name, sorted(row["id"] for row in rows)[:5])
    return size
