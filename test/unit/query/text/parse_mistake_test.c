/* test/unit/query/text/parse_mistake_test.c - what is said of a text that is no query, and of where. */
#include "query/text/mistake.h"
#include "query/text/parse.h"
#include "sketch.h"
#include "test.h"

struct row {
    const char *text, *mistake;
};

static void check(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *got = sketch_query(rows[i].text);

        if (strcmp(got, rows[i].mistake) != 0) {
            printf("%s\n    says  %s\n    and not %s\n", rows[i].text, got, rows[i].mistake);
            test_failed(__FILE__, __LINE__, "the mistake of the text above");
        }
    }
}

#define CHECK_ROWS(rows) check(rows, sizeof(rows) / sizeof((rows)[0]))
#define NEAR(place, token) "SC1001 " place " Syntax error, incorrect syntax near '" token "'."
#define END_AT(place) "SC1002 " place "-" place " Syntax error, unexpected end-of-file."

TEST(the_token_that_does_not_fit_is_cited)
{
    static const struct row rows[] = {
        { "selectttt * from c", NEAR("0-9", "selectttt") },
        { "SELECT * FROM @modules", NEAR("14-22", "@modules") },
        { "SELECT * FROM root WHERE (root.created > 6,35430269777489E+17)", NEAR("42-43", ",") },
        { "SELECT . FROM c", NEAR("7-8", ".") },
        { "SELECT FROM c", NEAR("7-11", "FROM") },
        { "SELECT *, c.a FROM c", NEAR("8-9", ",") },
        { "SELECT VALUE * FROM c", NEAR("13-14", "*") },
        { "SELECT VALUE 1, 2", NEAR("14-15", ",") },
        { "SELECT TOP 5 DISTINCT 1", NEAR("13-21", "DISTINCT") },
        { "SELECT TOP -1 *", NEAR("11-12", "-") },
        { "SELECT TOP 'a' *", NEAR("11-14", "'a'") },
        { "SELECT VALUE 1 AS x", NEAR("15-17", "AS") },
        { "SELECT 1 AS 'x' y", NEAR("16-17", "y") },
        { "SELECT 1 AS value", NEAR("12-17", "value") },
        { "SELECT c.value FROM c", NEAR("9-14", "value") },
        { "SELECT c.order FROM c", NEAR("9-14", "order") },
        { "SELECT c.a = = 1 FROM c", NEAR("13-14", "=") },
        { "SELECT 1 == 1", NEAR("10-11", "=") },
        { "SELECT * FROM c WHERE c.a = 1 HAVING 2", NEAR("30-36", "HAVING") },
        { "SELECT * FROM c LIMIT 5", NEAR("16-21", "LIMIT") },
        { "SELECT * FROM c OFFSET -1 LIMIT 5", NEAR("23-24", "-") },
        { "SELECT * FROM c OFFSET 1 LIMIT 'a'", NEAR("31-34", "'a'") },
        { "SELECT * FROM c ORDER BY c.a WHERE c.b", NEAR("29-34", "WHERE") },
        { "SELECT * FROM c WHERE c.a GROUP c.b", NEAR("32-33", "c") },
        { "SELECT * FROM c, d", NEAR("15-16", ",") },
        { "SELECT * FROM c[c.x]", NEAR("16-17", "c") },
        { "SELECT * FROM c['a' || 'b']", NEAR("20-22", "||") },
        { "SELECT * FROM c[@p]", NEAR("16-18", "@p") },
        { "SELECT * FROM c[-1]", NEAR("16-17", "-") },
        { "SELECT * FROM c.a + 1", NEAR("18-19", "+") },
        { "SELECT * FROM c JOIN x IN [1]", NEAR("26-27", "[") },
        { "SELECT 1 UNION SELECT 2", NEAR("15-21", "SELECT") },
        { "SELECT [1,]", NEAR("10-11", "]") },
        { "SELECT [,]", NEAR("8-9", ",") },
        { "SELECT {'a': 1,}", NEAR("15-16", "}") },
        { "SELECT {23: 1}", NEAR("8-10", "23") },
        { "SELECT {order: 1}", NEAR("8-13", "order") },
        { "SELECT {'a' 1}", NEAR("12-13", "1") },
        { "SELECT ABS('a',)", NEAR("15-16", ")") },
        { "SELECT c.ab(1) FROM c", NEAR("11-12", "(") },
        { "SELECT c.ab:cd FROM c", NEAR("11-12", ":") },
        { "SELECT c.2 FROM c", NEAR("8-10", ".2") },
        { "SELECT c[] FROM c", NEAR("9-10", "]") },
        { "SELECT 42 IN ()", NEAR("14-15", ")") },
        { "SELECT 42 IN (1,)", NEAR("16-17", ")") },
        { "SELECT 42 IN (SELECT 1)", NEAR("14-20", "SELECT") },
        { "SELECT 42 IN c.a", NEAR("13-14", "c") },
        { "SELECT a IN (1) IN (2)", NEAR("16-18", "IN") },
        { "SELECT NOT a IN (1) IN (2)", NEAR("20-22", "IN") },
        { "SELECT a IN (1) = true", NEAR("16-17", "=") },
        { "SELECT 1 BETWEEN 2 AND 3 BETWEEN 4 AND 5", NEAR("25-32", "BETWEEN") },
        { "SELECT 42 NOT 15 AND 1337", NEAR("14-16", "15") },
        { "SELECT 42 BETWEEN AND 1337", NEAR("18-21", "AND") },
        { "SELECT a LIKE 'x' ESCAPE c", NEAR("25-26", "c") },
        { "SELECT EXISTS(123)", NEAR("14-17", "123") },
        { "SELECT ARRAY 1", NEAR("13-14", "1") },
        { "SELECT * FROM c JOIN kv IN ObjectToArray(c.m)", NEAR("40-41", "(") },
        { "SELECT * FROM c JOIN x IN udf.split(c.a)", NEAR("26-29", "udf") },
        { "SELECT *", "SC1021 7-8 Syntax error, 'SELECT *' is not valid if FROM clause is omitted." },
        { "SELECT LEFT", END_AT("11") },
        { "SELECT udf(1)", NEAR("10-11", "(") },
        { "SELECT udf.order(1)", NEAR("11-16", "order") },
        { "SELECT 1 ? 2", END_AT("12") },
        { "SELECT 1 ? : 2", NEAR("11-12", ":") },
        { "SELECT ?? 1", NEAR("7-9", "??") },
        { "SELECT (1", END_AT("9") },
        { "SELECT 1)", NEAR("8-9", ")") },
        { "SELECT /* no */ 1", NEAR("7-8", "/") },
        { "SELECT * FROM c ORDER BY RANK", "(SELECT * FROM c as c ORDER RANK)" },
        { "UPDATE c SET a = 1", NEAR("0-6", "UPDATE") },
    };

    CHECK_ROWS(rows);
}

