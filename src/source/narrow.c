/* src/source/narrow.c - a query's filter may name partition keys: then only those are read. */
#include <assert.h>

#include "source/narrow.h"

struct query_key narrow_key(const struct container *container)
{
    struct query_key key = { .version = container->epk_version,
                             .system = container->system_key,
                             .path_count = container->key_path_count };

    assert(key.path_count <= PARTITION_KEY_PATHS_MAX);
    for (size_t i = 0; i < key.path_count; i++) {
        key.path[i].segment = container->key_path[i].segment;
        key.path[i].count = container->key_path[i].count;
    }
    return key;
}

enum status narrow_scope(struct op *op, const struct container *container, const struct query *query,
                         struct partition_scope *scope)
{
    struct query_key key = narrow_key(container);
    struct query_ranges ranges;
    enum status st;

    assert(!scope->points);
    TRY(query_ranges(op, query_select(query), &key, &ranges));
    if (ranges.all)
        goto out;
    scope->points = ranges.point ? ranges.point : arena_alloc(&op->arena, sizeof(struct epk));
    scope->point_count = ranges.count;
out:
    return st;
}
