/* test/unit/query/run/resume_test.c - rows that begin where a client says: those of the whole answer from there on. */
#include <stdlib.h>

#include "keys/epk.h"
#include "keys/rid.h"
#include "shelf.h"

static const char policy[] = "{'indexingMode':'consistent','automatic':true,'includedPaths':[{'path':'/*'}],"
                             "'compositeIndexes':["
                             "[{'path':'/s','order':'ascending'},{'path':'/a','order':'descending'}],"
                             "[{'path':'/a','order':'ascending'},{'path':'/mixed','order':'ascending'}]]}";

enum { ITEMS = 42, EVERY = 4, KEYS = 2, LINES_MAX = 200 };

static const char *const mixed[] = { "null",
                                     "true",
                                     "false",
                                     "7",
                                     "-1.5",
                                     "\"a\"",
                                     "[1]",
                                     "{\"x\":2}",
                                     "[1,[2]]",
                                     "{}",
                                     "[]",
                                     "\"\xc3\xa9\"",
                                     "9007199254740993",
                                     "{\"x\":[]}" };

static int by_number(const void *a, const void *b)
{
    uint64_t x = ((const struct query_row *)a)->number, y = ((const struct query_row *)b)->number;

    return x < y ? -1 : x > y;
}

/* Few values each, so that there are ties; some lack a property; strings that differ only past where positions end. */
static void fill(struct shelf *shelf)
{
    for (size_t i = 0; i < shelf->table.count; i++) {
        struct query_row *row = &shelf->table.row[i];
        struct buf text;

        buf_init(&text, &test_op()->arena);
        buf_printf(&text, "{\"id\":\"%zu\",\"s\":\"x%d\",\"list\":[1,2,3]", i, (int)(test_random() % 5));
        if (test_random() % 8)
            buf_printf(&text, ",\"a\":%d", (int)(test_random() % 6));
        if (test_random() % 5)
            buf_printf(&text, ",\"mixed\":%s", mixed[test_random() % (sizeof(mixed) / sizeof(mixed[0]))]);
        buf_printf(&text, ",\"long\":\"%0*d%d\"}", test_random() % 3 ? 700 : 1, 0, (int)(test_random() % 4));
        row->counter = i + 1;
        row->number = number_make((uint32_t)(test_random() % 7), row->counter);
        CHECK(json_parse(test_op(), buf_as_slice(&text), &row->body) == ST_OK);
    }
    qsort(shelf->table.row, shelf->table.count, sizeof(struct query_row), by_number);
    shelf_index(shelf);
}

/* ---- the whole answer ---- */

struct order {
    const char *from;      /* FROM, and WHERE */
    const char *key[KEYS]; /* NULL: there is one only */
    bool down[KEYS];
};

static const struct order orders[] = {
    { "c", { "c.mixed" }, { false } },
    { "c", { "c.mixed" }, { true } },
    { "c", { "c.a" }, { false } },
    { "c", { "c.a" }, { true } },
    { "c WHERE (true)", { "c.a" }, { true } },
    { "c WHERE c.a > 1 AND c.a < 5", { "c.a" }, { false } },
    { "c WHERE c.s = 'x1' OR c.s = 'x2'", { "c.mixed" }, { true } },
    { "c", { "c.long" }, { false } },
    { "c", { "c.long" }, { true } },
    { "c", { "c.s", "c.a" }, { false, true } },
    { "c", { "c.s", "c.a" }, { true, false } },
    { "c", { "c.a", "c.mixed" }, { false, false } },
    { "c", { "c.a", "c.mixed" }, { true, true } },
    { "c", { "c.mixed", "c.s" }, { true, false } },
    { "c JOIN t IN c.list", { "c.a" }, { false } },
    { "c JOIN t IN c.list", { "c.mixed" }, { true } },
};

enum { ORDERS = sizeof(orders) / sizeof(orders[0]) };

