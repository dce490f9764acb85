/* test/unit/query/text/parse_limits_test.c - long texts take long, deep ones are refused, none ends the process. */
#include "query/text/parse.h"
#include "sketch.h"
#include "test.h"

/* `before`, then `piece` that many times, then `after`. */
static struct slice repeated(const char *before, const char *piece, size_t count, const char *after)
{
    struct buf text;

    buf_init(&text, &test_op()->arena);
    buf_text(&text, before);
    for (size_t i = 0; i < count; i++)
        buf_text(&text, piece);
    buf_text(&text, after);
    return buf_as_slice(&text);
}

static struct slice nested(const char *open, size_t count, const char *inside, const char *close)
{
    struct slice inner = repeated("", open, count, inside);
    struct buf text;

    buf_init(&text, &test_op()->arena);
    buf_text(&text, "SELECT VALUE ");
    buf_slice(&text, inner);
    for (size_t i = 0; i < count; i++)
        buf_text(&text, close);
    return buf_as_slice(&text);
}

static bool parses(struct slice text)
{
    struct select *select;

    return query_parse(test_op(), text, &select) == ST_OK;
}

static bool is_too_deep(struct slice text)
{
    struct select *select;

    return query_parse(test_op(), text, &select) == ST_BAD_QUERY &&
           strstr(test_op()->error, "exceeded the maximum depth of nested expressions") != NULL;
}

TEST(flat_texts_of_any_length_are_taken)
{
    static const struct {
        const char *before, *piece, *after;
    } flat[] = {
        { "SELECT * FROM c WHERE c.x", " AND c.x", "" },
        { "SELECT * FROM c WHERE c.x", " OR c.x", "" },
        { "SELECT * FROM c WHERE c.x IN (0", ",1", ")" },
        { "SELECT VALUE [0", ",1", "]" },
        { "SELECT VALUE {a:1", ",b:1", "}" },
        { "SELECT VALUE f(0", ",1", ")" },
        { "SELECT 0", ",1", "" },
        { "SELECT * FROM c ORDER BY c", ",c", "" },
        { "SELECT 0 FROM c GROUP BY c", ",c", "" },
        { "SELECT * FROM c", " JOIN c", "" },
    };

    for (size_t i = 0; i < sizeof(flat) / sizeof(flat[0]); i++) {
        size_t count = 500000 / strlen(flat[i].piece);
        struct arena_mark mark = arena_mark(&test_op()->arena);

        CHECK(parses(repeated(flat[i].before, flat[i].piece, count, flat[i].after)));
        arena_rewind(&test_op()->arena, mark);
    }
}

TEST(one_and_of_a_hundred_thousand_is_one_level_high)
{
    struct select *select;

    REQUIRE(query_parse(test_op(), repeated("SELECT VALUE a", " OR a", 100000, ""), &select) == ST_OK);
    CHECK(select->item[0].expr->kid_count == 100001);
    CHECK(select->item[0].expr->height == 2 * HEIGHT_LEVEL);
    CHECK(select->height == 2 * HEIGHT_LEVEL);
}

TEST(a_tree_is_no_higher_than_the_limit)
{
    enum {
        LINKS_MAX = HEIGHT_LEVEL * (QUERY_DEPTH_MAX - 2) + 1
    }; /* two levels for the last link and its operand */

    CHECK(parses(repeated("SELECT VALUE 1", "+1", LINKS_MAX, "")));
    CHECK(is_too_deep(repeated("SELECT VALUE 1", "+1", LINKS_MAX + 1, "")));
    CHECK(parses(repeated("SELECT VALUE c", ".a", QUERY_DEPTH_MAX - 1, "")));
    CHECK(is_too_deep(repeated("SELECT VALUE c", ".a", QUERY_DEPTH_MAX, "")));
    CHECK(parses(nested("[", QUERY_DEPTH_MAX - 1, "1", "]")));
    CHECK(is_too_deep(nested("[", QUERY_DEPTH_MAX, "1", "]")));
    CHECK(parses(nested("(SELECT VALUE ", QUERY_DEPTH_MAX - 1, "1", ")")));
    CHECK(is_too_deep(nested("(SELECT VALUE ", QUERY_DEPTH_MAX, "1", ")")));
    CHECK(parses(nested("NOT ", QUERY_DEPTH_MAX - 1, "c", "")));
    CHECK(is_too_deep(nested("NOT ", QUERY_DEPTH_MAX, "c", "")));
    CHECK(is_too_deep(nested("- ", QUERY_DEPTH_MAX, "c", "")));
    CHECK(is_too_deep(repeated("SELECT VALUE 1", " ? 1 : 1", QUERY_DEPTH_MAX, "")));
    CHECK(is_too_deep(nested("a = (", LINKS_MAX + 1, "1", ")")));
}

