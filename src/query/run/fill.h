/*
 * src/query/run/fill.h - a page being filled: where it begins, what it may hold, what OFFSET and LIMIT have left.
 *     struct fill fill = { .page = page, .limits = limits };
 *     fill_begin(&fill, &cursor, from);
 *     fill_print(&fill, &defined);  fill_skips(&fill);  fill_give(&fill, row, &given);     for each row
 *     fill_goes_on(&fill, &next);                                                          unless that was all
 * How its functions fail: cursor.h.
 *
 * Ownership. Rows lie in the page's memory, and are the page's. The cursor outlives it.
 */
#pragma once
#include "query/run/cursor.h"
#include "query/run/position.h"

struct fill {
    struct cursor *cursor; /* whose rows these are */
    struct query_page *page;
    const struct query_limits *limits;
    bool nested;                   /* rows go to an outer SELECT, in an order that stays */
    bool values;                   /* rows are values of json.h, and not text */
    bool by_creation;              /* equal rows come by number_by_creation() */
    bool first;                    /* it is the first page */
    struct position at;            /* where it begins; skip and take go down as rows are given */
    const struct position *resume; /* no row before it is there; NULL: all are */
    struct slice begun;            /* the same as bytes, where sorting went on from the middle of a page */
    struct buf text;               /* the row being printed */
    size_t bytes, capacity;
};

/* ST_BAD_REQUEST when `from` is no position of this query. */
enum status fill_begin(struct fill *fill, struct cursor *cursor, struct slice from);

/* Where an item's rows stand among rows that ORDER BY does not tell apart from them. */
uint64_t fill_tie(const struct fill *fill, uint64_t number);

/* The order in which the statement's rows are given, unless there are few. */
enum row_order fill_order(const struct select *select);

/* How many values groups are sorted by: those of ORDER BY, or the one path they are of. 0: none. */
size_t fill_group_order(const struct select *select);

/* The row in the slots as it will be sent, in fill->text. */
enum status fill_print(struct fill *fill, bool *defined);

/* OFFSET: whether the next row is passed over. */
bool fill_skips(struct fill *fill);

/* Puts a row on the page and counts it; not when the page is full. */
enum status fill_give(struct fill *fill, struct slice row, bool *given);

/* All rows were given, and they have filled a page that goes on all the same. */
bool fill_ends_full(const struct fill *fill);

/* The page ends before the query does. */
void fill_goes_on(struct fill *fill, struct position *next);

/* Memory that lives as long as the page, into the pointer that `memory` points to. */
enum status fill_alloc(struct fill *fill, size_t bytes, void *memory);
enum status fill_copy(struct fill *fill, struct slice bytes, struct slice *copy);