/* What is put before VALUE and behind ORDER BY, and what that leaves of the rows. */
static const struct {
    const char *before, *behind;
    size_t skip, take;
} parts[] = {
    { "", "", 0, LINES_MAX },
    { "TOP 5", "", 0, 5 },
    { "", " OFFSET 2 LIMIT 6", 2, 6 },
};

static const char *text_of(const struct order *order, const char *before, const char *row, const char *behind)
{
    struct buf text;

    buf_init(&text, &test_op()->arena);
    buf_printf(&text, "SELECT %s VALUE %s FROM %s ORDER BY %s%s", before, row, order->from, order->key[0],
               order->down[0] ? " DESC" : "");
    if (order->key[1])
        buf_printf(&text, ", %s%s", order->key[1], order->down[1] ? " DESC" : "");
    buf_text(&text, behind);
    buf_byte(&text, 0);
    return text.data;
}

static const char *row_of(const struct order *order)
{
    struct buf text;

    buf_init(&text, &test_op()->arena);
    buf_printf(&text, "{'n':c._n,'k0':%s,'k1':%s,'s':c.s}", order->key[0],
               order->key[1] ? order->key[1] : "0");
    buf_byte(&text, 0);
    return text.data;
}

struct answer {
    struct slice line[LINES_MAX];
    struct json row[LINES_MAX];
    size_t count;
};

static void read_answer(struct shelf *shelf, const struct order *order, struct answer *answer)
{
    struct query *query = shelf_compile(text_of(order, "", row_of(order), ""), QUERY_BY_SCAN);
    struct slice lines = table_rows(&shelf->table, query, SIZE_MAX, SIZE_MAX);

    for (answer->count = 0; lines.size; answer->count++) {
        size_t size = (size_t)((const char *)memchr(lines.data, '\n', lines.size) - lines.data) + 1;

        REQUIRE(answer->count < LINES_MAX);
        answer->line[answer->count] = slice_make(lines.data, size);
        CHECK(json_parse(test_op(), slice_make(lines.data, size - 1), &answer->row[answer->count]) == ST_OK);
        lines = slice_after(lines, size);
    }
}

/* ---- places in it ---- */

enum place { AT_VALUE, BEHIND_VALUE, AT_RID, BEHIND_RID, PLACES };

static void put_value(struct buf *out, struct json value)
{
    struct hash128 hash;

    switch (json_kind(value)) {
    case JSON_UNDEFINED:
        buf_text(out, "[]");
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        hash = json_order_hash(value);
        buf_printf(out, "{\"type\":\"%s\",\"low\":%lld,\"high\":%lld}",
                   json_kind(value) == JSON_ARRAY ? "array" : "object", (long long)hash.h1,
                   (long long)hash.h2);
        break;
    default:
        json_print(out, value);
    }
}

static struct json filter_of(const struct shelf *shelf, const struct order *order, struct json row,
                             enum place place)
{
    uint64_t number = (uint64_t)json_int(json_get(row, "n"));
    struct rid database = rid_database(1), container = rid_container(&database, 1);
    struct rid rid = rid_child(&container, RID_DOCUMENT,
                               shelf->table.base.ties_by_creation ? number_by_creation(number) : number);
    struct json filter = json_undefined;
    struct buf text;

    buf_init(&text, &test_op()->arena);
    buf_text(&text, "{\"value\":[");
    put_value(&text, json_get(row, "k0"));
    if (order->key[1]) {
        buf_byte(&text, ',');
        put_value(&text, json_get(row, "k1"));
    }
    buf_printf(&text, "],\"exclude\":%s", place == BEHIND_VALUE || place == BEHIND_RID ? "true" : "false");
    if (place >= AT_RID) {
        buf_text(&text, ",\"rid\":\"");
        rid_print(&text, &rid);
        buf_byte(&text, '"');
    }
    buf_byte(&text, '}');
    CHECK(json_parse(test_op(), buf_as_slice(&text), &filter) == ST_OK);
    return filter;
}

static bool same_place(const struct answer *answer, size_t a, size_t b, enum place place)
{
    static const char *const member[] = { "k0", "k1", "n" };

    for (int i = 0; i < (place >= AT_RID ? 3 : 2); i++)
        if (json_compare(json_get(answer->row[a], member[i]), json_get(answer->row[b], member[i])) != 0)
            return false;
    return true;
}

