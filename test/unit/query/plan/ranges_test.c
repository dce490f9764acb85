/* test/unit/query/plan/ranges_test.c - which partition keys a filter leaves. */
#include "query/plan.h"
#include "query/bind/bind.h"
#include "query/eval/eval.h"
#include "query/text/parse.h"
#include "test.h"

static const struct slice key_steps[] = { { "key", 3 } };
static const struct slice a_steps[] = { { "a", 1 }, { "b", 1 } };
static const struct slice d_steps[] = { { "d", 1 } };

static const struct query_key one_path = { .version = EPK_V2, .path_count = 1, .path = { { key_steps, 1 } } };
static const struct query_key two_paths = { .version = EPK_V2,
                                            .path_count = 2,
                                            .path = { { a_steps, 2 }, { d_steps, 1 } } };
static const struct query_key two_levels = { .version = EPK_MULTI,
                                             .path_count = 2,
                                             .path = { { a_steps, 2 }, { d_steps, 1 } } };
static const struct query_key system_key = {
    .version = EPK_V2, .system = true, .path_count = 1, .path = { { key_steps, 1 } }
};

static struct json parameters;

static bool bind(const char *text, const struct query_options *options, const struct select **select)
{
    struct query *query;

    if (query_compile(test_op(), slice_of(text), parameters, options, &query) != ST_OK)
        return false;
    *select = query_select(query);
    return true;
}

static struct query_ranges ranges_with(const char *filter, const struct query_key *key,
                                       const struct query_options *options)
{
    struct query_ranges ranges = { .count = 12345 };
    const struct select *select;
    char query[4096];

    snprintf(query, sizeof(query), strncmp(filter, "SELECT", 6) ? "SELECT * FROM c WHERE %s" : "%s", filter);
    if (!bind(query, options, &select) || query_ranges(test_op(), select, key, &ranges) != ST_OK)
        printf("%s: %s\n", query, test_op()->error);
    return ranges;
}

static struct query_ranges ranges_of(const char *filter, const struct query_key *key)
{
    static const struct query_options plain = { .planar = false };

    return ranges_with(filter, key, &plain);
}

static bool is_all(const char *filter)
{
    return ranges_of(filter, &one_path).all;
}

static bool is_none(const char *filter)
{
    struct query_ranges ranges = ranges_of(filter, &one_path);

    return !ranges.all && ranges.count == 0;
}

/* `keys` is a list of partition keys as clients write them: [[5],["a"]]. Order and repetition count. */
static bool are_points(struct query_ranges ranges, const struct query_key *key, const char *keys)
{
    struct json list;
    size_t found = 0;

    if (json_parse(test_op(), slice_of(keys), &list) != ST_OK || ranges.all ||
        ranges.count != json_count(list))
        return false;
    for (struct json_iter i = json_iter(list); json_next(&i);) {
        struct partition_key values = { .count = json_count(i.value) };
        struct epk epk;

        for (size_t k = 0; k < values.count; k++) {
            values.component[k] = json_element(i.value, k);
            if (json_kind(values.component[k]) == JSON_OBJECT)
                values.component[k] = json_undefined;
        }
        epk_compute(key->version, &values, &epk);
        for (size_t k = 0; k < ranges.count; k++)
            found += slice_equal(epk_slice(&epk), epk_slice(&ranges.point[k]));
    }
    for (size_t i = 1; i < ranges.count; i++)
        if (slice_compare(epk_slice(&ranges.point[i - 1]), epk_slice(&ranges.point[i])) >= 0)
            return false;
    return found == ranges.count;
}

static bool finds(const char *filter, const char *keys)
{
    return are_points(ranges_of(filter, &one_path), &one_path, keys);
}

