/* test/unit/query/run/run_test.c - whole queries: pages joined are the answer, memory and time have bounds. */
#include <stdlib.h>

#include "base/limits.h"
#include "table.h"

static const char *const any_order[] = {
    "SELECT * FROM c",
    "SELECT VALUE c.a FROM c",
    "SELECT c.a, c.s AS t FROM c WHERE c.a > 3 OR c.s = 'x5'",
    "SELECT c.id, t FROM c JOIN t IN c.list",
    "SELECT VALUE [t, u] FROM c JOIN t IN c.list JOIN u IN c.list WHERE t != u",
    "SELECT DISTINCT c.s FROM c",
    "SELECT DISTINCT VALUE c.a FROM c",
    "SELECT DISTINCT VALUE t FROM c JOIN t IN c.list",
    "SELECT c.s, COUNT(1) AS n, SUM(c.a) AS total, MIN(c.a) AS least FROM c GROUP BY c.s",
    "SELECT VALUE MAX(c.b) FROM c GROUP BY c.s, c.a",
    "SELECT DISTINCT VALUE COUNT(1) FROM c GROUP BY c.s",
    "SELECT VALUE COUNT(1) FROM c",
    "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.s FROM c)",
    "SELECT g.s FROM (SELECT c.s, COUNT(1) AS n FROM c GROUP BY c.s) AS g WHERE g.n > 2",
    "SELECT VALUE x FROM (SELECT VALUE t FROM c JOIN t IN c.list) AS x WHERE x > 1",
    "SELECT VALUE (SELECT VALUE COUNT(1) FROM t IN c.list) FROM c",
    "SELECT VALUE x FROM (SELECT VALUE COUNT(1) FROM c) AS x",
    "SELECT VALUE x FROM (SELECT DISTINCT VALUE t FROM c JOIN t IN c.list) AS x",
    "SELECT VALUE x FROM x IN (SELECT VALUE c.list FROM c GROUP BY c.list)",
    "SELECT x, COUNT(1) AS n FROM x IN (SELECT DISTINCT VALUE c.list FROM c) WHERE x > 0 GROUP BY x",
    "SELECT VALUE z FROM (SELECT VALUE y FROM (SELECT DISTINCT VALUE c.list FROM c) AS x JOIN y IN x) AS z",
};

static const char *const in_order[] = {
    "SELECT c.id FROM c ORDER BY c.a",
    "SELECT c.id, c.a FROM c ORDER BY c.a DESC",
    "SELECT VALUE c.id FROM c ORDER BY c.s, c.a DESC",
    "SELECT * FROM c ORDER BY c.mixed",
    "SELECT VALUE c.mixed FROM c ORDER BY c.mixed DESC, c.s",
    "SELECT VALUE t FROM c JOIN t IN c.list ORDER BY c.b",
    "SELECT DISTINCT VALUE c.s FROM c ORDER BY c.s",
    "SELECT DISTINCT VALUE c.mixed FROM c ORDER BY c.mixed DESC",
    "SELECT VALUE c.id FROM c ORDER BY c.long",
    "SELECT VALUE c.id FROM c ORDER BY c.long DESC, c.a",
    "SELECT c.id FROM c ORDER BY c.a OFFSET 7 LIMIT 20",
    "SELECT TOP 12 VALUE c.id FROM c ORDER BY c.b DESC",
    "SELECT DISTINCT VALUE c.s FROM c ORDER BY c.b",
    "SELECT DISTINCT VALUE c.a FROM c ORDER BY c.b DESC, c.s",
    "SELECT c.s, COUNT(1) AS n FROM c GROUP BY c.s OFFSET 2 LIMIT 4",
    "SELECT c.mixed, COUNT(1) AS n FROM c GROUP BY c.mixed",
    "SELECT c.long, MAX(c.b) AS n FROM c GROUP BY c.long",
    "SELECT c.s, c.a, MIN(c.b) AS n FROM c GROUP BY c.s, c.a ORDER BY c.a DESC, c.s",
    "SELECT c.mixed, COUNT(1) AS n FROM c GROUP BY c.mixed ORDER BY c.mixed.x",
    "SELECT VALUE x FROM x IN (SELECT DISTINCT VALUE c.list FROM c) ORDER BY x",
    "SELECT DISTINCT VALUE c.a FROM c OFFSET 1 LIMIT 3",
    "SELECT DISTINCT VALUE COUNT(1) FROM c GROUP BY c.s OFFSET 1 LIMIT 2",
};

