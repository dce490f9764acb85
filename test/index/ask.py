"""test/index/ask.py - random queries, each as text for a server and as functions for the model.

A condition is (text, function of a row); a row is {"c": the item, "x": what a JOIN gave}. Values come from the
items that are there, mostly, so that queries find something.
"""
import json
import math

import make
from values import (AGGREGATES, COMPARISONS, STRING_TESTS, TYPE_TESTS, UNDEFINED, and_, array_contains, between, equal, in_list, is_bool, like,
                    lower_ascii, not_, on_strings, or_, walk)

EARTH_METRES = 6371000
MARGIN = 0.02  # between what is near enough and what is not: ours is a sphere
SPECIAL = set("%_[]^")


class Query:
    """What is asked. Rows of an item are made by `rows`; the rest are functions of a row, or of a group of rows."""

    def __init__(self):
        self.text, self.params, self.headers = "", [], []
        self.rows = lambda item: [{"c": item}]
        self.where = lambda row: True
        self.project, self.star = None, False
        self.group, self.gathers = None, None  # the keys of a row; the projection of a group
        self.one_group = False  # whether or not it has rows
        self.distinct = False
        self.order = []  # (steps, descending)
        self.skip, self.take = 0, math.inf
        self.key = None  # of the one logical partition it is about
        self.uses_time = False

    def is_simple(self):
        """One row an item, told by its id: what may be paged while others write."""
        return self.star and not (self.group or self.distinct or self.skip or self.take != math.inf)


def joined(parts, word, join):
    """Conditions with AND or OR between them."""
    def test(row):
        result = parts[0][1](row)
        for _, part in parts[1:]:
            result = join(result, part(row))
        return result
    return "(%s)" % (" %s " % word).join(text for text, _ in parts), test


def all_of(parts):
    return joined(parts, "AND", and_)


