/* src/query/plan/numbers.c - item numbers gathered from the index. */
#include <assert.h>

#include "index/set.h"
#include "query/plan/cost.h"
#include "query/plan/numbers.h"

enum {
    SPANS_WALKED = 8,   /* a scope of more is walked over as one, and the source leaves out what is between */
    SEEK_WHEN_LESS = 8, /* one side has so many times less: look for its numbers in the other */
};

struct gathering {
    struct planner *planner;
    struct arena *memory;
    uint64_t from; /* numbers below are not wanted */
    size_t room;
    struct numbers unused; /* memory of a set that is done with, for the next one */
};

/* ---- sorting ---- */

/* By bytes, the least first; a byte in which all numbers agree needs no pass. Those of one term mostly come in order. */
static bool sort(struct arena *memory, struct numbers *set)
{
    uint64_t *from = set->number, *to, *swap;
    uint64_t differ = 0;
    bool is_sorted = true;

    for (size_t i = 1; i < set->count; i++) {
        differ |= from[i] ^ from[0];
        is_sorted &= from[i - 1] <= from[i];
    }
    if (is_sorted)
        return true;
    to = set->spare ? set->spare : arena_try_alloc(memory, set->capacity * sizeof(*to));
    if (!to)
        return false;
    for (int shift = 0; shift < 64; shift += 8) {
        size_t place[257] = { 0 };

        if (!(differ >> shift & 0xff))
            continue;
        for (size_t i = 0; i < set->count; i++)
            place[(from[i] >> shift & 0xff) + 1]++;
        for (int i = 0; i < 256; i++)
            place[i + 1] += place[i];
        for (size_t i = 0; i < set->count; i++)
            to[place[from[i] >> shift & 0xff]++] = from[i];
        swap = from;
        from = to;
        to = swap;
    }
    set->number = from;
    set->spare = to;
    return true;
}

static void drop_repeated(struct numbers *set)
{
    size_t kept = 0;

    for (size_t i = 0; i < set->count; i++)
        if (kept == 0 || set->number[i] != set->number[kept - 1])
            set->number[kept++] = set->number[i];
    set->count = kept;
}

/* No more than there is room for: the set then ends behind the last of them. */
static void cut(struct numbers *set, size_t room)
{
    while (set->count && set->number[set->count - 1] >= set->end)
        set->count--;
    if (set->count <= room)
        return;
    set->count = room;
    set->end = set->number[room - 1] + 1;
}

static bool tidy(struct arena *memory, struct numbers *set, size_t room)
{
    if (!sort(memory, set))
        return false;
    drop_repeated(set);
    cut(set, room);
    return true;
}

/* ---- ranges ---- */

static bool grow(struct arena *memory, struct numbers *set, size_t wanted)
{
    if (!arena_list_grow(memory, &set->number, &set->capacity, wanted, sizeof(*set->number)))
        return false;
    set->spare = NULL; /* it has become too short */
    return true;
}

