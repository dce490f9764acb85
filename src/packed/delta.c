/* src/packed/delta.c - paths and buckets by their names, over arrays that only grow. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "packed/delta.h"
#include "packed/lookup.h"
#include "packed/piece.h"

enum { BLOCK_BYTES = 64 * 1024, PATHS_FIRST = 16, PATHS_MAX = 512 };

/* Values lie in blocks, back to back. */
struct block {
    struct block *older;
    size_t used_bytes, size_bytes;
    char bytes[];
};

/* So do paths: an item may bring very many. */
struct path_block {
    struct path_block *older;
    size_t used, size;
    struct delta_path path[];
};

struct delta {
    atomic_uint refs;
    atomic_uint_least64_t bytes, entries;
    struct block *blocks; /* the committer's, as the next */
    struct path_block *path_blocks;

    struct lookup paths, buckets; /* the committer alone adds to them */
    struct delta_bucket *all_buckets;
};

static void *allocate(struct delta *delta, size_t bytes)
{
    void *memory = heap_allocate(bytes);

    delta_adds_bytes(delta, (int64_t)bytes);
    return memory;
}

void delta_adds_bytes(struct delta *delta, int64_t bytes)
{
    atomic_fetch_add_explicit(&delta->bytes, (uint64_t)bytes, memory_order_relaxed);
}

uint64_t delta_bytes(const struct delta *delta)
{
    return atomic_load_explicit(&delta->bytes, memory_order_relaxed);
}

uint64_t delta_entries(const struct delta *delta)
{
    return atomic_load_explicit(&delta->entries, memory_order_relaxed);
}

/* ---- names ---- */

/*
 * A batch brings its paths in their order, and so goes along the table, by its hashes' first bits, instead of to and fro in it.
 * Ids of paths are hashes (index/term.h); numbers of buckets are not, and become some.
 */
static uint64_t mixed(uint64_t bucket, uint64_t path)
{
    return bucket * 0x9e3779b97f4a7c15u ^ path;
}

static uint64_t hash_of_path(const void *thing)
{
    const struct delta_path *path = thing;

    return mixed(path->bucket, path->path);
}

static uint64_t hash_of_bucket(const void *thing)
{
    return mixed(((const struct delta_bucket *)thing)->bucket, 0);
}

struct delta_path *delta_find(struct delta *delta, uint64_t bucket, uint64_t id)
{
    struct lookup_at at = lookup_begin(&delta->paths, mixed(bucket, id));
    struct delta_path *path;

    do
        path = lookup_next(&at);
    while (path && (path->path != id || path->bucket != bucket));
    return path;
}

static struct delta_bucket *find_bucket(struct delta *delta, uint64_t id)
{
    struct lookup_at at = lookup_begin(&delta->buckets, mixed(id, 0));
    struct delta_bucket *bucket;

    do
        bucket = lookup_next(&at);
    while (bucket && bucket->bucket != id);
    return bucket;
}

struct delta_path *delta_next_path(struct delta *delta, uint64_t id, const struct delta_path *path)
{
    struct delta_bucket *bucket;

    if (path)
        return path->next_in_bucket; /* new ones go to the front */
    bucket = find_bucket(delta, id);
    return bucket ? atomic_load_explicit(&bucket->paths, memory_order_acquire) : NULL;
}

struct delta_bucket *delta_buckets(struct delta *delta)
{
    return delta->all_buckets;
}

/* ---- life ---- */

struct delta *delta_new(void)
{
    struct delta *delta = heap_allocate(sizeof(*delta)); /* what an empty one takes does not count */

    atomic_init(&delta->refs, 1);
    lookup_init(&delta->paths, hash_of_path);
    lookup_init(&delta->buckets, hash_of_bucket);
    return delta;
}

struct delta *delta_hold(struct delta *delta)
{
    unsigned before = atomic_fetch_add(&delta->refs, 1);

    assert(before > 0); /* whoever holds it once more has a reference, or the lock under which it cannot go */
    return delta;
}

static void free_sorted(struct delta_sorted *sorted)
{
    if (!sorted)
        return;
    for (size_t i = 0; i < sorted->piece_count; i++)
        piece_release(sorted->piece[i]);
    pthread_mutex_destroy(&sorted->sorting);
    pthread_mutex_destroy(&sorted->mutex);
    free(sorted);
}

static void free_path(struct delta_path *path)
{
    free_sorted(path->in_order);
    for (size_t i = 0; path->chunk && i < DELTA_CHUNKS_MAX; i++)
        free(path->chunk[i]);
    free(path->chunk);
}

static void free_paths(struct delta *delta)
{
    for (struct path_block *block = delta->path_blocks, *older; block; block = older) {
        older = block->older;
        for (size_t i = 0; i < block->used; i++)
            free_path(&block->path[i]);
        free(block);
    }
}

void delta_release(struct delta *delta)
{
    unsigned before;

    if (!delta)
        return;
    before = atomic_fetch_sub(&delta->refs, 1);
    assert(before > 0);
    if (before != 1)
        return;
    for (struct delta_bucket *bucket = delta->all_buckets, *next; bucket; bucket = next) {
        next = bucket->next;
        free(bucket);
    }
    free_paths(delta);
    for (struct block *block = delta->blocks, *older; block; block = older) {
        older = block->older;
        free(block);
    }
    lookup_free(&delta->paths);
    lookup_free(&delta->buckets);
    free(delta);
}

/* ---- new ones ---- */

static struct delta_path *allocate_path(struct delta *delta)
{
    struct path_block *block = delta->path_blocks;

    if (!block || block->used == block->size) {
        size_t size = !block ? PATHS_FIRST : block->size < PATHS_MAX ? 2 * block->size : PATHS_MAX;

        block = allocate(delta, sizeof(*block) + size * sizeof(block->path[0]));
        block->older = delta->path_blocks;
        block->size = size;
        delta->path_blocks = block;
    }
    return &block->path[block->used++];
}

