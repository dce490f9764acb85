/* test/unit/partition/indexed_test.c - an item has exactly the entries that its policy gives it, whatever was done. */
#include "text/words.h"
#include "index/set.h"
#include "items.h"
#include "keys/keys.h"
#include "partition/indexed.h"
#include "partition/verify.h"

#define DEFINED(policy) "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},'indexingPolicy':" policy "}"
#define ALL "{'includedPaths':[{'path':'/*'}]}"
#define ONLY_A "{'includedPaths':[{'path':'/a/?'}],'excludedPaths':[{'path':'/*'}]}"
#define NONE "{'indexingMode':'none','automatic':false}"
#define MANUAL "{'automatic':false}"
#define COMPOSITE "{'compositeIndexes':[[{'path':'/a'},{'path':'/b','order':'descending'}]]}"

static struct verify_result verified(struct rig *rig, const struct container *container)
{
    struct verify_result result = { .missing = 1 };
    struct view view = { 0 };

    CHECK(view_open(rig->op, container->bucket, NULL, &view) == ST_OK);
    CHECK(verify_index(rig->op, container, &view, &result) == ST_OK);
    view_close(&view);
    return result;
}

static bool is_right(struct rig *rig, const struct container *container)
{
    struct verify_result result = verified(rig, container);

    return result.missing == 0 && result.extra == 0 && result.expected == result.found;
}

static const struct index_step step_a = { .name = { "a", 1 } }, step_b = { .name = { "b", 1 } };
static const struct index_path path_a = { &step_a, 1 }, path_b = { &step_b, 1 };

/* How many entries the path has. */
static uint64_t entries_at(struct rig *rig, const struct container *container, const struct index_path *path)
{
    uint8_t prefix[TERM_PATH_BYTES];
    struct view view = { 0 };
    uint64_t count = 0;

    term_put_path(prefix, index_path_id(container->index, path));
    CHECK(view_open(rig->op, container->bucket, NULL, &view) == ST_OK);
    CHECK(index_count(rig->op, &view, slice_make(prefix, sizeof(prefix)),
                      index_prefix_end(&rig->op->arena, slice_make(prefix, sizeof(prefix))),
                      &count) == ST_OK);
    view_close(&view);
    return count;
}

static const char *random_document(struct rig *rig, unsigned id)
{
    char *text = arena_alloc(&rig->op->arena, 200);

    snprintf(text, 200, "{'id':'%u','pk':'a','a':%u,'b':['x','%u','x'],'c':{'d':%s}%s}", id,
             (unsigned)(test_random() % 5), (unsigned)(test_random() % 4), test_random() % 2 ? "null" : "[]",
             test_random() % 3 ? "" : ",'e':'long enough'");
    return text;
}

static void change_randomly(struct rig *rig, const struct container *container, size_t changes)
{
    for (size_t i = 0; i < changes; i++) {
        unsigned id = (unsigned)(test_random() % 30);
        char name[8];
        struct record item;

        snprintf(name, sizeof(name), "%u", id);
        if (!item_read(rig, container, "['a']", name, &item))
            CHECK(item_create(rig, container, random_document(rig, id), &item) == ST_OK);
        else if (test_random() % 3)
            CHECK(item_replace(rig, container, name, random_document(rig, id), &item) == ST_OK);
        else
            CHECK(item_delete(rig, container, "['a']", name) == ST_OK);
    }
}

TEST(items_have_their_entries_after_any_changes)
{
    static const char *const definitions[] = { DEFINED(ALL), DEFINED(ONLY_A), DEFINED(NONE),
                                               DEFINED(COMPOSITE) };

    for (size_t i = 0; i < sizeof(definitions) / sizeof(definitions[0]); i++) {
        struct container *container;
        struct rig rig;

        rig_open(&rig, false);
        container = rig_container(&rig, definitions[i]);
        for (size_t round = 0; round < 10; round++) {
            change_randomly(&rig, container, 30);
            CHECK(is_right(&rig, container));
        }
        CHECK((verified(&rig, container).found == 0) == (i == 2));
        rig_close(&rig);
    }
}

