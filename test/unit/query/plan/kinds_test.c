/*
 * test/unit/query/plan/kinds_test.c - no expression has a value of a kind that was not foreseen: every operator and
 * every function that has a signature, with a constant of every kind in each place and values of every kind elsewhere.
 */
#include "query/function/builtins.h"
#include "query/function/signature.h"
#include "query/plan/kinds.h"
#include "query/run/compile.h"
#include "test.h"

static const char *const samples[] = { "undefined",
                                       "null",
                                       "false",
                                       "true",
                                       "0",
                                       "-2.5",
                                       "7",
                                       "''",
                                       "'a'",
                                       "[]",
                                       "[1,'a']",
                                       "{}",
                                       "{'type':'Point','coordinates':[1,2]}" };
enum { SAMPLES = sizeof(samples) / sizeof(samples[0]), PLACES = 3 };

static struct query *compile(struct op *op, const char *text)
{
    static const struct query_options options = { 0 };
    struct query *query = NULL;

    if (query_compile(op, slice_of(text), json_undefined, &options, &query) != ST_OK)
        test_failed(__FILE__, __LINE__, op->error);
    return query;
}

/* {"a": ..., "b": ..., "d": ...} of those samples. */
static struct json document(struct op *op, const size_t *sample)
{
    struct json made = json_undefined;
    struct query *query;
    struct value value;
    struct buf text;

    buf_init(&text, &op->arena);
    buf_printf(&text, "SELECT VALUE {a: %s, b: %s, d: %s} FROM c", samples[sample[0]], samples[sample[1]],
               samples[sample[2]]);
    buf_byte(&text, '\0');
    query = compile(op, text.data);
    if (query && query_value(op, query, json_undefined, &value) == ST_OK)
        made = value.json;
    return made;
}

static struct json documents[SAMPLES];

/* Each sample stands in each place, beside two others. */
static void make_documents(void)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        size_t sample[PLACES] = { i, (i * 5 + 3) % SAMPLES, (i * 7 + 1) % SAMPLES };

        documents[i] = document(test_op(), sample);
    }
}

static void check(const char *expression)
{
    struct arena_mark mark = arena_mark(&test_op()->arena);
    struct query *query;
    struct buf text;
    kinds foreseen;

    buf_init(&text, &test_op()->arena);
    buf_printf(&text, "SELECT VALUE %s FROM c", expression);
    buf_byte(&text, '\0');
    query = compile(test_op(), text.data);
    REQUIRE(query);
    foreseen = kinds_of(query_select(query)->item[0].expr);
    for (size_t i = 0; i < SAMPLES; i++) {
        struct value value = value_undefined;

        if (query_value(test_op(), query, documents[i], &value) == ST_OK &&
            !(foreseen & kinds_one((enum json_kind)value.kind)))
            test_failed(__FILE__, __LINE__, expression);
    }
    arena_rewind(&test_op()->arena, mark);
}

/* The pattern with a path in each of its places, and with a constant in one: % is a place. */
static void check_pattern(const char *pattern)
{
    static const char *const paths[] = { "c.a", "c.b", "c.d" };

    for (size_t place = 0; place <= PLACES; place++)
        for (size_t sample = 0; sample < (place < PLACES ? SAMPLES : 1); sample++) {
            struct buf text;
            size_t at = 0;

            buf_init(&text, &test_op()->arena);
            for (const char *p = pattern; *p; p++) {
                if (*p != '%') {
                    buf_byte(&text, *p);
                    continue;
                }
                buf_text(&text, at == place ? samples[sample] : paths[at]);
                at++;
            }
            buf_byte(&text, '\0');
            check(text.data);
        }
}