TEST(a_text_that_ends_too_early_is_said_to)
{
    static const struct row rows[] = {
        { "", END_AT("0") },
        { "  ", END_AT("2") },
        { "SELECT", END_AT("6") },
        { "SELECT * FROM c WHERE ", END_AT("22") },
        { "SELECT 42 +", END_AT("11") },
        { "SELECT [", END_AT("8") },
        { "SELECT {", END_AT("8") },
        { "SELECT * FROM c ORDER", END_AT("21") },
        { "SELECT * FROM c OFFSET 1", END_AT("24") },
        { "SELECT (SELECT *", END_AT("16") },
        { "SELECT 1 -- and then", "(SELECT  1)" },
        { "SELECT -- and then", END_AT("18") },
    };

    CHECK_ROWS(rows);
}

#define BAD_STRING(place, token) "SC1012 " place " Syntax error, invalid string literal token '" token "'."
#define BAD_NUMBER(place, token) "SC1011 " place " Syntax error, invalid numeric value token '" token "'."
#define BAD(place, token) "SC1010 " place " Syntax error, invalid token '" token "'."

TEST(what_is_no_token_is_cited_where_it_is_met)
{
    static const struct row rows[] = {
        { "SELECT 1;", BAD("8-9", ";") },
        { "SELECT 42 # 1337", BAD("10-11", "#") },
        { "SELECT c.$a FROM c", BAD("9-10", "$") },
        { "SELECT !true", BAD("7-8", "!") },
        { "SELECT `a`", BAD("7-8", "`") },
        { "SELECT @", BAD("7-8", "@") },
        { "SELECT @1", BAD("7-8", "@") },
        { "SELECT \xc3\xa9 \xf0\x9f\x98\x80 FROM c", BAD("9-10", "\xf0\x9f\x98\x80") },
        { "SELECT \xc2\xb2"
          "a",
          BAD("7-8", "\xc2\xb2") },
        { "SELECT 12a", BAD_NUMBER("7-10", "12a") },
        { "SELECT c.12a FROM c", BAD_NUMBER("8-12", ".12a") },
        { "SELECT -0.E", BAD_NUMBER("8-11", "0.E") },
        { "SELECT 1e+", BAD_NUMBER("7-10", "1e+") },
        { "SELECT 1e400 1a", BAD_NUMBER("7-12", "1e400") },
        { "SELECT 0x10000000000000000", BAD_NUMBER("7-26", "0x10000000000000000") },
        { "SELECT 1\xc3\xa9", BAD_NUMBER("7-9", "1\xc3\xa9") },
        { "SELECT 0x", BAD_NUMBER("7-9", "0x") },
        { "SELECT 0xfg", BAD_NUMBER("7-11", "0xfg") },
        { "SELECT * FROM 123ABC", BAD_NUMBER("14-20", "123ABC") },
        { "SELECT \"hello", BAD_STRING("7-13", "\"hello") },
        { "SELECT \"\"\"", BAD_STRING("9-10", "\"") },
        { "SELECT \"\\\"", BAD_STRING("7-10", "\"\\\"") },
        { "SELECT '\\", BAD_STRING("7-9", "'\\") },
        { "SELECT '\\u12g4'", BAD_STRING("7-13", "'\\u12g") },
        { "SELECT '\\u12' a", BAD_STRING("7-13", "'\\u12'") },
        { "SELECT '\\u1\xc3\xa9' a", BAD_STRING("7-12", "'\\u1\xc3\xa9") },
        { "SELECT FROM 'x", NEAR("7-11", "FROM") },
        { "SELECT a.order ; 'x", NEAR("9-14", "order") },
    };

    CHECK_ROWS(rows);
}

