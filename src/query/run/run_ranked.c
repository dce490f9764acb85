/*
 * src/query/run/run_ranked.c - ORDER BY RANK: every row is scored, the best by each score are ranked together.
 * Clients that merge ranges ask each for the best so many by each score (plan/hybrid.c). The same number is taken
 * here, so that answers are the same whoever ranks. Of a row its number and its scores are kept; those on the page are
 * read again. A position says how many rows were given: the next page ranks anew.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "query/plan/hybrid.h"
#include "query/run/postings.h"
#include "query/run/run_private.h"

enum {
    PICKED_MAX = 10000, /* more are not worth being picked one by one */
    FILTERED_ROWS = 16, /* so many more texts are found at first than are wanted, */
    MORE = 4,           /* and then so many times as many */
    READ_MIN = 1000,
    READ_SHARE = 10, /* more than a tenth of the scope's items are not read for those that score least */
};

struct best {
    struct ranked_row **row;
    size_t count, capacity, most;
    const struct ranking_part *part;
    size_t index; /* of the part */
};

struct ranked {
    struct fill *fill;
    const struct ranking *ranking;
    const struct ranked_by *by;
    struct best *best; /* by each part; only the first when nobody is let go */
    size_t best_count;
    struct ranked_row *next; /* the row in the slots */
    struct ranked_row *free; /* let go, and good for another: by `number`'s place */
    struct ranked_row **list;
    size_t count;
};

static size_t row_bytes(const struct ranked *ranked)
{
    return sizeof(struct ranked_row) + ranked->ranking->count * sizeof(double);
}

/* ---- the best by each score ---- */

static int by_part(const void *a, const void *b, void *context)
{
    const struct best *best = context;

    return ranking_compare(best->part, best->index, *(struct ranked_row *const *)a,
                           *(struct ranked_row *const *)b);
}

static void let_go(struct ranked *ranked, struct ranked_row *row)
{
    memcpy(&row->fused, &ranked->free, sizeof(ranked->free));
    ranked->free = row;
}

static enum status take_free(struct ranked *ranked, struct ranked_row **row)
{
    if (!ranked->free)
        return fill_alloc(ranked->fill, row_bytes(ranked), row);
    *row = ranked->free;
    memcpy(&ranked->free, &(*row)->fused, sizeof(ranked->free));
    return ST_OK;
}

static void forget(struct ranked *ranked, struct best *best)
{
    while (best->count)
        let_go(ranked, best->row[--best->count]);
}

static void cut(struct ranked *ranked, struct best *best)
{
    if (best->count > 1)
        qsort_r(best->row, best->count, sizeof(*best->row), by_part, best);
    while (best->count > best->most)
        let_go(ranked, best->row[--best->count]);
}

static enum status grow(struct ranked *ranked, struct best *best)
{
    size_t capacity = best->capacity ? 2 * best->capacity : 256;
    struct ranked_row **row;
    enum status st;

    TRY(fill_alloc(ranked->fill, capacity * sizeof(*row), &row));
    if (best->count)
        memcpy(row, best->row, best->count * sizeof(*row));
    best->row = row;
    best->capacity = capacity;
out:
    return st;
}

static enum status keep(struct ranked *ranked, struct best *best)
{
    enum status st = ST_OK;

    if (best->most < SIZE_MAX / 2 && best->count >= 2 * best->most)
        cut(ranked, best);
    if (best->count == best->capacity)
        TRY(grow(ranked, best));
    TRY(take_free(ranked, &best->row[best->count]));
    memcpy(best->row[best->count++], ranked->next, row_bytes(ranked));
out:
    return st;
}

static bool take_row(struct eval *eval, void *context)
{
    struct ranked *ranked = context;
    struct cursor *cursor = ranked->fill->cursor;
    struct arena_mark mark = arena_mark(&eval->op->arena);
    enum status st = ST_OK;

    ranked->next->number = cursor->item.number;
    ranked->next->tie = fill_tie(ranked->fill, ranked->next->number);
    ranking_score(ranked->ranking, eval, ranked->next->number, ranked->next->score);
    arena_rewind(&eval->op->arena, mark);
    for (size_t i = 0; i < ranked->best_count && st == ST_OK; i++)
        st = keep(ranked, &ranked->best[i]);
    return cursor_goes_on(cursor, st);
}