TEST(entries_name_the_time_of_the_commit)
{
    struct container *container;
    struct record item;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, DEFINED(ALL));
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a'}", &item) == ST_OK);
    rig_advance_ms(&rig, 7000);
    CHECK(item_replace(&rig, container, "1", "{'id':'1','pk':'a','a':1}", &item) == ST_OK);
    CHECK(is_right(&rig, container)); /* which makes the entry of _ts from the record */
    CHECK(item_delete(&rig, container, "['a']", "1") == ST_OK);
    CHECK(verified(&rig, container).found == 0);
    rig_close(&rig);
}

/* One transaction over an item that it makes, changes and perhaps removes again. */
static enum status make_change_remove(struct rig *rig, const struct container *container, bool removes)
{
    const struct placed_key *key = key_of_header(rig->op, container, "['a']");
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct record item, found;
    bool is_there;
    enum status st;

    TRY(partition_begin(rig->op, rig->locks, container, key, slice_of("t"), &txn));
    TRY(partition_create(rig->op, txn, rig_json(rig->op, "{'id':'t','pk':'a','a':1,'b':2}"), &item));
    TRY(partition_find(rig->op, txn, slice_of("t"), &found, &is_there));
    TRY(partition_replace(rig->op, txn, &found, rig_json(rig->op, "{'id':'t','pk':'a','a':1,'b':3}"), &item));
    TRY(partition_find(rig->op, txn, slice_of("t"), &found, &is_there));
    if (removes)
        TRY(partition_delete(rig->op, txn, &found));
    TRY(partition_commit(rig->op, &txn, &stamp));
out:
    partition_abort(txn);
    return st;
}

TEST(an_item_changed_again_in_its_transaction_has_the_entries_of_its_last_version)
{
    struct container *container;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, DEFINED(COMPOSITE));
    CHECK(make_change_remove(&rig, container, true) == ST_OK);
    CHECK(verified(&rig, container).found == 0);
    CHECK(make_change_remove(&rig, container, false) == ST_OK);
    CHECK(is_right(&rig, container) && entries_at(&rig, container, &path_b) == 1);
    rig_close(&rig);
}

static enum status create_wishing(struct rig *rig, const struct container *container, const char *id,
                                  enum indexing_wish wish)
{
    const struct placed_key *key = key_of_header(rig->op, container, "['a']");
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct record item;
    char document[64];
    enum status st;

    snprintf(document, sizeof(document), "{'id':'%s','pk':'a','a':1}", id);
    TRY(partition_begin(rig->op, rig->locks, container, key, slice_of(id), &txn));
    partition_set_indexing(txn, wish);
    TRY(partition_create(rig->op, txn, rig_json(rig->op, document), &item));
    TRY(partition_commit(rig->op, &txn, &stamp));
out:
    partition_abort(txn);
    return st;
}

static bool is_whole(struct rig *rig, const struct container *container)
{
    struct view view = { 0 };
    bool whole = false;

    CHECK(view_open(rig->op, container->bucket, NULL, &view) == ST_OK);
    CHECK(container_index_is_whole(rig->op, &view, container, &whole) == ST_OK);
    view_close(&view);
    return whole;
}

TEST(items_are_left_out_where_their_writer_or_the_policy_says_so)
{
    struct container *automatic, *manual;
    struct rig rig;

    rig_open(&rig, false);
    automatic = rig_container(&rig, DEFINED(ALL));
    CHECK(create_wishing(&rig, automatic, "1", INDEXING_DEFAULT) == ST_OK);
    CHECK(create_wishing(&rig, automatic, "2", INDEXING_INCLUDE) == ST_OK);
    CHECK(is_whole(&rig, automatic));
    CHECK(create_wishing(&rig, automatic, "3", INDEXING_EXCLUDE) == ST_OK);
    CHECK(entries_at(&rig, automatic, &path_a) == 2 && !is_whole(&rig, automatic));
    CHECK(is_right(&rig, automatic));
    CHECK(item_delete(&rig, automatic, "['a']", "3") == ST_OK && is_whole(&rig, automatic));

    manual = rig_container(&rig, "{'id':'m','partitionKey':{'paths':['/pk'],'version':2},"
                                 "'indexingPolicy':" MANUAL "}");
    CHECK(create_wishing(&rig, manual, "1", INDEXING_DEFAULT) == ST_OK);
    CHECK(create_wishing(&rig, manual, "2", INDEXING_INCLUDE) == ST_OK);
    CHECK(entries_at(&rig, manual, &path_a) == 1 && !is_whole(&rig, manual));
    CHECK(is_right(&rig, manual));
    rig_close(&rig);
}

