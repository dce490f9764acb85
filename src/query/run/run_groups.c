/*
 * src/query/run/run_groups.c - rows gathered: GROUP BY, aggregates, DISTINCT.
 * Many groups are given in the order of their hashes, of which a page needs only the least; few in the
 * order in which they appeared. Either way the last one's place says where to go on.
 */
#include <stdlib.h>

#include "query/run/run_private.h"

/* What few are. */
enum { FEW_GROUPS = 1000 };

struct gathering {
    struct fill *fill;
    struct groups groups;
    struct hashes seen; /* DISTINCT over groups */
};

static bool group_row(struct eval *eval, void *context)
{
    struct gathering *gathering = context;
    struct cursor *cursor = gathering->fill->cursor;
    struct arena_mark mark = arena_mark(&eval->op->arena);

    cursor->index++;
    cursor->passed++;
    groups_add(eval, &gathering->groups, cursor->select, cursor->item.counter, cursor->index,
               cursor->item.weight);
    arena_rewind(&eval->op->arena, mark);
    return cursor_goes_on(cursor, ST_OK);
}

/* A row that differs from all before it, and what it looks like. */
static enum status keep_row(struct gathering *gathering, struct value value)
{
    struct fill *fill = gathering->fill;
    struct cursor *cursor = fill->cursor;
    bool is_new, defined = false;
    struct group *group = groups_at(&gathering->groups, value_hash(cursor->eval.op, value), &is_new);
    enum status st = ST_OK;

    if (gathering->groups.failed)
        return cursor_fail(cursor, ST_QUERY_MEMORY);
    if (!group || !(is_new || cursor->item.counter < group->counter))
        return ST_OK;
    group->counter = cursor->item.counter;
    group->index = cursor->index;
    if (is_new)
        TRY(fill_print(fill, &defined));
    if (defined)
        TRY(fill_copy(fill, buf_as_slice(&fill->text), &group->row));
out:
    return st;
}

/* DISTINCT: a group for each row that differs. Its place is that of the item that was made first. */
static bool distinct_row(struct eval *eval, void *context)
{
    struct gathering *gathering = context;
    struct cursor *cursor = gathering->fill->cursor;
    struct arena_mark mark = arena_mark(&eval->op->arena);
    struct value value;
    enum status st = ST_OK;

    cursor->index++;
    value = eval_plain(eval, rows_project(eval, cursor->select));
    if (value.kind != JSON_UNDEFINED)
        st = keep_row(gathering, value);
    arena_rewind(&eval->op->arena, mark);
    return cursor_goes_on(cursor, st);
}

/* What the select list makes of the group; no data when that is undefined, or was given before. */
static enum status print_group(struct gathering *gathering, struct group *group)
{
    struct fill *fill = gathering->fill;
    struct cursor *cursor = fill->cursor;
    struct eval *eval = &cursor->eval;
    int added = 1;
    bool defined;
    enum status st = ST_OK;

    if (group->row.data)
        return ST_OK;
    groups_show(eval, group, cursor->select);
    if (cursor->select->distinct)
        added = hashes_add(&gathering->seen,
                           value_hash(eval->op, eval_plain(eval, rows_project(eval, cursor->select))));
    if (added < 0)
        return cursor_fail(cursor, ST_QUERY_MEMORY);
    if (added == 0)
        return cursor_status(cursor);
    TRY(fill_print(fill, &defined));
    if (defined)
        TRY(fill_copy(fill, buf_as_slice(&fill->text), &group->row));
out:
    return st;
}

static enum status print_groups(struct gathering *gathering)
{
    struct arena *memory = &gathering->fill->cursor->eval.op->arena;
    enum status st = ST_OK;

    for (size_t i = 0; i < gathering->groups.count && st == ST_OK; i++) {
        struct arena_mark mark = arena_mark(memory);

        st = print_group(gathering, gathering->groups.list[i]);
        arena_rewind(memory, mark);
    }
    return st;
}

static int by_appearance(const void *a, const void *b)
{
    const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;

    if (x->counter != y->counter)
        return x->counter < y->counter ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Few groups come in the order in which they appeared, on every page; many in the order of their hashes. */
static bool by_creation(const struct gathering *gathering)
{
    const struct fill *fill = gathering->fill;

    if (!fill->first)
        return fill->at.order == ORDER_CREATION;
    return !fill->nested && gathering->groups.count <= FEW_GROUPS && !gathering->groups.has_bound;
}

static bool was_given(const struct fill *fill, const struct group *group)
{
    if (fill->first)
        return false;
    if (fill->at.order == ORDER_HASH)
        return hash_compare(group->hash, fill->at.hash) <= 0;
    if (group->counter != fill->at.number)
        return group->counter < fill->at.number;
    return group->index <= fill->at.index;
}

static void go_on_after(struct fill *fill, const struct group *last, bool creation)
{
    struct position next = { .order = ORDER_HASH, .hash = last->hash };

    if (creation)
        next = (struct position){ .order = ORDER_CREATION, .number = last->counter, .index = last->index };
    fill_goes_on(fill, &next);
}

static enum status give_groups(struct gathering *gathering, bool creation)
{
    struct fill *fill = gathering->fill;
    struct groups *groups = &gathering->groups;
    bool given = true;
    enum status st = ST_OK;
    size_t i;

    for (i = 0; i < groups->count && fill->at.take; i++) {
        const struct group *group = groups->list[i];

        if (!group->row.data || was_given(fill, group) || fill_skips(fill))
            continue;
        TRY(fill_give(fill, group->row, &given));
        if (!given)
            break;
    }
    if (fill->at.take && i && (i < groups->count || groups->has_bound))
        go_on_after(fill, groups->list[i - 1], creation);
out:
    return st;
}

/* How many groups this page needs; 0 when it must see them all. */
static size_t groups_wanted(const struct fill *fill)
{
    const struct select *select = fill->cursor->select;
    uint64_t wanted = fill->at.take < fill->limits->rows ? fill->at.take : fill->limits->rows;

    if (fill->at.order == ORDER_CREATION ||
        (select->distinct && (select->group_count || select->aggregate_count)))
        return 0;
    if (wanted > UINT32_MAX - fill->at.skip)
        return 0;
    wanted += fill->at.skip;
    return fill->first && wanted < FEW_GROUPS ? FEW_GROUPS : (size_t)wanted;
}

static enum status begin(struct gathering *gathering)
{
    struct fill *fill = gathering->fill;
    struct cursor *cursor = fill->cursor;

    gathering->seen.memory = &fill->page->memory;
    groups_init(&cursor->eval, &gathering->groups, cursor->select, &fill->page->memory);
    gathering->groups.keep = groups_wanted(fill);
    gathering->groups.has_after = !fill->first && gathering->groups.keep;
    gathering->groups.after = fill->at.hash;
    return cursor_status(cursor);
}

enum status run_groups(struct fill *fill)
{
    const struct select *select = fill->cursor->select;
    bool by_row = !select->group_count && !select->aggregate_count, ended, creation;
    struct gathering gathering = { .fill = fill };
    enum status st;

    TRY(begin(&gathering));
    TRY(cursor_walk(fill->cursor, 0, by_row ? distinct_row : group_row, &gathering, &ended));
    groups_sort(&gathering.groups);
    creation = by_creation(&gathering);
    if (creation && gathering.groups.count > 1)
        qsort(gathering.groups.list, gathering.groups.count, sizeof(struct group *), by_appearance);
    TRY(print_groups(&gathering));
    TRY(give_groups(&gathering, creation));
out:
    return st;
}