static const char *const mixed[] = { "null", "true",      "false",           "7", "-1.5", "\"a\"",
                                     "[1]",  "{\"x\":2}", "9007199254740993" };

/* Items with few values each, so that rows coincide; some lack a property; numbers and counters disagree. */
static void fill(struct table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        struct query_row *row = &table->row[i];
        struct buf text;

        buf_init(&text, &test_op()->arena);
        buf_printf(&text, "{\"id\":\"%zu\"", i);
        if (test_random() % 8)
            buf_printf(&text, ",\"a\":%d", (int)(test_random() % 6));
        buf_printf(&text, ",\"b\":%d.5,\"s\":\"x%d\",\"list\":[", (int)(test_random() % 100),
                   (int)(test_random() % 9));
        for (int n = (int)(test_random() % 4), k = 0; k < n; k++)
            buf_printf(&text, "%s%d", k ? "," : "", (int)(test_random() % 5));
        buf_printf(&text, "],\"long\":\"%0700d%d\"", 0, (int)(test_random() % 4));
        if (test_random() % 5)
            buf_printf(&text, ",\"mixed\":%s", mixed[test_random() % 9]);
        buf_byte(&text, '}');
        row->number = 10 * i + 1 + test_random() % 9;
        row->counter = 1 + test_random() % 100000 * 1000 + i; /* its own, in any order */
        if (json_parse(test_op(), buf_as_slice(&text), &row->body) != ST_OK)
            test_failed(__FILE__, __LINE__, buf_as_slice(&text).data);
    }
}

static const size_t page_rows[] = { 1, 2, 3, 7, 20, 59, 1000 };
enum { PAGE_ROWS = sizeof(page_rows) / sizeof(page_rows[0]) };

static void same_in_pages(struct table *table, const char *text, bool ordered)
{
    struct query *query = table_compile(text);
    struct slice whole = table_rows(table, query, SIZE_MAX, SIZE_MAX);

    for (size_t i = 0; i < PAGE_ROWS; i++) {
        struct slice paged = table_rows(table, query, page_rows[i], i % 2 ? 300 : SIZE_MAX);

        if (ordered ? !slice_equal(paged, whole) : !slice_equal(table_sorted(paged), table_sorted(whole)))
            test_failed(__FILE__, __LINE__, text);
    }
}

TEST(pages_joined_are_the_whole_answer)
{
    struct table table;

    for (int round = 0; round < 3; round++) {
        table_init(&table, 10 + 25 * (size_t)round);
        fill(&table);
        for (size_t i = 0; i < sizeof(any_order) / sizeof(any_order[0]); i++)
            same_in_pages(&table, any_order[i], false);
        for (size_t i = 0; i < sizeof(in_order) / sizeof(in_order[0]); i++)
            same_in_pages(&table, in_order[i], true);
    }
}

/* The row that makes the others be let go may itself be too far behind. */
TEST(sorted_rows_are_let_go_with_the_one_that_came_last)
{
    struct query *query = table_compile("SELECT c.id, c.a FROM c ORDER BY c.a DESC");
    struct table table;

    table_init(&table, 125);
    for (size_t i = 0; i < table.count; i++) {
        struct buf text;

        buf_init(&text, &test_op()->arena);
        buf_printf(&text, i == 104 ? "{\"id\":\"%zu\"}" : "{\"id\":\"%zu\",\"a\":%zu}", i, 500 - i);
        table.row[i].number = table.row[i].counter = i + 1;
        CHECK(json_parse(test_op(), buf_as_slice(&text), &table.row[i].body) == ST_OK);
    }
    for (size_t bytes = 300; bytes < 330; bytes++)
        CHECK(
            slice_equal(table_rows(&table, query, 20, bytes), table_rows(&table, query, SIZE_MAX, SIZE_MAX)));
}

