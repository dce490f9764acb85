/* src/query/run/postings.c - words, places and lengths from index entries, text by text. */
#include <assert.h>
#include <stdlib.h>

#include "index/set.h"
#include "index/text_terms.h"
#include "query/function/full_text.h"
#include "query/run/postings.h"

enum { PATH_STEPS_MAX = 32 };

/* One word of one text. */
struct hit {
    uint64_t number;
    uint32_t term; /* of the search */
    uint32_t length, frequency;
    uint32_t *place; /* NULL where no phrase asks */
};

struct hits {
    struct arena *memory;
    struct hit *hit;
    size_t count, capacity;
};

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

static bool text_of(struct op *op, const struct ranking_part *part, const struct query_index *index,
                    struct index_text *text)
{
    struct index_step *step = arena_alloc(&op->arena, PATH_STEPS_MAX * sizeof(*step));
    const struct full_text_call *bound = part->call->memo;
    struct index_path path = { .step = step };

    return path_of(part->call->kid[0], step, &path.count) && path.count && index->has_text &&
           index->has_text(index, &path) && index_policy_text(index->policy, &path, text) &&
           text->language == bound->language;
}

static bool is_plain(const struct text_search *search)
{
    for (size_t i = 0; i < search->term_count; i++)
        if (search->term[i].distance || search->term[i].stem.size == 0)
            return false;
    return true;
}

/* Rows are items, and none is hidden from the entries or by them. */
bool postings_serve(struct op *op, const struct select *select, const struct ranking *ranking,
                    const struct query_index *index)
{
    const struct source *from = select->source_count == 1 ? &select->source[0] : NULL;
    bool any = false;

    if (!index || index->hides || index->left_out.data || !from || from->kind != SOURCE_PATH ||
        from->path->kind != EXPR_NAME)
        return false;
    for (size_t i = 0; i < ranking->count; i++) {
        struct index_text text;

        if (!ranking->part[i].is_text)
            continue;
        any = true;
        if (!is_plain(&ranking->part[i].search) || !text_of(op, &ranking->part[i], index, &text))
            return false;
    }
    return any;
}

/* ---- words ---- */

static bool is_in_phrase(const struct text_search *search, size_t term)
{
    for (size_t i = 0; i < search->keyword_count; i++) {
        const struct text_keyword *keyword = &search->keyword[i];

        if (term >= keyword->first && term < keyword->first + keyword->count)
            return keyword->count > 1;
    }
    return false;
}

/* The word that is being walked. */
struct taking {
    struct hits *hits;
    size_t term;
    bool needs_places;
    bool *served;
};

static enum status read_places(struct op *op, const struct taking *taking, const struct text_posting *posting,
                               uint32_t **place)
{
    *taking->served &= posting->place_count == posting->frequency;
    *place = arena_try_alloc(taking->hits->memory, (posting->place_count + 1) * sizeof(**place));
    if (!*place)
        return op_fail_as(op, ST_QUERY_MEMORY);
    return text_posting_places(posting, *place) ? ST_OK : op_fail_as(op, ST_CORRUPT);
}

static enum status take_block(struct op *op, const struct taking *taking, struct slice bytes,
                              const struct index_block *block)
{
    struct hits *hits = taking->hits;
    struct text_posting posting;
    struct hit hit = { .term = (uint32_t)taking->term };
    enum status st = ST_OK;

    if (!text_posting_read(bytes, &posting))
        return op_fail_as(op, ST_CORRUPT);
    hit.length = posting.length;
    hit.frequency = posting.frequency;
    if (taking->needs_places)
        TRY(read_places(op, taking, &posting, &hit.place));
    if (!arena_list_reserve(hits->memory, &hits->hit, &hits->capacity, hits->count + block->count,
                            sizeof(*hits->hit)))
        TRY(op_fail_as(op, ST_QUERY_MEMORY));
    for (size_t i = 0; i < block->count; i++) {
        hit.number = block->number[i];
        hits->hit[hits->count++] = hit;
    }
out:
    return st;
}

/* All texts that have the stem. */
static enum status walk_stem(struct op *op, const struct query_index *index, path_id path, struct slice stem,
                             struct taking *taking)
{
    uint8_t bytes[TEXT_PREFIX_BYTES_MAX];
    struct slice prefix = slice_make(bytes, text_term_prefix(bytes, path, stem));
    struct index_walk walk = { .from = prefix,
                               .to = index_prefix_end(&op->arena, prefix),
                               .last = UINT64_MAX };
    struct index_cursor *cursor = NULL;
    struct index_block block;
    enum status st;

    TRY(index_cursor_open(op, index->view, &walk, &cursor));
    for (;;) {
        TRY(index_cursor_next(op, cursor, &block));
        if (block.count == 0)
            break;
        TRY(take_block(op, taking, slice_after(block.term, prefix.size), &block));
    }
out:
    index_cursor_close(cursor);
    return st;
}

