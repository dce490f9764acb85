/* test/unit/query/run/computed_test.c - values of computed properties for the index, and filters that use them. */
#include "query/computed.h"
#include "query/plan/access.h"
#include "index/set.h"
#include "shelf.h"

static struct json quoted(const char *text)
{
    char *copy = arena_text(&test_op()->arena, slice_of(text));
    struct json json = json_undefined;

    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    CHECK(json_parse(test_op(), slice_of(copy), &json) == ST_OK);
    return json;
}

static struct json property(const char *expression)
{
    struct buf text;

    buf_init(&text, &test_op()->arena);
    buf_printf(&text, "[{'name':'cp','query':'SELECT VALUE %s FROM c'}]", expression);
    return quoted(arena_text(&test_op()->arena, buf_as_slice(&text)));
}

static enum status value_of(const char *expression, const char *document, struct index_computed *result)
{
    return computed_value(test_op(), property(expression), 0, document ? quoted(document) : json_undefined,
                          result);
}

static void value_is(const char *expression, const char *document, const char *expected)
{
    struct index_computed result;
    struct buf text;

    CHECK(value_of(expression, document, &result) == ST_OK && !result.unknown);
    buf_init(&text, &test_op()->arena);
    if (result.value.at)
        json_print(&text, result.value);
    if (!slice_is(buf_as_slice(&text), expected)) {
        fprintf(stderr, "%s is %.*s\n", expression, (int)text.size, text.data);
        test_failed(__FILE__, __LINE__, expected);
    }
}

TEST(the_index_keeps_what_the_definition_computes_of_a_document)
{
    value_is("LOWER(c.s)", "{'s':'ÄbC'}", "\"äbc\"");
    value_is("c.n * 2", "{'n':21}", "42");
    value_is("c.n * 2", "{'s':1}", "");
    value_is("c[\\\"a b\\\"].x", "{'a b':{'x':[1]}}", "[1]");
    value_is("[c.n, {k: c.s}]", "{'n':1,'s':null}", "[1,{\"k\":null}]");
    value_is("7", "{}", "7");
}

TEST(a_number_that_json_cannot_say_is_not_known)
{
    struct index_computed result;

    CHECK(value_of("c.n * 10", "{'n':1e308}", &result) == ST_OK && result.unknown);
    CHECK(value_of("SQRT(c.n)", "{'n':-1}", &result) == ST_OK && result.unknown);
    CHECK(value_of("c.n * 10", "{'n':1e307}", &result) == ST_OK && !result.unknown);
}

TEST(what_depends_on_more_than_the_document_is_refused)
{
    static const char *const refused[] = { "c._ts",          "c._etag",  "LOWER(c[\\\"_rid\\\"])",
                                           "ToString(c)",    "c",        "c[c.n]",
                                           "{k: [c._self]}", "COUNT(1)", "VectorDistance(c.a, [1])" };
    static const char *const taken[] = { "LOWER(c.s)", "c.a._ts", "c.a[1]", "1 + 1" };
    struct index_computed result;

    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if (value_of(refused[i], NULL, &result) == ST_OK)
            test_failed(__FILE__, __LINE__, refused[i]);
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        if (value_of(taken[i], NULL, &result) != ST_OK)
            test_failed(__FILE__, __LINE__, taken[i]);
}

/* ---- filters ---- */

enum { ITEMS = 60 };

static const char *const policy =
    "{'includedPaths':[{'path':'/*'},{'path':'/cp/?'}],"
    "'compositeIndexes':[[{'path':'/flag','order':'ascending'},{'path':'/cp','order':'ascending'}]]}";

/* Items with n from 0 on, some without, whose cp is 60 - n; of the last it is too large for a number when `odd`. */
static void fill(struct shelf *shelf, bool odd)
{
    static const char last[] = "{'id':'last','flag':true,'cp':'stored','n':-1.7e308}";
    struct buf text;

    shelf_open_with(shelf, policy, property("(60 - c.n) * 10"), ITEMS);
    for (size_t i = 0; i < ITEMS; i++) {
        buf_init(&text, &test_op()->arena);
        buf_printf(&text, "{'id':'i%zu','flag':%s,'cp':'stored','%s':%zu}", i, i % 2 ? "true" : "false",
                   i % 7 == 6 ? "m" : "n", i);
        shelf->table.row[i].number = shelf->table.row[i].counter = i + 1;
        shelf->table.row[i].body =
            quoted(odd && i == ITEMS - 1 ? last : arena_text(&test_op()->arena, buf_as_slice(&text)));
    }
    shelf_index(shelf);
}

