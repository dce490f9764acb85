/* test/unit/query/table.h - items in an array as a query's source, and queries over them. */
#pragma once
#include "query/query.h"
#include "test.h"

struct table {
    struct query_source base;
    struct query_row *row; /* numbers rise; counters may come in any order */
    size_t count, next;
    size_t reads;
};

void table_init(struct table *table, size_t count);

/* Apostrophes stand for double quotes. */
struct query *table_compile(const char *text);

/* All pages of at most `rows` rows and `bytes` bytes, joined: one line a row. */
struct slice table_rows(struct table *table, struct query *query, size_t rows, size_t bytes);

/* The same with `end` behind each page. */
struct slice table_pages(struct table *table, struct query *query, size_t rows, size_t bytes,
                         const char *end);

/* The same lines in byte order. */
struct slice table_sorted(struct slice lines);
