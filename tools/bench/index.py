"""tools/bench/index.py - queries by index beside PostgreSQL's, and what keeping an index costs a create.

The same documents, 16 connections, the server on core 0 and its load on core 1, in one run. PostgreSQL is started
and measured by the yardstick pg.sh, unchanged; what it does not ask is asked here, of the same tables. Its cluster
is where pg.sh says.
"""
import json
import os
import random
import re
import statistics
import subprocess
import sys

from rig import BUILD, CREATES_A_SECOND, EMULATOR_KEY, ROOT, ROUNDS, SCRATCH, SECONDS, YARDSTICKS, Server, load, on_core, requests_file, wrk

sys.path.append(os.path.join(ROOT, "test", "wire"))
import client as clients

CONNECTIONS = 16
CACHE_MB = "1024"  # as much as pg.sh gives PostgreSQL for its own
REQUESTS = 2000  # different ones, sent again and again
TENANTS, USERS, CITIES, TAGS, ZIPS = 10, 1000, 100, 50, 90000  # as the documents have them
RAW_DOCUMENTS, RAW_ENTRIES = 50000, 25


# Of 10,000 items and of a million, by place among the kinds: those that give about as many rows.
ALIKE = ((0, 1), (3, 3), (5, 4), (6, 6), (9, 9))


class Kind:
    """One question, as we are asked it and as PostgreSQL is."""

    def __init__(self, name, text, params, theirs, key=None, container="c"):
        self.name, self.text, self.params, self.theirs, self.key, self.container = name, text, params, theirs, key, container

    def request(self, rng, signature):
        """Ready to send."""
        values = self.params(rng)
        body = json.dumps({"query": self.text, "parameters": [{"name": "@" + name, "value": value} for name, value in values.items()]})
        key = "x-ms-documentdb-partitionkey: %s\r\n" % json.dumps([self.key(rng)]) if self.key else ""
        return ("POST /dbs/bench/colls/%s/docs HTTP/1.1\r\nHost: 127.0.0.1\r\n%sContent-Type: application/query+json\r\n"
                "x-ms-documentdb-isquery: True\r\nx-ms-documentdb-query-enablecrosspartition: True\r\nx-orrery-whole: true\r\nx-ms-max-item-count: 1000\r\n"
                "%sContent-Length: %d\r\n\r\n%s" % (self.container, signature, key, len(body), body))


def signed(container):
    """The headers that every query of the container may carry."""
    date = clients.date_of()
    token = clients.authorization(EMULATOR_KEY, "POST", "docs", "dbs/bench/colls/" + container, (date, ""))
    return "authorization: %s\r\nx-ms-date: %s\r\nx-ms-version: 2020-07-15\r\n" % (clients.encoded(token), date)


def any_of(prefix, count):
    return lambda rng: prefix + str(rng.randrange(count))


def containing(**members):
    """A condition of PostgreSQL's, that the GIN index serves; values are SQL."""
    return "doc @> jsonb_build_object(%s)" % ", ".join("'%s', %s" % pair for pair in members.items())


def small_key(items):
    """(property, how many keys): some hundred items a key where the documents allow it."""
    return ("city", CITIES) if items <= 10000 else ("user", USERS)


