/*
 * src/source/expired.c - which items may have expired, by the index.
 * An item expires by its time, which always has an entry, and by its `ttl`, which has one where the policy says so, or
 * else by the container's. So those with a ttl of their own are read from their entries first; then all that were written
 * longer ago than the shortest of all lives, each of which is compared with its own.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "index/set.h"
#include "source/expired.h"

/* What an item has of its own. */
struct life {
    uint64_t number;
    int32_t seconds; /* TTL_NEVER, too */
};

struct search {
    struct op *op;
    const struct item_index *index;
    struct arena memory;
    struct life *life; /* by number */
    size_t life_count, life_capacity;
    int32_t shortest; /* of all, the container's too; TTL_NEVER: nothing ever expires */
    size_t most;
    uint64_t *number; /* room for `most` */
    size_t count;
    bool is_told;
};

typedef void take_block(struct search *search, struct json value, const struct index_block *block);

/* The entries of a path of one member: [the path's first, `to`). */
static enum status walk_path(struct search *search, const char *name, struct slice to, take_block *take)
{
    struct op *op = search->op;
    struct index_step step = { .name = slice_of(name) };
    struct index_path path = { &step, 1 };
    uint8_t bytes[TERM_PATH_BYTES + TERM_TIME_BYTES];
    struct index_walk walk = { .from = slice_make(bytes, TERM_PATH_BYTES), .last = UINT64_MAX };
    struct index_cursor *cursor = NULL;
    struct index_block block;
    enum status st = ST_OK;

    search->is_told = search->index->base.has(&search->index->base, &path);
    if (!search->is_told)
        return ST_OK;
    term_put_path(bytes, index_path_id(search->index->base.policy, &path));
    walk.to = index_prefix_end(&op->arena, walk.from);
    if (to.size) {
        memcpy(bytes + TERM_PATH_BYTES, to.data, to.size);
        walk.to = arena_copy(&op->arena, slice_make(bytes, TERM_PATH_BYTES + to.size));
    }
    TRY(index_cursor_open(op, search->index->base.view, &walk, &cursor));
    while (search->is_told) {
        struct arena_mark mark;

        TRY(index_cursor_next(op, cursor, &block));
        if (block.count == 0)
            break;
        mark = arena_mark(&op->arena);
        take(search, ordered_decode(op, slice_after(block.term, TERM_PATH_BYTES)), &block);
        arena_rewind(&op->arena, mark);
        TRY(op_check(op));
    }
out:
    index_cursor_close(cursor);
    return st;
}

/* As an item's record has it: what is no time to live does not count. */
static int32_t seconds_of(const struct search *search, struct json ttl)
{
    double seconds = json_kind(ttl) == JSON_NUMBER ? json_double(ttl) : 0;

    if (seconds == TTL_NEVER || (seconds > 0 && seconds <= INT32_MAX))
        return (int32_t)seconds;
    return search->index->container->default_ttl;
}

static void take_lives(struct search *search, struct json ttl, const struct index_block *block)
{
    int32_t seconds = seconds_of(search, ttl);

    if (!arena_list_reserve(&search->memory, &search->life, &search->life_capacity,
                            search->life_count + block->count, sizeof(*search->life))) {
        search->is_told = false;
        return;
    }
    for (size_t i = 0; i < block->count; i++)
        search->life[search->life_count++] = (struct life){ block->number[i], seconds };
    if (seconds != TTL_NEVER && (search->shortest == TTL_NEVER || seconds < search->shortest))
        search->shortest = seconds;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = ((const struct life *)a)->number, y = ((const struct life *)b)->number;

    return x < y ? -1 : x > y;
}

static int32_t life_of(const struct search *search, uint64_t number)
{
    struct life wanted = { .number = number };
    const struct life *own = NULL;

    if (search->life_count)
        own = bsearch(&wanted, search->life, search->life_count, sizeof(wanted), by_number);
    return own ? own->seconds : search->index->container->default_ttl;
}

/* Entries have whole seconds, so that an item seems to end up to one too early. */
static void take_old(struct search *search, struct json ts, const struct index_block *block)
{
    int64_t written_s = json_kind(ts) == JSON_NUMBER ? (int64_t)json_double(ts) : 0;

    for (size_t i = 0; i < block->count && search->is_told; i++) {
        int32_t seconds = life_of(search, block->number[i]);

        if (seconds == TTL_NEVER || 1000 * (written_s + seconds) > search->op->now_ms)
            continue;
        search->is_told = search->count < search->most;
        if (search->is_told)
            search->number[search->count++] = block->number[i];
    }
}

static int by_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static enum status find(struct search *search)
{
    uint8_t time[TERM_TIME_BYTES];
    int64_t behind_ms;
    enum status st;

    TRY(walk_path(search, "ttl", slice_of(""), take_lives));
    if (!search->is_told || search->shortest == TTL_NEVER)
        goto out;
    if (search->life_count)
        qsort(search->life, search->life_count, sizeof(*search->life), by_number);
    behind_ms = search->op->now_ms - 1000 * (int64_t)search->shortest + 1000;
    if (behind_ms <= 0)
        goto out;
    TRY(walk_path(search, "_ts", slice_make(time, term_put_time(time, behind_ms, false)), take_old));
    if (search->count > 1)
        qsort(search->number, search->count, sizeof(*search->number), by_u64);
out:
    return st;
}

enum status expired_find(struct op *op, const struct item_index *index, size_t most, uint64_t **number,
                         size_t *count, bool *told)
{
    struct search search = {
        .op = op, .index = index, .most = most, .shortest = index->container->default_ttl, .is_told = true
    };
    uint64_t read = op->work.entries_read;
    enum status st = ST_OK;

    *count = 0;
    *told = true;
    if (!index->base.hides)
        return ST_OK;
    search.number = arena_try_alloc(&op->arena, (most + 1) * sizeof(*search.number));
    if (!search.number)
        return op_fail_as(op, ST_QUERY_MEMORY);
    op_arena(op, &search.memory, OP_MEMORY_BYTES_MAX);
    st = find(&search);
    arena_free(&search.memory);
    op->work.entries_read = read; /* as of all that statistics need */
    *number = search.number;
    *count = search.count;
    *told = search.is_told;
    return st;
}
