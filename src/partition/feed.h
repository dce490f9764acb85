/*
 * src/partition/feed.h - what changed in a container, or in a part of it, in the order of its commits.
 *     partition_feed_open(op, container, &scope, mode, &feed);       or _open_together(): all parts
 *     partition_feed_after(&feed, lsn);                              or partition_feed_since(): a time
 *     while (partition_feed_next(op, &feed, &entry, &found) == ST_OK && found) ...
 *     partition_feed_close(&feed);                                   welcome on one that never opened
 * A feed reads the log, in one of two modes:
 *     FEED_LATEST  each item once, at its last change; items that are gone, or have expired, do not show
 *     FEED_ALL     every create, replace and delete, with the item before and after; from where the log is whole
 * The log does not hold the image after a change. That image is the old record in the item's next change, which
 * key_next leads to, or the item as it is now. So a block of the log costs three gets of many keys, however old it
 * is.
 *
 * Ownership. An entry's bytes live until the next call.
 * Threads. A feed is used by one thread, and waits on the store.
 */
#pragma once
#include "partition/scan.h"

enum feed_mode { FEED_LATEST, FEED_ALL };

struct feed_entry {
    struct change change;   /* without its old record */
    struct log_place place; /* where the log has it */
    struct record item;     /* after the change; of a delete nothing */
    struct record previous; /* FEED_ALL: before it, of a replace or a delete */
};

struct partition_feed {
    uint64_t head_lsn;    /* as of the view */
    uint64_t trimmed_lsn; /* FEED_ALL can read only what is above it */
    uint64_t lsn; /* looked at up to here before the last entry was given; head_lsn when none was found */
    bool paused;  /* it found nothing because it has looked long enough, though there is more */

    /* Private to feed.c. */
    const struct container *container;
    struct partition_scope scope;
    struct number_span span;
    enum feed_mode mode;
    struct view view;
    struct arena memory; /* of the block */
    size_t block_rows, block_rows_max;
    struct log_place from;
    struct feed_row *row;
    size_t row_count, at_row;
    uint64_t at_lsn; /* of the transaction whose changes are being given */
    bool more;       /* rows behind the block */
    int64_t until_ms;
    bool tired;
};

/* The scope lies in one part of the container (partition_scope_part): each has a log of its own. */
enum status partition_feed_open(struct op *op, const struct container *container,
                                const struct partition_scope *scope, enum feed_mode mode,
                                struct partition_feed *feed);

/* A feed for each part of the container, all zero to begin with, all as of one moment. All are to be closed, whatever it answers. */
enum status partition_feed_open_together(struct op *op, const struct container *container,
                                         const struct partition_scope *scope, enum feed_mode mode,
                                         struct partition_feed *feeds);

/* The caller wants about so many entries: the first block is no larger than that. */
void partition_feed_expect(struct partition_feed *feed, size_t entries);

/* Begins with the first change above that LSN; 0 is the beginning. */
void partition_feed_after(struct partition_feed *feed, uint64_t lsn);

/* Goes on in the middle of a transaction, behind the change at that place. */
void partition_feed_behind(struct partition_feed *feed, struct log_place place);

/* Begins with the first change that was committed after that time. */
enum status partition_feed_since(struct op *op, struct partition_feed *feed, int64_t ms);

/* ST_BAD_REQUEST: FEED_ALL lacks a version. An older program wrote it, and did not note which change ended it. */
enum status partition_feed_next(struct op *op, struct partition_feed *feed, struct feed_entry *entry,
                                bool *found);
void partition_feed_close(struct partition_feed *feed);
