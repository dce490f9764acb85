/*
 * src/partition/scan.h - the items of a container, or of a part of it, in number order.
 *     partition_scan_open(op, container, &scope, &scan);
 *     while (partition_scan_next(op, &scan, &item, &found) == ST_OK && found) ...
 *     partition_scan_close(&scan);                                   welcome on one that never opened
 * Or, between the two, partition_scan_pick(): items by their numbers, which an index knows.
 *
 * Ownership. An item's bytes live until the next call. The scope's points must outlive the scan.
 * Threads. A scan is used by one thread, and waits on the store.
 */
#pragma once
#include "partition/partition.h"

struct number_span {
    uint64_t from, to; /* [from, to) */
};

/* Whether a key is in the scope; and where the numbers of such items lie, points left out of account. */
bool partition_scope_holds(const struct partition_scope *scope, struct slice epk);
struct number_span partition_scope_span(const struct container *container,
                                        const struct partition_scope *scope);

struct partition_scan {
    const struct container *container;
    struct partition_scope scope;
    uint64_t scanned, scanned_bytes; /* items looked at, those out of scope too */
    uint64_t
        scanned_bytes_max; /* set by the caller, 0 for none: past it nothing is found, and `paused` is true */
    bool paused;
    bool expired_too; /* set by the caller: find items whose time to live is over as well */

    /* Private to scan.c. */
    const struct partition_txn *txn; /* whose view it reads; NULL: its own */
    struct view view;
    struct arena memory; /* of the block */
    struct rows rows;
    size_t at_row, block_rows;
    struct number_span *span;
    size_t span_count, at_span;
    uint64_t from;        /* the least number still wanted: all below were looked at */
    const uint64_t *pick; /* NULL: all of them, in order */
    size_t pick_count, at_pick, pick_rows;
};

enum status partition_scan_open(struct op *op, const struct container *container,
                                const struct partition_scope *scope, struct partition_scan *scan);

/* The same as the transaction sees it, which must outlive the scan, and write nothing meanwhile. */
enum status partition_scan_open_in(struct op *op, const struct partition_txn *txn,
                                   const struct partition_scope *scope, struct partition_scan *scan);

/* What it reads through, for those who read the index of the same items. */
const struct view *partition_scan_view(const struct partition_scan *scan);

/* How many items the container has in that view, expired ones too; `counted` false: it is not known. */
enum status partition_scan_count(struct op *op, const struct partition_scan *scan, uint64_t *documents,
                                 bool *counted);

/* Whether there may be items that the transaction itself has written: no index knows their _ts yet. */
bool partition_scan_sees_own(const struct partition_scan *scan);

/* Where the numbers of its items lie, in order; others may lie there too. They live as long as the op. */
const struct number_span *partition_scan_spans(const struct partition_scan *scan, size_t *count);

/* Up to this number everything in scope was looked at, so that another scan may seek behind it; 0: nothing yet. */
uint64_t partition_scan_after(const struct partition_scan *scan);

/* Begins again behind that number; 0 is the beginning. */
void partition_scan_seek(struct partition_scan *scan, uint64_t after);

/* From here to the next seek: the items of these numbers that are there and in scope, in that order. */
void partition_scan_pick(struct partition_scan *scan, const uint64_t *number, size_t count);
enum status partition_scan_next(struct op *op, struct partition_scan *scan, struct record *item, bool *found);
void partition_scan_close(struct partition_scan *scan);