/* ---- the best by an index ---- */

/* What a walk adds to: rows by one part. */
struct taking {
    struct ranked *ranked;
    struct best *best;
    size_t zeros, nones, wanted; /* rows without a hit, and without a text; so many of each are enough */
    size_t read, read_max;       /* items that were picked */
    bool has_seen_all;           /* of those that the index has, because too few passed */
    struct near *near;           /* of a distance: who is told of it */
};

static enum status take_scored(struct taking *taking, struct eval *eval)
{
    struct ranked *ranked = taking->ranked;

    ranked->next->number = ranked->fill->cursor->item.number;
    ranked->next->tie = fill_tie(ranked->fill, ranked->next->number);
    ranking_score(ranked->ranking, eval, ranked->next->number, ranked->next->score);
    return keep(ranked, taking->best);
}

static bool take_picked(struct eval *eval, void *context)
{
    struct taking *taking = context;

    return cursor_goes_on(taking->ranked->fill->cursor, take_scored(taking, eval));
}

static int by_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* So many more of the best, those that were picked before among them. */
static enum status find_more(struct taking *taking, const struct query_index *index, struct words_best *best)
{
    struct fill *fill = taking->ranked->fill;
    size_t wanted = best->wanted ? MORE * best->wanted : taking->wanted + FILTERED_ROWS;

    return (taking->best->part->turned ? postings_least : postings_best)(
        fill->cursor->eval.op, &fill->cursor->kept, taking->best->part, index, fill->by_creation, wanted,
        best);
}

/* The best texts, as many as are still wanted at a time, until so many have passed the filter. */
static enum status pick_best(struct taking *taking, const struct query_index *index)
{
    struct cursor *cursor = taking->ranked->fill->cursor;
    struct words_best best = { 0 };
    uint64_t *number;
    size_t next = 0;
    bool ended;
    enum status st;

    TRY(fill_alloc(taking->ranked->fill, (taking->wanted + 1) * sizeof(*number), &number));
    while (taking->best->count < taking->wanted && taking->read <= taking->read_max) {
        size_t count = 0;

        if (next == best.count && best.count == best.wanted)
            TRY(find_more(taking, index, &best));
        while (next < best.count && count < taking->wanted - taking->best->count)
            number[count++] = best.found[next++].number;
        taking->has_seen_all = count == 0;
        if (taking->has_seen_all)
            break;
        taking->read += count;
        qsort(number, count, sizeof(*number), by_u64);
        TRY(cursor_pick(cursor, number, count));
        TRY(cursor_walk(cursor, 0, take_picked, taking, &ended));
    }
out:
    return st;
}

/* Behind those with a hit: those without, and those without a text. By number the first of them suffice; else all are seen. */
static bool take_rest(struct eval *eval, void *context)
{
    struct taking *taking = context;
    const struct ranking_part *part = taking->best->part;
    struct cursor *cursor = taking->ranked->fill->cursor;
    size_t *seen;

    if (postings_score(part, cursor->item.number) > 0)
        return true;
    seen = eval_expr(eval, part->call->kid[0]).kind == JSON_STRING ? &taking->zeros : &taking->nones;
    if (taking->ranked->fill->by_creation)
        return cursor_goes_on(cursor, take_scored(taking, eval));
    if (*seen >= taking->wanted)
        return true;
    ++*seen;
    return cursor_goes_on(cursor, take_scored(taking, eval)) && taking->zeros < taking->wanted;
}

static enum status take_best(struct ranked *ranked, struct best *best, struct query_source *items,
                             struct query_source *passing, size_t wanted)
{
    struct taking taking = { .ranked = ranked, .best = best, .wanted = wanted, .read_max = SIZE_MAX };
    struct cursor *cursor = ranked->fill->cursor;
    bool ended;
    enum status st;

    cursor->source = items;
    TRY(pick_best(&taking, items->index));
    cursor->source = passing;
    if (best->count >= wanted)
        goto out;
    taking.wanted = wanted - best->count;
    TRY(cursor_seek(cursor, 0));
    TRY(cursor_walk(cursor, 0, take_rest, &taking, &ended));
out:
    return st;
}

