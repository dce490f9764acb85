/* src/resource/heat.c - sketches of keys and ranges, in shards that threads share out among themselves. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/thread.h"
#include "catalog/ranges.h"
#include "resource/heat.h"

enum {
    SHARDS = 8,
    CACHE_LINE_BYTES = 64,
    SLOTS = 64,
    KEY_BYTES = RID_CONTAINER_BYTES + HEAT_KEY_BYTES,
    RANGE_BYTES = RID_CONTAINER_BYTES + sizeof(uint32_t),
    NOTED_ALL = 512,       /* of a shard, between two times that the notes are gathered */
    NOTED_ONE_OF = 16,     /* of the others */
    RANGES_NOTED_MAX = 64, /* of one request */
};

static const struct sketch_shape keys_shape = { .slots = SLOTS, .key_bytes = KEY_BYTES };
static const struct sketch_shape ranges_shape = { .slots = SLOTS, .key_bytes = RANGE_BYTES };

struct shard {
    _Alignas(CACHE_LINE_BYTES) atomic_uint seen; /* since the notes were gathered */
    pthread_mutex_t mutex;
    struct heat_sums sums;
};

struct heat {
    struct hash_seed seed;
    struct shard shard[SHARDS];
};

static struct heat_sums new_sums(struct hash_seed seed)
{
    return (struct heat_sums){ sketch_new(keys_shape, seed), sketch_new(ranges_shape, seed) };
}

struct heat_sums heat_sums_new(const struct heat *heat)
{
    return new_sums(heat->seed);
}

void heat_sums_free(struct heat_sums *sums)
{
    free(sums->keys);
    free(sums->ranges);
}

size_t heat_sums_bytes(void)
{
    return sketch_size(keys_shape) + sketch_size(ranges_shape);
}

size_t heat_bytes(void)
{
    return sizeof(struct heat) + SHARDS * heat_sums_bytes();
}

struct heat *heat_open(struct env *env)
{
    struct heat *heat = aligned_alloc(CACHE_LINE_BYTES, sizeof(*heat));

    if (!heat)
        return NULL;
    memset(heat, 0, sizeof(*heat));
    env_secret(env, &heat->seed, sizeof(heat->seed));
    for (size_t i = 0; i < SHARDS; i++) {
        pthread_mutex_init(&heat->shard[i].mutex, NULL);
        heat->shard[i].sums = new_sums(heat->seed);
    }
    return heat;
}

void heat_close(struct heat *heat)
{
    if (!heat)
        return;
    for (size_t i = 0; i < SHARDS; i++) {
        pthread_mutex_destroy(&heat->shard[i].mutex);
        heat_sums_free(&heat->shard[i].sums);
    }
    free(heat);
}

/* --- notes --- */

/* Threads take shards in turn, and each stays with its own. */
static struct shard *own_shard(struct heat *heat)
{
    return &heat->shard[thread_number() % SHARDS];
}

/* For how many requests this one stands; 0: it is not noted. */
static uint64_t stands_for(struct shard *shard)
{
    unsigned before = atomic_fetch_add_explicit(&shard->seen, 1, memory_order_relaxed);

    if (before < NOTED_ALL)
        return 1;
    return before % NOTED_ONE_OF == 0 ? NOTED_ONE_OF : 0;
}

/* Every name in the sketches begins with the container's rid. */
static void begin_name(struct buf *name, struct op *op, const struct container *container)
{
    assert(container->rid.size == RID_CONTAINER_BYTES);
    buf_init(name, &op->arena);
    buf_append(name, container->rid.bytes, RID_CONTAINER_BYTES);
}

static void print_key(struct buf *name, const struct partition_key *key)
{
    buf_byte(name, '[');
    for (size_t i = 0; i < key->count; i++) {
        if (i)
            buf_byte(name, ',');
        if (json_kind(key->component[i]) == JSON_UNDEFINED)
            buf_text(name, "{}"); /* as clients write it */
        else
            json_print(name, key->component[i]);
    }
    buf_byte(name, ']');
}

static void add_key(struct op *op, const struct call *call, const struct partition_key *key,
                    struct sketch *keys, uint64_t weight)
{
    struct buf name;

