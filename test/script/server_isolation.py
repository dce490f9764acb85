"""test/script/server_isolation.py - what a bad script does to its caller, and does not do to others."""
import contextlib
import os
import signal
import time

from world import COLL, SECONDS, Others, in_thread, is_running, undisturbed

CREATE = "var c = getContext().getCollection(); c.createDocument(c.getSelfLink(), {id: 'half', pk: 'a'});"
GOOD = "function () { getContext().getResponse().setBody('good'); }"
HOARD = "var all = []; for (;;) all.push(new Uint8Array(1 << 23).fill(1));"
LATE = (408, 0)
MORE_SECONDS = 20  # for what must happen before a script's time is over, also on a busy machine
MORE_TIME = ("--script-seconds", str(MORE_SECONDS))


def _expect(world, source, expected, seconds_max=SECONDS + 3, served_min=20):
    """The caller gets the error (on a quiet machine in time), others go on, nothing stays, and the next script runs."""
    world.procedure("bad", "function () { %s %s }" % (CREATE, source))
    world.procedure("good", GOOD)
    assert world.execute("good") == (200, 0, "good")
    with undisturbed(world, served_min):
        began = time.monotonic()
        status, sub, answer = world.execute("bad")
        took_s = time.monotonic() - began
    assert (status, sub) == expected, (status, sub, answer)
    assert answer["code"] and answer["message"]
    assert took_s < seconds_max or not world.is_quiet, took_s
    assert world.count() == 0
    assert world.execute("good") == (200, 0, "good")


def an_endless_loop_is_ended_when_its_time_is_over(world):
    _expect(world, "for (;;);", LATE)


def an_endless_loop_of_promises_is_ended_too(world):
    _expect(world, "(async function () { for (;;) await null; })();", LATE)


def an_endless_regular_expression_is_ended_too(world):
    _expect(world, "for (let i = 0; i < 100; i++) /^(a+)+$/.test('a'.repeat(40) + 'b' + i);", LATE)


def a_script_that_asks_for_ever_is_ended_too(world):
    _expect(world, "(function again() { for (;;) c.queryDocuments(c.getSelfLink(), 'SELECT * FROM c'); })();", LATE)


def a_script_whose_operations_take_long_is_ended_too(world):
    _expect(world, """c.createDocument(c.getSelfLink(), {id: 'list', pk: 'a', list: Array.from({length: 500}, (_, i) => i)});
        for (let i = 0; i < 2000; i++)
            c.queryDocuments(c.getSelfLink(), "SELECT VALUE COUNT(1) FROM c JOIN a IN c.list JOIN b IN c.list WHERE a + b = -" + i);
        """, LATE)


def a_script_that_hoards_memory_is_ended(world):
    _expect(world, HOARD, (400, 0), seconds_max=MORE_SECONDS, served_min=2)


a_script_that_hoards_memory_is_ended.options = MORE_TIME


def a_script_that_recurses_for_ever_fails_by_itself(world):
    _expect(world, "(function deep() { deep(); })();", (400, 0), seconds_max=MORE_SECONDS, served_min=0)


a_script_that_recurses_for_ever_fails_by_itself.options = MORE_TIME


def a_script_that_nobody_calls_back_ends_at_once_and_is_committed(world):
    """Nothing is queued, so nothing can wake it: it has ended, as on the service."""
    world.procedure("bad", "async function () { %s await new Promise(() => {}); throw 1; }" % CREATE)
    with undisturbed(world, served_min=0):
        assert world.execute("bad") == (200, 0, "")  # and not 408, when its time is over
    assert world.count() == 1


a_script_that_nobody_calls_back_ends_at_once_and_is_committed.options = MORE_TIME


def a_script_that_hangs_in_a_callback_is_ended(world):
    _expect(world, "c.readDocuments(c.getSelfLink(), {}, () => { for (;;); });", LATE)


def two_bad_scripts_at_once_are_both_ended(world):
    world.procedure("loop", "function () { for (;;); }")
    world.procedure("hoard", "function () { %s }" % HOARD)
    world.procedure("good", GOOD)
    assert world.execute("good") == (200, 0, "good")
    with undisturbed(world):
        first, second = in_thread(world.execute, "loop"), in_thread(world.execute, "hoard", (), "b")
        assert world.execute("good", (), "c") == (200, 0, "good")
        assert first()[:2] == LATE and second()[:2] in ((400, 0), LATE)


def two_endless_loops_at_once_are_both_ended(world):
    world.procedure("bad", "function () { for (;;); }")
    world.procedure("good", GOOD)
    assert world.execute("good") == (200, 0, "good")
    with undisturbed(world):
        first, second = in_thread(world.execute, "bad"), in_thread(world.execute, "bad", (), "b")
        assert world.execute("good", (), "c") == (200, 0, "good")
        assert first()[:2] == LATE and second()[:2] == LATE


CROWD, CROWD_CHILDREN = 48, 12  # of 16 children, so many for one container


def _end_loops(world, loops):
    """Kills their children until none is left, and gives back what they were answered."""
    ended = in_thread(lambda: [loop() for loop in loops])
    while not ended.is_over():
        for pid in world.children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    return ended()


