"""test/direct/frames.py - a client of Direct mode in small: what HTTP says in words, in frames.

Its tables are its own, so that a wrong row of src/frame/tokens.def is seen here.
"""
import itertools
import os
import re
import socket
import ssl
import struct
import sys
import urllib.parse
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "wire")]

import client as wire

FIXED = {0: "<B", 1: "<H", 2: "<I", 3: "<i", 4: "<Q", 5: "<q", 13: "<f", 14: "<d"}
LENGTHS = {7: "<B", 8: "<H", 9: "<I", 10: "<B", 11: "<H", 12: "<I"}
BYTE, ULONG, SMALL, STRING, BYTES = 0, 2, 7, 8, 11

RESOURCES = {"dbs": 1, "colls": 2, "docs": 3, "attachments": 4, "users": 5, "permissions": 6, "sprocs": 7, "conflicts": 8}
NAMES = {"dbs": 0x15, "colls": 0x16, "docs": 0x17, "attachments": 0x18, "users": 0x19, "permissions": 0x1a, "sprocs": 0x1b,
         "conflicts": 0x20}
READ, READ_FEED, QUERY, UPSERT, BATCH = 0x03, 0x04, 0x0f, 0x13, 0x25
ON_ONE = {"GET": READ, "PUT": 0x06, "DELETE": 0x05, "PATCH": 0x02, "HEAD": 0x11, "POST": 0x08}
ON_LIST = {"GET": READ_FEED, "POST": 0x01, "HEAD": 0x12}
MARKS = {"x-ms-documentdb-isquery": QUERY, "x-ms-documentdb-is-upsert": UPSERT, "x-ms-cosmos-is-batch-request": BATCH}

# What SDKs send in frames, by resource: (operations on one, operations on the list). Everything else they send over HTTP.
SENT = {"dbs": ({"GET"}, {"GET", QUERY}), "colls": (set(), {"GET", QUERY}), "users": ({"GET", "PUT"}, {"GET", QUERY}),
        "permissions": ({"GET", "PUT", "DELETE"}, {"GET", QUERY}), "conflicts": ({"GET", "DELETE"}, {"GET", QUERY}),
        "attachments": ({"GET", "PUT", "DELETE"}, {"GET", "POST", QUERY, UPSERT}), "sprocs": ({"POST"}, set()),
        "docs": ({"GET", "PUT", "DELETE", "PATCH", "HEAD"}, {"GET", "POST", "HEAD", QUERY, UPSERT, BATCH})}

# And what the server calls them, of which test/wire has a case each; HEAD is test/direct's.
OPERATIONS = {"%s_%s" % (name, what) for name, whats in (
    ("database", "read list query"), ("container", "list query"), ("user", "read replace list query"),
    ("permission", "read replace delete list query"), ("conflict", "read delete list query"),
    ("attachment", "create read replace upsert delete list query"),
    ("document", "create read replace upsert patch delete list query batch"), ("procedure", "execute"))
              for what in whats.split()}
COUNTED = re.compile(r'^orrery_requests_direct_total{operation="(\w+)"}', re.MULTILINE)


def not_asked(metrics):
    """Which of them the server was never asked in frames."""
    return sorted(OPERATIONS - set(COUNTED.findall(metrics)))


TRUTH = {"true": 1, "false": 0}
TEXTS = {"authorization": 0x01, "x-ms-session-token": 0x05, "x-ms-continuation": 0x06, "x-ms-documentdb-partitionkey": 0x2b,
         "x-ms-documentdb-partitionkeyrangeid": 0x2c, "x-ms-documentdb-collection-rid": 0x35, "a-im": 0x3f,
         "if-modified-since": 0x47, "x-ms-cosmos-intended-collection-rid": 0x9d, "x-ms-documentdb-pre-trigger-include": 0x09,
         "x-ms-documentdb-post-trigger-include": 0x0a, "x-ms-cosmos-changefeed-wire-format-version": 0xb2}
FLAGS = {"x-ms-documentdb-populatequerymetrics": 0x42, "x-ms-cosmos-batch-atomic": 0x73,
         "x-ms-cosmos-batch-continue-on-error": 0x74, "x-ms-documentdb-script-enable-logging": 0x3e,
         "x-ms-cosmos-populateindexmetrics": 0xa9, "x-ms-cosmos-populateindexmetrics-v2": 0xc2,
         "x-ms-documentdb-populatequotainfo": 0x40, "x-ms-exclude-system-properties": 0x57,
         "x-ms-cosmos-query-optimisticdirectexecute": 0xc8}