/* Of a turned part. `told` false: too many were read of which too few pass. */
static enum status take_least(struct ranked *ranked, struct best *best, struct query_source *items,
                              size_t wanted, bool *told)
{
    size_t share = (size_t)(ranked->by->way->scope_items / READ_SHARE);
    struct taking taking = { .ranked = ranked, .best = best, .wanted = wanted };
    enum status st;

    taking.read_max = (share > READ_MIN ? share : READ_MIN) + MORE * wanted;
    ranked->fill->cursor->source = items;
    TRY(pick_best(&taking, items->index));
    *told = best->count >= wanted || taking.has_seen_all;
out:
    return st;
}

/* ---- the nearest by an index ---- */

static bool take_near(struct eval *eval, void *context)
{
    struct taking *taking = context;
    const struct ranking_part *part = taking->best->part;
    enum status st = take_scored(taking, eval);
    double score = taking->ranked->next->score[taking->best->index];

    if (score != -INFINITY)
        near_saw(taking->near, value_double(part->falls ? 0 - score : score));
    return cursor_goes_on(taking->ranked->fill->cursor, st);
}

static enum status walk_near(struct taking *taking)
{
    struct cursor *cursor = taking->ranked->fill->cursor;
    const uint64_t *number;
    size_t count;
    bool ended;
    enum status st;

    for (;;) {
        TRY(near_next(taking->near, &number, &count));
        if (count == 0)
            break;
        TRY(cursor_pick(cursor, number, count));
        TRY(cursor_walk(cursor, 0, take_near, taking, &ended));
    }
out:
    return st;
}

/* Where codes do not tell which they are, every row that passes the filter is one. */
static enum status take_nearest(struct ranked *ranked, struct best *best, struct query_source *items,
                                struct query_source *passing, size_t wanted)
{
    struct cursor *cursor = ranked->fill->cursor;
    struct near near = { 0 };
    struct taking taking = { .ranked = ranked, .best = best, .near = &near };
    bool served = false, ended;
    enum status st = ST_OK;

    cursor->source = items;
    if (near_find(&near, ranked->by->query, cursor->select, best->part->call, wanted))
        TRY(near_open(&near, cursor, ranked->by->way));
    if (near.is_open) {
        TRY(walk_near(&taking));
        served = near_suffices(&near);
        ranked->by->way->nears |= served;
        ranked->by->way->walks |= near.walked;
        ranked->by->way->codes += near.search.codes;
    }
    cursor->source = passing;
    if (served)
        goto out;
    forget(ranked, best);
    TRY(cursor_seek(cursor, 0));
    TRY(cursor_walk(cursor, 0, take_picked, &taking, &ended));
out:
    near_close(&near);
    return st;
}

/* Whether codes may tell the nearest. */
static bool tells_nearest(const struct ranked *ranked, const struct ranking_part *part, size_t wanted)
{
    struct near near = { 0 };

    return ranked->by->way->access &&
           near_find(&near, ranked->by->query, ranked->fill->cursor->select, part->call, wanted) &&
           near_is_worth(&near, ranked->by->way);
}

/* Whether lists tell the best texts, or the least of a turned part, unless fewer items pass the filter. */
static bool tells_texts(const struct ranked *ranked, const struct ranking_part *part, size_t wanted)
{
    const struct way *way = ranked->by->way;

    if (!part->turned)
        return ranked->ranking->is_indexed;
    return ranked->ranking->is_indexed && postings_tell_first(part) &&
           (way->allowed == QUERY_BY_INDEX || !way_picks_fewer(way, (double)wanted));
}

/* Whether indexes tell which items are best, so that the others need not be read. */
static bool tells_best(const struct ranked *ranked, const struct query_source *items, size_t wanted)
{
    const struct ranking *ranking = ranked->ranking;

    if (!items->pick || ranked->best[0].most > PICKED_MAX)
        return false;
    for (size_t i = 0; i < ranking->count; i++) {
        const struct ranking_part *part = &ranking->part[i];

        if (!(part->is_text ? tells_texts(ranked, part, wanted)
                            : !part->turned && tells_nearest(ranked, part, wanted)))
            return false;
    }
    return true;
}

/* ---- one order ---- */

static int by_number(const void *a, const void *b)
{
    const struct ranked_row *x = *(struct ranked_row *const *)a, *y = *(struct ranked_row *const *)b;

    return x->number < y->number ? -1 : x->number > y->number;
}

