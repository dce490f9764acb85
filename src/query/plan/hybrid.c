/*
 * src/query/plan/hybrid.c - the plan of ORDER BY RANK. Its texts, for a score S of keywords and a score V of vectors:
 *     SELECT COUNT(1) AS documentCount, [{"totalWordCount": ..., "hitCounts": [...]}] AS fullTextStatistics
 *     SELECT TOP 120 c._rid, [{"item": S}] AS orderByItems, {"payload": ..., "componentScores": [...]} AS payload
 *     SELECT TOP 120 c._rid, ... AS payload, [(S ?? -1), (V ?? ...)] AS componentScores
 * the first of all ranges, the second of each for every score, the third in its place for clients that need no order.
 */
#include <assert.h>
#include <math.h>

#include "json/json.h"
#include "query/bind/bind_private.h"
#include "query/bind/fold.h"
#include "query/function/full_text.h"
#include "query/plan/hybrid.h"
#include "query/text/parse.h"
#include "query/text/print.h"

/* Fewer are never asked for, because ranks among few say little. */
enum { ROWS_MIN = 120 };

#define HOLE "{documentdb-formattablehybridsearchquery-"
static const char worst[] = "1.7976900000000001e+308";

struct hybrid {
    struct op *op;
    const struct select *select;
    struct expr *const *score;
    size_t count;
    const struct expr *weights; /* NULL: all alike */
    bool skips_order;
};

static uint64_t count_of(const struct expr *count)
{
    return count ? (uint64_t)count->value.integer : 0;
}

uint64_t hybrid_rows(const struct select *select)
{
    uint64_t wanted = 2 * (count_of(select->top) + count_of(select->offset) + count_of(select->limit));

    if (!select->top && !select->limit)
        return UINT64_MAX;
    if (wanted > UINT32_MAX)
        return UINT32_MAX;
    return wanted > ROWS_MIN ? wanted : ROWS_MIN;
}

bool hybrid_is(const struct select *select)
{
    return select->rank && select->source_count;
}

/* ---- the clause ---- */

static bool is_score(const struct expr *expr)
{
    return expr->kind == EXPR_CALL && expr->builtin->flags & (SCORES | RANKS);
}

static bool is_text(const struct expr *score)
{
    return score->builtin->flags & SCORES;
}

static struct hybrid read_clause(struct op *op, const struct select *select)
{
    struct hybrid hybrid = { .op = op, .select = select, .score = &select->order[0].expr, .count = 1 };
    const struct expr *clause = select->order[0].expr, *last;

    if (is_score(clause))
        return hybrid;
    last = clause->kid[clause->kid_count - 1];
    hybrid.score = clause->kid;
    hybrid.count = clause->kid_count - !is_score(last);
    if (last->kind == EXPR_ARRAY || (last->kind == EXPR_PARAMETER && last->value.kind == JSON_ARRAY))
        hybrid.weights = last;
    return hybrid;
}

static double weight_of(const struct hybrid *hybrid, size_t index)
{
    const struct expr *weights = hybrid->weights;

    if (!weights)
        return 1;
    if (weights->kind == EXPR_ARRAY)
        return weights->kid[index]->value.number;
    for (struct json_iter i = json_iter(weights->value.json); json_next(&i);)
        if (index-- == 0)
            return json_double(i.value);
    return 1;
}

static bool is_turned(const struct hybrid *hybrid, size_t index)
{
    return weight_of(hybrid, index) < 0;
}

struct hybrid_needs hybrid_needs(const struct select *select)
{
    struct hybrid hybrid = read_clause(NULL, select);
    struct hybrid_needs needs = { .weights = hybrid.weights != NULL };

    for (size_t i = 0; i < hybrid.count; i++) {
        needs.texts |= is_text(hybrid.score[i]);
        needs.vectors |= !is_text(hybrid.score[i]);
    }
    return needs;
}

/* ---- scores as text ---- */

static void print_list(struct buf *out, struct expr *const *expr, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buf_text(out, i ? ", " : "");
        query_print_expr(out, expr[i]);
    }
}

/* Texts are numbered among themselves. */
static size_t text_number(const struct hybrid *hybrid, size_t index)
{
    size_t number = 0;

    for (size_t i = 0; i < index; i++)
        number += is_text(hybrid->score[i]);
    return number;
}

static void print_score(struct buf *out, const struct hybrid *hybrid, size_t index)
{
    const struct expr *score = hybrid->score[index];
    size_t number = text_number(hybrid, index);

    if (!is_text(score)) {
        buf_text(out, "_VectorScore(");
        print_list(out, score->kid, score->kid_count);
        buf_text(out, ")");
        return;
    }
    buf_text(out, "_FullTextScore(");
    query_print_expr(out, score->kid[0]);
    buf_text(out, ", [");
    print_list(out, score->kid + 1, score->kid_count - 1);
    buf_printf(out,
               "], " HOLE "totaldocumentcount}, " HOLE "totalwordcount-%zu}, " HOLE "hitcountsarray-%zu})",
               number, number);
}

