"""tools/bench/rig.py - what the parts of make bench share: a server on a core, load on another, what it cost."""
import atexit
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("BUILD", os.path.join(ROOT, "build")))
EMULATOR_KEY = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="
YARDSTICKS = os.path.abspath(os.environ.get("YARDSTICKS", os.path.join(ROOT, "..", "shared", "bench")))
SECONDS = int(os.environ.get("SECONDS_EACH", "4"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
TICKS = os.sysconf("SC_CLK_TCK")
CREATES_A_SECOND = 45000  # that a file of them has: more than any server here makes, or they would come again and be refused
SCRATCH = tempfile.mkdtemp(prefix="orrery-bench-")


def on_core(core, command):
    return command if core is None else ["taskset", "-c", str(core)] + command


def family(pid):
    """The process and its children: nginx works in one."""
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split()
    return [pid] + [q for child in found for q in family(int(child))]


def cpu_seconds(pid):
    total = 0
    for process in family(pid):
        with open(f"/proc/{process}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


def rss_mb(pid):
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) / 1024


def folder_mb(path):
    return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(path) for name in names) / 1e6


class Server:
    """An Orrery on one core, or on all, with the time it took to be ready."""

    def __init__(self, data, core=0, options=()):
        began = time.monotonic()
        self.process = subprocess.Popen(
            on_core(core, [os.path.join(BUILD, "orrery"), "serve", "--data", data, "--listen", "127.0.0.1:0", *options]),
            stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.start_ms = 1000 * (time.monotonic() - began)
        self.url = re.search(r"http://\S+", line).group(0)
        self.port = int(self.url.rsplit(":", 1)[1])
        self.pid = self.process.pid
        atexit.register(self.process.kill)  # whatever fails here, it does not stay behind

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def metric(self, name):
        with socket.create_connection(("127.0.0.1", self.port)) as s:
            s.sendall(b"GET /_orrery/metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            text = b"".join(iter(lambda: s.recv(65536), b"")).decode()
        return float(re.search(rf"^orrery_{name} (\S+)$", text, re.M).group(1))


def load(server, items, container="c"):
    out = subprocess.run(on_core(1, ["node", "setup.mjs", server.url, str(items)]), cwd=YARDSTICKS,
                         env=dict(os.environ, COSMOS_COLL=container), capture_output=True, text=True).stdout
    if " 0 failed" not in out:
        sys.exit(f"loading failed: {out}")


OUR_KINDS = ("upsert", "patch", "delete", "batch", "bulk")  # of requests; the yardsticks have the others


def requests_file(kind, start, count, items=0, container="c"):
    path = os.path.join(SCRATCH, f"{kind}-{container}-{start}-{count}")
    program = os.path.join(ROOT, "tools", "bench", "writes.mjs") if kind in OUR_KINDS else "gen.mjs"
    with open(path, "wb") as file:
        subprocess.run(["node", program, kind, str(start), str(count), *([str(items)] if items else [])], cwd=YARDSTICKS,
                       env=dict(os.environ, COSMOS_COLL=container, YARDSTICKS=YARDSTICKS), stdout=file, check=True)
    return path


def send(url, connections, script, requests=None, seconds=SECONDS, core=1):
    """How many requests were answered, how many a second, p50 and p99 as wrk prints them."""
    out = subprocess.run(on_core(core, ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", script, url]),
                         cwd=YARDSTICKS, env=dict(os.environ, REQS=requests or ""), capture_output=True, text=True).stdout
    count = int(re.search(r"(\d+) requests in", out).group(1))
    if count == 0:
        sys.exit(f"nobody answered at {url}")
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
    if bad:
        print(f"  ! {bad.group(1)} of {count} answers were no success")
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1))
    quantiles = (re.search(rf"^\s+{q}%\s+(\S+)", out, re.M) for q in (50, 99))
    return count, rate, *(found.group(1) for found in quantiles)


def wrk(pid, url, connections, script, requests=None, seconds=SECONDS, core=1):
    """Requests/s, CPU microseconds for each request, p50 and p99 as wrk prints them."""
    before = cpu_seconds(pid)
    count, rate, *quantiles = send(url, connections, script, requests, seconds, core)
    spent = cpu_seconds(pid) - before
    return rate, 1e6 * spent / count, *quantiles
