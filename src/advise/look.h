/*
 * src/advise/look.h - a look at a container: what its items are like, and how they spread over partition keys.
 * All items are read, as far as time allows, and counted by their keys. Of many items some, taken by chance, are looked at
 * member by member. Items are told apart by a discriminator, if they have one: a member such as "type".
 *
 * Ownership. What a look keeps lies in the arena that it was given. The container outlives it.
 * Threads. One thread, which waits on the store.
 */
#pragma once
#include "advise/tree.h"
#include "catalog/catalog.h"

enum { LOOK_TYPES_MAX = 24, LOOK_KEYS = 5, LOOK_LARGE = 3, LOOK_ITEMS_MAX = 40000 };

/* A partition key with many items. */
struct key_share {
    uint64_t items, bytes;
    struct slice id;    /* of one of its items */
    struct hash128 epk; /* by the look's seed: it stands for the key */
};

struct large_item {
    uint64_t bytes;
    struct slice id;
};

struct look {
    struct container *container;
    uint64_t items, bytes; /* read */
    uint64_t looked;       /* of them, looked at member by member */
    uint64_t expected;     /* as many as the container has, if that is known; 0 otherwise */
    bool whole;            /* all of them were read */
    struct slice discriminator;
    struct tree type[LOOK_TYPES_MAX];
    size_t type_count;
    uint64_t untyped; /* items of further types, which are not looked at */
    struct hash_seed seed;
    uint64_t keys;
    bool keys_counted;                       /* all keys of the items that were read */
    struct key_share largest_key[LOOK_KEYS]; /* the largest first, by items */
    uint64_t largest_key_bytes;
    struct large_item large[LOOK_LARGE]; /* the largest items, the largest first */
};

/* `until_ms` is on the monotonic clock; what is not read by then is not. ST_TOO_LARGE when the arena is full. */
enum status look_at(struct op *op, struct arena *arena, struct container *container, int64_t until_ms,
                    struct look *look);
