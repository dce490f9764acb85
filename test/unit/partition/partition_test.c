/* test/unit/partition/partition_test.c - transactions on items: what they write, what they see, whom they give way to. */
#include <semaphore.h>

#include "items.h"
#include "keys/keys.h"

static bool text_is(const struct record *item, const char *name, const char *text)
{
    return slice_is(json_string(json_get(item->document, name)), text);
}

/* --- one item's life --- */

TEST(an_item_that_was_created_is_read_back_whole)
{
    struct container *container;
    struct record made, read;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a','n':[1,2.5,null],'ttl':30}", &made) == ST_OK);
    REQUIRE(item_read(&rig, container, "['a']", "1", &read));
    CHECK(json_equal(read.document, rig_json(rig.op, "{'id':'1','pk':'a','n':[1,2.5,null],'ttl':30}")));
    CHECK(read.etag == made.etag && read.number == made.number && read.lsn == made.lsn &&
          read.ts_ms == made.ts_ms);
    CHECK(read.lsn == FIRST_WRITE && read.ts_ms == 1700000000000 && read.ttl_seconds == 30);
    CHECK(slice_equal(read.epk, epk_slice(&key_of_header(rig.op, container, "['a']")->epk)));
    CHECK(!item_read(&rig, container, "['b']", "1", &read) &&
          !item_read(&rig, container, "['a']", "2", &read));
    rig_close(&rig);
}

TEST(an_id_is_taken_once_in_each_logical_partition)
{
    struct container *container;
    struct record item;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a'}", &item) == ST_OK);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a'}", &item) == ST_ITEM_EXISTS);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'b'}", &item) == ST_OK);
    CHECK(item_create(&rig, container, "{'id':'1'}", &item) == ST_OK);
    CHECK(item_create(&rig, container, "{'id':'1','pk':null}", &item) == ST_OK);
    CHECK(rows_of_kind(&rig, container, KEY_DOCUMENT).count == 4);
    rig_close(&rig);
}

/* Promise 3. */
TEST(a_replace_keeps_the_number_and_changes_the_etag)
{
    struct container *container;
    struct record made, replaced, read;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a','v':'old'}", &made) == ST_OK);
    CHECK(item_replace(&rig, container, "1", "{'id':'1','pk':'a','v':'new'}", &replaced) == ST_OK);
    REQUIRE(item_read(&rig, container, "['a']", "1", &read));
    CHECK(text_is(&read, "v", "new") && read.number == made.number && read.lsn == FIRST_WRITE + 1);
    CHECK(read.etag == replaced.etag && read.etag != made.etag);
    CHECK(rows_of_kind(&rig, container, KEY_DOCUMENT).count == 1 &&
          rows_of_kind(&rig, container, KEY_ID).count == 1);
    rig_close(&rig);
}

TEST(a_replace_may_give_the_item_another_id_that_is_free)
{
    struct container *container;
    struct record made, read;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a'}", &made) == ST_OK);
    CHECK(item_create(&rig, container, "{'id':'taken','pk':'a'}", &read) == ST_OK);
    CHECK(item_replace(&rig, container, "1", "{'id':'taken','pk':'a'}", &read) == ST_ITEM_EXISTS);
    CHECK(item_replace(&rig, container, "1", "{'id':'2','pk':'a'}", &read) == ST_OK);
    CHECK(!item_read(&rig, container, "['a']", "1", &read));
    CHECK(item_read(&rig, container, "['a']", "2", &read) && read.number == made.number);
    CHECK(rows_of_kind(&rig, container, KEY_ID).count == 2 &&
          rows_of_kind(&rig, container, KEY_DOCUMENT).count == 2);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a'}", &read) == ST_OK);
    rig_close(&rig);
}

