/*
 * client/hash_ring.h - consistent hashing: links as points on a circle, and the point that a key belongs to.
 * The first point of a link is the digest of its text, each next one the digest of the one before. A key
 * belongs to the greatest point that is not above its own digest, and below all of them to the last.
 * On the .NET SDK's ring the first point is the digest of the text's hash, 4 bytes, the last one weighing most. A key belongs
 * to the least point that is not below its own digest, and above all of them to the first.
 *
 * Ownership. A ring lies in the arena it was made in; it keeps the hash, not the links.
 */
#pragma once
#include "base/arena.h"
#include "base/slice.h"
#include "orrery.h"

enum { DIGEST_BYTES_MAX = 64, VIRTUAL_NODES_MAX = 1024 * 1024 };

struct ring_point {
    unsigned char digest[DIGEST_BYTES_MAX]; /* the byte that weighs most first; zeros behind */
    uint32_t link;
};

/* How a ring is made; seeds as orrery_hash_options has them. */
struct ring_shape {
    orrery_hash hash;
    orrery_ring kind;
    int virtual_nodes;
    const uint32_t *seeds;
};

struct ring {
    orrery_hash hash;
    bool is_net;
    struct ring_point *point;
    size_t count;
};

/* NULL when there is none of ours by that name. */
const orrery_hash *hash_by_name(struct slice name);

/* The hash and the number of virtual nodes as the options say, or as is usual for such a ring. */
orrery_status ring_shape_of(const orrery_hash_options *options, struct ring_shape *shape);
orrery_status ring_init(struct ring *ring, struct arena *arena, const struct ring_shape *shape,
                        const char *const *links, size_t count);

/* "net64", ...; the common ring has no name. And back: false for other texts. */
const char *ring_name(orrery_ring kind);
bool ring_of_name(struct slice name, orrery_ring *kind);

/* What String.GetHashCode() of .NET Framework says of a text. */
uint32_t net_text_hash(const char *text, orrery_ring kind);

/* The number of the link that the key belongs to. */
orrery_status ring_find(const struct ring *ring, struct slice key, size_t *link);

/* What part of all keys a link has, between 0 and 1: by the first 8 bytes of the digests. */
double ring_share(const struct ring *ring, size_t link);
