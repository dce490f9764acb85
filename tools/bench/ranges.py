"""tools/bench/ranges.py - what partition key ranges cost: a sorted query over 50 of them, writes while they split.

The query is drained through the JavaScript SDK, which asks each range for pages and merges them; one range and 50 take turns in
the same process. Writes are 16 durable creates in flight; at rest and while one client splits and merges without a pause, in
turns. The server has all cores, as its load has.
"""
import json
import os
import statistics
import subprocess
import sys
import threading

from rig import CREATES_A_SECOND, EMULATOR_KEY, ROOT, ROUNDS, SCRATCH, SECONDS, Server, load, requests_file, wrk

sys.path.append(os.path.join(ROOT, "test", "wire"))
import client as clients

ITEMS, RANGES, LIVE_MAX = 20000, 50, 20


def bench_sorted():
    server = Server(os.path.join(SCRATCH, "sorted"), core=None)
    out = subprocess.run(["node", os.path.join(ROOT, "tools/bench/ranges.mjs"), server.url, EMULATOR_KEY, str(ITEMS), str(RANGES),
                          str(ROUNDS)], cwd=os.path.join(ROOT, "test/sdk/js"), capture_output=True, text=True, check=True).stdout
    for row in json.loads(out):
        one, many = (statistics.median(row[name]) for name in ("one", "many"))
        print(f"{row['query']:52s} one range {one:7.1f} ms   {RANGES} ranges {many:7.1f} ms   {many / one:5.2f} times (at most 2)")
    server.stop()


class Splitter(threading.Thread):
    """Splits and merges until it is told to stop; counts."""

    def __init__(self, url, container="dbs/bench/colls/c"):
        super().__init__()
        self.container, self.client, self.ended, self.changes = container, clients.Signed(url, EMULATOR_KEY), threading.Event(), 0

    def ask(self, command, body):
        status, _, text = self.client.ask("POST", "/_orrery/" + command, [], {"container": self.container, **body})
        if status != 200:
            sys.exit(f"{command} answered {status}: {text}")
        self.changes += 1
        return json.loads(text)["ranges"]

    def run(self):
        while not self.ended.is_set():
            live = self.ask("split", {})
            if len(live) >= LIVE_MAX:
                self.ask("merge", {"ranges": [each["id"] for each in live]})


def bench_writes():
    server = Server(os.path.join(SCRATCH, "splitting"), core=None)
    load(server, 10)
    rest, storm, made, changes = [], [], 10, 0
    for turn in range(2 * ROUNDS):
        requests = requests_file("create", made, CREATES_A_SECOND * SECONDS)
        made += CREATES_A_SECOND * SECONDS
        splitter = Splitter(server.url)
        if turn % 2:
            splitter.start()
        (storm if turn % 2 else rest).append(wrk(server.pid, server.url, 16, "replay.lua", requests, core=None))
        splitter.ended.set()
        if turn % 2:
            splitter.join()
        changes += splitter.changes
        os.remove(requests)
    ratio = statistics.median(b[0] / a[0] for a, b in zip(rest, storm))
    for name, rows in (("at rest", rest), ("while splitting", storm)):
        print(f"durable creates of 1 KB {name:16s} {statistics.median(r[0] for r in rows):8.0f}/s   p50 {rows[-1][2]} p99 {rows[-1][3]}")
    print(f"  {ratio:.2f} of the writes at rest (at least 0.7), {changes / (ROUNDS * SECONDS):.0f} splits and merges a second")
    server.stop()


def bench_ranges():
    bench_sorted()
    bench_writes()
