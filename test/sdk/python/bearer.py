"""test/sdk/python/bearer.py - azure-cosmos with a credential in the place of a key: the emulator's form of a token."""
import base64
import json
import os
import time
import traceback
import uuid

from azure.core.credentials import AccessToken
from azure.cosmos import PartitionKey, exceptions

from queries import connect

NAME = "bearer-python-" + uuid.uuid4().hex[:8]
KID = "CosmosEmulatorPrimaryMaster"


def encode(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Credential:
    """Gives out tokens that have the account's key where a signature would be."""

    def get_token(self, *scopes, **options):
        now = int(time.time())
        claims = {"aud": "https://localhost", "iss": "https://fake.example", "iat": now, "nbf": now, "exp": now + 3600, "sub": "python"}
        parts = [json.dumps({"typ": "JWT", "alg": "RS256", "kid": KID}), json.dumps(claims), os.environ["ORRERY_KEY"]]
        return AccessToken(".".join(encode(part.encode()) for part in parts), now + 3600)


class Bearer:
    def __init__(self, client):
        self.client, self.database = client, client.create_database(NAME)
        self.database.create_container("c", PartitionKey("/pk"))
        self.bearer = connect(Credential())
        self.container = self.bearer.get_database_client(NAME).get_container_client("c")

    def items(self):
        self.container.create_item({"id": "1", "pk": "a"})
        self.container.upsert_item({"id": "2", "pk": "a"})
        self.container.patch_item("1", "a", [{"op": "add", "path": "/n", "value": 1}])
        assert self.container.read_item("1", "a")["n"] == 1
        self.container.execute_item_batch([("create", ({"id": "3", "pk": "a"},))], "a")
        self.container.delete_item("3", "a")

    def reads(self):
        assert self.container.read()["id"] == "c"
        for found in (self.container.query_items("SELECT * FROM c", enable_cross_partition_query=True),
                      self.container.read_all_items(), self.container.query_items_change_feed(is_start_from_beginning=True)):
            assert sorted(item["id"] for item in found) == ["1", "2"]

    def definitions(self):
        for call in (lambda: self.bearer.create_database(NAME + "x"), lambda: self.bearer.delete_database(NAME),
                     lambda: self.container.get_throughput()):
            try:
                call()
            except exceptions.CosmosHttpResponseError as problem:
                assert (problem.status_code, problem.sub_status) == (403, 5300), problem
            else:
                raise AssertionError("a token changed definitions")

    def run(self):
        passed = failed = 0
        for step in (self.items, self.reads, self.definitions):
            try:
                step()
                passed += 1
            except Exception:
                failed += 1
                print("FAILED bearer", step.__name__)
                traceback.print_exc()
        self.client.delete_database(NAME)
        return passed, failed
