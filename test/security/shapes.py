"""test/security/shapes.py - paths, heads and bodies that are not what they should be."""
import gzip
import json

from peer import check, head

DOCS = "/dbs/s/colls/c/docs"

# Each is signed as it stands, so that it is the path that is refused and not its sender.
ODD_PATHS = [b"/dbs/s%2Fcolls%2Fc", b"/dbs/s/colls/c%2Fdocs%2F1", b"/dbs/..", b"/dbs/s/../t", b"/dbs/%2e%2e/s", b"/dbs/%252e%252e",
             b"/dbs/s/colls/c/docs/%2531", b"/dbs/%00", b"/dbs/s%00", b"/dbs/s/colls/c/docs/1%00", b"/dbs/\xc0\xaf", b"/dbs/%c0%af",
             b"/dbs/%ff%fe", b"/dbs/%ed%a0%80", b"/dbs/%", b"/dbs/%z1", b"/dbs/%1", b"/dbs/s//docs", b"/dbs//colls/c",
             b"/_orrery/../dbs", b"/_orrery", b"/dbs/" + b"a" * 100000, b"/dbs" + b"/a" * 1000, b"*", b"/dbs/s?x=1", b"/DBS/s",
             b"/dbs/s/COLLS/c", b"/dbs/s/colls%2Fx", b"/dbs/s/colls%2fx%2fdocs",
             b"/dbs%2Fx", b"/dbs/s/users%2Fx%2Fpermissions", b"/dbs/s/colls%2Fc%2Fdocs/1", b"/dbs/s/colls/c/docs/1/attachments/../../../c"]


def refused(world, data, statuses, what):
    """The one answer to these bytes is an error of ours, with a JSON body that gives nothing away."""
    answered, came = world.peer.raw(data)
    check(answered and answered[0] in statuses, "%s: %s", what, came[:300])
    body = came.split(b"\r\n\r\n", 1)[1].split(b"HTTP/1.1 ")[0]
    check(isinstance(json.loads(body), dict), "%s: no JSON: %s", what, body[:200])
    world.reads()


def odd_paths(world):
    for path in ODD_PATHS:
        parts = path.decode("latin-1").strip("/").split("/")
        kind, link = parts[-1] if len(parts) % 2 else parts[-2], "/".join(parts[:len(parts) // 2 * 2])
        refused(world, head("GET", path, "Connection: close\r\n", signed=(kind, link)), (400, 401, 404, 405), path[:60])


def heads(world):
    filler = "a" * 1000
    many = "".join("x-%d: %s\r\n" % (i, filler) for i in range(140))
    refused(world, head("GET", DOCS + "/1", many), (431,), "140 KB of headers")
    refused(world, head("GET", DOCS + "/1", "x: %s\r\n" % ("a" * 131072)), (431,), "one header of 128 KB")
    statuses, _ = world.peer.raw(head("GET", DOCS + "/1", "".join("x-%d: 1\r\n" % i for i in range(9000)) + "Connection: close\r\n"))
    check(statuses == [200], "9,000 small headers: %s", statuses)
    refused(world, head("GET", DOCS + "/1", "Host: evil.example\r\n"), (400,), "two hosts")
    refused(world, b"GET /_orrery/metrics HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", (403,), "metrics by another name")
    refused(world, b"POST /_orrery/backup HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}", (401,), "a backup")


BODIES = [("brackets", b"[" * 2000000), ("braces", b'{"a":' * 400000), ("closed brackets", b'{"id":"x","pk":"a","v":' + b"[" * 129 + b"]" * 129 + b"}"),
          ("a number of a million digits", b'{"id":"x","pk":"a","v":' + b"9" * 1000000 + b"}"),
          ("1e999999999", b'{"id":"x","pk":"a","v":1e999999999}'), ("an exponent of a million digits", b'{"id":"x","pk":"a","v":1e' + b"9" * 1000000 + b"}"),
          ("a string that does not end", b'{"id":"' + b"a" * 1000000), ("NUL", b'{"id":"x","pk":"a\x00"}'), ("overlong UTF-8", b'{"id":"x","pk":"\xc0\xaf"}'),
          ("gzip", gzip.compress(b'{"id":"x","pk":"a"}')), ("nothing", b""), ("an array", b"[]"), ("a number for an id", b'{"id":1,"pk":"a"}')]


def bodies(world):
    for name, body in BODIES:
        extra = "Content-Length: %d\r\nConnection: close\r\n" % len(body)
        refused(world, head("POST", DOCS, extra) + body, (400, 413), name)
    refused(world, head("POST", DOCS, "Content-Encoding: gzip\r\nContent-Length: 19\r\nConnection: close\r\n") + b'{"id":"x","pk":"a"}',
            (400,), "JSON that is said to be gzip")
    refused(world, head("POST", DOCS, "Content-Length: 5000000\r\n"), (413,), "a length of 5 MB")
    chunk = b"100000\r\n" + b"a" * 0x100000 + b"\r\n"
    refused(world, head("POST", DOCS, "Transfer-Encoding: chunked\r\n") + chunk * 5, (413,), "5 MB in chunks")
    refused(world, head("POST", DOCS, "Transfer-Encoding: chunked\r\n") + b"fffffffffffffffff\r\n", (400,), "a chunk of 2^68 bytes")
    refused(world, head("POST", DOCS, "Content-Length: 2\r\n") + b'{}{"id":"x"}', (400,), "a length that is too small")
    world.peer.must(404, "GET", DOCS + "/x")


ALL = [("odd paths", odd_paths), ("heads", heads), ("bodies", bodies)]
