"""test/wire/case.py - reads a .case file and compares an answer with what it expects.

README.md describes the format. A case is a list of exchanges; an exchange is a request and,
in the order of the file, the checks on its answer.
"""
import json
import re
import urllib.parse

import binary_json
from lines import BadCase, Mismatch, lines_of, shown

METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
REQUEST_WORDS = {"with", "key", "send", "bytes", "auth", "date", "sign"}
CHECK_WORDS = {"expect", "code", "message", "header", "body", "has", "text", "lacks", "match", "names", "count",
               "empty", "take", "form"}
CASE_WORDS = {"about", "source", "gap", "only", "setup"}


class Exchange:
    def __init__(self, method, target):
        self.method, self.target = method, target
        self.request = []  # (word, value)
        self.checks = []  # (word, value)


class Case:
    def __init__(self, name):
        self.name = name
        self.about = self.source = self.gap = self.only = None
        self.setup = "none"
        self.exchanges = []


def parse(name, text):
    case = Case(name)
    for word, value in lines_of(text):
        if word in METHODS:
            case.exchanges.append(Exchange(word, value))
        elif word in CASE_WORDS and not case.exchanges:
            setattr(case, word, value)
        elif word in REQUEST_WORDS and case.exchanges and not case.exchanges[-1].checks:
            case.exchanges[-1].request.append((word, value))
        elif word in CHECK_WORDS and case.exchanges:
            case.exchanges[-1].checks.append((word, value))
        else:
            raise BadCase("'%s' does not belong here" % word)
    if not case.about or not case.source or not case.exchanges:
        raise BadCase("a case has about, source and at least one exchange")
    for exchange in case.exchanges:
        if not exchange.checks or exchange.checks[0][0] != "expect":
            raise BadCase("%s %s: the first check is expect" % (exchange.method, exchange.target))
    return case


def fill(text, variables):
    """{{name}}, {{lower name}}, {{encode name}}, {{bare name}} (without quotes), {{literal name}} (inside a pattern)
    and {{repeat TEXT COUNT}}."""

    def value(match):
        words = match.group(1).split(" ")
        if words[0] == "repeat":
            return words[1] * int(words[2])
        if words[-1] not in variables:
            raise BadCase("nothing has set {{%s}}" % words[-1])
        found = str(variables[words[-1]])
        change = {"lower": str.lower, "encode": lambda text: urllib.parse.quote(text, safe=""),
                  "bare": lambda text: text.strip('"'), "literal": re.escape}
        return change[words[0]](found) if len(words) == 2 else found

    return re.sub(r"\{\{([^{}]+)\}\}", value, text)


def same(expected, actual, where="", subset=False):
    """Raises Mismatch with the first place that differs. "<any>" stands for whatever is there."""
    if expected == "<any>":
        return
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name, value in expected.items():
            if name not in actual:
                raise Mismatch("%s.%s is missing" % (where, name))
            same(value, actual[name], "%s.%s" % (where, name), subset)
        extra = [name for name in actual if name not in expected]
        if extra and not subset:
            raise Mismatch("%s has more members: %s" % (where or "the body", ", ".join(extra)))
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            raise Mismatch("%s has %d elements, not %d" % (where or "the body", len(actual), len(expected)))
        for index, (one, other) in enumerate(zip(expected, actual)):
            same(one, other, "%s[%d]" % (where, index), subset)
    elif type(expected) is bool or type(actual) is bool or expected != actual:
        if expected is not actual:
            raise Mismatch("%s is %s, not %s" % (where or "the body", shown(actual), shown(expected)))


def member(value, path):
    """Documents.0._rid; the empty path is the whole."""
    for step in [step for step in path.split(".") if step]:
        try:
            value = value[int(step)] if isinstance(value, list) else value[step]
        except (KeyError, IndexError, ValueError, TypeError):
            raise Mismatch("the body has no %s" % path) from None
    return value


