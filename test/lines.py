"""test/lines.py - what .case files have in common: lines that begin with a word, and two ways to be wrong."""
import json


class BadCase(Exception):
    """The case itself is wrong, whatever the server answers."""


class Mismatch(Exception):
    """The server's answer is not the expected one."""


def lines_of(text):
    """(word, value) pairs; an indented line continues the value before it."""
    pairs = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line[0] in " \t":
            if not pairs:
                raise BadCase("line %d continues nothing" % number)
            pairs[-1][1] += "\n" + line.strip()
            continue
        word, _, value = line.partition(" ")
        pairs.append([word, value.strip()])
    return pairs


def shown(value, limit=2000):
    """For a message: text as it is, anything else as JSON; cut when it is long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else text[:limit] + "... (%d characters)" % len(text)
