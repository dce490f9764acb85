/*
 * src/query/run/ranking.c - scores of ORDER BY RANK, and their fusion by reciprocal ranks.
 * Clients that merge ranges do the same with the same numbers, so that both come to the same order.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "query/bind/fold.h"
#include "query/function/full_text.h"
#include "query/function/vector.h"
#include "query/run/postings.h"

/* How little a place counts for: w / (60 + place). */
enum { FUSION_OFFSET = 60 };

/* What stands for no score in a fusion, as plans say it. */
static const double no_score = 1.7976900000000001e+308, no_text = -1;

/* ---- the clause ---- */

static enum status read_keywords(struct op *op, struct ranking_part *part)
{
    const struct full_text_call *bound = part->call->memo;

    text_search_begin(&part->search, bound->language, &op->arena);
    for (size_t i = 1; i < part->call->kid_count; i++) {
        struct value value;
        struct slice word;
        uint32_t distance;
        bool is_keyword =
            fold_constant(part->call->kid[i], &value) && full_text_keyword(value, &word, &distance);

        assert(is_keyword); /* the binder has looked */
        if (!text_search_add(&part->search, word, distance))
            return op_fail_as(op, ST_QUERY_MEMORY);
    }
    part->hits = arena_alloc(&op->arena, part->search.keyword_count * sizeof(*part->hits));
    for (size_t i = 0; i < part->search.keyword_count; i++)
        part->hits[i] = 0;
    part->statistics.hits = part->hits;
    return ST_OK;
}

static enum status make_part(struct op *op, const struct expr *call, double weight, struct ranking_part *part)
{
    *part = (struct ranking_part){
        .call = call, .is_text = call->builtin->flags & SCORES, .weight = fabs(weight), .turned = weight < 0
    };
    if (part->is_text)
        return read_keywords(op, part);
    part->falls = !vector_nearest_is_greatest(call, call->memo);
    return ST_OK;
}

/* Of the array behind the scores; 1 where there is none. */
static double weight_of(const struct expr *weights, size_t index)
{
    struct value value;

    if (weights->kind == EXPR_ARRAY)
        return weights->kid[index]->value.number;
    value = weights->value;
    if (weights->kind != EXPR_PARAMETER || value.kind != JSON_ARRAY)
        return 1;
    for (struct json_iter i = json_iter(value.json); json_next(&i);)
        if (index-- == 0)
            return json_double(i.value);
    return 1;
}

static bool is_score(const struct expr *expr)
{
    return expr->kind == EXPR_CALL && expr->builtin->flags & (SCORES | RANKS);
}

enum status ranking_make(struct op *op, const struct select *select, struct ranking *ranking)
{
    struct expr *expr = select->order[0].expr, **call = &expr;
    const struct expr *last = expr;
    size_t count = 1;
    enum status st = ST_OK;

    assert(select->rank && select->order_count == 1);
    if (!is_score(expr)) {
        call = expr->kid;
        count = expr->kid_count;
        last = call[count - 1];
        count -= !is_score(last);
    }
    ranking->part = arena_alloc(&op->arena, count * sizeof(*ranking->part));
    ranking->count = count;
    for (size_t i = 0; i < count; i++)
        TRY(make_part(op, call[i], weight_of(last, i), &ranking->part[i]));
out:
    return st;
}

/* ---- one row ---- */

/* Whether the part's text is a string, in which the keywords were looked for. */
static bool look(const struct ranking_part *part, struct eval *eval, struct text_hits *hits)
{
    struct value text = eval_expr(eval, part->call->kid[0]);

    if (text.kind != JSON_STRING || !eval_spend(eval, text.string.size * (1 + part->search.term_count)))
        return false;
    if (text_search_look(&part->search, text.string, &eval->op->arena, hits))
        return true;
    eval_fail(eval, ST_QUERY_MEMORY);
    return false;
}

static double score_of(const struct ranking_part *part, struct eval *eval)
{
    struct text_hits hits;
    struct value distance;

    if (part->is_text)
        return look(part, eval, &hits) ? text_score(&part->statistics, &hits, part->search.keyword_count)
                                       : -INFINITY;
    distance = eval_expr(eval, part->call);
    if (distance.kind != JSON_NUMBER)
        return -INFINITY;
    return part->falls ? 0 - distance.number : distance.number;
}

