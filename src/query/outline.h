/*
 * src/query/outline.h - what a query asks, without the values that it asks with: what many queries have in common.
 *     query_outline(op, query_select(query), &outline);
 *     outline.text       SELECT * FROM c WHERE (c.city = ?) ORDER BY c.name
 *     outline.path       /city equal, /name ordered
 *
 * Ownership. Everything lies in the op's arena, or in the statement.
 */
#pragma once
#include "base/op.h"
#include "json/json.h"

struct select;

/* What a query wants with the values at a path. */
enum path_use {
    USE_EQUAL = 1,   /* every row has one value there: = or IN, joined by AND */
    USE_RANGE = 2,   /* likewise values above or below one */
    USE_FILTER = 4,  /* the filter looks at it in another way */
    USE_ORDER = 8,   /* rows come in its order */
    USE_GROUP = 16,  /* rows are grouped, or told apart, by it */
    USE_READ = 32,   /* it is in the rows */
    USE_ITERATE = 64 /* its elements are */
};

enum { OUTLINE_PATHS_MAX = 24, OUTLINE_PATH_BYTES_MAX = 200 };

struct outline_path {
    struct slice path; /* /orders/[]/city */
    unsigned use;
    struct json
        equal; /* the one value that it must have; undefined: there may be several, or none is named */
};

struct query_outline {
    struct slice text; /* strings and numbers are ?, and so are lists of them */
    struct outline_path path[OUTLINE_PATHS_MAX];
    size_t path_count;
    bool reads_whole; /* rows have whole items */
    bool aggregates;  /* COUNT, SUM and the like, over items */
    bool is_partial;  /* there were more paths */
};

/* The statement has been compiled. ST_QUERY_MEMORY past the arena's limit. */
enum status query_outline(struct op *op, const struct select *select, struct query_outline *outline);