TEST(a_missing_entry_and_one_too_many_are_both_found)
{
    struct container *container;
    struct verify_result result;
    struct commit_stamp stamp;
    struct batch *batch;
    struct record item;
    struct rows entries;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, DEFINED(ALL));
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a','a':1}", &item) == ST_OK);
    entries = rows_of_kind(&rig, container, KEY_INDEX);
    REQUIRE(entries.count >= 4);
    batch = batch_new(rig.op, bucket_id(container->bucket));
    batch_index_remove(batch, entries.row[1].key);
    batch_index_add(batch, key_index(&rig.op->arena, bucket_id(container->bucket), slice_of("8bytes..\2"),
                                     item.number + 1));
    CHECK(store_commit(rig.op, container->bucket, batch, &stamp) == ST_OK);
    result = verified(&rig, container);
    CHECK(result.missing == 1 && result.extra == 1 && result.expected == result.found);
    rig_close(&rig);
}

/* ---- another policy ---- */

static size_t records_of_version(struct rig *rig, const struct container *container, uint32_t version)
{
    struct rows rows = rows_of_kind(rig, container, KEY_DOCUMENT);
    size_t count = 0;

    for (size_t i = 0; i < rows.count; i++) {
        struct record item;

        CHECK(record_decode(rig->op, rows.row[i].value, &item) == ST_OK);
        count += item.policy_version == version;
    }
    return count;
}

static struct container *found(struct rig *rig)
{
    struct database *database = catalog_find_database(rig->catalog, slice_of("db"));
    struct container *container = catalog_find_container(rig->catalog, database, slice_of("c"));

    database_release(database);
    return container;
}

/* Restarts, so that nobody holds an earlier version of the definition, and lets housekeeping finish. */
static void finish_reindexing(struct rig *rig)
{
    struct container *container;

    rig_reopen(rig);
    CHECK(rig_reindex(rig) == ST_OK);
    container = found(rig);
    CHECK(container->index_older_count == 0 && container_indexed_percent(container) == 100);
    container_release(container);
}

TEST(another_policy_is_used_by_queries_when_every_item_is_indexed_by_it)
{
    struct container *container, *changed;
    struct record item;
    struct rig rig;
    uint64_t etag;

    rig_open(&rig, false);
    container = rig_container(&rig, DEFINED(ONLY_A));
    change_randomly(&rig, container, 40);
    CHECK(container_index_has(container, &path_a) && !container_index_has(container, &path_b));
    changed = rig_redefine(&rig, container, DEFINED(ALL));
    etag = changed->etag;
    CHECK(changed->policy_version == 2 && container_indexed_percent(changed) < 100);
    CHECK(container_index_has(changed, &path_a) && !container_index_has(changed, &path_b));
    change_randomly(&rig, changed, 20);
    CHECK(is_right(&rig, changed));
    CHECK(rig_reindex(&rig) == ST_OK); /* somebody may still write by the old one */
    CHECK(records_of_version(&rig, changed, 1) > 0);

    finish_reindexing(&rig);
    changed = found(&rig);
    CHECK(records_of_version(&rig, changed, 1) == 0 && is_right(&rig, changed));
    CHECK(container_index_has(changed, &path_b) && changed->etag == etag);
    CHECK(item_create(&rig, changed, "{'id':'new','pk':'a'}", &item) == ST_OK && item.policy_version == 2);
    container_release(changed);
    rig_close(&rig);
}

TEST(writing_by_a_definition_that_was_replaced_indexes_by_the_newest)
{
    struct container *container, *changed;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, DEFINED(ALL));
    change_randomly(&rig, container, 20);
    changed = rig_redefine(&rig, container, DEFINED(ONLY_A));
    change_randomly(&rig, changed, 10);
    change_randomly(&rig, container, 10); /* a request that found it before */
    CHECK(is_right(&rig, container) && is_right(&rig, changed));
    CHECK(!container_index_has(container, &path_b));
    rig_close(&rig);
}

