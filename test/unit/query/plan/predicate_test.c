/* test/unit/query/plan/predicate_test.c - which index ranges a filter becomes; ~ marks what may hold more. */
#include "query/plan/access.h"
#include "shelf.h"

static bool has(const struct query_index *index, const struct index_path *path)
{
    (void)index;
    return !slice_is(path->step[0].name, "hidden");
}

static bool has_no_spatial(const struct query_index *index, const struct index_path *path)
{
    (void)index, (void)path;
    return false;
}

static void filter_is(const char *from, const char *filter, const char *expected)
{
    struct index_policy_source nothing = { .policy = json_undefined };
    struct query_index index = { .has = has, .has_spatial = has_no_spatial };
    struct index_policy *policy;
    struct planner planner = { .op = test_op(), .index = &index };
    struct buf text, printed;

    CHECK(index_policy_read(test_op(), &test_op()->arena, &nothing, &policy) == ST_OK);
    index.policy = policy;
    buf_init(&text, &test_op()->arena);
    buf_printf(&text, "SELECT VALUE c.id FROM %s WHERE %s", from, filter);
    buf_init(&printed, &test_op()->arena);
    access_print(&printed, access_of_select(&planner, query_select(shelf_compile(
                                                          arena_text(&test_op()->arena, buf_as_slice(&text)),
                                                          QUERY_BY_COST))));
    if (!slice_is(buf_as_slice(&printed), expected)) {
        fprintf(stderr, "%s becomes %.*s\n", filter, (int)printed.size, printed.data);
        test_failed(__FILE__, __LINE__, expected);
    }
}

struct pair {
    const char *filter, *expected;
};

static void filters_are(const char *from, const struct pair *pair, size_t count)
{
    for (size_t i = 0; i < count; i++)
        filter_is(from, pair[i].filter, pair[i].expected);
}

#define FILTERS(from, pairs) filters_are(from, pairs, sizeof(pairs) / sizeof(pairs[0]))

TEST(comparisons_become_ranges_of_one_kind)
{
    static const struct pair pairs[] = {
        { "c.a = 5", "/a = 5" },
        { "5 = c.a", "/a = 5" },
        { "c.a.b['c'] = 'x'", "/a/b/c = \"x\"" },
        { "c.a > 5", "/a (5, number]" },
        { "5 < c.a", "/a (5, number]" },
        { "5 <= c.a", "/a [5, number]" },
        { "5 > c.a", "/a [number, 5)" },
        { "5 >= c.a", "/a [number, 5]" },
        { "c.a <= 'x'", "/a [string, \"x\"]" },
        { "c.a >= true", "/a [true, true]" },
        { "c.a >= null", "/a [null, null]" },
        { "c.a > null", "none" },
        { "c.a > [1]", "none" },
        { "c.a = undefined", "none" },
        { "c.a = [1]", "/a = [1]~" },
        { "c.a BETWEEN 1 AND 5", "/a [1, 5]" },
        { "c.a BETWEEN 5 AND 1", "none" },
        { "c.a NOT BETWEEN 1 AND 5", "(/a [number, 1) OR /a (5, number])" },
        { "c.a != 5", "(/a [null, 5) OR /a (5, object])" },
        { "NOT (c.a < 5)", "/a [5, number]" },
        { "c.a IN (1, 'x')", "(/a = 1 OR /a = \"x\")" },
        { "c.a NOT IN (1, 'x')", "/a [null, object]~" },
        { "c.a", "/a = true" },
        { "NOT c.a", "/a = false" },
        { "c.a + 1 = 5", "any" },
        { "c.a = c.b", "any" },
        { "c.hidden = 1", "any" },
        { "c.a[0] = 1", "/a/[] = 1~" },
    };

    FILTERS("c", pairs);
}

