/* src/query/run/postings.c - what texts score, from lists of the texts that have each keyword. */
#include <assert.h>
#include <stdlib.h>

#include "query/function/full_text.h"
#include "query/run/postings.h"

enum { PATH_STEPS_MAX = 32 };

/* ---- paths ---- */

/* c.a.b from the item down; false for anything else. */
static bool path_of(const struct expr *expr, struct index_step *step, size_t *count)
{
    if (expr->instead)
        return false;
    if (expr->kind == EXPR_NAME)
        return true;
    if (expr->kind != EXPR_MEMBER || !path_of(expr->kid[0], step, count) || *count == PATH_STEPS_MAX)
        return false;
    step[(*count)++] = (struct index_step){ .name = expr->name };
    return true;
}

/* `step` has room for PATH_STEPS_MAX. */
static bool text_of(const struct ranking_part *part, const struct query_index *index, struct index_path *path,
                    struct index_step *step, struct index_text *text)
{
    const struct full_text_call *bound = part->call->memo;

    *path = (struct index_path){ .step = step };
    return path_of(part->call->kid[0], step, &path->count) && path->count && index->has_text &&
           index->has_text(index, path) && index_policy_text(index->policy, path, text) &&
           text->language == bound->language;
}

static bool is_plain(const struct text_search *search)
{
    for (size_t i = 0; i < search->term_count; i++)
        if (search->term[i].distance || search->term[i].stem.size == 0)
            return false;
    return true;
}

/* Rows are items, and none is hidden from the entries. */
bool postings_serve(struct op *op, const struct select *select, const struct ranking *ranking,
                    const struct query_index *index)
{
    const struct source *from = select->source_count == 1 ? &select->source[0] : NULL;
    struct index_step *step = arena_alloc(&op->arena, PATH_STEPS_MAX * sizeof(*step));
    bool any = false;

    if (!index || !index->words || index->left_out.data || !from || from->kind != SOURCE_PATH ||
        from->path->kind != EXPR_NAME)
        return false;
    for (size_t i = 0; i < ranking->count; i++) {
        struct index_path path;
        struct index_text text;

        if (!ranking->part[i].is_text)
            continue;
        any = true;
        if (!is_plain(&ranking->part[i].search) || !text_of(&ranking->part[i], index, &path, step, &text))
            return false;
    }
    return any;
}

/* ---- loading ---- */

static enum status weigh(struct op *op, struct arena *memory, struct ranking_part *part,
                         const struct query_index *index)
{
    struct query_words *words = &part->words;
    double *rarity = arena_try_alloc(memory, (part->search.keyword_count + 1) * sizeof(*rarity));

    if (!rarity)
        return op_fail_as(op, ST_QUERY_MEMORY);
    part->statistics.documents = (double)(index->documents - words->expired);
    part->statistics.words = words->words;
    for (size_t i = 0; i < part->search.keyword_count; i++) {
        part->hits[i] = words->hits[i];
        rarity[i] = text_rarity(part->statistics.documents, part->hits[i]);
    }
    part->asked = (struct words_asked){ .list = words->list,
                                        .rarity = rarity,
                                        .count = part->search.keyword_count,
                                        .documents = part->statistics.documents,
                                        .words = part->statistics.words,
                                        .doubtful = words->doubtful,
                                        .doubtful_count = words->doubtful_count };
    return ST_OK;
}

static enum status load_part(struct op *op, struct arena *memory, struct ranking_part *part,
                             const struct query_index *index, bool *served)
{
    struct index_step *step = arena_alloc(&op->arena, PATH_STEPS_MAX * sizeof(*step));
    struct index_path path = { .step = step };
    struct index_text text;
    bool is_text = text_of(part, index, &path, step, &text);
    enum status st;

    assert(is_text); /* postings_serve() has looked */
    TRY(index->words(op, index, &path, &text, &part->search, &part->words));
    *served = part->words.is_told;
    if (*served)
        TRY(weigh(op, memory, part, index));
out:
    return st;
}

/* What was counted of some parts before another could not be. */
static void forget(struct ranking_part *part)
{
    part->statistics.documents = part->statistics.words = 0;
    for (size_t i = 0; part->is_text && i < part->search.keyword_count; i++)
        part->hits[i] = 0;
}

enum status postings_load(struct op *op, struct arena *memory, struct ranking *ranking,
                          const struct query_index *index, bool *served)
{
    uint64_t before = op->work.entries_read;
    enum status st = ST_OK;

    *served = true;
    for (size_t i = 0; i < ranking->count && *served; i++)
        if (ranking->part[i].is_text)
            TRY(load_part(op, memory, &ranking->part[i], index, served));
    ranking->is_counted = ranking->is_indexed = *served;
    ranking->entries_read = op->work.entries_read - before;
    for (size_t i = 0; i < ranking->count && !*served; i++)
        forget(&ranking->part[i]);
out:
    return st;
}

/* ---- scores ---- */

static double score_of_doubtful(const struct ranking_part *part, size_t at)
{
    const struct query_text *text = &part->words.text[at];

    return text->is_text ? text_score(&part->statistics, &text->hits, part->search.keyword_count) : 0;
}

static int compare_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

double postings_score(const struct ranking_part *part, uint64_t number)
{
    const struct query_words *words = &part->words;
    const uint64_t *doubtful = NULL;

    if (words->doubtful_count)
        doubtful = bsearch(&number, words->doubtful, words->doubtful_count, sizeof(number), compare_number);
    return doubtful ? score_of_doubtful(part, (size_t)(doubtful - words->doubtful))
                    : words_score(&part->asked, number);
}

static bool is_in_spans(const struct words_asked *asked, uint64_t number)
{
    for (size_t i = 0; i < asked->span_count; i++)
        if (number < asked->span[i].to)
            return number >= asked->span[i].from;
    return false;
}

static void offer_doubtful(const struct words_asked *asked, const struct ranking_part *part,
                           struct words_best *best)
{
    for (size_t i = 0; i < part->words.doubtful_count && best->wanted; i++) {
        double score = score_of_doubtful(part, i);

        if (score > 0 && is_in_spans(asked, part->words.doubtful[i]))
            words_offer(asked, best, part->words.doubtful[i], score);
    }
}

enum status postings_best(struct op *op, struct arena *memory, const struct ranking_part *part,
                          const struct query_index *index, bool by_creation, size_t wanted,
                          struct words_best *best)
{
    struct words_asked asked = part->asked;
    struct words_span *span = arena_try_alloc(memory, (index->span_count + 1) * sizeof(*span));

    *best = (struct words_best){ .wanted = wanted };
    best->found = arena_try_alloc(memory, (wanted + 1) * sizeof(*best->found));
    if (!span || !best->found)
        return op_fail_as(op, ST_QUERY_MEMORY);
    for (size_t i = 0; i < index->span_count; i++)
        span[i] = (struct words_span){ index->span[i].from, index->span[i].to };
    asked.span = span;
    asked.span_count = index->span_count;
    asked.by_creation = by_creation;
    offer_doubtful(&asked, part, best);
    return words_best(&asked, memory, best) ? ST_OK : op_fail_as(op, ST_QUERY_MEMORY);
}
