/* test/unit/source/words_test.c - which texts have which keywords, as of a snapshot, whatever was written since. */
#include "index/policy.h"
#include "items.h"
#include "shelf.h"
#include "words/list.h"

#define TEXTS                                                                                              \
    "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},'fullTextPolicy':{'defaultLanguage':'en-US','" \
    "fullTextPaths':[{'path':'/t'}]},'indexingPolicy':{'fullTextIndexes':[{'path':'/t'}]}}"

static const struct partition_scope everything = { 0 };
static const struct index_step step_t = { .name = { "t", 1 } };
static const struct index_path path_t = { &step_t, 1 };

/* The words "fox" and "red fox" in texts of so many words together. */
struct counts {
    double fox, red_fox, words;
};

static struct query_words ask(struct rig *rig, struct item_source *items)
{
    const struct query_index *index = item_source_rows(items)->index;
    struct text_search search;
    struct index_text text;
    struct query_words words = { 0 };

    text_search_begin(&search, TEXT_ENGLISH, &rig->op->arena);
    CHECK(text_search_add(&search, slice_of("fox"), 0) && text_search_add(&search, slice_of("red fox"), 0));
    CHECK(index && index->has_text(index, &path_t, &text));
    CHECK(index->words(rig->op, index, &(struct words_question){ &path_t, &text, &search, false }, &words) ==
          ST_OK);
    CHECK(words.is_told);
    return words;
}

static void check_counts(const struct query_words *words, struct counts counts)
{
    CHECK(words->hits[0] == counts.fox && words->hits[1] == counts.red_fox && words->words == counts.words);
}

/* Of now. */
static struct query_words ask_now(struct rig *rig, const struct container *container)
{
    struct item_source *items = NULL;
    struct query_words words;

    CHECK(item_source_open(rig->op, container, &everything, &items) == ST_OK);
    words = ask(rig, items);
    item_source_close(items); /* lists that stand on the shelf stay; here they are only compared */
    return words;
}

static struct container *open_texts(struct rig *rig)
{
    struct container *container;

    rig_open(rig, false);
    container = rig_container(rig, TEXTS);
    shelf_add(rig, container, "{'id':'1','pk':'k','t':'a red fox'}");
    shelf_add(rig, container, "{'id':'2','pk':'k','t':'fox, red; fox!'}");
    shelf_add(rig, container, "{'id':'3','pk':'k','t':'an owl'}");
    shelf_add(rig, container, "{'id':'4','pk':'k','t':7}");
    return container;
}

TEST(lists_are_kept_and_what_was_written_since_is_looked_at)
{
    struct query_words first, second;
    struct container *container;
    struct record item;
    struct rig rig;

    container = open_texts(&rig);
    first = ask_now(&rig, container);
    check_counts(&first, (struct counts){ 2, 2, 6 });
    CHECK(first.doubtful_count == 0);
    second = ask_now(&rig, container);
    CHECK(second.list[0] == first.list[0] && second.list[1] == first.list[1]);
    CHECK(item_replace(&rig, container, "1", "{'id':'1','pk':'k','t':'red owls'}", &item) == ST_OK);
    CHECK(item_replace(&rig, container, "4", "{'id':'4','pk':'k','t':'the very red fox fox'}", &item) ==
          ST_OK);
    CHECK(item_delete(&rig, container, "['k']", "3") == ST_OK);
    shelf_add(&rig, container, "{'id':'5','pk':'k','t':'fox red'}");
    second = ask_now(&rig, container);
    CHECK(second.list[0] == first.list[0] && second.doubtful_count == 4);
    check_counts(&second, (struct counts){ 3, 2, 10 });
    rig_close(&rig);
}

TEST(when_much_was_written_lists_are_made_anew)
{
    struct query_words words;
    struct container *container;
    char document[64];
    struct rig rig;

    container = open_texts(&rig);
    ask_now(&rig, container);
    for (int i = 10; i < 40; i++) {
        snprintf(document, sizeof(document), "{'id':'%d','pk':'k','t':'red fox'}", i);
        shelf_add(&rig, container, document);
    }
    words = ask_now(&rig, container);
    CHECK(words.doubtful_count == 0);
    check_counts(&words, (struct counts){ 32, 32, 66 });
    rig_close(&rig);
}

TEST(an_older_snapshot_has_what_it_had)
{
    struct item_source *older = NULL;
    struct query_words words;
    struct container *container;
    struct rig rig;

    container = open_texts(&rig);
    CHECK(item_source_open(rig.op, container, &everything, &older) == ST_OK);
    shelf_add(&rig, container, "{'id':'5','pk':'k','t':'red fox'}");
    words = ask_now(&rig, container);
    check_counts(&words, (struct counts){ 3, 3, 8 });
    words = ask(&rig, older);
    check_counts(&words, (struct counts){ 2, 2, 6 });
    item_source_close(older);
    words = ask_now(&rig, container);
    check_counts(&words, (struct counts){ 3, 3, 8 });
    rig_close(&rig);
}

