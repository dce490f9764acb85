/* test/unit/partition/torture_test.c - whichever call of the store fails: no leak, no half-write; threads at once. */
#include <pthread.h>

#include "items.h"
#include "keys/bytes.h"
#include "keys/keys.h"

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
    TRY(partition_read(rig->op, NULL, container, key_of_header(rig->op, container, "['a']"), slice_of("1"),
                       &item, &found));
    TRY(item_replace(rig, container, "1", "{'id':'3','pk':'a'}", &item));
    TRY(item_replace(rig, container, "2", "{'id':'2','pk':'a','v':1}", &item));
    TRY(partition_list(rig->op, container, &everything, 0, 10, &page));
    TRY(item_delete(rig, container, "['a']", "2"));
    TRY(partition_clear(rig->op, container, key_of_header(rig->op, container, "['a']"), &stamp));
out:
    return st;
}

#define UNIQUE_AND_TTL                                                                           \
    "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},'defaultTtl':100,'uniqueKeyPolicy':" \
    "{'uniqueKeys':[{'paths':['/mail']},{'paths':['/a','/b']}]}}"

/* Items that take values, change them, expire, are taken the place of, and are swept. */
static enum status scenario_of_entries(struct rig *rig, const struct container *container)
{
    struct record item;
    uint64_t removed = 0;
    enum status st;

    TRY(item_create(rig, container, "{'id':'1','pk':'a','mail':1,'a':1}", &item));
    TRY(item_create(rig, container, "{'id':'2','pk':'a','mail':2,'a':2,'ttl':1}", &item));
    TRY(item_create(rig, container, "{'id':'3','pk':'a','mail':3,'a':3,'ttl':1}", &item));
    TRY(item_replace(rig, container, "1", "{'id':'1','pk':'a','mail':4,'a':1}", &item));
    rig_advance_ms(rig, 1000);
    TRY(item_create(rig, container, "{'id':'2','pk':'a','mail':3,'a':2}", &item));
    TRY(item_create(rig, container, "{'id':'5','pk':'a','mail':5,'a':5,'ttl':1}", &item));
    TRY(item_delete(rig, container, "['a']", "1"));
    rig_advance_ms(rig, 10000);
    TRY(rig_sweep(rig, &removed));
out:
    return st;
}

static const struct {
    const char *container;
    enum status (*run)(struct rig *rig, const struct container *container);
} scenarios[] = {
    { BY_PK, scenario },
    { UNIQUE_AND_TTL, scenario_of_entries },
};

static void sweep_all(struct rig *rig)
{
    uint64_t removed = 0;

    rig_advance_ms(rig, 61 * 1000); /* a pass that failed waits for a minute */
    CHECK(rig_sweep(rig, &removed) == ST_OK);
}

/* False when there was no n-th call. */
static bool torture_once(size_t which, uint64_t call, bool after)
{
    struct container *container;
    struct record item;
    struct rig rig;
    bool struck;
    enum status st;

    rig_open(&rig, false);
    container = rig_container(&rig, scenarios[which].container);
    faulty_fail(&rig.controls, FAULTY_ANY, call);
    rig.controls.fail_after = after;
    st = scenarios[which].run(&rig, container);
    struck = rig.controls.failed;
    CHECK(struck || st == ST_OK);
    rig.controls.fail_call = 0;
    env_advance_ms(rig.op->env, 1000);
    CHECK(item_create(&rig, container, "{'id':'later','pk':'b'}", &item) == ST_OK);
    sweep_all(&rig);
    CHECK(container_is_whole(&rig, container));
    rig_close(&rig);
    return struck;
}

TEST(whichever_call_of_the_store_fails_nothing_is_half_written_and_the_next_write_succeeds)
{
    for (int round = 0; round < 4; round++) {
        uint64_t call = 1;

        while (torture_once((size_t)round / 2, call, round % 2))
            call++;
        CHECK(call > 20); /* it did reach the end */
    }
}

TEST(an_entry_of_an_id_that_is_damaged_or_leads_nowhere_is_told_as_damage)
{
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
                 epk_slice(&key_of_header(rig.op, container, "['a']")->epk), slice_of("1"));
    for (int damaged = 0; damaged < 2; damaged++) {
        batch = batch_new(rig.op, bucket_id(container->bucket));
        batch_put(batch, key,
                  damaged ? slice_of("x") : holders_with(&rig.op->arena, (struct slice){ 0 }, 12345));
        CHECK(store_commit(rig.op, container->bucket, batch, &stamp) == ST_OK);
        CHECK(partition_read(rig.op, NULL, container, key_of_header(rig.op, container, "['a']"),
                             slice_of("1"), &item, &found) == ST_CORRUPT);
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
    const struct placed_key *key = key_of_document(op, raiser->container, rig_json(op, "{'pk':'a'}"));
    struct partition_txn *txn = NULL;
    struct record old, item;
    struct commit_stamp stamp;
    char document[64];
    bool found;
    enum status st;

    TRY(partition_begin(op, raiser->rig->locks, raiser->container, key, slice_of("n"), &txn));
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
    CHECK(json_int(json_get(item.document, "n")) == THREADS * RAISES && container_is_whole(&rig, container));
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
    REQUIRE(partition_begin(rig.op, rig.locks, container, key_of_header(rig.op, container, "['a']"),
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
