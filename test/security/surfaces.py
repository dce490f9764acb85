"""test/security/surfaces.py - attacks on Direct mode, binary JSON, full text and transactions; attacks.py has them among its own."""
import os
import socket
import struct
import sys
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "direct")]

import frames
from crowds import leave
from peer import Peer, head

COLL, DOCS, LARGE, WORDS = "/dbs/crowd/colls/c", "/dbs/crowd/colls/c/docs", "/dbs/crowd/colls/large/docs", "/dbs/crowd/colls/words/docs"
QUERY = [("x-ms-documentdb-isquery", "true"), ("content-type", "application/query+json"),
         ("x-ms-documentdb-query-enablecrosspartition", "true")]
HEAD_BYTES_MAX, BODY_BYTES_MAX = 128 << 10, 4 << 20


def push(s, data):
    try:
        s.sendall(data)
        return True
    except OSError:
        return False


def connect(field, greets=True):
    s = field.peer.connect()
    s.settimeout(5)
    if greets:
        push(s, frames.greeting())
    return s


def signed_tokens(method, target, extra=()):
    lines = head(method, target).decode("latin-1").split("\r\n")[1:]
    said = dict(line.split(": ", 1) for line in lines if ": " in line)
    headers = [(name, said[name]) for name in ("authorization", "x-ms-date", "x-ms-documentdb-partitionkey")]
    return frames.request_of(method, target, [*headers, *extra], None)


def request(field, number, method, target, extra=(), payload=None, declared=None):
    """A frame's bytes; of its payload so many bytes are declared, and what is given follows."""
    resource, operation, tokens, _ = signed_tokens(method, target, extra)
    tokens = [one for one in tokens if one[:3] != struct.pack("<HB", 2, 0)]
    tokens += [frames.token(2, frames.BYTE, 0 if declared is None else 1), frames.token(0x4d, frames.ULONG, number)]
    data = frames.frame(resource, operation, tokens)
    return data if declared is None else data + struct.pack("<I", declared) + (payload or b"")


def wait(field):
    while field.goes_on():
        time.sleep(0.1)


# ---- Direct mode ----

def direct_half_heads(field):
    """Heads of 128 KB less a byte, which need no key, and then a byte now and then."""
    body = struct.pack("<IHH", HEAD_BYTES_MAX, 3, 3) + bytes(16)
    body += b"\0" * (HEAD_BYTES_MAX - len(body) - 200)
    sockets = [connect(field) for _ in range(400)]
    ended = sum(not push(s, body) for s in sockets)
    while field.goes_on():
        ended += sum(not push(s, b"\0") for s in sockets)
        time.sleep(0.2)
    for s in sockets:
        leave(s)
    return "400 hold half a head; %d pushes found the connection ended" % ended


def direct_half_payloads(field):
    """Payloads of 4 MB less a byte, of strangers and of holders of a key."""
    content = b" " * (BODY_BYTES_MAX - 1)
    signed = request(field, 1, "POST", DOCS, declared=BODY_BYTES_MAX)
    unsigned = signed.replace(b"type%3Dmaster", b"type%3Dnobody")
    rounds = 0
    while field.goes_on():
        sockets = [connect(field) for _ in range(66)]
        for number, s in enumerate(sockets):
            push(s, (signed if number % 2 else unsigned) + content)
        rounds += 1
        for s in sockets:
            leave(s)
    return "66 hold 4 MB less a byte, %d times" % rounds


def direct_never_read(field):
    """A hundred lists of 4 MB in flight on each connection, and nothing of the answers is read."""
    data = b"".join(request(field, number, "GET", LARGE, [("x-ms-max-item-count", "-1")]) for number in range(1, 151))
    sockets = []
    for _ in range(50):
        s = connect(field)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.settimeout(0.2)
        push(s, data)
        sockets.append(s)
    wait(field)
    for s in sockets:
        leave(s)
    return "50 connections with 150 requests each"


def direct_greetings(field):
    """Greetings again and again, on new connections and on one."""
    count = 0
    while field.goes_on() and count < 20000:
        with connect(field) as s:
            push(s, frames.greeting() * field.random.choice([0, 1, 100]))
            push(s, field.random.randbytes(field.random.choice([0, 3, 1000])))
            count += 1
    return "%d connections greeted, some of them twice" % count


# ---- binary JSON ----

def string(text):
    data = text if isinstance(text, bytes) else text.encode()
    return b"\xc2" + struct.pack("<I", len(data)) + data


def array(content):
    return b"\xe4" + struct.pack("<I", len(content)) + content


def item(name, content):
    """{"id": name, "pk": "a", "x": content}"""
    members = string("id") + string(name) + string("pk") + string("a") + string("x") + content
    return b"\x80\xec" + struct.pack("<I", len(members)) + members


def binary_bombs(field):
    """References that grow a body to a thousand times its size, nesting without end, lengths and counts that are lies."""
    place = len(item("b", b"")) + 5  # of the string in the array
    grown = array(string("y" * 100000) + (b"\xc6" + struct.pack("<I", place)) * 300000)
    bodies = [item("b", grown), item("b", b"\xe1" * 1000000), item("b", b"\xe4\xff\xff\xff\xff"), item("b", b"\xe7\xff\xff\xff\xff\xff\xff\xff\xff"),
              item("b", b"\xf1\xd7\xff\xff" + bytes(65535)), item("b", b"\xf3\xf1\xd7\x01\x00\xff\xff" + bytes(65535)),
              item("b", array((b"\xf1\xd7\xff\xff" + bytes(65535)) * 60)), b"\x80" + b"\xc6\x01\x00\x00\x00",
              item("b", b"\xc6" + struct.pack("<I", place - 5)), b"\x80" + b"\xe9" * 3000000]

    def write(number):
        peer, statuses = Peer(field.url), []
        while field.goes_on() and len(statuses) < 200:
            try:
                statuses.append(peer.ask("POST", DOCS, bodies[(number + len(statuses)) % len(bodies)],
                                         [("x-ms-documentdb-is-upsert", "true")]).status)
            except OSError:
                statuses.append("closed")
                peer = Peer(field.url)
        return statuses
    return write


