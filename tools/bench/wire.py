"""tools/bench/wire.py - the parts tls, http2 and cores: what bytes on the wire and more cores cost a request.

Compared is the server's CPU time for each request: the generator shares the machine, and wrk, h2load and Node.js differ more in how
fast they ask than the servers do in how fast they answer.
"""
import os
import re
import socket
import ssl
import statistics
import subprocess
import sys

from nginx import Nginx
from rig import BUILD, CREATES_A_SECOND, EMULATOR_KEY, ROOT, ROUNDS, SCRATCH, SECONDS, Server, cpu_seconds, load, on_core, requests_file, wrk
import sharing

sys.path.append(os.path.join(ROOT, "test", "wire"))
import client

ITEMS = 10000
IN_FLIGHT = {"read": 64, "create": 16}


def tls_of(url):
    """The version and the cipher that a client agrees on with a server."""
    context = ssl._create_unverified_context()
    with socket.create_connection(("127.0.0.1", int(url.rsplit(":", 1)[1]))) as plain, context.wrap_socket(plain) as made:
        return made.version(), made.cipher()[0]


def secure(server):
    return server.url.replace("http:", "https:")


def server_with_tls(name, core=0):
    """With nginx's certificate: one with another kind of key signs faster, or slower."""
    return Server(os.path.join(SCRATCH, name), core=core, options=["--tls-cert", Nginx.certificate, "--tls-key", Nginx.key])


def in_turns(sides):
    """{side: (requests a second, CPU microseconds a request)}: each side's ask() is called once a round, and the medians are taken."""
    found = {side: [] for side in sides}
    for _ in range(ROUNDS):
        for side, ask in sides.items():
            found[side].append(ask()[:2])
    return {side: tuple(map(statistics.median, zip(*rows))) for side, rows in found.items()}


def tell(found):
    for side, (rate, cost) in found.items():
        print(f"  {side:34s} {rate:8.0f}/s   {cost:7.2f} us CPU a request")


# --- tls ---

class Creates:
    """New ones each time."""

    def __init__(self, start):
        self.made = start

    def file(self, count):
        path = requests_file("create", self.made, count)
        self.made += count
        return path


def tls_sides(kind, nginx, server, creates):
    def ours(url):
        requests = requests_file("read", 0, 5000, ITEMS) if kind == "read" else creates.file(CREATES_A_SECOND * SECONDS)
        return wrk(server.pid, url, IN_FLIGHT[kind], "replay.lua", requests)

    def theirs(url):
        if kind == "read":
            return wrk(nginx.pid, url, IN_FLIGHT[kind], "pointread.lua")
        return wrk(nginx.pid, url, IN_FLIGHT[kind], "replay.lua", requests_file("create", 0, 5000))

    return {"nginx, http": lambda: theirs(nginx.url), "nginx, https": lambda: theirs(nginx.tls_url),
            "orrery, http": lambda: ours(server.url), "orrery, https": lambda: ours(secure(server))}


def tell_tls(found):
    cost = {side: row[1] for side, row in found.items()}
    tell(found)
    print(f"  efficiency of nginx's: http {cost['nginx, http'] / cost['orrery, http']:.2f}"
          f"   https {cost['nginx, https'] / cost['orrery, https']:.2f}"
          f"   TLS adds {cost['orrery, https'] - cost['orrery, http']:.1f} us here and {cost['nginx, https'] - cost['nginx, http']:.1f} us there")


def bench_tls():
    nginx = Nginx()
    server, creates = server_with_tls("tls"), Creates(ITEMS)
    load(server, ITEMS)
    agreed = [tls_of(url) for url in (nginx.tls_url, secure(server))]
    if agreed[0] != agreed[1]:
        sys.exit(f"the two do not agree on the same: {agreed}")
    print(f"https, {agreed[0][0]}, {agreed[0][1]}, connections kept, both servers on one core (medians of {ROUNDS})")
    print(f" point reads of 1 KB, {IN_FLIGHT['read']} connections; nginx sends the same bytes (https at least 0.8, http 0.85)")
    tell_tls(in_turns(tls_sides("read", nginx, server, creates)))
    print(f" durable creates of 1 KB, {IN_FLIGHT['create']} connections; nginx takes the same bytes, and keeps nothing of them")
    tell_tls(in_turns(tls_sides("create", nginx, server, creates)))
    server.stop()
    nginx.stop()


# --- http2 ---

def h2load(pid, url, words, headers):
    """Requests a second, CPU microseconds a request, of one item: h2load repeats its headers, which HTTP/2 packs well."""
    before = cpu_seconds(pid)
    out = subprocess.run(on_core(1, ["h2load", "-t1", f"-D{SECONDS}", *words, *(word for header in headers for word in ("-H", header)), url]),
                         check=True, capture_output=True, text=True).stdout
    spent = cpu_seconds(pid) - before
    found = re.search(r"(\d+) total, \d+ started, (\d+) done, (\d+) succeeded", out)
    done = int(found.group(2))
    if done == 0 or found.group(3) != found.group(2):
        sys.exit(f"h2load {' '.join(words)}: not all of its requests were answered with success\n{out}")
    return done / SECONDS, 1e6 * spent / done


def signed_headers(target, key):
    date = client.date_of()
    token = client.authorization(EMULATOR_KEY, "GET", *client.resource_of(target), (date, ""))
    return [f"authorization: {client.encoded(token)}", f"x-ms-date: {date}", f"x-ms-version: {client.VERSION}",
            f'x-ms-documentdb-partitionkey: ["{key}"]', "Accept: application/json", "Cache-Control: no-cache"]


