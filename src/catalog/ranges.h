/*
 * src/catalog/ranges.h - a container's partition key ranges, which tile all effective partition keys.
 * A container is made with equal parts, whose ids are 0, 1, 2 and so on in the order of keys; split.h splits and
 * merges them later. All ranges share the container's data and its LSN: clients use them to divide their work.
 *
 * Callers speak of a range by its index in the container's table (catalog.h), clients by its id.
 */
#pragma once
#include "catalog/catalog.h"
#include "keys/record.h"
#include "token/token.h"

/* The version of a table whose ranges have never split or merged. */
enum { RANGES_FIRST_VERSION = 1 };

/*
 * How many ranges a container of that throughput has, when one range serves `each` units; 0: as many as on the
 * service.
 */
uint32_t ranges_for_throughput(uint64_t request_units, uint64_t each);

/* The table of a new container. */
void ranges_make_equal(struct arena *memory, enum epk_version version, uint32_t count, int64_t ts_ms,
                       struct range_table *table);

/*
 * Once ranges have split or merged, the container's stored definition holds the table, under a name that clients can
 * neither give nor see. ranges_read() takes it out of the definition. A container without a stored table has equal
 * parts, as many as its record says.
 */
struct json ranges_store(struct op *op, const struct range_table *table, struct json definition);
enum status ranges_read(struct op *op, struct container *container, const struct record *record);

/* The range's keys are [min, max); the first begins with the empty key and the last ends with FF. */
void range_bounds(const struct container *container, uint32_t index, struct epk *min, struct epk *max);

/* The index of the range that the key lies in. */
uint32_t range_of_key(const struct container *container, struct slice epk);

static inline uint32_t range_of_epk(const struct container *container, const struct epk *epk)
{
    return range_of_key(container, epk_slice(epk));
}

bool range_find(const struct range_table *table, uint64_t id, uint32_t *index);

/* The range of that index, by its id. */
struct range_ids range_at(const struct container *container, uint32_t index);

/*
 * The ranges of a key, or of all keys that begin with the first levels of a hierarchical key. An empty prefix gives
 * all ranges.
 */
struct range_ids ranges_of_prefix(const struct container *container, const struct epk *prefix);

struct range_ids ranges_all(const struct container *container);

/* Those of the ranges, which are neighbours, that lie in that part of the container; perhaps none. */
struct range_ids ranges_in_part(const struct container *container, struct range_ids ranges, uint32_t part);

/*
 * "1", or "<container rid>,1" as Java and .NET write it. ST_BAD_HEADER when it is no number,
 * ST_RANGE_GONE when the container has no such range, which makes clients read the ranges again.
 */
enum status range_parse(struct op *op, const struct container *container, struct slice header,
                        uint32_t *index);

/* ST_RANGE_GONE, in the service's words. */
enum status range_gone(struct op *op, const struct container *container, struct slice name);