    begin_name(&name, op, call->container);
    print_key(&name, key);
    if (!name.failed)
        sketch_add(keys, buf_as_slice(&name), weight);
}

static void add_ranges(const struct call *call, struct range_ids ranges, struct sketch *sketch,
                       uint64_t weight)
{
    char name[RANGE_BYTES];

    memcpy(name, call->container->rid.bytes, RID_CONTAINER_BYTES);
    for (size_t i = 0; i < ranges.count && i < RANGES_NOTED_MAX; i++) {
        memcpy(name + RID_CONTAINER_BYTES, &ranges.id[i], sizeof(ranges.id[i]));
        sketch_add(sketch, slice_make(name, sizeof(name)), weight / ranges.count);
    }
}

/* `key` is NULL where there is none, and no ranges are none. */
static void note(struct op *op, const struct call *call, const struct partition_key *key,
                 struct range_ids ranges, uint64_t weight)
{
    struct shard *shard = own_shard(call->service->heat);
    struct arena_mark mark = arena_mark(&op->arena);

    if (pthread_mutex_trylock(&shard->mutex) != 0)
        return;
    if (key)
        add_key(op, call, key, shard->sums.keys, weight);
    add_ranges(call, ranges, shard->sums.ranges, weight);
    pthread_mutex_unlock(&shard->mutex);
    arena_rewind(&op->arena, mark);
}

/* In hundredths of request units; 0: this one is not noted. */
static uint64_t weigh(const struct call *call, double charge)
{
    if (!call->service->heat || !call->container)
        return 0;
    return stands_for(own_shard(call->service->heat)) * (uint64_t)(charge * 100 + 0.5);
}

void heat_note(struct op *op, const struct call *call, const struct reply *reply, double charge)
{
    uint64_t weight = weigh(call, charge);
    struct range_ids ranges = { 0 };
    struct partition_key key;
    bool has_key;

    if (!weight)
        return;
    if (reply->about.of_items)
        ranges = reply->about.ranges;
    if (partition_key_read(op, call->container, call_header(call, HEADER_PARTITION_KEY), KEY_OF_QUERY, &key,
                           &has_key) != ST_OK)
        has_key = false; /* its client was told so */
    note(op, call, has_key ? &key : NULL, ranges, weight);
}

void heat_note_key(struct op *op, const struct call *call, const struct placed_key *key, double charge)
{
    uint64_t weight = weigh(call, charge);

    if (weight)
        note(op, call, &key->values, (struct range_ids){ 0 }, weight);
}

void heat_note_place(struct op *op, const struct call *call, const struct placed_key *key, double charge)
{
    uint64_t weight = weigh(call, charge);

    if (weight)
        note(op, call, &key->values, ranges_of_prefix(call->container, &key->epk), weight);
}

/* --- sums --- */

void heat_gather(struct heat *heat, struct heat_sums *sums)
{
    for (size_t i = 0; i < SHARDS; i++) {
        struct shard *shard = &heat->shard[i];

        pthread_mutex_lock(&shard->mutex);
        sketch_join(sums->keys, shard->sums.keys);
        sketch_join(sums->ranges, shard->sums.ranges);
        sketch_clear(shard->sums.keys);
        sketch_clear(shard->sums.ranges);
        atomic_store_explicit(&shard->seen, 0, memory_order_relaxed);
        pthread_mutex_unlock(&shard->mutex);
    }
}

static struct heat_place container_of(const struct sketch_row *row)
{
    struct heat_place place = { .container.size = RID_CONTAINER_BYTES };

    assert(row->key.size >= RID_CONTAINER_BYTES); /* begin_name() */
    memcpy(place.container.bytes, row->key.data, RID_CONTAINER_BYTES);
    return place;
}

struct heat_place heat_key_of(const struct sketch_row *row)
{
    struct heat_place place = container_of(row);

    place.key = slice_after(row->key, RID_CONTAINER_BYTES);
    return place;
}

struct heat_place heat_range_of(const struct sketch_row *row)
{
    struct heat_place place = container_of(row);

    assert(row->key.size == RANGE_BYTES);
    memcpy(&place.range, row->key.data + RID_CONTAINER_BYTES, sizeof(place.range));
    return place;
}
