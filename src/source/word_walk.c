/* src/source/word_walk.c - lists of texts, made by walking the entries of words in the index. */
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
        if (block.count == 0)
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
    if (!hit.place || !arena_list_reserve(&hits->memory, &hits->hit, &hits->capacity,
                                          hits->count + block->count, sizeof(*hits->hit)))
        return op_fail_as(walk->op, ST_QUERY_MEMORY);
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
    if (!places)
        TRY(op_fail_as(walk->op, ST_QUERY_MEMORY));
    for (; hits.term < keyword->count; hits.term++)
        TRY(walk_stem(walk, walk->question->search->term[keyword->first + hits.term].stem, take_places,
                      &hits));
    if (hits.count)
        qsort(hits.hit, hits.count, sizeof(*hits.hit), by_number);
    join_hits(walk, &hits, places, keyword->count, list);
out:
    arena_free(&hits.memory);
    return st;
}

/* ---- fuzzy keywords ---- */

/* Items that may have a word. */
struct numbers {
    uint64_t *number; /* rising, each once */
    size_t count, capacity;
};

static enum status take_numbers(struct word_walk *walk, struct slice bytes, const struct index_block *block,
                                void *context)
{
    struct numbers *numbers = context;

    (void)bytes;
    if (!arena_list_reserve(&walk->op->arena, &numbers->number, &numbers->capacity,
                            numbers->count + block->count, sizeof(*numbers->number)))
        return op_fail_as(walk->op, ST_QUERY_MEMORY);
    memcpy(numbers->number + numbers->count, block->number, block->count * sizeof(*block->number));
    numbers->count += block->count;
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
    struct near_words near;
    enum status st;

    *numbers = (struct numbers){ 0 };
    TRY(near_words_find(walk->op, walk->index->base.view, walk->question->text, term, &near));
    for (size_t i = 0; i < near.count; i++)
        TRY(walk_prefix(walk, near.prefix[i], take_numbers, numbers));
    sort_numbers(numbers);
out:
    return st;
}

/* Of the keyword's words that which the fewest items may have. */
static enum status find_fewest(struct word_walk *walk, const struct text_keyword *keyword,
                               struct numbers *fewest)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < keyword->count; i++) {
        struct numbers numbers;

        TRY(walk_near(walk, &walk->question->search->term[keyword->first + i], &numbers));
        if (i == 0 || numbers.count < fewest->count)
            *fewest = numbers;
    }
out:
    return st;
}

/* Those that have expired, too: a list tells what the snapshot has, whatever the time. */
static enum status read_texts(struct word_walk *walk, const struct text_keyword *keyword,
                              const struct numbers *numbers, struct word_list *list)
{
    static const struct partition_scope everything = { 0 };
    size_t index = (size_t)(keyword - walk->question->search->keyword);
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
        if (text.is_text && text.hits.frequency[index])
            walk->is_told = add_text(
                list, &(struct word_text){ item.number, text.hits.frequency[index], text.hits.length });
        arena_rewind(&op->arena, mark);
        TRY(op_check(op));
    }
out:
    partition_scan_close(&scan);
    return st;
}

/* Entries say which texts may have such words; how often they do the texts say. It costs what the list does, each time. */
static enum status walk_fuzzy(struct word_walk *walk, const struct text_keyword *keyword,
                              struct word_list *list)
{
    uint64_t read = walk->op->work.entries_read;
    struct numbers numbers = { 0 };
    enum status st;

    TRY(find_fewest(walk, keyword, &numbers));
    if (numbers.count)
        TRY(read_texts(walk, keyword, &numbers, list));
    walk->op->work.entries_read = read + list->count;
out:
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

enum status word_walk_keyword(struct word_walk *walk, const struct text_keyword *keyword,
                              struct word_list *list)
{
    if (keyword->count == 0) /* which nothing meets */
        return ST_OK;
    if (walk->question->search->term[keyword->first].distance)
        return walk_fuzzy(walk, keyword, list);
    if (keyword->count == 1)
        return walk_stem(walk, walk->question->search->term[keyword->first].stem, take_word, list);
    return walk_phrase(walk, keyword, list);
}
