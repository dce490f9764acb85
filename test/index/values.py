"""test/index/values.py - values of the query language, and what its operators make of them.

Written from the language's description and not from the server, so that the two can be compared. A value is
what json.loads() gives, or UNDEFINED. A boolean is no number here, which Python has to be told each time.
"""
import fractions
import re


class Undefined:
    def __repr__(self):
        return "undefined"


UNDEFINED = Undefined()
NULL, FALSE, TRUE, NUMBER, STRING, ARRAY, OBJECT = range(1, 8)  # in the order of ORDER BY, undefined being 0
INT_MIN, INT_MAX = -(2 ** 63), 2 ** 63 - 1


def kind(value):
    if value is UNDEFINED:
        return 0
    if value is None:
        return NULL
    if isinstance(value, bool):
        return TRUE if value else FALSE
    if isinstance(value, (int, float)):
        return NUMBER
    return STRING if isinstance(value, str) else ARRAY if isinstance(value, list) else OBJECT


def is_bool(value):
    return isinstance(value, bool)


def canon(value):
    """Something to hash and compare: equal exactly when the values are. Members have no order."""
    what = kind(value)
    if what == ARRAY:
        return (what, tuple(canon(element) for element in value))
    if what == OBJECT:
        return (what, frozenset((name, canon(member)) for name, member in value.items()))
    if isinstance(value, int) and not INT_MIN <= value <= INT_MAX:
        value = float(value)  # a double whose text has no point: JavaScript prints up to 1e21 so
    return (what, value if what in (NUMBER, STRING) else None)


def sort_key(value):
    """Two values with one key have an order that only the server knows: arrays, and objects."""
    what = kind(value)
    return (what, value) if what in (NUMBER, STRING) else (what,)


def has_open_order(value):
    return kind(value) >= ARRAY


def member(value, name):
    return value.get(name, UNDEFINED) if isinstance(value, dict) else UNDEFINED


def element(value, index):
    return value[index] if isinstance(value, list) and 0 <= index < len(value) else UNDEFINED


def walk(value, steps):
    """steps: names, and numbers for elements."""
    for step in steps:
        value = member(value, step) if isinstance(step, str) else element(value, step)
    return value


# ---- operators, three-valued ----

def and_(a, b):
    if a is False or b is False:
        return False
    return True if a is True and b is True else UNDEFINED


def or_(a, b):
    if a is True or b is True:
        return True
    return False if a is False and b is False else UNDEFINED


def not_(a):
    return not a if is_bool(a) else UNDEFINED


def equal(a, b):
    if a is UNDEFINED or b is UNDEFINED:
        return UNDEFINED
    return canon(a) == canon(b)


def are_ordered(a, b):
    if is_bool(a) or is_bool(b):
        return is_bool(a) and is_bool(b)
    return kind(a) == kind(b) and kind(a) in (NULL, NUMBER, STRING)


def less(a, b):
    if not are_ordered(a, b):
        return UNDEFINED
    return False if a is None else a < b


COMPARISONS = {
    "=": equal,
    "!=": lambda a, b: not_(equal(a, b)),
    "<": less,
    ">": lambda a, b: less(b, a),
    "<=": lambda a, b: not_(less(b, a)),
    ">=": lambda a, b: not_(less(a, b)),
}


def in_list(a, values):
    """An undefined member is like any other that is not equal."""
    if a is UNDEFINED:
        return UNDEFINED
    return any(equal(a, value) is True for value in values)


def between(a, low, high):
    return and_(COMPARISONS[">="](a, low), COMPARISONS["<="](a, high))


# ---- functions ----

def on_strings(test):
    return lambda a, b: test(a, b) if isinstance(a, str) and isinstance(b, str) else UNDEFINED


STRING_TESTS = {
    "STARTSWITH": on_strings(lambda a, b: a.startswith(b)),
    "ENDSWITH": on_strings(lambda a, b: a.endswith(b)),
    "CONTAINS": on_strings(lambda a, b: b in a),
    "STRINGEQUALS": on_strings(lambda a, b: a == b),
}
TYPE_TESTS = {
    "IS_DEFINED": lambda a: a is not UNDEFINED,
    "IS_NULL": lambda a: a is None,
    "IS_BOOL": is_bool,
    "IS_NUMBER": lambda a: kind(a) == NUMBER,
    "IS_STRING": lambda a: kind(a) == STRING,
    "IS_ARRAY": lambda a: kind(a) == ARRAY,
    "IS_OBJECT": lambda a: kind(a) == OBJECT,
    "IS_PRIMITIVE": lambda a: NULL <= kind(a) <= STRING,
}


def lower_ascii(text):
    return re.sub("[A-Z]", lambda match: match.group(0).lower(), text)


def like(text, pieces):
    """pieces: ("%",), ("_",), ("[", set) or a string that stands for itself."""
    if not isinstance(text, str):
        return UNDEFINED
    signs = {"%": ".*", "_": "."}
    pattern = "".join(re.escape(piece) if isinstance(piece, str) else signs.get(piece[0]) or "[%s]" % piece[1]
                      for piece in pieces)
    return re.fullmatch(pattern, text, re.DOTALL) is not None


def holds(whole, part):
    """ARRAY_CONTAINS with a partial match: an object that has these members, its own among them likewise."""
    if isinstance(whole, dict) and isinstance(part, dict):
        return all(name in whole and holds(whole[name], value) for name, value in part.items())
    if isinstance(whole, list) and isinstance(part, list):
        return len(whole) == len(part) and all(map(holds, whole, part))
    return canon(whole) == canon(part)


def array_contains(array, value, partial=False):
    if not isinstance(array, list) or value is UNDEFINED:
        return UNDEFINED
    return any((holds if partial else lambda a, b: canon(a) == canon(b))(one, value) for one in array)


# ---- aggregates: of defined values ----

def whole(number):
    """An integer of 64 bits stays one; all else is the nearest double."""
    return int(number) if number == int(number) and INT_MIN <= number <= INT_MAX else float(number)


def total(values):
    """Rounded once, at the end: the order of the rows does not matter."""
    if any(kind(value) != NUMBER for value in values):
        return UNDEFINED
    return whole(sum(map(fractions.Fraction, values)))


def average(values):
    result = total(values)
    if result is UNDEFINED or not values:
        return UNDEFINED
    if isinstance(result, int) and result % len(values) == 0:
        return result // len(values)
    return float(result) / len(values)


def extreme(choose):
    def of(values):
        if not values or any(has_open_order(value) for value in values):
            return UNDEFINED
        return choose(values, key=sort_key)
    return of


AGGREGATES = {"COUNT": len, "SUM": total, "AVG": average, "MIN": extreme(min), "MAX": extreme(max)}
