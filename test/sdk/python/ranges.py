"""test/sdk/python/ranges.py - ranges that split and merge under azure-cosmos, which finds its way by itself."""
import base64
import email.utils
import hashlib
import hmac
import json
import os
import ssl
import traceback
import urllib.parse
import urllib.request
import uuid

from azure.cosmos import PartitionKey

NAME = "ranges-python-" + uuid.uuid4().hex[:8]
ITEMS = 60


def admin(command, container, **wanted):
    """The SDK has no word for it: signed by hand."""
    date = email.utils.formatdate(usegmt=True)
    text = "post\n_orrery\n_orrery/%s\n%s\n\n" % (command, date.lower())
    signature = hmac.new(base64.b64decode(os.environ["ORRERY_KEY"]), text.encode(), hashlib.sha256).digest()
    token = urllib.parse.quote("type=master&ver=1.0&sig=" + base64.b64encode(signature).decode(), safe="")
    body = json.dumps({"container": "dbs/%s/colls/%s" % (NAME, container.id), **wanted}).encode()
    url = os.environ["ORRERY_ENDPOINT"].rstrip("/") + "/_orrery/" + command
    request = urllib.request.Request(url, body, {"authorization": token, "x-ms-date": date, "content-type": "application/json"})
    certificate = os.environ.get("ORRERY_CERTIFICATE")
    context = ssl.create_default_context(cafile=certificate) if certificate else None
    with urllib.request.urlopen(request, context=context) as answer:
        return [one["id"] for one in json.load(answer)["ranges"]]


class Ranges:
    def __init__(self, client):
        self.client, self.database = client, client.create_database(NAME)
        self.made = self.passed = self.failed = 0

    def container_of(self, throughput):
        self.made += 1
        container = self.database.create_container("c%d" % self.made, PartitionKey("/pk"), offer_throughput=throughput)
        for n in range(ITEMS):
            container.create_item({"id": str(n), "pk": "p%d" % (n % 20), "n": n})
        return container

    def numbers(self, pages, between):
        """What the pages have, with a split behind each of the first few."""
        found = []
        for at, page in enumerate(pages):
            found += [row["n"] for row in page]
            if at < 3:
                between()
        return found

    def query(self):
        container = self.container_of(12000)
        pages = container.query_items("SELECT c.n FROM c", enable_cross_partition_query=True, max_item_count=5).by_page()
        found = self.numbers(pages, lambda: admin("split", container))
        assert sorted(found) == list(range(ITEMS)), found

    def sorted_query(self):
        container = self.container_of(12000)
        pages = container.query_items("SELECT c.n FROM c ORDER BY c.n", enable_cross_partition_query=True, max_item_count=7).by_page()
        assert self.numbers(pages, lambda: admin("split", container)) == list(range(ITEMS))

    def iteration(self):
        container = self.container_of(400)
        found = self.numbers(container.read_all_items(max_item_count=10).by_page(), lambda: admin("split", container))
        assert sorted(found) == list(range(ITEMS)), found

    def feed_ranges(self):
        container = self.container_of(12000)
        before = list(container.read_feed_ranges())
        live = admin("split", container, parts=3)
        admin("merge", container, ranges=live[:2])
        found = [row["n"] for one in before for row in container.query_items("SELECT c.n FROM c", feed_range=one)]
        assert sorted(found) == list(range(ITEMS)), found

    def session(self):
        container = self.container_of(400)
        for n in range(5):
            container.upsert_item({"id": "s", "pk": "p1", "n": n})
            live = admin("split", container)
            assert container.read_item("s", "p1")["n"] == n
            if n % 2:
                admin("merge", container, ranges=live[:2])

    def changes(self, container, between=(), **wanted):
        """The numbers of the items that changed, with something done behind the first pages; and where it ended."""
        found = []
        for at, page in enumerate(container.query_items_change_feed(max_item_count=4, **wanted).by_page()):
            found += [row.get("current", row).get("n") for row in page]
            if at < len(between):
                between[at]()
        return found, container.client_connection.last_response_headers["etag"]

    def feed(self):
        container = self.container_of(12000)
        live = []
        steps = [lambda: live.extend(admin("split", container)), lambda: admin("merge", container, ranges=live)]
        found, token = self.changes(container, steps, start_time="Beginning")
        assert sorted(found) == list(range(ITEMS)), found
        admin("split", container)
        container.create_item({"id": "new", "pk": "p1", "n": ITEMS})
        assert self.changes(container, continuation=token)[0] == [ITEMS]

    def all_versions(self):
        container = self.container_of(12000)
        _, token = self.changes(container, start_time="Now", mode="AllVersionsAndDeletes")
        live = admin("split", container)
        container.upsert_item({"id": "3", "pk": "p3", "n": 300})
        admin("merge", container, ranges=live)
        container.delete_item("3", "p3")
        assert self.changes(container, continuation=token, mode="AllVersionsAndDeletes")[0] == [300, None]

    def attempt(self, sentence, run):
        try:
            run()
            self.passed += 1
        except Exception:
            self.failed += 1
            print("FAILED", sentence)
            traceback.print_exc()

    def run(self):
        self.attempt("a query goes on over splits", self.query)
        self.attempt("a sorted query goes on over splits, in order", self.sorted_query)
        self.attempt("an iteration over all items goes on over splits", self.iteration)
        self.attempt("feed ranges of before splits and merges have all items", self.feed_ranges)
        self.attempt("reads and writes of a session go on over splits and merges", self.session)
        self.attempt("the change feed goes on over splits and merges, and so does its token", self.feed)
        self.attempt("all versions and deletes go on over a split and a merge", self.all_versions)
        self.client.delete_database(NAME)
        return self.passed, self.failed
