"""test/security/attacks.py - what a hostile crowd does to a server; each returns what it saw, or fails.

An attack gets a Field: where the server is, how long it may go on, and random numbers of the seed. It stays on
loopback, is bounded in time and count, and runs in a process of its own with the lowest priority, because the crowd
would not be on the server's machine.
"""
import base64
import collections
import concurrent.futures
import http.client
import json
import random
import select
import socket
import ssl
import struct
import time

import client as clients
import surfaces
import twins
from crowds import ENDLESS, allow_descriptors, leave
from peer import Peer, check, head
from server import KEY

COLL, DOCS, LARGE = "/dbs/crowd/colls/c", "/dbs/crowd/colls/c/docs", "/dbs/crowd/colls/large/docs"
BODY_BYTES_MAX = 4 << 20
PARTITION_A = b'x-ms-documentdb-partitionkey: ["a"]\r\n'
SERVER_FAULTS = {500, 502, 504}
SKIPPED = "skipped: "


class Field:
    def __init__(self, url, secure, readonly, seconds, seed):
        self.url, self.secure, self.readonly, self.seconds = url, secure, readonly, seconds
        self.random = random.Random(seed)
        self.peer = Peer(url)
        self.ends = 0

    def begin(self):
        self.ends = time.monotonic() + self.seconds

    def goes_on(self):
        return time.monotonic() < self.ends


def set_up(peer):
    """The crowd's containers, with items of 1 MB in one of them."""
    peer.must(201, "POST", "/dbs", {"id": "crowd"})
    for name in ("c", "large"):
        peer.must(201, "POST", "/dbs/crowd/colls", {"id": name, "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}})
    peer.must(201, "POST", DOCS, {"id": "1", "pk": "a", "n": 1, "text": "a" * 30, "list": list(range(50))})
    for number in range(20):
        peer.must(201, "POST", LARGE, {"id": str(number), "pk": "a", "text": "x" * 1000000})
    peer.must(201, "POST", COLL + "/udfs", {"id": "keep", "body": "function (x) { var before = globalThis.kept; globalThis.kept = x; return before || 'nothing'; }"})
    peer.must(201, "POST", COLL + "/sprocs", {"id": "loop", "body": "function () { for (;;); }"})
    surfaces.set_up(peer)


def tally(statuses):
    return ", ".join("%s %s" % (count, status) for status, count in sorted(collections.Counter(map(str, statuses)).items()))


def no_faults(statuses):
    check(not SERVER_FAULTS & set(statuses), "the server answered %s", tally(statuses))
    return tally(statuses)


def many(count, function, *arguments):
    """So many at a time, each in a thread."""
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(lambda number: function(*arguments, number), range(count)))


def status_in(s):
    """The status of the answer that has come, or why there is none."""
    try:
        came = s.recv(100)
        return int(came[9:12]) if came[:5] == b"HTTP/" else "closed"
    except (socket.timeout, BlockingIOError):
        return "waits"
    except OSError:
        return "reset"


def push(s, data):
    """Sends what the server takes; False when it has closed."""
    try:
        s.sendall(data)
        return True
    except OSError:
        return False


# ---- paths, heads, framing ----

SHAPES = ["", "dbs", "dbs/x", "dbs/x/colls", "dbs/x/users", "dbs/x/users/u/permissions", "dbs/x/clientencryptionkeys", "offers", "offers/x", "addresses",
          "media/x", "_orrery/backup", "_orrery/split"] + \
         ["dbs/x/colls/c" + end for end in ("", "/docs", "/docs/1", "/pkranges", "/sprocs", "/sprocs/p", "/triggers/t", "/udfs/f", "/conflicts", "/conflicts/x",
                                            "/operations/partitionkeydelete", "/docs/1/attachments", "/docs/1/attachments/a")]
METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]
ODD = ["%2F", "%2f", "%2Fx", "%00", "%", "%zz", "..", "%2e%2e", "%252F", "", "%c0%af", "\xff", "a" * 300, "%0d%0aX:%20y", "?", "#", ";", "%5c"]


