/* test/unit/query/plan/sdk_plan_test.c - what a client of several ranges is told; test/plan/ has the cases. */
#include "query/bind/bind.h"
#include "query/text/parse.h"
#include "query/plan.h"
#include "test.h"

#define FILTER "({documentdb-formattableorderbyquery-filter})"

static const char every_feature[] =
    "Aggregate, CompositeAggregate, Distinct, GroupBy, MultipleAggregates, MultipleOrderBy, OffsetAndLimit, "
    "OrderBy, "
    "Top, NonValueAggregate, DCount, NonStreamingOrderBy, ListAndSetAggregate, CountIf";

static const struct query_options options = { .planar = false };
static const struct slice steps[] = { { "key", 3 } };
static const struct query_key key = { .version = EPK_V2, .path_count = 1, .path = { { steps, 1 } } };

static enum status bind(struct slice text, const struct select **select)
{
    struct query *query;
    enum status st;

    TRY(query_compile(test_op(), text, json_undefined, &options, &query));
    *select = query_select(query);
out:
    return st;
}

static enum status plan_with(const char *query, const char *features, struct buf *out)
{
    const struct select *select;
    enum status st;

    buf_init(out, &test_op()->arena);
    TRY(bind(slice_of(query), &select));
    TRY(query_plan(test_op(), select, &key, slice_of(features), out));
out:
    return st;
}

/* The plan as JSON; undefined when there is none. */
static struct json plan_of(const char *query)
{
    struct json plan = json_undefined;
    struct buf out;

    if (plan_with(query, every_feature, &out) != ST_OK ||
        json_parse(test_op(), buf_as_slice(&out), &plan) != ST_OK)
        printf("%s: %s\n", query, test_op()->error);
    return plan;
}

static struct slice rewritten(const char *query)
{
    struct json text = json_get(json_get(plan_of(query), "queryInfo"), "rewrittenQuery");

    return json_kind(text) == JSON_STRING ? json_string(text) : slice_of("no plan");
}

TEST(a_plan_has_its_members_in_the_services_order)
{
    struct buf out;

    REQUIRE(plan_with("SELECT TOP 3 c.a FROM c WHERE c.key = 5 OR c.key = 'a' ORDER BY c.a DESC",
                      every_feature, &out) == ST_OK);
    CHECK(slice_is(
        buf_as_slice(&out),
        "{\"partitionedQueryExecutionInfoVersion\":2,\"queryInfo\":{\"distinctType\":\"None\",\"top\":3,"
        "\"offset\":null,\"limit\":null,\"orderBy\":[\"Descending\"],\"orderByExpressions\":[\"c.a\"],"
        "\"groupByExpressions\":[],\"groupByAliases\":[],\"aggregates\":[],"
        "\"groupByAliasToAggregateType\":{},\"rewrittenQuery\":\"SELECT TOP 3 c._rid, [{\\\"item\\\": "
        "c.a}] AS orderByItems, {\\\"a\\\": c.a} AS payload\\nFROM c\\nWHERE (((c.key = 5) OR (c.key = "
        "\\\"a\\\")) AND ({documentdb-formattableorderbyquery-filter}))\\nORDER BY c.a DESC\","
        "\"hasSelectValue\":false,\"dCountInfo\":null,\"hasNonStreamingOrderBy\":false},\"queryRanges\":["
        "{\"min\":\"19C08621B135968252FB34B4CF66F811\",\"max\":\"19C08621B135968252FB34B4CF66F811\","
        "\"isMinInclusive\":true,\"isMaxInclusive\":true},"
        "{\"min\":\"3A5381E1114EB8D3FCC90795045B49B7\",\"max\":\"3A5381E1114EB8D3FCC90795045B49B7\","
        "\"isMinInclusive\":true,\"isMaxInclusive\":true}],\"hybridSearchQueryInfo\":null}"));
}

TEST(nothing_to_merge_is_the_statement_itself)
{
    CHECK(rewritten("SELECT * FROM c").size == 0);
    CHECK(rewritten("SELECT TOP 5 * FROM c").size == 0);
    CHECK(rewritten("SELECT DISTINCT c.a FROM c").size == 0);
    CHECK(rewritten("SELECT * FROM c WHERE c.key = 1 OFFSET 1 LIMIT 2").size == 0);
    CHECK(rewritten("SELECT COUNT(1) FROM c WHERE c.a = undefined").size == 0);
    CHECK(rewritten("SELECT COUNT(1)").size == 0);
}

