"""rows.py - what filters and expressions make of documents: a server's rows, by scan and by the index, and the engine's.

The engine sees no documents. It computes constants, so each document's values are written into the text in place of
the paths: c.a + 1 becomes (5) + 1, or (undefined) + 1."""
import json
import re

import cases
import plans

PATHS = ["c.a", "c.b", "c.n", "c.a.b", "c['x y']", "c.d[0]", "c.d", "c.e"]
VALUES = [None, True, False, 0, 1, -1, 2, 2.5, -0.5, 1e3, 9007199254740993, 9223372036854775807, 1e300, 0.1, "a", "abc", "",
          "A b", "ünï", "12", "[1,2]", [], {}, [1, 2, 3], ["a", "b"], [1, [2], {"a": 3}], {"a": 1}, {"b": [1]}, {"b": 1}, {"b": "a"},
          [None, True], "2020-02-29T12:34:56.7890000Z", "2020-01-01", "day", {"type": "Point", "coordinates": [1, 2]}]
DOCUMENTS = 24
PATH = re.compile("|".join(re.escape(path) for path in sorted(PATHS, key=len, reverse=True)))
STEP = re.compile(r"\.(\w+)|\['([^']*)'\]|\[(\d+)\]")
WAYS = ("off", "always")  # x-orrery-index


def document(rng, number):
    made = {"id": "d%d" % number, "pk": "p%d" % (number % 3), "d": [rng.choice(VALUES) for _ in range(rng.randint(0, 3))]}
    for name in ("a", "b", "n", "x y", "e"):
        if rng.random() < 0.8:
            made[name] = rng.choice(VALUES)
    return made


def literal(found, path):
    """The text of what the path leads to."""
    for name, quoted, index in STEP.findall(path):
        if index and isinstance(found, list) and int(index) < len(found):
            found = found[int(index)]
        elif not index and isinstance(found, dict) and (name or quoted) in found:
            found = found[name or quoted]
        else:
            return "undefined"
    return json.dumps(found)


class Rows:
    def __init__(self, server, engine, rng):
        self.server, self.engine = server, engine
        self.documents = {made["id"]: made for made in (document(rng, number) for number in range(DOCUMENTS))}
        self.container = server.make_container("rows", cases.CONTAINER)
        for made in self.documents.values():
            key = [("x-ms-documentdb-partitionkey", json.dumps([made["pk"]]))]
            server.must("POST", self.container + "/docs", key, made)

    def values_by_engine(self, text):
        """{id: value} where there is one; None where the engine computes nothing, or refuses."""
        parts = ["%s: (%s)" % (name, PATH.sub(lambda path, made=made: "(%s)" % literal(made, path.group()), text))
                 for name, made in self.documents.items()]
        answer = cases.of_engine(self.engine, {"e": "{%s}" % ", ".join(parts)})
        return json.loads(answer["is"])[0] if answer and "is" in answer else None

    def ask(self, query, way):
        headers = plans.QUERY + [("x-ms-documentdb-query-enablecrosspartition", "True"), ("x-orrery-index", way)]
        return self.server.must("POST", self.container + "/docs", headers, {"query": query})["Documents"]

    def differences(self, text):
        """What of the server's answers is not as the engine's values are: sentences."""
        values = self.values_by_engine(text)
        if values is None:
            return
        part = 1e-6 if "ST_" in text.upper() else 0
        for name, shown in self.ask("SELECT VALUE [c.id, ToString([%s])] FROM c" % text, "off"):
            wanted, got = [values[name]] if name in values else [], json.loads(shown)
            if not cases.same(wanted, got, part):
                yield "%s of %s is %s, not %s" % (text, json.dumps(self.documents[name]), got, wanted)
        for wanted, where in ((True, text), (False, "NOT (%s)" % text)):
            names = sorted(name for name, value in values.items() if value is wanted)
            for way in WAYS:
                got = sorted(self.ask("SELECT VALUE c.id FROM c WHERE " + where, way))
                if got != names:
                    yield "WHERE %s, index %s, gives %s, not %s" % (where, way, got, names)
            if self.ask("SELECT VALUE COUNT(1) FROM c WHERE " + where, "always") != [len(names)]:
                yield "COUNT WHERE %s is not %d" % (where, len(names))
