/* src/query/eval/hashes.c - open addressing, at most half full. */
#include <assert.h>

#include "query/eval/hashes.h"

enum { CAPACITY_FIRST = 16 };

static struct hash128 *place_of(const struct hashes *hashes, struct hash128 hash)
{
    size_t i = hash.h1 & (hashes->capacity - 1);

    while (hashes->table[i].h1 | hashes->table[i].h2) {
        if (hashes->table[i].h1 == hash.h1 && hashes->table[i].h2 == hash.h2)
            break;
        i = (i + 1) & (hashes->capacity - 1);
    }
    return &hashes->table[i];
}

static bool grow(struct hashes *hashes)
{
    struct hashes old = *hashes;

    assert((old.capacity & (old.capacity - 1)) == 0); /* place_of() masks with it */
    hashes->capacity = old.capacity ? 2 * old.capacity : CAPACITY_FIRST;
    hashes->table = arena_try_alloc(old.memory, hashes->capacity * sizeof(*hashes->table));
    if (!hashes->table) {
        *hashes = old;
        return false;
    }
    memset(hashes->table, 0, hashes->capacity * sizeof(*hashes->table));
    for (size_t i = 0; i < old.capacity; i++)
        if (old.table[i].h1 | old.table[i].h2)
            *place_of(hashes, old.table[i]) = old.table[i];
    return true;
}

/* {0, 0} is taken. */
static struct hash128 never_empty(struct hash128 hash)
{
    hash.h2 |= (hash.h1 | hash.h2) == 0;
    return hash;
}

bool hashes_has(const struct hashes *hashes, struct hash128 hash)
{
    const struct hash128 *place = hashes->count ? place_of(hashes, never_empty(hash)) : NULL;

    return place && (place->h1 | place->h2);
}

int hashes_add(struct hashes *hashes, struct hash128 hash)
{
    struct hash128 *place;

    hash = never_empty(hash);
    if (hashes->count >= hashes->capacity / 2 && !grow(hashes))
        return -1;
    assert(hashes->count < hashes->capacity); /* a search ends at an empty place */
    place = place_of(hashes, hash);
    if (place->h1 | place->h2)
        return 0;
    *place = hash;
    hashes->count++;
    return 1;
}
