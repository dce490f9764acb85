/*
 * src/base/sketch.h - which keys come most often, and about how many different ones there are, in a memory that does not grow.
 *     struct sketch *sketch = sketch_new((struct sketch_shape){ .slots = 64, .key_bytes = 128 }, seed);
 *     sketch_add(sketch, key, 1);  ...  sketch_top(sketch, row, 10);  sketch_distinct(sketch);  free(sketch);
 * The heaviest keys are counted as "space-saving" does (Metwally and others, 2005): a key that has no slot takes that of the
 * lightest, and begins with its weight. Different keys are counted by HyperLogLog (Flajolet and others, 2007).
 * Keys are told apart by a hash with a seed that nobody outside knows, so nobody can make keys that look like one, or that
 * look like many. Two sketches with one seed can be joined, and one that was written can be read again with its seed.
 *
 * Ownership. A sketch is one block of sketch_size(), given back by free(), or memory of the caller's. Keys are copied.
 * Threads. None of it locks.
 *
 * Promises
 * 1. sketch_size() is all that it ever takes.
 * 2. Of a key with a slot: count - error <= what it weighs <= count. Of one without: it weighs no more than
 *    sketch_lightest(). error <= total / slots, joined or not.
 * 3. So a key that weighs more than total / slots has a slot.
 * 4. The number of different keys is right to 10 in 100 with near certainty (3.3 in 100 mostly).
 */
#pragma once
#include "base/buf.h"
#include "base/hash.h"
#include "base/slice.h"

enum { SKETCH_SLOTS_MAX = 4096, SKETCH_KEY_BYTES_MAX = 4096 };

struct sketch_shape {
    uint32_t slots;     /* 1 to SKETCH_SLOTS_MAX */
    uint32_t key_bytes; /* that are kept of a key; the rest of a longer one is only in its hash */
};

struct sketch;

/* All that a sketch of that shape takes. */
size_t sketch_size(struct sketch_shape shape);

/* In memory of the caller's, of sketch_size(), aligned as malloc() aligns. */
struct sketch *sketch_init(void *memory, struct sketch_shape shape, struct hash_seed seed);

/* The same on the heap. */
struct sketch *sketch_new(struct sketch_shape shape, struct hash_seed seed);

void sketch_clear(struct sketch *sketch);

/* A weight may be a number of times, of bytes, of hundredths of a request unit. 0 is a key that was seen, and no more. */
void sketch_add(struct sketch *sketch, struct slice key, uint64_t weight);

/* What the other was told, too. Both have the same shape and seed. */
void sketch_join(struct sketch *sketch, const struct sketch *other);

struct sketch_row {
    struct slice key;      /* as much of it as is kept, in the sketch */
    size_t size;           /* of the whole key */
    uint64_t count, error; /* promise 2 */
};

/* The heaviest, the heaviest first, `max` at most: how many there are. Until the sketch is changed. */
size_t sketch_top(const struct sketch *sketch, struct sketch_row *row, size_t max);

uint64_t sketch_total(const struct sketch *sketch); /* all weights */
uint64_t sketch_distinct(const struct sketch *sketch);
uint64_t sketch_lightest(const struct sketch *sketch); /* 0 while there are free slots */

/* As bytes, and back into a sketch of that shape and seed. False, and an empty sketch: these are no such bytes. */
void sketch_write(const struct sketch *sketch, struct buf *out);
bool sketch_read(struct sketch *sketch, struct slice bytes);