def by_node(server, url, version, connections, kind, requests):
    """The same, by a slow client whose requests are all different ones."""
    before = cpu_seconds(server.pid)
    words = [url, version, str(connections), str(IN_FLIGHT[kind]), str(SECONDS), requests] + ["once"] * (kind == "create")
    out = subprocess.run(on_core(1, ["node", os.path.join(ROOT, "tools", "bench", "http2.mjs"), *words]), check=True, capture_output=True,
                         text=True, env=dict(os.environ, NODE_NO_WARNINGS="1")).stdout
    spent = cpu_seconds(server.pid) - before
    answered, failed = map(int, out.split())
    if failed:
        sys.exit(f"{failed} of {answered} requests over HTTP/{version} failed")
    return answered / SECONDS, 1e6 * spent / answered


ONE, MANY, FEW = ["--h1", "-c64"], ["-c1", "-m64"], ["-c4", "-m16"]  # 64 in flight each


def compare_versions(nginx, server, scheme):
    target, urls = "/dbs/bench/colls/c/docs/doc-7", {"http": (nginx.url, server.url), "https": (nginx.tls_url, secure(server))}[scheme]
    headers = signed_headers(target, "tenant-7")
    found = in_turns({"orrery, HTTP/1.1, 64 connections": lambda: h2load(server.pid, urls[1] + target, ONE, headers),
                      "orrery, HTTP/2, 1 connection": lambda: h2load(server.pid, urls[1] + target, MANY, headers),
                      "orrery, HTTP/2, 4 connections": lambda: h2load(server.pid, urls[1] + target, FEW, headers),
                      "nginx, HTTP/2, 4 connections": lambda: h2load(nginx.pid, urls[0] + target, FEW, headers)})
    cost = {side: row[1] for side, row in found.items()}
    print(f" point reads of one item, {scheme}, 64 in flight, by h2load")
    tell(found)
    print("  HTTP/2 by HTTP/1.1: " + ", ".join(f"{cost[f'orrery, HTTP/2, {n}'] / cost['orrery, HTTP/1.1, 64 connections']:.2f} over {n}"
                                              for n in ("1 connection", "4 connections")) +
          f" (at most 1.00)   nginx's by ours {cost['nginx, HTTP/2, 4 connections'] / cost['orrery, HTTP/2, 4 connections']:.2f}")


def compare_by_node(server, kind, creates):
    def requests():
        return creates.file(8000 * SECONDS) if kind == "create" else requests_file("read", 0, 5000, ITEMS)

    found = in_turns({"HTTP/1.1": lambda: by_node(server, secure(server), "1", IN_FLIGHT[kind], kind, requests()),
                      "HTTP/2, 4 connections": lambda: by_node(server, secure(server), "2", 4, kind, requests())})
    print(f" {kind}s that are all different, https, {IN_FLIGHT[kind]} in flight, by Node.js")
    tell(found)
    print(f"  HTTP/2 by HTTP/1.1: {found['HTTP/2, 4 connections'][1] / found['HTTP/1.1'][1]:.2f} (at most 1.00)")


def bench_http2():
    nginx = Nginx(http2=True)
    server, creates = server_with_tls("http2"), Creates(ITEMS)
    load(server, ITEMS)
    print(f"HTTP/2 and HTTP/1.1, signed requests of 1 KB, the server on one core (medians of {ROUNDS})")
    for scheme in ("http", "https"):
        compare_versions(nginx, server, scheme)
    for kind in IN_FLIGHT:
        compare_by_node(server, kind, creates)
    server.stop()
    nginx.stop()


# --- cores ---

def bench_cores():
    """What two cores can show of many: a request costs no more on two than on one, so that twice the cores serve twice as much; and what
    all threads write, which on two cores costs little and on sixty-four a lot, is counted, by the instructions."""
    servers = {}
    for cores in ("0", "0,1"):
        servers[cores] = Server(os.path.join(SCRATCH, "cores-" + cores), core=cores)
        load(servers[cores], ITEMS)
    requests = requests_file("read", 0, 5000, ITEMS)
    found = in_turns({f"cores {cores}": lambda server=server: wrk(server.pid, server.url, 64, "replay.lua", requests, core=None)
                      for cores, server in servers.items()})
    for server in servers.values():
        server.stop()
    print(f"point reads of 1 KB, 64 connections, wrk on the same two cores (medians of {ROUNDS})")
    tell(found)
    print(f"  two cores by one, of what a core's time serves  {2 * found['cores 0'][1] / found['cores 0,1'][1]:.2f}")
    tell_inside()
    sharing.tell()


INSIDE_READS = 40000


def reads_inside(cores):
    """Reads a second of a program with the database inside, by a thread for each core: no load shares the cores with it."""
    data = os.path.join(SCRATCH, "inside-" + cores)
    command = [os.path.join(BUILD, "bench/bench-embedded"), "--threads", data, str(4 * ROUNDS), str(INSIDE_READS), str(len(cores.split(",")))]
    out = subprocess.run(on_core(cores, command), check=True, capture_output=True, text=True).stdout
    return float(re.search(r"reads_per_second (\S+)", out).group(1))


def tell_inside():
    one, two = reads_inside("0"), reads_inside("0,1")
    print(f"point reads of one item inside a program: {one:.0f}/s by one thread on one core, {two:.0f}/s by two on two; two by one {two / one:.2f}"
          " (at least 1.8)")
