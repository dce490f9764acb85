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
#include "index/text_terms.h"
#include "source/changes.h"
#include "source/expired.h"
#include "source/word_walk.h"
#include "words/lists.h"

enum {
    KEYWORD_BYTES_MAX = 1024, /* longer phrases are walked each time */
    LOOK_US = 10,             /* what it costs to look at an item */
    WORDS_US = 5,             /* how many entries of a word are walked in a microsecond, */
    LENGTHS_US = 100,         /* how many of those that tell a text's length alone, */
    TIMES_US = 20,            /* and how many of times */
    WALK_US = 100,            /* what a walk costs at least */
    EXPIRED_MIN = 1000,       /* so many that have expired are looked at, or a tenth of all items */
};

/* What lists are of. */
enum kind { OF_TEXTS, OF_ITEMS, OF_KEYWORD };

struct wanted {
    enum kind kind;
    const struct text_keyword *keyword;
    struct word_list *list; /* NULL: there is none, yet */
};

/* What a query wants to know. */
struct asked {
    struct word_walk walk;
    struct query_words *words;
    struct wanted *wanted; /* texts first: how long they are decides how other lists are made */
    size_t wanted_count;
    uint64_t lsn;           /* of the snapshot */
    bool is_shared;         /* what it makes is of use to others */
    struct changes changes; /* since the oldest list */
    uint64_t *expired;      /* or seem to be; rising */
    size_t expired_count;
};

/* ---- keys ---- */

/* The stems of a keyword, each with its end; of a fuzzy one words, each with its distance. Data is NULL when they are too many. */
static struct slice key_of_keyword(const struct asked *asked, const struct text_keyword *keyword,
                                   uint8_t *key)
{
    size_t size = 0;

    for (size_t i = 0; i < keyword->count; i++) {
        const struct text_term *term = &asked->walk.question->search->term[keyword->first + i];
        struct slice word = term->distance ? term->word : term->stem;
        uint8_t bytes[TEXT_PREFIX_BYTES_MAX];
        size_t prefix = text_term_prefix(bytes, asked->walk.question->text->id, word),
               from = i ? TERM_PATH_BYTES : 0;

        if (size + prefix > KEYWORD_BYTES_MAX)
            return (struct slice){ 0 };
        memcpy(key + size, bytes + from, prefix - from);
        size += prefix - from;
        if (term->distance)
            key[size++] = (uint8_t)term->distance;
    }
    return slice_make(key, size);
}

/* Texts of a path have the key of a stem of nothing, items that of no path. */
static struct slice key_of(const struct asked *asked, const struct wanted *wanted, uint8_t *key)
{
    static const char items[] = "items";

    switch (wanted->kind) {
    case OF_TEXTS:
        return slice_make(key, text_term_prefix(key, asked->walk.question->text->id, slice_of("")));
    case OF_ITEMS:
        return slice_of(items);
    default:
        return key_of_keyword(asked, wanted->keyword, key);
    }
}