TEST(equality_with_a_constant_is_a_point)
{
    CHECK(finds("c.key = 5", "[[5]]"));
    CHECK(finds("'a' = c.key", "[[\"a\"]]"));
    CHECK(finds("c['key'] = null", "[[null]]"));
    CHECK(finds("c.key = 2 + 3", "[[5]]"));
    CHECK(finds("c.key = UPPER('a')", "[[\"A\"]]"));
    CHECK(finds("c.key", "[[true]]"));
    CHECK(finds("NOT c.key", "[[false]]"));
    CHECK(finds("NOT (c.key != 5)", "[[5]]"));
}

TEST(equality_of_what_is_built_from_keys_is_a_point)
{
    CHECK(finds("-c.key = 5", "[[-5]]"));
    CHECK(finds("[c.key] = ['a']", "[[\"a\"]]"));
    CHECK(finds("{k: c.key, x: c.x} = {k: 5, x: 1}", "[[5]]"));
    CHECK(finds("c = {key: 5}", "[[5]]"));
    CHECK(finds("(c.key = 5) = true", "[[5]]"));
    CHECK(finds("(c.key != 5) = false", "[[5]]"));
    CHECK(finds("c.key = 5 ? true : false", "[[5]]"));
    CHECK(finds("c.x ? c.key = 5 : c.key = 6", "[[5],[6]]"));
    CHECK(is_all("c.x ? c.key = 5 : true") && is_all("[c.x, c.key] = [5]"));
}

TEST(arrays_and_objects_lie_with_what_has_no_key)
{
    CHECK(finds("c.key = []", "[[{}]]"));
    CHECK(finds("c.key IN ({'a': 1}, [2], 5)", "[[{}],[5]]"));
    CHECK(finds("c.key = [1] AND c.key = [1]", "[[{}]]"));
}

TEST(lists_are_points_in_order_and_once)
{
    CHECK(finds("c.key IN (1, 2, 3, 2, 1.0)", "[[1],[2],[3]]"));
    CHECK(finds("c.key = 1 OR c.key = 2 OR c.key = 3", "[[1],[2],[3]]"));
    CHECK(finds("ARRAY_CONTAINS([1, 'a'], c.key)", "[[1],[\"a\"]]"));
    CHECK(finds("IS_BOOL(c.key) OR IS_NULL(c.key)", "[[true],[false],[null]]"));
    CHECK(finds("ABS(c.key) = 1.5", "[[1.5],[-1.5]]"));
    CHECK(finds("c.key IN (1, 2) AND c.key IN (2, 3)", "[[2]]"));
    CHECK(finds("NOT (c.key NOT IN (1, 2))", "[[1],[2]]"));
}

TEST(what_cannot_match_finds_nothing)
{
    CHECK(is_none("false"));
    CHECK(is_none("1 = 2"));
    CHECK(is_none("5"));
    CHECK(is_none("NOT 5"));
    CHECK(is_none("c.key = undefined"));
    CHECK(is_none("c.key = 1 AND c.key = 2"));
    CHECK(is_none("c.key = 1 AND (c.key = 2 OR c.key = 3)"));
    CHECK(is_none("c.key AND NOT c.key"));
    CHECK(is_none("ARRAY_CONTAINS([], c.key)"));
    CHECK(is_none("SELECT 5"));
}

