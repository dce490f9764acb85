"""tools/bench/direct.py - the part direct: the same work over HTTP and in Direct mode, and what it costs the server."""
import json
import os
import re
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import time

from rig import BUILD, EMULATOR_KEY, ROOT, ROUNDS, SCRATCH, SECONDS, Server, cpu_seconds

sys.path.append(os.path.join(ROOT, "test", "direct"))
import frames
from frames import BYTE, SMALL, STRING, ULONG, Frames, frame, token, wire

KEY = '["a"]'
LENGTH = re.compile(rb"content-length: (\d+)\r\n", re.I)


class Http:
    """A connection with one request in flight."""

    def __init__(self, address):
        self.socket, self.rest = socket.create_connection(address), b""

    def send(self, request):
        self.socket.sendall(request)

    def receive(self):
        while b"\r\n\r\n" not in self.rest:
            self.rest += self.socket.recv(65536)
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        size = int(LENGTH.search(head + b"\r\n").group(1))
        while len(self.rest) < size:
            self.rest += self.socket.recv(65536)
        self.rest = self.rest[size:]
        return int(head[9:12])


class Direct:
    """A connection with as many as are sent."""

    def __init__(self, address):
        self.socket, self.rest = Frames(address).socket, b""

    def send(self, request):
        self.socket.sendall(request)

    def take(self, size):
        while len(self.rest) < size:
            self.rest += self.socket.recv(65536)
        taken, self.rest = self.rest[:size], self.rest[size:]
        return taken

    def receive(self):
        size, status = struct.unpack("<II", self.take(8))
        self.take(size - 8)
        self.take(struct.unpack("<I", self.take(4))[0])  # every answer here has a payload
        return status


def signed(verb, kind, link):
    date = wire.date_of()
    return date, wire.encoded(wire.authorization(EMULATOR_KEY, verb, kind, link, (date, "")))


def http_request(method, target, body=b""):
    date, token_text = signed(method, *wire.resource_of(target))
    head = "%s %s HTTP/1.1\r\nHost: localhost\r\nauthorization: %s\r\nx-ms-date: %s\r\nx-ms-version: 2020-07-15\r\n" \
           "x-ms-documentdb-partitionkey: %s\r\nContent-Length: %d\r\n\r\n" % (method, target, token_text, date, KEY, len(body))
    return head.encode() + body


def direct_request(method, target, body=b""):
    date, token_text = signed(method, *wire.resource_of(target))
    resource, is_list, names = frames.path_tokens(target)
    operation = frames.ON_LIST[method] if is_list else frames.ON_ONE[method]
    tokens = [token(0x01, STRING, token_text), token(0x02, BYTE, 1 if body else 0), token(0x03, SMALL, date),
              token(0x13, STRING, "/c/0/0p"), *names, token(0x2b, STRING, KEY), token(0x4d, ULONG, 1)]
    return frame(resource, operation, tokens, body or None)


def measure(server, connections, each, requests, status):
    """Requests a second, and CPU microseconds of the server for each. `requests` gives the next one."""
    began, before, count = time.monotonic(), cpu_seconds(server.pid), 0
    while time.monotonic() - began < SECONDS:
        for connection in connections:
            connection.send(b"".join(requests() for _ in range(each)))
        for connection in connections:
            for _ in range(each):
                if connection.receive() != status:
                    sys.exit("an answer was no success")
                count += 1
    return count / (time.monotonic() - began), 1e6 * (cpu_seconds(server.pid) - before) / count


