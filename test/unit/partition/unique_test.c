/* test/unit/partition/unique_test.c - unique keys: what is a breach, what frees values, who wins a race. */
#include <pthread.h>

#include "items.h"
#include "keys/keys.h"
#include "partition/unique.h"

#define UNIQUE(keys)                        \
    "{'id':'c','partitionKey':{'paths':['/" \
    "pk'],'version':2},'defaultTtl':-1,'uniqueKeyPolicy':{'uniqueKeys':[" keys "]}}"
#define BY_MAIL UNIQUE("{'paths':['/mail']}")
#define BY_NAME UNIQUE("{'paths':['/first','/name/last']}")
#define BY_BOTH UNIQUE("{'paths':['/mail']},{'paths':['/phone']}")
#define KEY_A "['a']"

static const struct {
    const char *container, *first, *second;
    bool breach;
} pairs[] = {
    { BY_MAIL, "'mail':'x'", "'mail':'x'", true },
    { BY_MAIL, "'mail':'x'", "'mail':'X'", false },
    { BY_MAIL, "'mail':'x'", "'mail':'y'", false },
    { BY_MAIL, "'mail':'x'", "'n':1", false },
    { BY_MAIL, "'n':1", "'n':2", true },
    { BY_MAIL, "'n':1", "'mail':null", true },
    { BY_MAIL, "'mail':null", "'n':1", true },
    { BY_MAIL, "'mail':null", "'mail':''", false },
    { BY_MAIL, "'mail':null", "'mail':false", false },
    { BY_MAIL, "'mail':null", "'mail':0", false },
    { BY_MAIL, "'mail':1", "'mail':1.0", true },
    { BY_MAIL, "'mail':1", "'mail':'1'", false },
    { BY_MAIL, "'mail':9007199254740993", "'mail':9007199254740992", false },
    { BY_MAIL, "'mail':true", "'mail':false", false },
    { BY_MAIL, "'mail':[1,2]", "'mail':[1,2]", true },
    { BY_MAIL, "'mail':[1,2]", "'mail':[2,1]", false },
    { BY_MAIL, "'mail':{'a':1,'b':2}", "'mail':{'b':2,'a':1}", true },
    { BY_NAME, "'first':'a','name':{'last':'b'}", "'first':'a','name':{'last':'b'}", true },
    { BY_NAME, "'first':'a','name':{'last':'b'}", "'first':'b','name':{'last':'a'}", false },
    { BY_NAME, "'first':'a','name':{'last':'b'}", "'first':'a'", false },
    { BY_NAME, "'first':'a'", "'first':'a','name':[{'last':'b'}]", true }, /* no way leads through an array */
    { BY_NAME, "'first':'a'", "'name':{'last':'a'}", false },
    { BY_BOTH, "'mail':'x','phone':'1'", "'mail':'y','phone':'1'", true },
    { BY_BOTH, "'mail':'x','phone':'1'", "'mail':'x','phone':'2'", true },
    { BY_BOTH, "'mail':'x','phone':'1'", "'mail':'1','phone':'x'", false },
    { BY_BOTH, "'mail':'x'", "'mail':'y'", true },
};

static const char *document_of(struct op *op, const char *id, const char *key, const char *members)
{
    struct buf text;

    buf_init(&text, &op->arena);
    buf_printf(&text, "{'id':'%s','pk':'%s',%s}", id, key, members);
    return arena_text(&op->arena, buf_as_slice(&text));
}

static enum status add(struct rig *rig, const struct container *container, const char *id,
                       const char *members)
{
    struct record item;

    return item_create(rig, container, document_of(rig->op, id, "a", members), &item);
}

static enum status set(struct rig *rig, const struct container *container, const char *id,
                       const char *members)
{
    struct record item;

    return item_replace(rig, container, id, document_of(rig->op, id, "a", members), &item);
}

TEST(values_are_compared_as_the_query_language_does_and_a_missing_one_is_null)
{
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        enum status wanted = pairs[i].breach ? ST_EXISTS : ST_OK;
        struct container *container;
        struct rig rig;

        rig_open(&rig, false);
        container = rig_container(&rig, pairs[i].container);
        CHECK(add(&rig, container, "1", pairs[i].first) == ST_OK);
        if (add(&rig, container, "2", pairs[i].second) != wanted)
            test_failed(__FILE__, __LINE__, pairs[i].second);
        if (pairs[i].breach)
            CHECK(strcmp(rig.op->error, "Unique index constraint violation.") == 0);
        CHECK(rows_of_kind(&rig, container, KEY_DOCUMENT).count == (pairs[i].breach ? 1 : 2));
        rig_close(&rig);
    }
}

