"""test/sdk/python/scenario.py - the steps of ../scenario.md with azure-cosmos, and then queries.py, ranges.py and bearer.py."""
import sys
import traceback
import uuid
from datetime import datetime, timedelta, timezone

from azure.core import MatchConditions
from azure.cosmos import PartitionKey, exceptions
from azure.cosmos.partition_key import NonePartitionKeyValue, NullPartitionKeyValue

from bearer import Bearer
from queries import Queries, connect
from ranges import Ranges

NAME = "scenario-python-" + uuid.uuid4().hex[:8]
TEXT = "é 日本 😀 שלום \u2028 \\ \" /"
ODD_IDS = ["a b", "100%", "a+b&c=d@e:f", "'single' and \"double\"", "é日本😀", "a.b..c", "a;b,c$d!e*f(g)"]


def refused(status, call, *arguments, **options):
    """The call ends with this status and no other way."""
    try:
        call(*arguments, **options)
    except exceptions.CosmosHttpResponseError as problem:
        assert problem.status_code == status, "answered %s, not %d" % (problem.status_code, status)
        return
    raise AssertionError("succeeded, where %d was expected" % status)


class Scenario:
    def __init__(self):
        self.client = connect()
        self.database = self.single = self.levels = self.first = None

    def step_01_create_database(self):
        self.database = self.client.create_database(NAME)
        refused(409, self.client.create_database, NAME)

    def step_02_read_and_list_databases(self):
        assert self.database.read()["id"] == NAME
        assert NAME in [one["id"] for one in self.client.list_databases()]

    def step_03_create_container(self):
        self.single = self.database.create_container("single", PartitionKey("/pk"))
        policy = self.single.read()["indexingPolicy"]
        assert policy["indexingMode"] == "consistent" and policy["includedPaths"] == [{"path": "/*"}]

    def step_04_create_hierarchical_container(self):
        key = PartitionKey(["/tenant", "/user", "/session"], kind="MultiHash")
        self.levels = self.database.create_container("levels", key)
        refused(409, self.database.create_container, "levels", key)

    def step_05_create_item(self):
        self.first = self.single.create_item({"id": "1", "pk": "a", "n": 1, "text": TEXT, "list": [1, 2.5, None, True]})
        assert self.first["_etag"]

    def step_06_read_item(self):
        read = self.single.read_item("1", "a")
        assert read["text"] == TEXT and read["list"] == [1, 2.5, None, True] and read["_etag"] == self.first["_etag"]

    def step_07_read_absent_item(self):
        refused(404, self.single.read_item, "none", "a")

    def step_08_create_existing_item(self):
        refused(409, self.single.create_item, {"id": "1", "pk": "a"})

    def step_09_replace_item(self):
        replaced = self.single.replace_item("1", {"id": "1", "pk": "a", "n": 2})
        assert replaced["n"] == 2 and replaced["_etag"] != self.first["_etag"]

    def step_10_replace_on_condition(self):
        refused(412, self.single.replace_item, "1", {"id": "1", "pk": "a", "n": 9}, etag=self.first["_etag"],
                match_condition=MatchConditions.IfNotModified)
        assert self.single.read_item("1", "a")["n"] == 2

    def step_11_upsert_items(self):
        assert self.single.upsert_item({"id": "1", "pk": "a", "n": 3})["n"] == 3
        assert self.single.upsert_item({"id": "2", "pk": "a"})["id"] == "2"

    def step_12_odd_ids(self):
        for one in ODD_IDS:
            self.single.create_item({"id": one, "pk": "a"})
            assert self.single.read_item(one, "a")["id"] == one
            self.single.delete_item(one, "a")

    def step_13_null_and_undefined_keys(self):
        self.single.create_item({"id": "null", "pk": None})
        self.single.create_item({"id": "none"})
        assert self.single.read_item("null", NullPartitionKeyValue)["id"] == "null"
        assert self.single.read_item("none", NonePartitionKeyValue)["id"] == "none"

    def step_14_hierarchical_item(self):
        self.levels.create_item({"id": "1", "tenant": "t", "user": "u", "session": 5})
        assert self.levels.read_item("1", ["t", "u", 5])["session"] == 5
        refused(404, self.levels.read_item, "1", ["t", "u", 6])

    def step_15_read_by_pages(self):
        for n in range(25):
            self.single.create_item({"id": "many-%d" % n, "pk": "many"})
        pages = [list(page) for page in self.single.read_all_items(max_item_count=10).by_page()]
        assert all(len(page) <= 10 for page in pages)
        seen = [item["id"] for page in pages for item in page if item.get("pk") == "many"]
        assert len(seen) == len(set(seen)) == 25, len(seen)

    def step_16_replace_container(self):
        self.database.replace_container(self.single, PartitionKey("/pk"), default_ttl=3600)
        assert self.single.read()["defaultTtl"] == 3600

    def step_16b_throughput(self):
        assert self.single.get_throughput().offer_throughput == 400
        assert self.single.replace_throughput(700).offer_throughput == 700
        assert self.single.get_throughput().offer_throughput == 700
        refused(400, self.single.replace_throughput, 701)

    def step_17_patch_item(self):
        self.single.upsert_item({"id": "1", "pk": "a", "n": 3, "list": [1], "old": "text"})
        patched = self.single.patch_item("1", "a", [
            {"op": "add", "path": "/list/-", "value": 2}, {"op": "set", "path": "/a~1b", "value": None},
            {"op": "replace", "path": "/list/0", "value": 0}, {"op": "incr", "path": "/n", "value": 1.5},
            {"op": "move", "from": "/old", "path": "/new"}, {"op": "remove", "path": "/a~1b"}])
        assert patched["list"] == [0, 2] and patched["n"] == 4.5 and patched["new"] == "text"
        assert "old" not in patched and "a/b" not in patched
        raise_n = [{"op": "incr", "path": "/n", "value": 1}]
        assert self.single.patch_item("1", "a", raise_n, filter_predicate="from c where c.n > 4")["n"] == 5.5
        refused(412, self.single.patch_item, "1", "a", raise_n, filter_predicate="from c where c.n < 4")
        refused(400, self.single.patch_item, "1", "a", [{"op": "replace", "path": "/none", "value": 1}])

    def step_17b_batch(self):
        done = self.single.execute_item_batch([
            ("create", ({"id": "b1", "pk": "a", "n": 1},)), ("upsert", ({"id": "b1", "pk": "a", "n": 2},)),
            ("replace", ("b1", {"id": "b1", "pk": "a", "n": 3})),
            ("patch", ("b1", [{"op": "incr", "path": "/n", "value": 1}]), {"filter_predicate": "from c where c.n = 3"}),
            ("read", ("b1",)), ("create", ({"id": "b2", "pk": "a"},)), ("delete", ("b2",))], partition_key="a")
        assert [one["statusCode"] for one in done] == [201, 200, 200, 200, 200, 201, 204]
        assert done[4]["resourceBody"]["n"] == 4 and done[4]["eTag"] == done[3]["eTag"]
        try:
            self.single.execute_item_batch([
                ("create", ({"id": "b3", "pk": "a"},)), ("replace", ("b1", {"id": "b1", "pk": "a"}), {"if_match_etag": "old"}),
                ("delete", ("b1",))], partition_key="a")
            raise AssertionError("succeeded, where 412 was expected")
        except exceptions.CosmosBatchOperationError as problem:
            assert problem.status_code == 412 and problem.error_index == 1
            assert [one["statusCode"] for one in problem.operation_responses] == [424, 412, 424]
        refused(404, self.single.read_item, "b3", "a")
        refused(400, self.single.execute_item_batch, [], partition_key="a")
        refused(400, self.single.execute_item_batch, [("read", ("b1",))] * 101, partition_key="a")
        self.single.delete_item("b1", "a")

    def step_17c_change_feed(self):
        container = self.database.create_container("changes", PartitionKey("/pk"), offer_throughput=18000)
        for i in range(20):
            container.create_item({"id": str(i), "pk": "key-%d" % i, "n": 0})
        container.replace_item("3", {"id": "3", "pk": "key-3", "n": 1})
        container.delete_item("4", "key-4")
        seen = list(container.query_items_change_feed(start_time="Beginning", max_item_count=3))
        assert sorted(one["id"] for one in seen) == sorted(str(i) for i in range(20) if i != 4)
        assert [one["n"] for one in seen if one["id"] == "3"] == [1]
        token = container.client_connection.last_response_headers["etag"]
        assert not list(container.query_items_change_feed(continuation=token))
        container.create_item({"id": "new", "pk": "key-1", "n": 0})
        assert [one["id"] for one in container.query_items_change_feed(continuation=token)] == ["new"]
        assert [one["id"] for one in container.query_items_change_feed(start_time="Beginning", partition_key="key-7")] == ["7"]
        ranges = list(container.read_feed_ranges())
        parts = [[one["id"] for one in container.query_items_change_feed(start_time="Beginning", feed_range=part)] for part in ranges]
        assert len(parts) == 3 and sorted(sum(parts, [])) == sorted([str(i) for i in range(20) if i != 4] + ["new"])
        since = datetime.now(timezone.utc) - timedelta(hours=1)
        assert len(list(container.query_items_change_feed(start_time=since))) == 20

    def step_17d_all_versions(self):
        container = self.database.get_container_client("changes")
        mode = {"mode": "AllVersionsAndDeletes"}
        assert not list(container.query_items_change_feed(**mode))
        token = container.client_connection.last_response_headers["etag"]
        container.create_item({"id": "v", "pk": "v", "n": 1})
        container.replace_item("v", {"id": "v", "pk": "v", "n": 2})
        container.delete_item("v", "v")
        changes = list(container.query_items_change_feed(continuation=token, **mode))
        assert [one["metadata"]["operationType"] for one in changes] == ["create", "replace", "delete"]
        assert [one["current"].get("n") for one in changes] == [1, 2, None] and "previous" not in changes[1]

    def step_18_delete_by_key(self):
        self.single.delete_all_items_by_partition_key("many")
        assert not [item for item in self.single.read_all_items() if item.get("pk") == "many"]
        assert self.single.read_item("1", "a")["id"] == "1"

    def step_19_delete_item(self):
        self.single.delete_item("1", "a")
        refused(404, self.single.read_item, "1", "a")
        refused(404, self.single.delete_item, "1", "a")

    def step_20_delete_container(self):
        self.database.delete_container("levels")
        refused(404, self.levels.read)

    def step_21_delete_database(self):
        self.client.delete_database(NAME)
        refused(404, self.database.read)


def main():
    scenario, passed, failed = Scenario(), 0, 0
    for name in sorted(name for name in dir(scenario) if name.startswith("step_")):
        try:
            getattr(scenario, name)()
            passed += 1
        except Exception:
            failed += 1
            print("FAILED", name)
            traceback.print_exc(file=sys.stdout)
    for more in (Queries, Ranges, Bearer):
        counts = more(scenario.client).run()
        passed, failed = passed + counts[0], failed + counts[1]
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
