"""test/index/make.py - random containers and documents: what an index finds easy, and what it does not.

Every property has its own habit: few values or many, one type or all of them, missing or not. A policy names
some of the same properties, so that some have entries, some have none and some have several kinds.
"""
import re

from values import UNDEFINED, lower_ascii

WORDS = ["red", "green", "blue", "Red", "", "re", "reds", "größe", "日本", "🦊", "a b", 'q"uote', "back\\slash", "tab\there"]
TEXT_WORDS = ["fox", "owl", "moss", "salt", "lamp", "rock", "größ"]
TEXT_FORMS = ["Fox", "foxes", "owls", "the", "of", "and", "ROCKS"]
TEXT_STEMS = {"foxes": "fox", "owls": "owl", "rocks": "rock", "the": "", "of": "", "and": ""}
TAGS = ["a", "b", "c", "aa", "日", 1, 1.5, True, None]
PREFIXES = ["p" * 254, "p" * 255, "p" * 256, "p" * 300, "q" * 256 + "é"]
EDGES = [0, 1, -1, 2 ** 31, 2 ** 53 - 1, 2 ** 53, 2 ** 53 + 1, 2 ** 53 + 2, -(2 ** 53) - 1, 2 ** 63 - 1, 2 ** 63 - 2, -(2 ** 63),
         1e19, 1.5e19, -1e19, 1e300, -1e300, 5e-324, 0.1, 0.30000000000000004]
KEYS = ["k1", "k2", "k3", "größe", 7, 7.5, True, None, 2 ** 53, 2 ** 53 + 1, "k" * 100, "k" * 101, "ö" * 120]  # some share an EPK
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


# ---- values ----

def long_string(rng):
    return rng.choice(PREFIXES) + rng.choice(["", "a", "b", "ab", "zz"])


def scalar(rng):
    """Any of the types, with values that other documents have too."""
    return rng.choice([
        lambda: None, lambda: True, lambda: False, lambda: rng.randint(-3, 3), lambda: rng.choice(EDGES),
        lambda: rng.randint(-8, 8) / 4, lambda: rng.choice(WORDS), lambda: long_string(rng)])()


