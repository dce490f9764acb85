"""test/security/rights.py - keys, signatures, tokens, names."""
import base64
import os

import client as clients
from peer import check
from server import KEY

WRONG_KEY = base64.b64encode(b"somebody else's key").decode()
DOC = "/dbs/s/colls/c/docs/1"


def wrong_keys(world):
    for key in (WRONG_KEY, base64.b64encode(base64.b64decode(KEY)[:-1]).decode(), base64.b64encode(KEY.encode()).decode()):
        answer = world.peer.must(401, "GET", DOC, key=key)
        check(answer.has_json_body(), "no JSON: %s", answer.body)
        world.peer.must(401, "DELETE", DOC, key=key)
    world.peer.must(200, "GET", DOC)


def replayed_signatures(world):
    """A signature is good for its verb, its resource and its date, and for a quarter of an hour."""
    peer, now = world.peer, clients.date_of()
    peer.must(403, "GET", DOC, date=clients.date_of(-16 * 60))
    peer.must(403, "GET", DOC, date=clients.date_of(16 * 60))
    kind, link = clients.resource_of(DOC)
    peer.must(401, "DELETE", DOC, signed=("GET", kind, link))
    peer.must(401, "GET", DOC, signed=("GET", kind, link + "0"))
    peer.must(401, "GET", DOC, signed=("GET", "colls", link))
    peer.must(401, "GET", "/dbs/s", signed=("GET", kind, link))
    old = clients.authorization(KEY, "GET", kind, link, (clients.date_of(-16 * 60), ""))
    peer.must(401, "GET", DOC, date=now, authorization=old)
    same = clients.authorization(KEY, "GET", kind, link, (now, ""))
    peer.must(200, "GET", DOC, date=now, authorization=same)
    peer.must(200, "GET", DOC, date=now, authorization=same)  # which is the protocol's: TLS is the answer to it
    peer.must(200, "GET", DOC)


def refusals_tell_no_secret(world):
    """Neither the right signature nor a key is in an answer or, at its most talkative, in the log."""
    date = clients.date_of()
    link = clients.resource_of(DOC)
    secrets = [KEY, world.readonly, clients.encoded(KEY), base64.b64decode(KEY).hex()]
    for method in ("GET", "DELETE", "PUT"):
        right = clients.signature(KEY, method, *link, (date, ""))
        secrets += [right, clients.encoded(right)]
        for options in ({"key": WRONG_KEY}, {"authorization": "type=master&ver=1.0&sig=" + "A" * 43 + "="},
                        {"authorization": "nonsense"}, {"authorization": "type=resource&ver=1&sig=%s;%s;" % (right, right)},
                        *([{"key": world.readonly}] if method != "GET" else [])):
            answer = world.peer.ask(method, DOC, {} if method == "PUT" else None, date=date, **options)
            check(answer.status in (401, 403), "%s answered %d", options, answer.status)
            text = answer.body.decode() + str(answer.headers)
            for secret in secrets:
                check(secret not in text, "an answer to %s tells %s", options, secret)
    for secret in secrets:
        check(secret not in world.server.log(), "the log tells %s", secret)


