/* test/unit/partition/expiry_test.c - items whose time to live is over are nowhere to be seen, before any sweep. */
#include "items.h"
#include "keys/keys.h"
#include "partition/expiry.h"
#include "partition/scan.h"

#define TTL(seconds) "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},'defaultTtl':" #seconds "}"
#define KEY_A "['a']"

/* --- the rule --- */

static const struct {
    int32_t default_ttl, ttl;
    int64_t lives_ms; /* -1: for ever */
} rules[] = {
    { TTL_OFF, RECORD_TTL_NONE, -1 },
    { TTL_OFF, 1, -1 },
    { TTL_OFF, -1, -1 },
    { TTL_NEVER, RECORD_TTL_NONE, -1 },
    { TTL_NEVER, 5, 5000 },
    { TTL_NEVER, -1, -1 },
    { 10, RECORD_TTL_NONE, 10000 },
    { 10, 3, 3000 },
    { 10, 20, 20000 },
    { 10, -1, -1 },
    { INT32_MAX, 1, 1000 },
    { 1, INT32_MAX, 1000ll * INT32_MAX },
};

TEST(an_item_lives_as_long_as_it_says_or_else_as_its_container_says_if_that_says_anything)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        struct container container = { .default_ttl = rules[i].default_ttl };
        struct record item = { .lsn = 1, .ts_ms = 1700000000000, .ttl_seconds = rules[i].ttl };
        int64_t ends_ms = item.ts_ms + rules[i].lives_ms;

        if (rules[i].lives_ms < 0) {
            CHECK(item_expires_ms(&container, &item) == INT64_MAX);
            CHECK(!item_is_expired(&container, &item, INT64_MAX - 1));
        } else {
            CHECK(item_expires_ms(&container, &item) == ends_ms);
            CHECK(!item_is_expired(&container, &item, ends_ms - 1) &&
                  item_is_expired(&container, &item, ends_ms));
        }
    }
}

TEST(what_is_not_committed_yet_does_not_age)
{
    struct container *container;
    struct partition_txn *txn = NULL;
    struct record item, found;
    struct commit_stamp stamp;
    bool is_there = false;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, TTL(1));
    REQUIRE(partition_begin(rig.op, rig.locks, container, key_of_header(rig.op, container, KEY_A),
                            slice_of("1"), &txn) == ST_OK);
    CHECK(partition_create(rig.op, txn, rig_json(rig.op, "{'id':'1','pk':'a'}"), &item) == ST_OK);
    CHECK(partition_find(rig.op, txn, slice_of("1"), &found, &is_there) == ST_OK && is_there);
    CHECK(partition_commit(rig.op, &txn, &stamp) == ST_OK);
    CHECK(item_read(&rig, container, KEY_A, "1", &found) && found.number == item.number);
    rig_close(&rig);
}

TEST(an_item_that_expires_while_its_writer_waits_has_expired_for_the_writer)
{
    struct container *container;
    struct partition_txn *txn = NULL;
    struct record item;
    bool found = true;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, TTL(1));
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a'}", &item) == ST_OK);
    env_advance_ms(rig.op->env, 1000); /* the op began before; this is as long as it waits for the lock */
    REQUIRE(partition_begin(rig.op, rig.locks, container, key_of_header(rig.op, container, KEY_A),
                            slice_of("1"), &txn) == ST_OK);
    CHECK(partition_find(rig.op, txn, slice_of("1"), &item, &found) == ST_OK && !found);
    partition_abort(txn);
    rig_close(&rig);
}

/* --- nobody sees it --- */

static size_t count_listed(struct rig *rig, const struct container *container)
{
    struct partition_scope everything = { 0 };
    struct partition_page page;

    CHECK(partition_list(rig->op, container, &everything, 0, 100, &page) == ST_OK && !page.more);
    return page.count;
}

static bool is_read_with(struct rig *rig, struct hints *hints, const struct container *container)
{
    struct record item;
    bool found = false;

    CHECK(partition_read(rig->op, hints, container, key_of_header(rig->op, container, KEY_A), slice_of("1"),
                         &item, &found) == ST_OK);
    return found;
}