/* Rows of one place lie together. */
static size_t first_row(const struct answer *answer, size_t row, enum place place)
{
    bool behind = place == BEHIND_VALUE || place == BEHIND_RID;

    if (!behind)
        while (row > 0 && same_place(answer, row - 1, row, place))
            row--;
    else
        for (size_t at = row++; row < answer->count && same_place(answer, at, row, place);)
            row++;
    return row;
}

static struct slice rows_from(const struct answer *answer, size_t first, size_t take)
{
    struct buf out;

    buf_init(&out, &test_op()->arena);
    for (size_t i = first; i < answer->count && i - first < take; i++)
        buf_slice(&out, answer->line[i]);
    return buf_as_slice(&out);
}

/* The values of s, each where it comes first. */
static struct slice distinct_from(const struct answer *answer, size_t first)
{
    struct buf out;

    buf_init(&out, &test_op()->arena);
    for (size_t i = first; i < answer->count; i++) {
        struct json s = json_get(answer->row[i], "s");
        bool seen = false;

        for (size_t k = first; k < i && !seen; k++)
            seen = json_equal(json_get(answer->row[k], "s"), s);
        if (seen)
            continue;
        json_print(&out, s);
        buf_byte(&out, '\n');
    }
    return buf_as_slice(&out);
}

static const size_t page_rows[] = { 1, 7, SIZE_MAX };

static void rows_are(struct shelf *shelf, const char *text, struct json filter, struct slice expected)
{
    for (int way = QUERY_BY_SCAN; way <= QUERY_BY_INDEX; way++)
        for (size_t i = 0; i < sizeof(page_rows) / sizeof(page_rows[0]); i++) {
            struct query *query = shelf_compile(text, (enum query_way)way);
            struct slice found;

            REQUIRE(query_resume(test_op(), query, filter) == ST_OK);
            found = table_rows(&shelf->table, query, page_rows[i], SIZE_MAX);
            if (slice_equal(found, expected))
                continue;
            fprintf(stderr, "way %d, pages of %zd: expected\n%.*sfound\n%.*s", way, (ssize_t)page_rows[i],
                    SLICE_ARGS(expected), SLICE_ARGS(found));
            test_failed(__FILE__, __LINE__, text);
            return;
        }
}

static void resumes_at(struct shelf *shelf, const struct order *order, const struct answer *answer,
                       size_t row, enum place place)
{
    struct arena_mark mark = arena_mark(&test_op()->arena);
    struct json filter = filter_of(shelf, order, answer->row[row], place);
    size_t first = first_row(answer, row, place);

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        rows_are(shelf, text_of(order, parts[i].before, row_of(order), parts[i].behind), filter,
                 rows_from(answer, first + parts[i].skip, parts[i].take));
    rows_are(shelf, text_of(order, "DISTINCT", "c.s", ""), filter, distinct_from(answer, first));
    arena_rewind(&test_op()->arena, mark);
}

TEST(rows_begin_at_the_value_or_behind_it_whichever_way_they_are_found)
{
    static struct answer answer;
    struct shelf shelf;

    for (int by_creation = 0; by_creation < 2; by_creation++) {
        shelf_open(&shelf, policy, ITEMS);
        shelf.table.base.ties_by_creation = by_creation;
        fill(&shelf);
        for (size_t i = 0; i < ORDERS; i++) {
            read_answer(&shelf, &orders[i], &answer);
            for (size_t row = test_random() % EVERY; row < answer.count; row += EVERY)
                for (int place = 0; place < PLACES; place++)
                    resumes_at(&shelf, &orders[i], &answer, row, (enum place)place);
        }
        shelf_close(&shelf);
    }
}

