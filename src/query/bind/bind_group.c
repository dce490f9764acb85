/* src/query/bind/bind_group.c - GROUP BY and aggregates: what the select list may say of a group. */
#include <assert.h>

#include "query/bind/bind_private.h"

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

/* c.a, c["a"] and c[@p] are one. */
static bool steps_equal(const struct expr *a, const struct expr *b)
{
    struct value x = a->kind == EXPR_MEMBER ? value_string(a->name) : a->kid[1]->value;
    struct value y = b->kind == EXPR_MEMBER ? value_string(b->name) : b->kid[1]->value;

    return x.kind == y.kind && value_equal(x, y) && expr_equal(a->kid[0], b->kid[0]);
}

bool expr_equal(const struct expr *a, const struct expr *b)
{
    if (expr_is_step(a) && expr_is_step(b))
        return steps_equal(a, b);
    if (a->kind != b->kind || a->select || b->select)
        return false;
    switch (a->kind) {
    case EXPR_NAME:
        return a->slot == b->slot;
    case EXPR_LITERAL:
    case EXPR_PARAMETER:
        return a->value.kind == b->value.kind &&
               (a->value.kind == JSON_UNDEFINED || value_equal(a->value, b->value));
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

/* Whose clause is looked through for keys, and what is said of a property that is none. */
struct grouping {
    const struct select *select;
    const char *code, *clause;
    bool only_paths; /* keys that are computed are none of its keys */
};

static bool is_key_of(const struct grouping *grouping, const struct expr *key)
{
    return !grouping->only_paths || key->kind == EXPR_NAME || expr_is_step(key);
}

static struct expr *group_key(struct binder *b, const struct select *select, size_t i)
{
    struct expr *key = arena_alloc(&b->op->arena, sizeof(*key));

    assert(i < select->group_count);
    assert(select->group_slot + (int)i < b->bound->results); /* there is room for its value */
    *key = (struct expr){ .kind = EXPR_RESULT, .slot = select->group_slot + (int)i };
    return key;
}

static enum status not_grouped(struct binder *b, const struct grouping *grouping, const struct expr *property)
{
    while (property->kind == EXPR_INDEX && property->kid[1]->value.kind == JSON_NUMBER)
        property = property->kid[0]; /* c.a[0] is told as c.a */
    return bind_wrong(
        b, mistake(b->op, property->span, grouping->code,
                   "Property reference '%.*s' is invalid in the %s because it is not contained in either an "
                   "aggregate function or the GROUP BY clause.",
                   SLICE_ARGS(bind_cited(b, property->span)), grouping->clause));
}

/*
 * Below an aggregate anything may stand. Elsewhere a clause speaks of a group: what equals a GROUP BY expression is
 * the group's key, and a source's name anywhere else is a mistake.
 */
static enum status find_keys_below(struct binder *b, const struct grouping *grouping, struct select *below);

static enum status find_keys(struct binder *b, const struct grouping *grouping, struct expr *expr,
                             const struct expr *property)
{
    const struct select *select = grouping->select;
    enum status st = ST_OK;

    if (expr->builtin && expr->builtin->flags & AGGREGATE)
        return ST_OK;
    for (size_t i = 0; i < select->group_count; i++)
        if (is_key_of(grouping, select->group[i]) && expr_equal(expr, select->group[i])) {
            expr->instead = group_key(b, select, i);
            return ST_OK;
        }
    if (expr->kind == EXPR_NAME && is_own_source(select, expr->slot))
        return not_grouped(b, grouping, property);
    if (expr->select)
        TRY(find_keys_below(b, grouping, expr->select));
    if (!expr_is_step(expr))
        property = NULL;
    for (size_t i = 0; i < expr->kid_count; i++)
        TRY(find_keys(b, grouping, expr->kid[i], property ? property : expr->kid[i]));
out:
    return st;
}

static enum status find_keys_of(struct binder *b, const struct grouping *grouping, struct expr *expr)
{
    return expr ? find_keys(b, grouping, expr, expr) : ST_OK;
}

/* A subquery sees the group too, and none of its rows. */
static enum status find_keys_below(struct binder *b, const struct grouping *grouping, struct select *below)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < below->source_count; i++) {
        TRY(find_keys_of(b, grouping, below->source[i].path));
        if (below->source[i].select)
            TRY(find_keys_below(b, grouping, below->source[i].select));
    }
    TRY(find_keys_of(b, grouping, below->where));
    for (size_t i = 0; i < below->group_count; i++)
        TRY(find_keys_of(b, grouping, below->group[i]));
    for (size_t i = 0; i < below->aggregate_count; i++)
        TRY(find_keys_of(b, grouping, below->aggregate[i]->kid[0]));
    for (size_t i = 0; i < below->item_count; i++)
        TRY(find_keys_of(b, grouping, below->item[i].expr));
out:
    return st;
}