def odd_path(field):
    parts = field.random.choice(SHAPES).split("/")
    for _ in range(field.random.randint(0, 2)):
        place = field.random.randrange(len(parts))
        odd = field.random.choice(ODD)
        parts[place] = field.random.choice([odd, parts[place] + odd, odd + parts[place], parts[place] + odd + field.random.choice(["docs", "colls", "x"])])
    if field.random.random() < 0.2:
        del parts[field.random.randrange(len(parts))]
    return "/" + "/".join(parts)


def link_of(target):
    """As a client would sign it, or a stranger who knows that links are decoded somewhere."""
    parts = target.strip("/").split("/")
    return (parts[-1], "/".join(parts[:-1])) if len(parts) % 2 else (parts[-2], "/".join(parts))


def odd_paths(field):
    statuses, peer = [], field.peer
    while field.goes_on() and len(statuses) < 4000:
        target = odd_path(field)
        link = field.random.choice([link_of(target), clients.resource_of(target)])
        extra = "Connection: close\r\nContent-Length: 2\r\n"
        key = field.random.choice([None, field.readonly, KEY])
        request = head(field.random.choice(METHODS), target.encode("latin-1", "replace"), extra, key or field.readonly, link) + b"{}"
        if key is None:
            request = request.replace(b"authorization:", b"x-nothing:")
        answered, _ = peer.raw(request)
        statuses += answered[:1] or ["none"]
    return no_faults(statuses)


FRAMINGS = [b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
            b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", b"Content-Length: +2\r\n\r\n{}", b"Content-Length: 2 \r\n 3\r\n\r\n{}",
            b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}XX0\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n", b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
            b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n", b"Content-Length: 99999999999999999999\r\n\r\n", b"Content-Length : 2\r\n\r\n{}"]


def framing(field):
    """A request inside the body of another must never be answered: none of these has two answers."""
    statuses = []
    inner = b"GET /_orrery/ready HTTP/1.1\r\nHost: localhost\r\n\r\n"
    while field.goes_on() and len(statuses) < 500:
        for framed in FRAMINGS:
            answered, came = field.peer.raw(head("POST", DOCS).rstrip(b"\r\n") + b"\r\n" + framed + inner)
            check(len(answered) <= 1 and not (answered and answered[0] < 400), "%s was answered %s: %s", framed[:40], answered, came[:200])
            statuses += answered or ["none"]
        first_folded = b"POST /dbs HTTP/1.1\r\n Host: evil\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
        statuses += field.peer.raw(first_folded)[0][:1] or ["none"]
    return no_faults(statuses)


def giant_heads(field):
    statuses, peer = [], field.peer
    heads = [head("GET", DOCS + "/1", "".join("x-%d: %s\r\n" % (i, "a" * 1000) for i in range(1000))), b"GET /" + b"a" * 126000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
             head("GET", DOCS + "/1", "".join("x: 1\r\n" for _ in range(15000))), b"GET / HTTP/1.1\r\nHost: " + b"a" * 1000000, b"A" * 500000,
             head("GET", DOCS + "/" + "%41" * 40000)]
    while field.goes_on() and len(statuses) < 1000:
        answered, came = peer.raw(field.random.choice(heads) + b"\r\nConnection: close\r\n\r\n")
        check(len(came) < 20000, "the answer echoes %d bytes", len(came))
        statuses += answered[:1] or ["none"]
    return no_faults(statuses)


# ---- bodies ----

