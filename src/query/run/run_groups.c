/*
 * src/query/run/run_groups.c - rows gathered: GROUP BY, aggregates, DISTINCT.
 * Groups come by value where ORDER BY says so, or where they are of one property. Otherwise many are given in the order
 * of their hashes, few in the order in which they appeared. Of many a page needs only the least, by hash or by value.
 * In each order the last one's place says where to go on.
 */
#include <assert.h>
#include <stdlib.h>

#include "query/run/run_private.h"

/* What few are. */
enum { FEW_GROUPS = 1000 };

enum arrangement { BY_HASH, BY_APPEARANCE, BY_VALUE };

struct gathering {
    struct fill *fill;
    struct groups groups;
    struct hashes seen; /* DISTINCT over groups */
    struct known_hashes known;
    enum arrangement order;
    struct group_order *keys; /* by which groups come, where that is by values of their own keys */
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
    struct group *group =
        groups_at(&gathering->groups, known_hash(cursor->eval.op, &gathering->known, value), &is_new);
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

/* ---- by value ---- */

static int sign_of(const struct select *select, size_t key)
{
    return key < select->order_count && select->order[key].descending ? -1 : 1;
}

static int by_value(const void *a, const void *b, void *context)
{
    const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;
    const struct select *select = context;
    int order = 0;

    for (size_t i = 0; order == 0 && i < fill_group_order(select); i++)
        order = sign_of(select, i) * value_compare(x->order[i], y->order[i]);
    return order ? order : hash_compare(x->hash, y->hash);
}

/* What ORDER BY says of the group; without one it is the group's own key. */
static enum status read_order(struct gathering *gathering, struct group *group)
{
    struct cursor *cursor = gathering->fill->cursor;
    struct eval *eval = &cursor->eval;
    const struct select *select = cursor->select;
    enum status st;

    group->order = group->key;
    if (select->order_count == 0)
        return ST_OK;
    TRY(fill_alloc(gathering->fill, select->order_count * sizeof(struct value), &group->order));
    groups_show(eval, group, select);
    for (size_t i = 0; i < select->order_count; i++)
        group->order[i] = eval_copy(eval, eval_plain(eval, eval_expr(eval, select->order[i].expr)));
    TRY(cursor_status(cursor));
out:
    return st;
}

static enum status sort_by_value(struct gathering *gathering)
{
    struct groups *groups = &gathering->groups;
    enum status st = ST_OK;

    for (size_t i = 0; i < groups->count; i++)
        TRY(read_order(gathering, groups->list[i]));
    if (groups->count > 1)
        qsort_r(groups->list, groups->count, sizeof(struct group *), by_value,
                (void *)gathering->fill->cursor->select);
out:
    return st;
}

/* Against the last group of the page before. Where the position is cut, what is alike as far as it goes comes again. */
static bool is_behind(const struct fill *fill, const struct group *group)
{
    const struct position *at = &fill->at;
    int order = 0;

    for (size_t i = 0; order == 0 && i < at->key_count; i++)
        order = sign_of(fill->cursor->select, i) * position_compare_key(at, i, group->order[i]);
    if (order == 0)
        return at->any_cut || hash_compare(group->hash, at->hash) > 0;
    return order > 0;
}

/* Where the page begins: behind the group that was the last, if it is still there. */
static size_t first_by_value(const struct gathering *gathering)
{
    const struct groups *groups = &gathering->groups;
    const struct fill *fill = gathering->fill;

    if (fill->first)
        return 0;
    for (size_t i = 0; i < groups->count; i++)
        if (hash_compare(groups->list[i]->hash, fill->at.hash) == 0)
            return i + 1;
    for (size_t i = 0; i < groups->count; i++)
        if (is_behind(fill, groups->list[i]))
            return i;
    return groups->count;
}

/* ---- in any order ---- */

/* Few groups come in the order in which they appeared, on every page; many in the order of their hashes. */
static enum arrangement order_of(const struct gathering *gathering)
{
    const struct fill *fill = gathering->fill;