def token_by_another_way(world):
    """A token for one partition key, with every other way to say which items are meant."""
    peer = world.peer
    peer.must(201, "POST", "/dbs/s/users", {"id": "u"})
    token = peer.must(201, "POST", "/dbs/s/users/u/permissions",
                      {"id": "p", "permissionMode": "All", "resource": "dbs/s/colls/c", "resourcePartitionKey": ["a"]}).json()["_token"]
    for method, body in (("GET", None), ("POST", {"query": "SELECT * FROM c"})):
        asks = [("x-ms-documentdb-isquery", "true"), ("content-type", "application/query+json")] if body else []
        peer.must(401, method, "/dbs/s/users/u/permissions", body, headers=asks, key=world.readonly)
    peer.must(401, "GET", "/dbs/s/users/u/permissions/p", key=world.readonly)  # or whoever reads could write with it
    world.tokens.append(token)
    b = ("x-ms-documentdb-partitionkey", '["b"]')
    docs = "/dbs/s/colls/c/docs"
    peer.must(201, "POST", docs, {"id": "secret", "pk": "b"}, headers=[b])
    for more in ([("x-ms-documentdb-partitionkeyrangeid", "0")],
                 [("x-ms-start-epk", ""), ("x-ms-end-epk", "FF")], [("x-ms-read-key-type", "EffectivePartitionKeyRange")]):
        listed = peer.must(200, "GET", docs, headers=more, authorization=token).json()["Documents"]
        check(listed and all(item["pk"] == "a" for item in listed), "%s lists %s", more, listed)
        query = [("x-ms-documentdb-isquery", "true"), ("content-type", "application/query+json"),
                 ("x-ms-documentdb-query-enablecrosspartition", "true"), *more]
        found = peer.must(200, "POST", docs, {"query": "SELECT * FROM c WHERE c.pk = 'b' OR true"}, headers=query,
                          authorization=token).json()["Documents"]
        check(found and all(item["pk"] == "a" for item in found), "a query with %s finds %s", more, found)
    for key in ('["b"]', "[]", '[{}]', '"a"', '["a","b"]', '["A"]', "null", '["b"],["a"]'):
        for method, target, body in (("GET", docs + "/secret", None), ("GET", docs, None), ("DELETE", docs + "/secret", None),
                                     ("POST", docs, {"id": "n", "pk": "b"})):
            answer = peer.ask(method, target, body, headers=[("x-ms-documentdb-partitionkey", key)], authorization=token)
            check(answer.status in (400, 403), "%s %s with key %s: %d", method, target, key, answer.status)
    peer.must(404, "DELETE", docs + "/secret", authorization=token)
    peer.must(200, "GET", docs + "/secret", headers=[b])
    peer.must(403, "GET", "/offers", authorization=token)
    peer.must(403, "GET", "/dbs/s/users/u/permissions/p", authorization=token)
    peer.must(204, "DELETE", "/dbs/s/users/u/permissions/p")
    peer.must(403, "GET", docs, authorization=token)


def disk_holds_no_secret(world):
    """Neither keys nor tokens are in the data directory, which is for its owner alone."""
    check(os.stat(world.server.data).st_mode & 0o077 == 0, "others may look into the data directory")
    secrets = [KEY.encode(), base64.b64decode(KEY), world.readonly.encode(), *(token.encode()[-60:] for token in world.tokens)]
    for at, _, names in os.walk(world.server.data):
        for name in names:
            with open(os.path.join(at, name), "rb") as file:
                content = file.read()
            for secret in secrets:
                check(secret not in content, "%s is in %s", secret, name)


def rids_and_names(world):
    """A path leads to what it names or nowhere, however rids and names are mixed in it."""
    peer = world.peer
    here, there = (peer.must(200, "GET", "/dbs/%s" % name).json()["_rid"] for name in ("s", "t"))
    coll, other = (peer.must(200, "GET", "/dbs/%s/colls/c" % name).json()["_rid"] for name in ("s", "t"))
    item = peer.must(200, "GET", DOC).json()["_rid"]
    peer.must(200, "GET", "/dbs/%s/colls/%s/docs/%s" % (here, coll, item))
    for path in ("/dbs/%s/colls/%s" % (here, other), "/dbs/%s/colls/%s" % (there, coll), "/dbs/s/colls/" + other,
                 "/dbs/%s" % coll, "/dbs/s/colls/%s" % item, "/dbs/t/colls/c/docs/" + item,
                 "/dbs/%s/colls/%s/docs/%s" % (there, other, item), "/dbs/s/colls/c/docs/" + item):
        answer = peer.must(404, "GET", path)
        check(answer.has_json_body(), "no JSON: %s", answer.body)
    peer.must(409, "POST", "/dbs", {"id": here})
    peer.must(409, "POST", "/dbs/s/colls", {"id": coll, "partitionKey": {"paths": ["/pk"], "kind": "Hash"}})
    victim = peer.must(201, "POST", "/dbs/s/users", {"id": "victim"}).json()["_rid"]
    peer.must(409, "POST", "/dbs/s/users", {"id": victim})


ALL = [("wrong keys", wrong_keys), ("replayed signatures", replayed_signatures),
       ("refusals tell no secret", refusals_tell_no_secret), ("a token's partition key", token_by_another_way),
       ("the disk holds no secret", disk_holds_no_secret), ("rids and names", rids_and_names)]
