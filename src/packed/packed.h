/*
 * src/packed/packed.h - index entries, packed: a delta in memory over sorted runs of pages.
 * New entries lie in the delta (packed/delta.h). A large delta is sealed and written as a run (packed/pack.c). Four
 * runs of one size are merged into one (packed/merge.c). A manifest says which runs there are. The caller that opens
 * the index brings the run space (packed/run_space.h) that keeps the bytes.
 *
 * An entry is a key of kind KEY_INDEX: bucket, term, number. The committer appends a group's entries before it writes
 * the group, so that a reader that sees a commit finds its entries here. Readers pass over entries of a later LSN
 * than theirs. Appended entries are exact: nobody adds an entry that is there, or removes one that is not.
 *
 * Promises
 * 1. A pin sees what it saw when it was taken, whatever is written out or merged meanwhile.
 * 2. A run that the manifest lists is there; a run that it does not list is removed. A crash at any moment loses only
 *    entries of LSNs above `settled`.
 * 3. Memory is bounded: two deltas, and filters and pages of runs up to their limits.
 * 4. A damaged page is ST_CORRUPT.
 *
 * Ownership. A cursor holds on to its pin by itself. The run space stays the caller's, and outlives it.
 * Threads. packed_append(), packed_committed() and packed_forget() are the committer's; the rest is anybody's.
 *     A cursor is used by one thread at a time.
 */
#pragma once
#include "packed/run_space.h"

struct packed;
struct packed_pin; /* what a snapshot holds on to */
struct packed_cursor;

struct packed_options {
    size_t delta_bytes;  /* it is sealed when it is larger */
    size_t filter_bytes; /* of all filters together; a run without one is looked into */
    size_t page_bytes;   /* of all pages that are kept unpacked */
    size_t merge_runs;   /* so many of one level become one of the next */
    bool threads;        /* false: writing out and merging happen in packed_committed(), for simulation */
    bool read_only;
};

/* What suits a store whose cache has that size; threads and read_only are false. */
struct packed_options packed_options_for(size_t cache_bytes);

enum status packed_open(struct op *op, struct run_space *space, const struct packed_options *options,
                        struct packed **opened);
void packed_close(struct packed *packed); /* before its space is */

struct packed_entry {
    struct slice key;
    bool present; /* false: it is removed */
};

/*
 * All entries of one commit, in one call; a commit without any may be told too, so that `settled` moves on. Waits
 * while too much is in memory only. ST_UNAVAILABLE: it cannot be written out; the group is to be given up.
 */
enum status packed_append(struct op *op, struct packed *packed, uint64_t bucket, uint64_t lsn,
                          const struct packed_entry *entry, size_t count);

/* The group was written: all entries that were appended and not forgotten are committed. */
void packed_committed(struct packed *packed);

/*
 * After a failed write: of this bucket nothing above the LSN was ever committed. When all buckets of the group were told of,
 * packed_committed(): nothing is written out before.
 */
void packed_forget(struct packed *packed, uint64_t bucket, uint64_t lsn);

/* The LSN up to which a bucket's entries are in runs: they need not be appended again after a start. */
enum status packed_settled(struct op *op, struct packed *packed, uint64_t bucket, uint64_t *lsn);

/* Taken around a snapshot of the store: pin, snapshot, and both again when packed_pin_is_current() says no. */
struct packed_pin *packed_pin(struct packed *packed);
bool packed_pin_is_current(struct packed *packed, const struct packed_pin *pin);
void packed_unpin(struct packed *packed, struct packed_pin *pin);

struct packed_walk {
    struct slice from, to; /* keys: [from, to), within one bucket and one path */
    uint64_t first, last;  /* numbers: [first, last] */
    uint64_t lsn;          /* entries of later commits are not seen */
    bool reverse;
};

struct packed_block {
    struct slice term; /* the key without bucket, kind and number; lives until the cursor's next call */
    const uint64_t *number;
    size_t count; /* 0: the end */
};

enum status packed_cursor_open(struct op *op, struct packed *packed, struct packed_pin *pin,
                               const struct packed_walk *walk, struct packed_cursor **cursor);
enum status packed_cursor_next(struct op *op, struct packed_cursor *cursor, struct packed_block *block);

/* Passes over everything before (term, number) in the walk's order; never goes back. */
enum status packed_cursor_seek(struct op *op, struct packed_cursor *cursor, struct slice term,
                               uint64_t number);
void packed_cursor_end(struct packed_cursor *cursor); /* NULL is welcome */

/* Entries in [from, to) as of the LSN: two lookups in each run, and what the deltas have of the range. */
enum status packed_count(struct op *op, struct packed *packed, struct packed_pin *pin, struct slice from,
                         struct slice to, uint64_t lsn, uint64_t *count);

/* The bucket is gone for good. */
enum status packed_drop(struct op *op, struct packed *packed, uint64_t bucket);

/* Writes out what is in memory only, for a clean close and for tests; waits until it is done. */
enum status packed_flush(struct op *op, struct packed *packed);

struct packed_stats {
    uint64_t memory_bytes; /* of entries in memory, filters and unpacked pages */
    uint64_t runs, run_bytes, merges;
};

void packed_stats(struct packed *packed, struct packed_stats *stats);