    if (fill_group_order(fill->cursor->select) && (fill->first || fill->at.order == ORDER_SORTED))
        return BY_VALUE;
    if (!fill->first)
        return fill->at.order == ORDER_CREATION ? BY_APPEARANCE : BY_HASH;
    if (fill->nested || gathering->groups.count > FEW_GROUPS || gathering->groups.has_bound)
        return BY_HASH;
    return BY_APPEARANCE;
}

static enum status sort_groups(struct gathering *gathering)
{
    struct groups *groups = &gathering->groups;

    groups_sort(groups);
    gathering->order = order_of(gathering);
    if (gathering->order == BY_VALUE)
        return sort_by_value(gathering);
    if (gathering->order == BY_APPEARANCE && groups->count > 1)
        qsort(groups->list, groups->count, sizeof(struct group *), by_appearance);
    return ST_OK;
}

static bool was_given(const struct fill *fill, const struct group *group)
{
    if (fill->first || fill->at.order == ORDER_SORTED)
        return false;
    if (fill->at.order == ORDER_HASH)
        return hash_compare(group->hash, fill->at.hash) <= 0;
    if (group->counter != fill->at.number)
        return group->counter < fill->at.number;
    return group->index <= fill->at.index;
}

static void go_on_after(struct gathering *gathering, const struct group *last)
{
    struct fill *fill = gathering->fill;
    struct position next = { .order = ORDER_HASH, .hash = last->hash };

    if (gathering->order == BY_APPEARANCE)
        next = (struct position){ .order = ORDER_CREATION, .number = last->counter, .index = last->index };
    if (gathering->order == BY_VALUE) {
        next.order = ORDER_SORTED;
        next.key_count = fill_group_order(fill->cursor->select);
        memcpy(next.key, last->order, next.key_count * sizeof(struct value));
    }
    fill_goes_on(fill, &next);
}

static enum status give_groups(struct gathering *gathering)
{
    struct fill *fill = gathering->fill;
    struct groups *groups = &gathering->groups;
    bool given = true;
    enum status st = ST_OK;
    size_t i = gathering->order == BY_VALUE ? first_by_value(gathering) : 0;

    for (; i < groups->count && fill->at.take; i++) {
        const struct group *group = groups->list[i];

        if (!group->row.data || was_given(fill, group) || fill_skips(fill))
            continue;
        TRY(fill_give(fill, group->row, &given));
        if (!given)
            break;
    }
    if (fill->at.take && i && (i < groups->count || groups->has_bound))
        go_on_after(gathering, groups->list[i - 1]);
out:
    return st;
}

/* ---- no more than a page needs ---- */

/* Which of its keys a group is sorted by; false where it is by something else, such as an aggregate. */
static bool key_of(const struct select *select, const struct expr *order, size_t *key)
{
    if (!order->instead || order->instead->kind != EXPR_RESULT)
        return false;
    *key = (size_t)(order->instead->slot - select->group_slot);
    return *key < select->group_count;
}

/* The keys that groups come by; none: they come by hash, or by what is known only when a group is whole. */
static enum status find_keys(struct gathering *gathering)
{
    struct fill *fill = gathering->fill;
    const struct select *select = fill->cursor->select;
    size_t count = fill_group_order(select);
    enum status st;

