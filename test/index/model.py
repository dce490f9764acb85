"""test/index/model.py - what a container holds, and what a query over it must answer, worked out the slow way.

The order of an answer is part of it. Without ORDER BY: the order of creation when the answer is small, else the
order in which items lie; groups in the order in which they appeared when they are few, those of one path by its value. Under ORDER BY ties go by
the time of creation, turned round where the first direction is. What nobody but the server can know (the order
of many groups, of arrays and of objects) is left open: those rows share a class.
"""
import base64
import collections
import json
import math
import types

import case as cases
import make
from values import NUMBER, UNDEFINED, canon, has_open_order, kind, sort_key, walk

EPK_BITS, COUNTER_BITS = 20, 40
SMALL_ROWS = 1000  # an answer, or a number of groups, that comes in the order of creation
ALWAYS_INDEXED = (("id",), ("_ts",))


def number_of(rid):
    """The counter stands first in a rid, and last in a number."""
    spelt = int.from_bytes(base64.b64decode(rid.replace("-", "/"))[8:16], "little")
    return (spelt & ((1 << EPK_BITS) - 1)) << COUNTER_BITS | spelt >> EPK_BITS


class Item:
    def __init__(self, doc, number, times):
        self.doc, self.number, self.times = doc, number, times  # the time by store
        self.counter = number % (1 << COUNTER_BITS)
        self.seen = {}  # as queries see it, by store


class Model:
    def __init__(self, definition):
        self.items = {}  # by (key, id)
        self.define(definition)

    def define(self, definition):
        self.definition = definition
        self.computed = [one["name"] for one in definition.get("computedProperties", [])]

    def key_of(self, doc):
        """The partition key header."""
        return cases.key_of(types.SimpleNamespace(container=self.definition), doc)

    def scope_of(self, key):
        """What a partition key header stands for: a prefix begins it."""
        return [key_part(value) for value in json.loads(key)]

    def is_in_scope(self, key, query):
        wanted = self.scope_of(query.key)
        return self.scope_of(key)[:len(wanted)] == wanted

    def seen(self, item, store):
        """An item as a query sees it."""
        if store not in item.seen:
            computed = {name: make.COMPUTED[name][1](item.doc) for name in self.computed}
            computed = {name: value for name, value in computed.items() if value is not UNDEFINED}
            item.seen[store] = {**item.doc, "_ts": item.times[store], **computed}
        return item.seen[store]

    def all_seen(self, store):
        return [self.seen(item, store) for item in self.items.values()]

    # ---- what ORDER BY is allowed ----

    def is_refused(self, query):
        if not query.order:
            return False
        if len(query.order) > 1:
            indexes = self.definition.get("indexingPolicy", {}).get("compositeIndexes", [])
            return not any(serves(index, query.order) for index in indexes)
        return not self.is_indexed(query.order[0][0])

    def is_indexed(self, steps):
        policy = self.definition.get("indexingPolicy", {"includedPaths": [{"path": "/*"}]})
        steps = ["[]" if isinstance(step, int) else step for step in steps]
        return tuple(steps) in ALWAYS_INDEXED or \
            precision(policy.get("includedPaths", []), steps) > precision(policy.get("excludedPaths", []), steps)

    # ---- answers ----

    def matches(self, query, store):
        """(item, place within the item, row) of every row that passes, as items lie."""
        found = []
        for name, item in sorted(self.items.items(), key=lambda pair: pair[1].number):
            if query.key is not None and not self.is_in_scope(name[0], query):
                continue
            rows = query.rows(self.seen(item, store))
            found += [(item, place, row) for place, row in enumerate(rows) if query.where(row) is True]
        return found

    def answer(self, query, store):
        """Rows before OFFSET and after, in order: (class, canonical row)."""
        matches = self.matches(query, store)
        if query.gathers:
            return groups(query, matches)
        rows = [(item, place, row, item.doc if query.star else query.project(row)) for item, place, row in matches]
        rows = [row for row in rows if row[3] is not UNDEFINED]
        if query.order:
            return in_order(query, rows)
        if query.distinct:
            return distinct(rows)
        return plain(query, rows)


def key_part(value):
    """What tells a key's value from others: of a number its double. Strings of which a hash sees the same are apart."""
    return canon(float(value) if kind(value) == NUMBER else value)


def serves(index, order):
    """A composite index serves its own order, and that turned round."""
    turned = {(part["order"] == "descending") != down for part, (_, down) in zip(index, order)}
    return len(index) == len(order) and len(turned) == 1 and \
        all(make.policy_steps(part["path"]) == list(steps) for part, (steps, _) in zip(index, order))


