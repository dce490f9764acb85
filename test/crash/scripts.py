"""test/crash/scripts.py - writers whose transactions are stored procedures and triggers, too.

A procedure writes several items of a writer, as a batch does. A trigger counts, in an item of its own, the writes that
named it: the item and its tally are one transaction. Some of both throw when everything is done, and sometimes the child
that runs them is killed: then nothing is written, and the caller is told so.
"""
import load
import together

PROCEDURE_SHARE, TRIGGER_SHARE, THROW_SHARE = 0.15, 0.15, 0.2
THROWN = 418  # the number of what they throw on purpose
LOST = "The script ended unexpectedly."  # what the caller of a child that was killed is told
NO_TIME = "no time left"  # what they throw when most of their time is over: nothing more is accepted then

WRITE = """function (ops, throws) {
    var c = getContext().getCollection(), rids = [];
    function act(op, done) {
        var link = c.getAltLink() + '/docs/' + op.id;
        switch (op.name) {
        case 'Create': return c.createDocument(c.getSelfLink(), op.body, done);
        case 'Upsert': return c.upsertDocument(c.getSelfLink(), op.body, done);
        case 'Replace': return c.replaceDocument(link, op.body, done);
        default: return c.deleteDocument(link, function (error) { done(error, {}); });
        }
    }
    (function next(i) {
        if (i === ops.length && throws) throw new Error(418, 'on purpose');
        if (i === ops.length) return getContext().getResponse().setBody(rids);
        var accepted = act(ops[i], function (error, item) {
            if (error) throw error;
            rids.push(item._rid || null);
            next(i + 1);
        });
        if (!accepted) throw new Error(429, '%s');
    })(0); }""" % NO_TIME

TALLY = """function () {
    var c = getContext().getCollection(), item = getContext().getResponse().getBody(), parts = item.id.split('-');
    var id = 'tally-' + parts[0] + '-' + Math.floor(parts[1] / %d);
    function done(error) { if (error) throw error; }
    function insist(accepted) { if (!accepted) throw new Error(429, '%s'); }
    insist(c.readDocument(c.getAltLink() + '/docs/' + id, function (error, tally) {
        if (error && error.number !== ErrorCodes.NotFound) throw error;
        if (error) return insist(c.createDocument(c.getSelfLink(), {id: id, pk: item.pk, version: 1}, done));
        tally.version++;
        insist(c.replaceDocument(tally._self, tally, done));
    })); }""" % (load.ITEMS_OF_A_KEY, NO_TIME)

THROW = "function () { throw new Error(%d, 'on purpose'); }" % THROWN


class Tally(load.Item):
    """Its version is how many writes were counted. Only triggers write it."""

    def __init__(self, item):
        writer, number = item.id.split("-")
        super().__init__(item.container, item.key, "tally-%s-%d" % (writer, int(number) // load.ITEMS_OF_A_KEY))
        self.is_set_aside = True

    def document(self, version):
        return {"id": self.id, "pk": self.key, "version": version}


def prepare(url, model):
    """The scripts, and the tallies that they keep."""
    connection = load.Connection(url)
    for name in load.CONTAINERS:
        path = "%s/colls/%s/" % (load.DATABASE, name)
        answers = [connection.ask("POST", path + "sprocs", (), {"id": "write", "body": WRITE})]
        answers += [connection.ask("POST", path + "triggers", (), {"id": trigger, "body": body, "triggerType": "Post",
                                                                    "triggerOperation": "All"})
                    for trigger, body in (("tally", TALLY), ("throw", THROW))]
        for answer in answers:
            if answer.status != 201:
                raise RuntimeError("cannot prepare: %s" % answer)
    connection.close()
    for items in model.items:
        items += [Tally(item) for item in items[::load.ITEMS_OF_A_KEY]]


class Writer(together.Writer):
    def write(self, connection, item):
        choice = self.random.random()
        siblings = self.siblings(item)
        if choice < PROCEDURE_SHARE and len(siblings) > 1:
            self.execute(connection, self.random.sample(siblings, self.random.randint(2, len(siblings))))
        elif PROCEDURE_SHARE <= choice < PROCEDURE_SHARE + TRIGGER_SHARE and self.tally_of(item).wanted is None:
            self.write_counted(connection, item)
        else:
            super().write(connection, item)

    def throws(self):
        return self.random.random() < THROW_SHARE

    # ---- procedures ----

    def execute(self, connection, items):
        names, wanted, statuses = self.plan(items)
        throws = self.throws()
        number = next((status for status in statuses if status >= 400), THROWN if throws else None)
        batch = self.want(items, [item.version for item in items] if number else wanted)
        ops = [{"name": name, "id": item.id, "body": item.document(version) if version else None}
               for name, item, version in zip(names, items, wanted)]
        answer = connection.ask("POST", "%s/colls/%s/sprocs/write" % (load.DATABASE, items[0].container),
                                items[0].headers(), [ops, throws])
        if self.ended_without(batch, answer, number):
            return
        if answer.status != 200:
            return self.model.problem("a procedure of %s answered %s", names, answer)
        lsn = self.next_lsn(items[0], answer)
        for item, version, rid in zip(items, wanted, answer.json()):
            self.wrote(item, {"_rid": rid, "lsn": lsn} if version else None)
        self.accepted(items[0], lsn, None)

    def wrote(self, item, facts):
        """What it looks like when it is committed, a script cannot know: its ETag and its time are learned later."""
        if facts:
            self.check_rid(item, facts["_rid"])
        self.model.wrote(item, facts)

    # ---- triggers ----

    def tally_of(self, item):
        name = Tally(item).id
        return next(other for other in self.items if other.id == name)

    def write_counted(self, connection, item):
        name = self.random.choice(["create", "upsert", "replace"])
        tally, throws, version = self.tally_of(item), self.throws(), item.next_version
        (method, path, headers, document), expected = load.OPERATIONS[name](item, version)
        item.next_version += 1
        number = expected if expected >= 400 else THROWN if throws else None
        batch = self.want([item, tally], [item.version, tally.version] if number else [version, tally.version + 1])
        triggers = "x-ms-documentdb-post-trigger-include: tally" + (",throw" if throws else "")
        answer = connection.ask(method, path, [*headers, triggers], document)
        if self.ended_without(batch, answer, number):
            return
        if answer.status != expected:
            return self.model.problem("%s of %s with a trigger answered %s, not %d", name, item.id, answer, expected)
        body, lsn = answer.json(), self.next_lsn(item, answer)
        self.check_body(item, version, body)
        self.model.wrote(item, load.facts_of(answer, body))
        self.model.wrote(tally, {**tally.kept(), "lsn": lsn})
        self.accepted(item, lsn, body["_ts"])

    # ---- both ----

    def want(self, items, versions):
        for item, version in zip(items, versions):
            item.wanted = version
        return load.Batch(items)

    @staticmethod
    def ran_out(answer):
        return any(reason in answer.json()["message"] for reason in (LOST, NO_TIME))

    def ended_without(self, batch, answer, number):
        """Whether it wrote nothing, as it was told to, or as a lost child or lost time has it."""
        told = int(answer.headers.get("x-ms-substatus", 0)) if answer.status == 400 else answer.status
        if number is not None and told == number:
            batch.end()
        elif answer.status in (408, 429) or (answer.status == 400 and self.ran_out(answer)):
            self.model.lost_scripts += 1
            batch.end()
        elif number is not None:
            self.model.problem("a script that should fail with %d answered %s", number, answer)
        else:
            return False
        return True

    def accepted(self, item, lsn, time):
        self.model.scripts += 1
        self.on_count(self.model.acknowledge(item.container, lsn, time))
