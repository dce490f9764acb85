"""test/advise/works.py - small models with a workload: each good, and each with a fault planted in it.

A model is a function that gives {container: (definition, items)}, as in models.py, and a work is a function that asks and
changes what the model holds; nothing of the loading is recorded. WORKS has for each pair the findings that it must have.
"""
from models import WORDS, chance

BY = lambda *paths: {"partitionKey": {"paths": list(paths), "kind": "Hash", "version": 2}}


# ---- the partition key ----

def orders(key, customers=40, **definition):
    r = chance()
    items = [{"id": "o%d" % n, "customer": "customer-%d" % (n % customers), "total": r.randrange(900), "email": "e%d@example.com" % n} for n in range(400)]
    return {"orders": ({**BY(key), **definition}, items)}


def orders_by_id():
    return orders("/id")


def orders_by_customer():
    return orders("/customer")


def orders_of_few_customers_by_id():
    return orders("/id", 4)


def orders_in_three_ranges():
    return orders("/customer", headers=[("x-ms-offer-throughput", "18000")])


def ask_for_customers(work, customers=40):
    for n in range(120):
        work.query("orders", "SELECT * FROM c WHERE c.customer = @customer AND c.total > 10", customer="customer-%d" % (n % customers))


def ask_for_few_customers(work):
    ask_for_customers(work, 4)


def read_orders_and_ask_seldom(work):
    for n in range(300):
        work.read("orders", "o%d" % n, "o%d" % n)
    for n in range(20):
        work.query("orders", "SELECT c.id FROM c WHERE c.customer = @customer", customer="customer-%d" % n)


def ask_for_customers_and_for_emails(work):
    ask_for_customers(work)
    for n in range(110):
        work.query("orders", "SELECT c.id FROM c WHERE c.email = @email", email="e%d@example.com" % n)


def read_one_order_again_and_again(work):
    for n in range(600):
        customer = 7 if n % 5 < 2 else n % 40
        work.read("orders", "o%d" % customer, "customer-%d" % customer)


def read_all_orders(work):
    for n in range(600):
        work.read("orders", "o%d" % (n % 400), "customer-%d" % (n % 40))


# ---- counts ----

def links():
    return {"links": (BY("/authorId"), [{"id": "l%d" % n, "authorId": "a%d" % (n % 30), "book": "b%d" % n} for n in range(300)])}


def count_links(work):
    for n in range(80):
        work.query("links", "SELECT VALUE COUNT(1) FROM l WHERE l.authorId = @author", author="a%d" % (n % 30))


def count_links_that_change(work):
    count_links(work)
    for n in range(40):
        work.create("links", {"id": "new%d" % n, "authorId": "a%d" % n, "book": "b"}, "a%d" % n)


def count_links_of_books(work):
    """What is counted differs from time to time: nobody could keep it."""
    for n in range(80):
        work.query("links", "SELECT VALUE COUNT(1) FROM l WHERE l.authorId = @author AND l.book > @book", author="a%d" % (n % 30), book="b%d" % n)


# ---- parts that change ----

def products(words):
    r = chance()
    items = [{"id": "p%d" % n, "name": r.choice(WORDS), "text": " ".join(r.choice(WORDS) for _ in range(words)),
              "stock": {"count": r.randrange(99), "place": r.choice(WORDS)}} for n in range(60)]
    return {"products": (BY("/id"), items)}


def large_products():
    return products(1200)


def small_products():
    return products(5)


def change_stocks(work):
    for n in range(70):
        work.patch("products", "p%d" % (n % 60), "p%d" % (n % 60), "/stock/count", 1000 + n)


def change_stocks_and_names(work):
    for n in range(70):
        work.patch("products", "p%d" % (n % 60), "p%d" % (n % 60), "/stock/count" if n % 2 else "/name", 1000 + n if n % 2 else "name %d" % n)


# ---- what is read together ----

def people_and_contacts(contacts=3):
    people = [{"id": "p%d" % n, "name": "person %d" % n} for n in range(70)]
    items = [{"id": "c%d" % n, "personId": "p%d" % (n % 70), "email": "c%d@example.com" % n} for n in range(70 * contacts)]
    return {"people": (BY("/id"), people), "contacts": (BY("/personId"), items)}


def people_and_many_messages():
    return people_and_contacts(30)


def read_people_with_contacts(work):
    for n in range(70):
        work.read("people", "p%d" % n, "p%d" % n)
        work.query("contacts", "SELECT * FROM c WHERE c.personId = @person", person="p%d" % n)


