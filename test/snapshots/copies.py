"""test/snapshots/copies.py - copies of a database, containers of an earlier moment, and snapshots of one database."""
import json
import subprocess
import urllib.parse

from account import Account

PROCEDURE = "function () { getContext().getResponse().setBody(7); }"
SYSTEM = ("_rid", "_self", "_etag", "_ts", "_colls", "_users", "_docs", "_sprocs", "_triggers", "_udfs", "_conflicts", "_permissions",
          "_attachments", "_token")
COUNT = 450  # several pages, and several requests in bulk


def fill(account):
    account.do("POST", "/dbs", {"id": "shop"}, [("x-ms-offer-throughput", "500")])
    account.do("POST", "/dbs/shop/colls", {"id": "orders", "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}, "defaultTtl": 5000,
                                           "indexingPolicy": {"includedPaths": [{"path": "/n/?"}], "excludedPaths": [{"path": "/*"}]}},
               [("x-ms-cosmos-offer-autopilot-settings", '{"maxThroughput":4000}')])
    account.container("dbs/shop/colls/empty", uniqueKeyPolicy={"uniqueKeys": [{"paths": ["/mail"]}]})
    for kind, body in (("sprocs", {"id": "p", "body": PROCEDURE}), ("udfs", {"id": "u", "body": PROCEDURE}),
                       ("triggers", {"id": "t", "body": PROCEDURE, "triggerType": "Pre", "triggerOperation": "All"})):
        account.do("POST", "/dbs/shop/colls/orders/" + kind, body)
    account.do("POST", "/dbs/shop/users", {"id": "ada"})
    account.do("POST", "/dbs/shop/users/ada/permissions", {"id": "read", "permissionMode": "Read", "resource": "dbs/shop/colls/orders"})
    for n in range(0, COUNT, 50):
        account.bulk("dbs/shop/colls/orders", [{"id": str(i), "pk": str(i % 9), "n": i, "_kind": "order"} for i in range(n, n + 50)])
    attach(account)


def below(item, key):
    return "/dbs/shop/colls/orders/docs/%s/attachments" % item, [("x-ms-documentdb-partitionkey", json.dumps([key]))]


def attach(account):
    """Bytes that are kept here, such bytes with properties of their own, and a link that leads elsewhere."""
    list_, key = below("7", "7")
    for name, content in (("photo", bytes(range(256)) * 700), ("empty", b"")):
        status, _, _, said = account.send_signed("POST", list_, [*key, ("slug", name), ("content-type", "image/png")], content)
        assert status == 201, said
    made = account.do("GET", list_ + "/photo", None, key)[2]
    account.do("PUT", list_ + "/photo", {"id": "photo", "contentType": "image/png", "media": made["media"], "taken": {"at": "noon"}}, key)
    account.do("POST", list_, {"id": "else", "contentType": "text/html", "media": "https://example.org/a", "_by": "ada"}, key)
    list_, key = below("449", "8")
    account.do("POST", list_, {"id": "far", "contentType": "text/html", "media": "https://example.org/b"}, key)


def attachments(account, container):
    """(item, what the attachment says without its link, its bytes) of each."""
    found = []
    for item, pk in (("7", "7"), ("449", "8"), ("8", "8")):
        key = [("x-ms-documentdb-partitionkey", json.dumps([pk]))]
        for one in account.do("GET", "/%s/docs/%s/attachments" % (container, item), None, key)[2]["Attachments"]:
            own = {name: value for name, value in one.items() if name not in SYSTEM}
            content = None
            if own["media"].startswith("/media/"):
                status, _, _, content = account.send_signed("GET", own.pop("media"), [], None)
                assert status == 200, content
            found.append((item, sorted(own.items(), key=str), content))
    return found


def content(account, database):
    """All of a database but what the server gives: by link without the database's name."""
    found = {}

    def keep(kind, resource):
        found[kind + resource["id"]] = {name: value for name, value in resource.items() if name not in SYSTEM}

    offers = {offer["offerResourceId"]: offer["content"] for offer in account.do("GET", "/offers")[2]["Offers"]}
    link = "dbs/" + database
    found["throughput"] = offers.get(account.do("GET", "/" + link)[2]["_rid"])
    for container in account.do("GET", "/%s/colls" % link)[2]["DocumentCollections"]:
        inside = "%s/colls/%s" % (link, container["id"])
        keep("container ", container)
        found["throughput of " + container["id"]] = offers.get(container["_rid"])
        for kind, member in (("sprocs", "StoredProcedures"), ("udfs", "UserDefinedFunctions"), ("triggers", "Triggers")):
            for script in account.do("GET", "/%s/%s" % (inside, kind))[2][member]:
                keep(inside[len(link):] + kind, script)
        found["items of " + container["id"]] = sorted((item["id"], item["pk"], item.get("n"), item.get("_kind")) for item in account.query(inside, "SELECT * FROM c"))
        found["attachments of " + container["id"]] = attachments(account, inside) if container["id"] == "orders" else []
        found["by index of " + container["id"]] = account.query(inside, "SELECT VALUE COUNT(1) FROM c WHERE c.n >= 0")
    for user in account.do("GET", "/%s/users" % link)[2]["Users"]:
        keep("user ", user)
        for permission in account.do("GET", "/%s/users/%s/permissions" % (link, user["id"]))[2]["Permissions"]:
            permission["resource"] = permission["resource"].replace("dbs/%s/" % urllib.parse.unquote(database), "dbs/x/")
            keep("permission ", permission)
    return found