TEST(an_expired_item_is_not_read_listed_hinted_replaced_or_deleted)
{
    struct hints *hints = hints_open();
    struct container *container;
    struct record item, other;
    struct slice id;
    struct placed_key *key;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, TTL(10));
    key = key_of_header(rig.op, container, KEY_A);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a'}", &item) == ST_OK);
    CHECK(item_create(&rig, container, "{'id':'2','pk':'a','ttl':-1}", &other) == ST_OK);
    CHECK(is_read_with(&rig, hints, container));
    rig_advance_ms(&rig, 9999);
    CHECK(is_read_with(&rig, hints, container) && is_read_with(&rig, NULL, container));
    CHECK(count_listed(&rig, container) == 2);
    CHECK(partition_id_of(rig.op, container, key, item.number, &id) == ST_OK && slice_is(id, "1"));
    rig_advance_ms(&rig, 1);
    rig.op->work = (struct work){ 0 };
    CHECK(!is_read_with(&rig, hints, container) && !is_read_with(&rig, NULL, container));
    CHECK(rig.op->work.documents_read == 0);
    CHECK(count_listed(&rig, container) == 1);
    CHECK(partition_id_of(rig.op, container, key, item.number, &id) == ST_OK && !id.data);
    CHECK(item_replace(&rig, container, "1", "{'id':'1','pk':'a'}", &other) == ST_ITEM_NOT_FOUND);
    CHECK(item_delete(&rig, container, KEY_A, "1") == ST_ITEM_NOT_FOUND);
    CHECK(rows_of_kind(&rig, container, KEY_DOCUMENT).count == 2); /* nothing was swept */
    rig_close(&rig);
    hints_close(hints);
}

static struct change change_at(struct rig *rig, const struct container *container, size_t index)
{
    struct rows rows = rows_of_kind(rig, container, KEY_LOG);
    struct change change = { 0 };

    CHECK(index < rows.count && change_decode(rig->op, rows.row[index].value, &change) == ST_OK);
    return change;
}

TEST(an_id_is_free_at_once_and_its_next_item_is_another_one)
{
    struct hints *hints = hints_open();
    struct container *container;
    struct change removed, created;
    struct record old, new, read;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, TTL(-1));
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a','ttl':2}", &old) == ST_OK);
    CHECK(is_read_with(&rig, hints, container));
    rig_advance_ms(&rig, 1999);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a'}", &new) == ST_ITEM_EXISTS);
    rig_advance_ms(&rig, 1);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a'}", &new) == ST_OK && new.number != old.number);
    CHECK(is_read_with(&rig, hints, container)); /* the hint leads to a record that is gone */
    CHECK(item_read(&rig, container, KEY_A, "1", &read) && read.number == new.number);
    CHECK(rows_of_kind(&rig, container, KEY_DOCUMENT).count == 1 &&
          rows_of_kind(&rig, container, KEY_ID).count == 1);
    REQUIRE(rows_of_kind(&rig, container, KEY_LOG).count == 3);
    removed = change_at(&rig, container, 1), created = change_at(&rig, container, 2);
    CHECK(removed.kind == CHANGE_DELETE && removed.expired && removed.number == old.number &&
          removed.previous_lsn == old.lsn && removed.old_record.size > 0);
    CHECK(created.kind == CHANGE_CREATE && !created.expired &&
          created.number == new.number &&created.lsn == removed.lsn);
    rig_close(&rig);
    hints_close(hints);
}

