/*
 * test/fuzz/run_fuzz.c - any text as a query, compiled and run over a few items, page by page. Behind a zero byte: where
 * its rows begin, a resumeFilter.
 * What runs at once runs in pages of one row, gives as many rows, and every row is JSON.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "query/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const texts[] = {
    "{\"id\":\"1\",\"a\":1,\"s\":\"one\",\"l\":[1,2,\"x\"],\"o\":{\"p\":null},\"d\":\"2020-01-02T03:04:05."
    "0000000Z\"}",
    "{\"id\":\"2\",\"a\":-2.5,\"s\":\"\",\"l\":[],\"o\":{\"p\":[true,{}]},\"g\":{\"type\":\"Point\","
    "\"coordinates\":[1,2]}}",
    "{\"id\":\"3\",\"s\":\"\\u00e9\\ud83d\\ude00\",\"l\":[{\"k\":\"v\"}],\"a\":9007199254740993,\"v\":[0.1,0."
    "2]}",
};

enum { ITEMS = sizeof(texts) / sizeof(texts[0]), ROWS_MAX = 300 };

struct items {
    struct query_source base;
    struct json body[ITEMS];
    size_t next;
};

static void require(bool holds)
{
    if (!holds)
        abort();
}

static enum status next(struct op *op, struct query_source *source, struct query_row *row, bool *found)
{
    struct items *items = (struct items *)source;

    (void)op;
    *found = items->next < ITEMS;
    if (*found) {
        row->number = row->counter = items->next + 1;
        row->body = items->body[items->next++];
    }
    return ST_OK;
}

static enum status seek(struct op *op, struct query_source *source, uint64_t after)
{
    (void)op;
    ((struct items *)source)->next = after < ITEMS ? (size_t)after : ITEMS;
    return ST_OK;
}

/* How many rows in pages of that many; -1 when it fails, which some queries do on some rows. */
static long count_rows(struct op *op, struct query *query, struct items *items, size_t rows)
{
    struct query_limits limits = { rows, PAGE_BYTES_MAX, 0, false };
    struct slice from = slice_of("");
    struct query_page page;
    long count = 0;

    do {
        enum status st = query_run(op, query, &items->base, from, &limits, &page);

        for (size_t i = 0; st == ST_OK && i < page.count; i++) {
            struct arena_mark mark = arena_mark(&op->arena);
            struct json row;

            require(json_parse(op, page.row[i], &row) == ST_OK);
            arena_rewind(&op->arena, mark);
        }
        count += st == ST_OK ? (long)page.count : 0;
        from = st == ST_OK && page.next.size ? arena_copy(&op->arena, page.next) : slice_of("");
        query_page_free(&page);
        if (st != ST_OK)
            return -1;
    } while (from.size && count < ROWS_MAX);
    return count;
}

/* The text up to the zero byte, if there is one, and what is behind it. */
static enum status compile(struct op *op, struct slice input, struct query **query)
{
    static const struct query_options none = { 0 };
    const char *zero = input.size ? memchr(input.data, 0, input.size) : NULL;
    size_t size = zero ? (size_t)(zero - input.data) : input.size;
    struct json filter = json_undefined;
    enum status st;

    TRY(query_compile(op, slice_make(input.data, size), json_undefined, &none, query));
    if (zero)
        TRY(json_parse(op, slice_after(input, size + 1), &filter));
    TRY(query_resume(op, *query, filter));
out:
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct items items = { .base = { next, seek, NULL } };
    struct query *query;
    struct op op;

    op_init(&op, env_system(), OP_MEMORY_BYTES_MAX);
    op_begin(&op, 2000);
    for (size_t i = 0; i < ITEMS; i++)
        require(json_parse(&op, slice_of(texts[i]), &items.body[i]) == ST_OK);
    if (compile(&op, slice_make(data, size), &query) == ST_OK) {
        long whole = count_rows(&op, query, &items, ROWS_MAX), paged = count_rows(&op, query, &items, 1);

        require(whole == paged || whole < 0 || paged < 0 || whole >= ROWS_MAX || paged >= ROWS_MAX);
    }
    op_free(&op);
    return 0;
}
