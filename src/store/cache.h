/*
 * src/store/cache.h - values read lately, by key: what a point read finds without asking the backend.
 * Finding a key among those written lately costs RocksDB a search through memory that is seldom
 * near; here it costs a hash and a copy.
 *
 * A value in the cache is the latest one. The writer announces a change before it writes and ends
 * it when the write is visible; in between the key is neither found nor filled. Who fills has
 * taken a ticket before reading, and a ticket from before a change is void. Documents of dropped buckets may stay until
 * others take their place: nobody asks for them.
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

/* To be taken before the value is read that cache_fill() brings. */
uint64_t cache_ticket(struct cache *cache, struct slice key);
void cache_fill(struct cache *cache, struct slice key, struct slice value, uint64_t ticket);

void cache_begin_change(struct cache *cache, struct slice key);
void cache_end_change(struct cache *cache, struct slice key);

/*
 * After a failed write: nothing that was read before counts any more, and nothing is kept until it is known what was written.
 * A pause may be told several times; one resume ends it.
 */
void cache_pause(struct cache *cache);
void cache_resume(struct cache *cache);
