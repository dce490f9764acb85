#!/usr/bin/env python3
"""letters.py > src/query/text/letters.def - which characters beyond ASCII the engine takes in identifiers.

It is asked one by one (engine.py), as the first character of a name and as a later one."""
import engine


def ranges(codes):
    out = []
    for code in sorted(codes):
        if out and out[-1][1] == code - 1:
            out[-1][1] = code
        else:
            out.append([code, code])
    return out


def main():
    ask = engine.Engine().answer
    letters, digits = [], []
    for code in [*range(0x80, 0xD800), *range(0xE000, 0x10000)]:
        if "error" not in ask({"query": "SELECT c.%s FROM c" % chr(code)}):
            letters.append(code)
        elif "error" in ask({"query": "SELECT%s1" % chr(code)}) and \
                "error" not in ask({"query": "SELECT c.a%sz FROM c" % chr(code)}):
            digits.append(code)
    print("/* Made by test/query/engine/letters.py. Letters, and what may follow one, of a name beyond ASCII. */")
    for kind, codes in (("LETTERS", letters), ("DIGITS", digits)):
        for first, last in ranges(codes):
            print("%s(0x%04X, 0x%04X)" % (kind, first, last))


if __name__ == "__main__":
    main()
