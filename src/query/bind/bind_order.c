/*
 * src/query/bind/bind_order.c - ORDER BY: what may be ordered by.
 * The service serves ORDER BY from an index and refuses what has none, so an indexing policy decides
 * here too, although we could sort anything: a program that runs here must run there.
 */
#include "base/limits.h"
#include "query/bind/bind_private.h"
#include "query/function/vector.h"

/* /a/"b c"/[]/? taken apart, the last sign included. */
static void origin_of_text(struct slice text, struct origin *steps)
{
    steps->count = 0;
    while (text.size && steps->count < ORIGIN_STEPS_MAX) {
        size_t size = 0;
        bool quoted;

        if (text.data[0] == '/')
            text = slice_after(text, 1);
        quoted = text.size && text.data[0] == '"';
        if (quoted)
            text = slice_after(text, 1);
        while (size < text.size && text.data[size] != (quoted ? '"' : '/'))
            size++;
        steps->step[steps->count++] = slice_make(text.data, size);
        text = slice_after(text, size + (quoted && size < text.size));
    }
}

/* How precisely a policy's path covers a property; -1 when it does not. `?` beats `*`, deeper beats shallower. */
static int coverage(struct slice pattern, const struct origin *path)
{
    struct origin steps;
    bool exact;

    origin_of_text(pattern, &steps);
    if (steps.count == 0)
        return -1;
    exact = slice_is(steps.step[steps.count - 1], "?");
    if (!exact && !slice_is(steps.step[steps.count - 1], "*"))
        return -1;
    steps.count--;
    if (steps.count > path->count || (exact && steps.count != path->count))
        return -1;
    for (size_t i = 0; i < steps.count; i++)
        if (!slice_equal(steps.step[i], path->step[i]))
            return -1;
    return (int)(2 * steps.count) + exact;
}

static int best_coverage(struct json paths, const struct origin *path)
{
    int best = -1;

    for (struct json_iter i = json_iter(paths); json_next(&i);) {
        struct json pattern = json_get(i.value, "path");
        int covered = json_kind(pattern) == JSON_STRING ? coverage(json_string(pattern), path) : -1;

        best = covered > best ? covered : best;
    }
    return best;
}

static bool is_indexed(struct json policy, const struct origin *path)
{
    if (path->count == 1 && (slice_is(path->step[0], "id") || slice_is(path->step[0], "_ts")))
        return true;
    return best_coverage(json_get(policy, "includedPaths"), path) >
           best_coverage(json_get(policy, "excludedPaths"), path);
}

/* One composite index serves the whole clause, as it stands or with every direction turned. */
static bool composite_serves(const struct binder *b, struct json index, const struct select *select)
{
    size_t i = 0;
    int turned = -1;

    if (json_count(index) != select->order_count)
        return false;
    for (struct json_iter part = json_iter(index); json_next(&part); i++) {
        struct json order = json_get(part.value, "order");
        bool descending = json_kind(order) == JSON_STRING && slice_is(json_string(order), "descending");
        struct origin wanted, there;

        bind_origin(b, select->order[i].expr, &wanted);
        origin_of_text(json_string(json_get(part.value, "path")), &there);
        if (wanted.count != there.count)
            return false;
        for (size_t k = 0; k < there.count; k++)
            if (!slice_equal(wanted.step[k], there.step[k]))
                return false;
        if (turned >= 0 && turned != (descending != select->order[i].descending))
            return false;
        turned = descending != select->order[i].descending;
    }
    return true;
}

static bool has_composite(const struct binder *b, const struct select *select)
{
    for (struct json_iter i = json_iter(json_get(b->options->indexing, "compositeIndexes")); json_next(&i);)
        if (composite_serves(b, i.value, select))
            return true;
    return false;
}

/* Whether the order is by an alias of JOIN. */
static bool is_correlated(const struct select *select, const struct expr *expr)
{
    while (expr_is_step(expr))
        expr = expr->kid[0];
    for (size_t i = 1; i < select->source_count; i++)
        if (expr->kind == EXPR_NAME && expr->slot == select->source[i].slot)
            return true;
    return false;
}

