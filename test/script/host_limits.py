"""test/script/host_limits.py - scripts that never end or never have enough, frames that break the rules: the parent ends the child."""
import os
import time

from host import Ended, Host, ends_by_signal

BUSY_S = 0.2  # long enough to be seen at work


def _ended(host, kind, payload):
    """The status of a child of its own after one frame."""
    child = Host(host.program)
    child.send(kind, payload)
    try:
        child.receive()
        return "answered"
    except Ended:
        return child.process.wait()


def _is_killed_at_work(host, source):
    child = Host(host.program)
    child.begin(source)
    child.socket.settimeout(BUSY_S)
    try:
        child.receive()
        raise AssertionError("it ended by itself")
    except TimeoutError:
        pass
    assert ends_by_signal(child.kill())


def a_script_without_an_end_can_be_killed(host):
    for source in (
        "function () { for (;;); }",
        "async function f() { for (;;) await null; }",
        "function f() { Promise.resolve().then(f); }",
        "function () { for (;;) try { for (;;); } finally { continue; } }",
        "function () { /^(a+)+$/.test('a'.repeat(40) + 'b'); }",
        "function () { for (;;) 'x'.repeat(1e6).split(''); }",
    ):
        _is_killed_at_work(host, source)


def a_script_that_takes_memory_is_seen_from_outside(host):
    child = Host(host.program)
    child.begin("function () { var a = []; for (;;) a.push(new Array(1000).fill(a.length)); }")
    limit, pages = 300 << 20, 0
    until = time.monotonic() + 30
    while pages * os.sysconf("SC_PAGESIZE") < limit and child.process.poll() is None and time.monotonic() < until:
        with open("/proc/%d/statm" % child.process.pid) as statm:
            pages = int(statm.read().split()[1])
    assert pages * os.sysconf("SC_PAGESIZE") >= limit
    assert ends_by_signal(child.kill())


def the_child_ends_with_0_when_the_parent_goes_away(host):
    child = Host(host.program)
    assert child.end() == 0
    child = Host(host.program)
    child.begin("function () { __.readDocuments(__.getSelfLink()); }")
    assert child.receive()[0] == "O"
    assert child.end() == 0
    for endless in ("function () { for (;;); }", "async () => { for (;;) await null; }"):
        child = Host(host.program)
        child.begin(endless)
        assert child.end() == 0


def frames_that_break_the_rules_end_the_child_with_2(host):
    for kind, payload in (
        ("X", b"{}"),
        ("R", b"{}"),
        ("R", b"not json"),
        ("A", b'{"answers":[]}'),
        ("L", b'{"key":"a"}'),
        ("L", b'{"key":"","source":""}'),
        ("L", b'{"key":"%s","source":""}' % (b"k" * 65)),
        ("L", b"[]"),
        ("U", b""),
        ("H", b"{}"),
        ("L", b'{"key":"a","source":1}'),
        ("L", b'{"key":"a\\u0041","source":"x"}'),
        ("L", b'{"key":"a","source":"x"'),
    ):
        assert _ended(host, kind, payload) == 2, (kind, payload)


def a_length_of_nothing_or_of_too_much_ends_the_child_with_2(host):
    for length in (0, (64 << 20) + 1, 0xFFFFFFFF):
        child = Host(host.program)
        child.socket.sendall(length.to_bytes(4, "little"))
        assert child.process.wait(30) == 2


def a_second_run_while_one_waits_ends_the_child_with_2(host):
    child = Host(host.program)
    child.begin("function () { __.readDocuments(__.getSelfLink()); }")
    assert child.receive()[0] == "O"
    child.begin("function () {}")
    assert child.process.wait(30) == 2


def answers_that_are_too_few_or_too_many_end_the_child_with_2(host):
    for answers in ([], [{"status": 200}] * 2):
        child = Host(host.program)
        child.begin("function () { __.readDocuments(__.getSelfLink()); }")
        assert child.receive()[0] == "O"
        child.send("A", {"answers": answers})
        assert child.process.wait(30) == 2


def what_is_too_large_for_a_frame_is_413(host):
    failure = host.failure("function () { __.response.setBody('x'.repeat(30000000)); }")
    assert failure["number"] == 413
    failure = host.failure("function () { __.createDocument(__.getSelfLink(), { a: 'x'.repeat(30000000) }); }")
    assert failure["number"] == 413
    [answer] = host.call("() => 'x'.repeat(30000000)", [])
    assert answer["number"] == 413


def _resident_mb(child):
    with open("/proc/%d/statm" % child.process.pid) as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE") >> 20


def many_runs_do_not_make_the_child_grow_and_a_large_one_is_forgotten(host):
    source = (
        "function () { var a = []; for (var i = 0; i < 1000; i++) a.push({ i: i }); __.response.setBody(a.length); }"
    )
    with Host(host.program) as child:
        for _ in range(300):
            child.body(source)
        before = _resident_mb(child)
        for _ in range(300):
            child.body(source)
        assert _resident_mb(child) < before + 20, (before, _resident_mb(child))
        child.failure("function () { var a = []; for (var i = 0; i < 1e6; i++) a.push({ i }); throw 1; }")
        for _ in range(300):
            child.body(source)
        assert _resident_mb(child) < before + 120, (before, _resident_mb(child))
