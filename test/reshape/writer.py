"""test/reshape/writer.py - writes orders by a seed, and knows which of them must be there.

It is a client like others: it goes by the partition key that it knows of the container, and looks again when it is told that
something is wrong. What it was told to come back with, it does later.
"""
import json
import random
import threading


class Writer:
    def __init__(self, account, link, seed, name="w"):
        self.account, self.link, self.name = account, link, name
        self.random = random.Random(seed)
        self.items, self.count, self.waits = {}, 0, 0
        self.look()

    def look(self):
        self.path = self.account.must(200, "GET", self.link, [])["partitionKey"]["paths"][0].strip("/")

    def key_of(self, item):
        return [("x-ms-documentdb-partitionkey", json.dumps([item[self.path]]))]

    def order(self, name, customer):
        lines = [{"sku": "s%d" % i, "count": self.random.randrange(9)} for i in range(self.random.randrange(4))]
        return {"id": name, "customer": customer, "total": self.random.randrange(1000), "lines": lines}

    def ask(self, method, place, item, body=None):
        """True: it was done. False: it is to be done later."""
        for _ in range(2):
            status, _, text = self.account.ask(method, self.link + "/docs" + place, self.key_of(item), body)
            if status in (200, 201, 204):
                return True
            if status in (429, 449):
                self.waits += 1
                return False
            if status not in (400, 404):
                break
            self.look()  # another container has the name by now, with another key
        raise AssertionError("%s %s: %s %s" % (method, place, status, text[:300]))

    def step(self):
        choice = self.random.random()
        if choice < 0.5 or not self.items:
            self.count += 1
            item = self.order("%s%d" % (self.name, self.count), "c%d" % self.random.randrange(7))
            if self.ask("POST", "", item, item):
                self.items[item["id"]] = item
            return
        name = self.random.choice(sorted(self.items))
        old = self.items[name]
        if choice < 0.8:
            item = self.order(name, old["customer"])
            if self.ask("PUT", "/" + name, old, item):
                self.items[name] = item
        elif self.ask("DELETE", "/" + name, old):
            del self.items[name]
            if self.path == "customer" and choice < 0.95:
                self.move(name, old)

    def move(self, name, old):
        """An item of the same id under another partition key, which may lie in another bucket."""
        item = self.order(name, old["customer"] + "'")
        if self.ask("POST", "", item, item):
            self.items[name] = item

    def steps(self, count):
        for _ in range(count):
            self.step()


class Families:
    """People, and contacts that belong to them: some come before their person, go to another one, or are left without any."""

    def __init__(self, account, database, seed, together=False):
        self.account, self.random = account, random.Random(seed)
        self.links = {"person": "/%s/colls/people" % database, "contact": "/%s/colls/%s" % (database, "people" if together else "contacts")}
        self.items, self.count = {}, 0

    def ask(self, method, item, place="", body=None):
        key = [("x-ms-documentdb-partitionkey", json.dumps([item["house"]]))]
        status, _, text = self.account.ask(method, self.links[item["type"]] + "/docs" + place, key, body)
        if status in (429, 449):
            return False
        if status not in (200, 201, 204):
            raise AssertionError("%s %s: %s %s" % (method, item, status, text[:300]))
        return True

    def owner(self):
        """One of the people, or one who is not there, and may come."""
        return "p%d" % self.random.randrange(12)

    def create(self, item):
        if item["id"] not in self.items and self.ask("POST", item, body=item):
            self.items[item["id"]] = item

    def contact(self, name, house):
        return {"id": name, "type": "contact", "house": house, "person": self.owner(), "at": self.random.randrange(5), "email": "%s@%d" % (name, self.random.randrange(99))}

    def step(self):
        choice = self.random.random()
        if choice < 0.2:
            name = self.owner()
            self.create({"id": name, "type": "person", "house": "h%d" % (int(name[1:]) % 3), "name": "n%d" % self.random.randrange(99)})
        elif choice < 0.5 or not self.items:
            self.count += 1
            self.create(self.contact("c%d" % self.count, "h%d" % self.random.randrange(3)))
        else:
            self.change(self.items[self.random.choice(sorted(self.items))], choice < 0.8)

    def change(self, old, replaces):
        if not replaces:
            if self.ask("DELETE", old, "/" + old["id"]):
                del self.items[old["id"]]
            return
        new = self.contact(old["id"], old["house"]) if old["type"] == "contact" else {**old, "name": "n%d" % self.random.randrange(99)}
        if self.ask("PUT", old, "/" + old["id"], new):
            self.items[old["id"]] = new

    def steps(self, count):
        for _ in range(count):
            self.step()

    def end_orphans(self):
        for item in list(self.items.values()):
            if item["type"] == "contact" and not self.owner_of(item):
                self.change(item, False)

    def owner_of(self, contact):
        person = self.items.get(contact["person"])
        return person if person and person["house"] == contact["house"] else None

    def wanted(self):
        """People as they are to be, with their contacts in them."""
        wanted = {item["id"]: {**item, "contacts": []} for item in self.items.values() if item["type"] == "person"}
        for item in sorted(self.items.values(), key=lambda item: (item.get("at", 0), json.dumps([item["id"]]))):
            if item["type"] == "contact" and self.owner_of(item):
                wanted[item["person"]]["contacts"].append({"email": item["email"]})
        return wanted


STEPS_OF_A_REQUEST = 10  # of each writer


class Background:
    """Writers of their own threads, until they are told to end. For each request of the command they get ahead by some steps at most:
    else whoever is faster decides how long it takes."""

    def __init__(self, writers, command):
        self.ended, self.failures = threading.Event(), []
        self.steps = [threading.Semaphore(STEPS_OF_A_REQUEST) for _ in writers]
        command.before = self.go_on
        self.threads = [threading.Thread(target=self.run, args=pair) for pair in zip(writers, self.steps)]

    def go_on(self):
        for steps in self.steps:
            steps.release(STEPS_OF_A_REQUEST)

    def run(self, writer, steps):
        try:
            while not self.ended.is_set():
                if steps.acquire(timeout=0.1):
                    writer.step()
            writer.step()  # whatever has the name at the end
        except Exception as failure:
            self.failures.append(failure)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        for thread in self.threads:
            thread.join()
        if self.failures:
            raise self.failures[0]