TEST(places_count_characters_and_not_bytes)
{
    static const struct row rows[] = {
        { "SELECT '\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80' = = 1", NEAR("15-16", "=") },
        { "-- \xc3\xa9\nSELECT ,", NEAR("12-13", ",") },
        { "SELECT '\xc3\xa9", BAD_STRING("7-9", "'\xc3\xa9") },
    };

    CHECK_ROWS(rows);
}

TEST(invalid_utf8_is_refused_wherever_it_stands)
{
    CHECK(strcmp(sketch_query("SELECT '\xff'"),
                 "SC1001 8-9 Syntax error, the query text is not valid UTF-8.") == 0);
    CHECK(strcmp(sketch_query("\xc3\xa9 \xc3"),
                 "SC1001 2-3 Syntax error, the query text is not valid UTF-8.") == 0);
    CHECK(strcmp(sketch_bytes(slice_make("SELECT \0", 8)), "SC1010 7-8 Syntax error, invalid token ''.") ==
          0);
}

TEST(a_long_token_is_cited_in_part)
{
    struct buf text;
    const char *got;

    buf_init(&text, &test_op()->arena);
    buf_text(&text, "SELECT 'a");
    for (int i = 0; i < 5000; i++)
        buf_text(&text, "\xe2\x82\xac");
    got = sketch_bytes(buf_as_slice(&text));
    CHECK(strncmp(got, "SC1012 7-5009 ", 14) == 0);
    CHECK(strlen(got) < 1200);
    CHECK(strcmp(got + strlen(got) - 5, "\xe2\x82\xac'.") == 0);
}

TEST(a_mistake_is_json_with_its_place)
{
    struct op *op = test_op();

    CHECK(mistake(op, (struct span){ 7, 9 }, "SC2001", "Identifier '%s' could not be resolved.", "a\"\n") ==
          ST_BAD_QUERY);
    CHECK(strcmp(op->error, "{\"errors\":[{\"severity\":\"Error\",\"location\":{\"start\":7,\"end\":9},"
                            "\"code\":\"SC2001\",\"message\":\"Identifier 'a\\\"\\n' could not be "
                            "resolved.\"}]}") == 0);
    CHECK(mistake(op, (struct span){ 0, 1 }, NULL, "x") == ST_BAD_QUERY);
    CHECK(strcmp(op->error, "{\"errors\":[{\"severity\":\"Error\",\"location\":{\"start\":0,\"end\":1},"
                            "\"message\":\"x\"}]}") == 0);
    CHECK(mistake_number(op, 2206, "Unsupported %d", 5) == ST_BAD_QUERY);
    CHECK(strcmp(op->error, "{\"errors\":[{\"severity\":\"Error\",\"code\":2206,"
                            "\"message\":\"Unsupported 5\"}]}") == 0);
}