NUMBERS = {"x-ms-max-item-count": 0x04, "x-ms-documentdb-responsecontinuationtokenlimitinkb": 0x43, "x-ms-documentdb-expiry-seconds": 0x14}
CHOICES = {"x-ms-indexing-directive": (0x07, {"default": 0, "include": 1, "exclude": 2}),
           "x-ms-read-key-type": (0x64, {"resourceid": 1, "effectivepartitionkey": 2, "effectivepartitionkeyrange": 3}),
           "prefer": (0x82, {"return=minimal": 1, "return=representation": 0}),
           "x-ms-documentdb-content-serialization-format": (0x65, {"jsontext": 0, "cosmosbinary": 1, "hybridrow": 2}),
           "x-ms-cosmos-supported-serialization-formats": (0xc4, {"jsontext": 1, "cosmosbinary": 2, "jsontext,cosmosbinary": 3,
                                                                  "hybridrow": 4})}
EPKS = {"x-ms-start-epk": 0x62, "x-ms-end-epk": 0x63}
SAID_BY_THE_OPERATION = {"content-type", "x-ms-documentdb-query-enablecrosspartition", "x-ms-version"} | set(MARKS)

ANSWERS = {0x03: "x-ms-continuation", 0x04: "etag", 0x0c: "x-ms-retry-after-ms", 0x0e: "x-ms-resource-quota",
           0x0f: "x-ms-resource-usage", 0x13: "lsn", 0x14: "x-ms-item-count", 0x15: "x-ms-request-charge",
           0x17: "x-ms-alt-content-path", 0x18: "x-ms-content-path", 0x1c: "x-ms-substatus",
           0x21: "x-ms-documentdb-partitionkeyrangeid", 0x25: "x-ms-documentdb-script-log-results",
           0x28: "x-ms-documentdb-query-metrics", 0x32: "x-ms-item-lsn", 0x44: "x-ms-cosmos-index-utilization",
           0x51: "x-ms-request-duration-ms", 0x66: "x-ms-cosmos-query-requiresdistribution"}
SAME_LSN = (0x1a, 0x29, 0x3a, 0x3b)


class NotDirect(Exception):
    """HTTP has no other words for this here."""


def token(number, kind, value):
    head = struct.pack("<HB", number, kind)
    if kind in LENGTHS:
        data = value if isinstance(value, bytes) else value.encode("utf-8")
        if len(data) >= 1 << 8 * struct.calcsize(LENGTHS[kind]):
            raise NotDirect("a value of %d bytes" % len(data))
        return head + struct.pack(LENGTHS[kind], len(data)) + data
    return head + struct.pack(FIXED[kind], value)


def frame(resource, operation, tokens, payload=None, activity=None):
    """The bytes of a request; `tokens` are bytes already."""
    body = b"".join(tokens)
    head = struct.pack("<IHH", 24 + len(body), resource, operation) + (activity or uuid.uuid4()).bytes_le + body
    return head if payload is None else head + struct.pack("<I", len(payload)) + payload


def tokens_of(data):
    """{number: value} of the bytes behind a frame's fixed fields."""
    found, at = {}, 0
    while at < len(data):
        number, kind = struct.unpack_from("<HB", data, at)
        at += 3
        if kind == 6:
            found[number], at = data[at:at + 16], at + 16
        elif kind in FIXED:
            found[number], = struct.unpack_from(FIXED[kind], data, at)
            at += struct.calcsize(FIXED[kind])
        else:
            size, = struct.unpack_from(LENGTHS[kind], data, at)
            at += struct.calcsize(LENGTHS[kind])
            found[number] = data[at:at + size] if kind >= 10 else data[at:at + size].decode("utf-8")
            at += size
    assert at == len(data), "a token goes beyond its frame"
    return found


def greeting(version="2020-07-15", protocol=1):
    return frame(0, 0, [token(0, ULONG, protocol), token(1, SMALL, version), token(2, SMALL, "test/direct")])


