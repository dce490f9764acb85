/* src/query/plan/item_path.c - from an expression to the steps below the item. */
#include <assert.h>

#include "query/bind/bind.h"
#include "query/bind/fold.h"
#include "query/plan/item_path.h"

static const struct alias *find_alias(const struct alias *aliases, int slot)
{
    while (aliases && aliases->slot != slot)
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

static bool path_of_name(const struct alias *aliases, const struct expr *expr, struct item_path *path)
{
    const struct alias *alias = find_alias(aliases, expr->slot);

    if (expr->slot == SLOT_ROOT)
        return true;
    if (!alias || !alias->path || !item_path_of(alias->outer, alias->path, path))
        return false;
    path->traits.has_elements |= alias->iterates;
    path->traits.is_indirect |= alias->joined;
    return !alias->iterates || item_path_add(path, (struct index_step){ .element = true });
}

static bool add_place(const struct expr *expr, struct item_path *path)
{
    struct value place;

    assert(expr->kid_count == 2);
    if (!fold_constant(expr->kid[1], &place))
        return false;
    path->traits.is_indirect |= expr->kid[1]->instead != NULL;
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
        !path_of_name(aliases, expr->kid[0], path) || path->count)
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
        return path_of_name(aliases, expr, path);
    case EXPR_MEMBER:
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