/* Rows that come again, earlier in the order, push out those that were kept, the bound among them. */
TEST(distinct_rows_that_come_again_lose_no_other)
{
    struct query *query = table_compile("SELECT DISTINCT VALUE c.x FROM c ORDER BY c.n DESC");
    struct table table;

    table_init(&table, 244);
    for (size_t i = 0; i < table.count; i++) {
        size_t x = i < 84 ? i % 20 : 10 + i % 10;
        struct buf text;

        buf_init(&text, &test_op()->arena);
        buf_printf(&text, "{\"x\":%zu,\"n\":%zu}", x, i);
        table.row[i] = (struct query_row){ .number = i + 1, .counter = i + 1 };
        REQUIRE(json_parse(test_op(), buf_as_slice(&text), &table.row[i].body) == ST_OK);
    }
    CHECK(
        slice_equal(table_rows(&table, query, 10, SIZE_MAX), table_rows(&table, query, SIZE_MAX, SIZE_MAX)));
}

/* The item at a page's end is gone: its long key is known only as far as the position holds it. */
TEST(rows_behind_a_long_key_may_come_again_and_are_never_lost)
{
    struct query *query = table_compile("SELECT VALUE c.id FROM c ORDER BY c.long");
    struct query_limits limits = { 5, SIZE_MAX, 0, false };
    struct slice from = slice_of("");
    bool seen[40] = { false };
    struct query_page page;
    struct table table;

    table_init(&table, 40);
    fill(&table);
    for (int pages = 0; pages < 100; pages++) {
        REQUIRE(query_run(test_op(), query, &table.base, from, &limits, &page) == ST_OK);
        for (size_t i = 0; i < page.count; i++)
            seen[strtoul(page.row[i].data + 1, NULL, 10)] = true;
        from = page.next.size ? arena_copy(&test_op()->arena, page.next) : slice_of("");
        if (pages == 2) { /* the last row's item goes: its number is what the position begins with */
            uint64_t gone = 0;

            memcpy(&gone, from.data + 1, 8);
            for (size_t i = 0; i < table.count; i++)
                if (table.row[i].number == gone)
                    table.row[i].body = table.row[i ? i - 1 : 1].body;
        }
        query_page_free(&page);
        if (!from.size)
            break;
    }
    CHECK(from.size == 0);
    for (size_t i = 0; i < 40; i++)
        CHECK(seen[i]);
}

TEST(long_keys_shorten_a_page_and_do_not_fail_it)
{
    struct query *query = table_compile("SELECT VALUE c.id FROM c ORDER BY c.s");
    struct table table;
    struct slice rows;

    table_init(&table, 300);
    for (size_t i = 0; i < table.count; i++) {
        struct json_builder out;
        char *text = arena_alloc(&test_op()->arena, 200000);

        memset(text, 'x', 200000);
        json_builder_init(&out, &test_op()->arena);
        json_begin_object(&out);
        json_add_name(&out, slice_of("id"));
        json_add_int(&out, (int64_t)i);
        json_add_name(&out, slice_of("s"));
        json_add_string(&out, slice_make(text, 100000 + 300 - i));
        json_end(&out);
        table.row[i] = (struct query_row){ .number = i + 1, .counter = i + 1, .body = json_built(&out) };
        test_op()->arena.limit_bytes = test_op()->arena.used_bytes + OP_MEMORY_BYTES_MAX;
    }
    rows = table_rows(&table, query, 1000, SIZE_MAX);
    CHECK(slice_starts_with(rows, "299\n298\n297\n") && rows.size > 1000);
}

