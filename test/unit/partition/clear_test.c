/* test/unit/partition/clear_test.c - deleting every item of a logical partition: these, all of them, no others. */
#include <pthread.h>

#include "base/limits.h"
#include "items.h"
#include "keys/keys.h"

static enum status clear(struct rig *rig, const struct container *container, const char *key,
                         struct commit_stamp *stamp)
{
    return partition_clear(rig->op, container, key_of_header(rig->op, container, key), stamp);
}

static void create_many(struct rig *rig, const struct container *container, const char *key, int count)
{
    struct record item;

    for (int i = 0; i < count; i++) {
        char document[64];

        snprintf(document, sizeof(document), "{'id':'%d','pk':'%s'}", i, key);
        CHECK(item_create(rig, container, document, &item) == ST_OK);
    }
}

static bool has_rows(struct rig *rig, const struct container *container, size_t count)
{
    return rows_of_kind(rig, container, KEY_DOCUMENT).count == count &&
           rows_of_kind(rig, container, KEY_ID).count == count;
}

TEST(every_item_of_the_key_goes_in_steps_and_the_others_stay)
{
    struct commit_stamp stamp = { 0 };
    struct container *container;
    struct record item;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    create_many(&rig, container, "a", 250);
    create_many(&rig, container, "b", 3);
    CHECK(clear(&rig, container, "['a']", &stamp) == ST_OK);
    CHECK(stamp.lsn == CONTAINER_FIRST_LSN + 253 + 3 &&
          bucket_lsn(container->bucket) == stamp.lsn); /* 100, 100 and 50 of them */
    CHECK(has_rows(&rig, container, 3) && rows_of_kind(&rig, container, KEY_LOG).count == 253 + 250);
    CHECK(!item_read(&rig, container, "['a']", "0", &item) &&
          item_read(&rig, container, "['b']", "0", &item));
    CHECK(item_create(&rig, container, "{'id':'0','pk':'a'}", &item) == ST_OK);
    rig_close(&rig);
}

/* What a request may change in the index is a limit of what it holds at a time: of a step. */
TEST(what_a_step_has_changed_in_the_index_is_forgotten_with_the_step)
{
    struct commit_stamp stamp = { 0 };
    struct container *container;
    struct rig rig;
    struct op op;

    rig_open_with(&rig, false, ENTRIES_PACKED);
    op_init(&op, rig.op->env, OP_MEMORY_BYTES_MAX);
    rig.op = &op;
    container = rig_container(&rig, BY_PK);
    create_many(&rig, container, "a", 250);
    op_begin(&op, OP_TIMEOUT_MS);
    CHECK(clear(&rig, container, "['a']", &stamp) == ST_OK && has_rows(&rig, container, 0));
    CHECK(op.index_bytes == 0 && op.arena.limit_bytes == OP_MEMORY_BYTES_MAX);
    rig_close(&rig);
    op_free(&op);
}

TEST(a_key_without_items_is_cleared_without_a_commit)
{
    struct commit_stamp stamp = { .lsn = 77 };
    struct container *container;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    create_many(&rig, container, "b", 3);
    CHECK(clear(&rig, container, "['a']", &stamp) == ST_OK && stamp.lsn == 77);
    CHECK(has_rows(&rig, container, 3) && bucket_lsn(container->bucket) == CONTAINER_FIRST_LSN + 3);
    rig_close(&rig);
}

/* Two keys whose numbers begin with the same bits; among so many there are some. */
static bool find_neighbours(struct op *op, const struct container *container, char keys[2][16])
{
    enum { KEYS = 4000 };
    uint32_t *bits = arena_alloc(&op->arena, KEYS * sizeof(*bits));

    for (int i = 0; i < KEYS; i++) {
        char key[16];

        snprintf(key, sizeof(key), "['%d']", i);
        bits[i] = epk_number_bits(container->epk_version, 1, &key_of_header(op, container, key)->epk);
        for (int k = 0; k < i; k++)
            if (bits[k] == bits[i]) {
                snprintf(keys[0], 16, "%d", k);
                snprintf(keys[1], 16, "%d", i);
                return true;
            }
    }
    return false;
}

TEST(a_neighbour_whose_items_lie_between_stays)
{
    struct commit_stamp stamp = { 0 };
    struct container *container;
    char keys[2][16], header[24];
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    REQUIRE(find_neighbours(rig.op, container, keys));
    create_many(&rig, container, keys[0], 120);
    create_many(&rig, container, keys[1], 130);
    snprintf(header, sizeof(header), "['%s']", keys[1]);
    CHECK(clear(&rig, container, header, &stamp) == ST_OK && has_rows(&rig, container, 120));
    snprintf(header, sizeof(header), "['%s']", keys[0]);
    CHECK(clear(&rig, container, header, &stamp) == ST_OK && has_rows(&rig, container, 0));
    rig_close(&rig);
}

/* A writer who has read what is cleared must not bring a part of it back. */
TEST(a_writer_that_began_before_an_item_was_cleared_is_refused)
{
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp = { 0 };
    struct container *container;
    struct record old, item;
    bool found;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    create_many(&rig, container, "a", 20);
    CHECK(partition_begin(rig.op, rig.locks, container, key_of_header(rig.op, container, "['a']"),
                          slice_of("7"), &txn) == ST_OK);
    CHECK(partition_find(rig.op, txn, slice_of("7"), &old, &found) == ST_OK && found);
    CHECK(partition_replace(rig.op, txn, &old, rig_json(rig.op, "{'id':'7','pk':'a','n':1}"), &item) ==
          ST_OK);
    CHECK(clear(&rig, container, "['a']", &stamp) == ST_OK);
    CHECK(partition_commit(rig.op, &txn, &stamp) == ST_WRITE_CONFLICT);
    CHECK(has_rows(&rig, container, 0));
    rig_close(&rig);
}

