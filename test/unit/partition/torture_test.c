/* test/unit/partition/torture_test.c - whichever call of the store fails: no leak, no half-write; threads at once. */
#include <pthread.h>

#include "items.h"
#include "keys/bytes.h"
#include "keys/keys.h"

/* Promise 1, on all of a container: each document has its id entry and each entry its document. */
static bool is_whole(struct rig *rig, const struct container *container)
{
    struct rows documents = rows_of_kind(rig, container, KEY_DOCUMENT),
                ids = rows_of_kind(rig, container, KEY_ID);
    struct rows changes = rows_of_kind(rig, container, KEY_LOG);
    struct record item, found;
    bool whole = documents.count == ids.count && changes.count == bucket_lsn(container->bucket);

    for (size_t i = 0; whole && i < documents.count; i++) {
        struct epk epk = { 0 };
        bool is_there = false;

        if (record_decode(rig->op, documents.row[i].value, &item) != ST_OK)
            return false;
        epk.size = (uint16_t)item.epk.size;
        memcpy(epk.bytes, item.epk.data, item.epk.size);
        whole = partition_read(rig->op, NULL, container, &epk, json_string(json_get(item.document, "id")),
                               &found, &is_there) == ST_OK &&
                is_there && found.number == item.number;
    }
    return whole;
}

static enum status scenario(struct rig *rig, const struct container *container)
{
    struct partition_scope everything = { 0 };
    struct commit_stamp stamp;
    struct partition_page page;
    struct record item;
    bool found;
    enum status st;

    TRY(item_create(rig, container, "{'id':'1','pk':'a'}", &item));
    TRY(item_create(rig, container, "{'id':'2','pk':'a'}", &item));
    TRY(partition_read(rig->op, NULL, container, epk_of_key(rig->op, container, "['a']"), slice_of("1"),
                       &item, &found));
    TRY(item_replace(rig, container, "1", "{'id':'3','pk':'a'}", &item));
    TRY(item_replace(rig, container, "2", "{'id':'2','pk':'a','v':1}", &item));
    TRY(partition_list(rig->op, container, &everything, 0, 10, &page));
    TRY(item_delete(rig, container, "['a']", "2"));
    TRY(partition_clear(rig->op, container, epk_of_key(rig->op, container, "['a']"), &stamp));
out:
    return st;
}

/* False when there was no n-th call. */
static bool torture_once(uint64_t call, bool after)
{
    struct container *container;
    struct record item;
    struct rig rig;
    bool struck;
    enum status st;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    faulty_fail(&rig.controls, FAULTY_ANY, call);
    rig.controls.fail_after = after;
    st = scenario(&rig, container);
    struck = rig.controls.failed;
    CHECK(struck || st == ST_OK);
    rig.controls.fail_call = 0;
    env_advance_ms(rig.op->env, 1000);
    CHECK(item_create(&rig, container, "{'id':'later','pk':'b'}", &item) == ST_OK);
    CHECK(is_whole(&rig, container));
    rig_close(&rig);
    return struck;
}

TEST(whichever_call_of_the_store_fails_nothing_is_half_written_and_the_next_write_succeeds)
{
    for (int after = 0; after < 2; after++) {
        uint64_t call = 1;

        while (torture_once(call, after))
            call++;
        CHECK(call > 20); /* it did reach the end */
    }
}

TEST(an_entry_of_an_id_that_is_damaged_or_leads_nowhere_is_told_as_damage)
{
    uint8_t entry[ID_ENTRY_BYTES];
    struct container *container;
    struct commit_stamp stamp;
    struct batch *batch;
    struct record item;
    struct slice key;
    bool found;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    key = key_id(&rig.op->arena, bucket_id(container->bucket),
                 epk_slice(epk_of_key(rig.op, container, "['a']")), slice_of("1"));
    id_entry_encode(12345, entry);
    for (int damaged = 0; damaged < 2; damaged++) {
        batch = batch_new(rig.op, bucket_id(container->bucket));
        batch_put(batch, key, damaged ? slice_of("x") : slice_make(entry, sizeof(entry)));
        CHECK(store_commit(rig.op, container->bucket, batch, &stamp) == ST_OK);
        CHECK(partition_read(rig.op, NULL, container, epk_of_key(rig.op, container, "['a']"), slice_of("1"),
                             &item, &found) == ST_CORRUPT);
    }
    rig_close(&rig);
}