TEST(a_statement_that_is_costly_by_row_by_call_or_by_element_stops_when_its_time_is_up)
{
    static const char *const texts[] = {
        "SELECT VALUE 1 FROM c JOIN x IN c.big JOIN y IN c.big JOIN z IN c.none",
        "SELECT VALUE [ARRAY_SUM(c.big), ARRAY_SUM(c.big), ARRAY_SUM(c.big)] FROM c",
        "SELECT VALUE 'x' LIKE CONCAT('y', c.brackets) FROM c",
    };
    struct query_limits limits = { 100, PAGE_BYTES_MAX, 0, false };
    struct query_page page;
    struct table table;
    struct buf text;

    table_init(&table, 1);
    buf_init(&text, &test_op()->arena);
    buf_printf(&text, "{\"brackets\":\"%0*d\",\"big\":[0", 300000, 0);
    for (int i = 1; i < 100000; i++)
        buf_printf(&text, ",%d", i);
    buf_text(&text, "]}");
    table.row[0].number = 1;
    REQUIRE(json_parse(test_op(), buf_as_slice(&text), &table.row[0].body) == ST_OK);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct query *query = table_compile(texts[i]);

        test_op()->deadline_ms = env_monotonic_ms(test_op()->env) - 1;
        CHECK(query_run(test_op(), query, &table.base, slice_of(""), &limits, &page) == ST_TIMEOUT);
        query_page_free(&page);
        test_op()->deadline_ms = INT64_MAX;
    }
}

TEST(top_and_limit_count_rows_over_all_pages)
{
    struct query *top, *limit;
    struct table table;

    table_init(&table, 50);
    fill(&table);
    for (size_t rows = 1; rows < 60; rows += 7) {
        struct slice all, some;

        top = table_compile("SELECT TOP 23 VALUE c.id FROM c");
        limit = table_compile("SELECT VALUE c.id FROM c OFFSET 5 LIMIT 23");
        all = table_rows(&table, top, rows, SIZE_MAX);
        some = table_rows(&table, limit, rows, SIZE_MAX);
        CHECK(memchr(all.data, '\n', all.size) != NULL);
        for (size_t i = 0, tops = 0, limits = 0; i < all.size || i < some.size; i++) {
            tops += i < all.size && all.data[i] == '\n';
            limits += i < some.size && some.data[i] == '\n';
            CHECK(i + 1 < all.size || i + 1 < some.size || (tops == 23 && limits == 23));
        }
    }
}

TEST(what_little_memory_holds_comes_in_order_of_creation)
{
    struct query *query = table_compile("SELECT VALUE c.n FROM c");
    struct table table;

    table_init(&table, 40);
    for (size_t i = 0; i < 40; i++) {
        struct buf text;

        buf_init(&text, &test_op()->arena);
        buf_printf(&text, "{\"n\":%zu}", 39 - i);
        table.row[i] = (struct query_row){ .number = i + 1, .counter = 40 - i };
        REQUIRE(json_parse(test_op(), buf_as_slice(&text), &table.row[i].body) == ST_OK);
    }
    CHECK(slice_starts_with(table_rows(&table, query, 1000, SIZE_MAX), "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"));
    CHECK(slice_starts_with(table_rows(&table, query, 3, SIZE_MAX), "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"));
}

/* Each with a value of its own, the greatest first: a page lets go of all but its least. */
static void fill_falling(struct table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        struct buf text;

        buf_init(&text, &test_op()->arena);
        buf_printf(&text, "{\"g\":\"%08zu\",\"n\":%zu}", table->count - i, i);
        table->row[i] = (struct query_row){ .number = i + 1, .counter = i + 1 };
        REQUIRE(json_parse(test_op(), buf_as_slice(&text), &table->row[i].body) == ST_OK);
    }
}

