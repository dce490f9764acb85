/*
 * src/json/names.h - the names of the objects being parsed, so that one that repeats is found.
 * The objects that are open form a stack, and so do their names. An object with few names
 * compares them one by one, and only when a 64-bit filter has seen something like them; one
 * with many has a hash table.
 */
#pragma once
#include "json/format.h"

enum { NAMES_LOCAL = 128, NAMES_DIRECT_MAX = 16 };

struct name_entry {
    uint32_t hash;
    uint32_t name_at, value_at; /* places in the output; the value is the last one given */
};

struct names {
    struct arena *arena;
    struct name_entry *entries;
    size_t count, capacity;
    uint64_t secret; /* a client that could foresee hashes could make them collide */
    uint32_t *spare; /* the table of an object that has ended */
    size_t spare_size;
    struct name_entry local[NAMES_LOCAL];
};

/* One object's part of the stack. */
struct object_names {
    size_t first;
    uint64_t seen;   /* a bit for each hash met */
    uint32_t *table; /* entry numbers plus one, from `first`; NULL while there are few */
    size_t table_size;
    bool repeated;
};

void names_init(struct names *names, struct arena *arena);

static inline struct object_names names_begin(const struct names *names)
{
    return (struct object_names){ .first = names->count };
}

static inline size_t names_count(const struct names *names, const struct object_names *object)
{
    return names->count - object->first;
}

/*
 * The entry of the name that ends the output, an older one if the name repeats. At least 8
 * bytes behind the name can be read. NULL when the arena's limit was reached.
 */
struct name_entry *names_add(struct names *names, struct object_names *object, const uint8_t *output,
                             size_t name_at);

void names_end(struct names *names, struct object_names *object);
