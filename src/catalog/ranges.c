/* src/catalog/ranges.c - which keys a range has, which range a key lies in. */
#include <assert.h>

#include "base/limits.h"
#include "catalog/ranges.h"

/* Service: what one physical partition can serve ("Partitioning and horizontal scaling in Azure Cosmos DB"). */
enum { RANGE_REQUEST_UNITS_MAX = 10000 };

uint32_t ranges_for_throughput(uint64_t request_units)
{
    uint64_t count = request_units / RANGE_REQUEST_UNITS_MAX + (request_units % RANGE_REQUEST_UNITS_MAX != 0);

    if (count > CONTAINER_RANGES_MAX)
        return CONTAINER_RANGES_MAX;
    return count == 0 ? 1 : (uint32_t)count;
}

void range_bounds(const struct container *container, uint32_t id, struct epk *min, struct epk *max)
{
    assert(id < container->range_count);
    min->size = 0;
    max->size = 1;
    max->bytes[0] = 0xff; /* above every key */
    if (id > 0)
        epk_cut(container->epk_version, id, container->range_count, min);
    if (id + 1 < container->range_count)
        epk_cut(container->epk_version, id + 1, container->range_count, max);
}

/* Bounds cut between first levels of a hierarchical key, so what begins alike lies in one range. */
uint32_t range_of_epk(const struct container *container, const struct epk *epk)
{
    uint32_t low = 0, high = container->range_count;
    struct epk cut;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        epk_cut(container->epk_version, middle, container->range_count, &cut);
        if (slice_compare(epk_slice(epk), epk_slice(&cut)) < 0)
            high = middle;
        else
            low = middle;
    }
    return low;
}

struct range_span ranges_of_prefix(const struct container *container, const struct epk *prefix)
{
    if (prefix->size == 0)
        return ranges_all(container);
    return (struct range_span){ range_of_epk(container, prefix), 1 };
}

enum status range_parse(struct op *op, const struct container *container, struct slice header, uint32_t *id)
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
    if (number >= container->range_count)
        return op_fail(op, ST_RANGE_GONE,
                       "PartitionKeyRange with id '%.*s' in collection '%.*s' doesn't exist.",
                       SLICE_ARGS(name), SLICE_ARGS(container->link));
    *id = (uint32_t)number;
    return ST_OK;
}
