/*
 * src/store/cache.h - values read lately, by key: what a point read finds without asking the backend.
 * Finding a key among those written lately costs RocksDB a search through memory that is seldom
 * near; here it costs a hash and a copy.
 *
 * A value in the cache is the latest one. The writer announces a change before it writes, and ends the change when
 * the write is visible. In between the key is neither found nor filled. A reader takes a ticket before it reads the
 * value that it will fill in, and a change makes all earlier tickets void. Documents of dropped buckets may stay
 * until others take their place, because nobody asks for them.
 *
 * Threads. Any. A lock is held for a copy, never over I/O, so loop threads may use it.
 */
#pragma once
#include "base/op.h"

struct cache;

struct cache *cache_open(size_t limit_bytes);
void cache_close(struct cache *cache); /* NULL is welcome */

/* Copies the value into the op's arena; false when it is not here. */
bool cache_find(struct cache *cache, struct op *op, struct slice key, struct slice *value);

/* The same of many: a value without data is not here. Sooner than one by one. */
void cache_find_many(struct cache *cache, struct op *op, const struct slice *keys, size_t count,
                     struct slice *values);

/* The caller takes a ticket before it reads the value from the store, and hands it to cache_fill() with the value. */
uint64_t cache_ticket(struct cache *cache, struct slice key);

void cache_fill(struct cache *cache, struct slice key, struct slice value, uint64_t ticket);

/* The same for those who ask for many: it is kept if it was asked for lately; from now on it was. */
void cache_fill_if_wanted(struct cache *cache, struct slice key, struct slice value, uint64_t ticket);

void cache_begin_change(struct cache *cache, struct slice key);
void cache_end_change(struct cache *cache, struct slice key);

/* How often a key was found, and how often not; approximately, while others ask. */
struct cache_stats {
    uint64_t hits, misses, bytes;
};
void cache_stats(struct cache *cache, struct cache_stats *stats);

/*
 * After a failed write: the cache forgets everything, and keeps nothing new until the committer knows what was
 * written. cache_pause() may be called several times; one cache_resume() ends it.
 */
void cache_pause(struct cache *cache);
void cache_resume(struct cache *cache);
