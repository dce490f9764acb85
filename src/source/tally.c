/*
 * src/source/tally.c - how many items a query's scope has, how many words their texts, and in how many a keyword is.
 * Lists (words.c) are of the whole container, by the numbers of items. Within the scope, but for its ends, numbers tell
 * which are in it: there lists are counted, and items that they do not speak of are added as they were found to be. At the
 * ends, where items out of the scope have such numbers, too, items are looked at.
 */
#include <stdlib.h>

#include "source/item_index_private.h"

enum {
    ENDS_MIN = 1000,
    ENDS_SHARE = 10
}; /* so many items are looked at there, or a tenth of all: else everything is */

struct tallying {
    struct op *op;
    const struct item_index *index;
    const struct words_question *question;
    const struct query_words *words;
    struct query_tally *tally;
    struct number_span span, inside;
    uint64_t *end; /* items whose scope their numbers do not tell; rising */
    size_t end_count, end_max;
};

static bool is_in(struct number_span span, uint64_t number)
{
    return number >= span.from && number < span.to;
}

/* ---- inside ---- */

static void take(struct tallying *tallying, const struct query_text *text)
{
    struct query_tally *tally = tallying->tally;

    tally->documents += text->is_there;
    tally->words += text->is_text ? text->hits.length : 0;
    for (size_t i = 0; i < tallying->question->search->keyword_count; i++)
        tally->hits[i] += text->is_text && text->hits.frequency[i] > 0;
}

/* What a list says of an item that was written since, or has expired. */
static void take_back(struct tallying *tallying, uint64_t number)
{
    const struct query_words *words = tallying->words;
    const struct word_text *text = word_list_find(words->texts, number);

    tallying->tally->documents -= word_list_find(words->items, number) != NULL;
    tallying->tally->words -= text ? text->length : 0;
    for (size_t i = 0; i < tallying->question->search->keyword_count; i++)
        tallying->tally->hits[i] -= word_list_find(words->list[i], number) != NULL;
}

static void count_inside(struct tallying *tallying)
{
    const struct query_words *words = tallying->words;
    struct query_tally *tally = tallying->tally;
    uint64_t from = tallying->inside.from, to = tallying->inside.to;

    tally->documents = word_list_count(words->items, from, to);
    tally->words = word_list_words(words->texts, from, to);
    for (size_t i = 0; i < tallying->question->search->keyword_count; i++)
        tally->hits[i] = word_list_count(words->list[i], from, to);
    for (size_t i = 0; i < words->doubtful_count; i++)
        if (is_in(tallying->inside, words->doubtful[i])) {
            take_back(tallying, words->doubtful[i]);
            take(tallying, &words->text[i]);
        }
}

/* ---- at the ends ---- */

static void add_end(struct tallying *tallying, uint64_t number)
{
    if (!is_in(tallying->span, number) || is_in(tallying->inside, number))
        return;
    tallying->tally->is_told = tallying->end_count < tallying->end_max;
    if (tallying->tally->is_told)
        tallying->end[tallying->end_count++] = number;
}

static int by_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static size_t once(uint64_t *number, size_t count)
{
    size_t kept = 0;

    if (count > 1)
        qsort(number, count, sizeof(*number), by_u64);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || number[kept - 1] != number[i])
            number[kept++] = number[i];
    return kept;
}

static enum status find_ends(struct tallying *tallying)
{
    const struct query_words *words = tallying->words;
    size_t share = (size_t)tallying->index->base.documents / ENDS_SHARE;

    tallying->end_max = (share > ENDS_MIN ? share : ENDS_MIN) + words->doubtful_count;
    tallying->end = arena_try_alloc(&tallying->op->arena, tallying->end_max * sizeof(*tallying->end));
    if (!tallying->end)
        return op_fail_as(tallying->op, ST_QUERY_MEMORY);
    for (size_t i = 0; i < words->doubtful_count && tallying->tally->is_told; i++)
        add_end(tallying, words->doubtful[i]);
    for (size_t i = 0; i < words->items->count && tallying->tally->is_told; i++)
        add_end(tallying, words->items->text[i].number);
    tallying->end_count = once(tallying->end, tallying->end_count);
    return ST_OK;
}

static enum status look_at_ends(struct tallying *tallying)
{
    struct op *op = tallying->op;
    struct partition_scan scan;
    struct query_text text;
    struct record item;
    bool found;
    enum status st = ST_OK;

    if (tallying->end_count == 0)
        return ST_OK;
    partition_scan_open_over(op, tallying->index->container, tallying->index->scope,
                             tallying->index->base.view, &scan);
    partition_scan_pick(&scan, tallying->end, tallying->end_count);
    for (;;) {
        struct arena_mark mark;

        TRY(partition_scan_next(op, &scan, &item, &found));
        if (!found)
            break;
        mark = arena_mark(&op->arena);
        TRY(item_text(op, tallying->question, &item, &text));
        take(tallying, &text);
        arena_rewind(&op->arena, mark);
    }
out:
    partition_scan_close(&scan);
    return st;
}

enum status item_tally(struct op *op, const struct query_index *index, const struct words_question *question,
                       struct query_tally *tally)
{
    struct words_question whole = *question;
    struct query_words words;
    struct tallying tallying = { .op = op,
                                 .index = (const struct item_index *)index,
                                 .question = question,
                                 .words = &words,
                                 .tally = tally };
    enum status st;

    *tally = (struct query_tally){ 0 };
    tally->hits = arena_try_alloc(&op->arena, (question->search->keyword_count + 1) * sizeof(*tally->hits));
    if (!tally->hits)
        return op_fail_as(op, ST_QUERY_MEMORY);
    whole.with_items = true;
    TRY(item_words(op, index, &whole, &words));
    tally->is_told = words.is_told && words.items;
    if (!tally->is_told)
        goto out;
    tallying.span = partition_scope_span(tallying.index->container, tallying.index->scope);
    tallying.inside = partition_scope_inside(tallying.index->container, tallying.index->scope);
    TRY(find_ends(&tallying));
    if (!tally->is_told)
        goto out;
    count_inside(&tallying);
    TRY(look_at_ends(&tallying));
out:
    return st;
}
