/*
 * src/main/copy_store.h - all of one store into another, of whichever kind: rows as they are, bucket by bucket, with the LSNs,
 * times and counters of their heads. It goes by the buckets and keys that the source has, and knows nothing of what they mean.
 *
 * A copy may be cut off anywhere, and is taken up again by the same calls. Until it is whole the target has a row that says so
 * (KEY_COPYING) and how far it has come: behind which key of which bucket. The row goes with every block of rows in one
 * write, and the head of a bucket with its last. So a bucket whose head is the source's is whole, unless the source has
 * changed since: then it is copied anew.
 *
 * Threads. One, which may wait. The target is nobody else's; the source is seen as of one moment.
 */
#pragma once
#include "store/store.h"

struct copy_progress {
    uint64_t buckets, buckets_done; /* of the source; done: also by an earlier call */
    uint64_t rows, bytes, entries;  /* put by this call, and put into runs */
};

typedef void copy_tell(const struct copy_progress *progress);

/* A store that is whole, and a snapshot of it that shows every bucket: everything is copied as of that moment. */
struct copy_source {
    struct store *store;
    struct snapshot *moment;
};

enum status copy_open(struct op *op, struct store *store, struct copy_source *source);
void copy_close(struct copy_source *source); /* welcome on one that never opened (all zero) */

/*
 * Everything; `entries_too`: also entries of the index, which the target will have as rows. ST_EXISTS: the target has data, and
 * is no copy that was cut off. ST_UNAVAILABLE: among others, a server uses the target. `tell` is called after every block.
 */
enum status copy_rows(struct op *op, const struct copy_source *from, struct store *to, bool entries_too,
                      copy_tell *tell, struct copy_progress *progress);

/*
 * Entries of a target that keeps them in runs, all of them, after everything else: first those that an earlier call has left
 * are forgotten, while the target is open without runs, then they are made, while it is open with them.
 */
enum status copy_forget_entries(struct op *op, struct store *to);
enum status copy_entries(struct op *op, const struct copy_source *from, struct store *to, copy_tell *tell,
                         struct copy_progress *progress);

/* It is whole from here on. */
enum status copy_end(struct op *op, struct store *to);

/* ST_UNAVAILABLE, and what to do, for a store that is half a copy. */
enum status copy_is_whole(struct op *op, struct store *store);