/* A place is one also where nothing lies, be it outside of what the filter lets pass. */
TEST(a_value_that_no_row_has_is_a_place_nevertheless)
{
    static const struct order rising = { "c WHERE c.a >= 2 AND c.a <= 4", { "c.a" }, { false } },
                              falling = { "c WHERE c.a >= 2 AND c.a <= 4", { "c.a" }, { true } };
    static const char *const values[] = { "[]",  "null",  "-3",
                                          "1.5", "2.5",   "3.9",
                                          "5",   "\"x\"", "{\"type\":\"array\",\"low\":1,\"high\":-1}" };
    static struct answer answer;
    struct shelf shelf;

    shelf_open(&shelf, policy, ITEMS);
    fill(&shelf);
    for (size_t i = 0; i < 2 * sizeof(values) / sizeof(values[0]); i++) {
        const struct order *order = i % 2 ? &falling : &rising;
        struct json filter, value;
        struct buf text;
        size_t first = 0;

        buf_init(&text, &test_op()->arena);
        buf_printf(&text, "{\"value\":[%s],\"exclude\":%s}", values[i / 2], i % 3 ? "true" : "false");
        CHECK(json_parse(test_op(), buf_as_slice(&text), &filter) == ST_OK);
        value = json_element(json_get(filter, "value"), 0);
        if (json_kind(value) == JSON_ARRAY)
            value = json_undefined;
        read_answer(&shelf, order, &answer);
        while (first < answer.count &&
               (json_compare(json_get(answer.row[first], "k0"), value) < 0) != order->down[0])
            first++;
        rows_are(&shelf, text_of(order, "", row_of(order), ""), filter, rows_from(&answer, first, LINES_MAX));
    }
    shelf_close(&shelf);
}

/* ---- with a continuation ---- */

static struct slice first_page(struct shelf *shelf, const char *text, size_t rows)
{
    struct query_limits limits = { rows, SIZE_MAX, 0, false };
    struct query_page page;
    struct slice next;

    CHECK(query_run(test_op(), shelf_compile(text, QUERY_BY_COST), &shelf->table.base, slice_of(""), &limits,
                    &page) == ST_OK);
    next = arena_copy(&test_op()->arena, page.next);
    query_page_free(&page);
    return next;
}

static void goes_on_at(struct shelf *shelf, const char *text, enum query_way way, struct slice from,
                       struct json filter, struct slice expected)
{
    struct query_limits limits = { SIZE_MAX, SIZE_MAX, 0, false };
    struct query *query = shelf_compile(text, way);
    struct query_page page;
    struct buf out;

    buf_init(&out, &test_op()->arena);
    CHECK(query_resume(test_op(), query, filter) == ST_OK);
    CHECK(query_run(test_op(), query, &shelf->table.base, from, &limits, &page) == ST_OK);
    for (size_t i = 0; i < page.count; i++) {
        buf_slice(&out, page.row[i]);
        buf_byte(&out, '\n');
    }
    query_page_free(&page);
    if (!slice_equal(buf_as_slice(&out), expected))
        test_failed(__FILE__, __LINE__, text);
}

TEST(of_a_continuation_and_a_place_the_further_counts)
{
    static struct answer answer;
    struct shelf shelf;

    shelf_open(&shelf, policy, ITEMS);
    shelf.table.base.ties_by_creation = true;
    fill(&shelf);
    for (size_t i = 0; i < ORDERS; i++) {
        const char *text = text_of(&orders[i], "", row_of(&orders[i]), "");

        read_answer(&shelf, &orders[i], &answer);
        for (size_t row = 0; row < answer.count; row += EVERY) {
            struct json filter = filter_of(&shelf, &orders[i], answer.row[row], AT_RID);
            size_t first = first_row(&answer, row, AT_RID), given = answer.count / 2;
            struct slice from = first_page(&shelf, text, given);
            struct slice expected = rows_from(&answer, first > given ? first : given, LINES_MAX);

            goes_on_at(&shelf, text, QUERY_BY_SCAN, from, filter, expected);
            goes_on_at(&shelf, text, QUERY_BY_INDEX, from, filter, expected);
        }
    }
    shelf_close(&shelf);
}

/* ---- speed ---- */