TEST(indexing_again_changes_nothing_that_a_client_sees_of_an_item)
{
    struct container *container;
    struct record before, after;
    struct rows log;
    struct change change;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, DEFINED(ALL));
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a','a':1}", &before) == ST_OK);
    REQUIRE(item_read(&rig, container, "['a']", "1", &before));
    rig_advance_ms(&rig, 9000);
    rig_redefine(&rig, container, DEFINED(ONLY_A));
    finish_reindexing(&rig);
    container = found(&rig);
    REQUIRE(item_read(&rig, container, "['a']", "1", &after));
    CHECK(after.lsn == before.lsn && after.ts_ms == before.ts_ms && after.etag == before.etag);
    CHECK(after.policy_version == 2 && is_right(&rig, container));
    log = rows_of_kind(&rig, container, KEY_LOG);
    REQUIRE(log.count == 2 && change_decode(rig.op, log.row[1].value, &change) == ST_OK);
    CHECK(change.kind == CHANGE_REINDEX && change.number == after.number && change.old_record.size > 0);
    container_release(container);
    rig_close(&rig);
}

TEST(policies_that_wait_for_their_items_survive_restarts_and_further_changes)
{
    struct container *container;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, DEFINED(ALL));
    change_randomly(&rig, container, 20);
    container = rig_redefine(&rig, container, DEFINED(ONLY_A));
    change_randomly(&rig, container, 6);
    rig_reopen(&rig);
    container = found(&rig);
    CHECK(container->policy_version == 2 && container->index_older_count == 1);
    CHECK(json_kind(json_get(container->definition, "_olderIndexing")) == JSON_UNDEFINED);
    change_randomly(&rig, container, 6);
    CHECK(is_right(&rig, container));
    rig_redefine(&rig, container, DEFINED(COMPOSITE));
    container_release(container);
    container = found(&rig);
    CHECK(container->policy_version == 3 && container->index_older_count == 2);
    change_randomly(&rig, container, 6);
    CHECK(is_right(&rig, container));
    container_release(container);
    finish_reindexing(&rig);
    container = found(&rig);
    CHECK(is_right(&rig, container));
    container_release(container);
    rig_close(&rig);
}

TEST(items_of_a_version_without_an_index_are_indexed_when_there_is_one)
{
    struct container *container;
    struct rig rig;

    rig_open_with(&rig, false, ENTRIES_NONE);
    container = rig_container(&rig, DEFINED(ALL));
    change_randomly(&rig, container, 40);
    CHECK(!container->index && verified(&rig, container).found == 0);
    rig.entries = ENTRIES_PLAIN;
    rig_reopen(&rig);
    container = found(&rig);
    CHECK(container->policy_version == 1 && !container_index_has(container, &path_a));
    change_randomly(&rig, container, 10);
    CHECK(is_right(&rig, container) && records_of_version(&rig, container, 0) > 0);
    container_release(container);
    finish_reindexing(&rig);
    container = found(&rig);
    CHECK(container_index_has(container, &path_a) && records_of_version(&rig, container, 0) == 0);
    CHECK(is_right(&rig, container) && verified(&rig, container).found > 0);
    container_release(container);
    rig_close(&rig);
}

TEST(a_definition_that_says_the_same_of_indexing_indexes_nothing_again)
{
    struct container *container;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, DEFINED(ALL));
    change_randomly(&rig, container, 5);
    container = rig_redefine(&rig, container,
                             "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},'defaultTtl':100,"
                             "'indexingPolicy':" ALL "}");
    CHECK(container->policy_version == 1 && container->index_older_count == 0);
    rig_close(&rig);
}

TEST(a_failure_at_any_call_of_indexing_again_is_made_good_by_the_next_try)
{
    for (uint64_t call = 1; call < 60; call++) {
        struct container *container;
        struct rig rig;

        rig_open(&rig, false);
        container = rig_container(&rig, DEFINED(ALL));
        change_randomly(&rig, container, 15);
        rig_redefine(&rig, container, DEFINED(ONLY_A));
        rig_reopen(&rig);
        faulty_fail(&rig.controls, FAULTY_ANY, call);
        if (rig_reindex(&rig) == ST_OK && !rig.controls.failed)
            call = 60;
        faulty_fail(&rig.controls, FAULTY_ANY, 0);
        rig_advance_ms(&rig, 60000);
        CHECK(rig_reindex(&rig) == ST_OK);
        container = found(&rig);
        CHECK(container->index_older_count == 0 && is_right(&rig, container));
        container_release(container);
        rig_close(&rig);
    }
}