def a_copy_of_a_database_has_all_that_it_has(server):
    account = Account(server)
    fill(account)
    shop = content(account, "shop")
    assert len(shop["items of orders"]) == COUNT and len(shop["attachments of orders"]) == 4
    status, _, copied = account.do("POST", "/_orrery/copy", {"from": "dbs/shop", "to": "dbs/shop two"})
    assert (status, copied) == (201, {"containers": 2, "items": COUNT}), (status, copied)
    assert content(account, "shop%20two") == shop, "the copy differs"
    account.do("PUT", "/dbs/shop%20two/colls/orders/docs/1", {"id": "1", "pk": "1", "n": -1}, [("x-ms-documentdb-partitionkey", '["1"]')])
    assert content(account, "shop") == shop, "the copy is no copy"
    said = account.do("POST", "/_orrery/copy", {"from": "dbs/shop", "to": "dbs/shop two"}, expect=(409,))[2]["message"]
    assert said.count("Errors") <= 1, said  # it is wrapped once
    account.do("POST", "/_orrery/copy", {"from": "dbs/none", "to": "dbs/new"}, expect=(404,))
    account.do("GET", "/dbs/new", expect=(404,))
    for body in ({}, {"from": "shop", "to": "dbs/new"}, {"from": "dbs/shop", "to": "dbs/a/colls/b"}, {"from": "dbs/shop", "to": 1}):
        account.do("POST", "/_orrery/copy", body, expect=(400,))


def what_is_large_and_what_is_many_is_copied_too(server):
    """Items of some MB side by side, keys of the database, and an offer behind a hundred others."""
    account = Account(server)
    for n in range(101):
        account.do("POST", "/dbs", {"id": "other%d" % n}, [("x-ms-offer-throughput", "400")])
    account.do("POST", "/dbs", {"id": "shop"}, [("x-ms-offer-throughput", "700")])
    account.do("POST", "/dbs/shop/clientencryptionkeys", {"id": "k", "encryptionAlgorithm": "A", "wrappedDataEncryptionKey": "AQID",
                                                          "keyWrapMetadata": {"type": "t", "name": "n", "value": "v"}})
    account.container("dbs/shop/colls/c")
    sizes = {"0": 900_000, "1": 1_500_000, "2": 2_000_000, "3": 10}
    for name, size in sizes.items():
        account.put("dbs/shop/colls/c", {"id": name, "pk": "a", "text": "x" * size})
    account.do("POST", "/_orrery/copy", {"from": "dbs/shop", "to": "dbs/two"})
    found = account.query("dbs/two/colls/c", "SELECT c.id, LENGTH(c.text) AS size FROM c")
    assert {item["id"]: item["size"] for item in found} == sizes, found
    keys = account.do("GET", "/dbs/two/clientencryptionkeys")[2]["ClientEncryptionKeys"]
    assert [(key["id"], key["wrappedDataEncryptionKey"]) for key in keys] == [("k", "AQID")], keys
    offers = account.do("GET", "/offers", None, [("x-ms-max-item-count", "1000")])[2]["Offers"]
    own = account.do("GET", "/dbs/two")[2]["_rid"]
    assert [offer["content"]["offerThroughput"] for offer in offers if offer["offerResourceId"] == own] == [700]


def containers_of_several_buckets_are_copied(server):
    account = Account(server)
    account.do("POST", "/dbs", {"id": "shop"})
    account.container("dbs/shop/colls/c")
    account.bulk("dbs/shop/colls/c", [{"id": str(i), "pk": str(i)} for i in range(60)])
    list_ = "/dbs/shop/colls/c/docs/59/attachments"
    account.do("POST", list_, {"id": "a", "contentType": "text/html", "media": "https://example.org/a"}, [("x-ms-documentdb-partitionkey", '["59"]')])
    account.do("POST", "/_orrery/copy", {"from": "dbs/shop", "to": "dbs/two"})
    assert len(account.query("dbs/two/colls/c", "SELECT c.id FROM c", [("x-orrery-whole", "true")])) == 60
    copied = account.do("GET", list_.replace("shop", "two"), None, [("x-ms-documentdb-partitionkey", '["59"]')])[2]["Attachments"]
    assert [one["id"] for one in copied] == ["a"], copied


