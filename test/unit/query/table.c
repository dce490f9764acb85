/* test/unit/query/table.c - items in an array as a query's source. */
#include <stdlib.h>

#include "table.h"

static enum status next(struct op *op, struct query_source *source, struct query_row *row, bool *found)
{
    struct table *table = (struct table *)source;

    (void)op;
    *found = table->next < table->count;
    table->reads++;
    if (*found)
        *row = table->row[table->next++];
    row->source = source;
    return ST_OK;
}

static enum status seek(struct op *op, struct query_source *source, uint64_t after)
{
    struct table *table = (struct table *)source;

    (void)op;
    for (table->next = 0; table->next < table->count && table->row[table->next].number <= after;)
        table->next++;
    return ST_OK;
}

static struct json system_members(struct query_source *source, const struct query_row *row,
                                  struct arena *memory)
{
    struct json_builder out;

    (void)source;
    json_builder_init(&out, memory);
    json_begin_object(&out);
    json_add_name(&out, slice_of("_n"));
    json_add_int(&out, (int64_t)row->number);
    json_end(&out);
    return json_built(&out);
}

void table_init(struct table *table, size_t count)
{
    *table = (struct table){ .base = { next, seek, system_members }, .count = count };
    table->row = arena_alloc(&test_op()->arena, count * sizeof(*table->row));
    memset(table->row, 0, count * sizeof(*table->row));
}

struct query *table_compile(const char *text)
{
    static const struct query_options none = { 0 };
    char *copy = arena_text(&test_op()->arena, slice_of(text));
    struct query *query = NULL;

    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    if (query_compile(test_op(), slice_of(copy), json_undefined, &none, &query) != ST_OK)
        test_failed(__FILE__, __LINE__, test_op()->error);
    return query;
}

struct slice table_pages(struct table *table, struct query *query, size_t rows, size_t bytes, const char *end)
{
    struct query_limits limits = { rows, bytes, 0, false };
    struct slice from = slice_of("");
    struct query_page page;
    struct buf lines;

    buf_init(&lines, &test_op()->arena);
    do {
        if (query_run(test_op(), query, &table->base, from, &limits, &page) != ST_OK) {
            test_failed(__FILE__, __LINE__, test_op()->error);
            query_page_free(&page);
            break;
        }
        if (page.count > rows || page.next.size > QUERY_POSITION_BYTES_MAX)
            test_failed(__FILE__, __LINE__, "a page or a position is too large");
        for (size_t i = 0; i < page.count; i++) {
            buf_slice(&lines, page.row[i]);
            buf_byte(&lines, '\n');
        }
        buf_text(&lines, end);
        from = page.next.size ? arena_copy(&test_op()->arena, page.next) : slice_of("");
        query_page_free(&page);
    } while (from.size);
    return buf_as_slice(&lines);
}

struct slice table_rows(struct table *table, struct query *query, size_t rows, size_t bytes)
{
    return table_pages(table, query, rows, bytes, "");
}

static int by_bytes(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

struct slice table_sorted(struct slice lines)
{
    struct slice *line = arena_alloc(&test_op()->arena, (lines.size + 1) * sizeof(*line));
    struct buf out;
    size_t count = 0;

    while (lines.size) {
        size_t size = (size_t)((const char *)memchr(lines.data, '\n', lines.size) - lines.data) + 1;

        line[count++] = slice_make(lines.data, size);
        lines = slice_after(lines, size);
    }
    qsort(line, count, sizeof(*line), by_bytes);
    buf_init(&out, &test_op()->arena);
    for (size_t i = 0; i < count; i++)
        buf_slice(&out, line[i]);
    return buf_as_slice(&out);
}
