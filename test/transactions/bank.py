"""test/transactions/bank.py - transfers between accounts in two containers. All the money there is never changes."""
import random
import threading

from account import Account, Place, expect
from disturb import Disturber

TELLERS, AUDITORS = 4, 2
ACCOUNTS_EACH, OPENING = 6, 100
LINKS = ("/dbs/bank/colls/giro", "/dbs/vault/colls/savings")
KEYS = 3


def places():
    return [Place(link.split("/")[2], link.split("/")[4], ["k%d" % (n % KEYS)], "a%d" % n) for link in LINKS for n in range(ACCOUNTS_EACH)]


def prepare(account, all_places):
    for link in LINKS:
        _, _, database, _, container = link.split("/")
        account.must(201, "POST", "/dbs", (), {"id": database})
        account.must(201, "POST", "/dbs/%s/colls" % database, (),
                     {"id": container, "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}})
    opened = [Account.operation("Create", place, index, {"id": place.id, "pk": place.key[0], "balance": OPENING})
              for index, place in enumerate(all_places)]
    status, rows = account.transact(opened)
    expect(status == 200, "the bank did not open: %s", rows)


class Teller:
    """Moves money that is there: a patch on condition that there is enough, and one that takes it."""

    def __init__(self, url, number, seed, all_places):
        self.account, self.places = Account(url), all_places
        self.random = random.Random("%d teller %d" % (seed, number))
        self.moved = self.refused = 0

    def run(self, steps, ended):
        for _ in range(steps):
            if ended.is_set():
                return
            self.transfer()

    def transfer(self):
        source, target = self.random.sample(self.places, 2)
        amount = self.random.randint(1, OPENING)
        take = {"condition": "FROM c WHERE c.balance >= %d" % amount, "operations": [{"op": "incr", "path": "/balance", "value": -amount}]}
        give = {"operations": [{"op": "incr", "path": "/balance", "value": amount}]}
        if source.home == target.home and source.key == target.key:
            status, _, rows = self.account.batch(source, [
                {"operationType": "Patch", "id": source.id, "resourceBody": take}, {"operationType": "Patch", "id": target.id, "resourceBody": give}])
        else:
            status, rows = self.account.transact([Account.operation("Patch", source, 0, take), Account.operation("Patch", target, 1, give)])
        if status == 200:
            self.moved += 1
            return
        expect(status == 449 or rows[0]["statusCode"] == 412, "a transfer was refused by %s", rows)
        self.refused += 1


class Auditor:
    """Adds up what it sees at one moment."""

    def __init__(self, url, all_places):
        self.account, self.places, self.sums = Account(url), all_places, 0

    def run(self, _, ended):
        while not ended.is_set():
            status, rows = self.account.read_together(self.places)
            balances = [row["resourceBody"]["balance"] for row in rows if "resourceBody" in row]
            expect(status == 200 and sum(balances) == OPENING * len(self.places), "%d, %s: %s", status, sum(balances), balances)
            expect(min(balances) >= 0, "an account is overdrawn: %s", balances)
            self.sums += 1


def bank_round(urls, seed, options):
    account, all_places = Account(urls[0]), places()
    prepare(account, all_places)
    tellers = [Teller(urls[number % len(urls)], number, seed, all_places) for number in range(TELLERS)]
    auditors = [Auditor(urls[number % len(urls)], all_places) for number in range(AUDITORS)]
    disturber = Disturber(urls[-1], seed, LINKS)
    run_all(tellers, auditors, disturber, options.steps)
    left = sum(sum(account.query(link + "/docs", "SELECT VALUE c.balance FROM c")) for link in LINKS)
    expect(left == OPENING * len(all_places), "there are %s left", left)
    return "%d transfers, %d refused, %d sums, %d changes of ranges and definitions" % (
        sum(each.moved for each in tellers), sum(each.refused for each in tellers), sum(each.sums for each in auditors), disturber.count)


def run_all(tellers, auditors, disturber, steps):
    """Until all tellers are done, or somebody found a problem, which is raised."""
    ended, problems = threading.Event(), []

    def guarded(worker):
        try:
            worker.run(steps, ended)
        except Exception as problem:  # raised below, in the main thread
            problems.append(problem)
            ended.set()
    threads = [threading.Thread(target=guarded, args=(worker,)) for worker in [*tellers, *auditors]]
    disturber.start()
    for thread in threads:
        thread.start()
    for thread in threads[:len(tellers)]:
        thread.join()
    ended.set()
    for thread in threads:
        thread.join()
    disturber.end()
    if problems:
        raise problems[0]
