/*
 * test/unit/query/shelf.h - a table whose items have an index, in a store of its own.
 *     shelf_open(&shelf, policy, count);  ...  fill shelf.table.row  ...  shelf_index(&shelf);  ...  shelf_close(&shelf);
 */
#pragma once
#include "index/policy.h"
#include "table.h"

struct shelf {
    struct table table; /* its source offers the index */
    struct query_index index;
    struct query_span span;
    struct store *store;
    struct view view;
    struct index_policy *policy;
    struct json computed;  /* properties; undefined: none */
    size_t left_out_every; /* so many items one has no entries; 0: none */
    const uint64_t *pick;  /* NULL: items in order */
    size_t pick_count, at_pick;
    size_t picked; /* items read by their numbers */
};

/* The indexing policy as JSON, apostrophes for quotes. */
void shelf_open(struct shelf *shelf, const char *policy, size_t count);
void shelf_open_with(struct shelf *shelf, const char *policy, struct json computed, size_t count);

/* Entries of every item in the table, which has its numbers in order by now. */
void shelf_index(struct shelf *shelf);
void shelf_close(struct shelf *shelf);

/* Compiled for that way; apostrophes stand for double quotes. */
struct query *shelf_compile(const char *text, enum query_way way);

/* The same, with the shelf's computed properties. */
struct query *shelf_compile_for(const struct shelf *shelf, const char *text, enum query_way way);

/* As table_rows(), with a line of dashes behind each page. */
struct slice shelf_pages(struct shelf *shelf, struct query *query, size_t rows, size_t bytes);
