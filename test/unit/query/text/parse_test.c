/* test/unit/query/text/parse_test.c - which tree a text becomes. */
#include "query/text/parse.h"
#include "sketch.h"
#include "test.h"

struct row {
    const char *text, *sketch;
};

static void check_row(const struct row *row, const char *got)
{
    if (strcmp(got, row->sketch) != 0) {
        printf("%s\n    gives  %s\n    and not %s\n", row->text, got, row->sketch);
        test_failed(__FILE__, __LINE__, "the tree of the text above");
    }
}

static void check_values(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_row(&rows[i], sketch_value(rows[i].text));
}

static void check_queries(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_row(&rows[i], sketch_query(rows[i].text));
}

#define CHECK_VALUES(rows) check_values(rows, sizeof(rows) / sizeof((rows)[0]))
#define CHECK_QUERIES(rows) check_queries(rows, sizeof(rows) / sizeof((rows)[0]))

TEST(literals_are_what_they_look_like)
{
    static const struct row rows[] = {
        { "42", "42" },
        { "1337.42", "1337.4200000000001" },
        { "1E2", "100" },
        { "1.", "1" },
        { ".5", "0.5" },
        { "007", "7" },
        { "00.5", "0.5" },
        { "1.e2", "100" },
        { "5e-1", "0.5" },
        { "0x1F", "31" },
        { "0Xff", "255" },
        { "0x7fffffffffffffff", "9223372036854775807" },
        { "0xffffffffffffffff", "-1" },
        { "-0x10", "-16" },
        { "9223372036854775807", "9223372036854775807" },
        { "9223372036854775808", "9.2233720368547758e+18" },
        { "18446744073709551615", "1.8446744073709552e+19" },
        { "1e-400", "0" },
        { "\"double\"", "\"double\"" },
        { "'single'", "\"single\"" },
        { "''", "\"\"" },
        { "'say \"x\"'", "\"say \\\"x\\\"\"" },
        { "\"it's\"", "\"it's\"" },
        { "'\\'\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041'", "\"'\\\"\\\\/\\b\\f\\n\\r\\tA\"" },
        { "'\\q\\0\\a\\\xc3\xa9'", "\"q0a\xc3\xa9\"" }, /* any other character is itself */
        { "'a\tb\nc'", "\"a\\tb\\nc\"" },
        { "'\\ud83dA \\ude00'", "\"\xef\xbf\xbd"
                                "A \xef\xbf\xbd\"" }, /* halves of a pair */
        { "'\\ud83d\\ude00 \\u00e9'", "\"\xf0\x9f\x98\x80 \xc3\xa9\"" },
        { "true", "true" },
        { "false", "false" },
        { "null", "null" },
        { "undefined", "undefined" },
        { "TRUE", "TRUE" },
        { "Null", "Null" },
        { "NaN", "nan" },
        { "Infinity", "inf" },
        { "[]", "(array)" },
        { "[1, 'a', [c]]", "(array 1 \"a\" (array c))" },
        { "{}", "(object)" },
        { "{a: 1, 'b': 2, \"c d\": {x: c}}", "(object a:1 b:2 c d:(object x:c))" },
        { "@p", "@p" },
        { "@Some_Name1", "@Some_Name1" },
    };

    CHECK_VALUES(rows);
}

TEST(a_number_past_int64_keeps_its_nearest_double)
{
    CHECK(strcmp(sketch_value("0x20000000000001"), "9007199254740993") == 0);
    CHECK(strcmp(sketch_value("18446744073709551617"), "1.8446744073709552e+19") == 0);
}

TEST(a_sign_that_touches_a_number_is_part_of_it)
{
    static const struct row rows[] = {
        { "-5", "-5" },
        { "- 5", "(- 5)" },
        { "+5", "(+ 5)" },
        { "-5[0]", "(- ([] 5 0))" },
        { "-.5", "-0.5" },
        { "-9223372036854775808", "-9223372036854775808" },
        { "- -9223372036854775808", "(- -9223372036854775808)" },
        { "-0", "0" },
        { "-0.0", "-0" },
        { "-Infinity", "-inf" },
        { "1-1", "(- 1 1)" },
        { "1 -1", "(- 1 1)" },
        { "-c.a", "(- (. c a))" },
        { "~5", "(~ 5)" },
        { "-'a'", "(- \"a\")" },
        { "- ~ + c", "(- (~ (+ c)))" },
    };

    CHECK_VALUES(rows);
}

