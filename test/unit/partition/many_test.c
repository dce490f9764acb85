/* test/unit/partition/many_test.c - transactions over several items, and several of them committed together. */
#include <pthread.h>

#include "items.h"
#include "keys/keys.h"
#include "partition/scan.h"

#define KEY_A "['a']"
#define UNIQUE                                                                                             \
    "{'id':'u','partitionKey':{'paths':['/pk'],'version':2},'uniqueKeyPolicy':{'uniqueKeys':[{'paths':['/" \
    "u']}]}}"

static enum status begin(struct rig *rig, const struct container *container, struct partition_txn **txn)
{
    return partition_begin_many(rig->op, container, key_of_header(rig->op, container, KEY_A), txn);
}

/* Creates the item, or replaces it. */
static enum status put(struct rig *rig, struct partition_txn *txn, const char *document)
{
    struct json parsed = rig_json(rig->op, document);
    struct record old, item;
    bool found;
    enum status st;

    TRY(partition_find(rig->op, txn, json_string(json_get(parsed, "id")), &old, &found));
    TRY(found ? partition_replace(rig->op, txn, &old, parsed, &item)
              : partition_create(rig->op, txn, parsed, &item));
out:
    return st;
}

static enum status drop(struct rig *rig, struct partition_txn *txn, const char *id)
{
    struct record old;
    bool found;
    enum status st;

    TRY(partition_find(rig->op, txn, slice_of(id), &old, &found));
    CHECK(found);
    TRY(partition_delete(rig->op, txn, &old));
out:
    return st;
}

static struct container *open_container(struct rig *rig, const char *definition)
{
    rig_open(rig, false);
    return rig_container(rig, definition);
}

static int64_t number_of(const struct record *item, const char *name)
{
    return json_int(json_get(item->document, name));
}

/* Promises 1 and 2. */
TEST(a_transaction_that_turns_to_other_keys_writes_them_all_or_none)
{
    struct rig rig;
    struct container *container = open_container(&rig, BY_PK);
    struct partition_txn *txn = NULL, *other = NULL;
    struct commit_stamp stamp;
    struct record item;
    bool found;

    for (int round = 0; round < 2; round++) {
        REQUIRE(begin(&rig, container, &txn) == ST_OK);
        CHECK(put(&rig, txn, "{'id':'1','pk':'a'}") == ST_OK);
        partition_turn_to(txn, key_of_header(rig.op, container, "['b']"));
        CHECK(put(&rig, txn, "{'id':'1','pk':'b'}") == ST_OK);
        if (round == 0) { /* another writer takes the second item */
            REQUIRE(partition_begin_many(rig.op, container, key_of_header(rig.op, container, "['b']"),
                                         &other) == ST_OK);
            CHECK(put(&rig, other, "{'id':'1','pk':'b'}") == ST_OK);
            CHECK(partition_commit(rig.op, &other, &stamp) == ST_OK);
        }
        CHECK(partition_commit(rig.op, &txn, &stamp) == (round ? ST_OK : ST_WRITE_CONFLICT));
        partition_abort(txn);
        txn = NULL;
        CHECK(partition_read(rig.op, NULL, container, key_of_header(rig.op, container, KEY_A), slice_of("1"),
                             &item, &found) == ST_OK);
        CHECK(found == (round == 1));
    }
    rig_close(&rig);
}

