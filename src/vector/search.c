/* src/vector/search.c - the best of a column by its codes: all of them, those of some spans, or some that are named. */
#include <assert.h>
#include <stdlib.h>

#include "vector/column_private.h"

enum { BLOCK_VECTORS = 512 };

/* ---- the best ---- */

/* The worst on top. */
static void sink(struct vector_candidate *heap, size_t count, size_t at)
{
    struct vector_candidate moved = heap[at];

    for (size_t kid; (kid = 2 * at + 1) < count; at = kid) {
        kid += kid + 1 < count && is_better(heap[kid], heap[kid + 1]);
        if (!is_better(moved, heap[kid]))
            break;
        heap[at] = heap[kid];
    }
    heap[at] = moved;
}

static void rise(struct vector_candidate *heap, size_t at)
{
    struct vector_candidate moved = heap[at];

    for (size_t parent; at && (parent = (at - 1) / 2, is_better(heap[parent], moved)); at = parent)
        heap[at] = heap[parent];
    heap[at] = moved;
}

void search_offer(struct vector_search *search, struct vector_candidate candidate)
{
    if (search->count < search->wanted) {
        search->found[search->count] = candidate;
        rise(search->found, search->count++);
    } else if (search->count && is_better(candidate, search->found[0])) {
        search->found[0] = candidate;
        sink(search->found, search->count, 0);
    }
}

static int by_score(const void *a, const void *b)
{
    const struct vector_candidate *x = a, *y = b;

    return is_better(*x, *y) ? -1 : is_better(*y, *x);
}

void search_sort(struct vector_search *search)
{
    if (search->count > 1)
        qsort(search->found, search->count, sizeof(*search->found), by_score);
}

/* ---- who may be one ---- */

static bool has_number(const uint64_t *number, size_t count, uint64_t wanted)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (number[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && number[low] == wanted;
}

static bool is_in_spans(const struct vector_search *search, uint64_t number)
{
    for (size_t i = 0; i < search->span_count; i++)
        if (number < search->span[i].to)
            return number >= search->span[i].from;
    return false;
}

bool search_wants(const struct vector_column *column, const struct vector_search *search, size_t at)
{
    uint64_t number = number_at(column, at);

    return !is_gone(column, at) && is_in_spans(search, number) &&
           !has_number(search->doubtful, search->doubtful_count, number) &&
           (!search->among || has_number(search->among, search->among_count, number));
}

/* ---- many ---- */

/* The least score that would still be taken. */
static float bar_of(const struct vector_search *search)
{
    return search->count < search->wanted ? -__builtin_inff() : search->found[0].score;
}

/* With `function` and `by_most` known, the compiler makes a loop of its own for each. */
static inline __attribute__((always_inline)) void offer_block(const struct vector_column *column,
                                                              struct vector_search *search, size_t from,
                                                              size_t count, const int32_t *dots,
                                                              enum vector_function function, bool by_most)
{
    const struct vector_measure *measure = measure_at(column, from);
    float bar = bar_of(search);

    for (size_t i = 0; i < count; i++) {
        float score = by_most ? vector_score_most(function, &measure[i], &search->measure, dots[i])
                              : vector_score(function, &measure[i], &search->measure, dots[i]);

        if (score >= bar && search_wants(column, search, from + i)) {
            search_offer(search, (struct vector_candidate){ score, (uint32_t)(from + i),
                                                            number_at(column, from + i) });
            bar = bar_of(search);
        }
    }
}

static void offer(const struct vector_column *column, struct vector_search *search, size_t from, size_t count,
                  const int32_t *dots)
{
    bool by_most = search->by_most;

    if (search->function == VECTOR_COSINE && !by_most)
        offer_block(column, search, from, count, dots, VECTOR_COSINE, false);
    else if (search->function == VECTOR_DOT_PRODUCT && !by_most)
        offer_block(column, search, from, count, dots, VECTOR_DOT_PRODUCT, false);
    else if (!by_most)
        offer_block(column, search, from, count, dots, VECTOR_EUCLIDEAN, false);
    else
        offer_block(column, search, from, count, dots, search->function, true);
}

void search_range(const struct vector_column *column, struct vector_search *search, size_t from, size_t to)
{
    const int8_t *code[BLOCK_VECTORS];
    int32_t dots[BLOCK_VECTORS];

    while (from < to) {
        size_t in_chunk = CHUNK_VECTORS - from % CHUNK_VECTORS;
        size_t count = to - from < in_chunk ? to - from : in_chunk;

        count = count < BLOCK_VECTORS ? count : BLOCK_VECTORS;
        for (size_t i = 0; i < count; i++)
            code[i] = code_at(column, from) + i * column->code_bytes;
        column->form->dots(search->code, code, column->code_bytes, count, dots);
        offer(column, search, from, count, dots);
        search->codes += count;
        from += count;
    }
}

/* ---- some ---- */

static void search_one(const struct vector_column *column, struct vector_search *search, size_t at)
{
    const int8_t *code = code_at(column, at);
    int32_t dot;

    column->form->dots(search->code, &code, column->code_bytes, 1, &dot);
    offer(column, search, at, 1, &dot);
    search->codes++;
}

static void search_among(const struct vector_column *column, struct vector_search *search)
{
    const uint64_t *among = search->among;

    search->among = NULL; /* whoever is looked at is one of them */
    for (size_t i = 0; i < search->among_count; i++) {
        size_t at = column_find(column, among[i]);

        if (at != SIZE_MAX)
            search_one(column, search, at);
    }
    search->among = among;
}

float vector_column_likely(const struct vector_column *column, const struct vector_search *search,
                           const struct vector_candidate *candidate)
{
    return vector_score_likely(search->function, measure_at(column, candidate->at), &search->measure,
                               column->key.dimensions, candidate->score);
}

void vector_column_scan(const struct vector_column *column, struct vector_search *search)
{
    search->count = 0;
    if (search->among) {
        search_among(column, search);
    } else {
        for (size_t i = 0; i < search->span_count; i++)
            search_range(column, search, column_lower(column, search->span[i].from),
                         column_lower(column, search->span[i].to));
        search_range(column, search, column->sorted_count, column->count);
    }
    search_sort(search);
}
