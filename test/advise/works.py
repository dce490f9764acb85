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


def people_who_count_their_contacts():
    model = people_and_contacts()
    for person in model["people"][1]:
        person["contacts"] = 3
    return model


def people_among_contacts():
    model = people_and_contacts()
    return {"people": (BY("/id"), model["people"][1] + model["contacts"][1])}


def read_people_with_contacts_among_them(work):
    for n in range(70):
        work.read("people", "p%d" % n, "p%d" % n)
        work.query("people", "SELECT * FROM c WHERE c.personId = @person", person="p%d" % n)


def people_and_many_messages():
    return people_and_contacts(30)


def people_by_house(contact, *further):
    """Numbers of people begin anew in every other house, so that an id is not enough to name one."""
    houses = ["house %d" % (n % 7) for n in range(70)]
    people = [{"id": "p%d" % n, "house": houses[n], "name": "person %d" % n} for n in range(70)]
    people += [{"id": "p%d" % n, "house": "annex", "name": "guest %d" % n} for n in range(0, 70, 2)]
    items = [{"id": "c%d" % n, "personId": "p%d" % (n % 70), **contact(n, houses[n % 70])} for n in range(210)]
    key = {"paths": ["/house", *further], "kind": "MultiHash" if further else "Hash", "version": 2}
    return {"people": ({"partitionKey": key}, people), "contacts": (BY("/personId"), items)}


def people_by_house_and_contacts_that_know_it():
    """/seenAt is the house for most of them only: it is not the one to go by."""
    return people_by_house(lambda n, house: {"seenAt": house if n % 10 else "elsewhere", "home": house})


def people_by_house_and_contacts_that_know_it_twice():
    """One of them is nobody's, which says nothing of the others."""
    model = people_by_house(lambda n, house: {"home": house, "house": house})
    model["contacts"][1][0].update(personId="nobody", home="nowhere", house="nowhere")
    return model


def people_by_house_and_name():
    return people_by_house(lambda n, house: {"called": "person %d" % (n % 70), "home": house}, "/name")


def people_by_house_and_contacts_that_do_not_know_it():
    return people_by_house(lambda n, house: {"seenAt": house if n % 10 else "elsewhere"})


def read_people_of_houses_with_contacts(work):
    for n in range(70):
        work.read("people", "p%d" % n, "house %d" % (n % 7))
        work.query("contacts", "SELECT * FROM c WHERE c.personId = @person", person="p%d" % n)


def read_people_of_houses_by_name_with_contacts(work):
    for n in range(70):
        work.read("people", "p%d" % n, ["house %d" % (n % 7), "person %d" % n])
        work.query("contacts", "SELECT * FROM c WHERE c.personId = @person", person="p%d" % n)


def read_people_of_houses_mostly_alone(work):
    for n in range(70):
        work.read("people", "p%d" % n, "house %d" % (n % 7))
        if n % 4 == 0:
            work.query("contacts", "SELECT * FROM c WHERE c.personId = @person", person="p%d" % n)


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


# ---- what is unique ----