TEST(the_place_of_what_is_too_deep_is_where_it_became_so)
{
    CHECK(strncmp(sketch_bytes(repeated("SELECT VALUE c", ".a", 1000, "")), " 13-270 ", 8) == 0);
}

static struct slice nested_sources(size_t count)
{
    struct slice inner = repeated("SELECT * FROM ", "(SELECT * FROM ", count, "c"), closing;
    struct buf text;

    closing = repeated("", ")", count, "");
    buf_init(&text, &test_op()->arena);
    buf_slice(&text, inner);
    buf_slice(&text, closing);
    return buf_as_slice(&text);
}

TEST(statements_inside_one_another_count_too)
{
    CHECK(parses(nested_sources(QUERY_DEPTH_MAX - 1)));
    CHECK(is_too_deep(nested_sources(QUERY_DEPTH_MAX)));
}

TEST(parentheses_alone_may_go_deeper_and_still_end)
{
    CHECK(parses(nested("(", 1000, "1", ")")));
    CHECK(is_too_deep(nested("(", 1024, "1", ")")));
    CHECK(is_too_deep(nested("(", 250000, "1", ")")));
    CHECK(is_too_deep(nested("[", 250000, "1", "]")));
    CHECK(is_too_deep(nested("{a:", 100000, "1", "}")));
    CHECK(is_too_deep(nested("f(", 100000, "1", ")")));
    CHECK(is_too_deep(nested("(SELECT VALUE ", 20000, "1", ")")));
    CHECK(is_too_deep(nested("EXISTS(SELECT VALUE ", 20000, "1", ")")));
    CHECK(is_too_deep(nested("c[", 100000, "1", "]")));
    CHECK(is_too_deep(nested("NOT ", 100000, "c", "")));
    CHECK(is_too_deep(nested("- ", 100000, "c", "")));
    CHECK(is_too_deep(nested("a?", 100000, "1", ":1")));
    CHECK(is_too_deep(nested_sources(30000)));
    CHECK(is_too_deep(repeated("SELECT VALUE 1", "+1", 100000, "")));
}

TEST(what_a_library_nests_is_flat_again)
{
    struct slice text = nested("(", 900, "a", " AND b)");
    struct select *select;

    REQUIRE(query_parse(test_op(), text, &select) == ST_OK);
    CHECK(select->item[0].expr->kid_count == 901);
    CHECK(select->item[0].expr->height == 2 * HEIGHT_LEVEL);
}

TEST(a_text_past_the_limit_is_refused_as_a_whole)
{
    struct slice fits = repeated("SELECT 1", " ", QUERY_BYTES_MAX - 8, "");
    struct slice longer = repeated("SELECT 1", " ", QUERY_BYTES_MAX - 7, "");

    CHECK(fits.size == QUERY_BYTES_MAX && parses(fits));
    CHECK(strcmp(sketch_bytes(longer),
                 "SC3020 0-524289 The SQL query text exceeded the maximum limit of 524288 characters.") == 0);
}

TEST(memory_that_ends_is_a_failure_and_no_crash)
{
    struct slice text = repeated("SELECT VALUE [{a:'\\n', b: (SELECT 1 x FROM c JOIN d IN c.e)}",
                                 ",f(.5, 1e300, 0x1000000000000000)", 200, "] FROM c GROUP BY d ORDER BY e");
    struct op op;
    struct select *select;
    enum status st = ST_QUERY_MEMORY;

    for (size_t limit = 4096; limit < 1 << 20; limit += 4096) {
        op_init(&op, test_op()->env, limit);
        st = query_parse(&op, text, &select);
        CHECK(st == ST_OK || st == ST_QUERY_MEMORY);
        op_free(&op);
    }
    CHECK(st == ST_OK);
}

TEST(time_grows_with_the_length_and_no_faster)
{
    struct slice text = repeated("SELECT * FROM c WHERE c.x IN ('0'", ",'value 1'", 50000, ")");
    int64_t start = test_cpu_ms();

    CHECK(parses(text));
    CHECK(test_cpu_ms() - start < 10000);
}