# ---- full text ----

def set_up(peer):
    """A container whose texts have an index."""
    peer.must(201, "POST", "/dbs/crowd/colls", {
        "id": "words", "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2},
        "fullTextPolicy": {"defaultLanguage": "en-US", "fullTextPaths": [{"path": "/text", "language": "en-US"}]},
        "indexingPolicy": {"fullTextIndexes": [{"path": "/text"}]}})
    for number in range(50):
        peer.must(201, "POST", WORDS, {"id": str(number), "pk": "a", "text": " ".join("word%d" % (number * i) for i in range(1000))})


TEXTS = [lambda n: " ".join("w%x" % (n * 300000 + i) for i in range(250000)),  # every word another one
         lambda n: "a1 " * 600000, lambda n: "x" * 1900000, lambda n: "b.c'd-" * 300000, lambda n: "\u0130\u1e9e" * 350000]


def many_words(field):
    """Texts of nearly 2 MB: a quarter of a million words, one word of 2 MB, letters that grow when they are folded."""
    def write(number):
        peer, statuses = Peer(field.url), []
        while field.goes_on() and len(statuses) < 20:
            text = TEXTS[(number + len(statuses)) % len(TEXTS)](number)
            statuses.append(peer.ask("POST", WORDS, {"id": "t%d" % number, "pk": "a", "text": text}, [("x-ms-documentdb-is-upsert", "true")]).status)
        return statuses
    return write


def keywords(count):
    return ",".join("'word%d'" % i for i in range(count))


SEARCHES = ["SELECT TOP 10 c.id FROM c ORDER BY RANK FullTextScore(c.text, %s)" % keywords(30),
            "SELECT TOP 10 c.id FROM c ORDER BY RANK RRF(%s)" % ",".join("FullTextScore(c.text, 'word%d')" % i for i in range(100)),
            "SELECT c.id FROM c WHERE FullTextContainsAny(c.text, %s)" % ",".join("{'term': 'word%d', 'distance': 2}" % i for i in range(30)),
            "SELECT c.id FROM c WHERE FullTextContainsAll(c.text, %s)" % keywords(20000),
            "SELECT c.id FROM c WHERE FullTextContains(c.text, '%s')" % ("word " * 90000),
            "SELECT TOP 1000 c.id FROM c ORDER BY RANK FullTextScore(c.text, {'term': '%s', 'distance': 2})" % ("z" * 400000),
            "SELECT VALUE COUNT(1) FROM c WHERE " + " OR ".join("FullTextContains(c.text, 'word%d')" % i for i in range(5000))]


def word_searches(field):
    """Searches for very many words, fuzzy ones, and ranks of a hundred scores."""
    def ask(number):
        peer, statuses = Peer(field.url), []
        while field.goes_on() and len(statuses) < 500:
            try:
                statuses.append(peer.ask("POST", WORDS, {"query": SEARCHES[(number + len(statuses)) % len(SEARCHES)]}, QUERY).status)
            except OSError:
                statuses.append("none")
                peer = Peer(field.url)
        return statuses
    return ask


# ---- transactions ----

def operation(kind, item):
    asked = {"databaseName": "crowd", "collectionName": ("c", "large")[item % 2], "id": "t%d" % item, "partitionKey": ["a"], "operationType": kind}
    return asked if kind in ("Read", "Delete") else {**asked, "resourceBody": {"id": "t%d" % item, "pk": "a", "text": "x" * 5000}}


def contended_transactions(field):
    """Everybody writes the same hundred items of two containers, each in another order, some under the token of another."""
    tokens = [str(uuid.UUID(int=field.random.getrandbits(128))) for _ in range(20)]

    def ask(number):
        peer, statuses = Peer(field.url), []
        while field.goes_on() and len(statuses) < 2000:
            turn, reads = len(statuses), len(statuses) % 5 == 4
            kind = "Read" if reads else ("Upsert", "Delete", "Create")[turn % 3]
            token = tokens[turn % len(tokens)] if turn % 3 == 0 else str(uuid.uuid4())
            body = {"operations": [operation(kind, (number * 7 + i * 3) % 100) for i in range(100)]}
            headers = [("x-ms-cosmos-idempotency-token", token),
                       ("x-ms-cosmos-operation-type", "Read" if reads else "CommitDistributedTransaction")]
            statuses.append(peer.ask("POST", "/operations/dtc", body, headers).status)
        return statuses
    return ask


# ---- continuations ----

def giant_tokens(field):
    """Continuations and session tokens of 100 KB, whole and broken ones."""
    texts = ["-RID:~" + "x" * 90000 + "#RT:1", '{"resumeFilter":' + "[" * 50000, "0:" + "-1#" * 30000, "A" * 100000, "%5B" * 30000]
    names = ["x-ms-continuation", "x-ms-session-token", "if-none-match", "x-ms-documentdb-partitionkey"]

    def ask(number):
        peer, statuses = Peer(field.url), []
        while field.goes_on() and len(statuses) < 500:
            place = number + len(statuses)
            extra = [(names[place % len(names)], texts[place // len(names) % len(texts)])]
            statuses.append(peer.ask("POST", DOCS, {"query": "SELECT * FROM c ORDER BY c.n"}, QUERY + extra).status if place % 2
                            else peer.ask("GET", DOCS, None, extra).status)
        return statuses
    return ask
