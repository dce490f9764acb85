/*
 * src/query/plan/sdk_rewrite.c - the query that each range is asked: rows come back with what the client
 * needs to join them beside them. Clients read the members by these names.
 *     ORDER BY      SELECT c._rid, [{"item": c.a}] AS orderByItems, c AS payload
 *     GROUP BY      SELECT [{"item": c.a}] AS groupByItems, {"n": {"item": COUNT(1)}} AS payload
 *     aggregates    SELECT VALUE [{"item": COUNT(1)}]
 * A clause that counts rows goes away when the client has rows to drop first; otherwise it stays,
 * wide enough for what the client skips.
 */
#include <assert.h>

#include "query/eval/builtin.h"
#include "query/text/parse.h"
#include "query/plan/sdk_plan_private.h"
#include "query/text/print.h"

const char plan_resume_filter[] = "({documentdb-formattableorderbyquery-filter})";

bool plan_is_aggregate(const struct expr *expr)
{
    return expr->kind == EXPR_CALL && expr->builtin->flags & AGGREGATE;
}

/* "word": FUNCTION(argument) */
static void print_part(struct buf *out, const char *word, const char *function, const struct expr *argument)
{
    buf_printf(out, "\"%s\": %s(", word, function);
    query_print_expr(out, argument);
    buf_text(out, ")");
}

/* A range's sum is rounded; a client that joins what was rounded may come to another last digit. */
static void print_exact_parts(struct buf *out, const struct expr *argument)
{
    buf_text(out, ", ");
    print_part(out, "parts", "_SUMPARTS", argument);
}

/* An average cannot be joined from averages; a least value cannot tell "none" from undefined. */
static void print_aggregate(struct buf *out, const struct expr *call, bool sums_exactly)
{
    const struct builtin_aggregate *row = &call->builtin->aggregate;
    const struct expr *argument = call->kid[0];

    assert(call->kid_count == 1);
    buf_text(out, "{\"item\": ");
    if (row->shape == SHAPE_AVERAGE) {
        buf_text(out, "{");
        print_part(out, "sum", "SUM", argument);
    } else {
        query_print_expr(out, call);
    }
    if (sums_exactly && (row->shape == SHAPE_AVERAGE || row->sums))
        print_exact_parts(out, argument);
    if (row->shape == SHAPE_EXTREME) {
        buf_text(out, ", \"item2\": {");
        print_part(out, row->word, call->builtin->name, argument);
    }
    if (row->shape != SHAPE_PLAIN) {
        buf_text(out, ", ");
        print_part(out, "count", "COUNT", argument);
        buf_text(out, "}");
    }
    buf_text(out, "}");
}

/* [{"item": a}, {"item": b}], begun and ended by the caller. */
static void print_item(struct buf *out, size_t index, const struct expr *expr)
{
    buf_text(out, index ? ", {\"item\": " : "{\"item\": ");
    query_print_expr(out, expr);
    buf_text(out, "}");
}

static void print_column(struct buf *out, const struct expr *expr, bool sums_exactly)
{
    if (plan_is_aggregate(expr))
        print_aggregate(out, expr, sums_exactly);
    else
        query_print_expr(out, expr);
}

void plan_print_payload(struct buf *out, const struct select *select, bool sums_exactly)
{
    if (select->star) {
        buf_slice(out, select->source[0].alias);
        return;
    }
    if (select->value) {
        bool is_aggregate = plan_is_aggregate(select->item[0].expr);

        buf_text(out, is_aggregate ? "[" : "");
        print_column(out, select->item[0].expr, sums_exactly);
        buf_text(out, is_aggregate ? "]" : "");
        return;
    }
    buf_text(out, "{");
    for (size_t i = 0; i < select->item_count; i++) {
        buf_text(out, i ? ", " : "");
        json_print_string(out, select->item[i].name);
        buf_text(out, ": ");
        print_column(out, select->item[i].expr, sums_exactly);
    }
    buf_text(out, "}");
}

/* [{"item": a}, {"item": b}] */
static void print_keys(struct buf *out, const struct select *select)
{
    buf_text(out, "[");
    for (size_t i = 0; i < select->group_count; i++)
        print_item(out, i, select->group[i]);
    buf_text(out, "]");
}