/* The executor looks nowhere else: what is not certain is everywhere. */
TEST(what_is_not_understood_is_everywhere)
{
    static const char *const filters[] = {
        "true",
        "c.x = 5",
        "c.key > 5",
        "c.key != 5",
        "NOT (c.key = 5)",
        "NOT (c.key = 5 AND c.x = 1)",
        "c.key = 5 OR c.x = 1",
        "c.key = c.x",
        "c.key = c.key",
        "c.key[0] = 5",
        "c.key.x = 5",
        "c.x.key = 5",
        "c.key = RAND()",
        "c.key = Infinity",
        "c.key + 5 = 9", /* so is 3.9999999999999996 */
        "c.key + 1e300 = 1e300",
        "c.key * 0 = 0",
        "c.key NOT IN (5)",
        "c.key IN (5, c.x)",
        "(c.key = 5) ?? true",
        "c.x ? c.key = 5 : true",
        "IS_DEFINED(c.key)",
        "NOT IS_BOOL(c.key)",
        "NOT ARRAY_CONTAINS([1], c.key)",
        "ARRAY_CONTAINS(c.x, c.key)",
        "ABS(c.key) = -1",
        "NOT EXISTS(SELECT 1 FROM x IN c.x WHERE c.key = 5)",
        "c.x = (SELECT VALUE COUNT(1) FROM x IN c.x WHERE c.key = 5)",
        "ARRAY(SELECT 1 FROM x IN c.x WHERE c.key = 5) = []",
        "SELECT x FROM c JOIN x IN c.key WHERE x = 5",
        "SELECT x FROM x IN c.key WHERE x = 5",
        "LOWER(c.key) = 'abcdef'",
        "CONCAT(c.key, 'x') = 'ax'",
        "IIF(c.key = 5, false, true)",
        "NOT IS_STRING(c.key)",
        "c.key LIKE 'a%'",
        "c.key LIKE '[ab]'",
        "c.key = RegexMatch('a', 'a')",
        "c.key = (SELECT VALUE 5 WHERE c.x = 2)",
        "NOT IS_DEFINED((SELECT VALUE c.o WHERE c.x = 1).key)",
        "[c.x, c.key] = [5]",
        "{a: c.key, b: c.x} != {a: 5}",
        "ARRAY_CONTAINS([NaN], c.key)",
        "SELECT s FROM (SELECT MAX(c.key) AS key FROM c) s WHERE s.key = 5",
        "SELECT c.id FROM c JOIN (SELECT VALUE COUNT(1) FROM t IN c.x WHERE c.key = 5) n",
        "EXISTS(SELECT VALUE n FROM (SELECT VALUE COUNT(1) FROM t IN c.x WHERE c.key = 5) n WHERE n = 0)",
        "SELECT c.id FROM c JOIN (SELECT VALUE c.key) k WHERE k = 5",
        "SELECT FIRST(SELECT 1 FROM x IN c.x WHERE c.key = 5) FROM c",
    };

    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
        if (!is_all(filters[i]))
            test_failed(__FILE__, __LINE__, filters[i]);
}

TEST(one_of_several_conditions_is_enough)
{
    CHECK(finds("c.x = 1 AND c.key = 5 AND c.y > 2", "[[5]]"));
    CHECK(finds("(c.key = 5 OR c.x = 1) AND c.key IN (5, 6)", "[[5],[6]]"));
    CHECK(finds("NOT (c.x = 1 OR c.key != 5)", "[[5]]"));
}

TEST(a_subquery_that_must_have_a_row_counts)
{
    CHECK(finds("EXISTS(SELECT 1 FROM x IN c.x WHERE c.key = 5)", "[[5]]"));
    CHECK(finds("c.x = (SELECT VALUE d.y FROM c d WHERE d.key = 5)", "[[5]]"));
    CHECK(is_none("c.x = (SELECT * FROM c WHERE c.key = 42) AND c.key = 32"));
    CHECK(finds("SELECT COUNT(1) FROM (SELECT DISTINCT c.x FROM c WHERE c.key = 5)", "[[5]]"));
}

