/* src/catalog/ranges.c - which keys a range has, which range a key lies in. */
#include <assert.h>

#include "base/limits.h"
#include "catalog/ranges.h"

uint32_t ranges_for_throughput(uint64_t request_units, uint64_t each)
{
    uint64_t count;

    if (each == 0)
        each = RANGE_THROUGHPUT_MAX;
    count = request_units / each + (request_units % each != 0);
    if (count > CONTAINER_RANGES_MAX)
        return CONTAINER_RANGES_MAX;
    return count == 0 ? 1 : (uint32_t)count;
}

void ranges_make_equal(struct arena *memory, enum epk_version version, uint32_t count, int64_t ts_ms,
                       struct range_table *table)
{
    struct key_range *range = arena_alloc(memory, count * sizeof(*range));
    uint32_t *id = arena_alloc(memory, count * sizeof(*id));
    struct epk cut;

    assert(count > 0);
    for (uint32_t i = 0; i < count; i++) {
        cut.size = 0;
        if (i > 0)
            epk_cut(version, i, count, &cut);
        id[i] = i;
        range[i] = (struct key_range){
            .id = i,
            .min = arena_copy(memory, epk_slice(&cut)),
            .version = RANGES_FIRST_VERSION,
            .lsn = CONTAINER_FIRST_LSN,
            .ts_ms = ts_ms,
        };
    }
    *table = (struct range_table){
        .count = count, .next_id = count, .version = RANGES_FIRST_VERSION, .id = id, .range = range
    };
}

static void set_epk(struct epk *epk, struct slice bytes)
{
    assert(bytes.size <= sizeof(epk->bytes));
    epk->size = (uint16_t)bytes.size;
    memcpy(epk->bytes, bytes.data, bytes.size);
}

void range_bounds(const struct container *container, uint32_t index, struct epk *min, struct epk *max)
{
    const struct range_table *table = &container->ranges;

    assert(index < table->count);
    set_epk(min, table->range[index].min);
    set_epk(max,
            index + 1 < table->count ? table->range[index + 1].min : slice_of("\xff")); /* above every key */
}

uint32_t range_of_key(const struct container *container, struct slice epk)
{
    uint32_t low = 0, high = container->ranges.count;

    assert(high > 0); /* ranges tile all keys: each lies in one */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (slice_compare(epk, container->ranges.range[middle].min) < 0)
            high = middle;
        else
            low = middle;
    }
    return low;
}

static struct range_ids neighbours(const struct container *container, uint32_t first, uint32_t count)
{
    assert(count > 0);
    assert(first + count <= container->ranges.count);
    return (struct range_ids){ container->ranges.id + first, count };
}

struct range_ids range_at(const struct container *container, uint32_t index)
{
    return neighbours(container, index, 1);
}

struct range_ids ranges_all(const struct container *container)
{
    return neighbours(container, 0, container->ranges.count);
}

static uint32_t first_of_part(const struct container *whole, uint32_t part)
{
    return part < whole->part_count ? range_of_key(whole, whole->part[part]->part_min) : whole->ranges.count;
}

struct range_ids ranges_in_part(const struct container *container, struct range_ids ranges, uint32_t part)
{
    const struct container *whole = container->whole;
    const uint32_t *from = whole->ranges.id + first_of_part(whole, part);
    const uint32_t *to = whole->ranges.id + first_of_part(whole, part + 1);

    if (from < ranges.id)
        from = ranges.id;
    if (to > ranges.id + ranges.count)
        to = ranges.id + ranges.count;
    return (struct range_ids){ from, to > from ? (uint32_t)(to - from) : 0 };
}

/* Whether the prefix stands for many keys: it is empty, or the first levels of a hierarchical key. */
static bool is_part(const struct container *container, const struct epk *prefix)
{
    size_t whole = EPK_LEVEL_BYTES * container->key_path_count;

    return prefix->size == 0 || (container->epk_version == EPK_MULTI && prefix->size < whole);
}

static bool begins_with(struct slice bytes, struct slice prefix)
{
    return bytes.size >= prefix.size && slice_equal(slice_make(bytes.data, prefix.size), prefix);
}

struct range_ids ranges_of_prefix(const struct container *container, const struct epk *prefix)
{
    const struct range_table *table = &container->ranges;
    uint32_t first = range_of_epk(container, prefix), end = first + 1;

    if (is_part(container, prefix))
        while (end < table->count && begins_with(table->range[end].min, epk_slice(prefix)))
            end++;
    return neighbours(container, first, end - first);
}

bool range_find(const struct range_table *table, uint64_t id, uint32_t *index)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (table->id[i] == id) {
            *index = i;
            return true;
        }
    return false;
}

enum status range_gone(struct op *op, const struct container *container, struct slice name)
{
    return op_fail(op, ST_RANGE_GONE, "PartitionKeyRange with id '%.*s' in collection '%.*s' doesn't exist.",
                   SLICE_ARGS(name), SLICE_ARGS(container->link));
}

enum status range_parse(struct op *op, const struct container *container, struct slice header,
                        uint32_t *index)
{
    struct slice name = slice_trim(header);
    const char *comma = name.size ? memchr(name.data, ',', name.size) : NULL;
    uint64_t number;

    if (comma)
        name = slice_after(name, (size_t)(comma - name.data) + 1);
    if (!slice_to_u64(name, &number))
        return op_fail(op, ST_BAD_HEADER,
                       "x-ms-documentdb-partitionkeyrangeid header contains invalid value '%.*s'.",
                       name.size > 100 ? 100 : (int)name.size, name.data);
    if (!range_find(&container->ranges, number, index))
        return range_gone(op, container, name);
    return ST_OK;
}
