/* src/catalog/parts.c - containers of one bucket and of several. */
#include <assert.h>

#include "catalog/parts.h"
#include "keys/keys.h"
#include "vector/columns.h"
#include "words/lists.h"

/* ---- which part ---- */

/* The last part that does not begin above the key. */
uint32_t container_part_index(const struct container *container, struct slice epk)
{
    uint32_t low = 0, high = container->part_count;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (slice_compare(container->part[middle]->part_min, epk) <= 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

const struct container *container_part_of(const struct container *container, struct slice epk)
{
    return container->part[container_part_index(container, epk)];
}

const struct container *container_part_at(const struct container *container, uint64_t number)
{
    return container->part[number_counter(number) % container->part_count];
}

bool container_is_one_part(const struct container *container, struct slice min, struct slice max)
{
    uint32_t first;

    if (container->part_count == 1)
        return true;
    first = container_part_index(container, min);
    return first + 1 == container->part_count ||
           (max.size && slice_compare(max, container->part[first + 1]->part_min) <= 0);
}

/* ---- numbers ---- */

uint64_t part_next_counter(const struct container *part)
{
    uint64_t counted = bucket_next_counter(part->bucket);

    return counted == COUNTER_NONE ? COUNTER_NONE : counted * part->whole->part_count + part->part_index;
}

uint64_t part_counted(const struct container *part, uint64_t counter)
{
    return counter == COUNTER_NONE ? COUNTER_NONE : counter / part->whole->part_count;
}

/* Buckets count from one. */
uint64_t part_before_all(const struct container *whole, uint32_t index)
{
    assert(index < whole->part_count);
    return number_make(0, index);
}

/* ---- all of them ---- */

uint64_t container_lsn(const struct container *container)
{
    uint64_t lsn = 0;

    for (uint32_t i = 0; i < container->part_count; i++) {
        uint64_t of_part = bucket_lsn(container->part[i]->bucket);

        lsn = lsn > of_part ? lsn : of_part;
    }
    return lsn;
}

bool container_is_at(const struct container *container, const uint64_t *lsn)
{
    for (uint32_t i = 0; i < container->part_count; i++)
        if (bucket_lsn(container->part[i]->bucket) != lsn[i])
            return false;
    return true;
}

enum status container_newest_lsn(struct op *op, const struct container *container, uint64_t *lsn)
{
    enum status st = ST_OK;

    *lsn = 0;
    for (uint32_t i = 0; i < container->part_count; i++) {
        uint64_t of_part;

        TRY(store_newest_lsn(op, container->part[i]->bucket, &of_part));
        *lsn = *lsn > of_part ? *lsn : of_part;
    }
out:
    return st;
}

bool container_usage(const struct container *container, struct bucket_usage *usage)
{
    struct bucket_usage of_part;

    *usage = (struct bucket_usage){ 0 };
    for (uint32_t i = 0; i < container->part_count; i++) {
        if (!bucket_usage(container->part[i]->bucket, &of_part))
            return false;
        usage->documents += of_part.documents;
        usage->bytes += of_part.bytes;
    }
    return true;
}

/* ---- making them ---- */

static void make_part(struct container *part, struct bucket *bucket)
{
    part->bucket = bucket;
    part->bucket_id = bucket_id(bucket);
    part->vectors = vector_shelf_new();
    part->words = word_shelf_new();
}

/* The first ranges were cut in the same places (ranges_make_equal). */
static struct slice first_key(struct container *container, uint32_t index, uint32_t count)
{
    struct epk cut = { 0 };

    if (index > 0)
        epk_cut(container->epk_version, index, count, &cut);
    return arena_copy(&container->memory, epk_slice(&cut));
}

void parts_make(struct container *container, struct bucket *const *buckets, uint32_t count)
{
    struct container **part = arena_alloc(&container->memory, count * sizeof(struct container *));

    assert(count > 0);
    assert(count == 1 || !container->system_key);
    part[0] = container;
    for (uint32_t i = 0; i < count && count > 1; i++) {
        part[i] = arena_alloc(&container->memory, sizeof(*part[i]));
        *part[i] = *container;
        part[i]->part = &part[i];
        part[i]->part_count = 1;
        part[i]->part_index = i;
        part[i]->part_min = first_key(container, i, count);
    }
    container->part = part;
    container->part_count = count;
    for (uint32_t i = 0; i < count; i++)
        make_part(part[i], buckets[i]);
}

void parts_share(const struct container *old, struct container *new)
{
    assert(old->part_count == new->part_count);
    for (uint32_t i = 0; i < new->part_count; i++) {
        struct container *part = new->part[i];

        vector_shelf_release(part->vectors);
        part->vectors = vector_shelf_take(old->part[i]->vectors);
        word_shelf_release(part->words);
        part->words = word_shelf_take(old->part[i]->words);
        part->shape = new->shape;
        part->meter = new->meter;
        part->edition = new->edition;
    }
}