def anything(rng, depth=2):
    roll = rng.random()
    if depth == 0 or roll < 0.7:
        return scalar(rng)
    if roll < 0.85:
        return [anything(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    return {name: anything(rng, depth - 1) for name in rng.sample(["a", "b", "odd name"], rng.randint(0, 2))}


def text(rng):
    """Words that have stems of their own, forms of them, and some that say nothing; now and then very many."""
    words = [rng.choice(TEXT_WORDS + TEXT_FORMS) for _ in range(rng.choice([0, 3, 8, 20]) if rng.random() < 0.98 else 500)]
    return rng.choice([" ", ", ", "-", "\n"]).join(words)


def line_item(rng):
    return {name: make(rng) for name, make in (
        ("k", lambda rng: rng.choice(["x", "y", "z", 1, None])), ("v", lambda rng: rng.randint(0, 9)),
        ("t", lambda rng: [rng.choice(TAGS) for _ in range(rng.randint(0, 2))])) if rng.random() < 0.85}


def point(rng):
    place = [round(rng.uniform(-10, 10), 3), round(rng.uniform(-10, 10), 3)]
    return rng.choice([{"type": "Point", "coordinates": place}] * 6 + [place, "nowhere", {"type": "Point"}])


def ring(rng, width):
    """A closed line around a place, against the clock."""
    x, y, w, h = rng.uniform(-10, 10), rng.uniform(-10, 10), rng.uniform(0.01, width), rng.uniform(0.01, width)
    return [[x, y], [x + w, y], [x + w, y + h], [x, y + h], [x, y]]


def shape(rng):
    """A geometry of any kind; some are as wide as the world, some lie where east meets west."""
    around = ring(rng, rng.choice([1, 1, 5, 60]))
    if rng.random() < 0.15:
        around = [[x + 174, y] for x, y in around]
    return rng.choice([
        {"type": "Polygon", "coordinates": [around]}, {"type": "LineString", "coordinates": around[:3]},
        {"type": "MultiPolygon", "coordinates": [[around], [ring(rng, 1)]]}, {"type": "Point", "coordinates": around[0]}, around])


PROPERTIES = {  # name: (how often it is there, its value)
    "dense": (0.9, lambda rng: rng.choice(["red", "red", "red", "green", "blue", 1, True, None])),
    "flag": (0.8, lambda rng: rng.choice([True, True, False, None])),
    "n": (0.95, lambda rng: rng.randint(0, 5000)),
    "f": (0.8, lambda rng: rng.choice([rng.uniform(-50, 50), rng.randint(-200, 200) / 8])),
    "mixed": (0.8, anything),
    "s": (0.8, lambda rng: rng.choice(WORDS) + rng.choice(["", "x", "Yz", str(rng.randint(0, 30))])),
    "long": (0.5, long_string),
    "big": (0.6, lambda rng: rng.choice(EDGES)),
    "nested": (0.8, lambda rng: {"a": {"b": rng.choice([rng.randint(0, 20), scalar(rng)]), "c": anything(rng, 1)}, "d": scalar(rng)}),
    "tags": (0.8, lambda rng: rng.choice([[rng.choice(TAGS) for _ in range(rng.randint(0, 4))]] * 4 + [scalar(rng)])),
    "items": (0.7, lambda rng: [line_item(rng) for _ in range(rng.randint(0, 3))]),
    "odd name": (0.7, lambda rng: rng.choice([rng.randint(0, 5), "v", None])),
    "text": (0.8, lambda rng: text(rng) if rng.random() < 0.95 else scalar(rng)),
    "loc": (0.6, point),
    "shape": (0.5, shape),
}


def document(rng, number, paths):
    """A document whose partition key lies at these paths."""
    doc = {"id": "d%d" % number}
    for path in paths:
        if rng.random() < 0.95 or path == "/id":
            doc.setdefault(path[1:], rng.choice(KEYS[:3] if rng.random() < 0.6 else KEYS))
    for name, (often, make) in PROPERTIES.items():
        if rng.random() < often:
            doc[name] = make(rng)
    return doc


# ---- paths, as a query and as a policy write them ----

PATHS = [("dense",), ("flag",), ("n",), ("f",), ("mixed",), ("mixed", "a"), ("mixed", 0), ("s",), ("long",), ("big",), ("nested", "a", "b"),
         ("nested", "a", "c"), ("nested", "a"), ("nested", "d"), ("tags",), ("tags", 0), ("items",), ("items", 0, "k"), ("items", 1, "v"),
         ("odd name",), ("missing",), ("id",), ("pk",)] + [
             ("dense",), ("n",), ("s",), ("f",), ("flag",), ("tags", 0), ("items", 0, "k")] * 3
ARRAYS = [("tags",), ("items",), ("mixed",), ("nested", "a", "c")]
ORDERABLE = [("dense",), ("n",), ("f",), ("mixed",), ("s",), ("long",), ("big",), ("nested", "a", "b"), ("odd name",), ("missing",), ("id",),
             ("flag",), ("tags",)]
POLICY_PATHS = ["/dense/?", "/flag/?", "/n/?", "/f/?", "/mixed/*", "/mixed/?", "/s/?", "/long/?", "/big/?", "/nested/*", "/nested/a/b/?",
                "/nested/a/*", "/tags/[]/?", "/tags/*", "/items/[]/k/?", "/items/*", '/"odd name"/?', "/items/[]/t/[]/?", "/pk/?"]
TUPLES = ["/items/[]/{k, v}/?", "/[]/{dense, n}/?"]
COMPOSITES = [[("/dense", 0), ("/n", 0)], [("/dense", 0), ("/n", 1)], [("/mixed", 0), ("/n", 0)], [("/dense", 1), ("/s", 0), ("/n", 0)],
              [("/pk", 0), ("/n", 1)], [("/long", 0), ("/big", 1)], [("/nested/a/b", 0), ("/flag", 0)], [('/"odd name"', 0), ("/f", 0)]]
COMPUTED = {"cp_lower": ("SELECT VALUE LOWER(c.dense) FROM c",
                         lambda doc: lower_ascii(doc["dense"]) if isinstance(doc.get("dense"), str) else UNDEFINED),
            "cp_twice": ("SELECT VALUE c.n * 2 FROM c", lambda doc: 2 * doc["n"] if "n" in doc else UNDEFINED)}


def path_text(steps, root="c"):
    text = root
    for step in steps:
        if isinstance(step, int):
            text += "[%d]" % step
        else:
            text += "." + step if IDENTIFIER.fullmatch(step) else '["%s"]' % step
    return text


def policy_steps(text):
    """/a/"b c"/[]/? taken apart."""
    return [step.strip('"') for step in re.findall(r'/("[^"]*"|[^/]*)', text)]


# ---- containers ----

def paths_of(rng):
    """(included, excluded): everything but, nothing but, or one inside the other."""
    some = rng.sample(POLICY_PATHS, rng.randint(1, 8))
    roll = rng.random()
    if roll < 0.4:
        return ["/*"], []
    if roll < 0.65:
        return ["/*"], some
    if roll < 0.85:
        return some, ["/*"]
    return ["/*", "/nested/a/b/?", "/items/[]/k/?"], ["/nested/*", "/items/*"] + [path for path in some if not path.startswith(("/nested", "/items"))]


def indexing_policy(rng, computed):
    if rng.random() < 0.04:
        return {"indexingMode": "none", "automatic": False}
    included, excluded = paths_of(rng)
    included += ["/%s/?" % name for name in computed if rng.random() < 0.8]
    included += [path for path in TUPLES if rng.random() < 0.2]
    policy = {"indexingMode": "consistent", "automatic": rng.random() < 0.95,
              "includedPaths": [{"path": path} for path in included], "excludedPaths": [{"path": path} for path in excluded]}
    if rng.random() < 0.5:
        policy["compositeIndexes"] = [[{"path": path, "order": "descending" if down else "ascending"} for path, down in index]
                                      for index in rng.sample(COMPOSITES, rng.randint(1, 3))]
    if rng.random() < 0.7:
        policy["fullTextIndexes"] = [{"path": "/text"}]
    if rng.random() < 0.5:
        policy["spatialIndexes"] = [{"path": path, "types": ["Point", "LineString", "Polygon", "MultiPolygon"]} for path in ("/loc/*", "/shape/*")]
    return policy


def container(rng, name):
    """A definition; the default policy now and then."""
    paths = rng.choice([["/pk"]] * 4 + [["/pk", "/dense"], ["/pk", "/flag", "/id"], ["/id"]])
    version = rng.choice([1, 2, 2]) if len(paths) == 1 else 2
    definition = {"id": name, "partitionKey": {"paths": paths, "kind": "Hash" if len(paths) == 1 else "MultiHash", "version": version}}
    definition["fullTextPolicy"] = {"defaultLanguage": "en-US", "fullTextPaths": [{"path": "/text", "language": "en-US"}]}
    computed = [one for one in COMPUTED if rng.random() < 0.4]
    if computed:
        definition["computedProperties"] = [{"name": one, "query": COMPUTED[one][0]} for one in computed]
    if rng.random() < 0.85:
        definition["indexingPolicy"] = indexing_policy(rng, computed)
    if rng.random() < 0.2 and definition.get("indexingPolicy", {}).get("indexingMode") != "none":
        definition["defaultTtl"] = -1
    return definition