TEST(operators_give_the_kinds_that_were_foreseen)
{
    static const char *const patterns[] = {
        "(- %)",
        "(+ %)",
        "(~ %)",
        "(NOT %)",
        "(% + %)",
        "(% / %)",
        "(% & %)",
        "(% || %)",
        "(% = %)",
        "(% != %)",
        "(% < %)",
        "(% <= %)",
        "(% > %)",
        "(% >= %)",
        "(% AND %)",
        "(% OR %)",
        "(% ?? %)",
        "(% ? % : %)",
        "(% BETWEEN % AND %)",
        "(% NOT BETWEEN % AND %)",
        "(% IN (%, %))",
        "(% NOT IN (%, %))",
        "((% < %) AND (% = 1))",
        "(NOT (% <= %))",
        "((% < %) ?? %)",
        "((% + %) || 'a')",
        "[%]",
        "{a: %}",
        "EXISTS(SELECT VALUE %)",
        "ARRAY(SELECT VALUE %)",
    };

    make_documents();
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
        check_pattern(patterns[i]);
}

static void check_function(const struct builtin *row)
{
    int most = row->args_max < PLACES ? row->args_max : PLACES;

    for (int count = row->args_min; count <= most; count++) {
        struct buf pattern;

        if (!builtin_signature(row, (size_t)count) || (row->bind && count + 1 == row->args_max))
            continue; /* a span of time, which must be a literal, stands alone or before a date */
        buf_init(&pattern, &test_op()->arena);
        buf_printf(&pattern, "%s(", row->name);
        for (int i = 0; i < count; i++)
            buf_text(&pattern, i ? ", %" : "%");
        buf_text(&pattern, ")");
        buf_byte(&pattern, '\0');
        check_pattern(pattern.data);
    }
}

TEST(functions_give_the_kinds_that_their_signatures_say)
{
    static const struct builtin_family *const families[] = {
        &builtins_array, &builtins_string,  &builtins_math,    &builtins_date,
        &builtins_type,  &builtins_spatial, &builtins_convert, &builtins_regex,
    };

    make_documents();
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        for (size_t k = 0; k < families[i]->count; k++)
            check_function(&families[i]->row[k]);
}

static bool is_never_true(const char *filter)
{
    struct buf text;

    buf_init(&text, &test_op()->arena);
    buf_printf(&text, "SELECT VALUE %s FROM c", filter);
    buf_byte(&text, '\0');
    return !(kinds_of(query_select(compile(test_op(), text.data))->item[0].expr) & kinds_one(JSON_TRUE));
}

TEST(what_is_never_true_is_seen)
{
    CHECK(is_never_true("c.a + 1"));
    CHECK(is_never_true("~c.a"));
    CHECK(is_never_true("c.a > null"));
    CHECK(is_never_true("c.a < ''"));
    CHECK(is_never_true("c.a >= []"));
    CHECK(is_never_true("LOWER(c.a) = 1"));
    CHECK(is_never_true("STARTSWITH(c.a, 1)"));
    CHECK(is_never_true("(c.a || 'x') > 5"));
    CHECK(is_never_true("(c.a < 1) AND c.b + 1"));
    CHECK(is_never_true("c.a ? 1 : 'x'"));
    CHECK(!is_never_true("c.a"));
    CHECK(!is_never_true("c.a >= null"));
    CHECK(!is_never_true("c.a != NaN"));
    CHECK(!is_never_true("(c.a + 1) ?? c.b"));
    CHECK(!is_never_true("IS_DEFINED(c.a + 'x') = false"));
}

/* What is asked below is asked once, or depth would be paid for with a power of it. */
TEST(depth_costs_no_power_of_it)
{
    struct buf text;

    buf_init(&text, &test_op()->arena);
    buf_text(&text, "SELECT VALUE ");
    for (int i = 0; i < 60; i++)
        buf_text(&text, "((");
    buf_text(&text, "c.a");
    for (int i = 0; i < 60; i++)
        buf_text(&text, " BETWEEN 1 AND 2) IN (1, 2, 3))");
    buf_text(&text, " FROM c");
    buf_byte(&text, '\0');
    CHECK(kinds_of(query_select(compile(test_op(), text.data))->item[0].expr) == kinds_one(JSON_UNDEFINED));
}