/* From the index; the item is asked only whether it has a text. */
static double known_score(const struct ranking_part *part, struct eval *eval, uint64_t number)
{
    double score = postings_score(part, number);

    if (score > 0)
        return score;
    return eval_expr(eval, part->call->kid[0]).kind == JSON_STRING ? 0 : -INFINITY;
}

void ranking_score(const struct ranking *ranking, struct eval *eval, uint64_t number, double *score)
{
    for (size_t i = 0; i < ranking->count; i++) {
        const struct ranking_part *part = &ranking->part[i];

        score[i] =
            ranking->is_indexed && part->is_text ? known_score(part, eval, number) : score_of(part, eval);
    }
}

/* ---- how rare the keywords are ---- */

bool ranking_needs_counts(const struct ranking *ranking)
{
    for (size_t i = 0; i < ranking->count && !ranking->is_counted; i++)
        if (ranking->part[i].is_text)
            return true;
    return false;
}

static void count_part(struct ranking_part *part, struct eval *eval)
{
    struct text_hits hits;

    part->statistics.documents++;
    if (!look(part, eval, &hits))
        return;
    part->statistics.words += hits.length;
    for (size_t i = 0; i < part->search.keyword_count; i++)
        part->hits[i] += hits.frequency[i] > 0;
}

static bool count_row(struct eval *eval, void *context)
{
    struct ranking *ranking = context;
    struct arena_mark mark = arena_mark(&eval->op->arena);

    for (size_t i = 0; i < ranking->count; i++)
        if (ranking->part[i].is_text)
            count_part(&ranking->part[i], eval);
    arena_rewind(&eval->op->arena, mark);
    return eval->status == ST_OK;
}

enum status ranking_count(struct ranking *ranking, struct cursor *cursor)
{
    bool ended;
    enum status st;

    assert(!cursor->select->where);
    TRY(cursor_seek(cursor, 0));
    TRY(cursor_walk(cursor, 0, count_row, ranking, &ended));
    ranking->is_counted = true;
out:
    return st;
}

/* ---- orders ---- */

static int compare_tie(const struct ranked_row *a, const struct ranked_row *b)
{
    return a->tie < b->tie ? -1 : a->tie > b->tie;
}

int ranking_compare(const struct ranking_part *part, size_t index, const struct ranked_row *a,
                    const struct ranked_row *b)
{
    double x = a->score[index], y = b->score[index];

    if (x == y)
        return compare_tie(a, b);
    return (x > y) != part->turned ? -1 : 1;
}

/* What a row without a score has in a fusion: it is worse than any. */
static double filled(const struct ranking_part *part, double score)
{
    if (score != -INFINITY)
        return part->turned ? -score : score;
    return part->turned || !part->is_text ? -no_score : no_text;
}

static int by_fused(const void *a, const void *b)
{
    const struct ranked_row *x = *(struct ranked_row *const *)a, *y = *(struct ranked_row *const *)b;

    if (x->fused != y->fused)
        return x->fused > y->fused ? -1 : 1;
    return compare_tie(x, y);
}

/* Rows in the order of `fused`; equal ones share a place. */
static void add_places(const struct ranking_part *part, size_t index, struct ranked_row **row, size_t count)
{
    uint64_t place = 0;
    double last = 0;

    for (size_t i = 0; i < count; i++) {
        double score = filled(part, row[i]->score[index]);

        place += i == 0 || score != last;
        last = score;
        row[i]->score[index] = part->weight / (double)(FUSION_OFFSET + place);
    }
}

void ranking_fuse(const struct ranking *ranking, struct ranked_row **row, size_t count,
                  struct ranked_row **room)
{
    for (size_t k = 0; k < ranking->count; k++) {
        memcpy(room, row, count * sizeof(*row));
        for (size_t i = 0; i < count; i++)
            room[i]->fused = filled(&ranking->part[k], room[i]->score[k]);
        qsort(room, count, sizeof(*room), by_fused);
        add_places(&ranking->part[k], k, room, count);
    }
    for (size_t i = 0; i < count; i++) {
        row[i]->fused = 0;
        for (size_t k = 0; k < ranking->count; k++)
            row[i]->fused += row[i]->score[k];
    }
    qsort(row, count, sizeof(*row), by_fused);
}