def hold_bodies(field, opening, count=66):
    """Each sends a body of 4 MB but for its last byte, and waits."""
    content = b" " * (BODY_BYTES_MAX - 1)
    sockets, statuses = [], []
    while field.goes_on():
        while len(sockets) < count:
            s = field.peer.connect()
            s.settimeout(1)
            push(s, opening())
            push(s, content)
            sockets.append(s)
        ready, _, _ = select.select(sockets, [], [], 0.2)
        for s in ready[: count // 2]:  # who was refused comes again
            statuses.append(status_in(s))
            s.close()
            sockets.remove(s)
        if len(statuses) > 2000:
            break
    for s in sockets:
        leave(s)
    return "%d hold 4 MB less a byte; refused: %s" % (count, no_faults(statuses) or "nobody")


def bodies_unsigned(field):
    return hold_bodies(field, lambda: b"POST /dbs HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % BODY_BYTES_MAX)


def bodies_signed(field):
    return hold_bodies(field, lambda: head("POST", DOCS, "Content-Length: %d\r\n" % BODY_BYTES_MAX))


def slow_writers(field):
    """A byte now and then, of heads and of bodies: whoever makes no progress is ended."""
    starts = [b"GET /dbs HTTP/1.1\r\nHost: localhost\r\nx: ", head("POST", DOCS, "Content-Length: 1000000\r\n") + b"{",
              head("POST", DOCS, "Transfer-Encoding: chunked\r\n") + b"1000\r\n"]
    sockets = []
    for number in range(200):
        s = field.peer.connect()
        s.sendall(starts[number % len(starts)])
        sockets.append(s)
    ended, sent = 0, 0
    while field.goes_on() and sockets:
        for s in list(sockets):
            sent += 1
            if not push(s, b" "):
                ended += 1
                sockets.remove(s)
        time.sleep(0.1)
    for s in sockets:
        leave(s)
    return "200 slow writers sent %d bytes; %d were ended" % (sent, ended)


def slow_readers(field, count=100):
    """Each asks for 4 MB and reads nothing."""
    request = head("GET", LARGE, "x-ms-max-item-count: -1\r\n")
    sockets = []
    for _ in range(count):
        s = field.peer.connect()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.setblocking(False)
        try:
            for _ in range(50):
                s.send(request)
        except (BlockingIOError, ConnectionError):  # it takes no more, or has ended what takes nothing
            pass
        sockets.append(s)
    while field.goes_on():
        time.sleep(0.1)
    for s in sockets:
        leave(s)
    return "%d ask for 4 MB, 50 times each, and read nothing" % count


# ---- memory ----

def many_paths(field):
    """120 writes of nearly 2 MB, each with some 100,000 paths, 24 at a time."""
    def write(number):
        peer, answers = Peer(field.url), []
        for turn in range(5):
            if not field.goes_on():
                break
            members = {"p%d-%d-%d" % (number, turn, i): i for i in range(80000)}
            answers.append(peer.ask("POST", DOCS, {"id": "m%d-%d" % (number, turn), "pk": "a", **members}).status)
        return answers
    return no_faults([status for answers in many(24, write) for status in answers])


def large_scripts(field):
    """300 definitions of 2 MB, of which each is asked for once."""
    filler = "/*" + "x" * 2000000 + "*/"

    def define(number):
        peer, answers = Peer(field.url), []
        for turn in range(25):
            if not field.goes_on():
                break
            name = "s%d-%d" % (number, turn)
            answers.append(peer.ask("POST", COLL + "/sprocs", {"id": name, "body": "function () {}" + filler}).status)
        return answers
    statuses = [status for answers in many(12, define) for status in answers]
    remove_scripts(field)
    return no_faults(statuses)


def remove_scripts(field):
    """The attack is over: what is left of it is not the next one's."""
    for number in range(12):
        for turn in range(25):
            field.peer.ask("DELETE", COLL + "/sprocs/s%d-%d" % (number, turn))


def feed_pages(field):
    """60 read pages of large items, as a list, as a change feed and as a query, as fast as they come."""
    feed = [("A-IM", "Incremental feed"), ("x-ms-max-item-count", "-1")]
    query = [("x-ms-documentdb-isquery", "true"), ("content-type", "application/query+json"), ("x-ms-max-item-count", "-1")]

    def read(number):
        peer, answers = Peer(field.url), []
        while field.goes_on() and len(answers) < 200:
            try:
                if number % 3 == 2:
                    answers.append(peer.ask("POST", LARGE, {"query": "SELECT * FROM c ORDER BY c.text"}, query).status)
                else:
                    answers.append(peer.ask("GET", LARGE, headers=feed[number % 3:]).status)
            except (OSError, http.client.HTTPException):  # who takes too little of too much is cut off
                answers.append("cut")
                peer = Peer(field.url)
        return answers
    return no_faults([status for answers in many(60, read) for status in answers])


# ---- scripts and queries ----

def endless_loops(field):
    def loop(_):
        peer, answers = Peer(field.url), []
        while field.goes_on():
            answers.append(peer.ask("POST", COLL + "/sprocs/loop", [], [("x-ms-documentdb-partitionkey", '["a"]')]).status)
        return answers
    return no_faults([status for answers in many(48, loop) for status in answers])


def udf_globals(field):
    """One caller's argument is not there for the next one, whichever child serves it."""
    query = [("x-ms-documentdb-isquery", "true"), ("content-type", "application/query+json")]
    told = []

    def call(number):
        peer = Peer(field.url)
        for turn in range(200):
            if not field.goes_on():
                break
            text = "SELECT VALUE udf.keep('secret-%d-%d') FROM c WHERE c.id = '1'" % (number, turn)
            answer = peer.ask("POST", DOCS, {"query": text}, query)
            if answer.status == 200:
                told.extend(answer.json()["Documents"])
    many(2, call)
    check(set(told) <= {"nothing"}, "a function told %s", set(told))
    return "%d calls were told nothing of each other" % len(told)


def endless_queries(field):
    def ask(number):
        peer, answers = Peer(field.url), []
        query = [("x-ms-documentdb-isquery", "true"), ("content-type", "application/query+json")]
        while field.goes_on():
            try:
                answers.append(peer.ask("POST", DOCS, {"query": ENDLESS[number % len(ENDLESS)]}, query).status)
            except OSError:
                answers.append("none")
        return answers
    return no_faults([status for answers in many(64, ask) for status in answers])


# Each does as much as a loop thread lets it, or nearly, before a pool thread begins it anew. %(c)s is a name of its own
# each time: no text was given up before.
ON_LOOPS = ["SELECT VALUE 1 FROM %(c)s WHERE %(c)s.size = 'many' AND (" + " OR ".join(["%(c)s.m.z = 1"] * 20) + ")",
            "SELECT VALUE 1 FROM %(c)s WHERE %(c)s.size = 'many' AND " + " AND ".join(["%(c)s.m <= %(c)s.m"] * 8),
            "SELECT VALUE [%(c)s, %(c)s, %(c)s, %(c)s] FROM %(c)s WHERE %(c)s.size = 'many'",
            "SELECT VALUE 1 FROM %(c)s WHERE %(c)s.size = 'long' AND %(c)s.text LIKE '%%a_a_a_a_a_b%%'",
            "SELECT VALUE UPPER(LOWER(%(c)s.text)) FROM %(c)s WHERE %(c)s.size = 'long'",
            "SELECT VALUE " + " || ".join(["%(c)s.text"] * 12) + " FROM %(c)s WHERE %(c)s.size = 'long'",
            "SELECT * FROM %(c)s WHERE " + " AND ".join("%%(c)s.m.m%d >= 0" % i for i in range(40))]


def letters_of(number):
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def queries_on_loops(field):
    """64 ask what a loop thread begins, always in other words."""
    for number in range(4):
        members = {"m%d" % i: i for i in range(500 << number)}
        field.peer.must(201, "POST", DOCS, {"id": "many%d" % number, "pk": "a", "size": "many", "m": members})
        field.peer.must(201, "POST", DOCS, {"id": "long%d" % number, "pk": "a", "size": "long", "text": "a" * (1000 << number)})

    def ask(number):
        peer, answers = Peer(field.url), []
        query = [("x-ms-documentdb-isquery", "true"), ("content-type", "application/query+json")]
        while field.goes_on():
            name = "x%sx%s" % (letters_of(number), letters_of(len(answers)))
            answers.append(peer.ask("POST", DOCS, {"query": ON_LOOPS[(number + len(answers)) % len(ON_LOOPS)] % {"c": name}}, query).status)
        return answers
    statuses = [status for answers in many(64, ask) for status in answers]
    for number in range(4):
        field.peer.must(204, "DELETE", DOCS + "/many%d" % number)
        field.peer.must(204, "DELETE", DOCS + "/long%d" % number)
    return no_faults(statuses)


def hash_twins(field):
    """A key with the hash of another key reads, finds and deletes nothing of it."""
    owner = "alice-%d@example.com" % field.random.randrange(1000)
    twin = twins.key_twin(owner, field.random.randrange(1000))
    key = [("x-ms-documentdb-partitionkey", json.dumps([owner]))]
    other = [("x-ms-documentdb-partitionkey", json.dumps([twin]))]
    query = other + [("x-ms-documentdb-isquery", "true"), ("content-type", "application/query+json")]
    field.peer.must(201, "POST", DOCS, {"id": "secret", "pk": owner}, key)
    field.peer.must(404, "GET", DOCS + "/secret", None, other)
    field.peer.must(404, "DELETE", DOCS + "/secret", None, other)
    found = field.peer.must(200, "POST", DOCS, {"query": "SELECT * FROM c"}, query).json()["Documents"]
    check(found == [], "the twin of a key found %s", found)
    field.peer.must(204, "DELETE", DOCS + "/secret", None, key)
    return "a twin of %s saw nothing" % owner


# ---- strangers ----

def part_of_token(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def forged_bearers(field):
    now, statuses = int(time.time()), []
    claims = {"iss": "https://sts.windows.net/x", "aud": "https://localhost", "sub": "root", "oid": "root", "roles": ["*"], "iat": now - 60, "nbf": now - 60, "exp": now + 3600}
    signatures = ["", "AAAA", "A" * 86, "A" * 342, part_of_token(claims)]
    while field.goes_on() and len(statuses) < 2000:
        kind = {"alg": field.random.choice(["none", "None", "HS256", "RS256", "ES256", "PS256", "", 7]), "typ": "JWT", "kid": field.random.choice(["x", "../../etc/passwd", "", "a" * 5000])}
        token = "%s.%s.%s" % (part_of_token(kind), part_of_token(claims), field.random.choice(signatures))
        token = field.random.choice([token, token[:-5], token + ".x", token.replace(".", ""), "." * 100, "%00" + token])
        answer = field.peer.ask(field.random.choice(["GET", "DELETE"]), "/dbs/crowd", authorization="type=aad&ver=1.0&sig=" + token)
        check(answer.status in (400, 401, 403, 431, 501), "a forged token was answered %d", answer.status)
        statuses.append(answer.status)
    return no_faults(statuses)


def handshakes(field):
    """TLS handshakes that are begun and left, ended, or no handshakes at all, some 20 at a time."""
    if not field.secure:
        return SKIPPED + "no https"
    context = ssl._create_unverified_context()
    address = Peer(field.secure).address
    done = collections.Counter()

    def shake(number):
        chance = random.Random(number)
        for _ in range(100):
            if not field.goes_on():
                return
            with socket.create_connection(address, 10) as s:
                way = chance.choice(["whole", "begun", "rubbish"])
                try:
                    if way == "whole":
                        context.wrap_socket(s).close()
                    elif way == "begun":
                        s.sendall(bytes.fromhex("16030100c8010000c40303") + bytes(32))
                    else:
                        s.sendall(b"\x16\x03\x01" + chance.randbytes(300))
                        s.recv(100)
                except OSError:
                    way += ", refused"
                done[way] += 1
    many(20, shake)
    return tally(done.elements())


def idle_connections(field):
    """More than any other attack has, and nothing is ever said on them."""
    hard = allow_descriptors()
    sockets = [field.peer.connect() for _ in range(min(3000, hard - 100))]
    while field.goes_on():
        time.sleep(0.1)
    for s in sockets:
        s.close()
    return "%d idle" % len(sockets)


H2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes.fromhex("000000040000000000")


def h2_frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def connect_h2(field):
    """A connection that speaks HTTP/2, by ALPN or by its preface; None where the server does not."""
    if field.secure:
        context = ssl._create_unverified_context()
        context.set_alpn_protocols(["h2", "http/1.1"])
        s = context.wrap_socket(socket.create_connection(Peer(field.secure).address, 5))
        if s.selected_alpn_protocol() == "h2":
            push(s, H2_PREFACE)
            return s
        s.close()
    s = field.peer.connect()
    s.settimeout(3)
    push(s, H2_PREFACE)
    try:
        first = s.recv(9)
    except OSError:
        first = b""
    if len(first) == 9 and first[3] == 4:  # its SETTINGS
        return s
    s.close()
    return None


def reset_streams(s):
    """As many as go on one connection; whether the server has ended it."""
    request = bytes([0x82, 0x86, 0x84, 0x41, 9]) + b"localhost"
    for first in range(1, 20001, 200):
        streams = range(first, first + 200, 2)
        if not push(s, b"".join(h2_frame(1, 5, n, request) + h2_frame(3, 0, n, struct.pack(">I", 8)) for n in streams)):
            return first // 2, True
    return 10000, says_goodbye(s)


def says_goodbye(s):
    """Whether a GOAWAY is among the frames that have come, or the connection has ended."""
    came = b""
    try:
        s.settimeout(1)
        while len(came) < 1000000:
            part = s.recv(65536)
            if not part:
                return True
            came += part
    except TimeoutError:
        pass
    except OSError:
        return True
    at, kinds = 0, set()
    while at + 9 <= len(came):
        kinds.add(came[at + 3])
        at += 9 + int.from_bytes(came[at:at + 3], "big")
    return 7 in kinds


def rapid_reset(field):
    """Streams that are opened and reset at once: CVE-2023-44487."""
    sent = ended = 0
    while sent < 500000:
        s = connect_h2(field)
        if not s:
            return SKIPPED + "no HTTP/2"
        with s:
            s.settimeout(5)
            count, is_ended = reset_streams(s)
        sent, ended = sent + count, ended + is_ended
        if not field.goes_on():
            break
    return "%d streams were opened and reset; %d connections were ended" % (sent, ended)


def crowd_of(count, attack):
    """So many at a time of what the attack makes of the field: a function that gives statuses."""
    def run(field):
        return no_faults([status for statuses in many(count, attack(field)) for status in statuses])
    return run


ALL = [("odd paths", odd_paths), ("framing", framing), ("giant heads", giant_heads), ("bodies unsigned", bodies_unsigned),
       ("bodies signed", bodies_signed), ("slow writers", slow_writers), ("slow readers", slow_readers), ("many paths", many_paths),
       ("large scripts", large_scripts), ("feed pages", feed_pages), ("endless loops", endless_loops), ("endless queries", endless_queries),
       ("queries on loops", queries_on_loops),
       ("udf globals", udf_globals), ("hash twins", hash_twins), ("forged bearers", forged_bearers), ("handshakes", handshakes),
       ("idle connections", idle_connections), ("rapid reset", rapid_reset), ("direct half heads", surfaces.direct_half_heads),
       ("direct half payloads", surfaces.direct_half_payloads), ("direct never read", surfaces.direct_never_read),
       ("direct greetings", surfaces.direct_greetings), ("binary bombs", crowd_of(16, surfaces.binary_bombs)),
       ("many words", crowd_of(12, surfaces.many_words)), ("word searches", crowd_of(32, surfaces.word_searches)),
       ("giant tokens", crowd_of(16, surfaces.giant_tokens)), ("contended transactions", crowd_of(24, surfaces.contended_transactions))]