    if (count == 0 || (!fill->first && fill->at.order != ORDER_SORTED))
        return ST_OK;
    TRY(fill_alloc(fill, count * sizeof(*gathering->keys), &gathering->keys));
    memset(gathering->keys, 0,
           count * sizeof(*gathering->keys)); /* without ORDER BY: the one that there is */
    for (size_t i = 0; i < select->order_count; i++) {
        gathering->keys[i].descending = select->order[i].descending;
        if (!key_of(select, select->order[i].expr, &gathering->keys[i].key))
            gathering->keys = NULL;
        if (!gathering->keys)
            break;
    }
out:
    return st;
}

/* How many groups this page needs; 0 when it must see them all. */
static size_t groups_wanted(const struct gathering *gathering)
{
    const struct fill *fill = gathering->fill;
    const struct select *select = fill->cursor->select;
    uint64_t wanted = fill->at.take < fill->limits->rows ? fill->at.take : fill->limits->rows;

    if (fill->at.order == ORDER_CREATION || (fill_group_order(select) && !gathering->keys && fill->first) ||
        (fill->at.order == ORDER_SORTED && (!gathering->keys || fill->at.any_cut)) ||
        (select->distinct && (select->group_count || select->aggregate_count)))
        return 0;
    if (wanted > UINT32_MAX - fill->at.skip)
        return 0;
    wanted += fill->at.skip;
    return fill->first && !gathering->keys && wanted < FEW_GROUPS ? FEW_GROUPS : (size_t)wanted;
}

/* Whether a page before this one has, or has passed over, the group of that key. */
static bool key_was_given(void *context, const struct value *key, struct hash128 hash)
{
    const struct gathering *gathering = context;
    const struct position *at = &gathering->fill->at;
    int order = 0;

    for (size_t i = 0; order == 0 && i < at->key_count; i++) {
        const struct group_order *by = &gathering->keys[i];

        order = (by->descending ? -1 : 1) * position_compare_key(at, i, key[by->key]);
    }
    return order ? order < 0 : hash_compare(hash, at->hash) <= 0;
}

static void keep_by_value(struct gathering *gathering)
{
    struct groups *groups = &gathering->groups;

    groups->order = gathering->keys;
    groups->order_count = fill_group_order(gathering->fill->cursor->select);
    groups->context = gathering;
    if (!gathering->fill->first)
        groups->was_given = key_was_given;
}

static enum status begin(struct gathering *gathering)
{
    struct fill *fill = gathering->fill;
    struct cursor *cursor = fill->cursor;
    struct groups *groups = &gathering->groups;
    enum status st;

    gathering->seen.memory = gathering->known.memory = &fill->page->memory;
    groups_init(&cursor->eval, groups, cursor->select, &fill->page->memory);
    groups->known = &gathering->known;
    TRY(find_keys(gathering));
    groups->keep = groups_wanted(gathering);
    groups->has_after = !fill->first && groups->keep && !gathering->keys;
    groups->after = fill->at.hash;
    if (gathering->keys && groups->keep)
        keep_by_value(gathering);
    TRY(cursor_status(cursor));
out:
    return st;
}

enum status run_groups(struct fill *fill)
{
    const struct select *select = fill->cursor->select;
    bool by_row = !select->group_count && !select->aggregate_count, ended;
    struct gathering gathering = { .fill = fill };
    enum status st;

    TRY(begin(&gathering));
    TRY(cursor_walk(fill->cursor, 0, by_row ? distinct_row : group_row, &gathering, &ended));
    TRY(sort_groups(&gathering));
    TRY(print_groups(&gathering));
    TRY(give_groups(&gathering));
out:
    return st;
}

enum status run_tallied(struct fill *fill, const struct tallied *tallied)
{
    struct gathering gathering = { .fill = fill };
    struct cursor *cursor = fill->cursor;
    const struct select *select = cursor->select;
    enum status st;

    assert(!select->group_count && select->aggregate_count == tallied->value_count);
    TRY(begin(&gathering));
    for (size_t i = 0; i < tallied->value_count; i++)
        aggregate_add(&cursor->eval, &gathering.groups.list[0]->state[i], select->aggregate[i]->builtin,
                      tallied->value[i].value, tallied->value[i].times);
    TRY(cursor_status(cursor));
    TRY(sort_groups(&gathering));
    TRY(print_groups(&gathering));
    TRY(give_groups(&gathering));
out:
    return st;
}
