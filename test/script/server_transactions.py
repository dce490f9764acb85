"""test/script/server_transactions.py - all of a procedure or nothing: conflicts, kill -9 of the child and of the server."""
import os
import random
import signal
import threading
import time

from world import COLL, assert_ended, in_thread

ITEMS, ROUNDS, CALLERS = 20, 6, 4
MAKE = """function (name, key) {
    var c = getContext().getCollection(), made = 0;
    (function next() {
        if (made == %d) return;
        var accepted = c.createDocument(c.getSelfLink(), {id: name + '-' + made++, pk: key, run: name}, next);
        if (!accepted) throw new Error('no time left'); // or a part of them would be all
    })(); }""" % ITEMS
ADD = """function () {
    var c = getContext().getCollection();
    c.readDocument(c.getAltLink() + '/docs/counter', function (e, d) {
        if (e) throw e;
        d.n++;
        c.replaceDocument(d._self, d, function (e) { if (e) throw e; getContext().getResponse().setBody(d.n); });
    }); }"""


class _Told:
    """What callers were told: the status of each procedure, None while it is in flight."""

    def __init__(self):
        self.status, self.good, self.ends, self.changed = {}, 0, False, threading.Condition()

    def note(self, name, status):
        with self.changed:
            self.status[name] = status
            self.good += status == 200
            self.changed.notify_all()

    def wait_for(self, more):
        """So many more that have ended well."""
        with self.changed:
            until = self.good + more
            assert self.changed.wait_for(lambda: self.good >= until, timeout=60), "the callers came to a stop"


def _call_until(world, number, key, told):
    """Runs procedures one after the other, until it is told to end or the server is gone."""
    count = 0
    while not told.ends:
        name = "%d.%d" % (number, count)
        count += 1
        told.note(name, None)
        try:
            told.note(name, world.execute("make", [name, key], key)[0])
        except OSError:
            return


def _verify(world, key, told):
    """Every procedure has all its items or none, and all if it was told so."""
    found = {}
    _, _, answer = world.query("SELECT c.run, COUNT(1) AS n FROM c GROUP BY c.run", key)
    for row in answer["Documents"]:
        found[row["run"]] = row["n"]
    for name, status in told.status.items():
        n = found.pop(name, 0)
        assert n in (0, ITEMS), "%s has %d items" % (name, n)
        assert status is None or (n == ITEMS) == (status == 200), (name, status, n)
    assert not found, found


def killing_the_server_leaves_no_half_of_a_procedure_and_no_child(world):
    source = random.Random(7)
    world.procedure("make", MAKE)
    for key in map(str, range(ROUNDS)):
        told = _Told()
        calls = [in_thread(_call_until, world, number, key, told) for number in range(CALLERS)]
        told.wait_for(source.randint(1, 30))
        children = world.children()
        world.server.process.kill()
        world.server.process.wait()
        told.ends = True
        for call in calls:
            call()
        assert children
        assert_ended(children)
        world.server.http = None
        world.server.start()
        _verify(world, key, told)


def killing_the_child_leaves_no_half_of_a_procedure(world):
    world.procedure("make", MAKE)
    told = _Told()
    calls = [in_thread(_call_until, world, number, "a", told) for number in range(CALLERS)]
    for _ in range(10):
        told.wait_for(5)
        for pid in world.children():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass  # it is gone already
    told.wait_for(5)
    told.ends = True
    for call in calls:
        call()
    statuses = set(told.status.values())
    assert statuses <= {200, 400} and 200 in statuses, statuses
    _verify(world, "a", told)


def procedures_that_meet_run_again_and_none_is_lost(world):
    world.procedure("add", ADD)
    world.ask("POST", COLL + "/docs", {"id": "counter", "pk": "a", "n": 0}, "a", expect=201)

    def add():
        return [world.execute("add")[0] for _ in range(15)]
    results = [status for call in [in_thread(add) for _ in range(6)] for status in call()]
    assert set(results) <= {200, 449}, set(results)
    n = world.ask("GET", COLL + "/docs/counter", None, "a")["n"]
    assert n == results.count(200) > 60, (n, results.count(200))


def one_that_another_came_before_late_is_not_run_anew_with_less_time(world):
    world.procedure("slow", """function () {
        var c = getContext().getCollection(), began = Date.now();
        c.readDocument(c.getAltLink() + '/docs/counter', function (e, d) {
            if (e) throw e;
            d.n++;
            c.replaceDocument(d._self, d, function () {
                while (Date.now() - began < 850);
                getContext().getResponse().setBody(d.n);
            });
        }); }""")
    world.ask("POST", COLL + "/docs", {"id": "counter", "pk": "a", "n": 0}, "a", expect=201)
    call = in_thread(world.execute, "slow")
    world.busy_child()  # it has read, and written
    time.sleep(0.1)
    world.ask("PUT", COLL + "/docs/counter", {"id": "counter", "pk": "a", "n": 100}, "a")
    status, _, answer = call()
    assert status in (449, 408), (status, answer)  # and not 200, with nothing done
    assert world.ask("GET", COLL + "/docs/counter", None, "a")["n"] == 100
