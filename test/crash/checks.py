"""test/crash/checks.py - the named checks of run: stopping, refusing, failing disks, damage, and how fast it starts.

A check takes the build's directory and a seed, returns what its line should say, and raises Failed.
"""
import glob
import os
import random
import statistics
import subprocess
import threading
import time

import load
import together
from power import UNLIMITED
from target import Target

STOP_SECONDS_MAX = 5
RECOVERY_SECONDS_MAX = 120  # it takes under a second: this ends a test that would never end, however slow the machine is
READERS = 2
SYNC_FAILURES = 5
REFUSALS = 500
FILLINGS = 4
FLIPS = 20
STARTS = 5
EMPTY_MS, RESTART_MS = 100, 200  # targets for the time from start to ready
BUSY = 4  # a machine that runs other tests as well may take that many times as long


class Failed(Exception):
    pass


def expect(condition, text, *values):
    if not condition:
        raise Failed(text % values)


def expect_no_problems(model):
    expect(not model.problems, "%s", "\n    ".join(model.problems))


def expect_kept(target, model):
    together.verify(model, target.http)
    expect_no_problems(model)


def write_for_a_while(target, model, seed, count, **more):
    """Until `count` more writes were acknowledged."""
    stop, limit = threading.Event(), model.count + count
    load.run_writers(model, target.http, seed, lambda now: stop.set() if now >= limit else None, stop,
                     **{"kind": together.Writer, **more})
    expect_no_problems(model)
    expect(model.count >= limit, "the writers ended after %d writes", model.count)


def filled(target, seed, count=300, **more):
    """Writes something: the model of what it holds."""
    model = load.Model(seed)
    load.prepare(target.http)
    write_for_a_while(target, model, seed, count, **more)
    return model


def stop_clean(target):
    began = time.monotonic()
    status, seconds = target.stop(), time.monotonic() - began
    expect(status == 0 and seconds < STOP_SECONDS_MAX, "SIGTERM: status %s after %.1f s", status, seconds)
    return seconds


def expect_clean(target):
    status, said = target.check()
    expect(status == 0 and "0 problems" in said, "orrery check: status %s: %s", status, said)


def run_to_end(target, *arguments):
    done = subprocess.run([target.program, *arguments], capture_output=True, text=True, timeout=120, errors="replace")
    return done.returncode, done.stdout + done.stderr


# ---- stopping and refusing ----

def second_server(build, seed):
    with Target(build, shim=False) as target:
        model = filled(target, seed)
        status, said = run_to_end(target, "serve", "--listen", "127.0.0.1:0", "--data", target.data)
        expect(status > 0 and "another server is using" in said, "status %s: %s", status, said)
        status, said = target.check()
        expect(status > 0 and "another server is using" in said, "check: status %s: %s", status, said)
        write_for_a_while(target, model, seed + " more", 100)
        expect_kept(target, model)


def well_known_key(build, seed):
    """Beyond loopback it is refused, unless somebody says that they know; nothing is made on disk for it."""
    with Target(build, shim=False) as target:
        elsewhere = target.data + "-elsewhere"
        status, said = run_to_end(target, "serve", "--listen", "0.0.0.0:0", "--data", elsewhere)
        expect(status > 0 and "--key" in said and not os.path.exists(elsewhere), "status %s: %s", status, said)


def stop_under_load(build, seed):
    sent = []

    def terminate(target):
        sent.append(time.monotonic())
        target.process.terminate()

    with Target(build, shim=False) as target:
        model = filled(target, seed)
        limit = model.count + 500
        load.run_writers(model, target.http, seed + " more", lambda now: terminate(target) if now == limit else None,
                         threading.Event(), kind=together.Writer)
        expect_no_problems(model)
        stop_clean(target)
        seconds = time.monotonic() - sent[0]
        expect(seconds < STOP_SECONDS_MAX, "it took %.1f s", seconds)
        expect_clean(target)
        target.start()
        expect_kept(target, model)
        return "ok, ended after %d ms" % (seconds * 1000)


def newer_format(build, seed):
    with Target(build, shim=False) as target:
        stop_clean(target)
        with open(os.path.join(target.data, "FORMAT"), "w") as file:
            file.write("orrery data format 99\n")
        for arguments in (["serve", "--listen", "127.0.0.1:0", "--data"], ["check"]):
            status, said = run_to_end(target, *arguments, target.data)
            expect(status > 0 and "format 99" in said and "newer" in said, "status %s: %s", status, said)