class Answer:
    def __init__(self, status, reason, headers, body):
        self.status, self.reason, self.body = status, reason, body
        self.headers = {name.lower(): value for name, value in headers}
        names = [name.lower() for name, _ in headers]
        self.repeated = sorted({name for name in names if names.count(name) > 1})

    def text(self):
        return self.body.decode("utf-8", "replace")

    def json(self):
        """Binary JSON as what it stands for: `form` tells the two apart."""
        try:
            return binary_json.loads(self.body) if binary_json.is_binary(self.body) else json.loads(self.body)
        except ValueError as problem:
            raise Mismatch("the body is not JSON (%s): %s" % (problem, shown(self.text()))) from None


def check_expect(answer, value):
    """`404` wants no sub-status (or 0); `404/1003` wants that one."""
    status, _, sub = value.partition("/")
    found = answer.headers.get("x-ms-substatus", "0")
    if answer.status != int(status) or found != (sub or "0"):
        raise Mismatch("answered %d/%s, not %s" % (answer.status, found, value))


def check_header(answer, value):
    match = re.fullmatch(r"(\S+?)(?::\s*(.*)|\s+(present|absent)|\s+~\s*(.*))", value)
    if not match:
        raise BadCase("header wants 'name: value', 'name ~ pattern', 'name present' or 'name absent'")
    name, exact, presence, pattern = match.groups()
    found = answer.headers.get(name.lower())
    if presence == "absent":
        if found is not None:
            raise Mismatch("header %s is there: %s" % (name, found))
    elif found is None:
        raise Mismatch("header %s is missing" % name)
    elif exact is not None and found != exact:
        raise Mismatch("header %s is '%s', not '%s'" % (name, found, exact))
    elif pattern is not None and not re.search(pattern, found):
        raise Mismatch("header %s is '%s', which does not match %s" % (name, found, pattern))


def contains(what, text, part):
    if part not in text:
        raise Mismatch("%s does not contain '%s': %s" % (what, part, shown(text)))


def check_names(answer, value):
    """names id pk _rid: the members of the body and their order; `names Documents.0 : id pk` of a part."""
    path, colon, names = value.rpartition(" : ")
    found = list(member(answer.json(), path if colon else ""))
    if found != names.split():
        raise Mismatch("the members are %s" % " ".join(found))


def check_match(answer, value):
    path, pattern = value.split(None, 1)
    found = member(answer.json(), path)
    if not re.search(pattern, str(found)):
        raise Mismatch("%s is %s, which does not match %s" % (path, shown(found), pattern))


def check_count(answer, value):
    path, _, count = value.rpartition(" ")
    found = len(member(answer.json(), path))
    if found != int(count):
        raise Mismatch("%s has %d elements, not %s" % (path, found, count))


def take(answer, value, variables):
    """take name header etag | take name body Documents.0._rid"""
    name, kind, place = value.split(None, 2)
    if kind == "header":
        if place.lower() not in answer.headers:
            raise Mismatch("header %s is missing" % place)
        variables[name] = answer.headers[place.lower()]
    else:
        variables[name] = member(answer.json(), place)


def json_of(value):
    try:
        return json.loads(value)
    except ValueError as problem:
        raise BadCase("not JSON: %s: %s" % (problem, value)) from None


def check(answer, word, value, variables):
    value = fill(value, variables)
    if word == "expect":
        check_expect(answer, value)
    elif word == "code":
        same(value, member(answer.json(), "code"), "code")
    elif word == "message":
        contains("the message", member(answer.json(), "message").replace("\\/", "/"), value)
    elif word == "header":
        check_header(answer, value)
    elif word == "body":
        same(json_of(value), answer.json())
    elif word == "has":
        same(json_of(value), answer.json(), subset=True)
    elif word == "text":
        contains("the body", answer.text(), value)
    elif word == "lacks":
        if value in answer.text():
            raise Mismatch("the body contains '%s'" % value)
    elif word == "match":
        check_match(answer, value)
    elif word == "names":
        check_names(answer, value)
    elif word == "count":
        check_count(answer, value)
    elif word == "form":
        same(value, "binary" if binary_json.is_binary(answer.body) else "text", "the form")
    elif word == "empty":
        same("", answer.text(), "the body")
    elif word == "take":
        take(answer, value, variables)