/* Promise 9. */
TEST(each_write_of_a_transaction_meets_what_the_one_before_it_left)
{
    struct rig rig;
    struct container *container = open_container(&rig, BY_PK);
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct record item;
    bool found;

    REQUIRE(begin(&rig, container, &txn) == ST_OK);
    CHECK(put(&rig, txn, "{'id':'1','pk':'a','n':1}") == ST_OK);
    CHECK(put(&rig, txn, "{'id':'1','pk':'a','n':2}") == ST_OK);
    CHECK(partition_find(rig.op, txn, slice_of("1"), &item, &found) == ST_OK && found && item.lsn == 0);
    CHECK(number_of(&item, "n") == 2 && item.ts_ms == rig.op->now_ms);
    CHECK(drop(&rig, txn, "1") == ST_OK);
    CHECK(partition_find(rig.op, txn, slice_of("1"), &item, &found) == ST_OK && !found);
    CHECK(put(&rig, txn, "{'id':'1','pk':'a','n':3}") == ST_OK);
    CHECK(put(&rig, txn, "{'id':'2','pk':'a','n':4}") == ST_OK);
    CHECK(partition_commit(rig.op, &txn, &stamp) == ST_OK && stamp.lsn == FIRST_WRITE);
    CHECK(item_read(&rig, container, KEY_A, "1", &item) && number_of(&item, "n") == 3 &&
          item.lsn == FIRST_WRITE);
    CHECK(item_read(&rig, container, KEY_A, "2", &item) && item.lsn == FIRST_WRITE);
    CHECK(container_is_whole(&rig, container));
    rig_close(&rig);
}

/* Promise 10. */
TEST(what_is_refused_leaves_nothing_in_the_transaction_which_goes_on)
{
    struct rig rig;
    struct container *container = open_container(&rig, UNIQUE);
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct record old, item;
    bool found;

    REQUIRE(begin(&rig, container, &txn) == ST_OK);
    CHECK(put(&rig, txn, "{'id':'1','pk':'a','u':1}") == ST_OK &&
          put(&rig, txn, "{'id':'2','pk':'a','u':2}") == ST_OK);
    CHECK(put(&rig, txn, "{'id':'3','pk':'a','u':1}") == ST_EXISTS);
    REQUIRE(partition_find(rig.op, txn, slice_of("2"), &old, &found) == ST_OK && found);
    CHECK(partition_replace(rig.op, txn, &old, rig_json(rig.op, "{'id':'4','pk':'a','u':1}"), &item) ==
          ST_EXISTS);
    CHECK(partition_replace(rig.op, txn, &old, rig_json(rig.op, "{'id':'1','pk':'a','u':5}"), &item) ==
          ST_ITEM_EXISTS);
    CHECK(partition_find(rig.op, txn, slice_of("2"), &item, &found) == ST_OK && found &&
          number_of(&item, "u") == 2);
    CHECK(partition_commit(rig.op, &txn, &stamp) == ST_OK);
    CHECK(item_read(&rig, container, KEY_A, "2", &item) && !item_read(&rig, container, KEY_A, "4", &item) &&
          !item_read(&rig, container, KEY_A, "3", &item));
    CHECK(container_is_whole(&rig, container));
    rig_close(&rig);
}

/* Promises 5 and 6: what a transaction has just written has not expired, though it has no time yet. */
TEST(items_of_the_transaction_itself_have_the_time_of_now)
{
    struct rig rig;
    struct container *container = open_container(
        &rig, "{'id':'t','partitionKey':{'paths':['/pk'],'version':2},'defaultTtl':10,'uniqueKeyPolicy':"
              "{'uniqueKeys':[{'paths':['/u']}]}}");
    struct partition_txn *txn = NULL;

    REQUIRE(begin(&rig, container, &txn) == ST_OK);
    CHECK(put(&rig, txn, "{'id':'1','pk':'a','u':1}") == ST_OK);
    CHECK(put(&rig, txn, "{'id':'2','pk':'a','u':1}") == ST_EXISTS);
    partition_abort(txn);
    rig_close(&rig);
}

