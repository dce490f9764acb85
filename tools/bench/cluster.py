"""tools/bench/cluster.py - the data in PostgreSQL, beside a program that has nothing but libpq. A part of tools/bench/run.

Both sides write the same rows to the same PostgreSQL, with every commit on the disk. The last lines are service times, for
tools/capacity/run.
"""
import os
import statistics
import subprocess
import sys
import threading
import time

from rig import BUILD, EMULATOR_KEY, ROOT, ROUNDS, SCRATCH, SECONDS, TICKS, Server, load, requests_file, wrk

sys.path[:0] = [os.path.join(ROOT, "test", part) for part in ("postgres", "wire", "")]

import client as clients
from database import Postgres, Standby, children_of

BUCKETS, IN_FLIGHT, READERS, ITEMS = 8, 16, 64, 10000
ADDED_US = 1000  # to a round trip
SETTINGS = ["fsync=on", "max_connections=300", "shared_buffers=256MB", "max_wal_size=4GB"]
CREATES_MAX = 8000  # a second: so many requests are made beforehand


class Delay:
    """A proxy before the database."""

    def __init__(self, postgres):
        socket = os.path.join(postgres.directory, ".s.PGSQL.5432")
        self.process = subprocess.Popen([os.path.join(BUILD, "bench/bench-delay"), socket, str(ADDED_US)], stdout=subprocess.PIPE, text=True)
        self.place = "host=127.0.0.1&port=" + self.process.stdout.readline().strip()

    def before(self, where):
        options = where.split("&options=")[1]
        return "postgresql://orrery@/postgres?%s&options=%s" % (self.place, options)

    def stop(self):
        self.process.terminate()
        self.process.wait()


def bare(kind, where, threads, each):
    out = subprocess.run([os.path.join(BUILD, "bench/bench-libpq"), kind, where, str(SECONDS), str(threads), str(each)], check=True,
                         capture_output=True, text=True).stdout
    return float(out.split("/")[0])


def start(where):
    return Server(os.path.join(SCRATCH, "unused"), core=None, options=("--store", where))