def compare(server, name, in_flight, make, status, limit):
    """HTTP with a connection for each request in flight, Direct mode with four."""
    address = ("127.0.0.1", server.port)
    sides = {"http": ([Http(address) for _ in range(in_flight)], 1, make(http_request)),
             "direct": ([Direct(address) for _ in range(4)], in_flight // 4, make(direct_request))}
    found = {side: [] for side in sides}
    for _ in range(ROUNDS):
        for side, (connections, each, requests) in sides.items():
            found[side].append(measure(server, connections, each, requests, status))
    print("%s, %d in flight, plain (median of %d)" % (name, in_flight, ROUNDS))
    middle = {side: [statistics.median(column) for column in zip(*rows)] for side, rows in found.items()}
    for side, (rate, cost) in middle.items():
        print(f"  {side:8s} {rate:8.0f}/s by a slow client   {cost:6.2f} us CPU a request")
    print(f"  direct by http, CPU of the server  {middle['direct'][1] / middle['http'][1]:.2f} (at most {limit})")


def reads(request):
    made = request("GET", "/dbs/d/colls/c/docs/0")
    return lambda: made


def creates(request, numbers=iter(range(10**9))):
    """Signatures are of the list, so that one is good for all."""
    made = request("POST", "/dbs/d/colls/c/docs", document(10**9))
    return lambda: made.replace(b"%012d" % 10**9, b"%012d" % (next(numbers) + 1))


def document(number):
    return json.dumps({"id": "%012d" % number, "pk": "a", "text": "x" * 960}).encode()


def compare_in_java():
    """The same program by the SDK for Java, over https and in Direct mode, which are both over TLS."""
    jars, made = os.path.join(BUILD, "sdk", "java", "jars"), os.path.join(SCRATCH, "java")
    if not os.path.isdir(jars) or not shutil.which("javac"):
        print("point reads by the SDK for Java: skipped, tools/test-sdks java-direct has not fetched it")
        return
    path, store, data = os.pathsep.join([made, os.path.join(jars, "*")]), os.path.join(SCRATCH, "trust.p12"), os.path.join(SCRATCH, "java-data")
    subprocess.run(["javac", "-encoding", "UTF-8", "-d", made, "-cp", path, os.path.join(ROOT, "tools", "bench", "Latency.java")], check=True)
    server = Server(data, core=None)
    fill(server)
    subprocess.run(["keytool", "-importcert", "-noprompt", "-alias", "orrery", "-file", os.path.join(data, "tls", "cert.pem"), "-keystore",
                    store, "-storetype", "PKCS12", "-storepass", "changeit"], check=True, capture_output=True)
    out = subprocess.run(["java", "-Djavax.net.ssl.trustStore=" + store, "-Djavax.net.ssl.trustStorePassword=changeit",
                          "-Djavax.net.ssl.trustStoreType=PKCS12", "-cp", path, "Latency"], check=True, capture_output=True, text=True,
                         env={**os.environ, "ENDPOINT": "https://localhost:%d/" % server.port, "KEY": EMULATOR_KEY, "ROUNDS": str(ROUNDS),
                              "SECONDS_EACH": str(SECONDS)}).stdout
    server.stop()
    middle = {}
    print("point reads of 1 KB by the SDK for Java, one at a time, %d rounds in turns" % ROUNDS)
    for name, half, most, count in (line.split() for line in out.splitlines()):
        middle[name] = float(half)
        print(f"  {name:8s} p50 {half} ms   p99 {most} ms   of {count}")
    print(f"  direct by gateway, p50  {middle['direct'] / middle['gateway']:.2f} (at most 1.0)")


def fill(server):
    peer = wire.Signed(server.url, EMULATOR_KEY)
    for target, body in (("/dbs", {"id": "d"}), ("/dbs/d/colls", {"id": "c", "partitionKey": {"paths": ["/pk"], "kind": "Hash"}}),
                         ("/dbs/d/colls/c/docs", {"id": "0", "pk": "a", "text": "x" * 960})):
        status, _, text = peer.ask("POST", target, [("x-ms-documentdb-partitionkey", KEY)] if "docs" in target else [], body)
        if status != 201:
            sys.exit(text)


def bench_direct():
    server = Server(os.path.join(SCRATCH, "direct"))
    fill(server)
    compare(server, "point reads of 1 KB", 64, reads, 200, 0.8)
    compare(server, "durable creates of 1 KB", 16, creates, 201, 1.0)
    server.stop()
    compare_in_java()