/* A row of SELECT VALUE is one only when its value is defined; beside _rid it would always be one. */
static void print_ordered_where(struct buf *out, const struct select *select)
{
    bool must_be_defined = select->value && select->group_count == 0;

    buf_text(out, must_be_defined ? "\nWHERE (" : "\nWHERE ");
    if (select->where) {
        buf_text(out, "(");
        query_print_expr(out, select->where);
        buf_text(out, " AND ");
    }
    buf_text(out, plan_resume_filter);
    buf_text(out, select->where ? ")" : "");
    if (must_be_defined) {
        buf_text(out, " AND IS_DEFINED(");
        query_print_expr(out, select->item[0].expr);
        buf_text(out, "))");
    }
}

static void print_top(const struct plan *plan, struct buf *out)
{
    if (!plan->top || plan->drops_rows)
        return;
    buf_text(out, "TOP ");
    query_print_expr(out, plan->top);
    buf_text(out, " ");
}

/* The client skips: each range gives what is skipped too. Where there is one place it skips itself. */
static void print_limit(const struct plan *plan, struct buf *out)
{
    if (!plan->limit && plan->select->limit) {
        query_print_limit(out, plan->select);
        return;
    }
    if (!plan->limit || plan->drops_rows)
        return;
    assert(plan->offset); /* the two stand together */
    buf_text(out, "\nOFFSET 0 LIMIT ");
    buf_u64(out, (uint64_t)plan->offset->value.integer + (uint64_t)plan->limit->value.integer);
}

static void rewrite_grouped(const struct plan *plan, struct buf *out)
{
    const struct select *select = plan->select;
    bool is_bare = select->value && select->group_count == 0;

    buf_text(out, "SELECT ");
    buf_text(out, select->distinct ? "DISTINCT " : "");
    print_top(plan, out);
    buf_text(out, is_bare ? "VALUE " : "");
    if (select->group_count) {
        print_keys(out, select);
        buf_text(out, " AS groupByItems, ");
    }
    plan_print_payload(out, select, plan->sums_exactly);
    buf_text(out, is_bare ? "" : " AS payload");
    query_print_from(out, select);
    query_print_where(out, select);
    query_print_group(out, select);
    query_print_order(out, select);
    print_limit(plan, out);
}

/* Whose rid a row has: what the first source is called or, where it is called nothing, what its path begins with. */
static struct slice name_of_item(const struct select *select)
{
    const struct source *first = &select->source[0];
    const struct expr *path = first->path;

    if (first->kind == SOURCE_SUBQUERY || (first->kind == SOURCE_PATH && first->alias_written))
        return first->alias;
    if (path->select)
        return path->select->source_count ? name_of_item(path->select) : first->alias;
    while (path->kid_count)
        path = path->kid[0];
    return path->name;
}

static void rewrite_ordered(const struct plan *plan, struct buf *out)
{
    const struct select *select = plan->select;

    buf_text(out, "SELECT ");
    print_top(plan, out);
    buf_slice(out, name_of_item(select));
    buf_text(out, "._rid, [");
    for (size_t i = 0; i < select->order_count; i++)
        print_item(out, i, select->order[i].expr);
    buf_text(out, "] AS orderByItems, ");
    if (select->group_count) {
        buf_text(out, "{\"groupByItems\": ");
        print_keys(out, select);
        buf_text(out, ", \"payload\": ");
    }
    plan_print_payload(out, select, plan->sums_exactly);
    buf_text(out, select->group_count ? "} AS payload" : " AS payload");
    query_print_from(out, select);
    print_ordered_where(out, select);
    query_print_group(out, select);
    query_print_order(out, select);
    print_limit(plan, out);
}

static void rewrite_plain(const struct plan *plan, struct buf *out)
{
    const struct select *select = plan->select;

    buf_text(out, select->distinct ? "SELECT DISTINCT " : "SELECT ");
    print_top(plan, out);
    query_print_list(out, select);
    query_print_from(out, select);
    query_print_where(out, select);
    query_print_order(out, select);
    print_limit(plan, out);
}

void plan_rewrite(const struct plan *plan, struct buf *out)
{
    bool drops_rows = plan->distinct != DISTINCT_NONE && plan->top;

    if (!plan->select)
        return;
    if (plan->is_ordered)
        rewrite_ordered(plan, out);
    else if (plan->is_grouped)
        rewrite_grouped(plan, out);
    else if (plan->limit || drops_rows || plan->distinct_count)
        rewrite_plain(plan, out);
}
