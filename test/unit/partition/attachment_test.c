/* test/unit/partition/attachment_test.c - attachments live and die with their item, whichever call of the store fails. */
#include "partition/attachment.h"
#include "base/limits.h"
#include "items.h"
#include "keys/keys.h"

#define TTL_5 "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},'defaultTtl':5}"

/* One more for item 1 of the key a; its media are the name. */
static enum status attach(struct rig *rig, const struct container *container, const char *id)
{
    struct placed_key *key = key_of_header(rig->op, container, "['a']");
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct record item, made;
    struct buf text;
    uint32_t number;
    bool found;
    enum status st;

    buf_init(&text, &rig->op->arena);
    buf_printf(&text, "{'id':'%s','contentType':'a/b','media':'m'}", id);
    TRY(partition_begin(rig->op, rig->locks, container, key, slice_of("1"), &txn));
    TRY(partition_find(rig->op, txn, slice_of("1"), &item, &found));
    if (!found)
        TRY(op_fail(rig->op, ST_ITEM_NOT_FOUND, "no item"));
    TRY(attachment_number(rig->op, txn, &item, &number));
    TRY(attachment_put(rig->op, txn, &item, number,
                       rig_json(rig->op, arena_text(&rig->op->arena, buf_as_slice(&text))), slice_of(id),
                       false, &made));
    TRY(partition_commit(rig->op, &txn, &stamp));
out:
    partition_abort(txn);
    return st;
}

static enum status detach_first(struct rig *rig, const struct container *container)
{
    struct placed_key *key = key_of_header(rig->op, container, "['a']");
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct record item, *list;
    size_t count = 0;
    bool found;
    enum status st;

    TRY(partition_begin(rig->op, rig->locks, container, key, slice_of("1"), &txn));
    TRY(partition_find(rig->op, txn, slice_of("1"), &item, &found));
    if (found)
        TRY(attachment_list(rig->op, txn, &item, &list, &count));
    if (count == 0)
        TRY(op_fail(rig->op, ST_ITEM_NOT_FOUND, "nothing to take away"));
    attachment_delete(rig->op, txn, &item, (uint32_t)list[0].number);
    TRY(partition_commit(rig->op, &txn, &stamp));
out:
    partition_abort(txn);
    return st;
}

static size_t rows_left(struct rig *rig, const struct container *container)
{
    return rows_of_kind(rig, container, KEY_ATTACHMENT).count + rows_of_kind(rig, container, KEY_MEDIA).count;
}

/* Each has its media, and an item that knows of it. */
static bool attachments_are_whole(struct rig *rig, const struct container *container)
{
    struct rows attachments = rows_of_kind(rig, container, KEY_ATTACHMENT),
                media = rows_of_kind(rig, container, KEY_MEDIA),
                documents = rows_of_kind(rig, container, KEY_DOCUMENT);
    bool whole = attachments.count == media.count && container_counts(container, &documents);

    for (size_t i = 0; whole && i < attachments.count; i++) {
        struct key_parts parts;
        struct record item, attachment;
        uint64_t number = 0;
        uint32_t own;
        bool found = false;

        whole = record_decode(rig->op, attachments.row[i].value, &attachment) == ST_OK &&
                key_parse(attachments.row[i].key, &parts) && key_parse_attachment(&parts, &number, &own) &&
                own == attachment.number &&
                partition_at(rig->op, container, number, &item, &found) == ST_OK && found &&
                item.flags & RECORD_HAS_ATTACHMENTS &&
                slice_equal(slice_after(attachments.row[i].key, 7), slice_after(media.row[i].key, 7));
    }
    return whole;
}

