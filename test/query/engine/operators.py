#!/usr/bin/env python3
"""operators.py > operators.txt - how every pair of operators binds, asked of the engine (engine.py).

A line: an expression, a tab, and the expression with every parenthesis as the engine's rewritten query has it
(SELECT VALUE [e] FROM c ORDER BY c.z), or the error's code, its place in the expression and its text."""
import engine

BINARY = "?? OR AND = != <> < > <= >= << >> >>> || + - & | ^ * / %".split()
TESTS = ["IN ($)", "NOT IN ($)", "LIKE $", "NOT LIKE $", "BETWEEN $ AND c.y", "NOT BETWEEN $ AND c.y", "LIKE $ ESCAPE '!'"]
UNARY = ["-", "+", "~", "NOT"]
TAILS = [op + " $" for op in BINARY] + TESTS + ["? $ : c.x"]    # what may follow an operand
HEAD, END = "SELECT VALUE [", "] FROM c ORDER BY c.z"


def expressions():
    for first in TAILS:
        plain = "c.a " + first.replace("$", "c.b")
        yield plain
        for second in TAILS:
            yield plain + " " + second.replace("$", "c.d")
        for unary in UNARY:
            yield unary + " " + plain
            yield "c.a " + first.replace("$", unary + " c.b")
    for first in UNARY:
        for second in UNARY:
            yield "%s %s c.a" % (first, second)
        yield "%s c.a.b[0]" % first
        yield "%s (c.a)" % first
    for op in BINARY:
        yield "c.a ? c.b %s c.d : c.e" % op
        yield "c.a %s (c.b %s c.d)" % (op, op)
        yield "c.a %s c.b %s c.d %s c.e" % (op, op, op)
        yield "c.a %s -1" % op
        yield "c.a %s - 1" % op


def said(expression, answer):
    error = answer.get("error")
    if error:
        place = [error["location"][side] - len(HEAD) for side in ("start", "end")]
        return "%s %d %d %s" % (error["code"], *place, error["message"])
    text = answer["plan"]["queryInfo"]["rewrittenQuery"]
    return text[text.index("AS orderByItems, [") + len("AS orderByItems, ["):text.index("] AS payload")]


def main():
    ask = engine.Engine().answer
    for expression in dict.fromkeys(expressions()):
        print("%s\t%s" % (expression, said(expression, ask({"query": HEAD + expression + END}))))


if __name__ == "__main__":
    main()
