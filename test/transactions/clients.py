"""test/transactions/clients.py - clients that do transactions and everything else at the same time, and note what they saw."""
import json
import random
import threading
import time
import uuid

from account import Account, Place, expect, lsn_of
from disturb import Disturber
from history import APPEND, CREATE, DELETE, REPLACE, History, Step, Write

CLIENTS = 6
CONTAINERS = {  # (database, container): paths of its key
    ("one", "plain"): ["/pk"],
    ("one", "other"): ["/pk"],
    ("two", "levels"): ["/pk", "/sub"],
}
KEYS, ITEMS_OF_A_KEY = ("k0", "k1"), 3
READ_MAX, WRITE_MAX = 8, 6
DELETE_SHARE, LENGTH_SHARE = 0.12, 0.3  # of writes of what is known; of patches with a condition
LEAVE_SHARE, TWICE_SHARE = 0.06, 0.06  # transactions whose answer is not waited for, or that are sent twice at once
STATUS = {CREATE: 201, APPEND: 200, REPLACE: 200, DELETE: 204}
KINDS = {CREATE: "Create", APPEND: "Patch", REPLACE: "Replace", DELETE: "Delete"}

# Reads all of `reads`, then appends `name` to all of `writes`; says what it read. Whose time is nearly over is not given
# more to do: then nothing of it is to stay.
PROCEDURE = """function (reads, writes, name) {
    var c = getContext().getCollection(), seen = {};
    function insist(accepted) { if (!accepted) throw new Error(408, 'no time'); }
    function read(id, done) {
        insist(c.readDocument(c.getAltLink() + '/docs/' + id, function (error, item) {
            if (error && error.number !== ErrorCodes.NotFound) throw error;
            done(error ? null : item);
        }));
    }
    function readFrom(i) {
        if (i === reads.length) return writeFrom(0);
        read(reads[i], function (item) { if (item) seen[item.id] = item.log; readFrom(i + 1); });
    }
    function writeFrom(i) {
        if (i === writes.length) return getContext().getResponse().setBody(seen);
        read(writes[i], function (item) {
            if (!item) throw new Error(404, 'not there');
            item.log.push(name);
            insist(c.replaceDocument(item._self, item, function (error) { if (error) throw error; writeFrom(i + 1); }));
        });
    }
    readFrom(0); }"""


def places():
    made = []
    for (database, container), paths in CONTAINERS.items():
        for key in KEYS:
            values = [key, "s"][:len(paths)]
            made += [Place(database, container, values, "i%d" % n) for n in range(ITEMS_OF_A_KEY)]
    return made


def prepare(account):
    """Whether it has procedures."""
    for database in sorted({database for database, _ in CONTAINERS}):
        account.must(201, "POST", "/dbs", (), {"id": database})
    for (database, container), paths in CONTAINERS.items():
        key = {"paths": paths, "kind": "Hash" if len(paths) == 1 else "MultiHash", "version": 2}
        account.must(201, "POST", "/dbs/%s/colls" % database, (), {"id": container, "partitionKey": key})
        account.must(201, "POST", "/dbs/%s/colls/%s/sprocs" % (database, container), (), {"id": "append", "body": PROCEDURE})
    tried = account.ask("POST", "/dbs/one/colls/plain/sprocs/append", [("x-ms-documentdb-partitionkey", '["k0"]')], [[], [], ""])
    expect(tried[0] in (200, 501), "a procedure answered %s", tried)
    return tried[0] == 200


class Wish:
    """A write that a client wants, by what it knows of the item."""

    def __init__(self, place, kind, known, source):
        self.place, self.kind, self.known = place, kind, known
        self.with_length = kind == APPEND and known is not None and source.random() < LENGTH_SHARE

    def body(self, name):
        if self.kind == CREATE:
            return self.place.document([name])
        if self.kind == REPLACE:
            return self.place.document([*self.known[0], name])
        if self.kind == APPEND:
            patch = {"operations": [{"op": "add", "path": "/log/-", "value": name}]}
            return {**patch, "condition": "FROM c WHERE ARRAY_LENGTH(c.log) = %d" % len(self.known[0])} if self.with_length else patch
        return None

    def if_match(self):
        return self.known[1] if self.kind in (REPLACE, DELETE) and self.known else None

    def done(self, lsn, etag):
        saw = self.known[0] if self.if_match() else None
        return Write(self.kind, lsn, etag, saw, len(self.known[0]) if self.with_length else None)