TEST(an_attachment_changes_nothing_of_its_item_but_the_flag)
{
    struct container *container;
    struct record before, after;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    REQUIRE(item_create(&rig, container, "{'id':'1','pk':'a','v':1}", &before) == ST_OK);
    REQUIRE(item_read(&rig, container, "['a']", "1", &before));
    REQUIRE(attach(&rig, container, "x") == ST_OK);
    REQUIRE(item_read(&rig, container, "['a']", "1", &after));
    CHECK(after.etag == before.etag && after.lsn == before.lsn && after.ts_ms == before.ts_ms);
    CHECK(after.flags == RECORD_HAS_ATTACHMENTS && json_equal(after.document, before.document));
    CHECK(attachments_are_whole(&rig, container));
    REQUIRE(item_replace(&rig, container, "1", "{'id':'2','pk':'a'}", &after) == ST_OK);
    CHECK(after.flags == RECORD_HAS_ATTACHMENTS);
    CHECK(attachments_are_whole(&rig, container));
    rig_close(&rig);
}

TEST(a_container_knows_whether_any_item_has_one)
{
    struct container *container;
    struct record item;
    struct rig rig;
    bool any = true;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    REQUIRE(item_create(&rig, container, "{'id':'1','pk':'a'}", &item) == ST_OK);
    CHECK(attachment_any(rig.op, container, &any) == ST_OK && !any);
    REQUIRE(attach(&rig, container, "x") == ST_OK);
    CHECK(attachment_any(rig.op, container, &any) == ST_OK && any);
    REQUIRE(detach_first(&rig, container) == ST_OK);
    CHECK(attachment_any(rig.op, container, &any) == ST_OK && !any);
    rig_close(&rig);
}

TEST(an_item_takes_its_attachments_along_however_it_goes)
{
    struct commit_stamp stamp;
    uint64_t removed;

    for (int way = 0; way < 4; way++) {
        struct container *container;
        struct record item;
        struct rig rig;

        rig_open(&rig, false);
        container = rig_container(&rig, TTL_5);
        REQUIRE(item_create(&rig, container, "{'id':'1','pk':'a'}", &item) == ST_OK);
        REQUIRE(attach(&rig, container, "x") == ST_OK && attach(&rig, container, "y") == ST_OK);
        CHECK(rows_left(&rig, container) == 4);
        if (way > 1)
            rig_advance_ms(&rig, 6000);
        if (way == 0)
            CHECK(item_delete(&rig, container, "['a']", "1") == ST_OK);
        else if (way == 1)
            CHECK(partition_clear(rig.op, container, key_of_header(rig.op, container, "['a']"), &stamp) ==
                  ST_OK);
        else if (way == 2)
            CHECK(rig_sweep(&rig, &removed) == ST_OK);
        else
            CHECK(item_create(&rig, container, "{'id':'1','pk':'a'}", &item) == ST_OK && item.flags == 0);
        CHECK(rows_left(&rig, container) == 0);
        rig_close(&rig);
    }
}

TEST(an_expired_item_takes_no_attachment)
{
    struct container *container;
    struct record item;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, TTL_5);
    REQUIRE(item_create(&rig, container, "{'id':'1','pk':'a'}", &item) == ST_OK);
    rig_advance_ms(&rig, 5000);
    CHECK(attach(&rig, container, "x") == ST_ITEM_NOT_FOUND);
    CHECK(rows_left(&rig, container) == 0);
    rig_close(&rig);
}

TEST(an_item_has_no_more_attachments_than_it_may)
{
    struct container *container;
    struct record item;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    REQUIRE(item_create(&rig, container, "{'id':'1','pk':'a'}", &item) == ST_OK);
    for (int i = 0; i < ATTACHMENTS_MAX; i++)
        REQUIRE(attach(&rig, container, "x") == ST_OK);
    CHECK(attach(&rig, container, "x") == ST_FORBIDDEN);
    CHECK(detach_first(&rig, container) == ST_OK && attach(&rig, container, "x") == ST_OK);
    CHECK(item_delete(&rig, container, "['a']", "1") == ST_OK && rows_left(&rig, container) == 0);
    rig_close(&rig);
}

