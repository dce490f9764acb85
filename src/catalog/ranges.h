/*
 * src/catalog/ranges.h - a container's partition key ranges, which tile all effective partition keys.
 * A container is made with equal parts, whose ids are 0, 1, 2 and so on in the order of keys.
 * All of them share the container's data and its LSN: they are how clients divide the work.
 *
 * Callers speak of a range by its index in the container's table (catalog.h), clients by its id.
 */
#pragma once
#include "catalog/catalog.h"
#include "token/token.h"

/* How many ranges a container made with that throughput has. Service: one for each 10,000 RU/s begun. */
uint32_t ranges_for_throughput(uint64_t request_units);

/* The table of a new container. */
void ranges_make_equal(struct arena *memory, enum epk_version version, uint32_t count,
                       struct range_table *table);

/* The range's keys are [min, max); the first begins with the empty key and the last ends with FF. */
void range_bounds(const struct container *container, uint32_t index, struct epk *min, struct epk *max);

/* Where a key lies. */
uint32_t range_of_epk(const struct container *container, const struct epk *epk);

/* The range of that index, by its id. */
struct range_ids range_at(const struct container *container, uint32_t index);

/* The ranges that a key lies in, or keys that begin with a part of one: all when it has no component. */
struct range_ids ranges_of_prefix(const struct container *container, const struct epk *prefix);

struct range_ids ranges_all(const struct container *container);

/*
 * "1", or "<container rid>,1" as Java and .NET write it. ST_BAD_HEADER when it is no number,
 * ST_RANGE_GONE when the container has no such range, which makes clients read the ranges again.
 */
enum status range_parse(struct op *op, const struct container *container, struct slice header,
                        uint32_t *index);