TEST(a_deleted_item_is_gone_with_its_id_and_its_number_is_not_given_again)
{
    struct container *container;
    struct record first, second, read;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a'}", &first) == ST_OK);
    CHECK(item_delete(&rig, container, "['a']", "1") == ST_OK);
    CHECK(!item_read(&rig, container, "['a']", "1", &read));
    CHECK(rows_of_kind(&rig, container, KEY_DOCUMENT).count == 0 &&
          rows_of_kind(&rig, container, KEY_ID).count == 0);
    CHECK(item_delete(&rig, container, "['a']", "1") == ST_ITEM_NOT_FOUND);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a'}", &second) == ST_OK &&
          second.number != first.number);
    rig_close(&rig);
}

TEST(numbers_begin_with_bits_of_the_key_and_are_unique_after_a_restart_too)
{
    enum { COUNT = 200 };
    uint64_t seen[COUNT];
    struct container *container;
    struct record item;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    for (int i = 0; i < COUNT; i++) {
        char document[64];

        snprintf(document, sizeof(document), "{'id':'%d','pk':'%d'}", i, i % 7);
        CHECK(item_create(&rig, container, document, &item) == ST_OK);
        CHECK(
            number_epk_bits(item.number) ==
            epk_number_bits(EPK_V2, 1, &key_of_document(rig.op, container, rig_json(rig.op, document))->epk));
        seen[i] = number_counter(item.number);
        for (int k = 0; k < i; k++)
            CHECK(seen[k] != seen[i]);
        if (i % 50 == 49) {
            rig_reopen(&rig);
            rig.database = catalog_find_database(rig.catalog, slice_of("db"));
            rig.made[rig.made_count++] = container =
                catalog_find_container(rig.catalog, rig.database, slice_of("c"));
        }
    }
    rig_close(&rig);
}

TEST(only_a_number_of_seconds_or_minus_one_counts_as_a_ttl)
{
    static const struct {
        const char *ttl;
        int32_t expected;
    } cases[] = { { "1", 1 },
                  { "-1", -1 },
                  { "2147483647", 2147483647 },
                  { "2147483648", RECORD_TTL_NONE },
                  { "0", RECORD_TTL_NONE },
                  { "-2", RECORD_TTL_NONE },
                  { "1.5", RECORD_TTL_NONE },
                  { "'9'", RECORD_TTL_NONE },
                  { "null", RECORD_TTL_NONE } };
    struct container *container;
    struct record item;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char document[64];

        snprintf(document, sizeof(document), "{'id':'%zu','ttl':%s}", i, cases[i].ttl);
        CHECK(item_create(&rig, container, document, &item) == ST_OK &&
              item.ttl_seconds == cases[i].expected);
    }
    rig_close(&rig);
}

/* --- the change log --- */

TEST(every_write_leaves_a_change_with_the_image_before_it)
{
    static const enum change_kind kinds[] = { CHANGE_CREATE, CHANGE_REPLACE, CHANGE_DELETE };
    struct change change[3];
    struct container *container;
    struct record made, ignored, old;
    struct rows rows;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a','v':'first'}", &made) == ST_OK);
    CHECK(item_replace(&rig, container, "1", "{'id':'1','pk':'a','v':'second'}", &ignored) == ST_OK);
    CHECK(item_delete(&rig, container, "['a']", "1") == ST_OK);
    rows = rows_of_kind(&rig, container, KEY_LOG);
    REQUIRE(rows.count == 3);
    for (size_t i = 0; i < 3; i++) {
        REQUIRE(change_decode(rig.op, rows.row[i].value, &change[i]) == ST_OK);
        CHECK(change[i].kind == kinds[i] && change[i].lsn == FIRST_WRITE + i &&
              change[i].number == made.number);
        CHECK(change[i].previous_lsn == (i ? FIRST_WRITE + i - 1 : 0) && change[i].ts_ms == 1700000000000);
    }
    CHECK(change[0].old_record.size == 0);
    CHECK(record_decode(rig.op, change[1].old_record, &old) == ST_OK && text_is(&old, "v", "first") &&
          old.lsn == FIRST_WRITE);
    CHECK(record_decode(rig.op, change[2].old_record, &old) == ST_OK && text_is(&old, "v", "second") &&
          old.lsn == FIRST_WRITE + 1);
    CHECK(change[0].token != change[1].token && change[1].token != change[2].token);
    rig_close(&rig);
}