/* The ids that a scan of the transaction finds, one letter each. */
static const char *seen_in(struct rig *rig, struct partition_txn *txn, const struct container *container)
{
    struct partition_scope scope = { .key = *key_of_header(rig->op, container, KEY_A) };
    struct partition_scan scan;
    struct record item;
    struct buf ids;
    bool found = true;

    buf_init(&ids, &rig->op->arena);
    CHECK(partition_scan_open_in(rig->op, txn, &scope, &scan) == ST_OK);
    while (partition_scan_next(rig->op, &scan, &item, &found) == ST_OK && found) {
        buf_slice(&ids, json_string(json_get(item.document, "id")));
        CHECK(item.ts_ms > 0);
    }
    partition_scan_close(&scan);
    return arena_text(&rig->op->arena, buf_as_slice(&ids));
}

TEST(a_scan_in_a_transaction_sees_what_it_has_written_and_nobody_else_does)
{
    struct rig rig;
    struct container *container = open_container(&rig, BY_PK);
    struct partition_txn *txn = NULL, *other = NULL;
    struct slice id;
    struct record item;

    CHECK(item_create(&rig, container, "{'id':'1','pk':'a'}", &item) == ST_OK);
    CHECK(item_create(&rig, container, "{'id':'2','pk':'a'}", &item) == ST_OK);
    REQUIRE(begin(&rig, container, &txn) == ST_OK && begin(&rig, container, &other) == ST_OK);
    CHECK(drop(&rig, txn, "1") == ST_OK && put(&rig, txn, "{'id':'3','pk':'a'}") == ST_OK);
    CHECK(strcmp(seen_in(&rig, txn, container), "23") == 0);
    CHECK(strcmp(seen_in(&rig, other, container), "12") == 0);
    CHECK(partition_id_in(rig.op, txn, item.number + 1, &id) == ST_OK && slice_is(id, "3"));
    CHECK(partition_id_in(rig.op, other, item.number + 1, &id) == ST_OK && !id.data);
    partition_abort(txn);
    partition_abort(other);
    rig_close(&rig);
}

static struct change change_at(struct rig *rig, const struct container *container, size_t index)
{
    struct rows rows = rows_of_kind(rig, container, KEY_LOG);
    struct change change = { 0 };

    CHECK(index < rows.count && change_decode(rig->op, rows.row[index].value, &change) == ST_OK);
    return change;
}

TEST(a_document_has_one_change_in_the_log_however_often_a_transaction_writes_it)
{
    struct rig rig;
    struct container *container = open_container(&rig, BY_PK);
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct record made[2], old;

    CHECK(item_create(&rig, container, "{'id':'1','pk':'a','n':1}", &made[0]) == ST_OK);
    CHECK(item_create(&rig, container, "{'id':'2','pk':'a','n':1}", &made[1]) == ST_OK);
    REQUIRE(begin(&rig, container, &txn) == ST_OK);
    CHECK(put(&rig, txn, "{'id':'1','pk':'a','n':2}") == ST_OK);
    CHECK(put(&rig, txn, "{'id':'1','pk':'a','n':3}") == ST_OK);
    CHECK(put(&rig, txn, "{'id':'2','pk':'a','n':2}") == ST_OK);
    CHECK(drop(&rig, txn, "2") == ST_OK);
    CHECK(put(&rig, txn, "{'id':'3','pk':'a','n':1}") == ST_OK);
    CHECK(put(&rig, txn, "{'id':'3','pk':'a','n':2}") == ST_OK);
    CHECK(put(&rig, txn, "{'id':'4','pk':'a','n':1}") == ST_OK);
    CHECK(drop(&rig, txn, "4") == ST_OK);
    CHECK(partition_commit(rig.op, &txn, &stamp) == ST_OK && stamp.lsn == FIRST_WRITE + 2);
    REQUIRE(rows_of_kind(&rig, container, KEY_LOG).count == 5);
    for (size_t i = 0; i < 2; i++) {
        struct change change = change_at(&rig, container, 2 + i);

        CHECK(change.kind == (i == 0 ? CHANGE_REPLACE : CHANGE_DELETE) && change.number == made[i].number);
        CHECK(change.previous_lsn == FIRST_WRITE + i &&
              record_decode(rig.op, change.old_record, &old) == ST_OK);
        CHECK(old.lsn == FIRST_WRITE + i && number_of(&old, "n") == 1);
    }
    CHECK(change_at(&rig, container, 4).kind == CHANGE_CREATE);
    CHECK(container_is_whole(&rig, container));
    rig_close(&rig);
}

