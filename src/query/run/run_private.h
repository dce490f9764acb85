/*
 * src/query/run/run_private.h - what the ways to run a query share: run.c chooses one, run_plain.c gives rows as
 * they come, run_sorted.c the least of them, run_groups.c gathers them.
 */
#pragma once
#include "query/bind/bind.h"
#include "query/run/covered.h"
#include "query/plan/order.h"
#include "query/run/picked.h"
#include "query/run/position.h"
#include "query/eval/rows.h"

struct query {
    struct select *select;
    struct bound bound;
    struct query_options options;
    uint64_t hash;
    uint32_t runs; /* so far: what a built-in keeps is good for one */
};

struct ahead;

struct run {
    struct eval eval;
    struct query *query;
    const struct select *select;
    struct query_source *source;
    const struct query_limits *limits;
    struct position at;    /* where this page begins; skip and take go down as rows are given */
    struct slice begun;    /* the same as bytes, unless it is the first page */
    bool first;            /* it is the first page */
    bool nested;           /* rows go to an outer SELECT: as bytes of JSON, in an order that stays */
    struct query_row item; /* being looked at */
    uint64_t passed;       /* rows gathered so far */
    uint32_t index;        /* which of its rows, from 1 */
    struct arena kept, item_memory;
    struct buf text; /* the row being printed */
    struct query_page *page;
    size_t page_bytes, page_capacity;

    /* What the index makes of it: run_index.c. */
    struct planner planner;
    struct access *access;
    struct access *picks; /* the same items, with what composite indexes have of the filter */
    struct picked_source picked;
    struct covered_source covered;
    struct ahead *ahead;              /* what calls user-defined functions together; NULL: nobody */
    bool walked;                      /* ORDER BY by walking an index */
    double scope_items, access_items; /* about */
    struct work began;                /* the operation's when the run began: a plan tells the difference */
    struct select unfiltered;         /* the statement, when its filter has been counted in already */
};

/* SELECT VALUE <expression> FROM c, of one document, without system properties. */
enum status query_value(struct op *op, struct query *query, struct json document, struct value *value);

/*
 * Walks the rows of all items behind the one the source stands at, until a sink wants no more, something
 * fails, or `scanned_max` items were looked at or a page's time is up (0: never). True when there are no more items.
 */
bool run_items(struct run *run, size_t scanned_max, row_sink *sink, void *context);

/* The row in the slots as it will be sent, in run->text; false when it is undefined, or something failed. */
bool run_print(struct run *run);

/* OFFSET: whether the next row is passed over. */
bool run_skips(struct run *run);

/* Puts a row on the page and counts it; false when the page is full. */
bool run_give(struct run *run, struct slice row);

/* The page ends before the query does. */
void run_goes_on(struct run *run, struct position *next);

/* An arena of the query's, within the limits of one query and of all. */
void run_memory(const struct run *run, struct arena *memory);

/* Memory that lives as long as the page; NULL past the limit, and the failure recorded. */
void *run_alloc(struct run *run, size_t bytes);
struct slice run_copy(struct run *run, struct slice bytes);

void run_plain(struct run *run);
void run_sorted(struct run *run);
void run_groups(struct run *run);

/* The page ends behind the row in the slots, in the order of ORDER BY. */
void run_goes_on_sorted(struct run *run);

/* ORDER BY by walking an index; `misses`: items that it does not have come behind it. */
enum status run_ordered(struct run *run, const struct order_walk *walk, bool misses);

/*
 * Looks at what the index offers. Either the page is made (`done`), or run->source has been exchanged for one
 * that gives fewer items, or everything is as it was.
 */
enum status run_use_index(struct run *run, bool *done);

/* The page from rows that are sorted after all: nothing has been given yet. */
enum status run_sort_instead(struct run *run);
