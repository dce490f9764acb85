/* src/query/plan/item_path.c - from an expression to the steps below the item. */
#include <assert.h>

#include "query/bind/bind.h"
#include "query/bind/fold.h"
#include "query/plan/item_path.h"

static const struct alias *find_alias(const struct alias *aliases, int slot)
{
    while (aliases && aliases->source->slot != slot)
        aliases = aliases->outer;
    return aliases;
}

bool item_path_add(struct item_path *path, struct index_step step)
{
    if (path->count == ITEM_STEPS_MAX)
        return false;
    path->step[path->count++] = step;
    return true;
}

/* ---- what a name stands for ---- */

static bool path_of_slot(const struct alias *aliases, int slot, struct item_path *path);

/* Each row of it is made of one row of its sources. */
static bool is_row_by_row(const struct select *select)
{
    return !select->group_count && !select->aggregate_count;
}

/* An expression over the sources of a subquery, of which those from `i` on are not yet among the aliases. */
static bool path_in_rows(const struct alias *aliases, const struct select *select, size_t i,
                         const struct expr *expr, struct item_path *path)
{
    struct alias alias = { aliases, &select->source[i] };

    if (i == select->source_count)
        return item_path_of(aliases, expr, path);
    return path_in_rows(&alias, select, i + 1, expr, path);
}

/* The value that a subquery has as its row. A row of columns is none of the item's. */
static bool path_of_rows(const struct alias *alias, struct item_path *path)
{
    const struct select *select = alias->source->select;
    struct alias first = { alias->outer, NULL };

    assert(select); /* whoever asks has looked whether the source is a subquery */
    first.source = &select->source[0];
    if (!is_row_by_row(select))
        return false;
    if (select->value)
        return path_in_rows(alias->outer, select, 0, select->item[0].expr, path);
    return select->star && select->source_count == 1 && path_of_slot(&first, first.source->slot, path);
}

static bool path_of_slot(const struct alias *aliases, int slot, struct item_path *path)
{
    const struct alias *alias = find_alias(aliases, slot);

    if (slot == SLOT_ROOT)
        return true;
    if (!alias)
        return false;
    if (alias->source->kind == SOURCE_SUBQUERY)
        return path_of_rows(alias, path);
    if (!item_path_of(alias->outer, alias->source->path, path))
        return false;
    if (alias->source->kind != SOURCE_ITERATE)
        return true;
    path->traits.has_elements = true;
    return item_path_add(path, (struct index_step){ .element = true });
}

/* What a subquery puts under a name into each of its rows; NULL: its rows are not made there, or lack it. */
static const struct expr *find_column(const struct select *select, struct slice name)
{
    const struct expr *object = select->value ? select->item[0].expr : NULL;

    for (size_t i = 0; i < select->item_count && !select->value; i++)
        if (slice_equal(select->item[i].name, name))
            return select->item[i].expr;
    for (size_t i = 0; object && object->kind == EXPR_OBJECT && i < object->kid_count; i++)
        if (slice_equal(object->names[i], name))
            return object->kid[i];
    return NULL;
}

/* A member of a source's value. */
static bool path_of_member(const struct alias *aliases, int slot, struct slice name, struct item_path *path)
{
    const struct alias *alias = find_alias(aliases, slot);
    const struct select *select = alias ? alias->source->select : NULL;
    const struct expr *column = select && is_row_by_row(select) ? find_column(select, name) : NULL;

    if (column)
        return path_in_rows(alias->outer, select, 0, column, path);
    if (select && select->star && select->source_count == 1 && is_row_by_row(select)) {
        struct alias first = { alias->outer, &select->source[0] };

        return path_of_member(&first, first.source->slot, name, path);
    }
    return path_of_slot(aliases, slot, path) && item_path_add(path, (struct index_step){ .name = name });
}

/* ---- expressions ---- */

static bool add_place(const struct expr *expr, struct item_path *path)
{
    struct value place;

    assert(expr->kid_count == 2);
    if (!fold_constant(expr->kid[1], &place))
        return false;
    if (place.kind == JSON_STRING)
        return item_path_add(path, (struct index_step){ .name = place.string });
    path->traits.has_place = true;
    return place.kind == JSON_NUMBER && item_path_add(path, (struct index_step){ .element = true });
}

/* A property of the item itself that its definition stands for. */
static bool path_of_computed(const struct alias *aliases, const struct expr *expr, struct item_path *path)
{
    struct value name = value_string(expr->name);

    if (expr->instead->kind == EXPR_LITERAL || expr->instead->kind == EXPR_RESULT ||
        (expr->kind != EXPR_MEMBER && expr->kind != EXPR_INDEX) || expr->kid[0]->kind != EXPR_NAME ||
        !path_of_slot(aliases, expr->kid[0]->slot, path) || path->count)
        return false;
    if (expr->kind == EXPR_INDEX && !fold_constant(expr->kid[1], &name))
        return false;
    path->traits.computed = true;
    return item_path_add(path, (struct index_step){ .name = name.string });
}

bool item_path_of(const struct alias *aliases, const struct expr *expr, struct item_path *path)
{
    if (expr->instead)
        return path_of_computed(aliases, expr, path);
    switch (expr->kind) {
    case EXPR_NAME:
        return path_of_slot(aliases, expr->slot, path);
    case EXPR_MEMBER:
        if (expr->kid[0]->kind == EXPR_NAME)
            return path_of_member(aliases, expr->kid[0]->slot, expr->name, path);
        return item_path_of(aliases, expr->kid[0], path) &&
               item_path_add(path, (struct index_step){ .name = expr->name });
    case EXPR_INDEX:
        return item_path_of(aliases, expr->kid[0], path) && add_place(expr, path);
    default:
        return false;
    }
}

bool item_path_keep(struct arena *arena, const struct item_path *path, struct kept_path *kept)
{
    struct index_step *step = arena_try_alloc(arena, path->count * sizeof(*step));

    assert(path->count <= ITEM_STEPS_MAX);
    if (!step)
        return false;
    memcpy(step, path->step, path->count * sizeof(*step));
    *kept = (struct kept_path){ { step, path->count }, path->traits };
    return true;
}