class Maker:
    """Makes queries about the items of a container."""

    def __init__(self, rng, items, model):
        self.rng, self.items, self.definition, self.key_of = rng, items, model.definition, model.key_of
        self.served = [steps for steps in make.PATHS if model.is_indexed(steps)]
        self.computed = [one["name"] for one in self.definition.get("computedProperties", [])]
        self.composites = self.definition.get("indexingPolicy", {}).get("compositeIndexes", [])
        self.query = None

    # ---- pieces of text ----

    def literal(self, value):
        """As a parameter, or in the text."""
        if self.rng.random() < 0.5:
            name = "@p%d" % len(self.query.params)
            self.query.params.append({"name": name, "value": value})
            return name
        return json.dumps(value, ensure_ascii=False)

    def path(self, root="c", choices=None):
        """(text, function, steps)"""
        steps = self.rng.choice(choices or make.PATHS + [(name,) for name in self.computed] * 3)
        return make.path_text(steps, root), lambda row: walk(row[root], steps), steps

    def value_at(self, steps):
        """One that some item has there, or had it been written by the same hand."""
        rng = self.rng
        for _ in range(3 if rng.random() < 0.85 else 0):
            value = walk(rng.choice(self.items), steps) if self.items else UNDEFINED
            if value is not UNDEFINED:
                return value
        return make.anything(rng)

    # ---- conditions on one path ----

    def comparison(self, text, get, steps):
        sign = self.rng.choice(["=", "=", "=", "!=", "<", "<=", ">", ">="])
        value = self.value_at(steps)
        if self.rng.random() < 0.2:
            return "%s %s %s" % (self.literal(value), sign, text), lambda row: COMPARISONS[sign](value, get(row))
        return "%s %s %s" % (text, sign, self.literal(value)), lambda row: COMPARISONS[sign](get(row), value)

    def interval(self, text, get, steps):
        low, high = self.value_at(steps), self.value_at(steps)
        if self.rng.random() < 0.5:
            return ("(%s BETWEEN %s AND %s)" % (text, self.literal(low), self.literal(high)),
                    lambda row: between(get(row), low, high))
        if self.rng.random() < 0.3:
            return ("(%s != null AND %s <= %s)" % (text, text, self.literal(high)),
                    lambda row: and_(COMPARISONS["!="](get(row), None), COMPARISONS["<="](get(row), high)))
        return ("(%s > %s AND %s <= %s)" % (text, self.literal(low), text, self.literal(high)),
                lambda row: and_(COMPARISONS[">"](get(row), low), COMPARISONS["<="](get(row), high)))

    def membership(self, text, get, steps):
        values = [self.value_at(steps) for _ in range(self.rng.randint(1, 5))]
        words = list(map(self.literal, values))
        if self.rng.random() < 0.2:
            words.insert(self.rng.randint(0, len(words)), self.rng.choice(["undefined", "NaN"]))
        if self.rng.random() < 0.25:
            return "%s NOT IN (%s)" % (text, ", ".join(words)), lambda row: not_(in_list(get(row), values))
        return "%s IN (%s)" % (text, ", ".join(words)), lambda row: in_list(get(row), values)

    def not_a_number(self, text, get, steps):
        """NaN differs from everything that is there, and no order has it."""
        sign, truth = self.rng.choice([("=", False), ("!=", True), ("<", UNDEFINED), (">=", UNDEFINED)])
        return "%s %s NaN" % (text, sign), lambda row: UNDEFINED if get(row) is UNDEFINED else truth

    def part_of(self, value):
        """Of a string: from its front, mostly."""
        if not isinstance(value, str) or not value:
            return self.rng.choice(["re", "p" * 256, "", "日", "p" * 3])
        start = 0 if self.rng.random() < 0.7 else self.rng.randrange(len(value))
        return value[start:start + self.rng.choice([1, 2, 3, 255, 256, 257])]

    def string_test(self, text, get, steps):
        name, part = self.rng.choice(["STARTSWITH"] * 3 + list(STRING_TESTS)), self.part_of(self.value_at(steps))
        if self.rng.random() < 0.2:
            folded = on_strings(lambda a, b: STRING_TESTS[name](lower_ascii(a), lower_ascii(b)))
            part = part if part.isascii() else "Re"
            return "%s(%s, %s, true)" % (name, text, self.literal(part)), lambda row: folded(get(row), part)
        return "%s(%s, %s)" % (name, text, self.literal(part)), lambda row: STRING_TESTS[name](get(row), part)

    def like_test(self, text, get, steps):
        part = "".join(letter for letter in self.part_of(self.value_at(steps)) if letter not in SPECIAL)
        pieces = self.rng.choice([[part, ("%",)], [part], [("%",), part, ("%",)], [("_",), part[1:], ("%",)], [("[", "a-r"), ("%",)],
                                  [part[:1], ("_",), ("%",)], [("%",), part]])
        sign = {"%": "%", "_": "_"}
        pattern = "".join(piece if isinstance(piece, str) else sign.get(piece[0]) or "[%s]" % piece[1] for piece in pieces)
        return "%s LIKE %s" % (text, self.literal(pattern)), lambda row: like(get(row), pieces)

    def type_test(self, text, get, steps):
        name = self.rng.choice(["IS_DEFINED"] * 3 + list(TYPE_TESTS))
        return "%s(%s)" % (name, text), lambda row: TYPE_TESTS[name](get(row))

    def truth(self, text, get, steps):
        return text, get

    def folded(self, text, get, steps):
        """A function of a path, for which no index has entries."""
        value = self.value_at(steps)
        value = lower_ascii(value) if isinstance(value, str) else "red"
        return ("LOWER(%s) = %s" % (text, self.literal(value)),
                lambda row: equal(lower_ascii(get(row)) if isinstance(get(row), str) else UNDEFINED, value))

    def two_paths(self, text, get, steps):
        other, get_other, _ = self.path()
        sign = self.rng.choice(list(COMPARISONS))
        return "%s %s %s" % (text, sign, other), lambda row: COMPARISONS[sign](get(row), get_other(row))

    # ---- conditions on arrays ----

    def element_of(self, steps):
        value = self.value_at(steps)
        return self.rng.choice(value) if isinstance(value, list) and value else self.rng.choice(make.TAGS)

    def array_contains(self):
        text, get, steps = self.path(choices=make.ARRAYS)
        value = self.element_of(steps)
        if isinstance(value, dict) and value and self.rng.random() < 0.7:
            name = self.rng.choice(sorted(value))
            value = {name: value[name]}
            return "ARRAY_CONTAINS(%s, %s, true)" % (text, self.literal(value)), lambda row: array_contains(get(row), value, True)
        return "ARRAY_CONTAINS(%s, %s)" % (text, self.literal(value)), lambda row: array_contains(get(row), value)

    def element_condition(self, name):
        """On what a JOIN or a subquery gives, by this name."""
        steps = self.rng.choice([(), ("k",), ("v",), ("a",), ("t", 0)])
        full = self.rng.choice([("items", 0), ("tags", 0), ("mixed", 0)]) + steps
        tests = [self.comparison, self.interval, self.membership, self.type_test, self.string_test]
        return self.rng.choice(tests)(make.path_text(steps, name), lambda row: walk(row[name], steps), full)

    def exists(self):
        text, get, _ = self.path(choices=make.ARRAYS)
        condition, holds = self.element_condition("e")

        def test(row):
            array = get(row)
            return isinstance(array, list) and any(holds({**row, "e": one}) is True for one in array)
        return "EXISTS(SELECT VALUE e FROM e IN %s WHERE %s)" % (text, condition), test

    # ---- conditions on places and times ----

    def distances(self, lon, lat):
        for item in self.items:
            place = walk(item, ("loc", "coordinates")) if walk(item, ("loc", "type")) == "Point" else UNDEFINED
            if isinstance(place, list):
                yield metres(lon, lat, *place)

    def distance(self):
        lon, lat = self.rng.uniform(-10, 10), self.rng.uniform(-10, 10)
        radius = self.rng.choice([5e4, 3e5, 1e6])
        while any(abs(far - radius) < MARGIN * radius for far in self.distances(lon, lat)):
            radius *= 1.01 + self.rng.random()
            if radius > 4e6:
                break

        def test(row):
            place = row["c"].get("loc")
            if not isinstance(place, dict) or "coordinates" not in place:
                return UNDEFINED
            return metres(lon, lat, *place["coordinates"]) < radius
        point = {"type": "Point", "coordinates": [lon, lat]}
        return "ST_DISTANCE(c.loc, %s) < %s" % (self.literal(point), self.literal(radius)), test

    def full_text(self):
        """Keywords of one word or two, in any form, or some letters away."""
        name = self.rng.choice(["FullTextContains", "FullTextContainsAll", "FullTextContainsAny"])
        count = 1 if name == "FullTextContains" else self.rng.randint(1, 3)
        words = [" ".join(self.rng.choices(make.TEXT_WORDS + make.TEXT_FORMS, k=self.rng.choice([1, 1, 1, 2]))) for _ in range(count)]
        words = [{"term": self.rng.choice([word, word + "x", word[1:]]), "distance": self.rng.randint(1, 2)} if self.rng.random() < 0.3 else word
                 for word in words]

        def test(row):
            text = row["c"].get("text")
            if not isinstance(text, str):
                return UNDEFINED
            return (any if name.endswith("Any") else all)(has_keyword(text_words(text), word) for word in words)
        return "%s(c.text, %s)" % (name, ", ".join(map(self.literal, words))), test

    def time(self):
        self.query.uses_time = True
        value = self.value_at(("_ts",))
        value = value if isinstance(value, int) and not is_bool(value) else 1
        sign = self.rng.choice(["=", ">=", "<", ">"])
        return "c._ts %s %s" % (sign, self.literal(value)), lambda row: COMPARISONS[sign](row["c"]["_ts"], value)

    # ---- conditions together ----

    def composite(self):
        """Values of an item at the first paths of a composite index, and mostly something about the next path."""
        paths = [tuple(make.policy_steps(part["path"])) for part in self.rng.choice(self.composites)]
        item = self.rng.choice(self.items)
        parts = []
        for steps in paths[:self.rng.randint(1, len(paths))]:
            text, get, value = make.path_text(steps), lambda row, steps=steps: walk(row["c"], steps), walk(item, steps)
            if value is UNDEFINED:
                break
            parts.append(("%s = %s" % (text, self.literal(value)), lambda row, get=get, value=value: equal(get(row), value)))
        if len(parts) < len(paths):
            steps = paths[len(parts)]
            tests = [self.comparison, self.comparison, self.interval, self.membership, self.string_test, self.type_test, self.folded]
            parts.append(self.rng.choice(tests)(make.path_text(steps), lambda row: walk(row["c"], steps), steps))
        self.rng.shuffle(parts)
        return all_of(parts)

    def simple(self):
        roll = self.rng.random()
        if roll < 0.12:
            return self.array_contains()
        if roll < 0.2:
            return self.exists()
        if roll < 0.23:
            return self.time()
        if roll < 0.28:
            return self.distance()
        if roll < 0.36:
            return self.full_text()
        tests = [self.comparison] * 8 + [self.interval] * 3 + [self.membership] * 3 + [self.string_test] * 2 + [
            self.like_test, self.type_test, self.type_test, self.truth, self.not_a_number, self.folded, self.two_paths]
        return self.rng.choice(tests)(*self.path())

    def condition(self, depth=2):
        roll = self.rng.random()
        if self.composites and self.items and self.rng.random() < 0.25:
            return self.composite()
        if depth == 0 or roll < 0.5:
            return self.simple()
        if roll < 0.6:
            text, test = self.condition(depth - 1)
            return "NOT (%s)" % text, lambda row: not_(test(row))
        parts = [self.condition(depth - 1) for _ in range(self.rng.randint(2, 3))]
        return all_of(parts) if roll < 0.85 else joined(parts, "OR", or_)

    # ---- clauses ----

    def from_clause(self, names_item):
        """Its text. Without the item's own name, only the elements of an array are there."""
        query, roll = self.query, self.rng.random()
        if roll < 0.7:
            return "FROM c"
        if roll < 0.8:
            return self.from_subquery()
        text, get, _ = self.path(choices=make.ARRAYS)
        if roll < 0.84 and not names_item:
            query.rows = lambda item: [{"c": item, "x": one} for one in elements(get({"c": item}))]
            condition, test = self.element_condition("x")
            query.where = test
            return "FROM x IN %s WHERE %s" % (text, condition)
        query.rows = lambda item: [{"c": item, "x": one} for one in elements(get({"c": item}))]
        return "FROM c JOIN x IN %s" % text

    def from_subquery(self):
        """The items through a subquery, or several, with filters of their own: they have the names that items have."""
        query, text, tests = self.query, "c", []
        for _ in range(self.rng.choice([1, 1, 2])):
            condition = ""
            if self.rng.random() < 0.5:
                condition, test = self.simple()
                condition = " WHERE " + condition
                tests.append(test)
            text = "(SELECT %s FROM %s%s) AS c" % (self.rng.choice(["*", "*", "VALUE c"]), text, condition)
        query.rows = lambda item: [{"c": item}] if all(test({"c": item}) is True for test in tests) else []
        return "FROM " + text

    def where_clause(self, clause):
        query = self.query
        if clause.startswith("FROM x IN") or self.rng.random() < 0.12:
            return clause
        parts = [self.condition()]
        if "JOIN" in clause and self.rng.random() < 0.7:
            parts.append(self.element_condition("x"))
        if query.key is None and self.items and self.rng.random() < 0.1:
            value = walk(self.rng.choice(self.items), ("pk",))
            if value is not UNDEFINED:
                parts.append(("c.pk = " + self.literal(value), lambda row: COMPARISONS["="](walk(row["c"], ("pk",)), value)))
        query.where = lambda row: all(test(row) is True for _, test in parts)
        return "%s WHERE %s" % (clause, " AND ".join("(%s)" % text for text, _ in parts))

    def scope(self):
        if self.items and self.rng.random() < 0.35:
            key = json.loads(self.key_of(self.rng.choice(self.items)))
            self.query.key = json.dumps(key[:self.rng.randint(1, len(key))])

    def places(self):
        """About geometries, of which the model knows nothing: by index and by scan it must be the same."""
        self.query = query = Query()
        area = {"type": "Polygon", "coordinates": [make.ring(self.rng, self.rng.choice([0.5, 5, 20]))]}
        of = self.rng.choice(["c.loc", "c.shape", "c.shape"])
        test = self.rng.choice(["ST_WITHIN(%s, %s)", "ST_INTERSECTS(%s, %s)", "ST_DISTANCE(%s, %s) < 200000", "ST_WITHIN(%s, %s) = true"])
        more = self.rng.choice(["", " AND c.n > 1000", " OR c.flag = false"])
        query.text = "SELECT %s FROM c WHERE %s%s" % (
            self.rng.choice(["c.id", "VALUE COUNT(1)", "c.id, c.n"]), test % (of, self.literal(area)), more)
        self.scope()
        return query

    def window(self):
        """(TOP, OFFSET LIMIT)"""
        query, roll = self.query, self.rng.random()
        if roll < 0.2:
            query.take = self.rng.choice([0, 1, 5, 20, 1000])
            return "TOP %s " % self.literal(query.take), ""
        if roll < 0.35:
            query.skip, query.take = self.rng.choice([0, 1, 10, 100]), self.rng.choice([1, 10, 50])
            return "", " OFFSET %s LIMIT %s" % (self.literal(query.skip), self.literal(query.take))
        return "", ""

    def projection(self, clause):
        """Text of the select list."""
        query, roll = self.query, self.rng.random()
        if "IN" in clause.split("WHERE")[0] and roll < 0.5:
            query.project = lambda row: row["x"]
            return "VALUE x"
        if "FROM x" in clause:
            query.project = lambda row: {"x": row["x"]}
            return "x"
        if roll < 0.5 and "JOIN" not in clause:
            query.star = True
            return "*"
        text, get, steps = self.path()
        if roll < 0.7:
            query.project = get
            return "VALUE " + text
        query.project = lambda row: without_undefined({"id": row["c"]["id"], "v": get(row)})
        return "c.id, %s AS v" % text

    # ---- questions that an index answers by itself, or nearly ----

    def focused_condition(self, path):
        """Of one path, mostly one range; now and then of an element, or of a second path."""
        tests = [self.comparison] * 5 + [self.interval] * 3 + [self.membership, self.membership, self.string_test, self.like_test, self.type_test]
        parts = [self.rng.choice(tests)(*path)]
        if self.rng.random() < 0.25:
            other = self.rng.choice([self.array_contains, self.exists, lambda: self.rng.choice(tests)(*self.path(choices=self.served))])
            parts.append(other())
        self.query.where = lambda row: all(test(row) is True for _, test in parts)
        return " WHERE " + " AND ".join(text for text, _ in parts)

    def focused_query(self):
        """One path that has entries, in the filter and in what is asked for."""
        query, rng = self.query, self.rng
        path = self.path(choices=self.served or make.PATHS)
        text, get, steps = path
        where = self.focused_condition(path) if rng.random() < 0.85 else ""
        shape = rng.choice(["star", "star", "values", "order", "order", "count", "aggregate", "distinct", "group"])
        if shape == "star":
            query.star, query.text = True, "SELECT * FROM c" + where
        elif shape == "values":
            query.project, query.text = get, "SELECT VALUE %s FROM c%s" % (text, where)
        elif shape == "distinct":
            query.distinct, query.project, query.text = True, get, "SELECT DISTINCT VALUE %s FROM c%s" % (text, where)
        elif shape == "order":
            down = rng.random() < 0.5
            query.star, query.order = True, [(steps, down)]
            top, limit = self.window()
            query.text = "SELECT %s* FROM c%s ORDER BY %s%s%s" % (top, where, text, " DESC" if down else "", limit)
        else:
            self.focused_aggregate(shape, path, where)
        if rng.random() < 0.15:
            query.text = query.text.replace("FROM c", self.from_subquery(), 1)

    def focused_aggregate(self, shape, path, where):
        query, (text, get, _) = self.query, path
        name = "COUNT" if shape == "count" else self.rng.choice(list(AGGREGATES))
        argument = "1" if shape == "count" else text

        def of(rows):
            return AGGREGATES[name]([1] * len(rows) if shape == "count" else [one for one in map(get, rows) if one is not UNDEFINED])
        if shape == "group":
            query.group, query.gathers = lambda row: (get(row),), lambda key, rows: without_undefined({"g": key[0], "n": of(rows)})
            query.text = "SELECT %s AS g, %s(%s) AS n FROM c%s GROUP BY %s" % (text, name, argument, where, text)
        else:
            query.group, query.one_group, query.gathers = lambda row: (), True, lambda key, rows: of(rows)
            query.text = "SELECT VALUE %s(%s) FROM c%s" % (name, argument, where)

    # ---- kinds of query ----

    def rows_query(self):
        clause = self.where_clause(self.from_clause(False))
        top, limit = self.window()
        self.query.text = "SELECT %s%s %s%s" % (top, self.projection(clause), clause, limit)

    def sorted_query(self):
        clause = self.where_clause(self.from_clause(True))
        order = self.order()
        distinct, listed = "", None
        if self.rng.random() < 0.1:
            self.query.distinct, distinct = True, "DISTINCT "
            steps = self.query.order[0][0]
            self.query.project = lambda row: walk(row["c"], steps)
            listed = "VALUE " + make.path_text(steps)
        top, limit = self.window()
        self.query.text = "SELECT %s%s%s %s ORDER BY %s%s" % (distinct, top, listed or self.projection(clause), clause, order, limit)

    def order(self):
        """Served by the policy, mostly: it is the model's business to know."""
        rng, query = self.rng, self.query
        if self.composites and rng.random() < 0.4:
            turned = rng.random() < 0.5
            query.order = [(tuple(make.policy_steps(one["path"])), (one["order"] == "descending") != turned)
                           for one in rng.choice(self.composites)]
        else:
            choices = make.ORDERABLE + ([("_ts",)] if rng.random() < 0.3 else [])
            query.order = [(rng.choice(choices), rng.random() < 0.5)]
        query.uses_time |= any(steps == ("_ts",) for steps, _ in query.order)
        return ", ".join(make.path_text(steps) + (" DESC" if down else rng.choice(["", " ASC"])) for steps, down in query.order)

    def distinct_query(self):
        clause = self.where_clause(self.from_clause(True))
        (one, get_one, _), (two, get_two, _) = self.path(), self.path()
        self.query.distinct = True
        if self.rng.random() < 0.6:
            self.query.project, listed = get_one, "VALUE " + one
        else:
            self.query.project = lambda row: without_undefined({"a": get_one(row), "b": get_two(row)})
            listed = "%s AS a, %s AS b" % (one, two)
        top, limit = self.window()
        self.query.text = "SELECT DISTINCT %s%s %s%s" % (top, listed, clause, limit)

    def aggregate(self):
        """(text, function of the rows)"""
        name = self.rng.choice(list(AGGREGATES))
        text, get, _ = ("1", lambda row: 1, ()) if name == "COUNT" and self.rng.random() < 0.6 else self.path()
        return ("%s(%s)" % (name, text),
                lambda rows: AGGREGATES[name]([value for value in map(get, rows) if value is not UNDEFINED]))

    def aggregate_query(self):
        clause = self.where_clause(self.from_clause(True))
        (one, of_one), (two, of_two) = self.aggregate(), self.aggregate()
        self.query.group, self.query.one_group = lambda row: (), True
        if self.rng.random() < 0.6:
            self.query.gathers = lambda key, rows: of_one(rows)
            self.query.text = "SELECT VALUE %s %s" % (one, clause)
        else:
            self.query.gathers = lambda key, rows: without_undefined({"a": of_one(rows), "b": of_two(rows)})
            self.query.text = "SELECT %s AS a, %s AS b %s" % (one, two, clause)

    def group_query(self):
        clause = self.where_clause(self.from_clause(True))
        keys = [self.path() for _ in range(self.rng.choice([1, 1, 2]))]
        text, of = self.aggregate()
        names = ["g%d" % i for i in range(len(keys))]
        self.query.group = lambda row: tuple(get(row) for _, get, _ in keys)
        self.query.gathers = lambda key, rows: without_undefined({**dict(zip(names, key)), "n": of(rows)})
        listed = ["%s AS %s" % (path, name) for (path, _, _), name in zip(keys, names)]
        top, limit = self.window()
        self.query.text = "SELECT %s%s, %s AS n %s GROUP BY %s%s" % (
            top, ", ".join(listed), text, clause, ", ".join(path for path, _, _ in keys), limit)

    def key_query(self):
        """What a partition key has, which an index may know without a look at the items."""
        query = self.query
        if self.items:
            query.key = self.rng.choice(sorted({self.key_of(item) for item in self.items}))  # each as often, those that share an EPK too
        query.group, query.one_group, query.gathers = lambda row: (), True, lambda key, rows: len(rows)
        clause = self.where_clause("FROM c") if self.rng.random() < 0.5 else "FROM c"
        query.text = "SELECT VALUE COUNT(1) " + clause

    def make(self, simple=False):
        """A query; a simple one gives whole items, in pages that others may write between."""
        while True:
            self.query = Query()
            self.scope()
            self.rng.choice([self.focused_query] * 16 + [self.rows_query] * 6 + [self.sorted_query] * 5 + (
                [] if simple else [self.aggregate_query] * 4 + [self.group_query] * 2 + [self.distinct_query] * 2 + [self.key_query] * 5))()
            if not simple or self.query.is_simple():
                return self.query