/* --- what a transaction sees, and whom it gives way to --- */

static enum status begin(struct rig *rig, const struct container *container, const char *id,
                         struct partition_txn **txn)
{
    return partition_begin(rig->op, rig->locks, container, key_of_header(rig->op, container, "['a']"),
                           slice_of(id), txn);
}

TEST(a_transaction_sees_its_own_writes_and_nobody_else_does_before_the_commit)
{
    struct partition_txn *txn = NULL;
    struct container *container;
    struct commit_stamp stamp;
    struct record item, seen;
    bool found;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    REQUIRE(begin(&rig, container, "1", &txn) == ST_OK);
    CHECK(partition_create(rig.op, txn, rig_json(rig.op, "{'id':'1','pk':'a'}"), &item) == ST_OK);
    CHECK(partition_find(rig.op, txn, slice_of("1"), &seen, &found) == ST_OK && found);
    CHECK(!item_read(&rig, container, "['a']", "1", &seen));
    CHECK(partition_commit(rig.op, &txn, &stamp) == ST_OK && !txn && stamp.lsn == FIRST_WRITE);
    CHECK(item_read(&rig, container, "['a']", "1", &seen));
    rig_close(&rig);
}

TEST(what_was_aborted_never_was)
{
    struct partition_txn *txn = NULL;
    struct container *container;
    struct record item, seen;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    REQUIRE(begin(&rig, container, "1", &txn) == ST_OK);
    CHECK(partition_create(rig.op, txn, rig_json(rig.op, "{'id':'1','pk':'a'}"), &item) == ST_OK);
    partition_abort(txn);
    partition_abort(NULL);
    CHECK(!item_read(&rig, container, "['a']", "1", &seen) &&
          bucket_lsn(container->bucket) == CONTAINER_FIRST_LSN);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a'}", &item) == ST_OK);
    rig_close(&rig);
}

/* As two processes would: each has locks of its own, so only the commit stands between them. */
static void begin_two(struct rig *rig, struct locks *others, const struct container *container,
                      const char *first_id, const char *second_id, struct partition_txn **first,
                      struct partition_txn **second)
{
    const struct placed_key *key = key_of_header(rig->op, container, "['a']");

    CHECK(partition_begin(rig->op, rig->locks, container, key, slice_of(first_id), first) == ST_OK);
    CHECK(partition_begin(rig->op, others, container, key, slice_of(second_id), second) == ST_OK);
}

/* Promise 2. */
TEST(of_two_transactions_on_one_item_the_second_to_commit_is_refused)
{
    struct partition_txn *first = NULL, *second = NULL;
    struct locks *others = locks_open();
    struct container *container;
    struct commit_stamp stamp;
    struct record old, item;
    bool found;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a','n':0}", &item) == ST_OK);
    begin_two(&rig, others, container, "1", "1", &first, &second);
    CHECK(partition_find(rig.op, first, slice_of("1"), &old, &found) == ST_OK && found);
    CHECK(partition_replace(rig.op, first, &old, rig_json(rig.op, "{'id':'1','pk':'a','n':1}"), &item) ==
          ST_OK);
    CHECK(partition_find(rig.op, second, slice_of("1"), &old, &found) == ST_OK && found);
    CHECK(partition_delete(rig.op, second, &old) == ST_OK);
    CHECK(partition_commit(rig.op, &first, &stamp) == ST_OK);
    CHECK(partition_commit(rig.op, &second, &stamp) == ST_WRITE_CONFLICT && !second);
    CHECK(item_read(&rig, container, "['a']", "1", &item) && json_int(json_get(item.document, "n")) == 1);
    rig_close(&rig);
    locks_close(others);
}

