/*
 * client/resolver.h - what resolvers share inside the library.
 * Each of ours is made of the same calls as a user's (orrery_resolver_vtbl): nothing asks which kind one is.
 *
 * Ownership. What a resolver keeps lies in the arena of its `self`, which its destroy call frees.
 * Threads. A resolver does not change after it was made, but for spillover.c and manager_follow.c, which lock.
 */
#pragma once
#include <stdatomic.h>

#include "json/json.h"
#include "memory.h"
#include "orrery.h"

struct orrery_resolver {
    atomic_int references;
    orrery_resolver_vtbl calls;
    void *self;
};

struct orrery_links {
    struct arena arena;
    const char **link;
    size_t count, capacity;
};

struct orrery_held_key {
    struct arena arena;
    orrery_key key;
};

enum {
    RESOLVER_BYTES_MAX = 64 * 1024 * 1024, /* what one may keep: a ring of 1,000 collections has 9 MB */
    RESOLVER_LINKS_MAX = 10 * 1000,
    RESOLVER_ROWS_MAX = 1000 * 1000, /* ranges, or keys of a table */
    LINKS_BYTES_MAX = 16 * 1024 * 1024,
    HELD_KEY_BYTES_MAX = 4 * 1024 * 1024, /* an item has 2 MB at most, and a key is a part of one */
    KEY_DEPTH_MAX = 4,                    /* a kind's list of ranges of numbers */
    SCRATCH_BYTES_MAX = 64 * 1024 * 1024,
};

/* The memory of one call into json/; op_free() ends it. */
void scratch_init(struct op *op);

/*
 * Copies a struct that begins with its size into one as this library knows it. An older program's struct is
 * shorter: the rest is zero. False: it does not say its size.
 */
bool struct_take(void *to, size_t to_bytes, const void *from);

/* A link without slashes at its ends. */
struct slice link_trim(const char *link);
bool link_equal(const char *a, const char *b);

/* Whether it is "dbs/x/colls/y", as the Node SDK looks at it; whether it is "dbs/x". */
bool link_is_collection(const char *link);
bool link_is_database(const char *link);

orrery_status held_key_new(orrery_held_key **held);

/* The key that a value is; none, when it is undefined, an array or an object. Its text stays the value's. */
orrery_key key_of_value(struct json value);

/* A deep copy whose memory is the arena's. */
orrery_status key_copy(struct arena *arena, const orrery_key *key, orrery_key *copy);

/* Negative, zero or positive; both are ordered. Where their types differ, the types have an order too. */
int key_compare(const orrery_key *a, const orrery_key *b);

/* Whether null, boolean, number, time, text, GUID or a tuple of these: what has an order. */
bool key_is_ordered(const orrery_key *key);
bool key_is_absent(const orrery_key *key); /* NULL, none and null alike */
bool guid_is_valid(struct slice text);

/* The key as another type, as the .NET SDK converts it; false: it cannot be. Its text may be the arena's. */
bool key_convert(struct arena *arena, const orrery_key *from, orrery_key_type type, orrery_key *to);
void key_round(orrery_key *key); /* a number to an integer; of two as near, the even one */

/* As orrery_links_add(), but a link that is there is repeated. */
orrery_status links_repeat(orrery_links *links, const char *link);

/* Texts by UTF-16 units, as JavaScript and Java order them. */
int text_compare_utf16(struct slice a, struct slice b);

/* An extractor that the arena keeps. */
orrery_status extractor_copy(struct arena *arena, const orrery_extractor *extractor, orrery_extractor *copy);
orrery_status extractor_run(const orrery_extractor *extractor, orrery_value document, orrery_held_key *key);

/* "2015-05-01", "2015-05-01T10:30:00.5Z", "2015-05-01T10:30:00+02:00" to milliseconds since 1970. */
bool time_parse(struct slice text, int64_t *time_ms);

/* Into the caller's buffer: "2015-05-01T10:30:00.500Z". */
enum { TIME_TEXT_MAX = 40 };
size_t time_print(int64_t time_ms, char text[TIME_TEXT_MAX]);
