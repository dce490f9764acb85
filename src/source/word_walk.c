/* src/source/word_walk.c - lists of texts, made by walking the entries of words in the index. */
#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "index/near_words.h"
#include "index/set.h"
#include "index/text_terms.h"
#include "source/word_walk.h"
#include "words/lists.h"

/* ---- walking ---- */

/* Where there is no memory, lists that nobody uses make room. */
static bool add_text(struct word_list *list, const struct word_text *text)
{
    while (!word_list_add(list, text))
        if (!word_lists_let_go(list->claim.account))
            return false;
    return true;
}

/* What is done with each block of entries; `bytes` is what follows the prefix. */
typedef enum status take_entries(struct word_walk *walk, struct slice bytes, const struct index_block *block,
                                 void *context);

static enum status walk_prefix(struct word_walk *walk, struct slice prefix, take_entries *take, void *context)
{
    struct op *op = walk->op;
    struct index_walk range = { .from = prefix,
                                .to = index_prefix_end(&op->arena, prefix),
                                .last = UINT64_MAX };
    struct index_cursor *cursor = NULL;
    struct index_block block;
    enum status st;

    TRY(index_cursor_open(op, walk->index->base.view, &range, &cursor));
    for (;;) {
        TRY(index_cursor_next(op, cursor, &block));
        if (block.count == 0 || !walk->is_told)
            break;
        TRY(take(walk, slice_after(block.term, prefix.size), &block, context));
    }
out:
    index_cursor_close(cursor);
    return st;
}

static enum status walk_stem(struct word_walk *walk, struct slice stem, take_entries *take, void *context)
{
    uint8_t bytes[TEXT_PREFIX_BYTES_MAX];

    return walk_prefix(walk, slice_make(bytes, text_term_prefix(bytes, walk->question->text->id, stem)), take,
                       context);
}

static void add_block(struct word_walk *walk, struct word_list *list, struct word_text text,
                      const struct index_block *block)
{
    for (size_t i = 0; i < block->count && walk->is_told; i++) {
        text.number = block->number[i];
        walk->is_told = add_text(list, &text);
    }
}

static enum status take_length(struct word_walk *walk, struct slice bytes, const struct index_block *block,
                               void *list)
{
    struct word_text text = { 0 };

    if (!text_length_read(bytes, &text.length))
        return op_fail_as(walk->op, ST_CORRUPT);
    add_block(walk, list, text, block);
    return op_check(walk->op);
}

static enum status take_word(struct word_walk *walk, struct slice bytes, const struct index_block *block,
                             void *list)
{
    struct text_posting posting;

    if (!text_posting_read(bytes, &posting))
        return op_fail_as(walk->op, ST_CORRUPT);
    add_block(walk, list, (struct word_text){ 0, posting.frequency, posting.length }, block);
    return ST_OK;
}

static enum status take_items(struct word_walk *walk, struct slice bytes, const struct index_block *block,
                              void *list)
{
    (void)bytes;
    add_block(walk, list, (struct word_text){ 0 }, block);
    return op_check(walk->op);
}

/* ---- phrases ---- */

/* One word of one text, and where it stands. */
struct hit {
    uint64_t number;
    uint32_t term, length; /* the term counts from the phrase's first */
    uint32_t *place, frequency;
};

struct hits {
    struct arena memory;
    struct hit *hit;
    size_t count, capacity;
    uint32_t term;
};

static enum status take_places(struct word_walk *walk, struct slice bytes, const struct index_block *block,
                               void *context)
{
    struct hits *hits = context;
    struct text_posting posting;
    struct hit hit = { .term = hits->term };

    if (!text_posting_read(bytes, &posting))
        return op_fail_as(walk->op, ST_CORRUPT);
    hit.length = posting.length;
    hit.frequency = posting.frequency;
    walk->is_told &= posting.place_count == posting.frequency;
    hit.place = arena_try_alloc(&hits->memory, (posting.place_count + 1) * sizeof(*hit.place));
    walk->is_told = walk->is_told && hit.place &&
                    arena_list_reserve(&hits->memory, &hits->hit, &hits->capacity, hits->count + block->count,
                                       sizeof(*hits->hit));
    if (!walk->is_told)
        return ST_OK;
    if (!text_posting_places(&posting, hit.place))
        return op_fail_as(walk->op, ST_CORRUPT);
    for (size_t i = 0; i < block->count; i++) {
        hit.number = block->number[i];
        hits->hit[hits->count++] = hit;
    }
    return ST_OK;
}

static int by_number(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->term < y->term ? -1 : x->term > y->term;
}