TEST(two_creations_of_one_id_do_not_both_commit)
{
    struct partition_txn *first = NULL, *second = NULL;
    struct locks *others = locks_open();
    struct container *container;
    struct commit_stamp stamp;
    struct record item;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    begin_two(&rig, others, container, "1", "1", &first, &second);
    CHECK(partition_create(rig.op, first, rig_json(rig.op, "{'id':'1','pk':'a'}"), &item) == ST_OK);
    CHECK(partition_create(rig.op, second, rig_json(rig.op, "{'id':'1','pk':'a'}"), &item) == ST_OK);
    CHECK(partition_commit(rig.op, &second, &stamp) == ST_OK);
    CHECK(partition_commit(rig.op, &first, &stamp) == ST_WRITE_CONFLICT);
    CHECK(rows_of_kind(&rig, container, KEY_DOCUMENT).count == 1 &&
          rows_of_kind(&rig, container, KEY_LOG).count == 1);
    rig_close(&rig);
    locks_close(others);
}

TEST(transactions_on_different_items_of_one_logical_partition_both_commit)
{
    struct partition_txn *first = NULL, *second = NULL;
    struct container *container;
    struct commit_stamp stamp;
    struct record item;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    begin_two(&rig, rig.locks, container, "1", "2", &first, &second);
    CHECK(partition_create(rig.op, first, rig_json(rig.op, "{'id':'1','pk':'a'}"), &item) == ST_OK);
    CHECK(partition_create(rig.op, second, rig_json(rig.op, "{'id':'2','pk':'a'}"), &item) == ST_OK);
    CHECK(partition_commit(rig.op, &first, &stamp) == ST_OK &&
          partition_commit(rig.op, &second, &stamp) == ST_OK);
    CHECK(rows_of_kind(&rig, container, KEY_DOCUMENT).count == 2);
    rig_close(&rig);
}

/* --- renaming, while others write --- */

/* Begins to rename 1 to 2; `meanwhile` runs between the snapshot and the rename, or between it and the commit. */
static enum status rename_while(struct rig *rig, const struct container *container, bool early,
                                enum status (*meanwhile)(struct rig *rig, const struct container *container))
{
    struct locks *others = locks_open(), *mine = rig->locks;
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct record old, item;
    bool found;
    enum status st;

    CHECK(item_create(rig, container, "{'id':'1','pk':'a'}", &item) == ST_OK);
    TRY(begin(rig, container, "1", &txn));
    rig->locks = others; /* another process, as far as this one can tell */
    if (early)
        CHECK(meanwhile(rig, container) == ST_OK);
    TRY(partition_find(rig->op, txn, slice_of("1"), &old, &found));
    TRY(partition_replace(rig->op, txn, &old, rig_json(rig->op, "{'id':'2','pk':'a'}"), &item));
    if (!early)
        CHECK(meanwhile(rig, container) == ST_OK);
    TRY(partition_commit(rig->op, &txn, &stamp));
out:
    rig->locks = mine;
    partition_abort(txn);
    locks_close(others);
    return st;
}

static enum status take_the_id(struct rig *rig, const struct container *container)
{
    struct record item;

    return item_create(rig, container, "{'id':'2','pk':'a'}", &item);
}

static enum status change_the_item(struct rig *rig, const struct container *container)
{
    struct record item;

    return item_replace(rig, container, "1", "{'id':'1','pk':'a','v':1}", &item);
}

TEST(a_rename_gives_way_to_whoever_took_the_new_id_or_changed_the_item_since_it_began)
{
    for (int early = 0; early < 2; early++) {
        struct rig rig;
        struct container *container;

        rig_open(&rig, false);
        container = rig_container(&rig, BY_PK);
        CHECK(rename_while(&rig, container, early, take_the_id) == ST_WRITE_CONFLICT);
        CHECK(rows_of_kind(&rig, container, KEY_ID).count == 2);
        rig_close(&rig);
        rig_open(&rig, false);
        container = rig_container(&rig, BY_PK);
        CHECK(rename_while(&rig, container, early, change_the_item) == ST_WRITE_CONFLICT);
        rig_close(&rig);
    }
}