/* What a row without the score has in its place: it comes last. */
static const char *instead_of(const struct hybrid *hybrid, size_t index)
{
    if (is_turned(hybrid, index))
        return "";
    return is_text(hybrid->score[index]) ? "-1" : "-";
}

static void print_filled(struct buf *out, const struct hybrid *hybrid, size_t index)
{
    const char *instead = instead_of(hybrid, index);

    buf_text(out, "(");
    print_score(out, hybrid, index);
    buf_printf(out, " ?? %s%s)", instead, instead[0] && instead[1] ? "" : worst);
}

/* Clients that need no order rank from the greatest down: what is turned is turned here. */
static void print_scores(struct buf *out, const struct hybrid *hybrid)
{
    buf_text(out, "[");
    for (size_t i = 0; i < hybrid->count; i++) {
        bool turns = hybrid->skips_order && hybrid->count > 1 && is_turned(hybrid, i);

        buf_text(out, i ? ", " : "");
        buf_text(out, turns ? "(-1 * " : "");
        print_filled(out, hybrid, i);
        buf_text(out, turns ? ")" : "");
    }
    buf_text(out, "]");
}

/* ---- the query of each score ---- */

static bool has_order(const struct hybrid *hybrid)
{
    return !hybrid->skips_order || hybrid->count == 1;
}

static void print_columns(struct buf *out, const struct hybrid *hybrid, size_t index)
{
    buf_slice(out, hybrid->select->source[0].alias);
    buf_text(out, "._rid, ");
    if (!has_order(hybrid)) {
        plan_print_payload(out, hybrid->select, false);
        buf_text(out, " AS payload, ");
        print_scores(out, hybrid);
        buf_text(out, " AS componentScores");
        return;
    }
    buf_text(out, "[{\"item\": ");
    print_score(out, hybrid, index);
    buf_text(out, "}] AS orderByItems, {\"payload\": ");
    plan_print_payload(out, hybrid->select, false);
    buf_text(out, ", \"componentScores\": ");
    if (hybrid->skips_order)
        buf_text(out, "[]");
    else
        print_scores(out, hybrid);
    buf_text(out, "} AS payload");
}

static void print_where(struct buf *out, const struct hybrid *hybrid)
{
    const struct expr *where = hybrid->select->where;

    if (!has_order(hybrid)) {
        query_print_where(out, hybrid->select);
        return;
    }
    buf_text(out, where ? "\nWHERE (" : "\nWHERE ");
    if (where) {
        query_print_expr(out, where);
        buf_text(out, " AND ");
    }
    buf_text(out, plan_resume_filter);
    buf_text(out, where ? ")" : "");
}

static void print_query(struct buf *out, const struct hybrid *hybrid, size_t index)
{
    const struct select *select = hybrid->select;
    bool is_vector = !is_text(hybrid->score[index]);

    buf_text(out, "SELECT ");
    if (select->top)
        buf_printf(out, "TOP %llu ", (unsigned long long)hybrid_rows(select));
    print_columns(out, hybrid, index);
    query_print_from(out, select);
    print_where(out, hybrid);
    buf_text(out, "\nORDER BY ");
    print_score(out, hybrid, index);
    buf_text(out, is_turned(hybrid, index) ? " ASC" : is_vector ? "" : " DESC");
    if (select->limit)
        buf_printf(out, "\nOFFSET 0 LIMIT %llu", (unsigned long long)hybrid_rows(select));
}

/* ---- the statistics ---- */

static void print_statistics_of(struct buf *out, const struct expr *score)
{
    buf_text(out, "{\"totalWordCount\": SUM(_FullTextWordCount(");
    query_print_expr(out, score->kid[0]);
    buf_text(out, ")), \"hitCounts\": [");
    for (size_t i = 1; i < score->kid_count; i++) {
        buf_text(out, i > 1 ? ", COUNTIF(FullTextContains(" : "COUNTIF(FullTextContains(");
        query_print_expr(out, score->kid[0]);
        buf_text(out, ", ");
        query_print_expr(out, score->kid[i]);
        buf_text(out, "))");
    }
    buf_text(out, "]}");
}

static void print_statistics(struct buf *out, const struct hybrid *hybrid)
{
    bool any = false;

    buf_text(out, "SELECT COUNT(1) AS documentCount, [");
    for (size_t i = 0; i < hybrid->count; i++)
        if (is_text(hybrid->score[i])) {
            buf_text(out, any ? ", " : "");
            print_statistics_of(out, hybrid->score[i]);
            any = true;
        }
    buf_text(out, "] AS fullTextStatistics");
    query_print_from(out, hybrid->select);
}

/* ---- what is looked for ---- */

/* The steps below the item, by names alone; false when the text is computed. */
static bool print_path(struct buf *out, const struct expr *expr)
{
    struct value name = value_string(expr->name);

    if (expr->kind == EXPR_NAME)
        return true;
    if (expr->kind == EXPR_INDEX)
        name = expr->kid[1]->value;
    if ((expr->kind != EXPR_MEMBER && expr->kind != EXPR_INDEX) || name.kind != JSON_STRING ||
        !print_path(out, expr->kid[0]))
        return false;
    buf_text(out, expr->kid[0]->kind == EXPR_NAME ? "" : ",");
    json_print_string(out, name.string);
    return true;
}