TEST(functions_and_operators_lead_back_to_the_key)
{
    CHECK(finds("LOWER(c.key) = 'a1b'", "[[\"a1b\"],[\"A1b\"],[\"a1B\"],[\"A1B\"]]"));
    CHECK(finds("UPPER(c.key) = '\xc3\x89'", "[[\"\xc3\x89\"],[\"\xc3\xa9\"]]"));
    CHECK(finds("LOWER(c.key) = 'k'", "[[\"k\"],[\"K\"]]")); /* the Kelvin sign has no small letter */
    CHECK(is_none("LOWER(c.key) = 'A'"));
    CHECK(finds("StringEquals('ab', c.key)", "[[\"ab\"]]"));
    CHECK(finds("StringEquals(c.key, 'A', true)", "[[\"a\"],[\"A\"]]"));
    CHECK(finds("REVERSE(c.key) = 'ab'", "[[\"ba\"]]"));
    CHECK(finds("LENGTH(c.key) = 0", "[[\"\"]]"));
    CHECK(finds("c.key * 2 = 6", "[[3]]") && finds("c.key + 0 = 5", "[[5]]"));
    CHECK(finds("c.key - 1 = 5", "[[6]]") && finds("+c.key = 5", "[[5]]"));
    CHECK(finds("(c.key ?? 1) = 2", "[[2]]") && finds("c.key ?? 1", "[[true]]"));
    CHECK(finds("IIF(c.key = 5, 'x', 'y') = 'x'", "[[5]]") && is_none("IIF(c.key = 5, 1, 2) = 3"));
    CHECK(finds("CHOOSE(1, c.key, c.x) = 5", "[[5]]") && is_none("CHOOSE(3, c.key, c.x)"));
    CHECK(finds("c.key LIKE 'a[%]b'", "[[\"a%b\"]]"));
    CHECK(finds("ARRAY_CONTAINS([c.key], 5)", "[[5]]"));
    CHECK(finds("ARRAY_CONTAINS_ANY([1, 2], c.key)", "[[1],[2]]"));
    CHECK(finds("c.key >= false", "[[false],[true]]") && finds("c.key <= null", "[[null]]"));
    CHECK(finds("c.key <= ''", "[[\"\"]]"));
}

TEST(conditions_of_one_path_are_looked_at_together)
{
    CHECK(is_none("IS_STRING(c.x) AND c.x = 1"));
    CHECK(is_none("NOT IS_STRING(c.key) AND c.key = 'a'"));
    CHECK(is_none("c.x = 1 AND (c.x = 2 OR c.x = 3)"));
    CHECK(is_none("c.x + 1 > 2 AND LOWER(c.x) = 'x'"));
    CHECK(is_none("c.x.y = 1 AND c.x = 2"));
    CHECK(is_none("c.x.y = 1 AND c.x[0] = 2"));
    CHECK(is_none("c.x = {y: 1} AND c.x.y = 2"));
    CHECK(is_none("c.x LIKE 'a%' AND c.x = 'b'"));
    CHECK(is_none("c.x ? 's' : c.x"));
    CHECK(is_none("SELECT VALUE c.x.y FROM c WHERE c.x = 1"));
    CHECK(is_none("SELECT VALUE t FROM t IN c.x WHERE t.y = 1 AND t = 2"));
    CHECK(is_all("SELECT VALUE c.x FROM c WHERE c.x.y = 1"));
    CHECK(is_all("c.x[0] = 1 AND c.x[1] = 2"));
    CHECK(is_all("c.x = {y: 1} AND c.x.y = 1"));
    CHECK(is_all("c.x.y = 1 AND NOT IS_DEFINED(c.x.z)"));
    CHECK(is_all("SELECT VALUE c.id FROM c JOIN t IN c.x JOIN u IN c.x WHERE t = 1 AND u = 2"));
}

TEST(names_of_subqueries_stand_for_what_they_select)
{
    CHECK(finds("SELECT * FROM (SELECT VALUE c FROM c) d WHERE d.key = 5", "[[5]]"));
    CHECK(finds("SELECT * FROM (SELECT * FROM c) d WHERE d.key = 5", "[[5]]"));
    CHECK(finds("SELECT * FROM (SELECT c.key AS k FROM c) d WHERE d.k = 5", "[[5]]"));
    CHECK(finds("SELECT * FROM (SELECT -c.key AS k FROM c) d WHERE d.k = 5", "[[-5]]"));
    CHECK(finds("SELECT * FROM (SELECT c.key AS k FROM c GROUP BY c.key) d WHERE d.k = 5", "[[5]]"));
    CHECK(finds("SELECT VALUE x FROM x IN (SELECT VALUE c.x FROM c WHERE c.key = 5)", "[[5]]"));
    CHECK(finds("c.key = (SELECT VALUE 5)", "[[5]]") && finds("(SELECT c.key AS k).k = 5", "[[5]]"));
    CHECK(finds("(SELECT VALUE d.key FROM c d) = 5", "[[5]]"));
}