static struct delta_path *add_path(struct delta *delta, struct delta_bucket *bucket, uint64_t id)
{
    struct delta_path *path = allocate_path(delta);

    assert(!bucket->dropped);
    path->bucket = bucket->bucket;
    path->path = id;
    path->delta = delta;
    path->next_in_bucket = atomic_load_explicit(&bucket->paths, memory_order_relaxed);
    atomic_store_explicit(&bucket->paths, path, memory_order_release);
    delta_adds_bytes(delta, (int64_t)lookup_add(&delta->paths, path));
    return path;
}

static struct delta_bucket *add_bucket(struct delta *delta, uint64_t id)
{
    struct delta_bucket *bucket = allocate(delta, sizeof(*bucket));

    bucket->bucket = id;
    bucket->next = delta->all_buckets;
    delta->all_buckets = bucket;
    delta_adds_bytes(delta, (int64_t)lookup_add(&delta->buckets, bucket));
    return bucket;
}

struct delta_bucket *delta_reach(struct delta *delta, uint64_t id, uint64_t lsn)
{
    struct delta_bucket *bucket = find_bucket(delta, id);

    if (!bucket)
        bucket = add_bucket(delta, id);
    assert(!bucket->dropped);   /* the committer refuses commits to a dropped bucket */
    assert(lsn >= bucket->lsn); /* LSNs only rise; those that were lost are forgotten first */
    bucket->lsn = lsn;
    return bucket;
}

struct delta_sorted *delta_in_order(struct delta_path *path)
{
    struct delta_sorted *added, *sorted = atomic_load_explicit(&path->in_order, memory_order_acquire);

    if (sorted)
        return sorted;
    added = allocate(path->delta, sizeof(*added));
    pthread_mutex_init(&added->sorting, NULL);
    pthread_mutex_init(&added->mutex, NULL);
    if (atomic_compare_exchange_strong(&path->in_order, &sorted, added))
        return added;
    assert(sorted); /* the exchange has found somebody else's */
    delta_adds_bytes(path->delta, -(int64_t)sizeof(*added));
    free_sorted(added); /* somebody was faster */
    return sorted;
}

/* ---- entries ---- */

static const char *keep_bytes(struct delta *delta, struct slice value)
{
    struct block *block = delta->blocks;
    char *at;

    if (!block || block->size_bytes - block->used_bytes < value.size) {
        size_t size = value.size > BLOCK_BYTES ? value.size : BLOCK_BYTES;

        block = heap_allocate_unset(sizeof(*block) + size);
        delta_adds_bytes(delta, (int64_t)(sizeof(*block) + size));
        *block = (struct block){ .older = delta->blocks, .size_bytes = size };
        delta->blocks = block;
    }
    at = block->bytes + block->used_bytes;
    if (value.size)
        memcpy(at, value.data, value.size);
    block->used_bytes += value.size;
    return at;
}

/* The entry's place, and room for it. Whoever looks at the count sees the chunk as well. */
static struct delta_entry *place_for(struct delta *delta, struct delta_path *path, uint32_t index)
{
    unsigned chunk = delta_chunk_of(index);
    uint32_t begin = delta_chunk_begin(chunk);

    assert(chunk < DELTA_CHUNKS_MAX);
    if (index && !path->chunk)
        path->chunk = allocate(delta, DELTA_CHUNKS_MAX * sizeof(*path->chunk));
    if (index && !path->chunk[chunk])
        path->chunk[chunk] = allocate(delta, (begin ? begin : 4) * sizeof(struct delta_entry));
    return delta_at(path, index);
}

void delta_append(struct delta *delta, struct delta_bucket *bucket, uint64_t lsn,
                  const struct delta_change *change)
{
    struct delta_path *path = delta_find(delta, bucket->bucket, change->path);
    struct delta_entry *entry;
    uint32_t count;

    if (!path)
        path = add_path(delta, bucket, change->path);
    count = atomic_load_explicit(&path->count, memory_order_relaxed);
    entry = place_for(delta, path, count);
    entry->value = keep_bytes(delta, change->value);
    entry->value_bytes = (uint32_t)change->value.size;
    entry->number = change->number;
    atomic_store_explicit(&entry->mark, lsn << 1 | change->present, memory_order_relaxed);
    atomic_store_explicit(&path->count, count + 1, memory_order_release);
    atomic_fetch_add_explicit(&delta->entries, 1, memory_order_relaxed);
}

/* LSNs rise along a path, but for dead ones: the first that stays ends the walk back. */
static void forget_path(struct delta_path *path, uint64_t lsn)
{
    for (uint32_t left = atomic_load(&path->count); left > 0; left--) {
        _Atomic uint64_t *mark = &delta_at(path, left - 1)->mark;

        if (delta_is_visible(atomic_load(mark), lsn))
            return;
        if (atomic_exchange(mark, DELTA_DEAD) != DELTA_DEAD)
            atomic_fetch_add(&path->dead, 1);
    }
}

void delta_forget(struct delta *delta, uint64_t id, uint64_t lsn)
{
    struct delta_bucket *bucket = find_bucket(delta, id);

    if (!bucket)
        return;
    if (bucket->lsn > lsn)
        bucket->lsn = lsn;
    for (struct delta_path *path = bucket->paths; path; path = path->next_in_bucket)
        forget_path(path, lsn);
}

void delta_drop(struct delta *delta, uint64_t id)
{
    struct delta_bucket *bucket = find_bucket(delta, id);

    if (!bucket)
        return;
    delta_forget(delta, id, 0);
    bucket->dropped = true;
}
