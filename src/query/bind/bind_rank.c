/*
 * src/query/bind/bind_rank.c - ORDER BY RANK: one score, or several that RRF joins, by weights.
 * What may not stand beside it is told where the service tells it: each clause in its turn.
 */
#include "query/bind/bind_private.h"

/* A join is cited from the first source on. */
static enum status check_source(struct binder *b, const struct source *first, const struct source *source)
{
    struct span join = { first->span.start, source->span.end }, subquery = source->span;
    enum status st = ST_OK;

    if (source != first)
        TRY(bind_wrong(b, mistake(b->op, join, "SC2224",
                                  "The JOIN operator is not allowed with the ORDER BY RANK clause.")));
    if (source->kind == SOURCE_ITERATE)
        TRY(bind_wrong(b, mistake(b->op, source->span, "SC2223",
                                  "The FROM clause with the IN operator is not allowed with the ORDER BY "
                                  "RANK clause.")));
    if (source->kind == SOURCE_SUBQUERY) {
        subquery.end = source->select->span.end + 1; /* without its alias */
        TRY(bind_wrong(b, mistake(b->op, subquery, "SC2225",
                                  "Subqueries in the FROM clause are not allowed with the ORDER BY RANK "
                                  "clause.")));
    }
out:
    return st;
}

enum status bind_rank_sources(struct binder *b, const struct select *select)
{
    enum status st = ST_OK;

    for (size_t i = 0; select->rank && i < select->source_count; i++)
        TRY(check_source(b, &select->source[0], &select->source[i]));
out:
    return st;
}

enum status bind_rank_groups(struct binder *b, const struct select *select)
{
    if (!select->rank || select->group_count == 0)
        return ST_OK;
    return bind_wrong(b, mistake(b->op, select->group_span, "SC2227",
                                 "The GROUP BY clause is not allowed with the ORDER BY RANK clause."));
}

enum status bind_rank_columns(struct binder *b, const struct select *select)
{
    struct span span = { select->span.start, select->star_span.end };

    if (!select->rank || !select->distinct)
        return ST_OK;
    if (select->item_count)
        span.end = select->item[select->item_count - 1].span.end;
    return bind_wrong(b, mistake(b->op, span, "SC2220",
                                 "The DISTINCT keyword is not allowed with the ORDER BY RANK clause."));
}

static bool has_flag(const struct expr *expr, unsigned flags)
{
    return expr->kind == EXPR_CALL && expr->builtin && expr->builtin->flags & flags;
}

static enum status refuse_score(struct binder *b, const struct select *select)
{
    return bind_wrong(b, mistake(b->op, select->order_span, "SC2221",
                                 "The ORDER BY RANK clause must be followed by a VectorDistance and/or a "
                                 "FullTextScore function call."));
}

/* What is behind the scores of RRF: an array as it is written, or a parameter. */
static bool has_weights(const struct expr *fusion)
{
    enum expr_kind last = fusion->kid_count > 1 ? fusion->kid[fusion->kid_count - 1]->kind : EXPR_NAME;

    return last == EXPR_ARRAY || last == EXPR_PARAMETER;
}

/* A parameter may stand for all of them, or for one. */
static bool is_number(const struct expr *weight)
{
    return (weight->kind == EXPR_LITERAL || weight->kind == EXPR_PARAMETER) &&
           weight->value.kind == JSON_NUMBER;
}

static bool are_numbers(const struct expr *weights, size_t count)
{
    size_t seen = 0;

    if (weights->kind == EXPR_PARAMETER) {
        for (struct json_iter i = json_iter(weights->value.json); json_next(&i); seen++)
            if (json_kind(i.value) != JSON_NUMBER)
                return false;
        return seen == count;
    }
    for (size_t i = 0; i < weights->kid_count; i++)
        if (!is_number(weights->kid[i]))
            return false;
    return weights->kid_count == count;
}

static enum status check_weights(struct binder *b, const struct select *select, const struct expr *weights,
                                 size_t count)
{
    bool is_array = weights->kind == EXPR_ARRAY || weights->value.kind == JSON_ARRAY;

    if (is_array ? are_numbers(weights, count) : weights->value.kind == JSON_NUMBER)
        return ST_OK; /* a number would be how long lists are: nothing depends on it here */
    if (!is_array)
        return refuse_score(b, select);
    return bind_wrong(
        b,
        mistake(b->op, select->order_span, "SC2229",
                "The last parameter of the RRF function is an optional array of weights. When present, it "
                "must be a literal array of numbers, one for each of the component scores used for the RRF "
                "function. The length of this array must be the same as the number of the component "
                "scores."));
}

static enum status check_score(struct binder *b, const struct select *select, const struct expr *score)
{
    return score->refused || has_flag(score, RANKS | SCORES) ? ST_OK : refuse_score(b, select);
}

static enum status check_count(struct binder *b, const struct select *select, size_t count)
{
    if (count > 1)
        return ST_OK;
    return bind_wrong(b, mistake(b->op, select->order_span, "SC2233",
                                 "A score fusion function requires at least two component score functions."));
}

/* The last argument comes first, as it does in the service: it may be weights. */
static enum status bind_fusion(struct binder *b, const struct select *select, struct expr *fusion,
                               const struct visible *names)
{
    size_t count = fusion->kid_count - has_weights(fusion), last = fusion->kid_count - 1;
    enum status st = ST_OK;

    if (!has_weights(fusion))
        TRY(check_count(b, select, count));
    if (fusion->kid_count)
        TRY(bind_expr(b, fusion->kid[last], names, IN_SELECT));
    if (has_weights(fusion)) {
        TRY(check_weights(b, select, fusion->kid[last], count));
        TRY(check_count(b, select, count));
    }
    for (size_t i = 0; i < count; i++) {
        if (i != last)
            TRY(bind_expr(b, fusion->kid[i], names, IN_SELECT));
        TRY(check_score(b, select, fusion->kid[i]));
    }
out:
    return st;
}

static enum status bind_score(struct binder *b, const struct select *select, struct expr *score,
                              const struct visible *names)
{
    enum status st;

    TRY(bind_expr(b, score, names, IN_SELECT));
    TRY(check_score(b, select, score));
out:
    return st;
}

enum status bind_rank_list(struct binder *b, struct select *select, const struct visible *names)
{
    struct order_item *item = &select->order[0];
    enum status st;

    TRY(op_may_take_long(b->op));
    if (item->direction_written)
        TRY(bind_wrong(b, mistake(b->op, select->order_span, "SC2222",
                                  "Specifying a sort order (ASC or DESC) in the ORDER BY RANK clause is not "
                                  "allowed.")));
    b->in_rank = true;
    item->expr->builtin = item->expr->kind == EXPR_CALL ? builtin_find(item->expr->name) : NULL;
    if (has_flag(item->expr, FUSES))
        TRY(bind_fusion(b, select, item->expr, names));
    else
        TRY(bind_score(b, select, item->expr, names));
out:
    b->in_rank = false;
    return st;
}