/* Adds those that lie below the set's end; what is too much is let go, the greatest first. */
static bool add(struct gathering *gathering, struct numbers *set, const uint64_t *number, size_t count)
{
    if (set->count + count > set->capacity && !grow(gathering->memory, set, set->count + count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (number[i] < set->end)
            set->number[set->count++] = number[i];
    return set->count < 4 * gathering->room || tidy(gathering->memory, set, gathering->room);
}

static enum status walk_range(struct gathering *gathering, const struct access *access,
                              struct query_span span, struct numbers *set)
{
    struct op *op = gathering->planner->op;
    struct index_walk walk = { access->from, access->to, span.from, span.to - 1, false };
    struct index_cursor *cursor = NULL;
    struct index_block block;
    size_t added = 0;
    enum status st;

    TRY(index_cursor_open(op, gathering->planner->index->view, &walk, &cursor));
    for (;;) {
        TRY(index_cursor_next(op, cursor, &block));
        TRY(op_spend(op, 1 + block.count / ENTRIES_OF_A_STEP));
        if (block.count == 0)
            break;
        if (!add(gathering, set, block.number, block.count))
            TRY(op_fail_as(op, ST_QUERY_MEMORY));
        added += block.count;
        if (access->one_term && added > gathering->room) { /* the others come behind */
            if (block.number[block.count - 1] < set->end)
                set->end = block.number[block.count - 1] + 1;
            break;
        }
    }
out:
    index_cursor_close(cursor);
    return st;
}

/* The part of a span that is wanted still; false when there is none. */
static bool span_from(struct query_span *span, uint64_t from, uint64_t end)
{
    if (span->from < from)
        span->from = from;
    if (span->to > end)
        span->to = end;
    return span->from < span->to;
}

/* An empty set, in memory that another has left. */
static struct numbers begin(struct gathering *gathering, uint64_t end)
{
    struct numbers set = gathering->unused;

    gathering->unused = (struct numbers){ 0 };
    set.count = 0;
    set.end = end;
    return set;
}

/* Adds a range's numbers, in whatever order they come. */
static enum status add_range(struct gathering *gathering, const struct access *access, struct numbers *set)
{
    const struct query_index *index = gathering->planner->index;
    size_t count = index->span_count;
    enum status st = ST_OK;

    for (size_t i = 0; i < count; i++) {
        struct query_span span = index->span[i];

        if (count > SPANS_WALKED) {
            span.to = index->span[count - 1].to;
            i = count;
        }
        if (span_from(&span, gathering->from, set->end))
            TRY(walk_range(gathering, access, span, set));
    }
out:
    return st;
}

static enum status finish(struct gathering *gathering, struct numbers *set)
{
    if (tidy(gathering->memory, set, gathering->room))
        return ST_OK;
    return op_fail_as(gathering->planner->op, ST_QUERY_MEMORY);
}

static enum status gather_range(struct gathering *gathering, const struct access *access, uint64_t end,
                                struct numbers *set)
{
    enum status st;

    *set = begin(gathering, end);
    TRY(add_range(gathering, access, set));
    TRY(finish(gathering, set));
out:
    return st;
}

/* ---- AND, OR ---- */

static enum status gather(struct gathering *gathering, const struct access *access, uint64_t end,
                          struct numbers *set);

static void meet(struct numbers *a, const struct numbers *b)
{
    size_t kept = 0, k = 0;

    for (size_t i = 0; i < a->count && k < b->count; i++) {
        while (k < b->count && b->number[k] < a->number[i])
            k++;
        if (k < b->count && b->number[k] == a->number[i])
            a->number[kept++] = a->number[i];
    }
    a->count = kept;
    if (b->end < a->end)
        a->end = b->end;
}

/* Those of the set that the term has, each looked for where it must be. */
static enum status probe(struct gathering *gathering, const struct access *access, struct numbers *set)
{
    struct op *op = gathering->planner->op;
    struct index_walk walk = { access->from, access->to, set->number[0], set->number[set->count - 1], false };
    struct index_cursor *cursor = NULL;
    struct index_block block = { 0 };
    size_t kept = 0, at = 0;
    enum status st;

    assert(access->one_term); /* only then do its numbers come in order */
    TRY(index_cursor_open(op, gathering->planner->index->view, &walk, &cursor));
    TRY(index_cursor_next(op, cursor, &block));
    for (size_t i = 0; i < set->count && block.count;) {
        while (at < block.count && block.number[at] < set->number[i])
            at++;
        if (at == block.count) {
            TRY(index_cursor_seek(op, cursor, block.term, set->number[i]));
            TRY(index_cursor_next(op, cursor, &block));
            TRY(op_spend(op, 1 + block.count / ENTRIES_OF_A_STEP));
            at = 0;
            continue;
        }
        if (block.number[at] == set->number[i])
            set->number[kept++] = set->number[i];
        i++;
    }
    set->count = kept;
out:
    index_cursor_close(cursor);
    return st;
}

static enum status gather_and(struct gathering *gathering, const struct access *access, uint64_t end,
                              struct numbers *set)
{
    enum status st;

    assert(access->kid_used <= access->kid_count);
    TRY(gather(gathering, access->kid[0], end, set));
    for (size_t i = 1; i < access->kid_used && set->count; i++) {
        const struct access *kid = access->kid[i];
        struct numbers other;

        if (kid->kind == ACCESS_RANGE && kid->one_term && kid->entries / SEEK_WHEN_LESS > set->count) {
            TRY(probe(gathering, kid, set));
            continue;
        }
        TRY(gather(gathering, kid, set->end, &other));
        meet(set, &other);
        gathering->unused = other;
    }
out:
    return st;
}

/* What another set has, as far as both go. */
static enum status add_set(struct gathering *gathering, const struct numbers *more, struct numbers *set)
{
    if (more->end < set->end)
        set->end = more->end;
    if (add(gathering, set, more->number, more->count))
        return ST_OK;
    return op_fail_as(gathering->planner->op, ST_QUERY_MEMORY);
}

static enum status gather_or(struct gathering *gathering, const struct access *access, uint64_t end,
                             struct numbers *set)
{
    enum status st = ST_OK;

    *set = begin(gathering, end);
    for (size_t i = 0; i < access->kid_count; i++) {
        struct numbers more;

        if (access->kid[i]->kind == ACCESS_RANGE) {
            TRY(add_range(gathering, access->kid[i], set));
            continue;
        }
        TRY(gather(gathering, access->kid[i], set->end, &more));
        TRY(add_set(gathering, &more, set));
        gathering->unused = more;
    }
    TRY(finish(gathering, set));
out:
    return st;
}

static enum status gather(struct gathering *gathering, const struct access *access, uint64_t end,
                          struct numbers *set)
{
    switch (access->kind) {
    case ACCESS_RANGE:
        return gather_range(gathering, access, end, set);
    case ACCESS_AND:
        return gather_and(gathering, access, end, set);
    case ACCESS_OR:
        return gather_or(gathering, access, end, set);
    default:
        *set = (struct numbers){ .end = end };
        return ST_OK;
    }
}

enum status numbers_gather(struct planner *planner, struct arena *memory, const struct access *access,
                           uint64_t from, size_t room, struct numbers *numbers)
{
    struct gathering gathering = { planner, memory, from, room, { 0 } };

    assert(room > 0); /* without room no call would come further than the one before */
    return gather(&gathering, access, numbers_end, numbers);
}