def precision(paths, steps):
    """Of the path that says most of these steps; -1 when none does. ? says more than *."""
    best = -1
    for one in paths:
        *known, last = make.policy_steps(one["path"])
        fits = known == steps[:len(known)] and (last == "*" or len(known) == len(steps))
        best = max(best, 2 * len(known) + (last == "?")) if fits and last in "?*" else best
    return best


def by_creation(row):
    return row[0].counter, row[1]


def plain(query, rows):
    few = max(SMALL_ROWS, query.skip + min(query.take, SMALL_ROWS))
    if len(rows) <= few and query.skip <= SMALL_ROWS:
        rows = sorted(rows, key=by_creation)
    return [(number, canon(row[3])) for number, row in enumerate(rows)]


def first_of_each(rows):
    seen = {}
    for row in rows:
        seen.setdefault(canon(row[3]), row)
    return seen


def in_appearance(rows):
    """[(class, canonical)] of rows that stand for many, each with the place where it appeared first."""
    if len(rows) > SMALL_ROWS:
        return [(0, canon(row[3])) for row in rows]
    return [(number, canon(row[3])) for number, row in enumerate(sorted(rows, key=by_creation))]


def distinct(rows):
    return in_appearance(list(first_of_each(sorted(rows, key=by_creation)).values()))


def groups(query, matches):
    found = {(): []} if query.one_group else {}
    for match in matches:
        key = query.group(match[2])
        found.setdefault(tuple(map(canon, key)), []).append(match)
    rows = []
    for key, members in found.items():
        first = min(members, key=by_creation) if members else (None, 0, None)
        values = query.group(first[2]) if members else ()
        given = query.gathers(values, [row for _, _, row in members])
        rows.append((first[0], first[1], values, given))
    return in_order_of_value(rows) if rows and len(rows[0][2]) == 1 else in_appearance_of_groups(rows)


def in_order_of_value(rows):
    """Values whose order is left open share a class; so do all groups when they are many."""
    if len(rows) > SMALL_ROWS:
        return in_appearance_of_groups(rows)
    rows = sorted(rows, key=lambda row: sort_key(row[2][0]))
    places = ["open %d" % kind(row[2][0]) if has_open_order(row[2][0]) else number for number, row in enumerate(rows)]
    return [(places.index(place), canon(row[3])) for place, row in zip(places, rows) if row[3] is not UNDEFINED]


def in_appearance_of_groups(rows):
    """As many groups decide the order, also where some are not shown."""
    many = len(rows) > SMALL_ROWS
    rows = rows if many or len(rows) < 2 else sorted(rows, key=by_creation)
    return [(0 if many else number, canon(row[3])) for number, row in enumerate(rows) if row[3] is not UNDEFINED]


class Key:
    """What a row is sorted by: its keys, each in its direction, then its place."""

    def __init__(self, query, row):
        item, place = row[0], row[1]
        values = [(walk(row[2]["c"], steps), down) for steps, down in query.order]
        self.parts, self.is_open = [], False
        for value, down in values:
            self.parts.append((sort_key(value), down))
            self.is_open = self.is_open or has_open_order(value)
            if self.is_open:
                return
        self.parts += [(item.counter, query.order[0][1]), (place, False)]

    def __lt__(self, other):
        for (mine, down), (theirs, _) in zip(self.parts, other.parts):
            if mine != theirs:
                return (theirs < mine) if down else (mine < theirs)
        return False

    def order_class(self, number):
        return tuple(part for part, _ in self.parts) if self.is_open else number


def in_order(query, rows):
    keyed = sorted(((Key(query, row), row) for row in rows), key=lambda pair: pair[0])
    found = [(key.order_class(number), canon(row[3])) for number, (key, row) in enumerate(keyed)]
    if not query.distinct:
        return found
    first = {}
    for where, row in found:
        first.setdefault(row, where)
    return [(where, row) for row, where in first.items()]


def difference(expected, query, actual):
    """What is wrong with the rows that came, canonical as well; None when nothing is."""
    end = len(expected) if query.take == math.inf else min(len(expected), query.skip + query.take)
    window = range(min(query.skip, end), end)
    if len(actual) != len(window):
        return "%d rows came instead of %d" % (len(actual), len(window))
    left = {}
    for where, row in expected:
        left.setdefault(where, collections.Counter())[row] += 1
    for place, row in zip(window, actual):
        there = left[expected[place][0]]
        if not there[row]:
            return "row %d is %s instead of %s" % (place - query.skip, shown(row), shown(expected[place][1]))
        there[row] -= 1
    return None


def shown(row):
    return cases.shown(repr(row), 2000)