TEST(groups_of_one_property_come_in_order_of_value_however_many_they_are)
{
    struct query *query = table_compile("SELECT VALUE c.g FROM c GROUP BY c.g");
    struct query *down = table_compile("SELECT VALUE c.g FROM c GROUP BY c.g ORDER BY c.g DESC");
    struct table table;
    struct slice rows;

    table_init(&table, 3000);
    fill_falling(&table);
    rows = table_rows(&table, query, 100, SIZE_MAX);
    CHECK(slice_equal(rows, table_sorted(rows)) && slice_starts_with(rows, "\"00000001\"\n"));
    CHECK(slice_equal(rows, table_rows(&table, query, 1000, SIZE_MAX)));
    CHECK(slice_starts_with(table_rows(&table, down, 700, SIZE_MAX), "\"00003000\"\n\"00002999\"\n"));
}

TEST(groups_that_a_page_lets_go_of_take_no_memory)
{
    static const char *const texts[] = {
        "SELECT c.g, COUNT(1) AS n, MAX(c.g) AS last, MAKELIST(c.n) AS list FROM c GROUP BY c.g",
        "SELECT c.g, COUNT(1) AS n, MAX(c.g) AS last, MAKESET(c.n) AS list FROM c GROUP BY c.g ORDER BY c.g",
    };
    struct query_limits limits = { .rows = 10, .bytes = PAGE_BYTES_MAX };
    struct query_page page;
    struct table table;

    table_init(&table, 20000);
    fill_falling(&table);
    for (size_t i = 0; i < 2; i++) {
        REQUIRE(query_run(test_op(), table_compile(texts[i]), &table.base, slice_of(""), &limits, &page) ==
                ST_OK);
        CHECK(page.count == 10);
        CHECK(page.memory.used_bytes < 256 * 1024);
        query_page_free(&page);
    }
}

/* Sorting an answer for pages of one row reads all items for each: what an index is for. */
TEST(a_plain_query_reads_little_more_than_the_rows_it_gives)
{
    struct query *query = table_compile("SELECT VALUE c.id FROM c");
    struct query_limits limits = { 10, SIZE_MAX, 0, false };
    struct query_page page;
    struct table table;

    table_init(&table, 20000);
    fill(&table);
    CHECK(query_run(test_op(), query, &table.base, slice_of(""), &limits, &page) == ST_OK &&
          page.count == 10);
    CHECK(table.reads <= 1002);
    table.reads = 0;
    page.next = arena_copy(&test_op()->arena, page.next);
    {
        struct slice next = page.next;

        query_page_free(&page);
        CHECK(query_run(test_op(), query, &table.base, next, &limits, &page) == ST_OK && page.count == 10);
    }
    CHECK(table.reads <= 12);
    query_page_free(&page);
}

TEST(any_bytes_as_a_position_are_refused_or_give_rows_and_never_harm)
{
    static const char *const texts[] = { "SELECT * FROM c", "SELECT * FROM c ORDER BY c.mixed, c.long",
                                         "SELECT DISTINCT VALUE c.s FROM c ORDER BY c.s",
                                         "SELECT c.s FROM c GROUP BY c.s",
                                         "SELECT DISTINCT VALUE c.a FROM c" };
    struct query_limits limits = { 2, SIZE_MAX, 0, false };
    struct query_page page;
    struct table table;

    table_init(&table, 20);
    fill(&table);
    for (int round = 0; round < 4000; round++) {
        struct query *query = table_compile(texts[round % 5]);
        char bytes[QUERY_POSITION_BYTES_MAX];
        struct slice position = slice_make(bytes, test_random() % sizeof(bytes));

        if (query_run(test_op(), query, &table.base, slice_of(""), &limits, &page) == ST_OK &&
            page.next.size) {
            memcpy(bytes, page.next.data, page.next.size);
            position.size = test_random() % 3 ? page.next.size : test_random() % (page.next.size + 1);
        }
        for (int flips = (int)(test_random() % 4); flips; flips--)
            bytes[test_random() % (position.size + 1)] = (char)test_random();
        query_page_free(&page);
        (void)!query_run(test_op(), query, &table.base, position, &limits, &page);
        query_page_free(&page);
    }
}

