/* test/unit/housekeeping/sweep_test.c - expired items are removed in small steps, when they are due, and only they. */
#include "items.h"
#include "keys/keys.h"

#define TTL(seconds) "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},'defaultTtl':" #seconds "}"
#define KEY_A "['a']"

static uint64_t sweep(struct rig *rig)
{
    uint64_t removed = 0;

    CHECK(rig_sweep(rig, &removed) == ST_OK);
    return removed;
}

/* How many scans of the store a sweep does: none when no pass is due. */
static uint64_t scans_of_sweep(struct rig *rig)
{
    faulty_fail(&rig->controls, FAULTY_SCAN, 0);
    sweep(rig);
    return rig->controls.calls;
}

static void fill(struct rig *rig, const struct container *container, int count, const char *more)
{
    for (int n = 0; n < count; n++) {
        struct record item;
        char document[100];

        snprintf(document, sizeof(document), "{'id':'%llu','pk':'%d'%s}",
                 (unsigned long long)bucket_lsn(container->bucket), n % 7, more);
        CHECK(item_create(rig, container, document, &item) == ST_OK);
    }
}

static size_t count_items(struct rig *rig, const struct container *container)
{
    return rows_of_kind(rig, container, KEY_DOCUMENT).count;
}

TEST(a_sweep_removes_what_has_expired_and_says_so_in_the_change_log)
{
    struct container *container;
    struct change change;
    struct record item;
    struct rows changes;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, TTL(10));
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a'}", &item) == ST_OK);
    CHECK(sweep(&rig) == 0);
    rig_advance_ms(&rig, 10000);
    CHECK(sweep(&rig) == 1 && count_items(&rig, container) == 0);
    CHECK(rows_of_kind(&rig, container, KEY_ID).count == 0);
    changes = rows_of_kind(&rig, container, KEY_LOG);
    REQUIRE(changes.count == 2 && change_decode(rig.op, changes.row[1].value, &change) == ST_OK);
    CHECK(change.kind == CHANGE_DELETE && change.expired && change.number == item.number &&
          change.previous_lsn == item.lsn && change.old_record.size > 0);
    rig_close(&rig);
}

TEST(what_lives_stays_and_so_does_everything_in_containers_that_forget_nothing)
{
    struct container *expiring, *off;
    struct rig rig;

    rig_open(&rig, false);
    expiring = rig_container(&rig, TTL(10));
    off = rig_container(&rig, "{'id':'off','partitionKey':{'paths':['/pk'],'version':2}}");
    fill(&rig, expiring, 30, ",'ttl':-1");
    fill(&rig, expiring, 30, ",'ttl':99");
    fill(&rig, expiring, 30, "");
    fill(&rig, off, 30, ",'ttl':1");
    rig_advance_ms(&rig, 50000);
    CHECK(sweep(&rig) == 30 && count_items(&rig, expiring) == 60 && count_items(&rig, off) == 30);
    CHECK(container_is_whole(&rig, expiring));
    rig_close(&rig);
}

TEST(a_step_is_small_and_a_sweep_has_as_many_as_it_needs)
{
    struct container *container;
    uint64_t lsn;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, TTL(10));
    fill(&rig, container, 600, "");
    lsn = bucket_lsn(container->bucket);
    rig_advance_ms(&rig, 10000);
    CHECK(sweep(&rig) == 600 && count_items(&rig, container) == 0);
    CHECK(bucket_lsn(container->bucket) == lsn + 3); /* of 256 at most */
    rig_close(&rig);
}

/* Each item has 60 KB, and a step looks at 4 MB. */
TEST(a_step_is_bounded_in_bytes_too)
{
    struct container *container;
    struct record item;
    char *document;
    uint64_t lsn;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, TTL(10));
    document = arena_alloc(&rig.op->arena, 61000);
    for (int n = 0; n < 100; n++) {
        int start = snprintf(document, 64, "{'id':'%d','s':'", n);

        memset(document + start, 'x', 60000);
        memcpy(document + start + 60000, "'}", 3);
        CHECK(item_create(&rig, container, document, &item) == ST_OK);
    }
    lsn = bucket_lsn(container->bucket);
    rig_advance_ms(&rig, 10000);
    CHECK(sweep(&rig) == 100 && bucket_lsn(container->bucket) == lsn + 2);
    rig_close(&rig);
}