class Frames:
    """A connection: frames out, frames in."""

    def __init__(self, address, secure=False, greets=True):
        self.socket = socket.create_connection(address, 30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if secure:
            self.socket = ssl._create_unverified_context().wrap_socket(self.socket)
        self.numbers = itertools.count(1)
        if greets:
            self.socket.sendall(greeting())
            self.hello = self.receive()

    def take(self, size):
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise ConnectionResetError("the server has closed the connection")
            data += part
        return data

    def receive(self):
        """(status, tokens, payload, activity id)"""
        size, status = struct.unpack("<II", self.take(8))
        activity = uuid.UUID(bytes_le=self.take(16))
        tokens = tokens_of(self.take(size - 24))
        payload = self.take(struct.unpack("<I", self.take(4))[0]) if tokens.get(0) and 0x35 in tokens else b""
        return status, tokens, payload, activity

    def ask(self, resource, operation, tokens, payload=None):
        self.socket.sendall(frame(resource, operation, [*tokens, token(0x4d, ULONG, next(self.numbers))], payload))
        return self.receive()

    def close(self):
        self.socket.close()


def path_tokens(target):
    """The resource, whether its list is meant, and the tokens that name it."""
    parts = urllib.parse.urlsplit(target).path.strip("/").split("/")
    types, ids = parts[0::2], [urllib.parse.unquote(part) for part in parts[1::2]]
    if types[-1] not in RESOURCES or any(kind not in NAMES for kind in types) or "?" in target:
        raise NotDirect(target)
    return RESOURCES[types[-1]], len(types) > len(ids), [token(NAMES[kind], STRING, name) for kind, name in zip(types, ids)]


def number_of(text, least):
    if not text.lstrip("-").isdigit() or not least <= int(text) < 2**31:
        raise NotDirect(text)
    return int(text) % 2**32


def header_token(name, value, operation):
    lower = name.lower()
    if lower in ("if-match", "if-none-match"):
        if (lower == "if-none-match") != (operation in (READ, READ_FEED)):
            raise NotDirect(name)
        return token(0x08, STRING, value)
    if lower == "x-ms-date":
        return token(0x03, SMALL, value)
    if lower in TEXTS:
        return token(TEXTS[lower], STRING, value)
    if lower in FLAGS and value.lower() in TRUTH:
        return token(FLAGS[lower], BYTE, TRUTH[value.lower()])
    if lower in NUMBERS:
        return token(NUMBERS[lower], ULONG, number_of(value, -1 if lower == "x-ms-max-item-count" else 0))
    if lower in EPKS:
        return token(EPKS[lower], BYTES, value)
    if lower in CHOICES and value.lower() in CHOICES[lower][1]:
        return token(CHOICES[lower][0], BYTE, CHOICES[lower][1][value.lower()])
    raise NotDirect(name)


def operation_of(method, is_list, headers):
    marks = [MARKS[name.lower()] for name, value in headers if name.lower() in MARKS and value.lower() == "true"]
    if method == "POST" and is_list and marks:
        return marks[0]
    table = ON_LIST if is_list else ON_ONE
    if method not in table or marks:
        raise NotDirect(method)
    return table[method]


def request_of(method, target, headers, body):
    """(resource, operation, tokens, payload), or NotDirect."""
    resource, is_list, tokens = path_tokens(target)
    names = [name.lower() for name, _ in headers]
    if len(set(names)) < len(names) or any(name == "x-ms-version" and value != "2020-07-15" for name, value in headers):
        raise NotDirect("headers")
    operation = operation_of(method, is_list, headers)
    sent = SENT[target.partition("?")[0].strip("/").split("/")[-1 if is_list else -2]][is_list]
    if (operation if operation in MARKS.values() else method) not in sent:
        raise NotDirect(target)
    if any(name.lower() == "content-type" and "json" != value.partition("/")[2].split("+")[-1] for name, value in headers):
        raise NotDirect("media")
    tokens += [header_token(name, value, operation) for name, value in headers if name.lower() not in SAID_BY_THE_OPERATION]
    tokens.append(token(0x02, BYTE, 1 if body else 0))
    return resource, operation, tokens, body or None


def number_text(value, number):
    if number == 0x66:
        return "True" if value else "False"
    return ("%.3f" % value).rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def headers_of(tokens):
    """The headers that HTTP would have; all LSNs are one."""
    headers = [(name, number_text(tokens[number], number)) for number, name in ANSWERS.items() if number in tokens]
    assert all(tokens[number] == tokens[0x13] for number in SAME_LSN) and tokens[0x13] >= 1, tokens
    assert tokens[0x1f] == 1 and tokens[0x30] == 0, tokens
    if 0x3e in tokens:
        headers.append(("x-ms-session-token", tokens[0x21] + ":" + tokens[0x3e]))
    if 0x32 in tokens:
        assert tokens[0x3c] == tokens[0x32]
    return headers


class DirectClient(wire.Client):
    """As the client of HTTP, but for what can be said in frames."""

    def __init__(self, url):
        super().__init__(url)
        self.frames, self.sent = None, 0

    def close(self):
        super().close()
        if self.frames:
            self.frames.close()
        self.frames = None

    def send(self, method, target, headers, body):
        try:
            request = request_of(method, target, headers, body)
        except NotDirect:
            return super().send(method, target, headers, body)
        if not self.frames:
            self.frames = Frames(self.address)
        self.sent += 1
        status, tokens, payload, _ = self.frames.ask(*request)
        return status, "", headers_of(tokens), payload