/* Texts that have all the words, and have them one behind the other. */
static void join_hits(struct word_walk *walk, const struct hits *hits, struct text_places *places,
                      size_t terms, struct word_list *list)
{
    for (size_t i = 0, next; i < hits->count && walk->is_told; i = next) {
        struct word_text text = { .number = hits->hit[i].number, .length = hits->hit[i].length };

        for (next = i; next < hits->count && hits->hit[next].number == text.number; next++)
            places[hits->hit[next].term] =
                (struct text_places){ .position = hits->hit[next].place, .count = hits->hit[next].frequency };
        if (next - i < terms)
            continue;
        text.frequency = text_phrase_count(places, terms);
        if (text.frequency)
            walk->is_told = add_text(list, &text);
    }
}

static enum status walk_phrase(struct word_walk *walk, const struct text_keyword *keyword,
                               struct word_list *list)
{
    struct hits hits = { 0 };
    struct text_places *places;
    enum status st = ST_OK;

    op_arena(walk->op, &hits.memory, OP_MEMORY_BYTES_MAX);
    places = arena_try_alloc(&hits.memory, keyword->count * sizeof(*places));
    walk->is_told = places != NULL;
    for (; hits.term < keyword->count && walk->is_told; hits.term++)
        TRY(walk_stem(walk, walk->question->search->term[keyword->first + hits.term].stem, take_places,
                      &hits));
    if (hits.count > 1 && walk->is_told)
        qsort(hits.hit, hits.count, sizeof(*hits.hit), by_number);
    join_hits(walk, &hits, places, keyword->count, list);
out:
    arena_free(&hits.memory);
    return st;
}

/* ---- fuzzy keywords ---- */

/* Items that may have a word, or a keyword. */
struct numbers {
    struct arena memory;
    uint64_t *number; /* rising, each once */
    size_t count, capacity;
};

static void numbers_begin(struct numbers *numbers, struct op *op)
{
    *numbers = (struct numbers){ 0 };
    op_arena(op, &numbers->memory, OP_MEMORY_BYTES_MAX);
}

static void forget(struct numbers *numbers)
{
    arena_reset(&numbers->memory);
    numbers->number = NULL;
    numbers->count = numbers->capacity = 0;
}

static void add_numbers(struct word_walk *walk, struct numbers *numbers, const uint64_t *number, size_t count)
{
    walk->is_told =
        walk->is_told && arena_list_reserve(&numbers->memory, &numbers->number, &numbers->capacity,
                                            numbers->count + count, sizeof(*numbers->number));
    if (!walk->is_told || count == 0)
        return;
    memcpy(numbers->number + numbers->count, number, count * sizeof(*number));
    numbers->count += count;
}

static enum status take_numbers(struct word_walk *walk, struct slice bytes, const struct index_block *block,
                                void *numbers)
{
    (void)bytes;
    add_numbers(walk, numbers, block->number, block->count);
    return op_check(walk->op);
}

static int by_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void sort_numbers(struct numbers *numbers)
{
    size_t kept = 0;

    if (numbers->count > 1)
        qsort(numbers->number, numbers->count, sizeof(*numbers->number), by_u64);
    for (size_t i = 0; i < numbers->count; i++)
        if (kept == 0 || numbers->number[kept - 1] != numbers->number[i])
            numbers->number[kept++] = numbers->number[i];
    numbers->count = kept;
}

static enum status walk_near(struct word_walk *walk, const struct text_term *term, struct numbers *numbers)
{
    struct arena_mark mark = arena_mark(&walk->op->arena);
    struct near_words near;
    enum status st;

    TRY(near_words_find(walk->op, walk->index->base.view, walk->question->text, term, &near));
    for (size_t i = 0; i < near.count && walk->is_told; i++)
        TRY(walk_prefix(walk, near.prefix[i], take_numbers, numbers));
    sort_numbers(numbers);
    arena_rewind(&walk->op->arena, mark);
out:
    return st;
}

/* Of the keyword's words that which the fewest items may have. */
static enum status find_fewest(struct word_walk *walk, const struct text_keyword *keyword,
                               struct numbers *fewest)
{
    struct numbers numbers;
    enum status st = ST_OK;

    numbers_begin(&numbers, walk->op);
    for (size_t i = 0; i < keyword->count && walk->is_told; i++) {
        forget(&numbers);
        TRY(walk_near(walk, &walk->question->search->term[keyword->first + i], &numbers));
        if (i && numbers.count >= fewest->count)
            continue;
        forget(fewest);
        add_numbers(walk, fewest, numbers.number, numbers.count);
    }
out:
    arena_free(&numbers.memory);
    return st;
}