# ---- disks that fail ----

class Reader(threading.Thread):
    """Reads without end what nobody writes; each answer must be 200 with the same document."""

    def __init__(self, url, item, stop):
        super().__init__(daemon=True)
        self.url, self.item, self.stop, self.count, self.problem = url, item, stop, 0, None

    def run(self):
        try:
            connection = load.Connection(self.url)
            while not self.stop.is_set() and not self.problem:
                answer = connection.ask("GET", self.item.path() + "/" + self.item.id, self.item.headers())
                if answer.status != 200 or not load.same_document(self.item, self.item.version, answer.json()):
                    self.problem = "a read answered %s" % answer
                self.count += 1
            connection.close()
        except load.Lost as problem:
            self.problem = "a read was lost: %s" % problem


class Trouble:
    """Readers and writers that go on while the disk fails."""

    def __init__(self, target, model, seed):
        self.model, self.stop = model, threading.Event()
        existing = [item for items in model.items for item in items if item.version]
        self.readers = [Reader(target.http, item, self.stop) for item in existing[:READERS]]
        for reader in self.readers:
            reader.item.is_set_aside = True
            reader.start()
        self.writers = load.start_writers(model, target.http, seed, lambda now: None, self.stop, True,
                                          kind=together.Writer)

    def wait(self, what, condition):
        began = time.monotonic()
        if not self.model.wait_until(condition, RECOVERY_SECONDS_MAX):
            expect_no_problems(self.model)
            raise Failed("%s: not within %d s; %d writes, %d refusals" % (
                what, RECOVERY_SECONDS_MAX, self.model.count, len(self.model.refusals)))
        return time.monotonic() - began

    def wait_for_refusals(self, count):
        limit = len(self.model.refusals) + count
        return self.wait("refusals", lambda: len(self.model.refusals) >= limit)

    def wait_for_writes(self, count):
        limit = self.model.count + count
        return self.wait("writes", lambda: self.model.count >= limit)

    def end(self):
        """How many reads there were. Every refusal must have been a proper one."""
        self.stop.set()
        for thread in self.readers + self.writers:
            thread.join()
        for reader in self.readers:
            expect(not reader.problem and reader.count, "%s, after %d reads", reader.problem, reader.count)
            reader.item.is_set_aside = False
        for answer in self.model.refusals:
            expect(answer.json()["code"] == "ServiceUnavailable" and answer.json()["message"], "refused by %s", answer)
            expect(answer.headers["content-type"] == "application/json", "refused by %s", answer.headers)
        return sum(reader.count for reader in self.readers)


def verify_now_and_after_power_cut(target, model, seed):
    expect_kept(target, model)
    target.kill()
    target.disk.cut(random.Random(seed))
    target.start()
    expect_kept(target, model)
    stop_clean(target)
    expect_clean(target)


def failing_sync(build, seed):
    source = random.Random(seed)
    with Target(build) as target:
        model = filled(target, seed)
        trouble = Trouble(target, model, seed)
        for failures in range(1, SYNC_FAILURES + 1):
            target.disk.fail_sync(source.randint(1, 20))
            trouble.wait("a failed sync", lambda: target.disk.counts()["failed syncs"] >= failures)
            trouble.wait_for_writes(100)
        reads = trouble.end()
        verify_now_and_after_power_cut(target, model, seed)
        return "ok, %d failures, %d writes refused, %d reads meanwhile" % (failures, len(model.refusals), reads)


def full_disk(build, seed, spaces):
    with Target(build) as target:
        model = filled(target, seed)
        trouble = Trouble(target, model, seed)
        longest = 0
        for space in spaces:
            target.disk.leave_space(space)
            trouble.wait_for_refusals(REFUSALS)
            target.disk.leave_space(UNLIMITED)
            longest = max(longest, trouble.wait_for_writes(100))
        reads = trouble.end()
        verify_now_and_after_power_cut(target, model, seed)
        return "ok, %d writes refused, %d reads meanwhile, 100 writes at most %d ms after there was space again" % (
            len(model.refusals), reads, longest * 1000)


def full_at_once(build, seed):
    return full_disk(build, seed, [0])


def full_within_a_write(build, seed):
    source = random.Random(seed)
    return full_disk(build, seed, [source.randint(1, 20000) for _ in range(FILLINGS)])