TEST(each_logical_partition_has_values_of_its_own)
{
    struct container *container;
    struct record item;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_MAIL);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a','mail':'x'}", &item) == ST_OK);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'b','mail':'x'}", &item) == ST_OK);
    CHECK(item_create(&rig, container, "{'id':'1','mail':'x'}", &item) == ST_OK);
    CHECK(item_create(&rig, container, "{'id':'2','mail':'x'}", &item) == ST_EXISTS);
    container = rig_container(&rig, "{'id':'s','uniqueKeyPolicy':{'uniqueKeys':[{'paths':['/mail']}]}}");
    CHECK(item_create(&rig, container, "{'id':'1','mail':'x'}", &item) == ST_OK && item.epk.size == 0);
    CHECK(item_create(&rig, container, "{'id':'2','mail':'x'}", &item) == ST_EXISTS);
    CHECK(item_create(&rig, container, "{'id':'2','mail':'y'}", &item) == ST_OK);
    rig_close(&rig);
}

TEST(a_replace_is_held_to_them_too_but_not_by_its_own_item)
{
    struct container *container;
    struct record item;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_BOTH);
    CHECK(add(&rig, container, "1", "'mail':'x','phone':'1'") == ST_OK);
    CHECK(add(&rig, container, "2", "'mail':'y','phone':'2'") == ST_OK);
    CHECK(set(&rig, container, "2", "'mail':'y','phone':'1'") == ST_EXISTS);
    CHECK(set(&rig, container, "2", "'mail':'x','phone':'2'") == ST_EXISTS);
    CHECK(set(&rig, container, "2", "'mail':'y','phone':'2','n':1") == ST_OK);
    CHECK(set(&rig, container, "2", "'mail':'z','phone':'2'") == ST_OK);
    CHECK(item_replace(&rig, container, "2", "{'id':'3','pk':'a','mail':'z','phone':'3'}", &item) == ST_OK);
    CHECK(add(&rig, container, "4", "'mail':'y','phone':'2'") == ST_OK); /* both are free by now */
    CHECK(rows_of_kind(&rig, container, KEY_UNIQUE).count == 6);
    rig_close(&rig);
}

TEST(values_that_stay_write_no_entry_and_read_none)
{
    struct container *plain, *unique;
    struct record item;
    uint64_t trips;
    struct rig rig;

    rig_open(&rig, false);
    plain = rig_container(&rig, BY_PK);
    unique = rig_container(&rig, "{'id':'u','partitionKey':{'paths':['/pk'],'version':2},"
                                 "'indexingPolicy':{'indexingMode':'none','automatic':false},"
                                 "'uniqueKeyPolicy':{'uniqueKeys':[{'paths':['/mail']}]}}");
    CHECK(add(&rig, plain, "1", "'mail':'x'") == ST_OK && add(&rig, unique, "1", "'mail':'x'") == ST_OK);
    rig.op->work = (struct work){ 0 };
    CHECK(item_replace(&rig, plain, "1", "{'id':'1','pk':'a','mail':'x','n':1}", &item) == ST_OK);
    trips = rig.op->work.round_trips;
    rig.op->work = (struct work){ 0 };
    CHECK(item_replace(&rig, unique, "1", "{'id':'1','pk':'a','mail':'x','n':1}", &item) == ST_OK);
    CHECK(rig.op->work.round_trips == trips && rig.op->work.entries_written == 0);
    rig.op->work = (struct work){ 0 };
    CHECK(item_replace(&rig, unique, "1", "{'id':'1','pk':'a','mail':'y','n':1}", &item) == ST_OK);
    CHECK(rig.op->work.round_trips == trips + 1 && rig.op->work.entries_written == 2);
    rig_close(&rig);
}

TEST(deleted_and_expired_items_free_their_values)
{
    struct container *container;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_BOTH);
    CHECK(add(&rig, container, "1", "'mail':'x','phone':'1'") == ST_OK);
    CHECK(item_delete(&rig, container, KEY_A, "1") == ST_OK);
    CHECK(rows_of_kind(&rig, container, KEY_UNIQUE).count == 0);
    CHECK(add(&rig, container, "2", "'mail':'x','phone':'1','ttl':10") == ST_OK);
    CHECK(add(&rig, container, "3", "'mail':'y','phone':'3','ttl':10") == ST_OK);
    rig_advance_ms(&rig, 9999);
    CHECK(add(&rig, container, "4", "'mail':'x','phone':'4'") == ST_EXISTS);
    rig_advance_ms(&rig, 1);
    CHECK(add(&rig, container, "4", "'mail':'x','phone':'3'") == ST_OK); /* one of each, which both go */
    CHECK(rows_of_kind(&rig, container, KEY_DOCUMENT).count == 1 &&
          rows_of_kind(&rig, container, KEY_ID).count == 1 &&
          rows_of_kind(&rig, container, KEY_UNIQUE).count == 2);
    rig_close(&rig);
}