/* Promise 2. */
TEST(what_a_transaction_has_looked_at_must_be_the_same_when_it_commits)
{
    struct rig rig;
    struct container *container = open_container(&rig, BY_PK);
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct record item;
    bool found;

    REQUIRE(begin(&rig, container, &txn) == ST_OK);
    CHECK(partition_find(rig.op, txn, slice_of("seen"), &item, &found) == ST_OK && !found);
    CHECK(put(&rig, txn, "{'id':'2','pk':'a'}") == ST_OK);
    CHECK(item_create(&rig, container, "{'id':'seen','pk':'a'}", &item) == ST_OK);
    CHECK(partition_commit(rig.op, &txn, &stamp) == ST_WRITE_CONFLICT && !txn);
    CHECK(!item_read(&rig, container, KEY_A, "2", &item));
    REQUIRE(begin(&rig, container, &txn) == ST_OK);
    CHECK(partition_find(rig.op, txn, slice_of("seen"), &item, &found) == ST_OK && found);
    CHECK(put(&rig, txn, "{'id':'2','pk':'a'}") == ST_OK);
    CHECK(item_create(&rig, container, "{'id':'other','pk':'a'}", &item) == ST_OK);
    CHECK(partition_commit(rig.op, &txn, &stamp) == ST_OK);
    rig_close(&rig);
}

TEST(a_transaction_that_wrote_nothing_takes_no_lsn_and_meets_nobody)
{
    struct rig rig;
    struct container *container = open_container(&rig, BY_PK);
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct record item;
    bool found;

    CHECK(item_create(&rig, container, "{'id':'1','pk':'a'}", &item) == ST_OK);
    REQUIRE(begin(&rig, container, &txn) == ST_OK);
    CHECK(partition_find(rig.op, txn, slice_of("1"), &item, &found) == ST_OK && found);
    CHECK(item_delete(&rig, container, KEY_A, "1") == ST_OK);
    CHECK(partition_commit(rig.op, &txn, &stamp) == ST_OK && stamp.lsn == FIRST_WRITE && !txn);
    CHECK(bucket_lsn(container->bucket) == FIRST_WRITE + 1);
    rig_close(&rig);
}

/* Promise 6. */
TEST(a_unique_value_that_a_transaction_sets_free_it_may_take_again)
{
    struct rig rig;
    struct container *container = open_container(&rig, UNIQUE);
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct record item;

    CHECK(item_create(&rig, container, "{'id':'1','pk':'a','u':1}", &item) == ST_OK);
    CHECK(item_create(&rig, container, "{'id':'2','pk':'a','u':2}", &item) == ST_OK);
    REQUIRE(begin(&rig, container, &txn) == ST_OK);
    CHECK(put(&rig, txn, "{'id':'3','pk':'a','u':1}") == ST_EXISTS);
    CHECK(put(&rig, txn, "{'id':'1','pk':'a','u':9}") == ST_OK);
    CHECK(put(&rig, txn, "{'id':'2','pk':'a','u':1}") == ST_OK);
    CHECK(put(&rig, txn, "{'id':'1','pk':'a','u':2}") == ST_OK);
    CHECK(put(&rig, txn, "{'id':'4','pk':'a','u':9}") == ST_OK);
    CHECK(put(&rig, txn, "{'id':'5','pk':'a','u':9}") == ST_EXISTS);
    CHECK(partition_commit(rig.op, &txn, &stamp) == ST_OK);
    CHECK(container_is_whole(&rig, container));
    rig_close(&rig);
}

/* ---- committed together ---- */

