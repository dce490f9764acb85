"""test/advise/models.py - small models of data: each good, and each with faults planted in it.

A model is a function that gives {container: (definition, items)}. MODELS has for each the findings that it must have: pairs
of a rule and where it is found, "container type path" as far as there is one. A good model has none.
"""
import random

WORDS = "amber birch cedar dune ember fjord grove heath inlet juniper knoll larch moor north oak pine quarry ridge".split()


def chance():
    return random.Random(11)


def person(r, n, **more):
    """One person with what belongs to it: read together, changed together, few of each."""
    return {"id": "p%d" % n, "type": "person", "name": "%s %d" % (r.choice(WORDS), n),
            "addresses": [{"line": "%d %s street" % (i, r.choice(WORDS)), "zip": "%05d" % r.randrange(99999)} for i in range(r.randrange(1, 4))],
            "contacts": [{"email": "p%d@example.com" % n}], "born": "19%02d-0%d-1%d" % (r.randrange(30, 99), r.randrange(1, 9), r.randrange(9)), **more}


def people():
    r = chance()
    return {"people": ({"partitionKey": {"paths": ["/id"], "kind": "Hash"}}, [person(r, n) for n in range(200)])}


def people_with_large_pictures():
    items = people()
    items["people"][1][7]["picture"] = "x" * 1100000
    return items


def people_with_dead_members():
    r = chance()
    items = [person(r, n, middleName=None, remarks="", tags=[]) for n in range(200)]
    return {"people": ({"partitionKey": {"paths": ["/id"], "kind": "Hash"}}, items)}


def people_with_mixed_ages():
    r = chance()
    items = [person(r, n, age=n % 90 if n % 10 else str(n % 90)) for n in range(200)]
    return {"people": ({"partitionKey": {"paths": ["/id"], "kind": "Hash"}}, items)}


def people_with_mixed_dates():
    r = chance()
    ways = ["2026-01-%02dT10:00:00Z", "01/%02d/2026", "2026-01-%02d"]
    items = [person(r, n, joined=ways[n % 3] % (n % 28 + 1)) for n in range(200)]
    return {"people": ({"partitionKey": {"paths": ["/id"], "kind": "Hash"}}, items)}


def people_with_settings_by_name():
    r = chance()
    items = [person(r, n, visited={"place-%d" % r.randrange(5000): r.randrange(9) for _ in range(4)}) for n in range(200)]
    return {"people": ({"partitionKey": {"paths": ["/id"], "kind": "Hash"}}, items)}


def publishers(books_of):
    """Publishers beside their books: a reference in each book, as many books as there are."""
    r = chance()
    items = [{"id": "pub%d" % n, "type": "publisher", "publisherId": "pub%d" % n, "name": r.choice(WORDS)} for n in range(20)]
    items += [{"id": "b%d" % n, "type": "book", "publisherId": "pub%d" % (n % 20), "title": "%s %s" % (r.choice(WORDS), r.choice(WORDS))}
              for n in range(books_of)]
    return {"books": ({"partitionKey": {"paths": ["/publisherId"], "kind": "Hash"}}, items)}


def publishers_of_books():
    return publishers(400)


def publishers_with_all_books_inside():
    r = chance()
    items = [{"id": "pub%d" % n, "type": "publisher", "name": r.choice(WORDS),
              "books": [{"number": i, "title": "%s %d" % (r.choice(WORDS), i)} for i in range(3 + 1500 * (n == 4))]} for n in range(30)]
    return {"publishers": ({"partitionKey": {"paths": ["/id"], "kind": "Hash"}}, items)}


def books_of_publishers_that_are_gone():
    items = publishers(400)
    items["books"][1][30]["publisherId"] = "pub-gone"
    items["books"][1][31]["publisherId"] = "pub-lost"
    return items


def authors(books_of_author, drift):
    """Authors in one container, books with a copy of their authors' names in another."""
    r = chance()
    author = [{"id": "a%d" % n, "name": "%s %s" % (r.choice(WORDS), n), "country": r.choice(WORDS), "countOfBooks": books_of_author} for n in range(40)]
    book = [{"id": "b%d" % n, "title": "%s %d" % (r.choice(WORDS), n), "isbn": "978%010d" % (n * 7919),
             "authors": [{"id": a["id"], "name": a["name"]} for a in r.sample(author, r.randrange(1, 3))]} for n in range(300)]
    for n in range(drift):
        book[n * 3]["authors"][0]["name"] += " (old name)"
    key = {"partitionKey": {"paths": ["/id"], "kind": "Hash"}}
    return {"authors": (key, author), "books": (key, book)}


def authors_and_books():
    return authors(5, 0)


def authors_whose_names_drifted():
    return authors(5, 60)


def telemetry(key):
    r = chance()
    items = [{"id": "r%d" % n, "deviceId": "device-%d" % r.randrange(60), "site": "north" if n % 20 else r.choice(WORDS),
              "at": "2026-11-16T%02d:%02d:%02dZ" % (n // 60 // 60 % 24, n // 60 % 60, n % 60), "celsius": r.randrange(400) / 10} for n in range(600)]
    return {"readings": ({"partitionKey": {"paths": [key], "kind": "Hash"}}, items)}


def telemetry_by_device():
    return telemetry("/deviceId")


def telemetry_by_site():
    return telemetry("/site")


def places():
    """Shapes on the earth: coordinates are long, and of several kinds, by nature."""
    r = chance()
    ring = lambda n: [[[r.randrange(90), r.randrange(90)] for _ in range(n)]]
    items = [{"id": "%d" % n, "shape": {"type": "Polygon", "coordinates": ring(4 + 300 * (n % 40 == 0))} if n % 2 else
              {"type": "Point", "coordinates": [r.randrange(90), r.randrange(90)]}, "embedding": [r.random() for _ in range(128)]} for n in range(100)]
    return {"places": ({"partitionKey": {"paths": ["/id"], "kind": "Hash"}}, items)}


MODELS = {
    people: [],
    people_with_large_pictures: [("large-item", "people")],
    people_with_dead_members: [("dead-member", "people person /middleName"), ("dead-member", "people person /remarks"),
                               ("dead-member", "people person /tags")],
    people_with_mixed_ages: [("mixed-types", "people person /age")],
    people_with_mixed_dates: [("mixed-dates", "people person /joined")],
    people_with_settings_by_name: [("names-as-data", "people person /visited")],
    publishers_of_books: [],
    publishers_with_all_books_inside: [("unbounded-array", "publishers publisher /books")],
    books_of_publishers_that_are_gone: [("dangling-reference", "books book /publisherId")],
    authors_and_books: [],
    authors_whose_names_drifted: [("drifted-copy", "books /authors/[]")],
    telemetry_by_device: [],
    telemetry_by_site: [("skewed-key", "readings")],
    places: [],
}
