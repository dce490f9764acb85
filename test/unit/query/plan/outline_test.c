/* test/unit/query/plan/outline_test.c - outlines: what queries have in common, without the values that they ask with. */
#include "query/outline.h"
#include "query/query.h"
#include "test.h"

static struct query_outline outline_with(const char *text, const char *parameters)
{
    static const struct query_options options = { 0 };
    struct op *op = test_op();
    struct json list = json_undefined;
    struct query_outline outline = { 0 };
    struct query *query = NULL;

    if (parameters && json_parse(op, slice_of(parameters), &list) != ST_OK)
        test_failed(__FILE__, __LINE__, parameters);
    if (query_compile(op, slice_of(text), list, &options, &query) != ST_OK ||
        query_outline(op, query_select(query), &outline) != ST_OK)
        test_failed(__FILE__, __LINE__, op->error ? op->error : text);
    return outline;
}

static struct query_outline outline_of(const char *text)
{
    return outline_with(text, NULL);
}

static unsigned use_of(const struct query_outline *outline, const char *path)
{
    for (size_t i = 0; i < outline->path_count; i++)
        if (slice_is(outline->path[i].path, path))
            return outline->path[i].use;
    return 0;
}

TEST(queries_that_differ_in_their_values_have_one_outline)
{
    static const char *const same[] = {
        "SELECT * FROM c WHERE c.city = 'Ulm' AND c.age > 30",
        "select * from c where c.city = \"Bern\" and c.age > 7.5",
    };
    struct query_outline first = outline_of(same[0]), second = outline_of(same[1]);
    struct query_outline third =
        outline_with("SELECT * FROM c WHERE c.city = @city AND c.age > @age",
                     "[{\"name\":\"@city\",\"value\":\"Ulm\"},{\"name\":\"@age\",\"value\":3}]");

    CHECK(slice_is(first.text, "SELECT * FROM c WHERE ((c.city = ?) AND (c.age > ?))"));
    CHECK(slice_equal(first.text, second.text));
    CHECK(slice_equal(first.text, third.text));
}

TEST(lists_of_values_are_one_value)
{
    CHECK(slice_is(outline_of("SELECT c.id FROM c WHERE c.id IN ('a', 'b', 'c')").text,
                   "SELECT c.id FROM c WHERE (c.id IN (?))"));
    CHECK(slice_is(outline_of("SELECT c.id FROM c WHERE ARRAY_CONTAINS([1, 2, 3], c.n)").text,
                   "SELECT c.id FROM c WHERE ARRAY_CONTAINS([?], c.n)"));
}

TEST(an_outline_has_no_string_and_no_number_of_its_query)
{
    struct query_outline outline = outline_of(
        "SELECT c.a, 'secret' AS s, {x: 'secret', y: 77} AS o FROM c JOIN t IN c.tags WHERE t = 'secret' "
        "AND c.b LIKE 'secret%' AND EXISTS(SELECT VALUE z FROM z IN c.z WHERE z.n = 77) AND c.e = -77.5 "
        "ORDER BY c.a OFFSET 77 LIMIT 77");

    CHECK(outline.text.size > 0);
    CHECK(!memmem(outline.text.data, outline.text.size, "secret", 6));
    CHECK(!memmem(outline.text.data, outline.text.size, "77", 2));
}

TEST(what_a_query_wants_with_a_path_is_told)
{
    struct query_outline outline = outline_of(
        "SELECT c.name, COUNT(1) AS n FROM c WHERE c.city = 'Ulm' AND 3 < c.age AND (c.x = 1 OR c.y = 2) "
        "AND c.kind IN (1, 2) AND (c.size BETWEEN 1 AND 2) GROUP BY c.name");

    CHECK(use_of(&outline, "/city") == USE_EQUAL);
    CHECK(use_of(&outline, "/kind") == USE_EQUAL);
    CHECK(use_of(&outline, "/age") == USE_RANGE);
    CHECK(use_of(&outline, "/size") == USE_RANGE);
    CHECK(use_of(&outline, "/x") == USE_FILTER && use_of(&outline, "/y") == USE_FILTER);
    CHECK(use_of(&outline, "/name") == (USE_READ | USE_GROUP));
    CHECK(outline.aggregates);
    CHECK(!outline.reads_whole);
}

TEST(paths_are_followed_through_the_names_of_sources)
{
    struct query_outline outline =
        outline_of("SELECT VALUE o.address.city FROM c JOIN o IN c.orders WHERE o.sum > 5 ORDER BY c.name");

    CHECK(use_of(&outline, "/orders") == USE_ITERATE);
    CHECK(use_of(&outline, "/orders/[]/address/city") == USE_READ);
    CHECK(use_of(&outline, "/orders/[]/sum") == USE_RANGE);
    CHECK(use_of(&outline, "/name") == USE_ORDER);
    CHECK(!outline.reads_whole && !outline.aggregates);
}

TEST(the_value_that_a_path_must_have_is_kept_for_those_who_compare_it)
{
    struct query_outline outline = outline_of("SELECT * FROM c WHERE c.owner = 'ada' AND c.n IN (1, 2)");

    REQUIRE(outline.path_count == 2);
    REQUIRE(json_kind(outline.path[0].equal) == JSON_STRING);
    CHECK(slice_is(json_string(outline.path[0].equal), "ada"));
    CHECK(json_kind(outline.path[1].equal) == JSON_UNDEFINED);
    CHECK(outline.reads_whole);
}

TEST(more_paths_than_there_is_room_for_are_left_out)
{
    struct query_outline outline;
    struct buf text;

    buf_init(&text, &test_op()->arena);
    buf_text(&text, "SELECT c.p0");
    for (int i = 1; i < 40; i++)
        buf_printf(&text, ", c.p%d", i);
    buf_text(&text, " FROM c");
    buf_byte(&text, '\0');
    outline = outline_of(text.data);
    CHECK(outline.path_count == OUTLINE_PATHS_MAX && outline.is_partial);
}