def read_people_mostly_alone(work):
    for n in range(70):
        work.read("people", "p%d" % n, "p%d" % n)
        if n % 4 == 0:
            work.query("contacts", "SELECT * FROM c WHERE c.personId = @person", person="p%d" % n)


# ---- indexes ----

def tickets(policy=None):
    r = chance()
    items = [{"id": "t%d" % n, "shop": "shop-%d" % (n % 2), "state": "state-%d" % (n // 2 % 25), "at": "2026-01-01T%02d:%02d:00Z" % (n * 7919 % 24, n % 60),
              "subject": r.choice(WORDS)} for n in range(1200)]
    return {"tickets": ({**BY("/shop"), **({"indexingPolicy": policy} if policy else {})}, items)}


def tickets_with_single_indexes():
    return tickets()


def tickets_with_a_composite_index():
    return tickets({"indexingMode": "consistent", "includedPaths": [{"path": "/*"}],
                    "compositeIndexes": [[{"path": "/shop"}, {"path": "/state"}, {"path": "/at"}], [{"path": "/state"}, {"path": "/at"}]]})


def ask_for_the_oldest_tickets(work):
    for n in range(60):
        work.query("tickets", "SELECT TOP 1 * FROM c WHERE c.state = @state ORDER BY c.at", key="shop-%d" % (n % 2), state="state-%d" % (n % 25))


def device(n):
    r = chance()
    return {"id": "d%d" % n, "device": "device-%d" % (n % 30), "at": "2026-%02d-01T00:00:00Z" % (n % 12 + 1),
            **{"%s%d" % (word, i): r.randrange(1000) for i, word in enumerate(WORDS[:12])}}


def devices(**definition):
    return {"devices": ({**BY("/device"), **definition}, [device(n) for n in range(120)])}


def devices_that_index_all():
    return devices()


def devices_that_index_what_is_asked():
    return devices(indexingPolicy={"indexingMode": "consistent", "includedPaths": [{"path": "/device/?"}, {"path": "/at/?"}], "excludedPaths": [{"path": "/*"}]})


def devices_that_expire():
    return devices(defaultTtl=3600)


def write_devices_and_ask_by_time(work):
    for n in range(210):
        work.create("devices", device(1000 + n), device(1000 + n)["device"])
    for n in range(110):
        work.query("devices", "SELECT c.id FROM c WHERE c.device = @device AND c.at > @at", device="device-%d" % (n % 30), at="2026-06-01T00:00:00Z")


def delete_what_is_old(work):
    for found in work.query("devices", "SELECT c.id, c.device FROM c WHERE c.at < @at", at="2026-07-01T00:00:00Z"):
        work.delete("devices", found["id"], found["device"])


def delete_others(work):
    work.query("devices", "SELECT c.id FROM c WHERE c.at < @at", at="2026-02-01T00:00:00Z")
    for n in range(60):
        work.delete("devices", "d%d" % n, "device-%d" % (n % 30))


WORKS = {
    (orders_by_id, ask_for_customers): [("key-not-named", "orders")],
    (orders_by_customer, ask_for_customers): [],
    (orders_of_few_customers_by_id, ask_for_few_customers): [("key-not-named", "orders")],
    (orders_by_id, read_orders_and_ask_seldom): [],
    (orders_in_three_ranges, ask_for_customers_and_for_emails): [("fan-out", "orders")],
    (orders_in_three_ranges, ask_for_customers): [],
    (orders_by_customer, read_one_order_again_and_again): [("hot-key", "orders")],
    (orders_by_customer, read_all_orders): [],
    (links, count_links): [("repeated-count", "links")],
    (links, count_links_that_change): [],
    (links, count_links_of_books): [],
    (large_products, change_stocks): [("busy-part", "products /stock")],
    (large_products, change_stocks_and_names): [],
    (small_products, change_stocks): [],
    (people_and_contacts, read_people_with_contacts): [("read-together", "contacts /personId")],
    (people_and_contacts, read_people_mostly_alone): [],
    (people_and_many_messages, read_people_with_contacts): [],
    (tickets_with_single_indexes, ask_for_the_oldest_tickets): [("missing-composite", "tickets")],
    (tickets_with_a_composite_index, ask_for_the_oldest_tickets): [],
    (devices_that_index_all, write_devices_and_ask_by_time): [("unasked-paths", "devices")],
    (devices_that_index_what_is_asked, write_devices_and_ask_by_time): [],
    (devices_that_index_what_is_asked, delete_what_is_old): [("ttl-by-hand", "devices /at")],
    (devices_that_expire, delete_what_is_old): [],
    (devices_that_index_what_is_asked, delete_others): [],
}