enum status bind_not_in_group(struct binder *b, struct span span)
{
    return mistake(
        b->op, span, "SC2111",
        "Cannot use an aggregate or a subquery in an expression used for the group by list of a GROUP "
        "BY clause.");
}

/* A source's name, outside subqueries and what is refused. */
static bool refers(const struct expr *expr)
{
    if (expr->refused)
        return false;
    if (expr->kind == EXPR_NAME)
        return expr->slot != SLOT_ROOT; /* which stands where no name was found */
    for (size_t i = 0; i < expr->kid_count; i++)
        if (refers(expr->kid[i]))
            return true;
    return false;
}

enum status bind_group_list(struct binder *b, struct select *select, const struct visible *names)
{
    enum status st = ST_OK;

    if (select->group_count > QUERY_GROUPS_MAX)
        TRY(bind_wrong(b, mistake(b->op, select->group_span, "SC2990",
                                  "GROUP BY has more than %d expressions.", QUERY_GROUPS_MAX)));
    for (size_t i = 0; i < select->group_count; i++) {
        struct expr *expr = select->group[i];

        TRY(bind_expr(b, expr, names, IN_GROUP));
        if (!refers(expr))
            TRY(bind_wrong(
                b, mistake(b->op, bind_subquery_span(expr), "SC2110",
                           "Each GROUP BY expression must contain at least one property reference.")));
    }
out:
    return st;
}

static enum status check_star(struct binder *b, const struct select *select)
{
    if (!select->star)
        return ST_OK;
    return bind_wrong(
        b, select->group_count
               ? mistake(b->op, select->star_span, "SC2041", "'SELECT *' is not allowed with GROUP BY.")
               : mistake(b->op, select->star_span, "SC2040",
                         "'SELECT *' is not allowed with aggregate functions."));
}

/* Of aggregates without GROUP BY there is one row: an order by paths alone says nothing of it. */
static bool order_is_idle(const struct select *select)
{
    for (size_t i = 0; i < select->order_count; i++)
        if (!expr_is_step(select->order[i].expr) && select->order[i].expr->kind != EXPR_NAME)
            return false;
    return select->group_count == 0;
}

enum status bind_groups(struct binder *b, struct select *select)
{
    struct grouping order = { select, "SC2103", "ORDER BY clause", true },
                    list = { select, "SC2102", "select list", false };
    enum status st = ST_OK;

    if (select->group_count == 0 && select->aggregate_count == 0)
        return ST_OK;
    select->group_slot = b->bound->results;
    b->bound->results += (int)select->group_count;
    for (size_t i = 0; i < select->order_count && !order_is_idle(select); i++)
        TRY(find_keys_of(b, &order, select->order[i].expr));
    TRY(check_star(b, select));
    for (size_t i = 0; i < select->item_count; i++)
        TRY(find_keys_of(b, &list, select->item[i].expr));
out:
    return st;
}