class Client:
    """What it knows of an item is what it last saw, which may be old by now: then a condition does not hold."""

    def __init__(self, url, number, seed, all_places, has_procedures):
        self.account, self.number = Account(url), number
        self.random, self.places = random.Random("%d client %d" % (seed, number)), all_places
        self.known = {}  # by the item's name: (list, ETag); None: it was not there
        self.steps, self.counts, self.made = [], {}, 0
        self.acts = [(self.write_together, 10), (self.read_together, 8), (self.write_one, 4), (self.write_batch, 4), (self.read_one, 2),
                     (self.query, 1)] + [(self.execute, 1)] * has_procedures

    def run(self, steps):
        for _ in range(steps):
            act = self.random.choices([act for act, _ in self.acts], [share for _, share in self.acts])[0]
            self.made += 1
            self.name = "%s-%d-%d" % (act.__name__.replace("_", "-"), self.number, self.made)
            self.began = time.monotonic()
            act()
        self.account.close()

    def note(self, writes=None, reads=None, counts=None):
        step = Step(self.name, self.began, time.monotonic(), writes, reads)
        self.steps.append(step)
        kind = counts or self.name.rsplit("-", 2)[0]
        self.counts[kind] = self.counts.get(kind, 0) + 1

    def refused(self, wishes):
        """What it knew was perhaps old."""
        for wish in wishes:
            self.known.pop(wish.place.name, None)
        self.counts["refused"] = self.counts.get("refused", 0) + 1

    def saw(self, place, body):
        self.known[place.name] = (tuple(body["log"]), body["_etag"])
        return tuple(body["log"])

    def wish(self, place):
        known = self.known.get(place.name)
        if place.name not in self.known:
            kind = self.random.choice([APPEND, APPEND, APPEND, CREATE])
        elif known is None:
            kind = CREATE
        else:
            kind = DELETE if self.random.random() < DELETE_SHARE else self.random.choice([APPEND, REPLACE, REPLACE])
        return Wish(place, kind, known, self.random)

    def wrote(self, wish, etag):
        """What it knows after its own write; an append to a list that it did not see tells it nothing."""
        if wish.kind == CREATE:
            self.known[wish.place.name] = ((self.name,), etag)
        elif wish.kind == DELETE:
            self.known[wish.place.name] = None
        elif wish.kind == REPLACE:
            self.known[wish.place.name] = ((*wish.known[0], self.name), etag)
        else:
            self.known.pop(wish.place.name, None)

    def neighbours(self):
        """Items of one key."""
        first = self.random.choice(self.places)
        return [place for place in self.places if (place.home, place.key) == (first.home, first.key)]

    # ---- transactions ----

    def write_together(self):
        wishes = [self.wish(place) for place in self.random.sample(self.places, self.random.randint(1, WRITE_MAX))]
        operations = [Account.operation(KINDS[wish.kind], wish.place, index, wish.body(self.name), wish.if_match())
                      for index, wish in enumerate(wishes)]
        token, choice = str(uuid.uuid4()), self.random.random()
        if choice < LEAVE_SHARE:
            self.account.transact_and_leave(operations, token)
        twice = LEAVE_SHARE <= choice < LEAVE_SHARE + TWICE_SHARE
        status, rows = (self.account.transact_twice_at_once if twice else self.account.transact)(operations, token)
        codes = [row["statusCode"] for row in rows]
        if status == 452:
            expect(sum(code != 453 for code in codes) == 1, "%s was aborted with %s", self.name, codes)
            return self.refused(wishes)
        expect(codes == [STATUS[wish.kind] for wish in wishes], "%s was done with %s", self.name, codes)
        self.note({wish.place.name: wish.done(lsn_of(row["sessionToken"]), row.get("Etag")) for wish, row in zip(wishes, rows)})
        for wish, row in zip(wishes, rows):
            self.wrote(wish, row.get("Etag"))
        return None

    def read_together(self):
        chosen = self.random.sample(self.places, self.random.randint(1, READ_MAX))
        status, rows = self.account.read_together(chosen)
        if status == 200:
            return self.note(reads={place.name: self.saw(place, row["resourceBody"]) for place, row in zip(chosen, rows)})
        for place, row in zip(chosen, rows):
            expect(row["statusCode"] in (404, 424) and "resourceBody" not in row, "%s got %s", self.name, row)
            if row["statusCode"] == 404:
                self.known[place.name] = None
        return None

    # ---- what else there is ----

    def write_one(self):
        wish = self.wish(self.random.choice(self.places))
        method, target = {CREATE: ("POST", ""), APPEND: ("PATCH", "/" + wish.place.id), REPLACE: ("PUT", "/" + wish.place.id),
                          DELETE: ("DELETE", "/" + wish.place.id)}[wish.kind]
        headers = [("If-Match", wish.if_match())] if wish.if_match() else []
        if wish.kind == APPEND:
            headers.append(("content-type", "application/json_patch+json"))
        status, lsn, etag = self.account.single(method, wish.place.docs + target, wish.place, wish.body(self.name), headers)
        if status >= 400:
            return self.refused([wish])
        self.note({wish.place.name: wish.done(lsn, etag)})
        return self.wrote(wish, etag)

    def write_batch(self):
        """Reads some items of a key and writes others, as one."""
        near = self.neighbours()
        self.random.shuffle(near)
        seen, wishes = near[:1], [self.wish(place) for place in near[1:]]
        operations = [{"operationType": "Read", "id": place.id} for place in seen]
        for wish in wishes:
            made = {"operationType": KINDS[wish.kind], "id": wish.place.id, "resourceBody": wish.body(self.name), "ifMatch": wish.if_match()}
            operations.append({name: value for name, value in made.items() if value is not None})
        status, lsn, rows = self.account.batch(near[0], operations)
        if status != 200:
            return self.refused([*wishes, self.wish(seen[0])])
        self.note({wish.place.name: wish.done(lsn, row.get("eTag")) for wish, row in zip(wishes, rows[1:])},
                  {seen[0].name: self.saw(seen[0], rows[0]["resourceBody"])})
        for wish, row in zip(wishes, rows[1:]):
            self.wrote(wish, row.get("eTag"))
        return None

    def execute(self):
        near = self.neighbours()
        writes = self.random.sample(near, 2)
        target = near[0].docs[:-len("docs")] + "sprocs/append"
        status, headers, text = self.account.ask("POST", target, near[0].headers,
                                                 [[place.id for place in near], [place.id for place in writes], self.name])
        if status != 200:
            expect(status in (400, 408, 429, 449), "a procedure answered %d %s", status, text[:300])
            return self.refused([])
        seen = json.loads(text)
        reads = {place.name: tuple(seen[place.id]) for place in near if place.id in seen}
        for place in writes:
            self.known.pop(place.name, None)
        return self.note({place.name: Write(APPEND, lsn_of(headers["x-ms-session-token"]), None, reads[place.name]) for place in writes}, reads)

    def read_one(self):
        place = self.random.choice(self.places)
        body = self.account.read(place)
        if body is None:
            self.known[place.name] = None
        else:
            self.note(reads={place.name: self.saw(place, body)})

    def query(self):
        """All items of a container at once."""
        home = self.random.choice(self.places)
        near = {(tuple(place.key), place.id): place for place in self.places if place.home == home.home}
        reads = {}
        for row in self.account.query(home.docs, "SELECT * FROM c"):
            place = near[tuple(row[name] for name in ("pk", "sub") if name in row), row["id"]]
            reads[place.name] = self.saw(place, row)
        self.note(reads=reads)


