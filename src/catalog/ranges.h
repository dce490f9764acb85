/*
 * src/catalog/ranges.h - a container's partition key ranges: equal parts of all effective partition keys.
 * Their number is fixed when the container is made; ids are 0, 1, 2 and so on, in the order of keys.
 * All of them share the container's data and its LSN: they are how clients divide the work.
 */
#pragma once
#include "catalog/catalog.h"
#include "token/token.h"

/* How many ranges a container made with that throughput has. Service: one for each 10,000 RU/s begun. */
uint32_t ranges_for_throughput(uint64_t request_units);

/* The range's keys are [min, max); the first begins with the empty key and the last ends with FF. */
void range_bounds(const struct container *container, uint32_t id, struct epk *min, struct epk *max);

/* Where a key lies, or every key that begins with this one. */
uint32_t range_of_epk(const struct container *container, const struct epk *epk);

/* The ranges that a key or a part of one can lie in: one, or all when it has no component. */
struct range_span ranges_of_prefix(const struct container *container, const struct epk *prefix);

static inline struct range_span ranges_all(const struct container *container)
{
    return (struct range_span){ 0, container->range_count };
}

/*
 * "1", or "<container rid>,1" as Java and .NET write it. ST_BAD_HEADER when it is no number,
 * ST_RANGE_GONE when the container has no such range, which makes clients read the ranges again.
 */
enum status range_parse(struct op *op, const struct container *container, struct slice header, uint32_t *id);