TEST(an_index_is_asked_from_the_value_on_and_not_from_the_start)
{
    struct shelf shelf;
    struct query *query;
    struct json filter;
    uint64_t entries, from_the_start;

    shelf_open(&shelf, policy, 3000);
    for (size_t i = 0; i < shelf.table.count; i++) {
        struct query_row *row = &shelf.table.row[i];
        struct buf text;

        buf_init(&text, &test_op()->arena);
        buf_printf(&text, "{\"a\":%zu}", i);
        row->number = row->counter = i + 1;
        CHECK(json_parse(test_op(), buf_as_slice(&text), &row->body) == ST_OK);
    }
    shelf_index(&shelf);
    CHECK(json_parse(test_op(), slice_of("{\"value\":[2900],\"exclude\":true}"), &filter) == ST_OK);
    query = shelf_compile("SELECT TOP 3 VALUE c.a FROM c ORDER BY c.a", QUERY_BY_COST);
    entries = test_op()->work.entries_read;
    CHECK(slice_is(table_rows(&shelf.table, query, 10, SIZE_MAX), "0\n1\n2\n"));
    from_the_start = test_op()->work.entries_read - entries; /* choosing the way counts entries */
    CHECK(query_resume(test_op(), query, filter) == ST_OK);
    shelf.table.reads = shelf.picked = 0;
    entries = test_op()->work.entries_read;
    CHECK(slice_is(table_rows(&shelf.table, query, 10, SIZE_MAX), "2901\n2902\n2903\n"));
    CHECK(shelf.table.reads + shelf.picked < 20);
    CHECK(test_op()->work.entries_read - entries <= from_the_start);
    shelf_close(&shelf);
}

/* ---- what is no place ---- */

static enum status resumed(const char *text, const char *filter)
{
    struct query *query = table_compile(text);
    struct json json = json_undefined;

    CHECK(json_parse(test_op(), slice_of(filter), &json) == ST_OK);
    return query_resume(test_op(), query, json);
}

TEST(what_is_no_place_of_the_query_is_refused)
{
    static const char *const refused[] = {
        "7",
        "[]",
        "\"x\"",
        "{}",
        "{\"exclude\":true}",
        "{\"value\":1}",
        "{\"value\":[]}",
        "{\"value\":[1,2]}",
        "{\"value\":[[1]]}",
        "{\"value\":[{}]}",
        "{\"value\":[{\"type\":\"array\",\"low\":1}]}",
        "{\"value\":[{\"type\":\"array\",\"low\":1,\"high\":\"2\"}]}",
        "{\"value\":[{\"type\":\"array\",\"low\":1.5,\"high\":2}]}",
        "{\"value\":[{\"type\":\"number\",\"low\":1,\"high\":2}]}",
        "{\"value\":[{\"type\":\"array\",\"low\":1,\"high\":2,\"more\":3}]}",
        "{\"value\":[1],\"exclude\":1}",
        "{\"value\":[1],\"exclude\":null}",
        "{\"value\":[1],\"rid\":7}",
        "{\"value\":[1],\"rid\":\"\"}",
        "{\"value\":[1],\"rid\":\"nonsense!\"}",
        "{\"value\":[1],\"other\":true}",
    };

    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if (resumed("SELECT * FROM c ORDER BY c.a", refused[i]) != ST_BAD_REQUEST)
            test_failed(__FILE__, __LINE__, refused[i]);
    CHECK(resumed("SELECT * FROM c", "{\"value\":[1]}") == ST_BAD_REQUEST);
    CHECK(resumed("SELECT DISTINCT c.a FROM c", "{\"value\":[1]}") == ST_BAD_REQUEST);
    CHECK(resumed("SELECT * FROM c ORDER BY c.a", "null") == ST_OK);
    CHECK(resumed("SELECT * FROM c ORDER BY c.a", "{\"value\":[1],\"rid\":null}") == ST_OK);
    CHECK(resumed("SELECT * FROM c ORDER BY c.a, c.b", "{\"value\":[1,[]],\"exclude\":false}") == ST_OK);
}