/* Each level has the one below it twice. */
TEST(names_that_stand_for_more_and_more_end_somewhere)
{
    struct buf text;

    buf_init(&text, &test_op()->arena);
    buf_text(&text, "SELECT VALUE 1 FROM ");
    for (int i = 0; i < 20; i++)
        buf_text(&text, "(SELECT VALUE [x, x] FROM ");
    buf_text(&text, "c x");
    for (int i = 0; i < 20; i++)
        buf_text(&text, ") x");
    buf_text(&text, " WHERE x = ");
    for (int i = 0; i < 20; i++)
        buf_text(&text, "[[");
    for (int i = 0; i < 20; i++)
        buf_text(&text, "], []]");
    buf_byte(&text, '\0');
    (void)ranges_of(text.data, &one_path);
}

TEST(a_name_stands_for_its_path)
{
    struct query_ranges ranges = ranges_of("SELECT * FROM c.a x WHERE x.b = 1", &two_levels);

    CHECK(are_points(ranges, &two_levels, "[[1]]"));
    CHECK(finds("SELECT * FROM Families AS f WHERE f.key = 5", "[[5]]"));
}

TEST(a_key_of_several_paths_needs_all_of_them)
{
    CHECK(ranges_of("c.a.b = 1", &two_paths).all);
    CHECK(are_points(ranges_of("c.d = 2 AND c.a.b = 1", &two_paths), &two_paths, "[[1,2]]"));
    CHECK(are_points(ranges_of("(c.a.b = 1 AND c.d = 2) OR (c.a.b = '1' AND c.d = '2')", &two_paths),
                     &two_paths, "[[1,2],[\"1\",\"2\"]]"));
    CHECK(are_points(ranges_of("c.a.b IN (1, 2) AND c.d IN (3, 4)", &two_paths), &two_paths,
                     "[[1,3],[1,4],[2,3],[2,4]]"));
}

TEST(the_first_levels_of_a_hierarchical_key_are_a_prefix)
{
    struct query_ranges ranges = ranges_of("c.a.b = 1", &two_levels);

    REQUIRE(are_points(ranges, &two_levels, "[[1]]"));
    CHECK(query_point_is_prefix(&two_levels, &ranges.point[0]));
    CHECK(ranges_of("c.d = 1", &two_levels).all);
    ranges = ranges_of("c.a.b = 1 AND c.d = 2", &two_levels);
    REQUIRE(are_points(ranges, &two_levels, "[[1,2]]"));
    CHECK(!query_point_is_prefix(&two_levels, &ranges.point[0]));
}

TEST(what_lies_within_a_prefix_is_not_told_again)
{
    CHECK(
        are_points(ranges_of("c.a.b = 1 OR (c.a.b = 1 AND c.d = 2) OR (c.a.b = 3 AND c.d = 2)", &two_levels),
                   &two_levels, "[[1],[3,2]]"));
}

TEST(parameters_are_constants)
{
    REQUIRE(json_parse(test_op(),
                       slice_of("[{\"name\":\"@k\",\"value\":5},{\"name\":\"@p\",\"value\":\"key\"},"
                                "{\"name\":\"@l\",\"value\":[1,2]}]"),
                       &parameters) == ST_OK);
    CHECK(finds("c.key = @k", "[[5]]"));
    CHECK(finds("c[@p] = @k", "[[5]]"));
    CHECK(finds("ARRAY_CONTAINS(@l, c.key)", "[[1],[2]]"));
    CHECK(is_none("c.key = @missing"));
    parameters = json_undefined;
}

TEST(a_computed_property_is_not_the_key)
{
    struct query_options options = { 0 };

    REQUIRE(json_parse(test_op(),
                       slice_of("[{\"name\":\"key\",\"query\":\"SELECT VALUE UPPER(c.key) FROM c\"}]"),
                       &options.computed) == ST_OK);
    CHECK(ranges_with("c.key = 'A'", &one_path, &options).all);
}

