"""test/security/peer.py - whoever is on the other side: signs as told, or sends bytes as they stand."""
import json
import socket
import urllib.parse

import client as clients
from server import KEY

VERSION = "2020-07-15"
PATIENCE_S = 30


class Failed(Exception):
    """What was promised did not hold."""


def check(holds, text, *values):
    if not holds:
        raise Failed(text % values if values else text)


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    def has_json_body(self):
        try:
            return isinstance(self.json(), dict)
        except ValueError:
            return False


class Peer:
    """One connection to the server; a signature may be of another verb, link, date or key than the request."""

    def __init__(self, url):
        place = urllib.parse.urlsplit(url)
        self.address = (place.hostname, place.port)
        self.client = clients.Client(url)

    def ask(self, method, target, body=None, headers=(), key=KEY, date=None, signed=None, authorization=None):
        date = date or clients.date_of()
        signed = signed or (method, *clients.resource_of(target))
        token = authorization or clients.authorization(key, *signed, (date, ""))
        names = {name.lower() for name, _ in headers}
        sent = [("authorization", clients.encoded(token)), ("x-ms-date", date), ("x-ms-version", VERSION), *headers]
        if "x-ms-documentdb-partitionkey" not in names and "/docs" in target:
            sent.append(("x-ms-documentdb-partitionkey", '["a"]'))
        data = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        status, _, answered, content = self.client.send(method, target, sent, data)
        return Answer(status, answered, content)

    def must(self, status, *arguments, **options):
        answer = self.ask(*arguments, **options)
        check(answer.status == status, "%s: %d and not %d: %s", arguments[:2], answer.status, status, answer.body[:300])
        return answer

    def connect(self):
        return socket.create_connection(self.address, PATIENCE_S)

    def raw(self, data):
        """Sends bytes; the status line's number of each answer until the server closes, and all that came."""
        with self.connect() as s:
            try:
                s.sendall(data)
                s.shutdown(socket.SHUT_WR)
                came = b"".join(iter(lambda: s.recv(65536), b""))
            except (ConnectionResetError, BrokenPipeError):
                came = b""
        statuses = [int(part[:3]) for part in came.split(b"HTTP/1.1 ")[1:]]
        return statuses, came

    def metric(self, name):
        _, came = self.raw(b"GET /_orrery/metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        lines = [line for line in came.decode().splitlines() if line.startswith("orrery_%s " % name)]
        return float(lines[0].split()[1])


def head(method, target, extra="", key=KEY, signed=None):
    """The bytes of a signed request's head; the target may be bytes that no client would send."""
    target = target if isinstance(target, bytes) else target.encode()
    date = clients.date_of()
    link = signed if signed is not None else clients.resource_of(target.decode("latin-1"))
    token = clients.encoded(clients.authorization(key, method, *link, (date, "")))
    lines = "Host: localhost\r\nauthorization: %s\r\nx-ms-date: %s\r\nx-ms-version: %s\r\n" \
            "x-ms-documentdb-partitionkey: [\"a\"]\r\n%s\r\n" % (token, date, VERSION, extra)
    return method.encode() + b" " + target + b" HTTP/1.1\r\n" + lines.encode()