TEST(an_expired_item_with_all_the_values_and_the_id_makes_room)
{
    struct container *container;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_BOTH);
    CHECK(add(&rig, container, "1", "'mail':'x','phone':'1','ttl':10") == ST_OK);
    rig_advance_ms(&rig, 10000);
    CHECK(add(&rig, container, "1", "'mail':'x','phone':'1','ttl':10") == ST_OK);
    rig_advance_ms(&rig, 10000);
    CHECK(add(&rig, container, "2", "'mail':'x','phone':'1'") == ST_OK);
    CHECK(add(&rig, container, "3", "'mail':'x','phone':'2'") == ST_EXISTS);
    CHECK(rows_of_kind(&rig, container, KEY_DOCUMENT).count == 1 &&
          rows_of_kind(&rig, container, KEY_UNIQUE).count == 2);
    rig_close(&rig);
}

TEST(values_stay_taken_over_a_restart)
{
    struct container *container;
    struct database *database;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_MAIL);
    CHECK(add(&rig, container, "1", "'mail':'x'") == ST_OK);
    rig_reopen(&rig);
    database = catalog_find_database(rig.catalog, slice_of("db"));
    container = catalog_find_container(rig.catalog, database, slice_of("c"));
    REQUIRE(container);
    CHECK(add(&rig, container, "2", "'mail':'x'") == ST_EXISTS);
    CHECK(add(&rig, container, "2", "'mail':'y'") == ST_OK);
    container_release(container);
    database_release(database);
    rig_close(&rig);
}

/* --- races --- */

static enum status begin_create(struct rig *rig, const struct container *container, const char *id,
                                struct partition_txn **txn)
{
    struct record item;
    enum status st;

    TRY(partition_begin(rig->op, rig->locks, container, key_of_header(rig->op, container, KEY_A),
                        slice_of(id), txn));
    TRY(partition_create(rig->op, *txn, rig_json(rig->op, document_of(rig->op, id, "a", "'mail':'x'")),
                         &item));
out:
    return st;
}

TEST(of_two_transactions_that_take_the_same_values_the_second_must_try_again)
{
    struct partition_txn *first = NULL, *second = NULL;
    struct container *container;
    struct commit_stamp stamp;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_MAIL);
    CHECK(begin_create(&rig, container, "1", &first) == ST_OK);
    CHECK(begin_create(&rig, container, "2", &second) == ST_OK);
    CHECK(partition_commit(rig.op, &first, &stamp) == ST_OK);
    CHECK(partition_commit(rig.op, &second, &stamp) == ST_WRITE_CONFLICT);
    CHECK(begin_create(&rig, container, "2", &second) == ST_EXISTS);
    partition_abort(second);
    rig_close(&rig);
}

enum { THREADS = 8, VALUES = 30 };

struct taker {
    struct rig *rig;
    const struct container *container;
    int name;
    pthread_t thread;
    int taken, failures;
};

static enum status take(struct op *op, struct taker *taker, int value)
{
    const struct placed_key *key = key_of_document(op, taker->container, rig_json(op, "{'pk':'a'}"));
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct record item;
    char document[80];
    struct json parsed;
    enum status st;

    snprintf(document, sizeof(document), "{'id':'%d-%d','pk':'a','mail':%d}", taker->name, value, value);
    parsed = rig_json(op, document);
    TRY(partition_begin(op, taker->rig->locks, taker->container, key, json_string(json_get(parsed, "id")),
                        &txn));
    TRY(partition_create(op, txn, parsed, &item));
    TRY(partition_commit(op, &txn, &stamp));
out:
    partition_abort(txn);
    return st;
}

static void *take_all(void *context)
{
    struct taker *taker = context;
    struct op op;

    op_init(&op, taker->rig->op->env, SIZE_MAX);
    for (int value = 0; value < VALUES;) {
        enum status st;

        op_begin(&op, INT64_MAX / 2);
        st = take(&op, taker, value);
        value += st != ST_WRITE_CONFLICT;
        taker->taken += st == ST_OK;
        taker->failures += st != ST_OK && st != ST_WRITE_CONFLICT && st != ST_EXISTS;
    }
    op_free(&op);
    return NULL;
}

