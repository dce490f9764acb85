"""test/query/case.py - reads a query case and compares what a server answers with what it expects.

README.md describes the format. A case is one query over a few items: the rows it gives, in their
order unless `unordered` is said, or the error it is refused with.
"""
import json
import re

from lines import BadCase, Mismatch, lines_of, shown

ONCE = {"about", "source", "gap", "container", "query", "unordered", "approx", "error", "location", "message",
        "codes"}
MANY = {"docs", "param", "expect"}
SYSTEM = {"_rid", "_self", "_etag", "_attachments", "_ts"}
CONTAINER = {"partitionKey": {"paths": ["/id"], "kind": "Hash", "version": 2}}
GIVEN_ID = "given-%d"  # of an item whose case gave it none


class Case:
    def __init__(self, name):
        self.name = name
        self.about = self.source = self.gap = self.query = None
        self.container, self.docs, self.params = CONTAINER, [], []
        self.expect = None  # the rows, None when an error is expected
        self.unordered, self.approx = False, 0.0
        self.error = self.location = self.message = self.codes = None
        self.given = set()  # ids that the runner added
        self.named = set()  # system properties that the expected rows speak of

    def assumed(self):
        return self.source.startswith("assumed")

    def ordered_by_query(self):
        return has_order_by(self.query)


def json_of(value):
    try:
        return json.loads(value)
    except ValueError as problem:
        raise BadCase("not JSON: %s: %s" % (problem, value)) from None


def add_doc(case, value):
    doc = json_of(value)
    if not isinstance(doc, dict):
        raise BadCase("an item is an object: %s" % value)
    if "id" not in doc:
        doc = {"id": GIVEN_ID % (len(case.docs) + 1), **doc}
        case.given.add(doc["id"])
    case.docs.append(doc)


def add_param(case, value):
    name, _, text = value.partition(" ")
    if not name.startswith("@"):
        raise BadCase("a parameter's name begins with @: %s" % value)
    case.params.append({"name": name, "value": json_of(text)})


def add_expect(case, value):
    case.expect = case.expect or []
    if value == "none":
        return
    row = json_of(value)
    case.expect.append(row)
    case.named |= SYSTEM & names_in(row)


def names_in(value):
    """Every property name in a value, at any depth."""
    if isinstance(value, list):
        return set().union(*map(names_in, value))
    if isinstance(value, dict):
        return set(value).union(*map(names_in, value.values()))
    return set()


def location_of(value):
    if not re.fullmatch(r"\d+ \d+", value):
        raise BadCase("location wants a start and an end: %s" % value)
    return dict(zip(("start", "end"), map(int, value.split())))


READ = {"container": json_of, "approx": float, "location": location_of, "unordered": lambda value: True,
        "codes": str.split}


def parse(name, text):
    case = Case(name)
    seen, none = set(), False
    for word, value in lines_of(text):
        if word not in ONCE | MANY or (word in ONCE and word in seen):
            raise BadCase("'%s' does not belong here" % word)
        seen.add(word)
        none = none or (word, value) == ("expect", "none")
        if word in MANY:
            {"docs": add_doc, "param": add_param, "expect": add_expect}[word](case, value)
        else:
            setattr(case, word, READ.get(word, str)(value))
    check_form(case, seen, none)
    return case


def check_form(case, seen, none):
    if not case.about or not case.source or not case.query:
        raise BadCase("a case has about, source and query")
    if ("expect" in seen) == ("error" in seen):
        raise BadCase("a case has either expect or error")
    if none and case.expect:
        raise BadCase("none is said beside rows")
    if seen & {"location", "message", "codes"} and "error" not in seen:
        raise BadCase("location, message and codes are an error's")
    if seen & {"unordered", "approx"} and "error" in seen:
        raise BadCase("unordered and approx are rows'")
    if case.error and not re.fullmatch(r"SC\d{4}|\d{4}|-", case.error):
        raise BadCase("error wants SC0000, 0000 or -")
    if len({doc["id"] for doc in case.docs}) != len(case.docs):
        raise BadCase("two items have one id")