def forty_eight_endless_loops_of_a_container_leave_a_child_for_another(world):
    """No loop ends by itself while this goes on, so whoever had to wait for one would not be answered."""
    world.procedure("bad", "function () { for (;;); }")
    world.container("e")
    world.ask("POST", "/dbs/d/colls/e/sprocs", {"id": "good", "body": GOOD}, expect=201)
    loops = [in_thread(world.execute, "bad") for _ in range(CROWD)]
    while world.metric("script_children") < CROWD_CHILDREN or world.metric("script_waiting") < CROWD_CHILDREN:
        pass
    for _ in range(3):
        assert world.send("POST", "/dbs/d/colls/e/sprocs/good", [], "a") == (200, 0, "good")
    assert not any(loop.is_over() and loop()[:2] == LATE for loop in loops)
    assert len(world.children()) <= CROWD_CHILDREN + 1  # no other is started for the crowd
    assert all(answer[0] in (400, 408, 429, 501) for answer in _end_loops(world, loops))


forty_eight_endless_loops_of_a_container_leave_a_child_for_another.options = MORE_TIME


def _crash(pid):
    """The engine looks at the first one itself: a fault that is none of its own comes again, as here."""
    while is_running(pid):
        try:
            os.kill(pid, signal.SIGSEGV)
        except ProcessLookupError:
            return


def a_child_that_crashes_fails_its_script_and_no_other(world):
    world.procedure("bad", "function () { %s for (;;); }" % CREATE)
    world.procedure("good", GOOD)
    with undisturbed(world, served_min=2):
        bad = in_thread(world.execute, "bad")
        _crash(world.busy_child())
        status, sub, answer = bad()
    assert (status, sub) == (400, 0) and "Encountered exception" in answer["message"], (status, answer)
    assert world.count() == 0
    assert world.execute("good") == (200, 0, "good")


a_child_that_crashes_fails_its_script_and_no_other.options = MORE_TIME


def a_child_that_answers_no_more_is_given_up(world):
    world.procedure("good", GOOD)
    assert world.execute("good") == (200, 0, "good")
    for pid in world.children():
        os.kill(pid, signal.SIGSTOP)
    with undisturbed(world):
        assert world.execute("good")[:2] == LATE
    assert world.execute("good") == (200, 0, "good")


def an_idle_child_that_has_died_costs_its_next_script_and_no_more(world):
    world.procedure("good", GOOD)
    assert world.execute("good") == (200, 0, "good")
    for pid in world.children():
        os.kill(pid, signal.SIGKILL)
    assert world.execute("good")[0] in (200, 400)
    assert world.execute("good") == (200, 0, "good")


def an_endless_function_ends_its_query(world):
    world.ask("POST", COLL + "/udfs", {"id": "f", "body": "function () { for (;;); }"}, expect=201)
    world.ask("POST", COLL + "/docs", {"id": "1", "pk": "a"}, "a", expect=201)
    with undisturbed(world):
        assert world.query("SELECT VALUE udf.f(c.id) FROM c")[0] == 408


def an_endless_trigger_undoes_its_write(world):
    for kind in ("Pre", "Post"):
        world.ask("POST", COLL + "/triggers", {"id": kind, "body": "function () { for (;;); }", "triggerType": kind,
                                               "triggerOperation": "All"}, expect=201)
        header = [("x-ms-documentdb-%s-trigger-include" % kind.lower(), kind)]
        with undisturbed(world):
            world.ask("POST", COLL + "/docs", {"id": "1", "pk": "a"}, "a", header, expect=408)
    assert world.count() == 0


def operations_are_not_accepted_when_time_is_nearly_over(world):
    world.procedure("slow", """function () {
        var c = getContext().getCollection(), made = 0;
        (function next() {
            if (!c.createDocument(c.getSelfLink(), {pk: 'a'}, next)) getContext().getResponse().setBody(made);
            made++;
        })(); }""")
    status, _, made = world.execute("slow")
    assert status == 200, made
    assert world.count() == made > 0


def scripts_that_hang_leave_threads_for_the_others(world):
    for number in range(40):  # each by itself: one that hangs six times running would be blocked
        world.procedure("bad%d" % number, "function () { for (;;); }")
    callers = [in_thread(world.execute, "bad%d" % number, (), "k%d" % number) for number in range(40)]
    with Others(world) as others:
        statuses = {caller()[0] for caller in callers}
    assert statuses <= {408, 429} and 408 in statuses, statuses
    assert others.served > 20 or not world.is_quiet, others.served


def without_orrery_js_the_server_runs_and_says_what_scripts_need(world):
    world.procedure("good", GOOD)
    status, _, answer = world.execute("good")
    assert status == 501 and "orrery-js" in answer["message"], (status, answer)
    header = [("x-ms-documentdb-pre-trigger-include", "t")]
    world.ask("POST", COLL + "/triggers", {"id": "t", "body": GOOD, "triggerType": "Pre", "triggerOperation": "All"}, expect=201)
    assert world.send("POST", COLL + "/docs", {"id": "1", "pk": "a"}, "a", header)[0] == 501
    assert world.count() == 0
    world.ask("POST", COLL + "/docs", {"id": "1", "pk": "a"}, "a", expect=201)
    world.ask("POST", COLL + "/udfs", {"id": "f", "body": "function () { return 1; }"}, expect=201)
    assert world.query("SELECT VALUE udf.f() FROM c")[0] == 501


without_orrery_js_the_server_runs_and_says_what_scripts_need.options = ("--script-program", "/nowhere/orrery-js")
