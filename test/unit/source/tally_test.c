/* test/unit/source/tally_test.c - statistics of texts, of any part of a container, against those of a scan. */
#include "index/policy.h"
#include "items.h"
#include "shelf.h"
#include "words/list.h"

#define TEXTS(keys, more)                                            \
    "{'id':'c','partitionKey':{" keys "}," more                      \
    "'fullTextPolicy':{'defaultLanguage':'en-US','fullTextPaths':[{" \
    "'path':'/t'}]},'indexingPolicy':{'fullTextIndexes':[{'path':'/t'}]}}"

enum { KEYS = 40, WORDS_ASKED = 4 };

static const struct index_step step_t = { .name = { "t", 1 } };
static const struct index_path path_t = { &step_t, 1 };
static const char *const texts[] = { "'a red fox'", "'fox, red; fox!'", "'an owl'", "7", "'red owls'", "''" };

struct tallies {
    struct rig rig;
    struct container *container;
    struct text_search search;
    size_t told; /* how often the index did */
};

static void begin(struct tallies *tallies, const char *definition)
{
    static const char *const keyword[WORDS_ASKED] = { "fox", "red fox", "owl", "rad" };

    *tallies = (struct tallies){ 0 };
    rig_open(&tallies->rig, false);
    tallies->container = rig_container(&tallies->rig, definition);
    text_search_begin(&tallies->search, TEXT_ENGLISH, &tallies->rig.op->arena);
    for (size_t i = 0; i < WORDS_ASKED; i++)
        CHECK(text_search_add(&tallies->search, slice_of(keyword[i]), i == WORDS_ASKED - 1));
}

static void write_one(struct tallies *tallies)
{
    struct rig *rig = &tallies->rig;
    size_t number = test_random() % (KEYS * 5);
    char document[128], id[16], key[64];
    struct record item;

    snprintf(id, sizeof(id), "%zu", number);
    snprintf(key, sizeof(key), tallies->container->key_path_count > 1 ? "['k%zu','%zu']" : "['k%zu']",
             number % KEYS, number % 3);
    snprintf(document, sizeof(document), "{'id':'%s','pk':'k%zu','sub':'%zu','t':%s%s}", id, number % KEYS,
             number % 3, texts[test_random() % 6], test_random() % 4 ? "" : ",'ttl':5");
    if (!item_read(rig, tallies->container, key, id, &item))
        shelf_add(rig, tallies->container, document);
    else if (test_random() % 2)
        CHECK(item_replace(rig, tallies->container, id, document, &item) == ST_OK);
    else
        CHECK(item_delete(rig, tallies->container, key, id) == ST_OK);
}

/* A bound: the key of some item, as it is, cut, or a little more. */
static struct epk some_bound(struct tallies *tallies)
{
    char document[64];
    size_t number = test_random() % KEYS;
    struct placed_key key;

    snprintf(document, sizeof(document), "{'pk':'k%zu','sub':'%zu'}", number, number % 3);
    partition_key_extract(tallies->container, rig_json(tallies->rig.op, document), &key.values);
    partition_key_place(tallies->container, &key);
    if (tallies->container->epk_version == EPK_V2 && test_random() % 3 == 0)
        key.epk.size = (uint16_t)(1 + test_random() % 4);
    else if (test_random() % 3 == 0)
        key.epk.bytes[key.epk.size - 1] ^= 1;
    return key.epk;
}

static void count_by_scan(struct tallies *tallies, struct query_source *source, struct query_tally *counted)
{
    struct query_row row;
    bool found = true;

    while (source->next(tallies->rig.op, source, &row, &found) == ST_OK && found) {
        struct json text = json_get(row.body, "t");
        struct text_hits hits;

        counted->documents++;
        if (json_kind(text) != JSON_STRING)
            continue;
        CHECK(text_search_look(&tallies->search, json_string(text), &tallies->rig.op->arena, &hits));
        counted->words += hits.length;
        for (size_t i = 0; i < WORDS_ASKED; i++)
            counted->hits[i] += hits.frequency[i] > 0;
    }
}

static void check_scope(struct tallies *tallies, const struct partition_scope *scope)
{
    struct op *op = tallies->rig.op;
    uint64_t hits[WORDS_ASKED] = { 0 };
    struct query_tally counted = { .hits = hits }, told = { 0 };
    struct item_source *items = NULL;
    const struct query_index *index;
    struct index_text text;

    CHECK(item_source_open(op, tallies->container, scope, &items) == ST_OK);
    index = item_source_rows(items)->index;
    if (index) {
        struct words_question question = { &path_t, &text, &tallies->search, false };

        CHECK(index_policy_text(index->policy, &path_t, &text));
        CHECK(index->tally(op, index, &question, &told) == ST_OK);
    }
    count_by_scan(tallies, item_source_rows(items), &counted);
    tallies->told += told.is_told;
    CHECK(!told.is_told || (told.documents == counted.documents && told.words == counted.words));
    for (size_t i = 0; i < WORDS_ASKED && told.is_told; i++)
        CHECK(told.hits[i] == hits[i]);
    item_source_close(items);
}

static void check_scopes(struct tallies *tallies)
{
    struct partition_scope scope = { 0 };

    check_scope(tallies, &scope);
    for (int i = 0; i < 12; i++) {
        scope.min = i % 4 ? some_bound(tallies) : (struct epk){ 0 };
        scope.max = i % 3 ? some_bound(tallies) : (struct epk){ 0 };
        if (scope.max.size && slice_compare(epk_slice(&scope.min), epk_slice(&scope.max)) < 0)
            check_scope(tallies, &scope);
    }
}

static void check_definition(const char *definition)
{
    struct tallies tallies;

    begin(&tallies, definition);
    for (int round = 0; round < 30; round++) {
        for (int i = 0; i < 20; i++)
            write_one(&tallies);
        check_scopes(&tallies);
        rig_advance_ms(&tallies.rig, 900);
    }
    CHECK(tallies.told > 30);
    rig_close(&tallies.rig);
}

TEST(the_index_tells_of_any_part_what_a_scan_tells)
{
    check_definition(TEXTS("'paths':['/pk'],'version':2", ""));
}

TEST(whatever_partition_keys_are_made_of)
{
    check_definition(TEXTS("'paths':['/pk'],'version':1", ""));
    check_definition(TEXTS("'paths':['/pk','/sub'],'version':2,'kind':'MultiHash'", ""));
}

TEST(what_has_expired_counts_nowhere)
{
    check_definition(TEXTS("'paths':['/pk'],'version':2", "'defaultTtl':9,"));
}
