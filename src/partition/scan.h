/*
 * src/partition/scan.h - the items of a container, or of a part of it, in number order.
 *     partition_scan_open(op, container, &scope, &scan);
 *     while (partition_scan_next(op, &scan, &item, &found) == ST_OK && found) ...
 *     partition_scan_close(&scan);                                   welcome on one that never opened
 * After opening, partition_scan_pick() may name the items to read by their numbers, which an index gives. Where the scope lies
 * in several parts of the container (catalog/parts.h), their items come part by part, all as of one moment.
 *
 * Ownership. An item's bytes live until the next call. The scope's points must outlive the scan.
 * Threads. A scan is used by one thread, and waits on the store.
 */
#pragma once
#include "partition/partition.h"

struct number_span {
    uint64_t from, to; /* [from, to) */
};

/*
 * The first says whether an item is in the scope. The second says where the numbers of its items lie, points
 * disregarded.
 */
bool partition_scope_holds(const struct container *container, const struct partition_scope *scope,
                           const struct record *item);
struct number_span partition_scope_span(const struct container *container,
                                        const struct partition_scope *scope);

/* Where all items are in the scope: a part of that span, and mostly all but its ends. Empty where numbers do not tell. */
struct number_span partition_scope_inside(const struct container *container,
                                          const struct partition_scope *scope);

/* The part that all keys of the scope lie in; NULL: they lie in several. */
const struct container *partition_scope_part(const struct container *container,
                                             const struct partition_scope *scope);

/* The parts that a scan goes through, one after the other. */
struct scan_parts {
    const struct container *whole; /* NULL: there is one part */
    uint32_t first, count, at;     /* `at` counts from the first */
    struct view *view;             /* of each */
};

struct partition_scan {
    const struct container *container; /* or the part of it whose items are read at the moment */
    struct partition_scope scope;
    uint64_t scanned, scanned_bytes; /* items that the scan has looked at, also those out of scope */
    uint64_t scanned_bytes_max;      /* set by the caller; 0: no limit. Past it the scan is paused */
    bool paused;
    bool expired_too; /* set by the caller: find items whose time to live is over as well */

    /* Private to scan.c. */
    const struct partition_txn *txn; /* whose view it reads; NULL: its own */
    const struct view *over;         /* somebody's view that it reads; NULL: another */
    struct view view;
    struct scan_parts parts;
    struct arena memory; /* of the block */
    struct rows rows;
    size_t at_row, block_rows;
    struct number_span *span;
    size_t span_count, at_span;
    uint64_t from;        /* the least number still wanted: the scan has looked at all below */
    const uint64_t *pick; /* the numbers to read; NULL: all items, in order */
    size_t pick_count, at_pick, pick_rows;
};

enum status partition_scan_open(struct op *op, const struct container *container,
                                const struct partition_scope *scope, struct partition_scan *scan);

/* The same, as the transaction sees it. The transaction outlives the scan and writes nothing meanwhile. */
enum status partition_scan_open_in(struct op *op, const struct partition_txn *txn,
                                   const struct partition_scope *scope, struct partition_scan *scan);

/* The same through a view of the caller's, which outlives the scan. */
void partition_scan_open_over(struct op *op, const struct container *container,
                              const struct partition_scope *scope, const struct view *view,
                              struct partition_scan *scan);

/* The view that the scan reads through, if it is of one part. Queries read the index of the same items through it. */
const struct view *partition_scan_view(const struct partition_scan *scan);

/* How many items the container has in that view, expired ones included; `counted` is false when that is not known. */
enum status partition_scan_count(struct op *op, const struct partition_scan *scan, uint64_t *documents,
                                 bool *counted);

/* Whether the scan may meet items that its own transaction has written: the index does not know their _ts yet. */
bool partition_scan_sees_own(const struct partition_scan *scan);

/*
 * Where the numbers of the scan's items lie, in order; other items may lie there too. The spans live as long as the
 * op.
 */
const struct number_span *partition_scan_spans(const struct partition_scan *scan, size_t *count);

/*
 * The scan has looked at everything in scope up to this number, so another scan may seek behind it; 0: at nothing
 * yet.
 */
uint64_t partition_scan_after(const struct partition_scan *scan);

/* Begins again behind that number; 0 is the beginning. */
void partition_scan_seek(struct partition_scan *scan, uint64_t after);

/* Until the next seek the scan gives the items of these numbers that are there and in scope, in that order. */
void partition_scan_pick(struct partition_scan *scan, const uint64_t *number, size_t count);
enum status partition_scan_next(struct op *op, struct partition_scan *scan, struct record *item, bool *found);
void partition_scan_close(struct partition_scan *scan);