/* Items that may have one of the keywords or another. */
static enum status find_candidates(struct word_walk *walk, const struct word_fuzzy *fuzzy, size_t count,
                                   struct numbers *candidates)
{
    struct numbers fewest;
    enum status st = ST_OK;

    numbers_begin(&fewest, walk->op);
    for (size_t i = 0; i < count && walk->is_told; i++) {
        forget(&fewest);
        TRY(find_fewest(walk, fuzzy[i].keyword, &fewest));
        add_numbers(walk, candidates, fewest.number, fewest.count);
        sort_numbers(candidates);
    }
out:
    arena_free(&fewest.memory);
    return st;
}

static void add_hits(struct word_walk *walk, const struct word_fuzzy *fuzzy, size_t count, uint64_t number,
                     const struct text_hits *hits)
{
    for (size_t i = 0; i < count && walk->is_told; i++) {
        size_t index = (size_t)(fuzzy[i].keyword - walk->question->search->keyword);
        struct word_text text = { number, hits->frequency[index], hits->length };

        walk->is_told = text.frequency == 0 || add_text(fuzzy[i].list, &text);
    }
}

/* Those that have expired, too: a list tells what the snapshot has, whatever the time. */
static enum status read_texts(struct word_walk *walk, const struct word_fuzzy *fuzzy, size_t count,
                              const struct numbers *numbers)
{
    static const struct partition_scope everything = { 0 };
    struct op *op = walk->op;
    struct partition_scan scan;
    struct record item;
    bool found;
    enum status st = ST_OK;

    partition_scan_open_over(op, walk->index->container, &everything, walk->index->base.view, &scan);
    scan.expired_too = true;
    partition_scan_pick(&scan, numbers->number, numbers->count);
    while (walk->is_told) {
        struct query_text text;
        struct arena_mark mark;

        TRY(partition_scan_next(op, &scan, &item, &found));
        if (!found)
            break;
        mark = arena_mark(&op->arena);
        TRY(item_text(op, walk->question, &item, &text));
        if (text.is_text)
            add_hits(walk, fuzzy, count, item.number, &text.hits);
        arena_rewind(&op->arena, mark);
        TRY(op_check(op));
    }
out:
    partition_scan_close(&scan);
    return st;
}

/*
 * Entries say which texts may have such words; how often they do the texts say, which are read once for all keywords. It
 * costs what the lists do, each time.
 */
enum status word_walk_fuzzy(struct word_walk *walk, const struct word_fuzzy *fuzzy, size_t count)
{
    uint64_t read = walk->op->work.entries_read;
    struct numbers candidates;
    enum status st;

    numbers_begin(&candidates, walk->op);
    TRY(find_candidates(walk, fuzzy, count, &candidates));
    if (candidates.count && walk->is_told)
        TRY(read_texts(walk, fuzzy, count, &candidates));
    for (size_t i = 0; i < count; i++)
        read += fuzzy[i].list->count;
    walk->op->work.entries_read = read;
out:
    arena_free(&candidates.memory);
    return st;
}

/* ---- what is walked ---- */

static const struct index_step time_step = { .name = { "_ts", 3 } };
static const struct index_path time_path = { &time_step, 1 };

/* Every item has an entry of its time. */
bool word_walk_has_items(const struct query_index *index)
{
    return index->has(index, &time_path);
}

enum status word_walk_items(struct word_walk *walk, struct word_list *list)
{
    uint8_t prefix[TERM_PATH_BYTES];

    term_put_path(prefix, index_path_id(walk->index->base.policy, &time_path));
    return walk_prefix(walk, slice_make(prefix, sizeof(prefix)), take_items, list);
}

enum status word_walk_texts(struct word_walk *walk, struct word_list *list)
{
    return walk_stem(walk, slice_of(""), take_length, list);
}

bool word_walk_is_fuzzy(const struct text_search *search, const struct text_keyword *keyword)
{
    return keyword->count && search->term[keyword->first].distance;
}

enum status word_walk_keyword(struct word_walk *walk, const struct text_keyword *keyword,
                              struct word_list *list)
{
    assert(!word_walk_is_fuzzy(walk->question->search, keyword));
    if (keyword->count == 0) /* which nothing meets */
        return ST_OK;
    if (keyword->count == 1)
        return walk_stem(walk, walk->question->search->term[keyword->first].stem, take_word, list);
    return walk_phrase(walk, keyword, list);
}