/* As a program of before 0.2 wrote the container: without a seed. */
static void forget_seed(struct rig *rig, const struct container *container, struct json definition)
{
    struct record record = { .document = definition,
                             .policy_version = container->policy_version,
                             .number = container->ranges.count,
                             .etag = container->etag };
    struct batch *batch = batch_new(rig->op, 0);
    struct commit_stamp stamp;
    struct bucket *catalog;
    size_t size;
    uint8_t *value = record_encode(rig->op, &record, &size);

    CHECK(store_bucket(rig->op, rig->store, 0, &catalog) == ST_OK);
    batch_put_stamped(batch, key_catalog(&rig->op->arena, rid_slice(&container->rid)), value, size);
    CHECK(store_commit(rig->op, catalog, batch, &stamp) == ST_OK);
    rig_reopen(rig);
}

TEST(a_container_without_a_seed_gets_one_and_its_items_are_indexed_by_it)
{
    struct container *container;
    struct hash_seed seed;
    struct rig rig;
    uint64_t etag;

    rig_open(&rig, false);
    container = rig_container(&rig, DEFINED(ALL));
    CHECK(!hash_seed_is_none(container->seed));
    etag = container->etag;
    forget_seed(&rig, container, container->definition);
    container = found(&rig);
    CHECK(hash_seed_is_none(container->seed) && container->policy_version == 1);
    change_randomly(&rig, container, 40);
    CHECK(is_right(&rig, container) && container_index_has(container, &path_a));
    container_release(container);
    rig_reopen(&rig);
    CHECK(rig_reindex(&rig) == ST_OK);
    container = found(&rig);
    seed = container->seed;
    CHECK(!hash_seed_is_none(seed) && container->policy_version == 2 && container->etag == etag);
    CHECK(!container_index_has(container, &path_a)); /* some have the ids of before */
    change_randomly(&rig, container, 10);
    CHECK(is_right(&rig, container));
    container_release(container);
    finish_reindexing(&rig);
    container = found(&rig);
    CHECK(container->seed.k0 == seed.k0 && container->seed.k1 == seed.k1);
    CHECK(records_of_version(&rig, container, 1) == 0 && is_right(&rig, container));
    CHECK(container_index_has(container, &path_a));
    CHECK(json_kind(json_get(container->definition, "_seed")) == JSON_UNDEFINED);
    container_release(container);
    rig_close(&rig);
}

static struct json with_text_entries(struct rig *rig, struct json definition, enum text_entries entries)
{
    struct json_builder out;

    json_builder_init(&out, &rig->op->arena);
    json_begin_object(&out);
    json_add_members(&out, definition, NULL);
    json_add_name(&out, slice_of("_textRules"));
    json_add_int(&out, entries);
    json_end(&out);
    return json_built(&out);
}

TEST(items_of_before_have_no_forms_of_words_until_they_are_indexed_anew)
{
    static const struct index_step step = { .name = { "t", 1 } };
    static const struct index_path path = { &step, 1 };
    struct container *container;
    struct index_text text;
    struct record item;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, DEFINED("{'fullTextIndexes':[{'path':'/t'}]},'fullTextPolicy':{"
                                            "'defaultLanguage':'en-US','fullTextPaths':[{'path':'/t'}]}"));
    CHECK(container_index_has_text(container, &path, &text) && text.has_forms);
    forget_seed(&rig, container, with_text_entries(&rig, container->definition, TEXT_ENTRIES_STEMS));
    container = found(&rig);
    CHECK(container_index_has_text(container, &path, &text) && !text.has_forms);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a','t':'foxes'}", &item) == ST_OK);
    CHECK(is_right(&rig, container));
    container_release(container);
    rig_reopen(&rig);
    CHECK(rig_reindex(&rig) == ST_OK);
    finish_reindexing(&rig);
    container = found(&rig);
    CHECK(container_index_has_text(container, &path, &text) && text.has_forms && is_right(&rig, container));
    container_release(container);
    rig_close(&rig);
}
