/* client/hash_ring.c - the ring: points in order, looked up by halves. */
#include <assert.h>
#include <stdlib.h>

#include "hash_ring.h"
#include "resolver.h"

enum { VIRTUAL_NODES_USUAL = 128 };

static void put_point(struct ring_point *point, const orrery_hash *hash, const unsigned char *digest)
{
    memset(point->digest, 0, sizeof(point->digest));
    for (size_t i = 0; i < hash->digest_bytes; i++)
        point->digest[i] = digest[hash->msb_first ? i : hash->digest_bytes - 1 - i];
}

/* Where two points are equal, the later link's comes last, and is the one that is found. */
static int by_digest(const void *a, const void *b)
{
    const struct ring_point *x = a, *y = b;
    int order = memcmp(x->digest, y->digest, sizeof(x->digest));

    return order ? order : (x->link > y->link) - (x->link < y->link);
}

/* What a link's first point is the digest of. */
static struct slice seed_of(const struct ring_shape *shape, const char *link, uint32_t number,
                            unsigned char bytes[4])
{
    uint32_t seed;

    if (shape->kind == ORRERY_RING_COMMON)
        return slice_of(link);
    seed = shape->kind == ORRERY_RING_NET_SEEDS ? shape->seeds[number] : net_text_hash(link, shape->kind);
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(seed >> (8 * i));
    return slice_make((const char *)bytes, 4);
}

static orrery_status put_link(struct ring *ring, const struct ring_shape *shape, const char *link,
                              uint32_t number)
{
    unsigned char chain[2][DIGEST_BYTES_MAX], bytes[4];
    struct slice seed = seed_of(shape, link, number, bytes);
    int virtual_nodes = shape->virtual_nodes;
    orrery_status status = ring->hash.hash(ring->hash.context, seed.data, seed.size, chain[0]);

    for (int i = 0; status == ORRERY_OK && i < virtual_nodes; i++) {
        struct ring_point *point = &ring->point[ring->count++];

        put_point(point, &ring->hash, chain[i % 2]);
        point->link = number;
        if (i + 1 < virtual_nodes)
            status = ring->hash.hash(ring->hash.context, chain[i % 2], ring->hash.digest_bytes,
                                     chain[(i + 1) % 2]);
    }
    return status;
}

static bool hash_is_valid(const orrery_hash *hash)
{
    return hash->size >= sizeof(*hash) && hash->hash && hash->digest_bytes > 0 &&
           hash->digest_bytes <= DIGEST_BYTES_MAX;
}

orrery_status ring_shape_of(const orrery_hash_options *options, struct ring_shape *shape)
{
    const orrery_hash *usual =
        options && options->ring != ORRERY_RING_COMMON ? &orrery_hash_md5 : &orrery_hash_murmur3;

    *shape = (struct ring_shape){ .kind = options ? options->ring : ORRERY_RING_COMMON,
                                  .virtual_nodes = options ? options->virtual_nodes : 0,
                                  .seeds = options ? options->seeds : NULL };
    if (!struct_take(&shape->hash, sizeof(shape->hash), options && options->hash ? options->hash : usual) ||
        (unsigned)shape->kind > ORRERY_RING_NET_SEEDS ||
        (shape->kind == ORRERY_RING_NET_SEEDS) != (shape->seeds != NULL))
        return ORRERY_EINVAL;
    if (shape->virtual_nodes == 0)
        shape->virtual_nodes = VIRTUAL_NODES_USUAL;
    if (shape->kind != ORRERY_RING_COMMON)
        shape->hash.msb_first = 1;
    return ORRERY_OK;
}

orrery_status ring_init(struct ring *ring, struct arena *arena, const struct ring_shape *shape,
                        const char *const *links, size_t count)
{
    if (!hash_is_valid(&shape->hash) || shape->virtual_nodes < 1 ||
        shape->virtual_nodes > VIRTUAL_NODES_MAX || count == 0 || count > VIRTUAL_NODES_MAX)
        return ORRERY_EINVAL;
    *ring = (struct ring){ .hash = shape->hash, .is_net = shape->kind != ORRERY_RING_COMMON };
    ring->point = memory_list(arena, count * (size_t)shape->virtual_nodes, sizeof(*ring->point));
    if (!ring->point)
        return ORRERY_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        orrery_status status = put_link(ring, shape, links[i], (uint32_t)i);

        if (status != ORRERY_OK)
            return status;
    }
    qsort(ring->point, ring->count, sizeof(*ring->point), by_digest);
    return ORRERY_OK;
}

orrery_status ring_find(const struct ring *ring, struct slice key, size_t *link)
{
    unsigned char digest[DIGEST_BYTES_MAX];
    struct ring_point wanted;
    size_t low = 0, high = ring->count;
    orrery_status status = ring->hash.hash(ring->hash.context, key.data, key.size, digest);

    if (status != ORRERY_OK)
        return status;
    assert(ring->count > 0); /* ring_init() refuses an empty one */
    put_point(&wanted, &ring->hash, digest);
    while (low < high) { /* ends at the first point above the key, or on a .NET ring not below it */
        size_t middle = low + (high - low) / 2;

        if (memcmp(ring->point[middle].digest, wanted.digest, sizeof(wanted.digest)) < (ring->is_net ? 0 : 1))
            low = middle + 1;
        else
            high = middle;
    }
    if (ring->is_net)
        *link = ring->point[low < ring->count ? low : 0].link;
    else
        *link = ring->point[low ? low - 1 : ring->count - 1].link;
    return ORRERY_OK;
}

/* A point's place on a circle of length 1. */
static double place(const struct ring *ring, size_t index)
{
    double sum = 0, weight = 1;

    for (size_t i = 0; i < ring->hash.digest_bytes && i < 8; i++) {
        weight /= 256;
        sum += ring->point[index].digest[i] * weight;
    }
    return sum;
}

double ring_share(const struct ring *ring, size_t link)
{
    double share = 0;
    size_t last = ring->count - 1;

    for (size_t i = 0; i < ring->count; i++)
        if (ring->point[i].link == link && ring->is_net) /* what lies between it and the point below */
            share += i > 0 ? place(ring, i) - place(ring, i - 1) : place(ring, 0) + 1 - place(ring, last);
        else if (ring->point[i].link == link)
            share += (i + 1 < ring->count ? place(ring, i + 1) : 1 + place(ring, 0)) - place(ring, i);
    return share;
}
