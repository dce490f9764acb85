"""cases.py - questions with the engine's answers, and what is different about a server's.

A case is an expression, {"e": text}, with its value as ToString([e]) writes it ("is") or a code ("error"); or a query,
{"q": text, "p": parameters}, with its plan ("info", what is not as in SELECT * FROM c; "ranges", pairs of EPKs) or
its errors ("errors": code, start, end, text of each)."""
import hashlib
import json
import lzma
import math
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "plan"))

import plans

CORPUS, DIFFERENCES = os.path.join(HERE, "corpus.ndjson.xz"), os.path.join(HERE, "differences.txt")
CONTAINER = {"partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}}
INFO = {"distinctType": "None", "top": None, "offset": None, "limit": None, "orderBy": [], "orderByExpressions": [],
        "groupByExpressions": [], "groupByAliases": [], "aggregates": [], "groupByAliasToAggregateType": {},
        "rewrittenQuery": "", "hasSelectValue": False, "dCountInfo": None, "hasNonStreamingOrderBy": False}
ROUGH = ("ST_DISTANCE", "ST_AREA")  # lengths on the earth: the engine sums a few arcs
TOGETHER = 24  # expressions in one query


def name_of(case):
    text = json.dumps([case.get("e"), case.get("q"), case.get("p")], ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]


def read():
    with lzma.open(CORPUS, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write(cases):
    with lzma.open(CORPUS, "wt", encoding="utf-8", preset=9 | lzma.PRESET_EXTREME) as file:
        file.writelines(json.dumps(case, separators=(",", ":")) + "\n" for case in cases)


def read_differences():
    """{name: reason}: under a line with a reason stand the names that it holds for."""
    reason, found = None, {}
    with open(DIFFERENCES, encoding="utf-8") as file:
        for line in file:
            word = line.split("#")[0].strip() if line.startswith(" ") else None
            if word:
                found[word] = reason
            elif line.strip() and not line.startswith("#"):
                reason = line.strip()
    return found


# ---- what the engine says ----

def of_plan(info, ranges):
    info = {name: (info or {}).get(name) for name in INFO}
    info["groupByAliasToAggregateType"] = {k: v or None for k, v in (info["groupByAliasToAggregateType"] or {}).items()}
    kept = {name: value for name, value in info.items() if value not in (None, INFO[name])}
    pairs = sorted({(one["min"], one["max"]) for one in ranges
                    if one["min"] != one["max"] or (one["min"] and one["isMinInclusive"] and one["isMaxInclusive"])})
    return {"info": kept, "ranges": [list(pair) for pair in pairs]}


def of_error(error):
    place = error.get("location") or {}
    return [None if error.get("code") is None else str(error["code"]), place.get("start"), place.get("end"),
            error["message"]]


def of_engine(engine, case):
    """The case with what the engine says of it; None where it says nothing that can be compared."""
    if "e" in case:
        answer = engine.answer({"query": "SELECT * FROM c WHERE c.pk = (ToString([%s]))" % case["e"]})
        if "error" in answer:
            return {**case, "error": answer["error"]["code"]}
        ranges = answer["plan"]["valueRanges"]
        point = len(ranges) == 1 and ranges[0]["min"] == ranges[0]["max"] and ranges[0]["min"]
        return {**case, "is": point[0]} if point and isinstance(point[0], str) else None
    answer = engine.answer({"query": case["q"], "parameters": case.get("p")})
    if "error" in answer:
        return {**case, "errors": [of_error(one) for one in [answer["error"], *answer["error"].get("more", [])]]}
    plan = answer["plan"]
    if plan.get("hybridSearchQueryInfo") or plan["queryRanges"] is None:
        return None
    return {**case, **of_plan(plan["queryInfo"], plan["queryRanges"])}


# ---- what a server says ----

class Server(plans.Asker):
    def open(self):
        super().open()
        self.container = self.make_container("c", CONTAINER)

    def values(self, cases, got):
        """got[name] = the text of ToString([e]), or the refusal's codes as a list; halved where one is refused."""
        names = ", ".join("a%d: ToString([%s])" % (i, case["e"]) for i, case in enumerate(cases))
        status, text = self.ask("POST", self.container + "/docs", plans.QUERY + [
            ("x-ms-documentdb-query-enablecrosspartition", "True")], {"query": "SELECT VALUE {%s}" % names})
        if status == 200:
            row = json.loads(text)["Documents"][0]
            got.update({name_of(case): row.get("a%d" % i) for i, case in enumerate(cases)})
        elif len(cases) == 1:
            got[name_of(cases[0])] = [error[0] for error in errors_of(text)] or [str(status)]
        else:
            self.values(cases[: len(cases) // 2], got)
            self.values(cases[len(cases) // 2:], got)

    def answer(self, case):
        status, text = self.plan(self.container, case["q"], case.get("p") or [])
        if status == 200:
            plan = json.loads(text)
            return of_plan(plan["queryInfo"], plan["queryRanges"])
        return {"errors": errors_of(text) or [[str(status), None, None, text]]}


def errors_of(text):
    try:
        message = json.loads(text)["message"]
    except (ValueError, KeyError, TypeError):
        return []
    found = re.search(r'\{"[eE]rrors":.*\]\}', message, re.S)
    errors = list(json.loads(found.group()).values())[0] if found else []
    return [of_error(one if isinstance(one, dict) else {"message": one}) for one in errors]


# ---- what differs ----

def same(a, b, part):
    if isinstance(a, float) and not math.isfinite(a) and isinstance(b, str):
        return b == ("NaN" if math.isnan(a) else "Infinity" if a > 0 else "-Infinity")  # what JSON lacks is a word to us
    if isinstance(a, bool) or isinstance(b, bool) or type(a) is str or a is None:
        return type(a) is type(b) and a == b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= part * max(abs(a), abs(b))
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(same(x, y, part) for x, y in zip(a, b))
    return isinstance(b, dict) and list(a) == list(b) and all(same(a[k], b[k], part) for k in a)


def value_differs(case, got):
    if "error" in case:
        return [] if isinstance(got, list) and case["error"] in got else ["value"]
    if not isinstance(got, str):
        return ["value"]
    part = 1e-6 if case["e"].upper().startswith(ROUGH) else 0
    return [] if same(json.loads(case["is"]), json.loads(got), part) else ["value"]


def query_differs(case, got):
    """The names of what differs."""
    if "errors" in case:
        if "errors" not in got:
            return ["accepted"]
        return [] if case["errors"] == got["errors"] else ["errors"]
    if "errors" in got:
        return ["refused"]
    names = [name for name in INFO if case["info"].get(name) != got["info"].get(name)]
    return names + (["ranges"] if case["ranges"] != got["ranges"] else [])


def ask_all(server, cases):
    """{name: (what differs, what the server says)} of those where something does."""
    found, got = {}, {}
    values = [case for case in cases if "e" in case]
    for start in range(0, len(values), TOGETHER):
        server.values(values[start:start + TOGETHER], got)
    for case in cases:
        answer = got[name_of(case)] if "e" in case else server.answer(case)
        differs = (value_differs if "e" in case else query_differs)(case, answer)
        if differs:
            found[name_of(case)] = (differs, answer)
    return found
