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


def _is_sanitized(host):
    with open(host.program, "rb") as program:
        return b"__asan_init" in program.read()


def nothing_is_open_but_the_socket_and_what_the_engine_asks_the_system(host):
    folder = "/proc/%d/fd" % host.process.pid
    kinds = {number: os.readlink(os.path.join(folder, number)) for number in os.listdir(folder)}
    assert kinds["3"].startswith("socket:")
    assert [kinds[number] for number in "012"] == ["/dev/null"] * 3, kinds  # and not the server's log
    known = ("anon_inode:", "/dev/urandom", "/proc/%d/statm" % host.process.pid)
    if _is_sanitized(host):
        known += (os.readlink("/proc/self/fd/2"),)  # its reports must be seen
    others = {number: kind for number, kind in kinds.items() if int(number) > 3 and not kind.startswith(known)}
    assert not others, others


def every_thread_leaves_the_processor_to_the_server(host):
    host.body("function () { var a = []; for (var i = 0; i < 300000; i++) a.push({ i: String(i) }); }")
    expected = min(os.getpriority(os.PRIO_PROCESS, 0) + 10, 19)
    for task in os.listdir("/proc/%d/task" % host.process.pid):
        assert os.getpriority(os.PRIO_PROCESS, int(task)) == expected, task