/* The words of all texts: few lengths, of many texts each, which are counted and not walked. */
static enum status count_words(struct op *op, const struct query_index *index, path_id path, double *words)
{
    uint8_t bytes[TEXT_PREFIX_BYTES_MAX];
    struct slice prefix = slice_make(bytes, text_term_prefix(bytes, path, slice_of("")));
    struct index_walk walk = { .from = prefix,
                               .to = index_prefix_end(&op->arena, prefix),
                               .last = UINT64_MAX };
    struct index_cursor *cursor = NULL;
    struct index_block block;
    enum status st;

    TRY(index_cursor_open(op, index->view, &walk, &cursor));
    for (;;) {
        struct slice term;
        uint64_t texts;
        uint32_t length;

        TRY(index_cursor_next(op, cursor, &block));
        if (block.count == 0)
            break;
        if (!text_length_read(slice_after(block.term, prefix.size), &length))
            TRY(op_fail_as(op, ST_CORRUPT));
        term = arena_copy(&op->arena, block.term);
        TRY(index_count(op, index->view, term, index_prefix_end(&op->arena, term), &texts));
        *words += (double)length * (double)texts;
        TRY(index_cursor_seek(op, cursor, term, UINT64_MAX));
    }
out:
    index_cursor_close(cursor);
    return st;
}

/* ---- texts ---- */

static int by_number(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->term < y->term ? -1 : x->term > y->term;
}

/* How often each keyword stands in the text whose words these are. */
static void count_keywords(const struct text_search *search, const struct hit *hit, size_t count,
                           struct text_places *places, uint32_t *frequency)
{
    for (size_t i = 0; i < search->term_count; i++)
        places[i].count = 0;
    for (size_t i = 0; i < count; i++) {
        places[hit[i].term].position = hit[i].place;
        places[hit[i].term].count = hit[i].frequency;
    }
    for (size_t i = 0; i < search->keyword_count; i++) {
        const struct text_keyword *keyword = &search->keyword[i];

        frequency[i] = keyword->count == 1 ? (uint32_t)places[keyword->first].count
                                           : text_phrase_count(places + keyword->first, keyword->count);
    }
}

/* Twice: for the statistics, which scores depend on, and for the scores. */
static void visit_texts(struct ranking_part *part, const struct hits *hits, struct text_places *places,
                        uint32_t *frequency, bool scores)
{
    for (size_t i = 0, next; i < hits->count; i = next) {
        struct text_hits text = { .length = hits->hit[i].length, .frequency = frequency };

        for (next = i + 1; next < hits->count && hits->hit[next].number == hits->hit[i].number;)
            next++;
        count_keywords(&part->search, &hits->hit[i], next - i, places, frequency);
        for (size_t k = 0; k < part->search.keyword_count && !scores; k++)
            part->hits[k] += frequency[k] > 0;
        if (!scores)
            continue;
        part->scored[part->scored_count] =
            (struct scored_text){ hits->hit[i].number,
                                  text_score(&part->statistics, &text, part->search.keyword_count) };
        part->scored_count += part->scored[part->scored_count].score > 0;
    }
}

static enum status score_texts(struct op *op, struct arena *memory, struct ranking_part *part,
                               struct hits *hits)
{
    size_t terms = part->search.term_count, keywords = part->search.keyword_count;
    struct text_places *places = arena_try_alloc(memory, (terms + 1) * sizeof(*places));
    uint32_t *frequency = arena_try_alloc(memory, (keywords + 1) * sizeof(*frequency));

    part->scored = arena_try_alloc(memory, (hits->count + 1) * sizeof(*part->scored));
    if (!places || !frequency || !part->scored)
        return op_fail_as(op, ST_QUERY_MEMORY);
    memset(places, 0, terms * sizeof(*places));
    if (hits->count)
        qsort(hits->hit, hits->count, sizeof(*hits->hit), by_number);
    visit_texts(part, hits, places, frequency, false);
    visit_texts(part, hits, places, frequency, true);
    return ST_OK;
}

static enum status load_part(struct op *op, struct arena *memory, struct ranking_part *part,
                             const struct query_index *index, bool *served)
{
    struct hits hits = { .memory = memory };
    struct taking taking = { .hits = &hits, .served = served };
    struct index_text text;
    bool is_text = text_of(op, part, index, &text);
    enum status st = ST_OK;

    assert(is_text); /* postings_serve() has looked */
    for (; taking.term < part->search.term_count; taking.term++) {
        taking.needs_places = is_in_phrase(&part->search, taking.term);
        TRY(walk_stem(op, index, text.id, part->search.term[taking.term].stem, &taking));
    }
    if (!*served)
        goto out;
    part->statistics.documents = (double)index->documents;
    TRY(count_words(op, index, text.id, &part->statistics.words));
    TRY(score_texts(op, memory, part, &hits));
out:
    return st;
}

/* What was counted of some parts before another could not be. */
static void forget(struct ranking_part *part)
{
    part->statistics.documents = part->statistics.words = 0;
    part->scored_count = 0;
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

static int compare_scored(const void *number, const void *scored)
{
    uint64_t a = *(const uint64_t *)number, b = ((const struct scored_text *)scored)->number;

    return a < b ? -1 : a > b;
}

const struct scored_text *postings_find(const struct ranking_part *part, uint64_t number)
{
    if (part->scored_count == 0)
        return NULL;
    return bsearch(&number, part->scored, part->scored_count, sizeof(*part->scored), compare_scored);
}