TEST(and_leaves_out_what_has_no_index_and_or_does_not)
{
    static const struct pair pairs[] = {
        { "c.a = 1 AND c.b = 2", "(/a = 1 AND /b = 2)" },
        { "c.a = 1 OR c.b = 2", "(/a = 1 OR /b = 2)" },
        { "c.a = 1 AND c.hidden = 2", "/a = 1~" },
        { "c.a = 1 OR c.hidden = 2", "any" },
        { "NOT (c.a = 1 AND c.b < 2)", "(/a [null, 1) OR /a (1, object] OR /b [2, number])" },
        { "c.a = 1 AND false", "none" },
    };

    FILTERS("c", pairs);
}

TEST(two_bounds_of_one_value_are_one_range)
{
    static const struct pair pairs[] = {
        { "c.a > 1 AND c.a <= 5", "/a (1, 5]" },
        { "c.a > 1 AND c.a >= 3", "/a [3, number]" },
        { "c.a > 5 AND c.a < 1", "none" },
        { "c.a > 1 AND c.a < 'x'", "none" },
        { "c.a = 1 AND c.a = 1", "/a = 1" },
        { "c.a = 1 AND c.a = 2", "none" },
        { "c.b = 1 AND c.a > 1 AND c.a < 5", "(/b = 1 AND /a (1, 5))" },
        { "c.a >= 1 AND c.b = 1 AND c.a < 5", "(/a [1, 5) AND /b = 1)" },
        { "c.a < 5 AND (c.b = 1 AND c.a >= 1)", "(/b = 1 AND /a [1, 5))" },
        { "c.a >= 1 AND c.b = 1 AND c.a < 1", "none" },
        { "c.a > 1 AND IS_INTEGER(c.a)", "/a (1, number]~" },
        { "c.a != null AND c.a < 5", "/a [number, 5)" },
        { "c.a > 'b' AND c.a != null", "/a (\"b\", string]" },
        { "c.a != null AND IS_STRING(c.a)", "/a [string, string]" },
        { "c.a != null AND c.a = null", "none" },
        { "c.a > 1 AND c.a != 5", "(/a (1, number] AND (/a [null, 5) OR /a (5, object]))" },
        { "c.a LIKE 'x%' AND c.a > 'xa'", "(/a begins with \"x\" AND /a (\"xa\", string])" },
        { "c.a = [1] AND c.a = [2]", "(/a = [1]~ AND /a = [2]~)~" },
        { "c.a > 1 AND c.a.b < 5", "(/a (1, number] AND /a/b [number, 5))" },
        { "c.a[0] > 1 AND c.a[0] < 5", "(/a/[] (1, number]~ AND /a/[] [number, 5)~)~" },
        { "EXISTS(SELECT VALUE t FROM t IN c.a WHERE t > 1 AND t < 5)",
          "(/a/[] (1, number] AND /a/[] [number, 5))~" },
    };

    FILTERS("c", pairs);
}

TEST(functions_become_ranges_of_kinds_and_prefixes)
{
    static const struct pair pairs[] = {
        { "STARTSWITH(c.a, 'x')", "/a begins with \"x\"" },
        { "STARTSWITH(c.a, 'x', true)", "/a [string, string]~" },
        { "STRINGEQUALS(c.a, 'x', false)", "/a = \"x\"" },
        { "c.a LIKE 'x%'", "/a begins with \"x\"" },
        { "c.a LIKE 'x%y'", "/a begins with \"x\"~" },
        { "c.a LIKE 'xy'", "/a = \"xy\"" },
        { "c.a LIKE 'x!%%' ESCAPE '!'", "/a begins with \"x\"~" },
        { "CONTAINS(c.a, 'x')", "/a [string, string]~" },
        { "NOT STARTSWITH(c.a, 'x')", "any" },
        { "IS_DEFINED(c.a)", "/a [null, object]" },
        { "NOT IS_DEFINED(c.a)", "any" },
        { "IS_BOOL(c.a)", "/a [false, true]" },
        { "IS_INTEGER(c.a)", "/a [number, number]~" },
        { "ARRAY_CONTAINS(c.a, 1)", "/a/[] = 1" },
        { "ARRAY_CONTAINS([1, 2], c.a)", "(/a = 1 OR /a = 2)" },
        { "ARRAY_CONTAINS(c.a, {'k':1}, true)", "(/a/[] [object, object]~ AND /a/[]/k = 1)~" },
    };

    FILTERS("c", pairs);
}