TEST(a_transaction_on_many_items_is_refused_when_one_of_them_has_changed)
{
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct container *container;
    struct record old, item;
    char id[8];
    bool found;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    create_many(&rig, container, "a", 20);
    CHECK(partition_begin_many(rig.op, container, key_of_header(rig.op, container, "['a']"), &txn) == ST_OK);
    for (int i = 0; i < 20; i++) {
        snprintf(id, sizeof(id), "%d", i);
        partition_expect(txn, slice_of(id));
        CHECK(partition_find(rig.op, txn, slice_of(id), &old, &found) == ST_OK && found);
        CHECK(partition_delete(rig.op, txn, &old) == ST_OK);
    }
    CHECK(item_replace(&rig, container, "19", "{'id':'19','pk':'a','n':1}", &item) == ST_OK);
    CHECK(partition_commit(rig.op, &txn, &stamp) == ST_WRITE_CONFLICT);
    CHECK(has_rows(&rig, container, 20));
    rig_close(&rig);
}

TEST(a_clearing_stops_when_its_operation_should)
{
    struct commit_stamp stamp = { 0 };
    struct container *container;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    create_many(&rig, container, "a", 3);
    atomic_store(&rig.op->cancelled, true);
    CHECK(clear(&rig, container, "['a']", &stamp) != ST_OK);
    atomic_store(&rig.op->cancelled, false);
    CHECK(has_rows(&rig, container, 3));
    rig_close(&rig);
}

/* --- others at work meanwhile --- */

enum { WRITES = 400 };

struct writer {
    struct rig *rig;
    const struct container *container;
    int failures;
};

static enum status upsert(struct op *op, struct writer *writer, const char *document)
{
    struct json parsed = rig_json(op, document);
    struct slice id = json_string(json_get(parsed, "id"));
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct record old, item;
    bool found;
    enum status st;

    TRY(partition_begin(op, writer->rig->locks, writer->container,
                        key_of_document(op, writer->container, parsed), id, &txn));
    TRY(partition_find(op, txn, id, &old, &found));
    if (found)
        TRY(partition_replace(op, txn, &old, parsed, &item));
    else
        TRY(partition_create(op, txn, parsed, &item));
    TRY(partition_commit(op, &txn, &stamp));
out:
    partition_abort(txn);
    return st;
}

static void *write_often(void *context)
{
    struct writer *writer = context;
    struct op op;

    op_init(&op, writer->rig->op->env, SIZE_MAX);
    for (int i = 0; i < WRITES; i++) {
        char document[64];
        enum status st;

        op_begin(&op, INT64_MAX / 2);
        snprintf(document, sizeof(document), "{'id':'%d','pk':'a'}", i % 40);
        st = upsert(&op, writer, document);
        writer->failures += st != ST_OK && st != ST_WRITE_CONFLICT;
    }
    op_free(&op);
    return NULL;
}

TEST(clearing_while_others_write_leaves_only_whole_items)
{
    struct commit_stamp stamp = { 0 };
    struct writer writer;
    pthread_t thread;
    struct rig rig;

    rig_open(&rig, true);
    writer = (struct writer){ .rig = &rig, .container = rig_container(&rig, BY_PK) };
    CHECK(pthread_create(&thread, NULL, write_often, &writer) == 0);
    for (int i = 0; i < 30; i++) {
        enum status st = clear(&rig, writer.container, "['a']", &stamp);

        CHECK(st == ST_OK || st == ST_WRITE_CONFLICT);
    }
    pthread_join(thread, NULL);
    CHECK(writer.failures == 0);
    CHECK(rows_of_kind(&rig, writer.container, KEY_DOCUMENT).count ==
          rows_of_kind(&rig, writer.container, KEY_ID).count);
    CHECK(clear(&rig, writer.container, "['a']", &stamp) == ST_OK && has_rows(&rig, writer.container, 0));
    rig_close(&rig);
}

/* --- one who writes the same item whenever it is looked at --- */

static void write_the_last(void *context)
{
    struct writer *writer = context;
    struct faulty_controls *controls = &writer->rig->controls;
    struct op op;

    controls->kinds = 0;
    op_init(&op, writer->rig->op->env, OP_MEMORY_BYTES_MAX);
    op.may_block = true;
    CHECK(upsert(&op, writer, "{'id':'19','pk':'a'}") == ST_OK);
    op_free(&op);
    faulty_fail(controls, FAULTY_SCAN, 1);
}

TEST(an_item_that_others_keep_writing_keeps_no_other_from_going)
{
    struct commit_stamp stamp = { 0 };
    struct writer writer;
    struct rig rig;

    rig_open(&rig, false);
    writer = (struct writer){ .rig = &rig, .container = rig_container(&rig, BY_PK) };
    create_many(&rig, writer.container, "a", 20);
    rig.controls.instead = write_the_last;
    rig.controls.context = &writer;
    faulty_fail(&rig.controls, FAULTY_SCAN, 1);
    CHECK(clear(&rig, writer.container, "['a']", &stamp) == ST_WRITE_CONFLICT);
    rig.controls = (struct faulty_controls){ 0 };
    CHECK(has_rows(&rig, writer.container, 1));
    CHECK(clear(&rig, writer.container, "['a']", &stamp) == ST_OK && has_rows(&rig, writer.container, 0));
    rig_close(&rig);
}