def user(n):
    return {"id": "u%d" % n, "tenant": "t%d" % (n % 20), "email": "e%d@example.com" % n, "name": "%s %d" % (WORDS[n % 18], n // 3)}


def users(**definition):
    return {"users": ({**BY("/tenant"), **definition}, [user(n) for n in range(200)])}


def users_undeclared():
    return users()


def users_with_a_unique_key():
    return users(uniqueKeyPolicy={"uniqueKeys": [{"paths": ["/email"]}]})


def ask_for_email(work, n):
    work.query("users", "SELECT c.id FROM c WHERE c.tenant = @tenant AND c.email = @email", tenant=user(n)["tenant"], email=user(n)["email"])


def sign_up(work):
    """Whether the address is taken, and if not, a user with it."""
    for n in range(1000, 1060):
        ask_for_email(work, n)
        work.create("users", user(n), user(n)["tenant"])


def sign_up_and_log_in(work):
    """The address finds the user: it is no look before a create, though as many are created."""
    for n in range(60):
        ask_for_email(work, n)
        work.create("users", user(1000 + n), user(1000 + n)["tenant"])


def sign_up_by_name(work):
    """A name that others have, too."""
    for n in range(1000, 1060):
        work.query("users", "SELECT c.id FROM c WHERE c.tenant = @tenant AND c.name = @name", tenant=user(n)["tenant"], name="nobody %d" % n)
        work.create("users", {**user(n), "name": "heath"}, user(n)["tenant"])


# ---- tenants ----

def papers(key):
    items = [{"id": "d%d" % n, key: "t0" if n < 200 else "t%d" % (n % 19 + 1), "title": "%s %d" % (WORDS[n % 18], n)} for n in range(400)]
    return {"papers": (BY("/" + key), items)}


def papers_of_tenants():
    return papers("tenantId")


def papers_of_shelves():
    return papers("shelf")


def read_papers(work, of_the_large, of_others):
    for n in range(600):
        number = n % 200 if n % 10 < of_the_large else 200 + n % 200
        work.read("papers", "d%d" % number, "t0" if number < 200 else "t%d" % (number % 19 + 1))


def read_papers_of_the_large(work):
    read_papers(work, 5, 5)


def read_papers_of_all(work):
    read_papers(work, 1, 9)


# ---- containers that clients choose among ----

MONTHS = ["%s-%02d" % (year, month) for year in (2023, 2024, 2025) for month in range(1, 13)]


def parted(names, path, values):
    """Containers of one form; of each the values that its items have at the path."""
    return {name: (BY("/" + path), [{"id": "%s%d" % (name, n), path: values[i][n % len(values[i])], "total": n % 7} for n in range(60)])
            for i, name in enumerate(names)}


def orders_by_year():
    return parted(["y2023", "y2024", "y2025"], "month", [MONTHS[:12], MONTHS[12:24], MONTHS[24:]])


def orders_by_tenant():
    return parted(["acme", "bolt", "crown"], "tenant", [["acme"], ["bolt"], ["crown"]])


def orders_by_hash():
    return parted(["part0", "part1", "part2"], "user", [["u%d" % n for n in range(30) if n % 3 == part] for part in range(3)])


def ask_every(work, names, path, values):
    for n in range(60):
        for name in names:
            work.query(name, "SELECT * FROM c WHERE c.%s = @value" % path, value=values[n % len(values)])


def ask_every_year(work):
    ask_every(work, ["y2023", "y2024", "y2025"], "month", MONTHS)


def ask_the_right_year(work):
    for n in range(180):
        month = MONTHS[n % 36]
        work.query("y" + month[:4], "SELECT * FROM c WHERE c.month = @value", value=month)


def ask_every_tenant(work):
    ask_every(work, ["acme", "bolt", "crown"], "tenant", ["acme", "bolt", "crown"])


def ask_every_part(work):
    ask_every(work, ["part0", "part1", "part2"], "user", ["u%d" % n for n in range(30)])


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
    (people_by_house_and_contacts_that_know_it, read_people_of_houses_with_contacts): [("read-together", "contacts /personId")],
    (people_by_house_and_contacts_that_know_it, read_people_of_houses_mostly_alone): [],
    (people_by_house_and_contacts_that_do_not_know_it, read_people_of_houses_with_contacts): [("read-together", "contacts /personId")],
    (people_and_many_messages, read_people_with_contacts): [("two-containers", "contacts /personId")],
    (people_and_many_messages, read_people_mostly_alone): [],
    (tickets_with_single_indexes, ask_for_the_oldest_tickets): [("missing-composite", "tickets")],
    (tickets_with_a_composite_index, ask_for_the_oldest_tickets): [],
    (devices_that_index_all, write_devices_and_ask_by_time): [("unasked-paths", "devices")],
    (devices_that_index_what_is_asked, write_devices_and_ask_by_time): [],
    (devices_that_index_what_is_asked, delete_what_is_old): [("ttl-by-hand", "devices /at")],
    (devices_that_expire, delete_what_is_old): [],
    (devices_that_index_what_is_asked, delete_others): [],
    (users_undeclared, sign_up): [("unique-by-hand", "users /email")],
    (users_with_a_unique_key, sign_up): [],
    (users_undeclared, sign_up_and_log_in): [],
    (users_undeclared, sign_up_by_name): [],
    (papers_of_tenants, read_papers_of_the_large): [("skewed-key", "papers"), ("hot-key", "papers"), ("large-tenant", "papers")],
    (papers_of_tenants, read_papers_of_all): [("skewed-key", "papers")],
    (papers_of_shelves, read_papers_of_the_large): [("skewed-key", "papers"), ("hot-key", "papers")],
    (orders_by_year, ask_every_year): [("no-resolver", "y2023 /month")],
    (orders_by_year, ask_the_right_year): [],
    (orders_by_tenant, ask_every_tenant): [("no-resolver", "acme /tenant")],
    (orders_by_hash, ask_every_part): [("no-resolver", "part0 /user")],
}
