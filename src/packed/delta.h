/*
 * src/packed/delta.h - entries of the index that lie in memory only: as they came, path by path.
 * Appending sorts nothing: a path is sorted when somebody asks for it, and then only what is new of it
 * (packed/piece.h). An entry never moves, so that readers go on while the committer appends.
 *
 * Ownership. Counted: delta_hold(), delta_release(); the last one frees it.
 * Threads. One thread at a time calls delta_append(), delta_forget() and delta_drop(). A sealed delta, to which
 *     nothing is appended any more, may still be told to forget. All other calls are anybody's.
 */
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include "base/op.h"

struct delta;

enum { DELTA_CHUNKS_MAX = 28, PIECES_MAX = 32 };

/* The mark of an entry that belongs to no commit: its commit was lost, or its bucket dropped. */
#define DELTA_DEAD UINT64_MAX

struct delta_entry {
    const char *value; /* the term without its path */
    uint32_t value_bytes;
    uint64_t number;
    _Atomic uint64_t mark; /* LSN << 1, and 1 where it is added; or DELTA_DEAD */
};

/*
 * The entries of one path of one bucket, in the order in which they came. An item may have a path for each of many
 * names.
 */
struct delta_path {
    uint64_t bucket, path;
    struct delta_path *next_in_bucket;
    struct delta *delta;
    _Atomic uint32_t count; /* what readers may look at */
    _Atomic uint32_t dead;  /* how many of them are */
    struct delta_entry first;
    struct delta_entry **chunk;              /* from the second entry on */
    _Atomic(struct delta_sorted *) in_order; /* once somebody has asked for it */
};

/* The part of a path that was sorted so far. */
struct delta_sorted {
    pthread_mutex_t sorting; /* held while somebody sorts: nobody else changes what follows */
    pthread_mutex_t mutex;   /* guards what follows, and is never held for long */
    struct piece *piece[PIECES_MAX];
    size_t piece_count;
    uint32_t entry_count; /* that are in pieces */
};

/* A bucket that has entries here, or whose LSN moved on without any. */
struct delta_bucket {
    uint64_t bucket;
    uint64_t lsn; /* the last one that was not forgotten */
    bool dropped;
    struct delta_bucket *next;
    _Atomic(struct delta_path *) paths; /* the newest first */
};

struct delta *delta_new(void);
struct delta *delta_hold(struct delta *delta);
void delta_release(struct delta *delta); /* NULL is welcome */

/* The bucket, which is made when it is new, has reached this LSN. */
struct delta_bucket *delta_reach(struct delta *delta, uint64_t bucket, uint64_t lsn);

struct delta_change {
    uint64_t path;
    struct slice value;
    uint64_t number;
    bool present;
};

void delta_append(struct delta *delta, struct delta_bucket *bucket, uint64_t lsn,
                  const struct delta_change *change);

/* Marks the bucket's entries above the LSN as dead. */
void delta_forget(struct delta *delta, uint64_t bucket, uint64_t lsn);
void delta_drop(struct delta *delta, uint64_t bucket);

/* Made when it is new. */
struct delta_sorted *delta_in_order(struct delta_path *path);

/* NULL when it has none. */
struct delta_path *delta_find(struct delta *delta, uint64_t bucket, uint64_t path);
struct delta_bucket *delta_buckets(struct delta *delta);

/*
 * All paths of a bucket, in no order: the first, and the one after another. Paths that come meanwhile are not among
 * them.
 */
struct delta_path *delta_next_path(struct delta *delta, uint64_t bucket, const struct delta_path *path);

uint64_t delta_bytes(const struct delta *delta);
uint64_t delta_entries(const struct delta *delta);         /* appended, dead ones too */
void delta_adds_bytes(struct delta *delta, int64_t bytes); /* of pieces */

/* The first chunk has entries 1 to 3, at their own indexes; each other as many as are before it. */
static inline unsigned delta_chunk_of(uint32_t index)
{
    return 30 - (unsigned)__builtin_clz(index | 3);
}

static inline uint32_t delta_chunk_begin(unsigned chunk)
{
    return chunk ? 2u << chunk : 0;
}

static inline struct delta_entry *delta_at(const struct delta_path *path, uint32_t index)
{
    unsigned chunk = delta_chunk_of(index);

    if (index == 0)
        return (struct delta_entry *)&path->first;
    return &path->chunk[chunk][index - delta_chunk_begin(chunk)];
}

static inline struct slice delta_value(const struct delta_entry *entry)
{
    return slice_make(entry->value, entry->value_bytes);
}

static inline bool delta_is_visible(uint64_t mark, uint64_t lsn)
{
    return mark != DELTA_DEAD && mark >> 1 <= lsn;
}