TEST(transactions_that_commit_together_stand_or_fall_each_by_itself)
{
    static const char *const documents[] = { "{'id':'1','pk':'a'}", "{'id':'1','pk':'a','n':2}",
                                             "{'id':'2','pk':'a'}" };
    struct rig rig;
    struct container *container = open_container(&rig, BY_PK);
    struct partition_ending ending[4] = { 0 };
    struct store_stats before, after;
    struct record item;

    for (size_t i = 0; i < 4; i++)
        REQUIRE(begin(&rig, container, &ending[i].txn) == ST_OK);
    for (size_t i = 0; i < 3; i++)
        CHECK(put(&rig, ending[i].txn, documents[i]) == ST_OK);
    store_stats(rig.store, &before);
    partition_commit_many(rig.op, ending, 4);
    store_stats(rig.store, &after);
    CHECK(ending[0].status == ST_OK && ending[0].stamp.lsn == FIRST_WRITE);
    CHECK(ending[1].status == ST_WRITE_CONFLICT && ending[1].error && strlen(ending[1].error) > 0);
    CHECK(ending[2].status == ST_OK && ending[2].stamp.lsn == FIRST_WRITE + 1);
    CHECK(ending[3].status == ST_OK && ending[3].stamp.lsn == CONTAINER_FIRST_LSN); /* it wrote nothing */
    for (size_t i = 0; i < 4; i++)
        CHECK(!ending[i].txn);
    CHECK(after.groups - before.groups == 1 && after.commits - before.commits == 2);
    CHECK(item_read(&rig, container, KEY_A, "1", &item) && item_read(&rig, container, KEY_A, "2", &item));
    CHECK(container_is_whole(&rig, container));
    rig_close(&rig);
}

/* ---- in turn ---- */

struct raiser {
    struct rig *rig;
    const struct container *container;
    int refused;
};

/* Reads, adds one and commits, in its turn: whoever holds the turn is refused by nobody who waits for it. */
static enum status raise_once(struct raiser *raiser, struct op *op)
{
    const struct placed_key *key = key_of_header(op, raiser->container, KEY_A);
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct record old, item;
    char text[80];
    bool found;
    enum status st;

    TRY(partition_begin_in_turn(op, raiser->rig->locks, raiser->container, key, &txn));
    TRY(partition_find(op, txn, slice_of("n"), &old, &found));
    snprintf(text, sizeof(text), "{'id':'n','pk':'a','n':%d}",
             (int)json_int(json_get(old.document, "n")) + 1);
    TRY(partition_replace(op, txn, &old, rig_json(op, text), &item));
    TRY(partition_commit(op, &txn, &stamp));
out:
    partition_abort(txn);
    return st;
}

static void *raise_many(void *argument)
{
    struct raiser *raiser = argument;
    struct op op;

    op_init(&op, raiser->rig->op->env, OP_MEMORY_BYTES_MAX);
    for (int i = 0; i < 50; i++) {
        op_begin(&op, OP_TIMEOUT_MS);
        raiser->refused += raise_once(raiser, &op) != ST_OK;
    }
    op_free(&op);
    return NULL;
}

TEST(those_that_begin_in_turn_are_not_refused_because_of_one_another)
{
    enum { THREADS = 8 };
    struct raiser raisers[THREADS];
    pthread_t threads[THREADS];
    struct container *container;
    struct record item;
    struct rig rig;

    rig_open(&rig, true);
    container = rig_container(&rig, BY_PK);
    CHECK(item_create(&rig, container, "{'id':'n','pk':'a','n':0}", &item) == ST_OK);
    for (int i = 0; i < THREADS; i++) {
        raisers[i] = (struct raiser){ &rig, container, 0 };
        REQUIRE(pthread_create(&threads[i], NULL, raise_many, &raisers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(raisers[i].refused == 0);
    }
    CHECK(item_read(&rig, container, KEY_A, "n", &item) && number_of(&item, "n") == THREADS * 50);
    rig_close(&rig);
}
