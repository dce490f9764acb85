"""grammar.py - random expressions and queries of the query language: right ones mostly, and some that are not.

Grammar(random.Random(seed)).query() gives a text; .expression() one without names, which has a value."""

ATOMS = ["1", "0", "-1", "2.5", "-0.5", "1e3", "9007199254740993", "9223372036854775807", "-9223372036854775808", "1e300",
         "0.1", "'a'", "'abc'", "''", "'A b'", "'ünï'", "'12'", "'[1,2]'", "true", "false", "null", "undefined", "[]", "{}",
         "[1,2,3]", "['a','b']", "[1,[2],{a:3}]", "{a:1}", "{a:{b:[1]}}", "[null,true]", "'2020-02-29T12:34:56.7890000Z'",
         "'2020-01-01'", "NaN", "Infinity", "'day'", "'hh'", "{type:'Point',coordinates:[1,2]}"]
BINARY = "?? OR AND = != < > <= >= << >> >>> || + - & | ^ * / %".split()
UNARY = ["-", "+", "~", "NOT "]
PATHS = ["c.a", "c.b", "c.pk", "c.a.b", "c['x y']", "c.d[0]", "c.e", "c.id", "c._ts", "c.n"]
FUNCTIONS = {
    1: "ABS ACOS ASIN ATAN CEILING COS DEGREES EXP FLOOR LOG LOG10 RADIANS ROUND SIGN SIN SQRT SQUARE TAN TRUNC LENGTH LOWER "
       "UPPER REVERSE TRIM LTRIM RTRIM ToString StringToNumber StringToArray StringToObject StringToBoolean StringToNull "
       "ARRAY_LENGTH ARRAY_SUM ARRAY_AVG ARRAY_MIN ARRAY_MAX ARRAY_MEDIAN IS_ARRAY IS_BOOL IS_DATETIME IS_DEFINED "
       "IS_FINITE_NUMBER IS_INTEGER IS_NULL IS_NUMBER IS_OBJECT IS_PRIMITIVE IS_STRING YEAR MONTH DAY DateTimeToTicks "
       "DateTimeToTimestamp TicksToDateTime TimestampToDateTime IntBitNot NumberBin ObjectToArray ST_ISVALID ST_AREA "
       "ST_ISVALIDDETAILED COT".split(),
    2: "ATN2 POWER LOG ROUND IntAdd IntSub IntMul IntDiv IntMod IntBitAnd IntBitOr IntBitXor IntBitLeftShift IntBitRightShift "
       "NumberBin CONCAT CONTAINS ENDSWITH STARTSWITH StringEquals INDEX_OF LastIndexOf LEFT RIGHT REPLICATE StringJoin "
       "StringSplit SubstringAfter SubstringBefore LastSubstringAfter LastSubstringBefore TRIM LTRIM RTRIM ARRAY_CONCAT "
       "ARRAY_CONTAINS ARRAY_CONTAINS_ALL ARRAY_CONTAINS_ANY ARRAY_SLICE CHOOSE SetDifference SetEqual SetIntersect SetUnion "
       "DateTimePart DateTimeBin DateTimeFormat ObjectToArray CONTAINS_ALL_CI CONTAINS_ANY_CS ST_DISTANCE ST_WITHIN "
       "ST_INTERSECTS TicksToDateTime TimestampToDateTime".split(),
    3: "IIF REPLACE SUBSTRING DateTimeAdd DateTimeDiff DateTimeFromParts ARRAY_CONTAINS ARRAY_SLICE CONTAINS STARTSWITH "
       "INDEX_OF LastIndexOf CHOOSE CONCAT DateTimeBin ObjectToArray".split(),
}
AGGREGATES = ["COUNT", "SUM", "MIN", "MAX", "AVG"]
WRONG = ["HAVING c.a", "LIMIT 1", "c.", "FROM", "AS", "c.value", "NOSUCH(c.a)", "ABS()", "x.y", "!c.a", "1e", "'a", "c..a"]


