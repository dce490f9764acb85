"""test/script/host_sandbox.py - what the child could not do even if a script took it over; sandbox_test.c tries it."""
import os


def the_filter_is_closed_for_every_thread(host):
    host.body(
        "function () { var a = []; for (var i = 0; i < 300000; i++) a.push({ i: String(i) }); }"
    )  # the engine starts threads
    tasks = "/proc/%d/task" % host.process.pid
    for task in os.listdir(tasks):
        with open(os.path.join(tasks, task, "status")) as status:
            lines = dict(line.split(":\t", 1) for line in status.read().splitlines() if ":\t" in line)
        assert lines["Seccomp"] == "2" and lines["NoNewPrivs"] == "1", lines


def nothing_is_open_but_the_streams_the_socket_and_what_the_engine_asks_the_system(host):
    folder = "/proc/%d/fd" % host.process.pid
    kinds = {number: os.readlink(os.path.join(folder, number)) for number in os.listdir(folder)}
    assert kinds["3"].startswith("socket:")
    known = ("anon_inode:", "/dev/urandom", "/proc/%d/statm" % host.process.pid)
    others = {number: kind for number, kind in kinds.items() if int(number) > 3 and not kind.startswith(known)}
    assert not others, others