TEST(operators_bind_by_their_level)
{
    static const struct row rows[] = {
        { "1 / 2 * 3 % 4", "(% (* (/ 1 2) 3) 4)" },
        { "1 + 2 - 3 + 4", "(+ (- (+ 1 2) 3) 4)" },
        { "1 < 2 <= 3 > 4 >= 5", "(>= (> (<= (< 1 2) 3) 4) 5)" },
        { "1 = 2 != 3 <> 4", "(!= (!= (= 1 2) 3) 4)" },
        { "1 | 2 & 3 ^ 4", "(^ (& (| 1 2) 3) 4)" },
        { "1 AND 2 OR 3 AND 4", "(OR (AND 1 2) (AND 3 4))" },
        { "1 OR 2 AND 3 OR 4", "(OR 1 (AND 2 3) 4)" },
        { "1 ? 2 : 3 + 4", "(? 1 2 (+ 3 4))" },
        { "1 + 2 * 3 - 4 / 5", "(- (+ 1 (* 2 3)) (/ 4 5))" },
        { "1 + 2 < 2 + 3", "(< (+ 1 2) (+ 2 3))" },
        { "1 << 2 + 3", "(<< 1 (+ 2 3))" },
        { "1 >> 2 < 3 >>> 4", "(>>> (< (>> 1 2) 3) 4)" },
        { "1 > 2 = false AND 1 > 2 != true", "(AND (= (> 1 2) false) (!= (> 1 2) true))" },
        { "1 = 2 & 3 != 4", "(!= (= 1 (& 2 3)) 4)" },
        { "1 ^ 2 & 3 ^ 4", "(^ (& (^ 1 2) 3) 4)" },
        { "1 AND 2 | 3 AND 4", "(AND 1 (| 2 3) 4)" },
        { "1 || 2 OR 3 || 4", "(OR (|| 1 2) (|| 3 4))" },
        { "1 || 2 | 3", "(|| 1 (| 2 3))" },
        { "1 ?? 2 OR 3", "(?? 1 (OR 2 3))" },
        { "1 ?? 2 ?? 3", "(?? 1 (?? 2 3))" },
        { "1 ? 2 ?? 3 : 4", "(? 1 (?? 2 3) 4)" },
        { "1 ? 2 : 3 ? 4 : 5", "(? 1 2 (? 3 4 5))" },
        { "1 ? 2 ? 3 : 4 : 5", "(? 1 (? 2 3 4) 5)" },
        { "-1 + -c", "(+ -1 (- c))" },
        { "-c.a[0]", "(- ([] (. c a) 0))" },
        { "~c & 1", "(& (~ c) 1)" },
        { "(1 + 2) * 3", "(* (+ 1 2) 3)" },
        { "1 - (2 - 3)", "(- 1 (- 2 3))" },
    };

    CHECK_VALUES(rows);
}

TEST(what_and_or_join_is_one_node)
{
    static const struct row rows[] = {
        { "a AND b AND c AND d", "(AND a b c d)" },
        { "a OR b OR c", "(OR a b c)" },
        { "((a AND b) AND c) AND d", "(AND a b c d)" },
        { "a AND (b AND c)", "(AND a (AND b c))" },
        { "(a OR b) AND c", "(AND (OR a b) c)" },
        { "a AND b OR c AND d OR e", "(OR (AND a b) (AND c d) e)" },
    };

    CHECK_VALUES(rows);
}

TEST(not_is_as_tight_as_a_sign)
{
    static const struct row rows[] = {
        { "NOT a", "(NOT a)" },
        { "NOT a.b.c", "(NOT (. (. a b) c))" },
        { "NOT a = b", "(= (NOT a) b)" },
        { "NOT a AND b", "(AND (NOT a) b)" },
        { "NOT a IN (1)", "(IN (NOT a) 1)" },
        { "NOT NOT a", "(NOT (NOT a))" },
        { "a AND NOT b = c OR d", "(OR (AND a (= (NOT b) c)) d)" },
        { "a = NOT b", "(= a (NOT b))" },
        { "NOT(a)", "(NOT a)" },
    };

    CHECK_VALUES(rows);
}