def run_clients(clients, steps, url, seed):
    """All at once, beside one who splits and merges. The first problem of any of them is raised."""
    problems = []

    def guarded(client):
        try:
            client.run(steps)
        except Exception as problem:  # raised below, in the main thread
            problems.append(problem)
    threads = [threading.Thread(target=guarded, args=(client,)) for client in clients]
    disturber = Disturber(url, seed, ["/dbs/%s/colls/%s" % pair for pair in CONTAINERS])
    disturber.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    changes = disturber.end()
    if problems:
        raise problems[0]
    return changes


def check_end(account, history, all_places):
    """What is there now is what the last writes made: by read, and by the change feed."""
    for place in all_places:
        last, found = history.last(place.name), account.read(place)
        expect((tuple(found["log"]) if found else None) == last.log, "%s is %s and not %s", place.name, found, last.log)
        if found and last.write.etag:
            expect(found["_etag"] == last.write.etag, "%s has another ETag than its last writer was told", place.name)
    for docs in sorted({place.docs for place in all_places}):
        near = {("-".join(place.key), place.id): history.last(place.name) for place in all_places if place.docs == docs}
        wanted = {place: last.write.lsn for place, last in near.items() if last.log is not None}
        found = {("-".join(row[name] for name in ("pk", "sub") if name in row), row["id"]): row["_lsn"] for row in account.changes(docs)}
        expect(found == wanted, "the change feed of %s has %s and not %s", docs, found, wanted)


def mixed_round(urls, seed, options):
    account, all_places = Account(urls[0]), places()
    has_procedures = prepare(account)
    clients = [Client(urls[number % len(urls)], number, seed, all_places, has_procedures) for number in range(CLIENTS)]
    changes = run_clients(clients, options.steps, urls[-1], seed)
    history = History([step for client in clients for step in client.steps], lambda item: item.rpartition("/")[0].rpartition("/")[0])
    history.check()
    check_end(account, history, all_places)
    counts = {}
    for client in clients:
        for kind, count in client.counts.items():
            counts[kind] = counts.get(kind, 0) + count
    expect(counts.get("write-together", 0) and counts.get("read-together", 0), "no transaction was done: %s", counts)
    return "%s, %d changes of ranges and definitions" % (" ".join("%s %d" % pair for pair in sorted(counts.items())), changes)
