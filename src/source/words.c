/*
 * src/source/words.c - which texts of a container have which keywords, as of a query's snapshot.
 * A list is made by walking a keyword's entries in the index, and kept. It is as of the commit that its maker saw. The
 * change log names the items that were written since: those are doubtful, and are looked at themselves. When they are so
 * many that walking the entries again costs less, the list is made anew. A list never changes, so nobody waits for one.
 * Items that may have expired have entries until they are removed: they are doubtful, too.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/limits.h"
#include "index/set.h"
#include "index/text_terms.h"
#include "source/changes.h"
#include "source/expired.h"
#include "words/lists.h"

enum {
    KEYWORD_BYTES_MAX = 1024, /* longer phrases are walked each time */
    LOOK_US = 10,             /* what it costs to look at an item */
    ENTRIES_US = 5,           /* how many entries of a word are walked in a microsecond, */
    LENGTHS_US = 100,         /* and how many of those that tell a text's length alone */
    WALK_US = 100,            /* what a walk costs at least */
    EXPIRED_MIN = 1000,       /* so many that have expired are looked at, or a tenth of all items */
};

/* What a query wants to know. */
struct asked {
    struct op *op;
    struct item_index *index;
    const struct index_path *path;
    const struct index_text *text;
    const struct text_search *search;
    struct query_words *words;
    struct word_list *texts; /* of all texts, whatever their words */
    uint64_t lsn;            /* of the snapshot */
    bool is_shared;          /* what it makes is of use to others */
    struct changes changes;  /* since the oldest list */
    uint64_t *expired;       /* or seem to be; rising */
    size_t expired_count;
};

/* ---- keys ---- */

static struct slice key_of_texts(const struct asked *asked, uint8_t *key)
{
    return slice_make(key, text_term_prefix(key, asked->text->id, slice_of("")));
}

/* The stems of a keyword, each with its end. Data is NULL when they are too many. */
static struct slice key_of_keyword(const struct asked *asked, const struct text_keyword *keyword,
                                   uint8_t *key)
{
    size_t size = 0;

    for (size_t i = 0; i < keyword->count; i++) {
        struct slice stem = asked->search->term[keyword->first + i].stem;
        uint8_t bytes[TEXT_PREFIX_BYTES_MAX];
        size_t prefix = text_term_prefix(bytes, asked->text->id, stem), from = i ? TERM_PATH_BYTES : 0;

        if (size + prefix > KEYWORD_BYTES_MAX)
            return (struct slice){ 0 };
        memcpy(key + size, bytes + from, prefix - from);
        size += prefix - from;
    }
    return slice_make(key, size);
}

/* ---- walking ---- */

/* Outlives the query, whose memory is given back before its source is closed. */
static void hold(struct asked *asked, struct word_list *list)
{
    struct item_index *index = asked->index;

    heap_list_reserve(&index->held, &index->held_capacity, index->held_count + 1, sizeof(*index->held));
    index->held[index->held_count++] = list;
}

void item_words_end(struct item_index *index)
{
    while (index->held_count)
        word_list_done(index->held[--index->held_count]);
    free(index->held);
    index->held = NULL;
    index->held_capacity = 0;
}

/* Where there is no memory, lists that nobody uses make room. */
static bool add_text(struct word_list *list, const struct word_text *text)
{
    while (!word_list_add(list, text))
        if (!word_lists_let_go(list->claim.account))
            return false;
    return true;
}

/* What is done with each block of entries; `bytes` is what follows the prefix. */
typedef enum status take_entries(struct asked *asked, struct slice bytes, const struct index_block *block,
                                 void *context);

static enum status walk_stem(struct asked *asked, struct slice stem, take_entries *take, void *context)
{
    struct op *op = asked->op;
    uint8_t bytes[TEXT_PREFIX_BYTES_MAX];
    struct slice prefix = slice_make(bytes, text_term_prefix(bytes, asked->text->id, stem));
    struct index_walk walk = { .from = prefix,
                               .to = index_prefix_end(&op->arena, prefix),
                               .last = UINT64_MAX };
    struct index_cursor *cursor = NULL;
    struct index_block block;
    enum status st;

    TRY(index_cursor_open(op, asked->index->base.view, &walk, &cursor));
    for (;;) {
        TRY(index_cursor_next(op, cursor, &block));
        if (block.count == 0)
            break;
        TRY(take(asked, slice_after(block.term, prefix.size), &block, context));
    }
out:
    index_cursor_close(cursor);
    return st;
}

