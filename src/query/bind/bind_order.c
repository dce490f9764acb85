/*
 * src/query/bind/bind_order.c - ORDER BY: what may be ordered by.
 * The service serves ORDER BY from an index and refuses what has none, so an indexing policy decides
 * here too, although we could sort anything: a program that runs here must run there.
 */
#include <assert.h>

#include "base/limits.h"
#include "query/bind/bind_private.h"
#include "query/function/vector.h"

enum { STEPS_MAX = 64 };

/* A path taken apart: names, and [] for an element of an array. */
struct steps {
    size_t count;
    struct slice step[STEPS_MAX];
};

/* Whether the expression is a path below a source: c.a["b"][0]; its source's slot. */
static bool is_path(const struct expr *expr, int *slot)
{
    while (expr->kind == EXPR_MEMBER || (expr->kind == EXPR_INDEX && expr->kid[1]->kind != EXPR_SUBQUERY))
        expr = expr->kid[0];
    *slot = expr->slot;
    return expr->kind == EXPR_NAME;
}

static void steps_below(const struct expr *expr, struct steps *steps)
{
    if (expr->kind == EXPR_NAME)
        return;
    steps_below(expr->kid[0], steps);
    if (steps->count == STEPS_MAX)
        return;
    steps->step[steps->count++] = expr->kind == EXPR_MEMBER ? expr->name : slice_of("[]");
}

/* From the item down: FROM c.a x ORDER BY x.b is the path /a/b. */
static void steps_of_item(const struct select *select, const struct order_item *item, struct steps *steps)
{
    steps_below(select->source[0].path, steps);
    steps_below(item->expr, steps);
}

/* /a/"b c"/[]/? taken apart, the last sign included. */
static void steps_of_text(struct slice text, struct steps *steps)
{
    steps->count = 0;
    while (text.size && steps->count < STEPS_MAX) {
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
static int coverage(struct slice pattern, const struct steps *path)
{
    struct steps steps;
    bool exact;

    steps_of_text(pattern, &steps);
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

static int best_coverage(struct json paths, const struct steps *path)
{
    int best = -1;

    for (struct json_iter i = json_iter(paths); json_next(&i);) {
        struct json pattern = json_get(i.value, "path");
        int covered = json_kind(pattern) == JSON_STRING ? coverage(json_string(pattern), path) : -1;

        best = covered > best ? covered : best;
    }
    return best;
}

static bool is_indexed(struct json policy, const struct steps *path)
{
    if (path->count == 1 && (slice_is(path->step[0], "id") || slice_is(path->step[0], "_ts")))
        return true;
    return best_coverage(json_get(policy, "includedPaths"), path) >
           best_coverage(json_get(policy, "excludedPaths"), path);
}

/* One composite index serves the whole clause, as it stands or with every direction turned. */
static bool composite_serves(struct json index, const struct select *select)
{
    size_t i = 0;
    int turned = -1;

    if (json_count(index) != select->order_count)
        return false;
    for (struct json_iter part = json_iter(index); json_next(&part); i++) {
        struct json order = json_get(part.value, "order");
        bool descending = json_kind(order) == JSON_STRING && slice_is(json_string(order), "descending");
        struct steps wanted = { 0 }, there;

        steps_of_item(select, &select->order[i], &wanted);
        steps_of_text(json_string(json_get(part.value, "path")), &there);
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

static enum status check_index(struct binder *b, const struct select *select)
{
    struct json policy = b->options->indexing;
    struct steps path = { 0 };

    if (json_kind(policy) != JSON_OBJECT)
        return ST_OK;
    if (select->order_count == 1) {
        steps_of_item(select, &select->order[0], &path);
        if (is_indexed(policy, &path))
            return ST_OK;
        return op_fail(b->op, ST_BAD_REQUEST,
                       "The index path corresponding to the specified order-by item is excluded.");
    }
    for (struct json_iter i = json_iter(json_get(policy, "compositeIndexes")); json_next(&i);)
        if (composite_serves(i.value, select))
            return ST_OK;
    return op_fail(
        b->op, ST_BAD_REQUEST,
        "The order by query does not have a corresponding composite index that it can be served from.");
}

static enum status check_item(struct binder *b, const struct select *select, const struct order_item *item)
{
    int slot;

    if (!is_path(item->expr, &slot) || item->expr->kind == EXPR_NAME)
        return mistake_number(
            b->op, 2206,
            "Unsupported ORDER BY clause. ORDER BY item expression could not be mapped to a "
            "document path.");
    assert(select->source_count > 0); /* else the path's first name would not have been found */
    if (slot != select->source[0].slot || select->source[0].kind != SOURCE_PATH)
        return op_fail(b->op, ST_BAD_REQUEST, "Order-by over correlated collections is not supported.");
    return ST_OK;
}

static bool ranks(const struct expr *expr)
{
    return expr->kind == EXPR_CALL && expr->builtin->flags & RANKS;
}

enum status bind_order(struct binder *b, struct select *select)
{
    enum status st = ST_OK;

    if (select->order_count == 0 || select->aggregate_count) /* one row needs no order */
        return ST_OK;
    if (select->order_count == 1 && ranks(select->order[0].expr)) {
        struct expr *call = select->order[0].expr;

        if (select->order[0].direction_written)
            return op_fail(b->op, ST_BAD_REQUEST,
                           "Specifying a sorting order (ASC or DESC) with VectorDistance function is not "
                           "supported.");

        select->order[0].descending = vector_nearest_is_greatest(call, call->memo);
        return ST_OK;
    }
    if (select->order_count > QUERY_ORDER_MAX)
        TRY(mistake(b->op, select->order_span, "SC2990", "ORDER BY has more than %d items.",
                    QUERY_ORDER_MAX));
    for (size_t i = 0; i < select->order_count; i++)
        TRY(check_item(b, select, &select->order[i]));
    TRY(check_index(b, select));
out:
    return st;
}