TEST(tests_of_a_value)
{
    static const struct row rows[] = {
        { "42 BETWEEN 15 AND 1337", "(BETWEEN 42 15 1337)" },
        { "42 NOT BETWEEN 15 AND 1337", "(NOT BETWEEN 42 15 1337)" },
        { "(a BETWEEN 1 + 2 AND 3) AND b", "(AND (BETWEEN a (+ 1 2) 3) b)" },
        { "a + 1 BETWEEN 1 AND 2 ?? b BETWEEN 3 AND 4", "(?? (BETWEEN (+ a 1) 1 2) (BETWEEN b 3 4))" },
        { "42 IN(42)", "(IN 42 42)" },
        { "a IN (1, 'x', b)", "(IN a 1 \"x\" b)" },
        { "a NOT IN (1 AND 2, [3])", "(NOT IN a (AND 1 2) (array 3))" },
        { "a LIKE 'x%'", "(LIKE a \"x%\")" },
        { "a NOT LIKE b || 'x'", "(NOT LIKE a (|| b \"x\"))" },
        { "a LIKE 'x!%' ESCAPE '!'", "(LIKE a \"x!%\" \"!\")" },
        { "a = b IN (true)", "(IN (= a b) true)" },
        { "a IN (1) AND b LIKE 'x' ? 1 : 2", "(? (AND (IN a 1) (LIKE b \"x\")) 1 2)" },
        { "a IN (1) ?? b", "(?? (IN a 1) b)" },
    };

    CHECK_VALUES(rows);
}

TEST(members_elements_and_calls)
{
    static const struct row rows[] = {
        { "c", "c" },
        { "c.a.b", "(. (. c a) b)" },
        { "c['a b']", "(. c \"a b\")" },
        { "c['a'].b[0][\"x\"]", "(. ([] (. (. c \"a\") b) 0) \"x\")" },
        { "c[@p]", "([] c @p)" },
        { "c[1 + 2]", "([] c (+ 1 2))" },
        { "c['a' || 'b']", "([] c (|| \"a\" \"b\"))" },
        { "c . a [ 0 ]", "([] (. c a) 0)" },
        { "{a: 1}.a", "(. (object a:1) a)" },
        { "[1, 2][0]", "([] (array 1 2) 0)" },
        { "(c).a", "(. c a)" },
        { "(a + b).c", "(. (+ a b) c)" },
        { "1 .a", "(. 1 a)" },
        { "'abc'[0]", "([] \"abc\" 0)" },
        { "c.first.Last.all.rank", "(. (. (. (. c first) Last) all) rank)" },
        { "c.True.nan.Udf", "(. (. (. c True) nan) Udf)" },
        { "first", "first" },
        { "rank.x", "(. rank x)" },
        { "PI()", "(PI)" },
        { "lower (c.a)", "(lower (. c a))" },
        { "Concat(a, 'b', 1)", "(Concat a \"b\" 1)" },
        { "LEFT('abc', 1)", "(LEFT \"abc\" 1)" },
        { "right ('abc', 1)", "(right \"abc\" 1)" },
        { "f(x).y[0]", "([] (. (f x) y) 0)" },
        { "udf.tax(c.a, 1)", "(udf.tax (. c a) 1)" },
        { "udf . tax ( )", "(udf.tax)" },
        { "_x._y", "(. _x _y)" },
    };

    CHECK_VALUES(rows);
}

TEST(subqueries_as_values)
{
    static const struct row rows[] = {
        { "(SELECT 1)", "(query (SELECT  1))" },
        { "(SELECT c.a).a", "(. (query (SELECT  (. c a))) a)" },
        { "EXISTS(SELECT *)", "(EXISTS (SELECT *))" },
        { "ExIsTS (SELECT VALUE 1)", "(EXISTS (SELECT VALUE  1))" },
        { "ARRAY(SELECT VALUE t FROM t IN c.tags)", "(ARRAY (SELECT VALUE  t FROM IN (. c tags) AS t))" },
        { "ALL(SELECT VALUE 1)", "(ALL (SELECT VALUE  1))" },
        { "First(SELECT VALUE 1)", "(FIRST (SELECT VALUE  1))" },
        { "LAST(SELECT VALUE 1)", "(LAST (SELECT VALUE  1))" },
        { "ARRAY(SELECT 1)[0]", "([] (ARRAY (SELECT  1)) 0)" },
        { "1 + (SELECT VALUE (SELECT VALUE 2))", "(+ 1 (query (SELECT VALUE  (query (SELECT VALUE  2)))))" },
    };

    CHECK_VALUES(rows);
}

