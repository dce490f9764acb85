"""test/advise/samples.py - the worked models of samples/, good and bad, under the work that docs/modelling/ speaks of.

SAMPLES has for each variant the work, and the findings that it must have: what its page calls wrong, and nothing else.
"""
TIMES = 120
PEOPLE = ["andersen", "wakefield", "okafor"]


def read_people(work):
    """A person's page: all there is about one person."""
    for n in range(TIMES):
        work.read("people", PEOPLE[n % 3], PEOPLE[n % 3])


def read_people_in_parts(work):
    for n in range(TIMES):
        name = PEOPLE[n % 3]
        work.read("people", name, name)
        work.query("addresses", "SELECT a.city, a.zip FROM a WHERE a.personId = @person", person=name)
        work.query("contacts", 'SELECT c.kind, c["value"] FROM c WHERE c.personId = @person', person=name)


def show_authors(work):
    """An author's page is one query within one key, and the count is kept."""
    for n in range(TIMES):
        author = ("leguin", "pratchett", "gaiman")[n % 3]
        work.query("library", "SELECT c.type, c.name, c.countOfBooks, c.title, c.year FROM c WHERE c.author = @author", author=author)
        work.read("library", "author", author)


def show_authors_by_links(work):
    for n in range(TIMES):
        author = ("leguin", "pratchett", "gaiman")[n % 3]
        work.read("authors", author, author)
        books = work.query("links", "SELECT VALUE l.bookId FROM l WHERE l.authorId = @author", author=author)
        work.query("books", "SELECT b.title, b.year FROM b WHERE b.id IN (@first, @last)", first=books[0], last=books[-1])
        work.query("links", "SELECT VALUE COUNT(1) FROM l WHERE l.authorId = @author", author=author)


def publish(work):
    """New books, and what a publisher has of a price."""
    for n in range(TIMES):
        publisher = ("orbit", "mspress")[n % 2]
        work.create("catalogue", {"id": "new%d" % n, "publisher": publisher, "type": "book", "title": "New %d" % n, "price": n % 9}, publisher)
        work.query("catalogue", "SELECT TOP 3 c.title, c.price FROM c WHERE c.publisher = @publisher AND c.type = 'book' AND c.price = @price",
                   publisher=publisher, price=n % 9)


def publish_inside(work):
    for n in range(TIMES):
        publisher = ("orbit", "mspress")[n % 2]
        work.add("catalogue", publisher, publisher, "/books/-", {"id": "new%d" % n, "title": "New %d" % n, "price": n % 9})
        work.query("catalogue", "SELECT b.title, b.price FROM c JOIN b IN c.books WHERE c.id = @publisher AND b.price = @price", publisher=publisher, price=n % 9)


def measure(work):
    """Buckets of an hour, under device and day."""
    for n in range(5 * TIMES):
        key = "pump%d-2026-03-%02d" % (n % 4 + 1, n // 4 % 25 + 4)
        work.create("readings", {"id": "h%d" % n, "deviceDay": key, "device": key[:5], "day": key[6:], "hour": n % 24, "count": 1, "sum": n, "max": n, "values": [n]}, key)
    for n in range(TIMES):
        work.query("readings", "SELECT c.hour, c.max FROM c WHERE c.deviceDay = @key AND c.hour < 4", key="pump%d-2026-03-0%d" % (n % 4 + 1, n % 2 + 1))


def measure_by_day(work):
    for n in range(5 * TIMES):
        work.create("readings", {"id": "new%d" % n, "day": "2026-03-03", "device": "pump%d" % (n % 4), "hour": n % 24, "minute": 1, "value": n}, "2026-03-03")


def order(work):
    """Orders of tenants' users, and what a tenant has ordered."""
    for n in range(5 * TIMES):
        tenant, user = ("acme", "bolt", "crown")[n % 3], "u%d" % (n % 13)
        work.create("work", {"id": "new%d" % n, "tenant": tenant, "user": user, "type": "order", "total": n}, [tenant, user])
    for n in range(TIMES):
        work.query("work", "SELECT c.id, c.total FROM c WHERE c.tenant = @tenant AND c.user = @user AND c.type = 'order'",
                   tenant=("acme", "bolt", "crown")[n % 3], user="u%d" % (n % 13))
        work.query("work", "SELECT COUNT(1) AS orders, SUM(c.total) AS total FROM c WHERE c.tenant = @tenant AND c.type = 'order'", tenant=("acme", "bolt", "crown")[n % 3])


def order_by_type(work):
    for n in range(5 * TIMES):
        work.create("work", {"id": "new%d" % n, "tenant": ("acme", "bolt", "crown")[n % 3], "user": "u%d" % (n % 13), "type": "order", "total": n}, "order")
    for n in range(TIMES):
        work.query("work", "SELECT c.id, c.total FROM c WHERE c.tenant = @tenant AND c.user = @user AND c.type = 'order'",
                   tenant=("acme", "bolt", "crown")[n % 3], user="u%d" % (n % 13))


SAMPLES = {
    "person": (read_people, []),
    "person/bad": (read_people_in_parts, [("read-together", "addresses /personId"), ("read-together", "contacts /personId")]),
    "books": (show_authors, []),
    "books/bad": (show_authors_by_links, [("key-not-named", "links"), ("repeated-count", "links"), ("read-together", "links /authorId")]),
    "publishers": (publish, []),
    "publishers/bad": (publish_inside, [("unbounded-array", "catalogue /books")]),
    "telemetry": (measure, []),
    "telemetry/bad": (measure_by_day, [("hot-key", "readings")]),
    "tenants": (order, []),
    "tenants/bad": (order_by_type, [("hot-key", "work")]),
}