TEST(elements_of_arrays_are_told_apart_only_by_themselves)
{
    static const struct pair pairs[] = {
        { "EXISTS(SELECT VALUE t FROM t IN c.a WHERE t = 1)", "/a/[] = 1" },
        { "EXISTS(SELECT VALUE t FROM t IN c.a WHERE t.k = 1 AND t.v = 2)",
          "(/a/[]/k = 1 AND /a/[]/v = 2)~" },
        { "EXISTS(SELECT VALUE t FROM t IN c.a WHERE c.b = 1)", "/b = 1~" },
        { "EXISTS(SELECT VALUE t.k FROM t IN c.a WHERE t.v = 1)", "/a/[]/v = 1~" },
        { "EXISTS(SELECT VALUE u FROM t IN c.a JOIN u IN t.b WHERE u = 1)", "/a/[]/b/[] = 1~" },
    };
    static const struct pair joined[] = {
        { "t.k = 1 AND c.b = 2", "(/a/[]/k = 1 AND /b = 2)~" },
        { "t.k = 1 OR t.v = 2", "(/a/[]/k = 1 OR /a/[]/v = 2)" },
    };

    FILTERS("c", pairs);
    FILTERS("c JOIN t IN c.a", joined);
}

TEST(a_name_of_a_subquery_stands_for_what_its_rows_are)
{
    static const struct pair item[] = {
        { "c.a = 5", "/a = 5" },
        { "c.a.b > 5 AND c.s = 'x'", "(/a/b (5, number] AND /s = \"x\")" },
        { "EXISTS(SELECT VALUE t FROM t IN c.a WHERE t = 1)", "/a/[] = 1~" },
    };
    static const struct pair filtered[] = { { "c.a = 5", "(/a = 5 AND /b = 1)" } };
    static const struct pair columns[] = {
        { "c.x = 5", "/a = 5~" },
        { "c.o.k = 5", "/b/o/k = 5~" },
        { "c.y = 5", "any" },
        { "c.z = 5", "any" },
    };
    static const struct pair elements[] = { { "s.k = 1 AND s.v = 2", "(/a/[]/k = 1 AND /a/[]/v = 2)~" } };
    static const struct pair value[] = { { "c.a = 5", "/a = 5~" } };
    static const struct pair gathered[] = { { "c.a = 5", "any" } };

    FILTERS("(SELECT * FROM c) c", item);
    FILTERS("(SELECT VALUE c FROM c) c", value);
    FILTERS("(SELECT * FROM (SELECT * FROM c) d) c", item);
    FILTERS("(SELECT * FROM c WHERE c.b = 1) c", filtered);
    FILTERS("(SELECT * FROM (SELECT * FROM c WHERE c.b = 1) d) c", filtered);
    FILTERS("(SELECT c.a AS x, c.b.o, c.a + 1 AS y FROM c) c", columns);
    FILTERS("(SELECT VALUE {'x': c.a, 'o': c.b.o, 'y': c.a + 1} FROM c) c", columns);
    FILTERS("(SELECT * FROM (SELECT c.a AS x, c.b.o FROM c) d) c", columns);
    FILTERS("c JOIN (SELECT VALUE t FROM t IN c.a) s", elements);
    FILTERS("(SELECT DISTINCT * FROM c) c", gathered);
    FILTERS("(SELECT COUNT(1) AS a FROM c) c", gathered);
    FILTERS("(SELECT c.a FROM c GROUP BY c.a) c", gathered);
}
