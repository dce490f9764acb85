/*
 * client/hash_ring.h - consistent hashing: links as points on a circle, and the point that a key belongs to.
 * The first point of a link is the digest of its text, each next one the digest of the one before. A key
 * belongs to the greatest point that is not above its own digest, and below all of them to the last.
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

struct ring {
    orrery_hash hash;
    struct ring_point *point;
    size_t count;
};

/* NULL when there is none of ours by that name. */
const orrery_hash *hash_by_name(struct slice name);

orrery_status ring_init(struct ring *ring, struct arena *arena, const orrery_hash *hash, int virtual_nodes,
                        const char *const *links, size_t count);

/* The number of the link that the key belongs to. */
orrery_status ring_find(const struct ring *ring, struct slice key, size_t *link);

/* What part of all keys a link has, between 0 and 1: by the first 8 bytes of the digests. */
double ring_share(const struct ring *ring, size_t link);
