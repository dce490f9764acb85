#!/usr/bin/env python3
"""make.py [--seed N] - asks the engine (engine.py) our own queries and writes corpus.ndjson.

Those of written.txt; every function with arguments of every kind; random ones of grammar.py. What the engine answers
differently when it is asked twice is left out."""
import argparse
import os
import random

import cases
import engine
import grammar

CALLS = 6  # of each function
EXPRESSIONS, QUERIES = 1400, 1600
TEXT_MAX = 400


def written():
    with open(os.path.join(cases.HERE, "written.txt"), encoding="utf-8") as file:
        for line in file.read().split("\n"):
            if line and not line.startswith("#"):
                yield {"e": line[2:]} if line.startswith("E ") else {"q": line}


def with_parameters():
    for value in ("a", 1, 2.5, None, True, [1], {"a": 1}):
        p = [{"name": "@p", "value": value}]
        for text in ("SELECT * FROM c WHERE c.pk = @p", "SELECT TOP @p * FROM c", "SELECT * FROM c OFFSET @p LIMIT 1",
                     "SELECT c[@p] FROM c", "SELECT @p, @p.a FROM c", "SELECT * FROM c WHERE c.a = @p ORDER BY c.b"):
            yield {"q": text, "p": p}
    for names in (["@p", "@p"], ["p"], ["@1"]):
        for text in ("SELECT @p FROM c", "SELECT @p @p FROM", "SELECT * FROM c ORDER BY c.a + 1"):
            yield {"q": text, "p": [{"name": name, "value": 1} for name in names]}


def calls(rng):
    for count, names in grammar.FUNCTIONS.items():
        for name in names:
            for _ in range(CALLS):
                yield {"e": "%s(%s)" % (name, ", ".join(rng.choice(grammar.ATOMS) for _ in range(count)))}


def questions(seed):
    rng = random.Random(seed)
    makes = grammar.Grammar(rng)
    yield from written()
    yield from with_parameters()
    yield from calls(rng)
    for _ in range(EXPRESSIONS):
        yield {"e": makes.expression()}
    for _ in range(QUERIES):
        yield {"q": makes.query()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args().seed
    asked, found = engine.Engine(), {}
    for case in questions(seed):
        if len(case.get("e") or case.get("q")) > TEXT_MAX:
            continue
        answered = cases.of_engine(asked, case)
        if answered and answered == cases.of_engine(asked, case):
            found[cases.name_of(case)] = answered
    cases.write(found.values())
    print("%d cases" % len(found))


if __name__ == "__main__":
    main()