TEST(a_pass_waits_for_the_first_expiry_that_it_knows_of)
{
    struct container *container;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, TTL(100));
    fill(&rig, container, 5, "");
    fill(&rig, container, 5, ",'ttl':50");
    CHECK(scans_of_sweep(&rig) == 1);
    for (int second = 0; second < 49; second++) {
        rig_advance_ms(&rig, 1000);
        CHECK(scans_of_sweep(&rig) == 0);
    }
    rig_advance_ms(&rig, 1000);
    CHECK(sweep(&rig) == 5);
    rig_advance_ms(&rig, 49999);
    CHECK(scans_of_sweep(&rig) == 0);
    rig_advance_ms(&rig, 1);
    CHECK(sweep(&rig) == 5 && count_items(&rig, container) == 0);
    rig_advance_ms(&rig, 24 * 3600 * 1000);
    CHECK(scans_of_sweep(&rig) == 0);
    rig_close(&rig);
}

TEST(items_that_came_after_a_pass_are_found_though_none_knew_of_them)
{
    struct container *container;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, TTL(-1));
    CHECK(scans_of_sweep(&rig) == 1);
    fill(&rig, container, 5, ",'ttl':1");
    rig_advance_ms(&rig, 10 * 60 * 1000 - 1);
    CHECK(scans_of_sweep(&rig) == 0);
    rig_advance_ms(&rig, 1);
    CHECK(sweep(&rig) == 5);
    rig_close(&rig);
}

TEST(a_new_definition_is_looked_at_at_once)
{
    struct container *container;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, TTL(1000));
    fill(&rig, container, 5, "");
    CHECK(sweep(&rig) == 0);
    rig_advance_ms(&rig, 20000);
    container = rig_redefine(&rig, container, TTL(20));
    CHECK(sweep(&rig) == 5);
    rig_close(&rig);
}

TEST(a_container_that_is_dropped_is_no_failure_and_goes_when_the_sweep_is_over)
{
    struct container *container;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, TTL(10));
    fill(&rig, container, 5, "");
    rig_advance_ms(&rig, 10000);
    CHECK(catalog_drop_container(rig.op, rig.catalog, container, false) == ST_OK);
    CHECK(sweep(&rig) == 0);
    rig_close(&rig);
}

/* What cannot be read will fail again: it is not tried twice a second. */
TEST(after_a_failure_a_container_rests_for_a_minute)
{
    struct container *container;
    uint64_t removed = 0;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, TTL(10));
    fill(&rig, container, 5, "");
    rig_advance_ms(&rig, 10000);
    faulty_fail(&rig.controls, FAULTY_SCAN, 1);
    CHECK(rig_sweep(&rig, &removed) != ST_OK && rig.op->error && removed == 0);
    rig_advance_ms(&rig, 59999);
    CHECK(scans_of_sweep(&rig) == 0);
    rig_advance_ms(&rig, 1);
    CHECK(sweep(&rig) == 5);
    rig_close(&rig);
}

/* --- writers at work --- */

struct meanwhile {
    struct rig *rig;
    const struct container *container;
};

/* By a request whose clock is a second behind, so that the item is still there. */
static void replace_meanwhile(void *context)
{
    struct meanwhile *meanwhile = context;
    struct rig *rig = meanwhile->rig;
    struct record item;

    rig_advance_ms(rig, -1000);
    CHECK(item_replace(rig, meanwhile->container, "1", "{'id':'1','pk':'a','n':1}", &item) == ST_OK);
    rig_advance_ms(rig, 1000);
}