/* Items of a container without a key have the empty key, whatever hash undefined has elsewhere. */
TEST(no_key_of_a_system_key_is_the_empty_one)
{
    struct query_ranges ranges = ranges_of("c.key = []", &system_key);

    REQUIRE(!ranges.all && ranges.count == 1);
    CHECK(ranges.point[0].size == 0);
}

TEST(too_many_keys_are_all_keys)
{
    static const size_t counts[] = { QUERY_POINTS_MAX, QUERY_POINTS_MAX + 1 };

    for (size_t i = 0; i < 2; i++) {
        static const struct query_options options = { .planar = false };
        struct query_ranges ranges;
        const struct select *select;
        struct buf query;

        buf_init(&query, &test_op()->arena);
        buf_text(&query, "SELECT * FROM c WHERE c.key IN (0");
        for (size_t k = 1; k < counts[i]; k++)
            buf_printf(&query, ",%zu", k);
        buf_text(&query, ")");
        buf_byte(&query, 0);
        REQUIRE(bind(query.data, &options, &select));
        REQUIRE(query_ranges(test_op(), select, &one_path, &ranges) == ST_OK);
        CHECK(ranges.all == (counts[i] > QUERY_POINTS_MAX));
        CHECK(ranges.all || ranges.count == counts[i]);
    }
}

/* Two long lists meet in as much work as one of them takes. */
TEST(long_lists_meet_quickly)
{
    static const struct query_options options = { .planar = false };
    struct query_ranges ranges;
    const struct select *select;
    struct buf query;

    buf_init(&query, &test_op()->arena);
    buf_text(&query, "SELECT * FROM c WHERE true");
    for (size_t list = 0; list < 8; list++) {
        buf_text(&query, " AND c.key IN (0");
        for (size_t k = 1; k < 4000; k++)
            buf_printf(&query, ",%zu", k);
        buf_text(&query, ")");
    }
    buf_byte(&query, 0);
    REQUIRE(bind(query.data, &options, &select));
    REQUIRE(query_ranges(test_op(), select, &one_path, &ranges) == ST_OK);
    CHECK(!ranges.all && ranges.count == 4000);
}

/*
 * Filters put together at random, over keys of every kind: whatever passes lies in the ranges.
 */

static const char *const values[] = {
    "0", "1", "-1", "1.5", "'a'", "''", "true", "false", "null", "[]", "{}"
};
enum { VALUE_COUNT = sizeof(values) / sizeof(values[0]) };

static const char *any_value(void)
{
    return values[test_random() % VALUE_COUNT];
}

static void add_test(struct buf *out)
{
    static const char *const forms[] = {
        "c.key = %s",
        "%s = c.key",
        "c.key != %s",
        "c.key IN (%s, %s)",
        "c.key NOT IN (%s, %s)",
        "c.key",
        "c.x",
        "c.key > %s",
        "ABS(c.key) = %s",
        "ARRAY_CONTAINS([%s, %s], c.key)",
        "c.x = %s",
        "c.key BETWEEN 0 AND 1",
        "IS_NULL(c.key)",
        "IS_BOOL(c.key)",
        "IS_DEFINED(c.key)",
        "%s = %s",
        "-c.key = %s",
        "[c.key] = [%s]",
        "[c.x, c.key] = [%s, %s]",
        "[c.x, c.key] = [%s]",
        "{k: c.key} = {k: %s}",
        "{k: c.key, x: c.x} = {k: %s}",
        "c = {key: %s, x: %s}",
        "c = {key: %s}",
        "(c.key = %s) = %s",
        "c.key = %s ? true : %s",
        "c.x ? c.key = %s : %s",
        "c.key = %s ? %s : c.key = %s",
    };
    const char *form = forms[test_random() % (sizeof(forms) / sizeof(forms[0]))];

    buf_text(out, "(");
    while (*form) {
        if (form[0] == '%')
            buf_text(out, any_value());
        else
            buf_byte(out, form[0]);
        form += form[0] == '%' ? strlen("%s") : 1;
    }
    buf_text(out, ")");
}