TEST(a_replace_may_take_the_id_of_an_item_that_has_expired)
{
    struct container *container;
    struct record item, read;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, TTL(-1));
    CHECK(item_create(&rig, container, "{'id':'old','pk':'a','ttl':1}", &item) == ST_OK);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a'}", &item) == ST_OK);
    CHECK(item_replace(&rig, container, "1", "{'id':'old','pk':'a'}", &read) == ST_ITEM_EXISTS);
    rig_advance_ms(&rig, 1000);
    CHECK(item_replace(&rig, container, "1", "{'id':'old','pk':'a'}", &read) == ST_OK);
    CHECK(item_read(&rig, container, KEY_A, "old", &read) && read.number == item.number);
    CHECK(!item_read(&rig, container, KEY_A, "1", &read));
    CHECK(rows_of_kind(&rig, container, KEY_DOCUMENT).count == 1 &&
          rows_of_kind(&rig, container, KEY_ID).count == 1);
    rig_close(&rig);
}

TEST(a_write_starts_the_clock_anew)
{
    struct container *container;
    struct record item;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, TTL(10));
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a'}", &item) == ST_OK);
    for (int i = 0; i < 5; i++) {
        rig_advance_ms(&rig, 9000);
        CHECK(item_replace(&rig, container, "1", "{'id':'1','pk':'a'}", &item) == ST_OK);
    }
    rig_advance_ms(&rig, 9000);
    CHECK(item_replace(&rig, container, "1", "{'id':'1','pk':'a','ttl':1}", &item) == ST_OK);
    rig_advance_ms(&rig, 1000);
    CHECK(!item_read(&rig, container, KEY_A, "1", &item));
    rig_close(&rig);
}

TEST(a_new_default_counts_for_every_item_at_once)
{
    struct container *container;
    struct record item;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a'}", &item) == ST_OK);
    CHECK(item_create(&rig, container, "{'id':'2','pk':'a','ttl':60}", &item) == ST_OK);
    rig_advance_ms(&rig, 50000);
    container = rig_redefine(&rig, container, TTL(40));
    CHECK(!item_read(&rig, container, KEY_A, "1", &item) && item_read(&rig, container, KEY_A, "2", &item));
    container = rig_redefine(&rig, container, TTL(55));
    CHECK(item_read(&rig, container, KEY_A, "1", &item) && item_read(&rig, container, KEY_A, "2", &item));
    rig_advance_ms(&rig, 15000);
    CHECK(count_listed(&rig, container) == 0);
    container = rig_redefine(&rig, container, TTL(-1));
    CHECK(item_read(&rig, container, KEY_A, "1", &item) && !item_read(&rig, container, KEY_A, "2", &item));
    container = rig_redefine(&rig, container, BY_PK);
    CHECK(count_listed(&rig, container) == 2);
    rig_close(&rig);
}

/* Its clock is behind, or it began before the item's time was over: whoever commits first has it. */
TEST(who_takes_the_place_of_an_expired_item_gives_way_to_who_has_just_replaced_it)
{
    struct locks *others = locks_open(), *mine;
    struct partition_txn *txn = NULL;
    struct container *container;
    struct commit_stamp stamp;
    struct record item;
    bool found = true;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, TTL(5));
    CHECK(item_create(&rig, container, "{'id':'1','pk':'a'}", &item) == ST_OK);
    rig_advance_ms(&rig, 5000);
    REQUIRE(partition_begin(rig.op, rig.locks, container, key_of_header(rig.op, container, KEY_A),
                            slice_of("1"), &txn) == ST_OK);
    CHECK(partition_find(rig.op, txn, slice_of("1"), &item, &found) == ST_OK && !found);
    CHECK(partition_create(rig.op, txn, rig_json(rig.op, "{'id':'1','pk':'a','n':2}"), &item) == ST_OK);
    mine = rig.locks;
    rig.locks = others;
    rig_advance_ms(&rig, -1000); /* another clock may be behind */
    CHECK(item_replace(&rig, container, "1", "{'id':'1','pk':'a','n':1}", &item) == ST_OK);
    rig_advance_ms(&rig, 1000);
    rig.locks = mine;
    CHECK(partition_commit(rig.op, &txn, &stamp) == ST_WRITE_CONFLICT);
    partition_abort(txn);
    CHECK(item_read(&rig, container, KEY_A, "1", &item) && json_int(json_get(item.document, "n")) == 1);
    rig_close(&rig);
    locks_close(others);
}
