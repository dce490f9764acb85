/* src/packed/lookup.c - tables that are half empty at least, so that what is looked for is near its place. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "packed/lookup.h"

enum { PLACES_FIRST_LOG = 6 };

static size_t bytes_of(unsigned log)
{
    return sizeof(struct lookup_table) + sizeof(_Atomic(void *)) * ((size_t)1 << log);
}

static struct lookup_table *table_new(unsigned log, struct lookup_table *older)
{
    struct lookup_table *table = heap_allocate(bytes_of(log));

    assert(log > 0 && log < 64);
    table->older = older;
    table->shift = 64 - log;
    table->places = (size_t)1 << log;
    return table;
}

void lookup_init(struct lookup *lookup, uint64_t (*hash)(const void *thing))
{
    atomic_init(&lookup->table, table_new(PLACES_FIRST_LOG, NULL));
    lookup->count = 0;
    lookup->hash = hash;
}

void lookup_free(struct lookup *lookup)
{
    for (struct lookup_table *table = lookup->table, *older; table; table = older) {
        older = table->older;
        free(table);
    }
}

static void put(const struct lookup *lookup, struct lookup_table *table, void *thing)
{
    size_t place = lookup->hash(thing) >> table->shift;

    while (atomic_load_explicit(&table->place[place], memory_order_relaxed))
        place = (place + 1) & (table->places - 1);
    atomic_store_explicit(&table->place[place], thing, memory_order_release);
}

/* Nobody sees it before everything is in it. */
static size_t grow(struct lookup *lookup)
{
    struct lookup_table *before = lookup->table;
    unsigned log = 64 - before->shift + 1;
    struct lookup_table *after = table_new(log, before);

    for (size_t i = 0; i < before->places; i++) {
        void *thing = atomic_load_explicit(&before->place[i], memory_order_relaxed);

        if (thing)
            put(lookup, after, thing);
    }
    atomic_store_explicit(&lookup->table, after, memory_order_release);
    return bytes_of(log);
}

size_t lookup_add(struct lookup *lookup, void *thing)
{
    struct lookup_table *table = lookup->table;
    size_t bytes = 0;

    assert(thing);
    if (2 * (lookup->count + 1) > table->places)
        bytes = grow(lookup);
    put(lookup, lookup->table, thing);
    lookup->count++;
    return bytes;
}
