"""test/snapshots/account.py - a client that makes things, and tells all that there is."""
import json
import urllib.parse

from client import VERSION, Signed, authorization, date_of, encoded, resource_of
from server import KEY

KEY_OF = {"paths": ["/pk"], "kind": "Hash"}


class Refused(Exception):
    pass


class Account(Signed):
    def __init__(self, server):
        super().__init__(server.http, KEY)

    def do(self, method, target, body=None, headers=(), expect=None):
        """(status, headers, parsed body); raises when the status is not one of `expect`, or of a success."""
        status, answered, text = self.ask(method, target, list(headers), body)
        if status not in expect if expect else status >= 300:
            raise Refused("%s %s: %d %s" % (method, target, status, text))
        return status, answered, json.loads(text) if text else None

    def send(self, *arguments):
        """Not sent again on a new connection: one that is closed is a failure here."""
        return self.send_once(*arguments)

    def send_signed(self, method, target, headers, content):
        """(status, reason, headers, bytes) of a body that is no JSON."""
        date = date_of()
        token = authorization(self.key, method, *resource_of(target), (date, ""))
        return self.send(method, target, [("authorization", encoded(token)), ("x-ms-date", date), ("x-ms-version", VERSION), *headers], content)

    def database(self, name):
        return self.do("POST", "/dbs", {"id": name})[2]

    def container(self, link, **more):
        above, name = link.rsplit("/colls/", 1)
        return self.do("POST", "/%s/colls" % above, {"id": name, "partitionKey": KEY_OF, **more})[2]

    def put(self, link, body, expect=None):
        headers = [("x-ms-documentdb-partitionkey", json.dumps([body["pk"]])), ("x-ms-documentdb-is-upsert", "true")]
        return self.do("POST", "/%s/docs" % link, body, headers, expect)

    def bulk(self, link, items):
        operations = [{"operationType": "Create", "partitionKey": json.dumps([item["pk"]]), "resourceBody": item} for item in items]
        done = self.do("POST", "/%s/docs" % link, operations, [("x-ms-cosmos-is-batch-request", "true"), ("x-ms-cosmos-batch-continue-on-error", "true")])[2]
        assert all(one["statusCode"] == 201 for one in done), done

    def get(self, link, name, key, token=None, expect=None):
        headers = [("x-ms-documentdb-partitionkey", json.dumps([key]))]
        headers += [("x-ms-session-token", token)] if token else []
        return self.do("GET", "/%s/docs/%s" % (link, name), None, headers, expect)

    def delete(self, link, name, key):
        self.do("DELETE", "/%s/docs/%s" % (link, name), None, [("x-ms-documentdb-partitionkey", json.dumps([key]))])

    def query(self, link, text, headers=()):
        found = self.do("POST", "/%s/docs" % link, {"query": text},
                        [("x-ms-documentdb-isquery", "true"), ("content-type", "application/query+json"),
                         ("x-ms-documentdb-query-enablecrosspartition", "true"), ("x-ms-max-item-count", "1000"), *headers])
        return found[2]["Documents"]

    def changes(self, link, etag=None):
        """(items, etag) of the change feed from there on."""
        headers = [("A-IM", "Incremental feed")] + ([("If-None-Match", etag)] if etag else [])
        _, answered, body = self.do("GET", "/%s/docs" % link, None, headers, (200, 304))
        return (body or {}).get("Documents", []), answered["etag"]

    def snapshot(self, name, **more):
        return self.do("POST", "/_orrery/snapshots", {"name": name, **more})[2]

    def restore(self, name):
        self.do("POST", "/_orrery/snapshots/%s/restore" % name)

    def snapshots(self):
        return [one["name"] for one in self.do("GET", "/_orrery/snapshots")[2]["snapshots"]]

    def all(self):
        """Everything there is, by its link, with the properties that the server gives."""
        found = {}
        for database in self.do("GET", "/dbs")[2]["Databases"]:
            link = "dbs/" + urllib.parse.quote(database["id"])
            found[link] = database
            for user in self.do("GET", "/%s/users" % link)[2]["Users"]:
                found["%s/users/%s" % (link, user["id"])] = user
            for container in self.do("GET", "/%s/colls" % link)[2]["DocumentCollections"]:
                inside = "%s/colls/%s" % (link, urllib.parse.quote(container["id"]))
                found[inside] = container
                for script in self.do("GET", "/%s/sprocs" % inside)[2]["StoredProcedures"]:
                    found["%s/sprocs/%s" % (inside, script["id"])] = script
                for item in self.query(inside, "SELECT * FROM c"):
                    found["%s/docs/%s" % (inside, item["id"])] = item
                by_index = self.query(inside, "SELECT VALUE c.id FROM c WHERE c.n >= 0")
                found[inside + " by index"] = sorted(by_index)
        for offer in self.do("GET", "/offers")[2]["Offers"]:
            found["offers/" + offer["id"]] = offer
        return found