static bool any_is_correlated(const struct select *select)
{
    for (size_t i = 0; i < select->order_count; i++)
        if (is_correlated(select, select->order[i].expr))
            return true;
    return false;
}

/* What the service's planner plans, and its backend refuses. */
static const char *refusal(const struct binder *b, const struct select *select)
{
    static const char no_composite[] =
        "The order by query does not have a corresponding composite index that it can be served from.";
    struct origin path;

    if (any_is_correlated(select))
        return "Order-by over correlated collections is not supported.";
    if (select->order_count > QUERY_ORDER_MAX)
        return no_composite;
    if (json_kind(b->options->indexing) != JSON_OBJECT || select->group_count)
        return NULL;
    if (select->order_count > 1)
        return has_composite(b, select) ? NULL : no_composite;
    bind_origin(b, select->order[0].expr, &path);
    return is_indexed(b->options->indexing, &path)
               ? NULL
               : "The index path corresponding to the specified order-by item is excluded.";
}

static bool has_flag(const struct expr *expr, unsigned flags)
{
    return expr->kind == EXPR_CALL && expr->builtin && expr->builtin->flags & flags;
}

static bool refers(const struct expr *expr)
{
    bool found = expr->kind == EXPR_NAME || expr->select;

    for (size_t i = 0; i < expr->kid_count && !found; i++)
        found = refers(expr->kid[i]);
    return found;
}

static bool are_numbers(struct json array)
{
    for (struct json_iter i = json_iter(array); json_next(&i);)
        if (json_kind(i.value) != JSON_NUMBER)
            return false;
    return true;
}

/* What may be a vector that no row decides. */
static bool is_given_vector(const struct expr *expr)
{
    bool is_value = expr->kind == EXPR_LITERAL || expr->kind == EXPR_PARAMETER;

    if (is_value)
        return expr->value.kind == JSON_ARRAY && are_numbers(expr->value.json);
    for (size_t i = 0; expr->kind == EXPR_ARRAY && i < expr->kid_count; i++)
        if (expr->kid[i]->kind == EXPR_ARRAY ||
            (expr->kid[i]->kind == EXPR_LITERAL && expr->kid[i]->value.kind != JSON_NUMBER))
            return false;
    return !refers(expr);
}

/* VectorDistance of a path and a vector; ST_DISTANCE from whatever an item has. */
static bool is_measured(const struct binder *b, const struct expr *call)
{
    const struct expr *first = call->kid[0], *second = call->kid[1];
    struct origin path;

    if (has_flag(call, ORDERS))
        return refers(call);
    return (bind_origin(b, first, &path) && is_given_vector(second)) ||
           (bind_origin(b, second, &path) && is_given_vector(first));
}

enum status bind_direction(struct binder *b, struct order_item *item)
{
    const struct expr *call = item->expr;

    if (has_flag(call, DESCENDS))
        item->descending |= !item->direction_written;
    if (!has_flag(call, RANKS) || call->refused)
        return ST_OK;
    if (item->direction_written)
        return bind_wrong(b,
                          mistake(b->op, item->span, "SC2210",
                                  "Specifying a sorting order (ASC or DESC) with VectorDistance function is "
                                  "not supported. VectorDistance will always sort in the order of most "
                                  "similar (first) to least similar (last)."));
    item->descending = vector_nearest_is_greatest(call, call->memo);
    return ST_OK;
}

enum status bind_order(struct binder *b, struct select *select)
{
    struct origin path;

    if (select->order_count == 0 || select->rank ||
        (select->aggregate_count && !select->group_count)) /* one row needs no order */
        return ST_OK;
    if (select->order_count == 1 && has_flag(select->order[0].expr, RANKS | ORDERS) &&
        is_measured(b, select->order[0].expr))
        return ST_OK;
    for (size_t i = 0; i < select->order_count; i++)
        if (!bind_origin(b, select->order[i].expr, &path))
            return mistake_number(
                b->op, 2206,
                "Unsupported ORDER BY clause. ORDER BY item expression could not be mapped to "
                "a document path.");
    select->refusal = refusal(b, select);
    return ST_OK;
}