/* What clients send in place of the filter, and what a rewritten query then is. */
static bool binds(struct slice query)
{
    static const char *const filters[] = { "true", "( c.a > 5 )", "( c.a < \"x\" OR IS_DEFINED(c.a) )" };
    const char *filter = memmem(query.data, query.size, FILTER, strlen(FILTER));
    size_t before = filter ? (size_t)(filter - query.data) + 1 : query.size;
    const struct select *select;
    struct buf text;

    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        buf_init(&text, &test_op()->arena);
        buf_append(&text, query.data, before);
        if (filter) {
            buf_text(&text, filters[i]);
            buf_slice(&text, slice_after(query, before + strlen(FILTER) - 2));
        }
        if (bind(buf_as_slice(&text), &select) != ST_OK) {
            printf("%.*s\n%s\n", SLICE_ARGS(buf_as_slice(&text)), test_op()->error);
            return false;
        }
    }
    return true;
}

TEST(a_rewritten_query_is_one_of_the_language)
{
    static const char *const queries[] = {
        "SELECT * FROM c ORDER BY c.a",
        "SELECT TOP 3 c.a, c['b c'], 1 + 2, c.d AS e FROM Root c WHERE c.x LIKE 'y' ORDER BY c.a DESC",
        "SELECT VALUE {'a': c.a, 'b': -1.5} FROM c WHERE NOT c.x ORDER BY c.a OFFSET 1 LIMIT 2",
        "SELECT VALUE t.x FROM c JOIN t IN c.t WHERE EXISTS(SELECT 1 FROM u IN t.u WHERE u > 1) ORDER BY c.a",
        "SELECT DISTINCT VALUE c.a FROM c ORDER BY c.a",
        "SELECT DISTINCT TOP 5 c.a, c.b FROM c",
        "SELECT c.a FROM c OFFSET 1 LIMIT 2",
        "SELECT VALUE AVG(c.x ?? 0) FROM c",
        "SELECT VALUE MIN(c.x) FROM c WHERE c.y IN ('a', 'b') ORDER BY c.z",
        "SELECT COUNT(1), SUM(c.x) AS s, MAKESET(c.y) AS t, COUNTIF(c.z > 1) AS u, 'k' AS v FROM c",
        "SELECT c.a, UPPER(c.b), MAX(c.x) AS m FROM c GROUP BY c.a, UPPER(c.b)",
        "SELECT VALUE {'a': c.a} FROM c GROUP BY c.a",
        "SELECT VALUE AVG(c.x) FROM c JOIN (SELECT VALUE x FROM x IN c.xs) AS y WHERE y = c.z GROUP BY c.a "
        "OFFSET 1 LIMIT 1",
        "SELECT TOP 2 c.a, (c.a ? 'x' : 'y') AS z FROM c GROUP BY c.a",
        "SELECT COUNT(1) AS n FROM (SELECT DISTINCT c.a FROM c WHERE c.b > 1)",
    };

    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
        struct slice text = rewritten(queries[i]);

        CHECK(text.size > 0);
        CHECK(binds(text));
    }
}

