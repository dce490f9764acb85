"""test/crash/upkeep.py - the named checks of what operators do to a running server: backups, new keys.

As in checks.py: a check takes the build's directory and a seed, returns what its line should say, and raises Failed.
"""
import os
import random
import shutil
import threading
import time

import client
import load
from checks import expect, expect_clean, expect_kept, expect_no_problems, filled, run_to_end, stop_clean, write_for_a_while
from power import UNLIMITED
from server import KEY
from target import Target

ROTATIONS = 3
TAKEN_UP_SECONDS_MAX = 20  # half a second, and more on a machine that runs other tests as well


class History(load.Model):
    """A model that also knows every state an item was acknowledged to have."""

    def __init__(self, seed):
        super().__init__(seed)
        self.states = {item.id: [0] for items in self.items for item in items}

    def wrote(self, item, facts):
        self.states[item.id].append(item.wanted)
        super().wrote(item, facts)

    def marks(self):
        return {name: len(states) - 1 for name, states in self.states.items()}


def back_up(target, copy):
    return run_to_end(target, "backup", copy, "--data", target.data)


def expect_copied(target, copy):
    status, said = back_up(target, copy)
    expect(status == 0, "status %s: %s", status, said)


def restored(build, copy):
    """A server on the copy, checked before it starts."""
    server = Target(build, shim=False)
    shutil.move(copy, server.data)
    expect_clean(server)
    return server


def verify_states(model, url, marks):
    """Each item is as it was when the copy began or later, whole; the feeds have the same items."""
    connection, found, newer = load.Connection(url), set(), 0
    for item in [item for items in model.items for item in items]:
        answer = connection.ask("GET", item.path() + "/" + item.id, item.headers())
        body = answer.json() if answer.status == 200 else None
        version, states = body["version"] if body else 0, model.states[item.id]
        expect(answer.status in (200, 404), "reading %s answered %s", item.id, answer)
        expect(version in states[marks[item.id]:], "%s has version %s, not one of %s", item.id, version,
               states[marks[item.id]:])
        expect(not body or load.same_document(item, version, body), "%s is not what was written", item.id)
        newer += version != states[marks[item.id]]
        if body:
            found.add(item.id)
    rows = [row for name in load.CONTAINERS
            for row in load.read_feed(connection, "%s/colls/%s/docs" % (load.DATABASE, name), "Documents")]
    expect({row["id"] for row in rows} == found and len(rows) == len(found), "the feeds have other items")
    connection.close()
    return newer


def backup_under_load(build, seed):
    began, stop, model = threading.Event(), threading.Event(), History(seed)
    with Target(build, shim=False) as target:
        load.prepare(target.http)
        writers = load.start_writers(model, target.http, seed, lambda now: now == 300 and began.set(), stop)
        expect(began.wait(load.TIMEOUT_S), "the writers do not write")
        marks, copy = model.marks(), os.path.join(target.data, "backups", "copy")
        expect_copied(target, copy)
        during = model.count - 300
        stop.set()
        for writer in writers:
            writer.join()
        expect_no_problems(model)
        expect_kept(target, model)
        with restored(build, copy) as server:
            newer = verify_states(model, server.http, marks)
            stop_clean(server)
        return "ok, %d writes meanwhile, %d items newer than its beginning" % (during, newer)


def backup_without_server(build, seed):
    """Of what a killed server left: all of it, also what only the log has."""
    with Target(build, shim=False) as target:
        model = filled(target, seed)
        target.kill()
        copy = os.path.join(target.data, "backups", "copy")
        expect_copied(target, copy)
        expect_clean(target)
        with restored(build, copy) as server:
            expect_kept(server, model)
            write_for_a_while(server, model, seed + " more", 100)
            stop_clean(server)
        target.start()


def backup_on_full_disk(build, seed):
    """It fails whole and the server goes on; once there is space it succeeds, and outlives a power cut."""
    source = random.Random(seed)
    with Target(build) as target:
        model, copy = filled(target, seed), os.path.join(target.data, "backups", "copy")
        for space in [0, 1, source.randint(2, 4000)]:
            target.disk.leave_space(space)
            status, said = back_up(target, copy)
            expect(status == 1 and "No space" in said, "%d bytes left: status %s: %s", space, status, said)
            expect(not os.path.exists(copy), "%d bytes left: something was left behind", space)
        target.disk.leave_space(UNLIMITED)
        write_for_a_while(target, model, seed + " more", 100, may_refuse=True)  # if housekeeping had met the full disk
        expect_copied(target, copy)
        target.kill()
        with open(target.certificate, "rb") as file:
            certificate = file.read()
        target.disk.cut(source)
        with restored(build, copy) as server:
            with open(server.certificate, "rb") as file:
                expect(file.read() == certificate, "the copy's certificate is another")
            expect_kept(server, model)
            stop_clean(server)
        target.start()


# ---- keys ----

def opens(url, key):
    """Whether the key is taken for reading the account."""
    date = client.date_of()
    token = client.encoded(client.authorization(key, "GET", "", "", (date, "")))
    status = client.Client(url).send("GET", "/", [("x-ms-date", date), ("authorization", token)], None)[0]
    expect(status in (200, 401), "reading the account answered %s", status)
    return status == 200


def rotate(target, keys, name):
    status, said = run_to_end(target, "keys", "rotate", name, "--key-file", keys)
    expect(status == 0 and said.startswith(name + " "), "status %s: %s", status, said)
    return said.split()[1]


def expect_taken_up(target, old, new):
    until = time.monotonic() + TAKEN_UP_SECONDS_MAX
    while not opens(target.http, new):
        expect(time.monotonic() < until, "the new key is not taken up: %s", target.log()[-500:])
    expect(not opens(target.http, old), "the old key still opens")


def rotation_under_load(build, seed):
    """Sixteen writers sign with the primary key and see nothing of it; a bad file changes nothing."""
    stop, model, secondary = threading.Event(), load.Model(seed), "dGhlIHNlY29uZGFyeSBrZXkgYmVmb3JlIGFueSByb3RhdGlvbg=="
    target = Target(build, shim=False)
    keys = target.write_keys({"primary": KEY, "secondary": secondary})
    with target:
        load.prepare(target.http)
        writers = load.start_writers(model, target.http, seed, lambda now: None, stop)
        for _ in range(ROTATIONS):
            expect(opens(target.http, secondary), "the key does not open")
            fresh = rotate(target, keys, "secondary")
            expect_taken_up(target, secondary, fresh)
            secondary = fresh
        os.chmod(keys, 0o644)
        until = time.monotonic() + TAKEN_UP_SECONDS_MAX
        while "the keys stay as they are" not in target.log():
            expect(time.monotonic() < until, "a file for all to read is not told of")
            opens(target.http, secondary)
        expect(opens(target.http, secondary), "a bad file took the keys away")
        stop.set()
        for writer in writers:
            writer.join()
        expect_no_problems(model)
        expect_kept(target, model)
        return "ok, %d writes meanwhile" % model.count


ALL = [
    ("a backup under load has what was acknowledged before it, whole", backup_under_load),
    ("a backup without a server has all of it", backup_without_server),
    ("a backup on a full disk fails whole, and outlives a power cut when made", backup_on_full_disk),
    ("a key is rotated under load and nobody else notices", rotation_under_load),
]
