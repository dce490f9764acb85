/*
 * src/source/narrow.h - a container's partition key as query/ knows it, and what a filter says of it.
 */
#pragma once
#include "partition/partition.h"
#include "query/plan.h"
#include "query/query.h"

/* Points into the container. */
struct query_key narrow_key(const struct container *container);

/*
 * Narrows the scope to the partition keys that the query's filter can match. No key that could match is lost. The
 * points lie in the op's arena.
 */
enum status narrow_scope(struct op *op, const struct container *container, const struct query *query,
                         struct partition_scope *scope);
