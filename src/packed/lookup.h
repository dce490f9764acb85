/*
 * src/packed/lookup.h - pointers by their hashes: one thread adds, and any number look, without a lock.
 * A place that is taken never changes, so whoever looks sees each thing or does not see it yet. A table that is full is
 * followed by one of twice the size; the old one stays as long as the lookup, because somebody may be looking there.
 *
 * Ownership. The things are the caller's; hashes are theirs to tell, and two may have the same.
 * Threads. One at a time calls lookup_add(), and nobody looks when lookup_free() is called.
 */
#pragma once
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct lookup_table {
    struct lookup_table *older;
    unsigned shift; /* a hash's first bits are its place */
    size_t places;
    _Atomic(void *) place[];
};

struct lookup {
    _Atomic(struct lookup_table *) table;
    size_t count;
    uint64_t (*hash)(const void *thing);
};

void lookup_init(struct lookup *lookup, uint64_t (*hash)(const void *thing));
void lookup_free(struct lookup *lookup);

/* How many bytes of memory it took. */
size_t lookup_add(struct lookup *lookup, void *thing);

/* Those that may have the hash, one after another, NULL at the end; `at` begins with lookup_begin(). */
struct lookup_at {
    const struct lookup_table *table;
    size_t place;
};

static inline struct lookup_at lookup_begin(const struct lookup *lookup, uint64_t hash)
{
    const struct lookup_table *table = atomic_load_explicit(&lookup->table, memory_order_acquire);

    return (struct lookup_at){ table, hash >> table->shift };
}

static inline void *lookup_next(struct lookup_at *at)
{
    void *thing = atomic_load_explicit(&at->table->place[at->place], memory_order_acquire);

    at->place = (at->place + 1) & (at->table->places - 1);
    return thing;
}
