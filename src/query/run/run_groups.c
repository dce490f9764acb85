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
    struct run *run;
    struct groups groups;
    struct hashes seen; /* DISTINCT over groups */
};

static bool group_row(struct eval *eval, void *context)
{
    struct gathering *gathering = context;
    struct run *run = gathering->run;
    struct arena_mark mark = arena_mark(&eval->op->arena);

    run->index++;
    run->passed++;
    groups_add(eval, &gathering->groups, run->select, run->item.counter, run->index, run->item.weight);
    arena_rewind(&eval->op->arena, mark);
    return eval->status == ST_OK;
}

/* DISTINCT: a group for each row that differs. Its place is that of the item that was made first. */
static bool distinct_row(struct eval *eval, void *context)
{
    struct gathering *gathering = context;
    struct run *run = gathering->run;
    struct arena_mark mark = arena_mark(&eval->op->arena);
    struct value value;
    struct group *group;
    bool is_new;

    run->index++;
    value = eval_plain(eval, rows_project(eval, run->select));
    if (value.kind == JSON_UNDEFINED)
        goto out;
    group = groups_at(&gathering->groups, value_hash(eval->op, value), &is_new);
    if (gathering->groups.failed)
        eval_fail(eval, ST_QUERY_MEMORY);
    if (!group || !(is_new || run->item.counter < group->counter))
        goto out;
    group->counter = run->item.counter;
    group->index = run->index;
    if (is_new && run_print(run))
        group->row = run_copy(run, slice_make(run->text.data, run->text.size));
out:
    arena_rewind(&eval->op->arena, mark);
    return eval->status == ST_OK;
}

/* What the select list makes of the group; no data when that is undefined, or was given before. */
static struct slice group_text(struct gathering *gathering, const struct group *group)
{
    struct run *run = gathering->run;
    struct eval *eval = &run->eval;
    int added = 1;

    if (group->row.data)
        return group->row;
    groups_show(eval, group, run->select);
    if (run->select->distinct)
        added = hashes_add(&gathering->seen,
                           value_hash(eval->op, eval_plain(eval, rows_project(eval, run->select))));
    if (added < 0)
        eval_fail(eval, ST_QUERY_MEMORY);
    if (added <= 0 || !run_print(run))
        return (struct slice){ 0 };
    return run_copy(run, slice_make(run->text.data, run->text.size));
}

static void print_groups(struct gathering *gathering)
{
    struct eval *eval = &gathering->run->eval;

    for (size_t i = 0; i < gathering->groups.count && eval->status == ST_OK; i++) {
        struct arena_mark mark = arena_mark(&eval->op->arena);
        struct group *group = gathering->groups.list[i];

        group->row = group_text(gathering, group);
        arena_rewind(&eval->op->arena, mark);
    }
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
    const struct run *run = gathering->run;

    if (!run->first)
        return run->at.order == ORDER_CREATION;
    return !run->nested && gathering->groups.count <= FEW_GROUPS && !gathering->groups.has_bound;
}

static bool was_given(const struct run *run, const struct group *group)
{
    if (run->first)
        return false;
    if (run->at.order == ORDER_HASH)
        return hash_compare(group->hash, run->at.hash) <= 0;
    if (group->counter != run->at.number)
        return group->counter < run->at.number;
    return group->index <= run->at.index;
}

static void go_on_after(struct run *run, const struct group *last, bool creation)
{
    struct position next = { .order = ORDER_HASH, .hash = last->hash };

    if (creation)
        next = (struct position){ .order = ORDER_CREATION, .number = last->counter, .index = last->index };
    run_goes_on(run, &next);
}

static void give_groups(struct gathering *gathering, bool creation)
{
    struct run *run = gathering->run;
    struct groups *groups = &gathering->groups;
    size_t i;

    for (i = 0; i < groups->count && run->at.take; i++) {
        const struct group *group = groups->list[i];

        if (!group->row.data || was_given(run, group) || run_skips(run))
            continue;
        if (!run_give(run, group->row))
            break;
    }
    if (run->at.take && i && (i < groups->count || groups->has_bound))
        go_on_after(run, groups->list[i - 1], creation);
}

/* How many groups this page needs; 0 when it must see them all. */
static size_t groups_wanted(const struct run *run)
{
    uint64_t wanted = run->at.take < run->limits->rows ? run->at.take : run->limits->rows;

    if (run->at.order == ORDER_CREATION ||
        (run->select->distinct && (run->select->group_count || run->select->aggregate_count)))
        return 0;
    if (wanted > UINT32_MAX - run->at.skip)
        return 0;
    wanted += run->at.skip;
    return run->first && wanted < FEW_GROUPS ? FEW_GROUPS : (size_t)wanted;
}

static void begin(struct gathering *gathering)
{
    struct run *run = gathering->run;

    gathering->seen.memory = &run->page->memory;
    groups_init(&run->eval, &gathering->groups, run->select, &run->page->memory);
    gathering->groups.keep = groups_wanted(run);
    gathering->groups.has_after = !run->first && gathering->groups.keep;
    gathering->groups.after = run->at.hash;
}

void run_groups(struct run *run)
{
    struct gathering gathering = { .run = run };
    bool by_row = !run->select->group_count && !run->select->aggregate_count, creation;

    begin(&gathering);
    if (run->eval.status == ST_OK)
        run_items(run, 0, by_row ? distinct_row : group_row, &gathering);
    if (run->eval.status != ST_OK)
        return;
    groups_sort(&gathering.groups);
    creation = by_creation(&gathering);
    if (creation && gathering.groups.count > 1)
        qsort(gathering.groups.list, gathering.groups.count, sizeof(struct group *), by_appearance);
    print_groups(&gathering);
    if (run->eval.status == ST_OK)
        give_groups(&gathering, creation);
}