def a_container_can_be_made_of_an_earlier_moment(server):
    account = Account(server)
    fill(account)
    orders = "dbs/shop/colls/orders"
    lsn = account.put(orders, {"id": "late", "pk": "1", "n": 1})[1]["x-ms-session-token"].split("#")[-1]
    before = sorted((item["id"], item["n"]) for item in account.query(orders, "SELECT * FROM c"))
    for n in range(20):
        account.delete(orders, str(n), str(n % 9))
    account.put(orders, {"id": "late", "pk": "1", "n": 2})
    account.put(orders, {"id": "later", "pk": "1", "n": 3})
    asked = {"container": orders, "at": lsn, "to": "dbs/shop/colls/before"}
    status, _, copied = account.do("POST", "/_orrery/restore", asked)
    assert (status, copied) == (201, {"containers": 1, "items": len(before)}), (status, copied)
    found = sorted((item["id"], item["n"]) for item in account.query("dbs/shop/colls/before", "SELECT * FROM c"))
    assert found == before
    account.do("GET", "/dbs/shop/colls/before/sprocs/p")
    assert account.do("GET", "/dbs/shop/colls/before")[2]["defaultTtl"] == 5000
    account.do("POST", "/_orrery/restore", asked, expect=(409,))
    account.do("POST", "/_orrery/restore", {**asked, "at": "2999-01-01T00:00:00Z", "to": "dbs/shop/colls/x"}, expect=(400,))
    account.do("POST", "/_orrery/restore", {**asked, "at": "9999999", "to": "dbs/shop/colls/x"}, expect=(400,))
    account.do("POST", "/_orrery/restore", {**asked, "container": "dbs/shop/colls/none", "to": "dbs/shop/colls/x"}, expect=(404,))
    account.do("POST", "/_orrery/restore", {**asked, "to": "x"}, expect=(400,))
    account.do("GET", "/dbs/shop/colls/x", expect=(404,))


def the_commands_copy_as_the_requests_do(server):
    account = Account(server)
    fill(account)

    def admin(*words):
        done = subprocess.run([server.program, "admin", *words, "--data", server.data], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    assert admin("copy", "dbs/shop", "dbs/two") == (0, '{"containers":2,"items":%d}\n' % COUNT)
    assert content(account, "two") == content(account, "shop")
    lsn = account.put("dbs/shop/colls/orders", {"id": "x", "pk": "1"})[1]["x-ms-session-token"].split("#")[-1]
    assert admin("restore", "dbs/shop/colls/orders", "--at", str(int(lsn) - 1), "--to", "dbs/shop/colls/old")[0] == 0
    assert len(account.query("dbs/shop/colls/old", "SELECT * FROM c")) == COUNT
    assert admin("copy", "dbs/shop")[0] == 2 and admin("restore", "dbs/shop/colls/orders")[0] == 2
    assert admin("copy", "dbs/none", "dbs/three")[0] == 1


def one_database_goes_back_and_the_others_stay(server):
    account = Account(server)
    fill(account)
    account.database("other")
    account.container("dbs/other/colls/c")
    account.snapshot("shop", database="shop")
    shop = content(account, "shop")
    for _ in range(2):
        old = account.put("dbs/shop/colls/orders", {"id": "late", "pk": "1", "n": 1})[1]["x-ms-session-token"]
        account.delete("dbs/shop/colls/orders", "3", "3")
        account.do("DELETE", "/dbs/shop/colls/empty")
        kept = account.put("dbs/other/colls/c", {"id": "kept", "pk": "1", "n": 1})
        account.restore("shop")
        assert content(account, "shop") == shop, "the database is not what it was"
        assert account.get("dbs/other/colls/c", "kept", "1", kept[1]["x-ms-session-token"])[2] == kept[2]
        account.get("dbs/shop/colls/orders", "5", "5", old)
    account.do("DELETE", "/dbs/shop")
    account.restore("shop")
    assert content(account, "shop") == shop
    assert account.do("GET", "/_orrery/snapshots")[2]["snapshots"][0]["database"] == "shop"
    account.do("POST", "/_orrery/snapshots", {"name": "x", "database": "none"}, expect=(404,))
    account.do("DELETE", "/_orrery/snapshots/shop")
    account.do("POST", "/_orrery/snapshots/shop/restore", expect=(404,))
    return shop


def one_database_that_went_back_stays_so_after_a_restart(server):
    shop = one_database_goes_back_and_the_others_stay(server)
    assert server.stop() == 0
    server.start()
    account = Account(server)
    assert content(account, "shop") == shop
    account.get("dbs/other/colls/c", "kept", "1")
    assert server.stop() == 0
    done = subprocess.run([server.program, "check", server.data], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