def has_order_by(query):
    """Whether the outermost SELECT has an ORDER BY: what stands in parentheses, strings and comments is skipped."""
    depth, words = 0, []
    token = re.compile(r"""--[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\w+|\S""", re.S)
    for found in token.findall(query):
        depth += {"(": 1, ")": -1}.get(found, 0)
        if depth == 0 and not found.startswith("--"):
            words.append(found.upper())
    return ("ORDER", "BY") in zip(words, words[1:])


def key_of(case, doc):
    """The partition key header of an item."""
    values = []
    for path in case.container["partitionKey"]["paths"]:
        value = doc
        for step in re.findall(r'/("[^"]*"|[^/]*)', path):
            value = value.get(step.strip('"'), {}) if isinstance(value, dict) else {}
        values.append({} if isinstance(value, dict) else value)
    return json.dumps(values)


def bare(case, value):
    """A row without system properties and the ids that the runner gave."""
    if isinstance(value, list):
        return [bare(case, element) for element in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for name, member in value.items():
        ours = name == "id" and isinstance(member, str) and member in case.given
        if not ours and name not in SYSTEM - case.named:
            kept[name] = bare(case, member)
    return kept


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def same_number(expected, actual, approx):
    if expected == actual or (expected != expected and actual != actual):
        return True
    return abs(expected - actual) <= approx * max(abs(expected), abs(actual))


def same(expected, actual, approx=0.0):
    """As JSON: numbers by value, properties in any order; "<any>" stands for whatever is there."""
    if expected == "<any>":
        return True
    if is_number(expected) and is_number(actual):
        return same_number(expected, actual, approx)
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(same(*pair, approx) for pair in zip(expected, actual))
    if isinstance(expected, dict) and isinstance(actual, dict):
        return expected.keys() == actual.keys() and all(same(expected[name], actual[name], approx) for name in expected)
    return type(expected) is type(actual) and expected == actual


def same_in_any_order(expected, actual, approx=0.0):
    left = list(actual)
    for row in expected:
        match = next((index for index, other in enumerate(left) if same(row, other, approx)), None)
        if match is None:
            return False
        del left[match]
    return not left


def check_rows(case, rows, any_order=False):
    rows = [bare(case, row) for row in rows]
    compare = same_in_any_order if any_order or case.unordered else same
    if not compare(case.expect, rows, case.approx):
        raise Mismatch("the rows are not the expected ones\n    expected %s\n    answered %s"
                       % (shown(case.expect), shown(rows)))


def check_pages(case, whole, rows, size):
    """What was read in pages is what was read at once."""
    compare = same if case.ordered_by_query() else same_in_any_order
    if not compare(whole, rows, case.approx):
        raise Mismatch("read in pages of %d it gives other rows\n    at once   %s\n    in pages  %s"
                       % (size, shown([bare(case, row) for row in whole]), shown([bare(case, row) for row in rows])))


def errors_of(message):
    """The list in {"errors":[...]}, which the service sets in words of its own."""
    start = message.find('{"errors"')
    if start < 0:
        return []
    try:
        return json.JSONDecoder().raw_decode(message, start)[0]["errors"]
    except ValueError:
        raise Mismatch("the message holds no JSON: %s" % shown(message)) from None


def fits(case, error):
    if str(error.get("code", "-")) != case.error:
        return False
    if case.location and error.get("location") != case.location:
        return False
    return case.message is None or case.message in error.get("message", "")


def check_error(case, status, body):
    if status != 400:
        raise Mismatch("answered %d, not 400: %s" % (status, shown(body)))
    try:
        message = json.loads(body)["message"]
    except (ValueError, KeyError, TypeError):
        raise Mismatch("the body is no error: %s" % shown(body)) from None
    errors = errors_of(message)
    if case.error == "-" and not errors:
        errors = [{"message": message}]
    if not any(fits(case, error) for error in errors):
        wanted = [case.error, case.location, case.message]
        raise Mismatch("refused, but not with %s: %s" % (shown([want for want in wanted if want]), shown(message)))
    if getattr(case, "codes", None) and [str(error.get("code")) for error in errors] != case.codes:
        raise Mismatch("refused, but not with %s, in this order: %s" % (" ".join(case.codes), shown(message)))