static const char *const queries[] = {
    "SELECT VALUE c.id FROM c WHERE c.cp = 100",
    "SELECT VALUE c.id FROM c WHERE c['cp'] > 300",
    "SELECT VALUE c.id FROM c WHERE c.cp = 'stored'",
    "SELECT VALUE c.id FROM c WHERE NOT (c.cp < 300)",
    "SELECT VALUE c.id FROM c WHERE c.cp != 100 AND c.flag",
    "SELECT VALUE c.id FROM c WHERE c.cp IN (10, 100) OR c.n = 4",
    "SELECT VALUE COUNT(1) FROM c WHERE c.cp >= 300",
    "SELECT VALUE c.id FROM c ORDER BY c.cp",
    "SELECT VALUE c.id FROM c ORDER BY c.cp DESC",
    "SELECT VALUE c.id FROM c WHERE c.cp > 100 ORDER BY c.cp",
    "SELECT VALUE c.id FROM c ORDER BY c.flag, c.cp",
    "SELECT VALUE c.id FROM c WHERE c.flag = true ORDER BY c.cp",
    "SELECT VALUE MAX(c.cp) FROM c WHERE c.flag",
    "SELECT DISTINCT VALUE c.cp FROM c WHERE c.cp < 100",
    "SELECT c.cp, COUNT(1) AS n FROM c GROUP BY c.cp",
};

static void answers_are_the_same(bool odd)
{
    struct shelf shelf;

    fill(&shelf, odd);
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
        struct query *scan = shelf_compile_for(&shelf, queries[i], QUERY_BY_SCAN);
        struct query *indexed = shelf_compile_for(&shelf, queries[i], QUERY_BY_INDEX);

        if (!slice_equal(shelf_pages(&shelf, scan, 7, 4096), shelf_pages(&shelf, indexed, 7, 4096)))
            test_failed(__FILE__, __LINE__, queries[i]);
    }
    shelf_close(&shelf);
}

TEST(a_filter_on_a_computed_property_has_the_same_rows_by_index)
{
    answers_are_the_same(false);
}

TEST(values_that_are_not_numbers_of_json_are_found_nevertheless)
{
    answers_are_the_same(true);
}

static void filter_is(bool odd, const char *text, const char *expected)
{
    struct planner planner = { .op = test_op() };
    struct shelf shelf;
    struct buf printed;

    fill(&shelf, odd);
    planner.index = &shelf.index;
    buf_init(&printed, &test_op()->arena);
    access_print(&printed,
                 access_of_select(&planner, query_select(shelf_compile_for(&shelf, text, QUERY_BY_COST))));
    if (!slice_is(buf_as_slice(&printed), expected)) {
        fprintf(stderr, "%s becomes %.*s\n", text, (int)printed.size, printed.data);
        test_failed(__FILE__, __LINE__, expected);
    }
    shelf_close(&shelf);
}

TEST(a_computed_property_is_a_path_while_every_value_is_known)
{
    filter_is(false, "SELECT * FROM c WHERE c.cp = 100", "/cp = 100");
    filter_is(false, "SELECT * FROM c WHERE c.cp = 100 AND c.flag", "(/cp = 100 AND /flag = true)");
    filter_is(false, "SELECT * FROM c WHERE c.cp.x = 100", "any");
    filter_is(true, "SELECT * FROM c WHERE c.cp = 100", "any");
}

static size_t picked_by(struct shelf *shelf, const char *text)
{
    shelf->picked = 0;
    shelf_pages(shelf, shelf_compile_for(shelf, text, QUERY_BY_INDEX), 100, 4096);
    return shelf->picked;
}

TEST(order_by_a_computed_property_reads_no_more_items_than_it_gives)
{
    struct shelf shelf;

    fill(&shelf, false);
    CHECK(picked_by(&shelf, "SELECT TOP 5 VALUE c.id FROM c WHERE c.cp > 100 ORDER BY c.cp") <= 8);
    CHECK(picked_by(&shelf, "SELECT TOP 5 VALUE c.id FROM c WHERE c.flag = true ORDER BY c.cp DESC") <= 8);
    CHECK(picked_by(&shelf, "SELECT VALUE c.id FROM c WHERE c.cp = 100") == 1);
    shelf_close(&shelf);
}
