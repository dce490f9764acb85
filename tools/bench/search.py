"""tools/bench/search.py - full text and vectors: beside PostgreSQL, tantivy, and scans of the same items.

The same texts, made by bench-search, are indexed and asked here, in PostgreSQL (GIN, ts_rank) and in tantivy. All are asked
again and again for the same words, by one client, without HTTP: our queries are those of a thread's CPU, PostgreSQL's are
what its own EXPLAIN says, so that no connection counts. TEXTS=N VECTORS=N GROW=N change how many there are.
"""
import os
import re
import shutil
import statistics
import subprocess
import sys

from rig import BUILD, ROOT, SCRATCH, on_core

sys.path.append(os.path.join(ROOT, "test", "postgres"))
import database

TEXTS, VECTORS = int(os.environ.get("TEXTS", "100000")), int(os.environ.get("VECTORS", "100000"))
GROW = int(os.environ.get("GROW", "1000000"))  # 0: not measured
ASKED = 20  # of the queries, by PostgreSQL: they are slow
TABLE = ("CREATE TABLE texts (id int, body text, words tsvector GENERATED ALWAYS AS (to_tsvector('simple', body)) STORED);"
         "CREATE INDEX ON texts USING gin (words);")
RANKED = "SELECT id FROM texts WHERE words @@ q.q ORDER BY ts_rank(words, q.q) DESC LIMIT 10"


def figures(command):
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {name: float(value) for name, value in re.findall(r"^(\w+) ([\d.]+)$", out, re.M)}


def ours(count, folder):
    os.makedirs(folder)
    return figures(on_core(1, [os.path.join(BUILD, "bench/bench-search"), str(count), folder]))


def queries(folder):
    with open(os.path.join(folder, "queries")) as file:
        return [line.split() for line in file]


def postgres_ms(cluster, words):
    """The median of three, as its own clock has it."""
    text = RANKED.replace("q.q", "to_tsquery('simple', '%s')" % " | ".join(words))
    times = re.findall(r"Execution Time: ([\d.]+) ms", cluster.sql(("EXPLAIN (ANALYZE, TIMING OFF) %s;" % text) * 4))
    return statistics.median(map(float, times[1:]))


def of_postgres(folder):
    """As ours() of what it is asked, or None."""
    if not os.path.exists(os.path.join(database.BINARIES, "initdb")):
        print("  PostgreSQL is not installed, and is left out")
        return None
    with database.Postgres(["shared_buffers=512MB", "max_wal_size=4GB", "maintenance_work_mem=256MB", "work_mem=64MB"]) as cluster:
        texts = os.path.join(cluster.directory, "texts")
        shutil.copy(os.path.join(folder, "texts"), texts)
        os.chmod(texts, 0o644)
        cluster.sql(TABLE)
        began = os.times().elapsed
        cluster.sql("COPY texts (id, body) FROM '%s'" % texts)
        found = {"indexed_s": os.times().elapsed - began}
        cluster.sql("VACUUM ANALYZE texts")
        for name, count in (("two", 2), ("one", 1), ("four", 4)):
            found[name + "_ms"] = statistics.mean(postgres_ms(cluster, words[:count]) for words in queries(folder)[:ASKED])
        return found


def of_tantivy(folder):
    """Built in the scratch folder, or None where there is no cargo, or nothing to fetch it from."""
    if not shutil.which("cargo"):
        print("  cargo is not installed: tantivy is left out")
        return None
    crate = os.path.join(SCRATCH, "tantivy")
    shutil.copytree(os.path.join(ROOT, "tools", "bench", "tantivy"), crate, dirs_exist_ok=True)
    built = subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=crate, capture_output=True, text=True)
    if built.returncode:
        print("  tantivy cannot be built, and is left out: %s" % (built.stderr.strip().splitlines() or ["?"])[-1])
        return None
    return figures(on_core(1, [os.path.join(crate, "target/release/bench-tantivy"), folder]))


def row(name, found, count):
    if found:
        print("  %-11s %7.0f texts/s indexed   top 10 of one, two, four words %8.3f %8.3f %8.3f ms" % (
            name, count / found["indexed_s"], found["one_ms"], found["two_ms"], found["four_ms"]))


def bench_texts():
    folder = os.path.join(SCRATCH, "texts")
    here = ours(TEXTS, folder)
    theirs, rusty = of_postgres(folder), of_tantivy(folder)
    print("%d texts of 100 words" % TEXTS)
    row("orrery", here, TEXTS)
    print("  %-11s the first time %.3f ms, one in ten passes a filter %.3f ms, lists %.0f MB" % (
        "", here["two_first_ms"], here["filtered_ms"], here["lists_mb"]))
    row("postgresql", theirs, TEXTS)
    row("tantivy", rusty, TEXTS)
    if theirs:
        print("  two words: %.0f times as fast as PostgreSQL (at least 20), the first time %.0f   indexing: %.1f times (at least 3)" % (
            theirs["two_ms"] / here["two_ms"], theirs["two_ms"] / here["two_first_ms"], theirs["indexed_s"] / here["indexed_s"]))
    if rusty:
        print("  two words: %.2f of tantivy's time (at most 3)" % (here["two_ms"] / rusty["two_ms"]))
    return here


def bench_growth(here):
    more = ours(GROW, os.path.join(SCRATCH, "more"))
    print("  %d texts: two words %.3f ms, the first time %.3f: %.1f times what %d take (at most 3)" % (
        GROW, more["two_ms"], more["two_first_ms"], more["two_ms"] / here["two_ms"], TEXTS))


def bench_search():
    here = bench_texts()
    if GROW:
        bench_growth(here)
    subprocess.run(on_core(1, [os.path.join(BUILD, "bench/bench-vector"), str(VECTORS), "128", "200"]), check=True)
