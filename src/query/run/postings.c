/* src/query/run/postings.c - what texts score, from lists of the texts that have each keyword. */
#include <assert.h>
#include <math.h>
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

bool postings_text(struct op *op, const struct expr *call, const struct query_index *index,
                   struct index_path *path, struct index_text *text)
{
    const struct full_text_call *bound = call->memo;
    struct index_step *step = arena_alloc(&op->arena, PATH_STEPS_MAX * sizeof(*step));

    *path = (struct index_path){ .step = step };
    return path_of(call->kid[0], step, &path->count) && path->count && index->has_text &&
           index->has_text(index, path, text) && text->language == bound->language;
}

bool postings_tell(const struct index_text *text, const struct text_search *search)
{
    for (size_t i = 0; i < search->term_count; i++)
        if ((search->term[i].distance && !text->has_forms) || search->term[i].stem.size == 0)
            return false;
    return true;
}

/* Rows are items, and none is hidden from the entries. */
bool postings_serve(struct op *op, const struct select *select, const struct ranking *ranking,
                    const struct query_index *index)
{
    const struct source *from = select->source_count == 1 ? &select->source[0] : NULL;
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
        if (!postings_text(op, ranking->part[i].call, index, &path, &text) ||
            !postings_tell(&text, &ranking->part[i].search))
            return false;
    }
    return any;
}

/* ---- loading ---- */

static void take_statistics(struct ranking_part *part, const struct query_index *index)
{
    const struct query_words *words = &part->words;

    part->statistics.documents = (double)(index->documents - words->expired);
    part->statistics.words = words->words;
    for (size_t i = 0; i < part->search.keyword_count; i++)
        part->hits[i] = words->hits[i];
}