/* --- many threads, few items: counters that each thread raises --- */

enum { THREADS = 8, RAISES = 40 };

struct raiser {
    struct rig *rig;
    const struct container *container;
    pthread_t thread;
    int conflicts, failures;
};

static enum status raise(struct op *op, struct raiser *raiser)
{
    const struct epk *epk = epk_of_document(op, raiser->container, rig_json(op, "{'pk':'a'}"));
    struct partition_txn *txn = NULL;
    struct record old, item;
    struct commit_stamp stamp;
    char document[64];
    bool found;
    enum status st;

    TRY(partition_begin(op, raiser->rig->locks, raiser->container, epk, slice_of("n"), &txn));
    TRY(partition_find(op, txn, slice_of("n"), &old, &found));
    snprintf(document, sizeof(document), "{'id':'n','pk':'a','n':%d}",
             found ? (int)json_int(json_get(old.document, "n")) + 1 : 1);
    if (found)
        TRY(partition_replace(op, txn, &old, rig_json(op, document), &item));
    else
        TRY(partition_create(op, txn, rig_json(op, document), &item));
    TRY(partition_commit(op, &txn, &stamp));
out:
    partition_abort(txn);
    return st;
}

static void *raise_often(void *context)
{
    struct raiser *raiser = context;
    struct op op;

    op_init(&op, raiser->rig->op->env, SIZE_MAX);
    for (int done = 0; done < RAISES;) {
        enum status st;

        op_begin(&op, INT64_MAX / 2);
        st = raise(&op, raiser);
        done += st != ST_WRITE_CONFLICT;
        raiser->conflicts += st == ST_WRITE_CONFLICT;
        raiser->failures += st != ST_OK && st != ST_WRITE_CONFLICT;
    }
    op_free(&op);
    return NULL;
}

TEST(no_raise_of_a_counter_is_lost_between_threads)
{
    struct raiser raisers[THREADS];
    struct container *container;
    struct record item;
    struct rig rig;

    rig_open(&rig, true);
    container = rig_container(&rig, BY_PK);
    for (size_t i = 0; i < THREADS; i++) {
        raisers[i] = (struct raiser){ .rig = &rig, .container = container };
        REQUIRE(pthread_create(&raisers[i].thread, NULL, raise_often, &raisers[i]) == 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(raisers[i].thread, NULL);
        CHECK(raisers[i].failures == 0 &&
              raisers[i].conflicts == 0); /* the lock saves all of them the trouble */
    }
    CHECK(item_read(&rig, container, "['a']", "n", &item));
    CHECK(json_int(json_get(item.document, "n")) == THREADS * RAISES && is_whole(&rig, container));
    rig_close(&rig);
}

/* The store forgets that the lost write changed the item, and must not forget who changed it before. */
TEST(a_write_that_was_lost_does_not_hide_an_earlier_change_from_a_transaction)
{
    struct locks *others = locks_open(), *mine;
    struct partition_txn *txn = NULL;
    struct container *container;
    struct commit_stamp stamp;
    struct record old, item;
    bool found;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a','n':0}", &item) == ST_OK);
    REQUIRE(partition_begin(rig.op, rig.locks, container, epk_of_key(rig.op, container, "['a']"),
                            slice_of("1"), &txn) == ST_OK);
    mine = rig.locks;
    rig.locks = others; /* another process, as far as this one can tell */
    CHECK(item_replace(&rig, container, "1", "{'id':'1','pk':'a','n':1}", &item) == ST_OK);
    faulty_fail(&rig.controls, FAULTY_WRITE, 1);
    CHECK(item_replace(&rig, container, "1", "{'id':'1','pk':'a','n':2}", &item) == ST_UNAVAILABLE);
    rig.locks = mine;
    CHECK(partition_find(rig.op, txn, slice_of("1"), &old, &found) == ST_OK && found);
    CHECK(partition_replace(rig.op, txn, &old, rig_json(rig.op, "{'id':'1','pk':'a','n':10}"), &item) ==
          ST_OK);
    CHECK(partition_commit(rig.op, &txn, &stamp) == ST_WRITE_CONFLICT);
    partition_abort(txn);
    rig_close(&rig);
    locks_close(others);
}