static void add_block(struct asked *asked, struct word_list *list, struct word_text text,
                      const struct index_block *block)
{
    for (size_t i = 0; i < block->count && asked->words->is_told; i++) {
        text.number = block->number[i];
        asked->words->is_told = add_text(list, &text);
    }
}

static enum status take_length(struct asked *asked, struct slice bytes, const struct index_block *block,
                               void *list)
{
    struct word_text text = { 0 };

    if (!text_length_read(bytes, &text.length))
        return op_fail_as(asked->op, ST_CORRUPT);
    add_block(asked, list, text, block);
    return op_check(asked->op);
}

static enum status take_word(struct asked *asked, struct slice bytes, const struct index_block *block,
                             void *list)
{
    struct text_posting posting;

    if (!text_posting_read(bytes, &posting))
        return op_fail_as(asked->op, ST_CORRUPT);
    add_block(asked, list, (struct word_text){ 0, posting.frequency, posting.length }, block);
    return ST_OK;
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

static enum status take_places(struct asked *asked, struct slice bytes, const struct index_block *block,
                               void *context)
{
    struct hits *hits = context;
    struct text_posting posting;
    struct hit hit = { .term = hits->term };

    if (!text_posting_read(bytes, &posting))
        return op_fail_as(asked->op, ST_CORRUPT);
    hit.length = posting.length;
    hit.frequency = posting.frequency;
    asked->words->is_told &= posting.place_count == posting.frequency;
    hit.place = arena_try_alloc(&hits->memory, (posting.place_count + 1) * sizeof(*hit.place));
    if (!hit.place || !arena_list_reserve(&hits->memory, &hits->hit, &hits->capacity,
                                          hits->count + block->count, sizeof(*hits->hit)))
        return op_fail_as(asked->op, ST_QUERY_MEMORY);
    if (!text_posting_places(&posting, hit.place))
        return op_fail_as(asked->op, ST_CORRUPT);
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
static void join_hits(struct asked *asked, const struct hits *hits, struct text_places *places, size_t terms,
                      struct word_list *list)
{
    for (size_t i = 0, next; i < hits->count && asked->words->is_told; i = next) {
        struct word_text text = { .number = hits->hit[i].number, .length = hits->hit[i].length };

        for (next = i; next < hits->count && hits->hit[next].number == text.number; next++)
            places[hits->hit[next].term] =
                (struct text_places){ .position = hits->hit[next].place, .count = hits->hit[next].frequency };
        if (next - i < terms)
            continue;
        text.frequency = text_phrase_count(places, terms);
        if (text.frequency)
            asked->words->is_told = add_text(list, &text);
    }
}

static enum status walk_phrase(struct asked *asked, const struct text_keyword *keyword,
                               struct word_list *list)
{
    struct hits hits = { 0 };
    struct text_places *places;
    enum status st = ST_OK;

    op_arena(asked->op, &hits.memory, OP_MEMORY_BYTES_MAX);
    places = arena_try_alloc(&hits.memory, keyword->count * sizeof(*places));
    if (!places)
        TRY(op_fail_as(asked->op, ST_QUERY_MEMORY));
    for (; hits.term < keyword->count; hits.term++)
        TRY(walk_stem(asked, asked->search->term[keyword->first + hits.term].stem, take_places, &hits));
    if (hits.count)
        qsort(hits.hit, hits.count, sizeof(*hits.hit), by_number);
    join_hits(asked, &hits, places, keyword->count, list);
out:
    arena_free(&hits.memory);
    return st;
}

/* ---- lists ---- */

/* As of the snapshot, for this query; and for others, if they can use it. */
static void finish(struct asked *asked, struct slice key, double average, struct word_list *list)
{
    word_list_close(list, average);
    list->lsn = asked->lsn;
    if (asked->is_shared && asked->words->is_told && key.data)
        word_shelf_put(asked->index->container->words, key, list);
    hold(asked, list);
}

/* What statistics need counts nothing in a charge. */
static enum status make_texts(struct asked *asked, struct slice key)
{
    struct word_list *list = word_list_new(asked->op->claim.account);
    uint64_t read = asked->op->work.entries_read;
    enum status st = walk_stem(asked, slice_of(""), take_length, list);

    asked->op->work.entries_read = read;
    if (st != ST_OK) {
        word_list_done(list);
        return st;
    }
    asked->texts = list;
    finish(asked, key, 0, list);
    return ST_OK;
}

static enum status make_list(struct asked *asked, const struct text_keyword *keyword, struct slice key,
                             const struct word_list **made)
{
    struct word_list *list = word_list_new(asked->op->claim.account);
    double average = asked->texts->words / ((double)asked->index->base.documents + 1);
    enum status st = ST_OK;

    if (keyword->count == 1)
        st = walk_stem(asked, asked->search->term[keyword->first].stem, take_word, list);
    else if (keyword->count > 1)
        st = walk_phrase(asked, keyword, list);
    if (st != ST_OK) {
        word_list_done(list);
        return st;
    }
    *made = list;
    finish(asked, key, average, list);
    return ST_OK;
}

/* One that is there, and is of no later commit than the snapshot. */
static struct word_list *find_list(struct asked *asked, struct slice key)
{
    struct word_list *list =
        key.data && asked->is_shared ? word_shelf_find(asked->index->container->words, key) : NULL;
    if (list && list->lsn > asked->lsn) {
        word_list_done(list);
        list = NULL;
    }
    if (list)
        hold(asked, list);
    return list;
}

static size_t changes_above(const struct changes *changes, uint64_t lsn)
{
    size_t count = 0;

    while (count < changes->count && changes->change[changes->count - 1 - count].lsn > lsn)
        count++;
    return count;
}

static size_t walk_us(const struct asked *asked, const struct word_list *list)
{
    return WALK_US + list->count / (list == asked->texts ? LENGTHS_US : ENTRIES_US);
}

/* Whether looking at what was written since costs less than walking the entries again. */
static bool is_of_use(const struct asked *asked, const struct word_list *list)
{
    return list && (list->lsn == asked->lsn ||
                    (!asked->changes.too_many &&
                     LOOK_US * changes_above(&asked->changes, list->lsn) <= walk_us(asked, list)));
}

/* ---- all that a query asks for ---- */

/* The lists that are there, and what was written since the oldest of them. */
static enum status find_lists(struct asked *asked)
{
    const struct text_search *search = asked->search;
    uint8_t key[KEYWORD_BYTES_MAX + TEXT_PREFIX_BYTES_MAX];
    uint64_t oldest = asked->lsn;
    size_t most = 0;

    asked->texts = find_list(asked, key_of_texts(asked, key));
    for (size_t i = 0; i <= search->keyword_count; i++) {
        struct word_list *list = asked->texts;

        if (i < search->keyword_count) {
            list = find_list(asked, key_of_keyword(asked, &search->keyword[i], key));
            asked->words->list[i] = list;
        }
        if (!list)
            continue;
        oldest = list->lsn < oldest ? list->lsn : oldest;
        most = walk_us(asked, list) / LOOK_US > most ? walk_us(asked, list) / LOOK_US : most;
    }
    return changes_read(asked->op, asked->index, oldest, asked->lsn, most, &asked->changes);
}

/* The others. What is read from memory counts as what was walked, so that a query costs the same each time. */
static enum status make_lists(struct asked *asked)
{
    struct query_words *words = asked->words;
    const struct text_search *search = asked->search;
    uint8_t key[KEYWORD_BYTES_MAX + TEXT_PREFIX_BYTES_MAX];
    enum status st = ST_OK;

    if (!is_of_use(asked, asked->texts))
        TRY(make_texts(asked, key_of_texts(asked, key)));
    for (size_t i = 0; i < search->keyword_count && words->is_told; i++) {
        const struct text_keyword *keyword = &search->keyword[i];

        if (is_of_use(asked, words->list[i]))
            asked->op->work.entries_read += words->list[i]->count;
        else
            TRY(make_list(asked, keyword, key_of_keyword(asked, keyword, key), &words->list[i]));
    }
out:
    return st;
}

/* ---- what was written since ---- */

static uint64_t oldest_used(const struct asked *asked)
{
    uint64_t oldest = asked->texts->lsn;

    for (size_t i = 0; i < asked->search->keyword_count; i++)
        oldest = asked->words->list[i]->lsn < oldest ? asked->words->list[i]->lsn : oldest;
    return oldest;
}

static enum status look_at(struct asked *asked, const struct record *item, struct query_text *text)
{
    struct json value = item_value_at(item->document, asked->path);

    text->is_there = true;
    text->is_text = json_kind(value) == JSON_STRING;
    if (text->is_text && !text_search_look(asked->search, json_string(value), &asked->op->arena, &text->hits))
        return op_fail_as(asked->op, ST_QUERY_MEMORY);
    return ST_OK;
}

static enum status look_at_doubtful(struct asked *asked)
{
    static const struct partition_scope everything = { 0 };
    struct query_words *words = asked->words;
    struct op *op = asked->op;
    struct partition_scan scan;
    struct record item;
    bool found = true;
    enum status st = ST_OK;

    partition_scan_open_over(op, asked->index->container, &everything, asked->index->base.view, &scan);
    partition_scan_pick(&scan, words->doubtful, words->doubtful_count);
    for (size_t i = 0; found;) {
        TRY(partition_scan_next(op, &scan, &item, &found));
        while (found && words->doubtful[i] != item.number)
            i++;
        if (found)
            TRY(look_at(asked, &item, &words->text[i]));
    }
out:
    partition_scan_close(&scan);
    return st;
}

/* Those that are not there any more, although they have entries. */
static void count_expired(struct asked *asked)
{
    struct query_words *words = asked->words;
    size_t k = 0;

    for (size_t i = 0; i < asked->expired_count; i++) {
        while (words->doubtful[k] != asked->expired[i])
            k++;
        words->expired += !words->text[k].is_there;
    }
}

static enum status find_doubtful(struct asked *asked)
{
    struct query_words *words = asked->words;
    struct changes *changes = &asked->changes;
    size_t count = changes_above(changes, oldest_used(asked));
    enum status st = ST_OK;

    if (count + asked->expired_count == 0)
        goto out;
    TRY(changes_numbers(asked->op, changes->change + changes->count - count, count, asked->expired,
                        asked->expired_count, &words->doubtful, &words->doubtful_count));
    words->text = arena_try_alloc(&asked->op->arena, words->doubtful_count * sizeof(*words->text));
    if (!words->text)
        TRY(op_fail_as(asked->op, ST_QUERY_MEMORY));
    memset(words->text, 0, words->doubtful_count * sizeof(*words->text));
    TRY(look_at_doubtful(asked));
    count_expired(asked);
out:
    return st;
}

/* ---- statistics ---- */

static void count(const struct asked *asked)
{
    struct query_words *words = asked->words;

    words->words = asked->texts->words;
    for (size_t i = 0; i < asked->search->keyword_count; i++)
        words->hits[i] = (double)words->list[i]->count;
    for (size_t k = 0; k < words->doubtful_count; k++) {
        const struct word_text *before = word_list_find(asked->texts, words->doubtful[k]);
        const struct query_text *now = &words->text[k];

        words->words += (now->is_text ? now->hits.length : 0) - (before ? (double)before->length : 0);
        for (size_t i = 0; i < asked->search->keyword_count; i++)
            words->hits[i] += (now->is_text && now->hits.frequency[i] > 0) -
                              (word_list_find(words->list[i], words->doubtful[k]) != NULL);
    }
}

static enum status make_room(struct asked *asked)
{
    struct arena *arena = &asked->op->arena;
    size_t keywords = asked->search->keyword_count + 1;

    asked->words->list = arena_try_alloc(arena, keywords * sizeof(*asked->words->list));
    asked->words->hits = arena_try_alloc(arena, keywords * sizeof(*asked->words->hits));
    return asked->words->list && asked->words->hits ? ST_OK : op_fail_as(asked->op, ST_QUERY_MEMORY);
}

enum status item_words(struct op *op, const struct query_index *index, const struct index_path *path,
                       const struct index_text *text, const struct text_search *search,
                       struct query_words *words)
{
    struct asked asked = { .op = op,
                           .index = (struct item_index *)index,
                           .path = path,
                           .text = text,
                           .search = search,
                           .words = words };
    struct head head;
    enum status st;

    *words = (struct query_words){ .is_told = true };
    TRY(make_room(&asked));
    TRY(store_snapshot_head(op, index->view->snapshot, &head));
    asked.lsn = head.lsn;
    asked.is_shared = !index->view->writes;
    TRY(expired_find(op, asked.index, (size_t)index->documents / 10 + EXPIRED_MIN, &asked.expired,
                     &asked.expired_count, &words->is_told));
    if (!words->is_told)
        goto out;
    TRY(find_lists(&asked));
    TRY(make_lists(&asked));
    if (!words->is_told)
        goto out;
    words->texts = asked.texts;
    TRY(find_doubtful(&asked));
    count(&asked);
out:
    return st;
}