TEST(a_query_that_needs_too_much_memory_fails_by_itself)
{
    static const struct {
        const char *text;
    } greedy[] = {
        { "SELECT VALUE ARRAY(SELECT VALUE [x, y, z] FROM x IN c.big JOIN y IN c.big JOIN z IN c.big) FROM "
          "c" },
        { "SELECT VALUE MAKELIST(CONCAT(TOSTRING(x), REPLICATE('y', 9900))) FROM c JOIN x IN c.big JOIN y IN "
          "c.big" },
    };
    struct query_limits limits = { 100, PAGE_BYTES_MAX, 0, false };
    struct query_page page;
    struct table table;
    struct buf text;

    table_init(&table, 1);
    buf_init(&text, &test_op()->arena);
    buf_text(&text, "{\"big\":[0");
    for (int i = 1; i < 500; i++)
        buf_printf(&text, ",%d", i);
    buf_text(&text, "]}");
    table.row[0].number = 1;
    REQUIRE(json_parse(test_op(), buf_as_slice(&text), &table.row[0].body) == ST_OK);
    for (size_t i = 0; i < sizeof(greedy) / sizeof(greedy[0]); i++) {
        struct query *query = table_compile(greedy[i].text);
        size_t used = test_op()->arena.used_bytes;

        test_op()->arena.limit_bytes = used + (4 << 20);
        CHECK(query_run(test_op(), query, &table.base, slice_of(""), &limits, &page) == ST_QUERY_MEMORY);
        CHECK(test_op()->arena.used_bytes < used + 1024);
        query_page_free(&page);
    }
}

TEST(a_query_stops_when_its_time_is_up)
{
    struct query *query = table_compile("SELECT VALUE COUNT(1) FROM c JOIN x IN c.list JOIN y IN c.list");
    struct query_limits limits = { 100, PAGE_BYTES_MAX, 0, false };
    struct query_page page;
    struct table table;

    table_init(&table, 5000);
    fill(&table);
    test_op()->deadline_ms = env_monotonic_ms(test_op()->env) - 1;
    CHECK(query_run(test_op(), query, &table.base, slice_of(""), &limits, &page) == ST_TIMEOUT);
    query_page_free(&page);
}

TEST(all_queries_together_have_a_budget)
{
    struct claim others = { .holder = HOLDER_QUERIES };
    struct query_options options = { 0 };
    struct account account;
    struct query_limits limits = { 100, PAGE_BYTES_MAX, 0, false };
    struct query_page page;
    struct query *query;
    struct table table;
    struct op op;

    table_init(&table, 2000);
    fill(&table);
    account_init(&account, 40 << 20);
    others.account = &account;
    op_init(&op, env_system(), OP_MEMORY_BYTES_MAX);
    op_join_account(&op, &account);
    REQUIRE(query_compile(&op, slice_of("SELECT VALUE MAKELIST(c.long) FROM c"), json_undefined, &options,
                          &query) == ST_OK);
    CHECK(query_run(&op, query, &table.base, slice_of(""), &limits, &page) == ST_OK);
    query_page_free(&page);
    claim_anyway(&others, 19 << 20); /* half of the account is for queries */
    CHECK(query_run(&op, query, &table.base, slice_of(""), &limits, &page) == ST_TOO_MANY_REQUESTS);
    query_page_free(&page);
    op_free(&op);
    CHECK(atomic_load(&account.used_bytes) == 19 << 20);
}

static enum status double_it(struct op *op, void *context, struct slice name, const struct value *arg,
                             int count, struct value *result)
{
    ++*(int *)context;
    if (!slice_is(name, "double"))
        return op_fail(op, ST_BAD_REQUEST, "there is no udf.%.*s", SLICE_ARGS(name));
    *result = count == 1 && arg[0].kind == JSON_NUMBER ? value_double(2 * arg[0].number) : value_undefined;
    return ST_OK;
}