static enum status unite(struct ranked *ranked)
{
    size_t all = 0, count = 0;
    enum status st;

    for (size_t i = 0; i < ranked->best_count; i++) {
        cut(ranked, &ranked->best[i]);
        all += ranked->best[i].count;
    }
    TRY(fill_alloc(ranked->fill, (all + 1) * sizeof(*ranked->list), &ranked->list));
    for (size_t i = 0; i < ranked->best_count; i++)
        for (size_t k = 0; k < ranked->best[i].count; k++)
            ranked->list[count++] = ranked->best[i].row[k];
    if (ranked->ranking->count == 1)
        goto out;
    qsort(ranked->list, count, sizeof(*ranked->list), by_number);
    all = count;
    count = 0;
    for (size_t i = 0; i < all; i++)
        if (count == 0 || ranked->list[count - 1]->number != ranked->list[i]->number)
            ranked->list[count++] = ranked->list[i];
out:
    ranked->count = count;
    return st;
}

static enum status put_in_order(struct ranked *ranked)
{
    struct ranked_row **room;
    enum status st;

    TRY(unite(ranked));
    if (ranked->ranking->count > 1) {
        TRY(fill_alloc(ranked->fill, (ranked->count + 1) * sizeof(*room), &room));
        ranking_fuse(ranked->ranking, ranked->list, ranked->count, room);
    }
out:
    return st;
}

/* ---- the page ---- */

/* Rows of the page, printed: by number, and each knows its place. */
struct printed {
    struct fill *fill;
    struct {
        uint64_t number;
        struct slice text; /* data is NULL where there is no row */
    } * row;
    size_t count;
};

static int compare_printed(const void *number, const void *row)
{
    uint64_t a = *(const uint64_t *)number, b = *(const uint64_t *)row;

    return a < b ? -1 : a > b;
}

static int by_printed(const void *a, const void *b)
{
    return compare_printed(a, b);
}

static bool print_row(struct eval *eval, void *context)
{
    struct printed *printed = context;
    struct fill *fill = printed->fill;
    struct arena_mark mark = arena_mark(&eval->op->arena);
    uint64_t number = fill->cursor->item.number;
    typeof(printed->row) row =
        bsearch(&number, printed->row, printed->count, sizeof(*printed->row), compare_printed);
    bool defined;
    enum status st;

    TRY(fill_print(fill, &defined));
    if (row && defined)
        TRY(fill_copy(fill, buf_as_slice(&fill->text), &row->text));
out:
    arena_rewind(&eval->op->arena, mark);
    return cursor_goes_on(fill->cursor, st);
}

/* From a source that gives what it is asked for, or else one by one. */
static enum status read_rows(struct printed *printed, const uint64_t *number)
{
    struct cursor *cursor = printed->fill->cursor;
    bool ended;
    enum status st = ST_OK;

    if (cursor->source->pick) {
        TRY(cursor_pick(cursor, number, printed->count));
        TRY(cursor_walk(cursor, 0, print_row, printed, &ended));
        goto out;
    }
    for (size_t i = 0; i < printed->count; i++) {
        TRY(cursor_seek(cursor, cursor_before(cursor, number[i])));
        TRY(cursor_walk(cursor, 1, print_row, printed, &ended));
    }
out:
    return st;
}

static enum status print_rows(struct ranked *ranked, size_t first, struct printed *printed)
{
    struct fill *fill = printed->fill;
    uint64_t *number;
    enum status st;

    TRY(fill_alloc(fill, printed->count * sizeof(*printed->row), &printed->row));
    TRY(fill_alloc(fill, printed->count * sizeof(*number), &number));
    for (size_t i = 0; i < printed->count; i++) {
        printed->row[i].number = ranked->list[first + i]->number;
        printed->row[i].text = slice_make(NULL, 0);
    }
    qsort(printed->row, printed->count, sizeof(*printed->row), by_printed);
    for (size_t i = 0; i < printed->count; i++)
        number[i] = printed->row[i].number;
    TRY(read_rows(printed, number));
out:
    return st;
}

/* `at` is how many rows of the ranking are before the page, and in the end those before the next. */
static enum status give_rows(struct ranked *ranked, const struct printed *printed, size_t *at)
{
    bool given = true;
    enum status st = ST_OK;

