"""test/transactions/disturb.py - splits, merges and replaced definitions, without a rest, while others work."""
import json
import random
import threading

from account import Account, expect

RANGES_MAX = 8


class Disturber(threading.Thread):
    def __init__(self, url, seed, links):
        super().__init__(daemon=True)
        self.account, self.random, self.links = Account(url), random.Random("%d disturber" % seed), links
        self.ended, self.count, self.problem = threading.Event(), 0, None

    def run(self):
        try:
            while not self.ended.is_set():
                self.random.choice([self.divide, self.divide, self.redefine])(self.random.choice(self.links))
                self.count += 1
        except Exception as problem:  # raised by end(), in the main thread
            self.problem = problem
        self.account.close()

    def divide(self, link):
        _, _, text = self.account.must(200, "GET", link + "/pkranges")
        live = sorted(json.loads(text)["PartitionKeyRanges"], key=lambda each: each["minInclusive"])
        if len(live) > 1 and (len(live) > RANGES_MAX or self.random.random() < 0.5):
            first = self.random.randrange(len(live) - 1)
            self.account.must(200, "POST", "/_orrery/merge", (), {"container": link.strip("/"), "ranges": [each["id"] for each in live[first:first + 2]]})
        else:
            self.account.must(200, "POST", "/_orrery/split", (), {"container": link.strip("/"), "range": self.random.choice(live)["id"]})

    def redefine(self, link):
        """Another indexing policy, so that every item is looked at again."""
        _, _, text = self.account.must(200, "GET", link)
        definition = {name: value for name, value in json.loads(text).items() if name in ("id", "partitionKey")}
        excluded = self.random.choice([[], [{"path": "/log/*"}]])
        definition["indexingPolicy"] = {"includedPaths": [{"path": "/*"}], "excludedPaths": excluded}
        status, _, text = self.account.ask("PUT", link, (), definition)
        expect(status in (200, 429), "a replaced definition answered %d %s", status, text[:300])  # 429: it still works on earlier ones

    def end(self):
        """How much it did."""
        self.ended.set()
        self.join()
        if self.problem:
            raise self.problem
        expect(self.count > 0, "nothing was disturbed")
        return self.count
