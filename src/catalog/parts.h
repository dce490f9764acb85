/*
 * src/catalog/parts.h - the buckets that a container's items lie in.
 * A bucket is what is committed at a time: it has its own LSNs, its own log, its own counter. A container of one bucket is bound
 * by the latency of its commits, which matters where a commit is a round trip to another machine. So a container may be made
 * with a bucket for each of its first ranges. How many it has is recorded with it, and never changes. All keys of a range lie in
 * one bucket, for ranges split and merge within it: what clients know of LSNs, they know of ranges.
 *
 * A part is a struct container itself, with a bucket, and is what partition/ works on. A part of a container lives as long as
 * the container does; taking and releasing a part takes and releases the container.
 */
#pragma once
#include "catalog/catalog.h"

/* The part that has this key, by its index and itself. Any part is its own. The beginning of a key leads where such keys are. */
uint32_t container_part_index(const struct container *container, struct slice epk);
const struct container *container_part_of(const struct container *container, struct slice epk);

/* The part that has the item of this number, if there is such an item. */
const struct container *container_part_at(const struct container *container, uint64_t number);

/* Whether keys from `min` on, below `max`, lie in one part; an empty `max` is no bound. */
bool container_is_one_part(const struct container *container, struct slice min, struct slice max);

/*
 * Numbers of items are never the same in two parts, so that a number names its part: of what a bucket counts, each part has
 * its own numbers. The first gives the next one, or COUNTER_NONE; the others say what the bucket has counted for it.
 */
uint64_t part_next_counter(const struct container *part);
uint64_t part_counted(const struct container *part, uint64_t counter);

/* A number below all of the part's, for a scan that has yet to begin with the part; 0: the first one. */
uint64_t part_before_all(const struct container *whole, uint32_t index);

/* For entry.c: makes the parts of a container, and hands what is in memory of the old ones to the new ones. */
void parts_make(struct container *container, struct bucket *const *buckets, uint32_t count);
void parts_share(const struct container *old, struct container *new);