    for (size_t i = 0; i < printed->count && ranked->fill->at.take; i++) {
        typeof(printed->row) row = bsearch(&ranked->list[*at]->number, printed->row, printed->count,
                                           sizeof(*printed->row), compare_printed);

        assert(row);
        if (row->text.data)
            TRY(fill_give(ranked->fill, row->text, &given));
        if (!given)
            break;
        ++*at;
    }
out:
    return st;
}

static size_t least(size_t a, uint64_t b)
{
    return a < b ? a : (size_t)b;
}

static enum status give_page(struct ranked *ranked)
{
    struct fill *fill = ranked->fill;
    struct printed printed = { .fill = fill };
    struct position next = { .order = ORDER_RANKED };
    size_t at = least(ranked->count, fill->at.number);
    enum status st = ST_OK;

    for (; fill->at.skip && at < ranked->count; fill->at.skip--)
        at++;
    printed.count = least(least(ranked->count - at, fill->limits->rows), fill->at.take);
    if (printed.count == 0)
        goto out;
    TRY(print_rows(ranked, at, &printed));
    TRY(give_rows(ranked, &printed, &at));
    next.number = at;
    if (fill->at.take && at < ranked->count)
        fill_goes_on(fill, &next);
out:
    return st;
}

/* ---- */

/* One score alone needs no more rows than the statement gives. */
static uint64_t rows_wanted(const struct ranked *ranked)
{
    const struct select *select = ranked->fill->cursor->select;
    uint64_t most = hybrid_rows(select), skip = select->offset ? (uint64_t)select->offset->value.integer : 0;
    const struct expr *take = select->top ? select->top : select->limit;

    if (ranked->ranking->count > 1 || !take)
        return most;
    return skip + (uint64_t)take->value.integer;
}

static enum status begin(struct ranked *ranked)
{
    const struct ranking *ranking = ranked->ranking;
    uint64_t most = hybrid_rows(ranked->fill->cursor->select);
    enum status st;

    ranked->best_count = most == UINT64_MAX ? 1 : ranking->count;
    TRY(fill_alloc(ranked->fill, row_bytes(ranked), &ranked->next));
    TRY(fill_alloc(ranked->fill, ranked->best_count * sizeof(*ranked->best), &ranked->best));
    for (size_t i = 0; i < ranked->best_count; i++)
        ranked->best[i] = (struct best){ .most = most, .part = &ranking->part[i], .index = i };
out:
    return st;
}

static enum status take_part(struct ranked *ranked, struct best *best, struct query_source *items,
                             struct query_source *passing, size_t wanted, bool *told)
{
    if (!best->part->is_text)
        return take_nearest(ranked, best, items, passing, wanted);
    if (!best->part->turned)
        return take_best(ranked, best, items, passing, wanted);
    return take_least(ranked, best, items, wanted, told);
}

static enum status take_passing(struct ranked *ranked, struct query_source *passing)
{
    struct cursor *cursor = ranked->fill->cursor;
    bool ended;
    enum status st;

    for (size_t i = 0; i < ranked->best_count; i++)
        forget(ranked, &ranked->best[i]);
    cursor->source = passing;
    TRY(cursor_seek(cursor, 0));
    TRY(cursor_walk(cursor, 0, take_row, ranked, &ended));
out:
    return st;
}

/* Each score's best by the index; or all rows that pass the filter. */
static enum status find_best(struct ranked *ranked, struct query_source *items, bool passing_are_few)
{
    struct query_source *passing = ranked->fill->cursor->source;
    size_t wanted = (size_t)rows_wanted(ranked);
    bool told = !passing_are_few && tells_best(ranked, items, wanted);
    enum status st = ST_OK;

    for (size_t i = 0; i < ranked->best_count && told; i++)
        TRY(take_part(ranked, &ranked->best[i], items, passing, wanted, &told));
    if (!told)
        TRY(take_passing(ranked, passing));
out:
    return st;
}

enum status run_ranked(struct fill *fill, const struct ranking *ranking, struct query_source *items,
                       const struct ranked_by *by)
{
    struct ranked ranked = { .fill = fill, .ranking = ranking, .by = by };
    enum status st;

    TRY(begin(&ranked));
    TRY(find_best(&ranked, items, by->passing_are_few));
    TRY(put_in_order(&ranked));
    fill->cursor->source = items;
    TRY(give_page(&ranked));
out:
    return st;
}