class Creates:
    """Requests that make items of 1 KB in so many containers, one after the other; each is used once."""

    def __init__(self, server, containers):
        self.names = ["c%d" % number for number in range(containers)]
        self.made = ITEMS
        for name in self.names:
            load(server, 10, container=name)

    def file(self, names, count):
        parts = []
        for name in names:
            path = requests_file("create", self.made, count // len(names), container=name)
            with open(path, "rb") as file:
                parts.append(file.read().split(b"\0")[:-1])
            os.remove(path)
        self.made += count
        path = os.path.join(SCRATCH, "creates-%d" % self.made)
        with open(path, "wb") as file:
            for each in zip(*parts):
                file.write(b"\0".join(each) + b"\0")
        return path

    def run(self, server, names, in_flight):
        path = self.file(names, CREATES_MAX * SECONDS)
        rates = wrk(server.pid, server.url, in_flight, "replay.lua", path, core=None)
        os.remove(path)
        return rates

    def run_each(self, servers, names, in_flight):
        """At a time, so many in flight at each server: the sum."""
        paths, rates = [self.file(names, CREATES_MAX * SECONDS) for _ in servers], []
        threads = [threading.Thread(target=lambda s=server, p=path: rates.append(wrk(s.pid, s.url, in_flight, "replay.lua", p, core=None)[0]))
                   for server, path in zip(servers, paths)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for path in paths:
            os.remove(path)
        return sum(rates)


def spent(postgres):
    """CPU seconds of the database so far. Processes of it come and go: those that went count with who started them."""
    total = 0
    for process in [postgres.process.pid, *children_of(postgres.process.pid)]:
        try:
            with open(f"/proc/{process}/stat") as file:
                total += sum(map(int, file.read().rsplit(")", 1)[1].split()[11:15]))
        except OSError:
            pass
    return total / TICKS


def median(rows, column=0):
    return statistics.median(row[column] for row in rows)


def creates(postgres, server, made):
    """(CPU of the server, CPU of the database) for each create, in microseconds"""
    ours, theirs, database = [], [], []
    for _ in range(ROUNDS):
        theirs.append(bare("create", postgres.where("bare"), BUCKETS, IN_FLIGHT // BUCKETS))
        before = spent(postgres)
        ours.append(made.run(server, made.names, IN_FLIGHT))
        database.append((spent(postgres) - before) * 1e6 / (ours[-1][0] * SECONDS))
    groups, commits = (server.metric("store_%s_total" % name) for name in ("groups", "commits"))
    rate, beside = median(ours), statistics.median(theirs)
    print(f"durable creates of 1 KB with 20 entries, {IN_FLIGHT} in flight over {BUCKETS} buckets  {rate:6.0f}/s   p50 {ours[-1][2]} p99 {ours[-1][3]}"
          f"   {commits / groups:.1f} creates a transaction")
    print(f"  of libpq's {beside:.0f}/s with the same rows  {rate / beside:.2f} (at least 0.5)")
    return median(ours, 1), statistics.median(database)


def reads(postgres, server):
    requests = requests_file("read", 0, 5000, ITEMS, container="read")
    load(server, ITEMS, container="read")
    postgres.sql("ANALYZE")
    ours, theirs, database = [], [], []
    for _ in range(ROUNDS):
        theirs.append(bare("get", postgres.where("bare"), 8, READERS // 8))
        wrk(server.pid, server.url, READERS, "replay.lua", requests, seconds=1, core=None)
        before = spent(postgres)
        ours.append(wrk(server.pid, server.url, READERS, "replay.lua", requests, core=None))
        database.append((spent(postgres) - before) * 1e6 / (ours[-1][0] * SECONDS))
    rate, beside = median(ours), statistics.median(theirs)
    print(f"point reads of 1 KB of {ITEMS} items, {READERS} in flight  {rate:6.0f}/s   {median(ours, 1):.0f} us CPU a read   p50 {ours[-1][2]} p99 {ours[-1][3]}")
    print(f"  of libpq's {beside:.0f}/s, 8 connections with {READERS // 8} gets in a round trip  {rate / beside:.2f} (at least 0.5)")
    return median(ours, 1), statistics.median(database)


def far_away(postgres):
    """The database is a millisecond away: what waits for it is done side by side."""
    delay = Delay(postgres)
    where = delay.before(postgres.where("far"))
    servers = [start(where) for _ in range(2)]
    made = Creates(servers[0], BUCKETS)
    one, eight, single, grouped, both = [], [], [], [], []
    for _ in range(ROUNDS):
        one.append(made.run(servers[0], made.names[:1], 1)[0])
        eight.append(made.run(servers[0], made.names, BUCKETS)[0])
        grouped.append(made.run(servers[0], made.names[:1], IN_FLIGHT)[0])
        single.append(made.run(servers[0], made.names, IN_FLIGHT)[0])
        both.append(made.run_each(servers, made.names, IN_FLIGHT))
    one, eight, grouped, single, both = map(statistics.median, (one, eight, grouped, single, both))
    print(f"the same with {ADDED_US / 1000:.0f} ms more to the database")
    print(f"  one writer for each of {BUCKETS} buckets  {eight:6.0f}/s   for one bucket  {one:6.0f}/s   ratio {eight / one:.2f} (at least 5)")
    print(f"  {IN_FLIGHT} writers over {BUCKETS} buckets  {single:6.0f}/s   of one bucket, which share transactions  {grouped:6.0f}/s   ratio {single / grouped:.2f}")
    print(f"  {IN_FLIGHT} writers at each of two servers  {both:6.0f}/s   ratio to one server {both / single:.2f} (at least 1.7)")
    for server in servers:
        server.stop()
    delay.stop()


def first_write(server, number):
    """Seconds until a write is acknowledged, from now on."""
    began = time.monotonic()
    while True:
        client = clients.Signed(server.url, EMULATOR_KEY)
        try:
            status = client.ask("POST", "/dbs/bench/colls/c/docs", [("x-ms-documentdb-partitionkey", '["a"]')],
                                {"id": "after-%d" % number, "pk": "a"})[0]
        except OSError:
            status = 0
        client.close()
        if status in (201, 409):
            return time.monotonic() - began


def failover():
    took = []
    for number in range(ROUNDS):
        with Postgres(SETTINGS) as primary, Standby(primary, SETTINGS) as standby:
            primary.wait_for(standby)
            server = start(primary.base_with(standby))
            load(server, 10)
            primary.kill()
            standby.promote()
            took.append(first_write(server, number))
            server.stop()
    print(f"the first write after a standby was promoted  {statistics.median(took):.2f} s, at most {max(took):.2f} s (at most 5)")


def bench_cluster():
    with Postgres(SETTINGS) as postgres:
        where = postgres.where("near")
        server = start(where)
        made = Creates(server, BUCKETS)
        create_us = creates(postgres, server, made)
        read_us = reads(postgres, server)
        server.stop()
        far_away(postgres)
    failover()
    print("service times, for tools/capacity/times: microseconds of CPU")
    for name, value in (("read server", read_us[0]), ("read database", read_us[1]), ("create server", create_us[0]), ("create database", create_us[1])):
        print(f"{name:16s} {value:.0f}")