/* Outlives the query, whose memory is given back before its source is closed. */
static void hold(struct asked *asked, struct word_list *list)
{
    struct item_index *index = asked->walk.index;

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

/* ---- lists ---- */

static struct word_list *new_list(struct asked *asked)
{
    struct word_list *list = word_list_new(asked->walk.op->claim.account);

    hold(asked, list);
    return list;
}

/* As of the snapshot, for this query; and for others, if they can use it. */
static void finish(struct asked *asked, struct wanted *wanted, struct word_list *list)
{
    const struct word_list *texts = asked->wanted[0].list;
    uint8_t bytes[KEYWORD_BYTES_MAX + TEXT_PREFIX_BYTES_MAX];
    struct slice key = key_of(asked, wanted, bytes);

    word_list_close(list, wanted->kind == OF_KEYWORD
                              ? texts->words / ((double)asked->walk.index->base.documents + 1)
                              : 0);
    list->lsn = asked->lsn;
    if (asked->is_shared && asked->walk.is_told && key.data)
        word_shelf_put(asked->walk.index->container->words, key, list);
    wanted->list = list;
}

static enum status walk(struct asked *asked, const struct wanted *wanted, struct word_list *list)
{
    switch (wanted->kind) {
    case OF_TEXTS:
        return word_walk_texts(&asked->walk, list);
    case OF_ITEMS:
        return word_walk_items(&asked->walk, list);
    default:
        return word_walk_keyword(&asked->walk, wanted->keyword, list);
    }
}

/* What statistics need counts nothing in a charge. */
static enum status make_list(struct asked *asked, struct wanted *wanted)
{
    struct op *op = asked->walk.op;
    uint64_t read = op->work.entries_read;
    struct word_list *list = new_list(asked);
    enum status st;

    TRY(walk(asked, wanted, list));
    if (wanted->kind != OF_KEYWORD)
        op->work.entries_read = read;
    finish(asked, wanted, list);
out:
    return st;
}

static bool is_fuzzy(const struct asked *asked, const struct wanted *wanted)
{
    return wanted->kind == OF_KEYWORD && word_walk_is_fuzzy(asked->walk.question->search, wanted->keyword);
}

/* One that is there, and is of no later commit than the snapshot. */
static struct word_list *find_list(struct asked *asked, struct slice key)
{
    struct word_list *list =
        key.data && asked->is_shared ? word_shelf_find(asked->walk.index->container->words, key) : NULL;
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

static size_t walk_us(const struct wanted *wanted)
{
    static const size_t entries_us[] = {
        [OF_TEXTS] = LENGTHS_US, [OF_ITEMS] = TIMES_US, [OF_KEYWORD] = WORDS_US
    };

    return WALK_US + wanted->list->count / entries_us[wanted->kind];
}

/* Whether looking at what was written since costs less than walking the entries again. */
static bool is_of_use(const struct asked *asked, const struct wanted *wanted)
{
    const struct word_list *list = wanted->list;

    return list && (list->lsn == asked->lsn ||
                    (!asked->changes.too_many &&
                     LOOK_US * changes_above(&asked->changes, list->lsn) <= walk_us(wanted)));
}

/* ---- all that a query asks for ---- */

/* The lists that are there, and what was written since the oldest of them. */
static enum status find_lists(struct asked *asked)
{
    uint8_t key[KEYWORD_BYTES_MAX + TEXT_PREFIX_BYTES_MAX];
    uint64_t oldest = asked->lsn;
    size_t most = 0;

    for (size_t i = 0; i < asked->wanted_count; i++) {
        struct wanted *wanted = &asked->wanted[i];
        size_t looks;

        wanted->list = find_list(asked, key_of(asked, wanted, key));
        if (!wanted->list)
            continue;
        looks = walk_us(wanted) / LOOK_US;
        oldest = wanted->list->lsn < oldest ? wanted->list->lsn : oldest;
        most = looks > most ? looks : most;
    }
    return changes_read(asked->walk.op, asked->walk.index, oldest, asked->lsn, most, &asked->changes);
}

/* The lists of fuzzy keywords that are to be made, at once. */
static enum status make_fuzzy(struct asked *asked, struct wanted *const *wanted, size_t count)
{
    struct word_fuzzy *fuzzy = arena_try_alloc(&asked->walk.op->arena, (count + 1) * sizeof(*fuzzy));
    enum status st = ST_OK;

    if (!fuzzy)
        return op_fail_as(asked->walk.op, ST_QUERY_MEMORY);
    for (size_t i = 0; i < count; i++)
        fuzzy[i] = (struct word_fuzzy){ wanted[i]->keyword, new_list(asked) };
    TRY(word_walk_fuzzy(&asked->walk, fuzzy, count));
    for (size_t i = 0; i < count; i++)
        finish(asked, wanted[i], fuzzy[i].list);
out:
    return st;
}

/* The others. What is read from memory counts as what was walked, so that a query costs the same each time. */
static enum status make_lists(struct asked *asked)
{
    struct wanted **fuzzy =
        arena_try_alloc(&asked->walk.op->arena, (asked->wanted_count + 1) * sizeof(*fuzzy));
    size_t fuzzy_count = 0;
    enum status st = ST_OK;

    if (!fuzzy)
        return op_fail_as(asked->walk.op, ST_QUERY_MEMORY);
    for (size_t i = 0; i < asked->wanted_count && asked->walk.is_told; i++) {
        struct wanted *wanted = &asked->wanted[i];

        if (is_of_use(asked, wanted))
            asked->walk.op->work.entries_read += wanted->kind == OF_KEYWORD ? wanted->list->count : 0;
        else if (is_fuzzy(asked, wanted))
            fuzzy[fuzzy_count++] = wanted;
        else
            TRY(make_list(asked, wanted));
    }
    if (fuzzy_count && asked->walk.is_told)
        TRY(make_fuzzy(asked, fuzzy, fuzzy_count));
out:
    return st;
}

static void tell_lists(const struct asked *asked)
{
    struct query_words *words = asked->words;
    size_t keyword = 0;

    for (size_t i = 0; i < asked->wanted_count; i++) {
        const struct word_list *list = asked->wanted[i].list;

        if (asked->wanted[i].kind == OF_TEXTS)
            words->texts = list;
        else if (asked->wanted[i].kind == OF_ITEMS)
            words->items = list;
        else
            words->list[keyword++] = list;
    }
}

/* ---- what was written since ---- */

static uint64_t oldest_used(const struct asked *asked)
{
    uint64_t oldest = asked->lsn;

    for (size_t i = 0; i < asked->wanted_count; i++)
        oldest = asked->wanted[i].list->lsn < oldest ? asked->wanted[i].list->lsn : oldest;
    return oldest;
}

enum status item_text(struct op *op, const struct words_question *question, const struct record *item,
                      struct query_text *text)
{
    struct json value = item_value_at(item->document, question->path);

    *text = (struct query_text){ .is_there = true, .is_text = json_kind(value) == JSON_STRING };
    if (text->is_text && !text_search_look(question->search, json_string(value), &op->arena, &text->hits))
        return op_fail_as(op, ST_QUERY_MEMORY);
    return ST_OK;
}

static enum status look_at_doubtful(struct asked *asked)
{
    static const struct partition_scope everything = { 0 };
    struct query_words *words = asked->words;
    struct op *op = asked->walk.op;
    struct partition_scan scan;
    struct record item;
    bool found = true;
    enum status st = ST_OK;

    partition_scan_open_over(op, asked->walk.index->container, &everything, asked->walk.index->base.view,
                             &scan);
    partition_scan_pick(&scan, words->doubtful, words->doubtful_count);
    for (size_t i = 0; found;) {
        TRY(partition_scan_next(op, &scan, &item, &found));
        while (found && words->doubtful[i] != item.number)
            i++;
        if (found)
            TRY(item_text(op, asked->walk.question, &item, &words->text[i]));
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
    TRY(changes_numbers(asked->walk.op, changes->change + changes->count - count, count, asked->expired,
                        asked->expired_count, &words->doubtful, &words->doubtful_count));
    words->text = arena_try_alloc(&asked->walk.op->arena, words->doubtful_count * sizeof(*words->text));
    if (!words->text)
        TRY(op_fail_as(asked->walk.op, ST_QUERY_MEMORY));
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

    words->words = words->texts->words;
    for (size_t i = 0; i < asked->walk.question->search->keyword_count; i++)
        words->hits[i] = (double)words->list[i]->count;
    for (size_t k = 0; k < words->doubtful_count; k++) {
        const struct word_text *before = word_list_find(words->texts, words->doubtful[k]);
        const struct query_text *now = &words->text[k];

        words->words += (now->is_text ? now->hits.length : 0) - (before ? (double)before->length : 0);
        for (size_t i = 0; i < asked->walk.question->search->keyword_count; i++)
            words->hits[i] += (now->is_text && now->hits.frequency[i] > 0) -
                              (word_list_find(words->list[i], words->doubtful[k]) != NULL);
    }
}

static enum status make_room(struct asked *asked)
{
    const struct text_search *search = asked->walk.question->search;
    struct arena *arena = &asked->walk.op->arena;
    size_t keywords = search->keyword_count + 1;

    asked->words->list = arena_try_alloc(arena, keywords * sizeof(*asked->words->list));
    asked->words->hits = arena_try_alloc(arena, keywords * sizeof(*asked->words->hits));
    asked->wanted = arena_try_alloc(arena, (keywords + 1) * sizeof(*asked->wanted));
    if (!asked->words->list || !asked->words->hits || !asked->wanted)
        return op_fail_as(asked->walk.op, ST_QUERY_MEMORY);
    asked->wanted[asked->wanted_count++] = (struct wanted){ .kind = OF_TEXTS };
    if (asked->walk.question->with_items && word_walk_has_items(&asked->walk.index->base))
        asked->wanted[asked->wanted_count++] = (struct wanted){ .kind = OF_ITEMS };
    for (size_t i = 0; i < search->keyword_count; i++)
        asked->wanted[asked->wanted_count++] =
            (struct wanted){ .kind = OF_KEYWORD, .keyword = &search->keyword[i] };
    return ST_OK;
}

enum status item_words(struct op *op, const struct query_index *index, const struct words_question *question,
                       struct query_words *words)
{
    struct asked asked = { .walk = { op, (struct item_index *)index, question, true }, .words = words };
    bool *is_told = &asked.walk.is_told;
    struct head head;
    enum status st;

    *words = (struct query_words){ 0 };
    TRY(make_room(&asked));
    TRY(store_snapshot_head(op, index->view->snapshot, &head));
    asked.lsn = head.lsn;
    asked.is_shared = !index->view->writes;
    TRY(expired_find(op, asked.walk.index, (size_t)index->documents / 10 + EXPIRED_MIN, &asked.expired,
                     &asked.expired_count, is_told));
    if (*is_told)
        TRY(find_lists(&asked));
    TRY(make_lists(&asked));
    words->is_told = *is_told;
    if (!*is_told)
        goto out;
    tell_lists(&asked);
    TRY(find_doubtful(&asked));
    count(&asked);
out:
    return st;
}
