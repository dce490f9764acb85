"""tools/bench/record.py - what --record costs: two servers, one with it, asked in turn; processor time for each request."""
import json
import os
import socket
import statistics
import sys

from rig import EMULATOR_KEY, ROOT, ROUNDS, SCRATCH, Server

sys.path.append(os.path.join(ROOT, "test", "wire"))
import client

ITEMS, PIPELINED, REQUESTS = 2000, 50, 10000
DOCS = "/dbs/d/colls/c/docs"


def spent_us(pid):
    """Of all threads, to the nanosecond: ticks of the clock are too long."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat") as file:
            total += int(file.read().split()[0])
    return total / 1000


def request(method, target, key, body=b"", more=()):
    date = client.date_of()
    token = client.authorization(EMULATOR_KEY, method, *client.resource_of(target), (date, ""))
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost", "x-ms-version: 2020-07-15", f"x-ms-date: {date}",
             f"authorization: {client.encoded(token)}", f'x-ms-documentdb-partitionkey: ["{key}"]', f"Content-Length: {len(body)}", *more, "", ""]
    return "\r\n".join(lines).encode() + body


def send(server, requests):
    """One connection, some requests at a time."""
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        for at in range(0, len(requests), PIPELINED):
            part, answers = requests[at:at + PIPELINED], b""
            connection.sendall(b"".join(part))
            while answers.count(b"HTTP/1.1 2") < len(part):
                answers += connection.recv(1 << 20)
                if b"HTTP/1.1 4" in answers or b"HTTP/1.1 5" in answers:
                    sys.exit("refused: " + answers.decode(errors="replace")[:500])


def item(name, n):
    return json.dumps({"id": f"{name}{n}", "k": f"key-{n % 200}", "name": f"person {n}", "text": "x" * 900}).encode()


def creates(name, count):
    return [request("POST", DOCS, f"key-{n % 200}", item(name, n)) for n in range(count)]


def reads(count):
    return [request("GET", f"{DOCS}/i{n % ITEMS}", f"key-{n % ITEMS % 200}") for n in range(count)]


def cost(server, requests):
    before = spent_us(server.pid)
    send(server, requests)
    return (spent_us(server.pid) - before) / len(requests)


def bench_record():
    """Both servers keep nothing on disk, where other work would hide the difference."""
    servers = [Server(os.path.join(SCRATCH, name), None, ["--store", "memory", *options]) for name, options in (("plain", []), ("record", ["--record"]))]
    for server in servers:
        account = client.Signed(server.url, EMULATOR_KEY)
        account.ask("POST", "/dbs", [], {"id": "d"})
        account.ask("POST", "/dbs/d/colls", [], {"id": "c", "partitionKey": {"paths": ["/k"], "kind": "Hash", "version": 2}})
        send(server, creates("i", ITEMS))
    for name, make in (("read", lambda turn: reads(REQUESTS)), ("create", lambda turn: creates(f"{turn}-", REQUESTS // 4))):
        rows = [[], []]
        for turn in range(5 * ROUNDS):
            requests = make(turn)
            for index in (0, 1) if turn % 2 else (1, 0):
                rows[index].append(cost(servers[index], requests))
        ratio = statistics.median(b / a for a, b in zip(*rows))
        print(f"{name:7s} plain {statistics.median(rows[0]):6.2f} us CPU, with --record {statistics.median(rows[1]):6.2f}"
              f"   ratio {ratio:.3f} (at most 1.02), least of each {min(rows[0]):.2f} {min(rows[1]):.2f}")
    for server in servers:
        server.stop()