def kinds(items):
    """All questions. What PostgreSQL is asked is a kind of pg.sh, or SQL with its variables."""
    tenant = any_of("tenant-", TENANTS)
    makers = {"u": any_of("user-", USERS), "c": any_of("city-", CITIES), "t": any_of("t", TAGS), "a": lambda rng: rng.randrange(items),
              "z": lambda rng: str(rng.randrange(min(items, ZIPS)))}
    params = lambda names: lambda rng: {name: makers[name](rng) for name in names}
    hundred = lambda rng: (lambda a: {"a": a, "b": a + 100})(rng.randrange(items))
    sets = {"u": USERS, "c": CITIES, "t": TENANTS, "g": TAGS, "i": items}
    sql = lambda names, text: "".join("\\set %s random(0,%d)\n" % (name, sets[name] - 1) for name in names) + text + ";\n"
    small, keys = small_key(items)
    sets["k"] = keys
    ordered = "SELECT TOP 20 * FROM c WHERE c.n >= @a ORDER BY c.n"
    in_key = "select doc from d where %s and (doc->>'n')::int >= :i order by (doc->>'n')::int limit 20"
    return [
        Kind("equality, %d rows" % (items // USERS), "SELECT * FROM c WHERE c.user = @u", params("u"), "eq"),
        Kind("equality, %.3g rows" % max(1, items / ZIPS), "SELECT * FROM c WHERE c.address.zip = @z",
             params("z"),
             sql("i", "select doc from d where doc @> jsonb_build_object('address', jsonb_build_object('zip', (:i %% %d)::text))" % ZIPS)),
        Kind("equality in a key, %.3g rows" % (items / USERS / TENANTS), "SELECT * FROM c WHERE c.user = @u", params("u"),
             sql("ut", "select doc from d where " + containing(user="'user-'||:u", pk="'tenant-'||:t")), tenant),
        Kind("range, order, top 20", "SELECT TOP 20 * FROM c WHERE c.n >= @a AND c.n < @b ORDER BY c.n", hundred, "range"),
        Kind("the same in a key of %d" % (items // keys), ordered, params("a"),
             sql("ik", in_key % containing(**{small: "'%s-'||:k" % small})), any_of(small + "-", keys), "small"),
        Kind("the same in a key of %d" % (items // TENANTS), ordered, params("a"),
             sql("it", in_key % containing(pk="'tenant-'||:t")), tenant),
        Kind("count of %d" % (items // CITIES), "SELECT VALUE COUNT(1) FROM c WHERE c.city = @c", params("c"), "count"),
        Kind("group by, %d groups" % CITIES, "SELECT c.city, COUNT(1) AS k FROM c GROUP BY c.city", params(""), "group"),
        Kind("two equalities, %.3g rows" % (items / USERS / CITIES), "SELECT * FROM c WHERE c.user = @u AND c.city = @c", params("uc"),
             sql("uc", "select doc from d where " + containing(user="'user-'||:u", city="'city-'||:c"))),
        Kind("array contains, count of %d" % (items // TAGS), "SELECT VALUE COUNT(1) FROM c WHERE ARRAY_CONTAINS(c.tags, @t)", params("t"),
             sql("g", "select count(*) from d where doc @> jsonb_build_object('tags', jsonb_build_array('t'||:g))")),
        Kind("join of an array, %d items" % (items // CITIES), "SELECT VALUE COUNT(1) FROM c JOIN t IN c.tags WHERE t = @t AND c.city = @c",
             params("tc"),
             sql("gc", "select count(*) from d, jsonb_array_elements_text(doc->'tags') t where t = 't'||:g and " + containing(city="'city-'||:c"))),
    ]


class Postgres:
    """The cluster of pg.sh, which names its places."""

    def __init__(self):
        self.script = os.path.join(YARDSTICKS, "pg.sh")
        with open(self.script) as file:
            text = file.read()
        self.data, self.programs, self.sockets, self.port = (
            re.search(pattern, text).group(1) for pattern in (r"\bD=([^;\s]+)", r"\bB=([^;\s]+)", r"PGHOST=(\S+)", r"PGPORT=(\d+)"))
        self.options = re.search(r"-o '([^']+)'", text).group(1)
        if not os.path.exists(os.path.join(self.programs, "postgres")):
            subprocess.run([os.path.join(ROOT, "tools", "install-deps"), "postgres"], check=True)

    def yardstick(self, items):
        """Its own figures, by kind; it leaves the documents behind."""
        os.makedirs(self.sockets, exist_ok=True)
        out = subprocess.run(["bash", self.script, str(items), str(ROUNDS), str(SECONDS)], capture_output=True, text=True)
        rows = re.findall(r"^postgresql \d+ docs (\S+)\s+(.+)$", out.stdout, re.M)
        if not rows:
            sys.exit("pg.sh said nothing: %s%s" % (out.stdout, out.stderr))
        return {kind: statistics.median(map(float, rates.split())) for kind, rates in rows}

    def control(self, verb):
        command = "taskset -c 0 %s/pg_ctl -D %s -w -m fast -l %s.log -o '%s' %s" % (self.programs, self.data, self.data, self.options, verb)
        subprocess.run(["su", "postgres", "-c", command], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def rate(self, sql):
        path = os.path.join(SCRATCH, "theirs.sql")
        with open(path, "w") as file:
            file.write(sql)
        command = ["pgbench", "-n", "-M", "prepared", "-c", str(CONNECTIONS), "-j1", "-T", str(SECONDS), "-f", path, "postgres"]
        environment = dict(os.environ, PGHOST=self.sockets, PGPORT=self.port, PGUSER="postgres")
        out = subprocess.run(on_core(1, command), env=environment, capture_output=True, text=True)
        found = re.search(r"tps = ([\d.]+)", out.stdout)
        if not found:
            sys.exit("pgbench: %s%s\n%s" % (out.stdout, out.stderr, sql))
        return float(found.group(1))

    def rates(self, asked):
        """By name: of pg.sh, or measured here."""
        known = {}
        self.control("start")
        try:
            for kind in asked:
                if len(kind.theirs.split()) > 1:
                    known[kind.name] = statistics.median(self.rate(kind.theirs) for _ in range(ROUNDS))
        finally:
            self.control("stop")
        return known


def ours(server, kind):
    """(queries/s, CPU microseconds a query)"""
    path, rng, signature = os.path.join(SCRATCH, "ours"), random.Random(1), signed(kind.container)
    with open(path, "w") as file:
        file.write("".join(kind.request(rng, signature) + "\0" for _ in range(REQUESTS)))
    wrk(server.pid, server.url, CONNECTIONS, "replay.lua", path, seconds=1)
    rounds = [wrk(server.pid, server.url, CONNECTIONS, "replay.lua", path) for _ in range(ROUNDS)]
    return tuple(statistics.median(one[i] for one in rounds) for i in range(2))


def load_small(server, items):
    out = subprocess.run(on_core(1, ["node", os.path.join(ROOT, "tools/bench/load.mjs"), server.url, "small", small_key(items)[0], str(items)]),
                         env=dict(os.environ, YARDSTICKS=YARDSTICKS), capture_output=True, text=True)
    if " 0 failed" not in out.stdout:
        sys.exit("loading failed: %s%s" % (out.stdout, out.stderr))


def bench_queries(items):
    """Prints a table; CPU by place in it."""
    asked, postgres = kinds(items), Postgres()
    theirs = postgres.yardstick(items)
    theirs.update(postgres.rates(asked))
    server = Server(os.path.join(SCRATCH, "index-%d" % items), options=["--cache-mb", CACHE_MB])
    load(server, items)
    load_small(server, items)
    print(f"queries over {items:,d} items of 1 KB, {CONNECTIONS} connections, server on one core (median of {ROUNDS})")
    print(f"  {'':34s} {'orrery/s':>9s} {'us CPU':>8s} {'postgres/s':>11s} {'ratio':>7s}")
    costs = []
    for kind in asked:
        rate, cpu = ours(server, kind)
        there = theirs.get(kind.name) or theirs[kind.theirs]
        costs.append(cpu)
        print(f"  {kind.name:34s} {rate:9.0f} {cpu:8.1f} {there:11.0f} {rate / there:7.2f}", flush=True)
    server.stop()
    return costs


def print_growth(counts, costs):
    few, many = min(counts), max(counts)
    if few == many:
        return
    print(f"CPU a query, {many:,d} items against {few:,d}")
    for one, other in ALIKE:
        names = kinds(few)[one].name, kinds(many)[other].name
        print(f"  {names[0]:34s} {names[1]:34s} {costs[many][other] / costs[few][one]:7.2f}")


def raw_rocksdb(entries):
    """Documents/s of RocksDB by itself, on the same disk, in groups of 16 and from 16 threads."""
    command = [os.path.join(BUILD, "bench/bench-commit"), str(RAW_DOCUMENTS), str(CONNECTIONS), SCRATCH, str(entries)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [float(re.search(rf"^{name}\s+(\d+)", out, re.M).group(1)) for name in ("grouped", "single")]


def bench_creates():
    """Durable creates with their entries, over HTTP, beside RocksDB with and without a key for each entry."""
    alone, with_keys = raw_rocksdb(0), raw_rocksdb(RAW_ENTRIES)
    server = Server(os.path.join(SCRATCH, "index-create"), core=None)
    load(server, 10)
    made, rounds = 10, []
    for _ in range(ROUNDS):
        count = CREATES_A_SECOND * SECONDS
        requests = requests_file("create", made, count)
        rounds.append(wrk(server.pid, server.url, CONNECTIONS, "replay.lua", requests, core=None))
        made += count
        os.remove(requests)
    server.stop()
    rate, cpu = (statistics.median(one[i] for one in rounds) for i in range(2))
    print(f"durable creates of 1 KB, indexed, {CONNECTIONS} in flight, http  {rate:8.0f}/s   {cpu:.0f} us CPU a create   p50 {rounds[-1][2]} p99 {rounds[-1][3]}")
    for name, (grouped, single) in (("the document alone", alone), (f"and {RAW_ENTRIES} keys", with_keys)):
        print(f"  RocksDB, {name:20s} {grouped:8.0f}/s in groups of {CONNECTIONS} (ratio {rate / grouped:.2f})"
              f"   {single:8.0f}/s from {CONNECTIONS} threads (ratio {rate / single:.2f})")


def bench_index():
    """ITEMS names the sizes; a million takes a quarter of an hour."""
    counts = [int(word) for word in os.environ.get("ITEMS", "10000 100000").split()]
    costs = {items: bench_queries(items) for items in counts}
    print_growth(counts, costs)
    bench_creates()