TEST(a_new_attachment_meets_a_delete_of_its_item_and_one_of_them_is_refused)
{
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct container *container;
    struct record item, made;
    uint32_t number;
    struct rig rig;
    bool found;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    REQUIRE(item_create(&rig, container, "{'id':'1','pk':'a'}", &item) == ST_OK);
    REQUIRE(partition_begin_many(rig.op, container, key_of_header(rig.op, container, "['a']"), &txn) ==
            ST_OK);
    partition_expect(txn, slice_of("1"));
    REQUIRE(partition_find(rig.op, txn, slice_of("1"), &item, &found) == ST_OK && found);
    REQUIRE(attachment_number(rig.op, txn, &item, &number) == ST_OK);
    REQUIRE(attachment_put(rig.op, txn, &item, number,
                           rig_json(rig.op, "{'id':'x','contentType':'a/b','media':'m'}"), slice_of("x"),
                           false, &made) == ST_OK);
    REQUIRE(item_delete(&rig, container, "['a']", "1") == ST_OK);
    CHECK(partition_commit(rig.op, &txn, &stamp) == ST_WRITE_CONFLICT);
    CHECK(rows_left(&rig, container) == 0 && rows_of_kind(&rig, container, KEY_DOCUMENT).count == 0);
    rig_close(&rig);
}

static enum status scenario(struct rig *rig, const struct container *container)
{
    struct record item;
    enum status st;

    TRY(item_create(rig, container, "{'id':'1','pk':'a'}", &item));
    TRY(attach(rig, container, "x"));
    TRY(attach(rig, container, "y"));
    TRY(item_replace(rig, container, "1", "{'id':'1','pk':'a','v':1}", &item));
    TRY(detach_first(rig, container));
    TRY(item_delete(rig, container, "['a']", "1"));
out:
    return st;
}

TEST(whichever_call_of_the_store_fails_no_attachment_is_half_written_or_left_behind)
{
    for (int after = 0; after < 2; after++) {
        bool struck = true;

        for (uint64_t call = 1; struck; call++) {
            struct container *container;
            struct rig rig;
            enum status st;

            rig_open(&rig, false);
            container = rig_container(&rig, BY_PK);
            faulty_fail(&rig.controls, FAULTY_ANY, call);
            rig.controls.fail_after = after;
            st = scenario(&rig, container);
            struck = rig.controls.failed;
            rig.controls.fail_call = 0;
            CHECK(struck || (st == ST_OK && rows_left(&rig, container) == 0));
            env_advance_ms(rig.op->env, 1000);
            CHECK(attachments_are_whole(&rig, container));
            rig_close(&rig);
        }
    }
}

TEST(an_item_and_its_attachment_may_be_made_in_one_transaction)
{
    struct container *container;
    struct partition_txn *txn = NULL;
    struct placed_key *key;
    struct rig rig;
    struct commit_stamp stamp;
    struct record item, made, *list;
    uint32_t number;
    size_t count;
    bool found;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    key = key_of_header(rig.op, container, "['a']");
    REQUIRE(partition_begin_many(rig.op, container, key, &txn) == ST_OK);
    REQUIRE(partition_create(rig.op, txn, rig_json(rig.op, "{'id':'1','pk':'a'}"), &item) == ST_OK);
    REQUIRE(partition_find(rig.op, txn, slice_of("1"), &item, &found) == ST_OK && found);
    REQUIRE(attachment_number(rig.op, txn, &item, &number) == ST_OK);
    REQUIRE(attachment_put(rig.op, txn, &item, number, rig_json(rig.op, "{'id':'t'}"), (struct slice){ 0 },
                           false, &made) == ST_OK);
    REQUIRE(partition_find(rig.op, txn, slice_of("1"), &item, &found) == ST_OK && found);
    CHECK(attachment_list(rig.op, txn, &item, &list, &count) == ST_OK && count == 1);
    REQUIRE(partition_commit(rig.op, &txn, &stamp) == ST_OK);
    REQUIRE(partition_read(rig.op, NULL, container, key, slice_of("1"), &item, &found) == ST_OK && found);
    CHECK(item.lsn == stamp.lsn && item.ts_ms == stamp.ts_ms && (item.flags & RECORD_HAS_ATTACHMENTS));
    rig_close(&rig);
}