/* The scan is over a snapshot: what comes after it is in nobody's view. */
TEST(who_replaces_an_item_that_a_sweep_has_seen_expired_keeps_it)
{
    struct container *container;
    struct meanwhile meanwhile;
    struct record item;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, TTL(100));
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a','n':0}", &item) == ST_OK);
    CHECK(item_create(&rig, container, "{'id':'2','pk':'a','n':0}", &item) == ST_OK);
    rig_advance_ms(&rig, 100500);
    meanwhile = (struct meanwhile){ &rig, container };
    rig.controls.instead = replace_meanwhile;
    rig.controls.context = &meanwhile;
    faulty_fail(&rig.controls, FAULTY_SCAN, 1);
    CHECK(sweep(&rig) == 0 && rig.controls.failed); /* the other one has to wait for the next pass */
    CHECK(item_read(&rig, container, KEY_A, "1", &item) && json_int(json_get(item.document, "n")) == 1);
    rig_advance_ms(&rig, 10000); /* a step of one second is followed by a rest of nine */
    CHECK(sweep(&rig) == 1);
    CHECK(item_read(&rig, container, KEY_A, "1", &item) && count_items(&rig, container) == 1);
    CHECK(container_is_whole(&rig, container));
    rig_close(&rig);
}

/* Whoever was told that nothing expires any more must not lose an item to somebody who has not heard of it. */
TEST(an_older_definition_removes_nothing)
{
    struct container *old, *new;
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct record item;
    struct rig rig;
    bool found;

    rig_open(&rig, false);
    old = rig_container(&rig, TTL(10));
    CHECK(item_create(&rig, old, "{'id':'1','pk':'a'}", &item) == ST_OK);
    rig_advance_ms(&rig, 11000);
    CHECK(partition_begin(rig.op, rig.locks, old, key_of_header(rig.op, old, KEY_A), slice_of("1"), &txn) ==
          ST_OK);
    CHECK(partition_find(rig.op, txn, slice_of("1"), &item, &found) == ST_OK && !found);
    CHECK(catalog_replace_container(
              rig.op, rig.catalog, old,
              rig_json(rig.op, "{'id':'c','partitionKey':{'paths':['/pk'],'version':2}}"), &new) == ST_OK);
    CHECK(partition_commit(rig.op, &txn, &stamp) == ST_WRITE_CONFLICT);
    CHECK(count_items(&rig, new) == 1 && item_read(&rig, new, KEY_A, "1", &item));
    CHECK(!container_pin(old) && container_pin(new));
    container_unpin(new);
    container_release(new);
    rig_close(&rig);
}

struct redefining {
    struct rig *rig;
    struct container *container;
};

static void forget_nothing_meanwhile(void *context)
{
    struct redefining *redefining = context;

    redefining->container = rig_redefine(redefining->rig, redefining->container,
                                         "{'id':'c','partitionKey':{'paths':['/pk'],'version':2}}");
}

/* By the new definition the items are there again: the sweep has the old one. */
TEST(what_a_new_definition_brings_back_is_not_removed_by_the_sweep_under_way)
{
    struct redefining redefining;
    struct record item;
    struct rig rig;

    rig_open(&rig, false);
    redefining = (struct redefining){ &rig, rig_container(&rig, TTL(10)) };
    CHECK(item_create(&rig, redefining.container, "{'id':'1','pk':'a'}", &item) == ST_OK);
    rig_advance_ms(&rig, 10000);
    rig.controls.instead = forget_nothing_meanwhile;
    rig.controls.context = &redefining;
    faulty_fail(&rig.controls, FAULTY_SCAN, 1);
    CHECK(sweep(&rig) == 0 && rig.controls.failed);
    CHECK(item_read(&rig, redefining.container, KEY_A, "1", &item));
    rig_close(&rig);
}

/* Each has more entries than the list of a batch has room for by itself. */
TEST(many_items_with_many_entries_are_removed_in_one_step)
{
    enum { ITEMS = 60, ENTRIES = 2000 };
    struct container *container;
    struct record item;
    struct rig rig;
    struct buf text;

    rig_open_with(&rig, false, ENTRIES_PACKED);
    container = rig_container(&rig, TTL(10));
    for (int i = 0; i < ITEMS; i++) {
        buf_init(&text, &rig.op->arena);
        buf_printf(&text, "{'id':'%d','pk':'a','v':[0", i);
        for (int k = 1; k < ENTRIES; k++)
            buf_printf(&text, ",%d", k);
        buf_append(&text, "]}", 3);
        CHECK(item_create(&rig, container, text.data, &item) == ST_OK);
    }
    rig_advance_ms(&rig, 10000);
    CHECK(sweep(&rig) == ITEMS && count_items(&rig, container) == 0);
    rig_close(&rig);
}
