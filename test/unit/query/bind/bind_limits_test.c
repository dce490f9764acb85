/* test/unit/query/bind/bind_limits_test.c - a query has so many sources, however they lie inside one another. */
#include "base/limits.h"
#include "query/bind/bind.h"
#include "query/text/parse.h"
#include "test.h"

static void repeat(struct buf *text, const char *piece, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_text(text, piece);
}

/* One source for the item, `flat` of subqueries side by side, and `deep` of subqueries around all that. */
static struct slice with_sources(size_t flat, size_t deep)
{
    struct buf text;

    buf_init(&text, &test_op()->arena);
    repeat(&text, "SELECT VALUE c FROM (", deep);
    buf_text(&text, "SELECT VALUE c FROM c WHERE true");
    repeat(&text, " AND EXISTS(SELECT VALUE x FROM x IN c.a)", flat);
    repeat(&text, ") c", deep);
    return buf_as_slice(&text);
}

static enum status bind(struct slice text, struct bound *bound)
{
    const struct query_options options = { 0 };
    struct select *select;
    enum status st;

    TRY(query_parse(test_op(), text, &select));
    TRY(query_bind(test_op(), select, &(struct parameters){ 0 }, &options, text, bound));
out:
    return st;
}

TEST(sources_are_counted_however_deep_they_lie)
{
    struct bound bound;

    CHECK(bind(with_sources(3, 2), &bound) == ST_OK);
    CHECK(bound.slots == 1 + 1 + 3 + 2);
    CHECK(bind(with_sources(QUERY_SLOTS_MAX - 2, 0), &bound) == ST_OK);
    CHECK(bind(with_sources(QUERY_SLOTS_MAX - 1, 0), &bound) == ST_BAD_REQUEST);
    CHECK(bind(with_sources(QUERY_SLOTS_MAX - 2, 1), &bound) == ST_OK);
    CHECK(bind(with_sources(QUERY_SLOTS_MAX - 2, 2), &bound) == ST_BAD_REQUEST);
    CHECK(bind(with_sources(QUERY_SLOTS_MAX - 2, 50), &bound) == ST_BAD_REQUEST);
    CHECK(strstr(test_op()->error, "too many sources"));
}