/* --- budgets --- */

TEST(a_create_takes_two_round_trips_and_a_point_read_two)
{
    struct container *container;
    struct record item;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    rig.op->work = (struct work){ 0 };
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a'}", &item) == ST_OK);
    CHECK(rig.op->work.round_trips <= 2 && rig.op->work.documents_written == 1);
    rig.op->work = (struct work){ 0 };
    CHECK(item_read(&rig, container, "['a']", "1", &item));
    CHECK(rig.op->work.round_trips <= 2 && rig.op->work.documents_read == 1);
    rig.op->work = (struct work){ 0 };
    CHECK(item_replace(&rig, container, "1", "{'id':'1','pk':'a'}", &item) == ST_OK);
    CHECK(rig.op->work.round_trips <= 3);
    rig_close(&rig);
}

TEST(written_bytes_are_counted_once)
{
    char document[1200] = "{'id':'1','pk':'a','s':'";
    struct container *container;
    struct record item;
    struct rig rig;

    memset(document + strlen(document), 'x', 1000);
    memcpy(document + strlen(document), "'}", 3);
    rig_open(&rig, false);
    container = rig_container(&rig, "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},"
                                    "'indexingPolicy':{'indexingMode':'none','automatic':false}}");
    rig.op->work = (struct work){ 0 };
    CHECK(item_create(&rig, container, document, &item) == ST_OK);
    CHECK(rig.op->work.bytes_written > 1000 && rig.op->work.bytes_written < 1400);
    rig_close(&rig);
}

TEST(a_document_that_does_not_fit_into_memory_is_too_large)
{
    struct partition_txn *txn = NULL;
    struct container *container;
    struct json document;
    struct record item;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    document = rig_json(rig.op, "{'id':'1','pk':'a'}");
    REQUIRE(begin(&rig, container, "1", &txn) == ST_OK);
    rig.op->arena.limit_bytes = 0;
    CHECK(partition_create(rig.op, txn, document, &item) == ST_TOO_LARGE);
    rig.op->arena.limit_bytes = SIZE_MAX;
    partition_abort(txn);
    rig_close(&rig);
}

/* --- on a loop thread --- */

static sem_t resumed;

static void post(struct op *op, bool last)
{
    (void)op, (void)last;
    sem_post(&resumed);
}

static void begin_quick(struct rig *rig, struct op *op)
{
    op_init(op, rig->op->env, SIZE_MAX / 2);
    op->may_block = false;
    op->resume = post;
}

TEST(an_item_stays_locked_until_its_commit_has_ended_though_nobody_waits_for_it)
{
    struct partition_txn *txn = NULL, *other = NULL;
    struct container *container;
    struct commit_stamp stamp;
    struct record item;
    struct op op, next;
    struct placed_key *key;
    struct rig rig;

    rig_open(&rig, true);
    sem_init(&resumed, 0, 0);
    container = rig_container(&rig, BY_PK);
    key = key_of_header(rig.op, container, "['a']");
    begin_quick(&rig, &op);
    begin_quick(&rig, &next);
    CHECK(partition_begin(&op, rig.locks, container, key, slice_of("1"), &txn) == ST_OK);
    CHECK(partition_create(&op, txn, rig_json(rig.op, "{'id':'1','pk':'a'}"), &item) == ST_OK);
    REQUIRE(partition_commit(&op, &txn, &stamp) == ST_PENDING && txn);
    sem_wait(&resumed);
    CHECK(partition_begin(&next, rig.locks, container, key, slice_of("1"), &other) == ST_WOULD_BLOCK);
    CHECK(partition_commit_end(&op, &txn, &stamp) == ST_OK && !txn && stamp.lsn == FIRST_WRITE);
    CHECK(partition_begin(&next, rig.locks, container, key, slice_of("1"), &other) == ST_OK);
    partition_abort(other);
    op_free(&op);
    op_free(&next);
    rig_close(&rig);
}
