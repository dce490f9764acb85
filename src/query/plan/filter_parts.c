/*
 * src/query/plan/filter_parts.c - equality with a constant of what is built from paths: -c.k = 1, [c.k] = ["a"],
 * {k: c.k} = {k: 1}, c.o = {k: 1}, (c.k = 1) = true. The service's planner reads keys from these, and from IIF; the
 * index has better ways, or none.
 */
#include "query/plan/filter_private.h"

static struct filter *negative(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                               struct value value)
{
    if (value.kind != JSON_NUMBER || !filter_is_finite(value) || (value.is_int && value.integer == INT64_MIN))
        return filter_any();
    return filter_equal_to(arena, aliases, expr->kid[0],
                           value.is_int ? value_int(-value.integer) : value_double(-value.number));
}

/* An element that is undefined is left out, so of arrays with as many elements none was. */
static struct filter *elements(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                               struct json array)
{
    struct filter *list;

    if (json_kind(array) != JSON_ARRAY || json_count(array) != expr->kid_count || expr->kid_count == 0)
        return filter_any();
    list = filter_list(arena, FILTER_AND, expr->kid_count);
    for (size_t i = 0; i < expr->kid_count; i++)
        filter_put(list, filter_equal_to(arena, aliases, expr->kid[i],
                                         value_from_json(json_element(array, (uint32_t)i))));
    return list;
}

static struct filter *all_of(struct filter *list)
{
    return list->kind == FILTER_AND && list->kid_count == 0 ? filter_any() : list;
}

/* A member that the constant lacks must be undefined, which says nothing here. */
static struct filter *members(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                              struct json object)
{
    struct filter *list;

    if (json_kind(object) != JSON_OBJECT || expr->kid_count == 0)
        return filter_any();
    list = filter_list(arena, FILTER_AND, expr->kid_count);
    for (size_t i = 0; i < expr->kid_count; i++) {
        struct json member = json_member(object, expr->names[i]);

        if (json_kind(member) != JSON_UNDEFINED)
            filter_put(list, filter_equal_to(arena, aliases, expr->kid[i], value_from_json(member)));
    }
    return all_of(list);
}

/* Each member of the constant is a value below the path. */
static struct filter *below(struct arena *arena, const struct item_path *path, struct json object)
{
    struct filter *list = filter_list(arena, FILTER_AND, json_count(object) + 1);

    for (struct json_iter i = json_iter(object); json_next(&i);) {
        struct interval point = interval_of_value(value_from_json(i.value));
        struct item_path member = *path;

        if (!item_path_add(&member, (struct index_step){ .name = i.name }))
            continue;
        filter_put(list, json_kind(i.value) == JSON_OBJECT
                             ? below(arena, &member, i.value)
                             : filter_at_path(arena, &member, &point, 1, FOR_KEYS));
    }
    return all_of(list);
}

static struct filter *object_at(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                                struct json object)
{
    struct item_path path;

    item_path_begin(&path);
    if (json_kind(object) != JSON_OBJECT || !item_path_of(aliases, expr, &path))
        return filter_any();
    return below(arena, &path, object);
}

struct filter *filter_parts(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                            struct value value)
{
    bool is_truth = value.kind == JSON_TRUE || value.kind == JSON_FALSE;

    switch (expr->kind) {
    case EXPR_UNARY:
        return expr->operation == OPERATOR_MINUS ? negative(arena, aliases, expr, value) : filter_any();
    case EXPR_ARRAY:
        return elements(arena, aliases, expr, value.kind == JSON_ARRAY ? value.json : json_undefined);
    case EXPR_OBJECT:
        return members(arena, aliases, expr, value.kind == JSON_OBJECT ? value.json : json_undefined);
    case EXPR_NAME:
    case EXPR_MEMBER:
    case EXPR_INDEX:
        return object_at(arena, aliases, expr, value.kind == JSON_OBJECT ? value.json : json_undefined);
    case EXPR_BINARY:
        return is_truth ? filter_where(arena, aliases, expr, value.kind == JSON_TRUE) : filter_any();
    default:
        return filter_any();
    }
}

/* Either it is the one and the condition is true, or it is the other. */
struct filter *filter_choice(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                             bool truth)
{
    struct filter *then = filter_pair(arena, FILTER_AND, filter_where(arena, aliases, expr->kid[0], true),
                                      filter_where(arena, aliases, expr->kid[1], truth));

    return filter_pair(arena, FILTER_OR, then, filter_where(arena, aliases, expr->kid[2], truth));
}