TEST(the_select_clause)
{
    static const struct row rows[] = {
        { "select distinct top 5 value c from c", "(SELECT DISTINCT TOP 5 VALUE  c FROM c as c)" },
        { "SELECT TOP @n 1", "(SELECT TOP @n  1)" },
        { "SELECT 1, c.a AS x, c.b y, LAST", "(SELECT  1 , (. c a) AS x , (. c b) AS y , LAST)" },
        { "SELECT 1 AS first, 2 last, 3 all", "(SELECT  1 AS first , 2 AS last , 3 AS all)" },
        { "SELECT 1 AS 'x y', 2 \"value\"", "(SELECT  1 AS x y , 2 AS value)" },
        { "SELECT ALL(1), FIRST(), LAST(1, 2)", "(SELECT  (ALL 1) , (FIRST) , (LAST 1 2))" },
        { "SELECT VALUE {x: 1}", "(SELECT VALUE  (object x:1))" },
        { "SELECT AVG(c.a) mean FROM c", "(SELECT  (AVG (. c a)) AS mean FROM c as c)" },
        { "SELECT DISTINCT VALUE 1", "(SELECT DISTINCT VALUE  1)" },
    };

    CHECK_QUERIES(rows);
}

TEST(the_from_clause)
{
    static const struct row rows[] = {
        { "SELECT * FROM c", "(SELECT * FROM c as c)" },
        { "SELECT * FROM ROOT", "(SELECT * FROM ROOT as ROOT)" },
        { "SELECT * FROM products p", "(SELECT * FROM products AS p)" },
        { "SELECT * FROM products AS p", "(SELECT * FROM products AS p)" },
        { "SELECT * FROM c.a.b", "(SELECT * FROM (. (. c a) b) as b)" },
        { "SELECT * FROM c['a']", "(SELECT * FROM (. c \"a\") as a)" },
        { "SELECT * FROM c.a[0]", "(SELECT * FROM ([] (. c a) 0))" },
        { "SELECT * FROM c.a[0] x", "(SELECT * FROM ([] (. c a) 0) AS x)" },
        { "SELECT * FROM x IN c.items", "(SELECT * FROM IN (. c items) AS x)" },
        { "SELECT * FROM p IN p.sizes", "(SELECT * FROM IN (. p sizes) AS p)" },
        { "SELECT * FROM c JOIN x IN c.a JOIN y IN x.b",
          "(SELECT * FROM c as c JOIN IN (. c a) AS x JOIN IN (. x b) AS y)" },
        { "SELECT * FROM c JOIN (SELECT VALUE 1) AS x",
          "(SELECT * FROM c as c JOIN (SELECT VALUE  1) AS x)" },
        { "SELECT * FROM (SELECT VALUE 1) x", "(SELECT * FROM (SELECT VALUE  1) AS x)" },
        { "SELECT * FROM (SELECT VALUE 1)", "(SELECT * FROM (SELECT VALUE  1))" },
        { "SELECT * FROM c JOIN x IN (SELECT VALUE c.a)",
          "(SELECT * FROM c as c JOIN IN (query (SELECT VALUE  (. c a))) AS x)" },
        { "SELECT * FROM c JOIN c.a x", "(SELECT * FROM c as c JOIN (. c a) AS x)" },
    };

    CHECK_QUERIES(rows);
}

TEST(the_clauses_behind_from)
{
    static const struct row rows[] = {
        { "SELECT * FROM c WHERE c.a = 1", "(SELECT * FROM c as c WHERE (= (. c a) 1))" },
        { "SELECT 1 WHERE true", "(SELECT  1 WHERE true)" },
        { "SELECT 1 FROM c GROUP BY c.a, c.b", "(SELECT  1 FROM c as c GROUP (. c a) , (. c b))" },
        { "SELECT * FROM c ORDER BY c.a, c.b DESC, c.d asc",
          "(SELECT * FROM c as c ORDER (. c a) , (. c b) DESC , (. c d) ASC)" },
        { "SELECT * FROM c ORDER BY RANK RRF(FullTextScore(c.t, 'a'), VectorDistance(c.v, @v)) DESC",
          "(SELECT * FROM c as c RANK (RRF (FullTextScore (. c t) \"a\") (VectorDistance (. c v) @v)) "
          "DESC)" },
        { "SELECT * FROM rank ORDER BY rank.x", "(SELECT * FROM rank as rank ORDER (. rank x))" },
        { "SELECT VALUE rank FROM rank ORDER BY rank DESC",
          "(SELECT VALUE  rank FROM rank as rank ORDER rank DESC)" },
        { "SELECT * FROM c OFFSET 1 LIMIT @n", "(SELECT * FROM c as c OFFSET 1 LIMIT @n)" },
        { "SELECT 1 FROM c WHERE a GROUP BY b ORDER BY d OFFSET 1 LIMIT 2",
          "(SELECT  1 FROM c as c WHERE a GROUP b ORDER d OFFSET 1 LIMIT 2)" },
    };

    CHECK_QUERIES(rows);
}