class Grammar:
    def __init__(self, rng):
        self.rng, self.paths = rng, None

    def pick(self, things):
        return self.rng.choice(things)

    def chance(self, part):
        return self.rng.random() < part

    # ---- expressions ----

    def expression(self, depth=3):
        """Of literals alone."""
        self.paths = None
        return self.any(depth)

    def atom(self):
        return self.pick(self.paths) if self.paths and self.chance(0.7) else self.pick(ATOMS)

    def call(self, depth):
        count = self.pick([1, 1, 2, 2, 2, 3])
        return "%s(%s)" % (self.pick(FUNCTIONS[count]), ", ".join(self.any(depth - 1) for _ in range(count)))

    def joined(self, depth):
        """Operators without parentheses: how they bind is asked, too."""
        parts = [self.operand(depth)]
        for _ in range(self.pick([1, 1, 2])):
            parts += [self.pick(BINARY), self.operand(depth)]
        return " ".join(parts)

    def operand(self, depth):
        text = self.any(depth - 1)
        return text if self.chance(0.4) else "(%s)" % text

    def test(self, depth):
        text, word = self.operand(depth), self.pick(["IN", "NOT IN", "BETWEEN", "NOT BETWEEN"])
        if word.endswith("IN"):
            return "%s %s (%s)" % (text, word, ", ".join(self.any(1) for _ in range(self.rng.randint(1, 3))))
        return "(%s %s %s AND %s)" % (text, word, self.atom(), self.atom())

    def any(self, depth):
        roll = self.rng.random()
        if depth <= 0 or roll < 0.2:
            return self.atom()
        if roll < 0.5:
            return self.call(depth)
        if roll < 0.75:
            return self.joined(depth)
        if roll < 0.82:
            return self.test(depth)
        if roll < 0.88:
            return self.pick(UNARY) + self.operand(depth)
        if roll < 0.92:
            return "%s ? %s : %s" % (self.operand(depth), self.any(depth - 1), self.any(depth - 1))
        if roll < 0.96:
            return "[%s]" % ", ".join(self.any(depth - 1) for _ in range(self.rng.randint(0, 3)))
        return "{x: %s, 'y': %s}" % (self.any(depth - 1), self.any(depth - 1))

    # ---- queries ----

    def filter(self, depth=2):
        roll = self.rng.random()
        if depth == 0 or roll < 0.35:
            return "%s %s %s" % (self.pick(self.paths), self.pick(["=", "=", "!=", "<", ">="]), self.pick(ATOMS))
        if roll < 0.6:
            word = self.pick([" AND ", " OR "])
            return word.join("(%s)" % self.filter(depth - 1) for _ in range(self.rng.randint(2, 3)))
        if roll < 0.7:
            return "NOT (%s)" % self.filter(depth - 1)
        if roll < 0.8:
            return "%s IN (%s)" % (self.pick(self.paths), ", ".join(self.pick(ATOMS) for _ in range(self.rng.randint(1, 3))))
        if roll < 0.85:
            return "EXISTS(SELECT VALUE t FROM t IN c.d WHERE t %s %s)" % (self.pick(["=", ">"]), self.pick(ATOMS))
        return self.any(depth)

    def items(self):
        roll = self.rng.random()
        if roll < 0.3:
            return "*"
        if roll < 0.5:
            return "VALUE " + self.any(1)
        return ", ".join(self.any(1) + self.pick(["", "", " AS x%d" % i]) for i in range(self.rng.randint(1, 3)))

    def sources(self):
        roll = self.rng.random()
        if roll < 0.75:
            return "FROM c"
        if roll < 0.85:
            self.paths = self.paths + ["t", "t.a"]
            return "FROM c JOIN t IN c.d"
        if roll < 0.9:
            self.paths = ["t", "t.a"]
            return "FROM t IN c.d"
        return "FROM (SELECT VALUE c FROM c WHERE %s) AS c" % self.filter(1)

    def order(self):
        items = [self.pick(self.paths) + self.pick(["", " ASC", " DESC"]) for _ in range(self.pick([1, 1, 1, 2]))]
        return "ORDER BY " + ", ".join(items)

    def limit(self):
        return "OFFSET %d LIMIT %d" % (self.rng.randint(0, 5), self.rng.randint(0, 9))

    def grouped(self):
        group = self.pick(["c.a", "c.b", "c.a.b", "UPPER(c.b)"])
        items = self.pick(["%s, %s(c.n) AS n" % (group, self.pick(AGGREGATES)), group, "%s, COUNT(1)" % group,
                           "%s(c.n)" % self.pick(AGGREGATES), "%s, c.e" % group, "VALUE " + group])
        where = " WHERE " + self.filter(1) if self.chance(0.4) else ""
        order = " ORDER BY " + group if self.chance(0.2) else ""
        return "SELECT %s FROM c%s GROUP BY %s%s" % (items, where, group, order)

    def aggregated(self):
        what = "%s(%s)" % (self.pick(AGGREGATES), self.pick(self.paths + ["1"]))
        items = self.pick(["VALUE " + what, what, what + " AS n", "%s, %s(1) AS m" % (what, self.pick(AGGREGATES))])
        return "SELECT %s FROM c%s" % (items, " WHERE " + self.filter(1) if self.chance(0.5) else "")

    def plain(self):
        source = self.sources()
        head = ("DISTINCT " if self.chance(0.15) else "") + ("TOP %d " % self.rng.randint(0, 20) if self.chance(0.15) else "")
        parts = ["SELECT", head + self.items(), source]
        if self.chance(0.6):
            parts.append("WHERE " + self.filter())
        if self.chance(0.4):
            parts.append(self.order())
        if self.chance(0.15):
            parts.append(self.limit())
        return " ".join(parts)

    def broken(self):
        words = self.plain().split(" ")
        at = self.rng.randrange(len(words))
        if self.chance(0.5):
            del words[at]
        else:
            words.insert(at, self.pick(WRONG))
        return " ".join(words)

    def query(self):
        self.paths = PATHS
        roll = self.rng.random()
        if roll < 0.15:
            return self.grouped()
        if roll < 0.27:
            return self.aggregated()
        return self.broken() if roll < 0.4 else self.plain()