TEST(a_transaction_has_what_it_has_written)
{
    struct partition_txn *txn = NULL;
    struct item_source *items = NULL;
    struct query_words words;
    struct container *container;
    struct placed_key key;
    struct rig rig;

    container = open_texts(&rig);
    ask_now(&rig, container);
    key = shelf_key(&rig, container, "['k']");
    CHECK(partition_begin_many(rig.op, container, &key, &txn) == ST_OK);
    shelf_put(&rig, txn, "{'id':'5','pk':'k','t':'red fox'}");
    CHECK(item_source_open_in(rig.op, txn, &everything, &items) == ST_OK);
    words = ask(&rig, items);
    check_counts(&words, (struct counts){ 3, 3, 8 });
    item_source_close(items);
    partition_abort(txn);
    words = ask_now(&rig, container);
    check_counts(&words, (struct counts){ 2, 2, 6 });
    rig_close(&rig);
}

/* ---- items that expire ---- */

#define TEXTS_FOR(ttl, paths)                                                                                \
    "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},'defaultTtl':" ttl                               \
    ",'fullTextPolicy':{'defaultLanguage':'en-US','fullTextPaths':[{'path':'/t'}]},'indexingPolicy':{" paths \
    "'fullTextIndexes':[{'path':'/t'}]}}"

/* By looking at every item that is there. */
static void check_by_scan(struct rig *rig, const struct container *container, const struct query_words *words,
                          uint64_t documents)
{
    struct counts counts = { 0 };
    struct item_source *items = NULL;
    struct text_search search;
    struct query_row row;
    bool found = true;

    text_search_begin(&search, TEXT_ENGLISH, &rig->op->arena);
    CHECK(text_search_add(&search, slice_of("fox"), 0) && text_search_add(&search, slice_of("red fox"), 0));
    CHECK(item_source_open(rig->op, container, &everything, &items) == ST_OK);
    while (item_source_rows(items)->next(rig->op, item_source_rows(items), &row, &found) == ST_OK && found) {
        struct json text = json_get(row.body, "t");
        struct text_hits hits;

        documents--;
        if (json_kind(text) != JSON_STRING)
            continue;
        CHECK(text_search_look(&search, json_string(text), &rig->op->arena, &hits));
        counts.words += hits.length;
        counts.fox += hits.frequency[0] > 0;
        counts.red_fox += hits.frequency[1] > 0;
    }
    CHECK(documents == words->expired);
    check_counts(words, counts);
    item_source_close(items);
}

static void check_at_once(struct rig *rig, const struct container *container)
{
    struct item_source *items = NULL;
    struct query_words words;

    CHECK(item_source_open(rig->op, container, &everything, &items) == ST_OK);
    words = ask(rig, items);
    check_by_scan(rig, container, &words, item_source_rows(items)->index->documents);
    item_source_close(items);
}

/* Lives of all lengths, written over a minute, which then passes once more. */
static void check_lives(const char *definition)
{
    static const char *const lives[] = { "", ",'ttl':-1", ",'ttl':3", ",'ttl':25", ",'ttl':1000" };
    static const char *const texts[] = { "'a red fox'", "'fox, red; fox!'", "'an owl'", "7" };
    struct container *container;
    char document[96];
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, definition);
    for (int i = 0; i < 60; i++) {
        snprintf(document, sizeof(document), "{'id':'%d','pk':'k','t':%s%s}", i, texts[i * 7 % 4],
                 lives[i * 3 % 5]);
        shelf_add(&rig, container, document);
        rig_advance_ms(&rig, 700 + 37 * i % 600);
        if (i % 4 == 0)
            check_at_once(&rig, container);
    }
    for (int i = 0; i < 40; i++) {
        rig_advance_ms(&rig, 1700 + i);
        check_at_once(&rig, container);
    }
    rig_close(&rig);
}

TEST(what_has_expired_does_not_count)
{
    check_lives(TEXTS_FOR("10", ""));
    check_lives(TEXTS_FOR("-1", ""));
    check_lives(TEXTS_FOR("4000", ""));
}

TEST(where_the_index_does_not_know_lives_texts_are_looked_at)
{
    struct item_source *items = NULL;
    const struct query_index *index;
    struct query_words words;
    struct container *container;
    struct text_search search;
    struct index_text text;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(
        &rig, TEXTS_FOR("10", "'includedPaths':[{'path':'/n/?'}],'excludedPaths':[{'path':'/*'}],"));
    shelf_add(&rig, container, "{'id':'1','pk':'k','t':'a red fox'}");
    CHECK(item_source_open(rig.op, container, &everything, &items) == ST_OK);
    index = item_source_rows(items)->index;
    text_search_begin(&search, TEXT_ENGLISH, &rig.op->arena);
    CHECK(text_search_add(&search, slice_of("fox"), 0) && index_policy_text(index->policy, &path_t, &text));
    CHECK(index->words(rig.op, index, &(struct words_question){ &path_t, &text, &search, false }, &words) ==
          ST_OK);
    CHECK(!words.is_told);
    item_source_close(items);
    rig_close(&rig);
}