TEST(a_user_defined_function_is_called_through_its_pointer_for_each_row)
{
    int calls = 0;
    struct query_options options = { .udf = double_it, .udf_context = &calls };
    struct query_limits limits = { 100, PAGE_BYTES_MAX, 0, false };
    struct query_page page;
    struct query *query;
    struct table table;

    table_init(&table, 3);
    for (size_t i = 0; i < 3; i++) {
        table.row[i] = (struct query_row){ .number = i + 1, .counter = i + 1 };
        REQUIRE(json_parse(test_op(), slice_of(i < 2 ? "{\"a\":4}" : "{}"), &table.row[i].body) == ST_OK);
    }
    REQUIRE(query_compile(test_op(), slice_of("SELECT VALUE udf.double(c.a) FROM c"), json_undefined,
                          &options, &query) == ST_OK);
    CHECK(query_run(test_op(), query, &table.base, slice_of(""), &limits, &page) == ST_OK);
    CHECK(page.count == 2 && slice_is(page.row[0], "8") &&
          calls == 3); /* undefined is passed on, and comes back */
    query_page_free(&page);
    REQUIRE(query_compile(test_op(), slice_of("SELECT VALUE udf.other(c.a) FROM c"), json_undefined, &options,
                          &query) == ST_OK);
    CHECK(query_run(test_op(), query, &table.base, slice_of(""), &limits, &page) == ST_BAD_REQUEST);
    CHECK(strstr(test_op()->error, "udf.other"));
    query_page_free(&page);
}

/* Counts what it is told of and how often it is asked to settle; makes none of the calls. */
struct telling {
    int calls, told, settled;
};

static void hear(struct op *op, void *context, struct slice name, const struct value *arg, int count)
{
    (void)op, (void)name, (void)arg, (void)count;
    ((struct telling *)context)->told++;
}

static enum status settle(struct op *op, void *context)
{
    (void)op;
    ((struct telling *)context)->settled++;
    return ST_OK;
}

TEST(calls_are_told_in_blocks_before_they_are_made_and_the_answer_stays_the_same)
{
    enum { ITEMS = 300 }; /* blocks of 1, 8, 64 and the rest */
    struct telling telling = { 0 };
    struct query_options options = {
        .udf = double_it, .udf_told = hear, .udf_settle = settle, .udf_context = &telling
    };
    struct query_limits limits = { 1000, PAGE_BYTES_MAX, 0, false };
    struct query_page page;
    struct query *query;
    struct table table;

    table_init(&table, ITEMS);
    for (size_t i = 0; i < ITEMS; i++) {
        table.row[i] = (struct query_row){ .number = i + 1, .counter = i + 1 };
        REQUIRE(json_parse(test_op(), slice_of(i % 2 ? "{\"a\":4}" : "{\"a\":5}"), &table.row[i].body) ==
                ST_OK);
    }
    REQUIRE(query_compile(test_op(),
                          slice_of("SELECT VALUE c.a FROM c WHERE c.a > 4 AND udf.double(c.a) = 10"),
                          json_undefined, &options, &query) == ST_OK);
    CHECK(query_run(test_op(), query, &table.base, slice_of(""), &limits, &page) == ST_OK);
    CHECK(page.count == ITEMS / 2 && slice_is(page.row[ITEMS / 2 - 1], "5"));
    CHECK(telling.calls == ITEMS / 2 && telling.settled == 3);
    CHECK(telling.told == ITEMS / 2 - 1); /* not the first block's, nor what the first condition keeps out */
    query_page_free(&page);
}

TEST(eleven_calls_of_user_defined_functions_are_too_many)
{
    struct query_options options = { .udf = double_it };
    struct query *query;
    struct buf text;

    buf_init(&text, &test_op()->arena);
    buf_text(&text, "SELECT VALUE udf.f(1)");
    for (int i = 0; i < 10; i++) {
        CHECK(query_compile(test_op(), buf_as_slice(&text), json_undefined, &options, &query) == ST_OK);
        buf_text(&text, "+udf.f(1)");
    }
    CHECK(query_compile(test_op(), buf_as_slice(&text), json_undefined, &options, &query) == ST_BAD_QUERY);
    CHECK(strstr(test_op()->error, "SC3005"));
}