def text_words(text):
    """As the server's rules have them, for the words of make.py: each as it is written, and its stem."""
    words = "".join(letter if letter.isalnum() else " " for letter in text.lower()).split()
    return [(word, make.TEXT_STEMS.get(word, word)) for word in words if make.TEXT_STEMS.get(word, word)]


def apart(a, b):
    """Letters that are put in, left out or changed."""
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a):
        before, row = row, [i + 1]
        for k in range(len(b)):
            row.append(min(before[k] + (letter != b[k]), row[k] + 1, before[k + 1] + 1))
    return row[-1]


def has_keyword(words, keyword):
    """One word behind the other, each by its stem, or some letters away."""
    term, distance = (keyword["term"], keyword["distance"]) if isinstance(keyword, dict) else (keyword, 0)
    phrase = text_words(term)

    def meets(word, wanted):
        return word[1] == wanted[1] or (distance > 0 and apart(word[0], wanted[0]) <= distance)
    return bool(phrase) and any(all(map(meets, words[i:], phrase)) for i in range(len(words) - len(phrase) + 1))


def elements(value):
    return value if isinstance(value, list) else []


def without_undefined(row):
    return {name: value for name, value in row.items() if value is not UNDEFINED}


def metres(lon, lat, lon2, lat2):
    """On a sphere."""
    a, b, c, d = map(math.radians, (lon, lat, lon2, lat2))
    half = math.sin((d - b) / 2) ** 2 + math.cos(b) * math.cos(d) * math.sin((c - a) / 2) ** 2
    return 2 * EARTH_METRES * math.asin(math.sqrt(half))