static enum status weigh(struct op *op, struct arena *memory, struct ranking_part *part,
                         const struct query_index *index)
{
    struct query_words *words = &part->words;
    double *rarity = arena_try_alloc(memory, (part->search.keyword_count + 1) * sizeof(*rarity));

    if (!rarity)
        return op_fail_as(op, ST_QUERY_MEMORY);
    if (!part->is_given)
        take_statistics(part, index);
    for (size_t i = 0; i < part->search.keyword_count; i++)
        rarity[i] = text_rarity(part->statistics.documents, part->hits[i]);
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
    struct index_path path;
    struct index_text text;
    struct words_question question = {
        .path = &path, .text = &text, .search = &part->search, .with_items = part->turned
    };
    bool is_text = postings_text(op, part->call, index, &path, &text);
    enum status st;

    assert(is_text); /* postings_serve() has looked */
    TRY(index->words(op, index, &question, &part->words));
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

static enum status best_begin(struct op *op, struct arena *memory, size_t wanted, struct words_best *best)
{
    *best = (struct words_best){ .wanted = wanted };
    best->found = arena_try_alloc(memory, (wanted + 1) * sizeof(*best->found));
    return best->found ? ST_OK : op_fail_as(op, ST_QUERY_MEMORY);
}

static enum status set_spans(struct op *op, struct arena *memory, const struct query_index *index,
                             struct words_asked *asked)
{
    struct words_span *span = arena_try_alloc(memory, (index->span_count + 1) * sizeof(*span));

    for (size_t i = 0; span && i < index->span_count; i++)
        span[i] = (struct words_span){ index->span[i].from, index->span[i].to };
    asked->span = span;
    asked->span_count = index->span_count;
    return span ? ST_OK : op_fail_as(op, ST_QUERY_MEMORY);
}

enum status postings_best(struct op *op, struct arena *memory, const struct ranking_part *part,
                          const struct query_index *index, bool by_creation, size_t wanted,
                          struct words_best *best)
{
    struct words_asked asked = part->asked;
    enum status st;

    TRY(best_begin(op, memory, wanted, best));
    TRY(set_spans(op, memory, index, &asked));
    asked.by_creation = by_creation;
    offer_doubtful(&asked, part, best);
    st = words_best(&asked, memory, best) ? ST_OK : op_fail_as(op, ST_QUERY_MEMORY);
out:
    return st;
}

/* ---- texts without a hit ---- */

static int by_number(const void *a, const void *b)
{
    const struct words_found *x = a, *y = b;

    return x->number < y->number ? -1 : x->number > y->number;
}

static int by_tie(const void *a, const void *b)
{
    const struct words_found *x = a, *y = b;

    return x->tie < y->tie ? -1 : x->tie > y->tie;
}

static bool is_doubtful(const struct query_words *words, uint64_t number)
{
    return words->doubtful_count &&
           bsearch(&number, words->doubtful, words->doubtful_count, sizeof(number), compare_number);
}

/* Among the first of all texts, with a hit or without. */
static void offer_texts(const struct words_asked *asked, const struct query_words *words,
                        struct words_best *first)
{
    for (size_t i = 0; i < words->texts->count; i++) {
        uint64_t number = words->texts->text[i].number;

        if (is_in_spans(asked, number) && !is_doubtful(words, number))
            words_offer(asked, first, number, 0);
    }
    for (size_t i = 0; i < words->doubtful_count; i++)
        if (words->text[i].is_text && is_in_spans(asked, words->doubtful[i]))
            words_offer(asked, first, words->doubtful[i], 0);
}

/*
 * `best` has all texts with a hit. So many as are wanted altogether are the first of all texts: those of them that have
 * no hit are enough to fill it.
 */
static enum status add_rest(struct op *op, struct arena *memory, const struct ranking_part *part,
                            const struct words_asked *asked, struct words_best *best)
{
    size_t hit_count = best->count;
    struct words_found *hit = arena_try_alloc(memory, (hit_count + 1) * sizeof(*hit));
    struct words_best first;
    enum status st;

    TRY(best_begin(op, memory, best->wanted, &first));
    if (!hit)
        TRY(op_fail_as(op, ST_QUERY_MEMORY));
    memcpy(hit, best->found, hit_count * sizeof(*hit));
    qsort(hit, hit_count, sizeof(*hit), by_number);
    offer_texts(asked, &part->words, &first);
    qsort(first.found, first.count, sizeof(*first.found), by_tie);
    for (size_t i = 0; i < first.count && best->count < best->wanted; i++)
        if (!bsearch(&first.found[i], hit, hit_count, sizeof(*hit), by_number))
            best->found[best->count++] = first.found[i];
out:
    return st;
}

enum status postings_first(struct op *op, struct arena *memory, const struct ranking_part *part,
                           const struct query_index *index, bool by_creation, size_t wanted,
                           struct words_best *best)
{
    struct words_asked asked = part->asked;
    enum status st;

    TRY(postings_best(op, memory, part, index, by_creation, wanted, best));
    TRY(set_spans(op, memory, index, &asked));
    asked.by_creation = by_creation;
    if (best->count < wanted)
        TRY(add_rest(op, memory, part, &asked, best));
out:
    return st;
}

/* ---- the least ---- */

bool postings_tell_first(const struct ranking_part *part)
{
    return !part->turned || part->words.items;
}

/* The less it scores the better, and best of all is what has no text. A text that would be too late without a hit is not scored. */
static void offer_turned(const struct words_asked *asked, const struct ranking_part *part, uint64_t number,
                         bool is_text, struct words_best *best)
{
    if (!is_text)
        words_offer(asked, best, number, INFINITY);
    else if (words_takes(asked, best, number, 0))
        words_offer(asked, best, number, 0 - postings_score(part, number));
}

static void offer_items(const struct words_asked *asked, const struct ranking_part *part,
                        struct words_best *best)
{
    const struct query_words *words = &part->words;

    for (size_t i = 0; i < words->items->count; i++) {
        uint64_t number = words->items->text[i].number;

        if (is_in_spans(asked, number) && !is_doubtful(words, number))
            offer_turned(asked, part, number, word_list_find(words->texts, number) != NULL, best);
    }
    for (size_t i = 0; i < words->doubtful_count; i++)
        if (words->text[i].is_there && is_in_spans(asked, words->doubtful[i]))
            offer_turned(asked, part, words->doubtful[i], words->text[i].is_text, best);
}

enum status postings_least(struct op *op, struct arena *memory, const struct ranking_part *part,
                           const struct query_index *index, bool by_creation, size_t wanted,
                           struct words_best *best)
{
    struct words_asked asked = part->asked;
    enum status st;

    assert(part->turned && part->words.items);
    TRY(best_begin(op, memory, wanted, best));
    TRY(set_spans(op, memory, index, &asked));
    asked.by_creation = by_creation;
    offer_items(&asked, part, best);
    words_sort(best);
out:
    return st;
}