static void add_filter(struct buf *out, int depth)
{
    static const char *const words[] = { " AND ", " OR ", " = " };
    uint64_t choice = test_random() % 6;

    if (depth == 0 || choice == 0) {
        add_test(out);
        return;
    }
    buf_text(out, choice == 1 ? "NOT (" : "(");
    add_filter(out, depth - 1);
    if (choice > 1) {
        buf_text(out, words[choice == 5 ? 2 : choice % 2]);
        add_filter(out, depth - 1);
    }
    buf_text(out, ")");
}

static bool passes(const struct select *select, struct json item)
{
    struct value slots[4];
    struct eval eval = { .op = test_op(), .kept = &test_op()->arena, .slot = slots };

    for (size_t i = 0; i < 4; i++)
        slots[i] = value_from_json(item);
    return eval_expr(&eval, select->where).kind == JSON_TRUE;
}

static bool holds(const struct query_ranges *ranges, struct json item)
{
    struct partition_key key = { .count = 1, .component = { json_get(item, "key") } };
    struct epk epk;

    if (json_kind(key.component[0]) >= JSON_ARRAY)
        key.component[0] = json_undefined;
    epk_compute(EPK_V2, &key, &epk);
    for (size_t i = 0; i < ranges->count; i++)
        if (slice_equal(epk_slice(&epk), epk_slice(&ranges->point[i])))
            return true;
    return ranges->all;
}

TEST(whatever_passes_lies_in_the_ranges)
{
    static const char *const items[] = {
        "{\"key\":0}",
        "{\"key\":1}",
        "{\"key\":-1}",
        "{\"key\":1.5}",
        "{\"key\":\"a\"}",
        "{\"key\":\"\"}",
        "{\"key\":true}",
        "{\"key\":false}",
        "{\"key\":null}",
        "{\"key\":[]}",
        "{\"key\":{}}",
        "{\"x\":true}",
        "{\"key\":1,\"x\":true}",
        "{\"key\":2,\"x\":1}",
    };
    static const struct query_options options = { .planar = false };
    size_t narrow = 0;

    for (int round = 0; round < 3000; round++) {
        struct arena_mark mark = arena_mark(&test_op()->arena);
        struct query_ranges ranges;
        const struct select *select;
        struct buf query;

        buf_init(&query, &test_op()->arena);
        buf_text(&query, "SELECT * FROM c WHERE ");
        add_filter(&query, 4);
        buf_byte(&query, 0);
        REQUIRE(bind(query.data, &options, &select));
        REQUIRE(query_ranges(test_op(), select, &one_path, &ranges) == ST_OK);
        narrow += !ranges.all;
        for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
            struct json item;

            REQUIRE(json_parse(test_op(), slice_of(items[i]), &item) == ST_OK);
            if (passes(select, item) && !holds(&ranges, item))
                test_failed(__FILE__, __LINE__, query.data);
        }
        arena_rewind(&test_op()->arena, mark);
    }
    CHECK(narrow > 300); /* it is not by asking everywhere that nothing is missed */
}

TEST(columns_that_a_subquery_lacks_are_undefined)
{
    CHECK(is_none("SELECT * FROM (SELECT c.a FROM c) AS s WHERE s.b = 1"));
    CHECK(is_none("SELECT * FROM (SELECT c.a FROM c) AS s WHERE s.b.x[0] = 1"));
    CHECK(is_none("SELECT * FROM (SELECT c.a, COUNT(1) AS n FROM c GROUP BY c.a) AS s WHERE s.key = 'x'"));
    CHECK(is_all("SELECT * FROM (SELECT c.a FROM c) AS s WHERE NOT IS_DEFINED(s.b)"));
    CHECK(is_all("SELECT * FROM (SELECT c.a FROM c) AS s WHERE (s.b ?? 1) = 1"));
}