static void print_terms(struct buf *out, const struct expr *score)
{
    for (size_t i = 1; i < score->kid_count; i++) {
        struct value value;
        struct slice word;
        uint32_t distance;
        bool is_keyword = fold_constant(score->kid[i], &value) && full_text_keyword(value, &word, &distance);

        assert(is_keyword); /* the binder has looked */
        buf_text(out, i > 1 ? ",{\"term\":" : "{\"term\":");
        json_print_string(out, word);
        if (value.kind == JSON_OBJECT)
            buf_printf(out, ",\"distance\":%u", distance);
        buf_text(out, "}");
    }
}

static void print_searches(struct buf *out, const struct hybrid *hybrid)
{
    bool any = false;

    buf_text(out, ",\"fullTextSearchTerms\":[");
    for (size_t i = 0; i < hybrid->count; i++) {
        struct buf path;

        buf_init(&path, &hybrid->op->arena);
        if (!is_text(hybrid->score[i]) || !print_path(&path, hybrid->score[i]->kid[0]))
            continue;
        buf_printf(out, "%s{\"path\":[%.*s],\"terms\":[", any ? "," : "", SLICE_ARGS(buf_as_slice(&path)));
        print_terms(out, hybrid->score[i]);
        buf_text(out, "]}");
        any = true;
    }
    buf_text(out, "]");
}

/* ---- the plan ---- */

static void print_text(struct buf *out, const struct hybrid *hybrid,
                       void (*print)(struct buf *out, const struct hybrid *hybrid, size_t index),
                       size_t index)
{
    struct buf text;

    buf_init(&text, &hybrid->op->arena);
    print(&text, hybrid, index);
    out->failed |= text.failed;
    json_print_string(out, buf_as_slice(&text));
}

static void print_statistics_query(struct buf *out, const struct hybrid *hybrid, size_t index)
{
    (void)index;
    print_statistics(out, hybrid);
}

static void print_number(struct buf *out, const char *name, const struct expr *present, uint64_t number)
{
    if (present)
        buf_printf(out, ",\"%s\":%llu", name, (unsigned long long)number);
    else
        buf_printf(out, ",\"%s\":null", name);
}

static void print_component(struct buf *out, const struct hybrid *hybrid, size_t index)
{
    const struct select *select = hybrid->select;
    bool has = has_order(hybrid);

    buf_text(out, "{\"distinctType\":\"None\"");
    print_number(out, "top", has ? select->top : NULL, hybrid_rows(select));
    print_number(out, "offset", has ? select->offset : NULL, 0);
    print_number(out, "limit", has ? select->limit : NULL, hybrid_rows(select));
    buf_text(out, ",\"orderBy\":[");
    if (has)
        buf_text(out, is_turned(hybrid, index) ? "\"Ascending\"" : "\"Descending\"");
    buf_text(out, "],\"orderByExpressions\":[");
    if (has)
        print_text(out, hybrid, print_score, index);
    buf_text(out, "],\"groupByExpressions\":[],\"groupByAliases\":[],\"aggregates\":[],"
                  "\"groupByAliasToAggregateType\":{},\"rewrittenQuery\":");
    print_text(out, hybrid, print_query, index);
    buf_printf(out, ",\"hasSelectValue\":false,\"dCountInfo\":null,\"hasNonStreamingOrderBy\":%s}",
               has ? "true" : "false");
}

/* Java reads doubles only where a point tells it so. */
static void print_weight(struct buf *out, double weight)
{
    struct value value = value_double(weight);

    value_print(out, value);
    buf_text(out, value.is_int ? ".0" : "");
}

static void print_weights(struct buf *out, const struct hybrid *hybrid)
{
    buf_text(
        out,
        "],\"componentWithoutPayloadQueryInfos\":[],\"projectionQueryInfo\":null,\"componentWeights\":[");
    for (size_t i = 0; i < hybrid->count && hybrid->weights; i++) {
        buf_text(out, i ? "," : "");
        print_weight(out, fabs(weight_of(hybrid, i)));
    }
    buf_text(out, "]");
}

void hybrid_print(struct op *op, const struct select *select, bool skips_order, struct buf *out)
{
    struct hybrid hybrid = read_clause(op, select);

    hybrid.skips_order = skips_order;
    buf_text(out, "{\"globalStatisticsQuery\":");
    print_text(out, &hybrid, print_statistics_query, 0);
    buf_text(out, ",\"componentQueryInfos\":[");
    for (size_t i = 0; i < hybrid.count; i++) {
        buf_text(out, i ? "," : "");
        print_component(out, &hybrid, i);
    }
    print_weights(out, &hybrid);
    print_number(out, "skip", select->offset, count_of(select->offset));
    print_number(out, "take", select->top ? select->top : select->limit,
                 count_of(select->top) + count_of(select->limit));
    buf_printf(out, ",\"requiresGlobalStatistics\":%s",
               hybrid_needs(select).texts || !skips_order ? "true" : "false");
    print_searches(out, &hybrid);
    buf_text(out, ",\"scoreCombinationKind\":\"Rrf\"}");
}