TEST(values_are_distinct_in_order_when_they_are_ordered_by_themselves)
{
    static const struct {
        const char *query, *type;
    } rows[] = {
        { "SELECT c.a FROM c ORDER BY c.a", "None" },
        { "SELECT DISTINCT VALUE c.a FROM c ORDER BY c.a", "Ordered" },
        { "SELECT DISTINCT VALUE c.a FROM c ORDER BY c.a, c.b", "Unordered" },
        { "SELECT DISTINCT VALUE c.a FROM c ORDER BY c.b, c.a", "Unordered" },
        { "SELECT DISTINCT c.a FROM c ORDER BY c.a", "Unordered" },
        { "SELECT DISTINCT c.a, c.b FROM c ORDER BY c.a", "Unordered" },
        { "SELECT DISTINCT c.a, c.a AS b FROM c ORDER BY c.d, c.a", "Unordered" },
        { "SELECT DISTINCT c.a, c.b FROM c ORDER BY c.a, c.a", "Unordered" },
        { "SELECT DISTINCT * FROM c ORDER BY c.a", "Unordered" },
        { "SELECT DISTINCT VALUE c.a FROM c", "Unordered" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct json type = json_get(json_get(plan_of(rows[i].query), "queryInfo"), "distinctType");

        REQUIRE(json_kind(type) == JSON_STRING);
        if (!slice_is(json_string(type), rows[i].type))
            test_failed(__FILE__, __LINE__, rows[i].query);
    }
}

TEST(a_client_is_told_which_features_it_lacks)
{
    struct buf out;

    CHECK(plan_with("SELECT c.a, COUNT(1), MAX(c.b) FROM c GROUP BY c.a OFFSET 1 LIMIT 2",
                    " Aggregate,OrderBy ", &out) == ST_BAD_HEADER);
    CHECK(strcmp(test_op()->error,
                 "Query contains 1 or more unsupported features. Upgrade your SDK to a version that does "
                 "support the requested features:\n"
                 "Query contains the following features, which the calling client does not support:\n"
                 "None GroupBy MultipleAggregates OffsetAndLimit NonValueAggregate ") == 0);
    CHECK(plan_with("SELECT c.a FROM c", "", &out) == ST_OK);
    CHECK(plan_with("SELECT c.a FROM c WHERE c.key = 1 OFFSET 1 LIMIT 1", "", &out) == ST_OK);
    CHECK(plan_with("SELECT c.a FROM c WHERE c.key = 1 ORDER BY c.a", "", &out) == ST_BAD_HEADER);
}

TEST(what_is_computed_from_aggregates_is_refused)
{
    static const char *const queries[] = {
        "SELECT MIN(c.a) / 2 FROM c",
        "SELECT c.b, [COUNT(1)] AS n FROM c GROUP BY c.b",
        "SELECT MAX(c.a), MAX(c.a) + 1 FROM c",
    };
    struct buf out;

    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
        CHECK(plan_with(queries[i], every_feature, &out) == ST_BAD_QUERY);
    CHECK(plan_with("SELECT MAX(c.a + 1) FROM c", every_feature, &out) == ST_OK);
}

/* Clients that take no notice get the whole from one range: document_query.c. */
TEST(what_a_subquery_gathers_is_no_plan_for_several_ranges)
{
    static const char *const gathering[] = {
        "SELECT VALUE COUNT(1) FROM (SELECT c.a FROM c GROUP BY c.a)",
        "SELECT * FROM (SELECT COUNT(1) AS n FROM c) s WHERE s.n > 1",
        "SELECT * FROM (SELECT DISTINCT c.a FROM c) s",
    };
    static const char *const others[] = {
        "SELECT VALUE COUNT(1) FROM (SELECT c.a FROM c)",
        "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT c.a FROM c)",
    };

    for (size_t i = 0; i < sizeof(gathering) / sizeof(gathering[0]); i++)
        CHECK(json_kind(json_get(json_get(plan_of(gathering[i]), "queryInfo"),
                                 "requiresExtendedQueryPlan")) == JSON_TRUE);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        CHECK(json_kind(json_get(json_get(plan_of(others[i]), "queryInfo"), "requiresExtendedQueryPlan")) ==
              JSON_UNDEFINED);
}

/* Whatever allocation fails: the plan is whole, or there is none. */
TEST(a_plan_without_room_fails_whole)
{
    static const char query[] =
        "SELECT c.a, AVG(c.b) AS m FROM c WHERE c.key IN (1, 2, 3, 4, 5, 6, 7, 8, 9) OR "
        "ARRAY_CONTAINS(['x', 'y'], c.key) GROUP BY c.a";
    struct arena *arena = &test_op()->arena;
    size_t limit = arena->limit_bytes, failures = 0;

    for (size_t room = 0; room < 64 * 1024; room += 97) {
        struct arena_mark mark = arena_mark(arena);
        const struct select *select;
        struct json plan;
        struct buf out;
        enum status st;

        REQUIRE(bind(slice_of(query), &select) == ST_OK);
        arena->limit_bytes = arena->used_bytes + room;
        buf_init(&out, arena);
        st = query_plan(test_op(), select, &key, slice_of(every_feature), &out);
        arena->limit_bytes = limit;
        CHECK(st == ST_OK || st == ST_TOO_LARGE);
        CHECK(st != ST_OK || json_parse(test_op(), buf_as_slice(&out), &plan) == ST_OK);
        failures += st != ST_OK;
        arena_rewind(arena, mark);
    }
    CHECK(failures > 0);
}