def start_on_full_disk(build, seed):
    """It says why and ends, or it starts; it does not crash, and nothing is lost."""
    source = random.Random(seed)
    with Target(build) as target:
        model = filled(target, seed)
        for space in [0] + [source.randint(1, 40000) for _ in range(FILLINGS)]:
            target.kill()
            target.disk.leave_space(space)
            try:
                target.start()
            except RuntimeError as problem:
                status = target.process.returncode
                expect(status > 0 and "No space" in str(problem), "%d bytes left: %s: %s", space, status, problem)
                target.disk.leave_space(UNLIMITED)
                target.start()
            target.disk.leave_space(UNLIMITED)
        verify_now_and_after_power_cut(target, model, seed)


# ---- damage ----

def largest(target, ending):
    paths = glob.glob(os.path.join(target.data, "store", "*" + ending))
    return max(paths, key=os.path.getsize)


def flip(path, at):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 0x40]))


def flip_and_check(target, path, source):
    """One byte at a time. The end of a table has a few bytes that no checksum covers: there it only must not crash."""
    for _ in range(FLIPS):
        size = os.path.getsize(path)
        at = source.randrange(size)
        flip(path, at)
        status, said = target.check()
        expect(status in (0, 1) and said, "byte %d of %d: status %s: %s", at, size, status, said)
        expect(status == 1 or at > size * 0.98, "byte %d of %d was not noticed: %s", at, size, said)
        flip(path, at)
    expect_clean(target)
    return "ok, %d flips in %d bytes" % (FLIPS, size)


def damaged_table(build, seed):
    """No container is dropped here: check does not read what was left behind by one."""
    with Target(build, shim=False) as target:
        filled(target, seed, 1500, containers_change=False)
        stop_clean(target)
        return flip_and_check(target, largest(target, ".sst"), random.Random(seed))


def damaged_log(build, seed):
    with Target(build, shim=False) as target:
        filled(target, seed)
        target.kill()
        return flip_and_check(target, largest(target, ".log"), random.Random(seed))


def start_on_damaged_log(build, seed):
    """Damage in the middle of the log costs what follows it, but not in silence, and the log is kept."""
    with Target(build, shim=False) as target:
        filled(target, seed)
        target.kill()
        path = largest(target, ".log")
        flip(path, os.path.getsize(path) // 2)
        target.start()
        kept = glob.glob(os.path.join(target.data, "damaged-log-*", os.path.basename(path)))
        expect("the write-ahead log is damaged" in target.log() and kept, "the log has no word of it, or no copy is kept")
        stop_clean(target)


# ---- the test itself, and time ----

def unsynced_writes(build, seed):
    """A server that does not sync must be caught, or the power cuts prove nothing."""
    with Target(build, options=["--durability", "async"]) as target:
        model = filled(target, seed)
        stop_clean(target)
        target.start()
        write_for_a_while(target, model, seed + " more", 200)
        target.kill()
        target.disk.cut(random.Random(seed), tail=False)
        target.start()
        try:
            load.verify(model, target.http)
        except Exception as problem:
            model.problem("%r", problem)
        expect(model.problems, "nothing was missed")
        return "ok: " + model.problems[0][:100]


def start_times(build, seed):
    empty, restarts = [], []
    for _ in range(STARTS):
        with Target(build, shim=False) as target:
            empty.append(target.start_ms)
            load.prepare(target.http)
            stop_clean(target)
            target.start()
            restarts.append(target.start_ms)
    first, again = statistics.median(empty), statistics.median(restarts)
    text = "empty %.0f ms, restart %.0f ms (medians of %d; targets %d and %d)" % (
        first, again, STARTS, EMPTY_MS, RESTART_MS)
    expect(first < BUSY * EMPTY_MS and again < BUSY * RESTART_MS, "%s", text)
    return text


ALL = [
    ("a second server on the same directory is refused", second_server),
    ("the well-known key is refused beyond loopback", well_known_key),
    ("a stop under load loses nothing", stop_under_load),
    ("data of a newer format is refused", newer_format),
    ("a failed sync is recovered from", failing_sync),
    ("a full disk refuses writes until there is space", full_at_once),
    ("a disk that fills up within a write does too", full_within_a_write),
    ("a start on a full disk does no harm", start_on_full_disk),
    ("orrery check finds a flipped byte in a table", damaged_table),
    ("orrery check finds a flipped byte in a log", damaged_log),
    ("a start on a damaged log tells and keeps the log", start_on_damaged_log),
    ("a server that does not sync is caught", unsynced_writes),
    ("time to ready", start_times),
]
