"""test/throughput/load.py - sends requests at a fixed pace, whether or not the answers keep up.

usage: load.py URL DATABASE CONTAINER PER_SECOND SECONDS      creates items of a kilobyte until the time is over

The pace is the clock's and not the server's: a request that is due while every connection waits for an answer is
sent late, and its time is counted from when it was due. Requests are signed before the time begins.
"""
import asyncio
import os
import sys
import time
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "wire"), os.path.dirname(HERE)]

from client import VERSION, authorization, date_of, encoded, resource_of
from server import KEY

CONNECTIONS = 64


def head_of(method, target, headers=()):
    """Everything of a request but the length of its body and the body; good for 15 minutes."""
    date = date_of()
    kind, link = resource_of(target)
    lines = ["%s %s HTTP/1.1" % (method, target), "Host: localhost", "x-ms-date: " + date, "x-ms-version: " + VERSION,
             "Authorization: " + encoded(authorization(KEY, method, kind, link, (date, "")))]
    lines += ["%s: %s" % header for header in headers]
    return "\r\n".join(lines) + "\r\n"


def request(head, body=b""):
    return b"%sContent-Length: %d\r\n\r\n%s" % (head.encode(), len(body), body)


class Connection(asyncio.Protocol):
    """One request at a time. Answers have a Content-Length; their status is all that is looked at."""

    def __init__(self, load):
        self.load, self.data, self.due = load, b"", None

    def connection_made(self, transport):
        self.transport = transport

    def send(self, due, bytes_):
        self.due = due
        self.transport.write(bytes_)

    def data_received(self, data):
        self.data += data
        end = self.data.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self.data[:end].lower()
        at = head.find(b"content-length:")
        size = int(head[at + 15:].split(b"\r\n", 1)[0]) if at >= 0 else 0
        if len(self.data) < end + 4 + size:
            return
        self.data = b""
        self.load.answered(self, int(head[9:12]))

    def connection_lost(self, problem):
        self.load.lost = problem or "closed"


class Load:
    """`make(i)` is the i-th request's bytes. times_ms and statuses are of those answered."""

    def __init__(self, url, make, per_second, seconds):
        self.place = urllib.parse.urlsplit(url)
        self.make, self.per_second, self.total = make, per_second, int(per_second * seconds)
        self.times_ms, self.statuses, self.lost = [], {}, None
        self.free, self.late, self.sent = [], [], 0

    def answered(self, connection, status):
        self.times_ms.append(1000 * (time.perf_counter() - connection.due))
        self.statuses[status] = self.statuses.get(status, 0) + 1
        self.free.append(connection)
        if self.late:
            self.dispatch(self.late.pop(0))

    def dispatch(self, due):
        if not self.free:
            self.late.append(due)
            return
        self.free.pop().send(due, self.make(self.sent))
        self.sent += 1

    async def run(self):
        loop = asyncio.get_running_loop()
        for _ in range(CONNECTIONS):
            _, connection = await loop.create_connection(lambda: Connection(self), self.place.hostname, self.place.port)
            self.free.append(connection)
        began = time.perf_counter()
        for number in range(self.total):
            due = began + number / self.per_second
            while time.perf_counter() < due:
                await asyncio.sleep(max(0, due - time.perf_counter() - 0.0005))
            self.dispatch(due)
        patience = time.perf_counter() + 30
        while len(self.times_ms) < self.total and time.perf_counter() < patience and not self.lost:
            await asyncio.sleep(0.01)
        for connection in self.free:
            connection.transport.abort()
        return self

    def percentile(self, part):
        ordered = sorted(self.times_ms)
        return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def creates(database, container):
    """Items of a kilobyte, each of another key."""
    target = "/dbs/%s/colls/%s/docs" % (database, container)
    mark = os.urandom(4).hex()

    head = (head_of("POST", target) + "x-ms-documentdb-partitionkey: ").encode()

    def make(number):
        key = "%s-%d" % (mark, number)
        body = ('{"id":"%s","pk":"%s","text":"%s"}' % (key, key, "x" * 900)).encode()
        return b'%s["%s"]\r\nContent-Length: %d\r\n\r\n%s' % (head, key.encode(), len(body), body)

    return make


def main():
    url, database, container, per_second, seconds = sys.argv[1:]
    load = asyncio.run(Load(url, creates(database, container), float(per_second), float(seconds)).run())
    print(" ".join("%d:%d" % pair for pair in sorted(load.statuses.items())))


if __name__ == "__main__":
    main()