TEST(each_value_is_taken_once_by_many_threads)
{
    struct taker takers[THREADS];
    struct container *container;
    int taken = 0;
    struct rig rig;

    rig_open(&rig, true);
    container = rig_container(&rig, BY_MAIL);
    for (int i = 0; i < THREADS; i++) {
        takers[i] = (struct taker){ .rig = &rig, .container = container, .name = i };
        REQUIRE(pthread_create(&takers[i].thread, NULL, take_all, &takers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(takers[i].thread, NULL);
        taken += takers[i].taken;
        CHECK(takers[i].failures == 0);
    }
    CHECK(taken == VALUES && rows_of_kind(&rig, container, KEY_DOCUMENT).count == VALUES &&
          rows_of_kind(&rig, container, KEY_UNIQUE).count == VALUES);
    rig_close(&rig);
}

/* --- entries --- */

static struct slice entry_key(struct rig *rig, const struct container *container, const char *members)
{
    struct placed_key *key = key_of_header(rig->op, container, KEY_A);

    return unique_key_of(&rig->op->arena, container, epk_slice(&key->epk), 0,
                         rig_json(rig->op, document_of(rig->op, "x", "a", members)));
}

static void put_entry(struct rig *rig, const struct container *container, struct slice key,
                      struct slice value)
{
    struct batch *batch = batch_new(rig->op, bucket_id(container->bucket));
    struct commit_stamp stamp;

    batch_put(batch, key, value);
    CHECK(store_commit(rig->op, container->bucket, batch, &stamp) == ST_OK);
}

static size_t numbers_under(struct rig *rig, const struct container *container, struct slice key)
{
    struct slice value;

    CHECK(store_get_latest(rig->op, container->bucket, key, &value) == ST_OK);
    return holders_count(value);
}

/* As if the hash of "x" were that of "y". */
TEST(values_that_share_a_hash_share_an_entry_and_are_no_breach)
{
    struct container *container;
    struct record other;
    struct slice key;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_MAIL);
    CHECK(item_create(&rig, container, "{'id':'y','pk':'a','mail':'y'}", &other) == ST_OK);
    key = entry_key(&rig, container, "'mail':'x'");
    put_entry(&rig, container, key, holders_with(&rig.op->arena, (struct slice){ 0 }, other.number));
    CHECK(add(&rig, container, "1", "'mail':'x'") == ST_OK && numbers_under(&rig, container, key) == 2);
    CHECK(add(&rig, container, "2", "'mail':'x'") == ST_EXISTS);
    CHECK(set(&rig, container, "1", "'mail':'z'") == ST_OK && numbers_under(&rig, container, key) == 1);
    CHECK(set(&rig, container, "1", "'mail':'x'") == ST_OK && numbers_under(&rig, container, key) == 2);
    CHECK(item_delete(&rig, container, KEY_A, "1") == ST_OK && numbers_under(&rig, container, key) == 1);
    rig_close(&rig);
}

TEST(an_entry_that_is_damaged_or_leads_nowhere_is_told_as_damage)
{
    struct container *container;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_MAIL);
    put_entry(&rig, container, entry_key(&rig, container, "'mail':'x'"), slice_of("x"));
    CHECK(add(&rig, container, "1", "'mail':'x'") == ST_CORRUPT);
    put_entry(&rig, container, entry_key(&rig, container, "'mail':'y'"),
              holders_with(&rig.op->arena, (struct slice){ 0 }, 12345));
    CHECK(add(&rig, container, "1", "'mail':'y'") == ST_CORRUPT);
    CHECK(add(&rig, container, "1", "'mail':'z'") == ST_OK);
    rig_close(&rig);
}

/* --- containers of the first versions --- */

/* As they wrote it: without the flag. */
static void forget_flag(struct rig *rig, const struct container *container)
{
    struct batch *batch = batch_new(rig->op, 0);
    struct record record = { .document = container->definition, .number = 1, .etag = container->etag };
    struct commit_stamp stamp;
    struct bucket *catalog;
    size_t size;
    uint8_t *value = record_encode(rig->op, &record, &size);

    REQUIRE(store_bucket(rig->op, rig->store, 0, &catalog) == ST_OK);
    batch_put_stamped(batch, key_catalog(&rig->op->arena, rid_slice(&container->rid)), value, size);
    CHECK(store_commit(rig->op, catalog, batch, &stamp) == ST_OK);
}

TEST(a_container_whose_items_may_lack_entries_goes_on_without_them)
{
    struct container *container, *redefined;
    struct database *database;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_MAIL);
    CHECK(container->keeps_unique && container->unique_key_count == 1);
    forget_flag(&rig, container);
    rig_reopen(&rig);
    database = catalog_find_database(rig.catalog, slice_of("db"));
    container = catalog_find_container(rig.catalog, database, slice_of("c"));
    REQUIRE(container);
    CHECK(!container->keeps_unique && container->unique_key_count == 0);
    CHECK(add(&rig, container, "1", "'mail':'x'") == ST_OK &&
          add(&rig, container, "2", "'mail':'x'") == ST_OK);
    redefined = rig_redefine(&rig, container, BY_MAIL); /* which changes nothing about it */
    CHECK(!redefined->keeps_unique && add(&rig, redefined, "3", "'mail':'x'") == ST_OK);
    CHECK(rows_of_kind(&rig, redefined, KEY_UNIQUE).count == 0);
    container_release(container);
    database_release(database);
    rig_close(&rig);
}