TEST(a_text_without_select_is_a_condition_and_no_query)
{
    static const struct row rows[] = {
        { "FROM c WHERE c.a > 1", "SC1001 0-4 Syntax error, incorrect syntax near 'FROM'." },
        { "SELECT * FROM (FROM c)", "SC1001 15-19 Syntax error, incorrect syntax near 'FROM'." },
        { "WHERE c.a", "SC1001 0-5 Syntax error, incorrect syntax near 'WHERE'." },
    };
    struct select *select;

    CHECK_QUERIES(rows);
    REQUIRE(query_parse_condition(test_op(), slice_of("from c where c.a > 1"), &select) == ST_OK);
    CHECK(select->star);
    CHECK(select->source_count == 1);
    CHECK(select->where && select->where->operation == OPERATOR_GREATER);
    CHECK(query_parse_condition(test_op(), slice_of("SELECT * FROM c"), &select) == ST_BAD_QUERY);
}

TEST(blanks_and_comments_stand_anywhere)
{
    static const struct row rows[] = {
        { "\n\t SELECT\r\n*  FROM--c\nd", "(SELECT * FROM d as d)" },
        { "-- all\nSELECT 1--", "(SELECT  1)" },
        { "SELECT 1 - -2", "(SELECT  (- 1 -2))" },
        { "SELECT 1 --2\n+ 3", "(SELECT  (+ 1 3))" },
        { "SELECT '--'", "(SELECT  \"--\")" },
    };

    CHECK_QUERIES(rows);
}

/* The part of the text, in characters. */
static bool spans(const char *text, struct span span, const char *part)
{
    const char *found = strstr(text, part);

    return found && span.start == (uint32_t)(found - text) && span.end - span.start == strlen(part);
}

TEST(spans_cover_the_text_they_came_from)
{
    static const char text[] = "SELECT DISTINCT TOP 3 (c.a + 1) AS x, LOWER (c.b) FROM c JOIN t IN c.tags "
                               "WHERE NOT (c.x IN (1, 2)) GROUP BY c.g ORDER BY c.o DESC OFFSET 1 LIMIT 2";
    struct select *s;

    REQUIRE(query_parse(test_op(), slice_of(text), &s) == ST_OK);
    CHECK(spans(text, s->span, text));
    CHECK(spans(text, s->top_span, "TOP 3"));
    CHECK(spans(text, s->item[0].span, "(c.a + 1) AS x"));
    CHECK(spans(text, s->item[0].expr->span, "c.a + 1"));
    CHECK(spans(text, s->item[0].expr->kid[0]->name_span, "a + 1") == false);
    CHECK(s->item[0].expr->kid[0]->name_span.start == 25 && s->item[0].expr->kid[0]->name_span.end == 26);
    CHECK(spans(text, s->item[1].expr->span, "LOWER (c.b)"));
    CHECK(spans(text, s->item[1].expr->name_span, "LOWER"));
    CHECK(spans(text, s->source[1].span, "t IN c.tags"));
    CHECK(spans(text, s->source[1].path->span, "c.tags"));
    CHECK(spans(text, s->where->span, "NOT (c.x IN (1, 2))"));
    CHECK(spans(text, s->where->kid[0]->span, "c.x IN (1, 2)"));
    CHECK(spans(text, s->group_span, "GROUP BY c.g"));
    CHECK(spans(text, s->order_span, "ORDER BY c.o DESC"));
    CHECK(spans(text, s->order[0].span, "c.o DESC"));
    CHECK(spans(text, s->limit_span, "OFFSET 1 LIMIT 2"));
}

TEST(a_span_of_parenthesised_operands_has_their_parentheses)
{
    static const char text[] = "SELECT VALUE ((a AND b) AND c).d";
    struct select *s;

    REQUIRE(query_parse(test_op(), slice_of(text), &s) == ST_OK);
    CHECK(spans(text, s->item[0].expr->span, "((a AND b) AND c).d"));
    CHECK(spans(text, s->item[0].expr->kid[0]->span, "(a AND b) AND c"));
}

TEST(strings_without_escapes_are_not_copied)
{
    static const char text[] = "SELECT VALUE 'abc'";
    struct select *s;

    REQUIRE(query_parse(test_op(), slice_of(text), &s) == ST_OK);
    CHECK(s->item[0].expr->value.string.data == text + 14);
}
