"""test/sdk/python/flood.py - a server with --enforce-throughput: the SDK waits as it is told, and everything is done."""
import concurrent.futures
import time
import traceback
import uuid

from azure.cosmos import PartitionKey

from queries import connect

ITEMS, UNITS = 200, 400


def a_flood_is_slowed_down_and_finishes(database):
    container = database.create_container("flooded", PartitionKey("/pk"), offer_throughput=UNITS)
    spent = []

    def create(number):
        container.create_item({"id": str(number), "pk": str(number)},
                              response_hook=lambda headers, _: spent.append(float(headers["x-ms-request-charge"])))

    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(max_workers=32) as pool:
        list(pool.map(create, range(ITEMS)))
    seconds = time.monotonic() - began
    assert len(list(container.read_all_items())) == ITEMS
    assert seconds > 0.5 * (sum(spent) - UNITS) / UNITS, "%.0f request units in %.1f s" % (sum(spent), seconds)


def main():
    client = connect()
    database = client.create_database("flood-python-" + uuid.uuid4().hex[:8])
    try:
        a_flood_is_slowed_down_and_finishes(database)
        print("1 passed, 0 failed")
    except Exception:
        print("%s0 passed, 1 failed" % traceback.format_exc())
    client.delete_database(database.id)


if __name__ == "__main__":
    main()
