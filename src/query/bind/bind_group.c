/* src/query/bind/bind_group.c - GROUP BY and aggregates: what the select list may say of a group. */
#include <assert.h>

#include "query/bind/bind_private.h"
#include "query/text/parse.h"

static bool kids_equal(const struct expr *a, const struct expr *b)
{
    if (a->kid_count != b->kid_count)
        return false;
    for (size_t i = 0; i < a->kid_count; i++)
        if (!expr_equal(a->kid[i], b->kid[i]) ||
            (a->kind == EXPR_OBJECT && !slice_equal(a->names[i], b->names[i])))
            return false;
    return true;
}

bool expr_equal(const struct expr *a, const struct expr *b)
{
    if (a->kind != b->kind || a->select || b->select)
        return false;
    switch (a->kind) {
    case EXPR_NAME:
        return a->slot == b->slot;
    case EXPR_LITERAL:
    case EXPR_PARAMETER:
        return a->value.kind == b->value.kind &&
               (a->value.kind == JSON_UNDEFINED || value_equal(a->value, b->value));
    case EXPR_MEMBER:
    case EXPR_UDF:
        return slice_equal(a->name, b->name) && kids_equal(a, b);
    case EXPR_CALL:
        return a->builtin == b->builtin && kids_equal(a, b);
    case EXPR_UNARY:
    case EXPR_BINARY:
        return a->operation == b->operation && kids_equal(a, b);
    default:
        return a->negated == b->negated && kids_equal(a, b);
    }
}

static bool is_own_source(const struct select *select, int slot)
{
    for (size_t i = 0; i < select->source_count; i++)
        if (select->source[i].slot == slot)
            return true;
    return false;
}

static struct expr *group_key(struct binder *b, const struct select *select, size_t i)
{
    struct expr *key = arena_alloc(&b->op->arena, sizeof(*key));

    assert(i < select->group_count);
    assert(select->group_slot + (int)i < b->bound->results); /* there is room for its value */
    *key = (struct expr){ .kind = EXPR_RESULT, .slot = select->group_slot + (int)i };
    return key;
}

static enum status not_grouped(struct binder *b, const struct expr *property)
{
    struct buf name;

    buf_init(&name, &b->op->arena);
    query_print_expr(&name, property);
    return mistake(b->op, property->span, "SC2102",
                   "Property reference '%.*s' is invalid in the select list because it is not contained in "
                   "either an aggregate function or the GROUP BY clause.",
                   SLICE_ARGS(buf_as_slice(&name)));
}

/*
 * Below an aggregate anything may stand. Elsewhere the select list speaks of a group: what equals a
 * GROUP BY expression is the group's key, and a source's name anywhere else is a mistake.
 */
static enum status find_keys_below(struct binder *b, const struct select *select, struct select *below);

static enum status find_keys(struct binder *b, const struct select *select, struct expr *expr,
                             const struct expr *property)
{
    enum status st = ST_OK;

    if (expr->builtin && expr->builtin->flags & AGGREGATE)
        return ST_OK;
    for (size_t i = 0; i < select->group_count; i++)
        if (expr_equal(expr, select->group[i])) {
            expr->instead = group_key(b, select, i);
            return ST_OK;
        }
    if (expr->kind == EXPR_NAME && is_own_source(select, expr->slot))
        return not_grouped(b, property);
    if (expr->select)
        TRY(find_keys_below(b, select, expr->select));
    if (expr->kind != EXPR_MEMBER && expr->kind != EXPR_INDEX)
        property = NULL;
    for (size_t i = 0; i < expr->kid_count; i++)
        TRY(find_keys(b, select, expr->kid[i], property ? property : expr->kid[i]));
out:
    return st;
}

static enum status find_keys_of(struct binder *b, const struct select *select, struct expr *expr)
{
    return expr ? find_keys(b, select, expr, expr) : ST_OK;
}

/* A subquery of the select list sees the group too, and none of its rows. */
static enum status find_keys_below(struct binder *b, const struct select *select, struct select *below)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < below->source_count; i++) {
        TRY(find_keys_of(b, select, below->source[i].path));
        if (below->source[i].select)
            TRY(find_keys_below(b, select, below->source[i].select));
    }
    TRY(find_keys_of(b, select, below->where));
    for (size_t i = 0; i < below->group_count; i++)
        TRY(find_keys_of(b, select, below->group[i]));
    for (size_t i = 0; i < below->aggregate_count; i++)
        TRY(find_keys_of(b, select, below->aggregate[i]->kid[0]));
    for (size_t i = 0; i < below->item_count; i++)
        TRY(find_keys_of(b, select, below->item[i].expr));
out:
    return st;
}

static enum status check_groups(struct binder *b, const struct select *select)
{
    if (select->group_count && select->order_count)
        return mistake(b->op, select->order_span, "SC2990",
                       "'ORDER BY' is not supported together with 'GROUP BY'.");
    if (select->group_count > QUERY_GROUPS_MAX)
        return mistake(b->op, select->group_span, "SC2990", "GROUP BY has more than %d expressions.",
                       QUERY_GROUPS_MAX);
    for (size_t i = 0; i < select->group_count; i++)
        if (select->group[i]->select)
            return mistake(b->op, select->group[i]->span, "SC2990",
                           "Subqueries are not supported in GROUP BY.");
    return ST_OK;
}

enum status bind_groups(struct binder *b, struct select *select)
{
    enum status st = ST_OK;

    if (select->group_count == 0 && select->aggregate_count == 0)
        return ST_OK;
    TRY(check_groups(b, select));
    select->group_slot = b->bound->results;
    b->bound->results += (int)select->group_count;
    for (size_t i = 0; i < select->item_count; i++)
        TRY(find_keys(b, select, select->item[i].expr, select->item[i].expr));
out:
    return st;
}
