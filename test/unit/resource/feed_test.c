/* test/unit/resource/feed_test.c - the change feed as clients ask for it, with a clock that moves. */
#include "ask.h"
#include "base/limits.h"
#include "partition/key.h"
#include "partition/partition.h"

#define KEPT_AN_HOUR                          \
    "{'id':'f','partitionKey':{'paths':['/a/" \
    "b'],'version':2},'defaultTtl':-1,'changeFeedPolicy':{'retentionDuration':60}}"

enum { HOUR_MS = 3600 * 1000 };

static void open_feed(struct ask *ask, const char *mode)
{
    ask_open(ask);
    ask->call.container = rig_container(&ask->rig, KEPT_AN_HOUR);
    ask_header(ask, HEADER_A_IM, mode);
}

static void create(struct ask *ask, const char *document)
{
    ask_header(ask, HEADER_PARTITION_KEY, "['k']");
    CHECK(ask_run(ask, document_create, document) == 201);
}

static int read_after(struct ask *ask, const char *etag)
{
    ask_header(ask, HEADER_PARTITION_KEY, NULL);
    ask_header(ask, HEADER_IF_NONE_MATCH, etag);
    return ask_run(ask, document_list, NULL);
}

TEST(all_versions_are_refused_behind_what_was_trimmed_and_latest_ones_are_not)
{
    struct ask ask;

    open_feed(&ask, "Full-Fidelity Feed");
    create(&ask, "{'id':'1','a':{'b':'k'}}");
    ask_about(&ask, "1");
    CHECK(ask_run(&ask, document_delete, NULL) == 204);
    CHECK(read_after(&ask, "\"0\"") == 200);
    rig_advance_ms(&ask.rig, 2 * HOUR_MS);
    CHECK(rig_trim(&ask.rig, 0) == ST_OK);
    CHECK(read_after(&ask, "\"0\"") == 400 && read_after(&ask, "\"2\"") == 400);
    CHECK(read_after(&ask, "\"3\"") == 304 && read_after(&ask, "*") == 304);
    ask_header(&ask, HEADER_A_IM, "Incremental Feed");
    CHECK(read_after(&ask, "\"0\"") == 304);
    ask_close(&ask);
}

static int list_as_of(struct ask *ask, const char *moment)
{
    ask_header(ask, HEADER_A_IM, NULL);
    ask_header(ask, HEADER_PARTITION_KEY, NULL);
    ask_header(ask, HEADER_AS_OF, moment);
    return ask_run(ask, document_list, NULL);
}

/* The clock begins at 1700000000: Tue, 14 Nov 2023 22:13:20 GMT. */
TEST(a_moment_before_what_was_trimmed_is_refused_where_no_change_is_left_of_it_too)
{
    struct ask ask;

    open_feed(&ask, "Full-Fidelity Feed");
    create(&ask, "{'id':'1','a':{'b':'k'}}");
    rig_advance_ms(&ask.rig, HOUR_MS);
    ask_about(&ask, "1");
    CHECK(ask_run(&ask, document_delete, NULL) == 204);
    rig_advance_ms(&ask.rig, 10 * HOUR_MS);
    create(&ask, "{'id':'2','a':{'b':'k'}}");
    CHECK(list_as_of(&ask, "2023-11-14T22:43:20Z") == 200);
    CHECK(rig_trim(&ask.rig, 5 * HOUR_MS) == ST_OK);
    CHECK(list_as_of(&ask, "2023-11-14T22:43:20Z") == 400);
    CHECK(list_as_of(&ask, "2023-11-14T23:13:19Z") == 400);
    CHECK(list_as_of(&ask, "2023-11-15T00:43:20Z") == 200);
    ask_close(&ask);
}

TEST(a_time_begins_behind_all_changes_of_its_second)
{
    struct ask ask;

    open_feed(&ask, "Incremental Feed");
    rig_advance_ms(&ask.rig, 700);
    create(&ask, "{'id':'1','a':{'b':'k'}}");
    rig_advance_ms(&ask.rig, 300);
    create(&ask, "{'id':'2','a':{'b':'k'}}");
    ask_header(&ask, HEADER_IF_MODIFIED_SINCE, "Tue, 14 Nov 2023 22:13:20 UTC"); /* as Go writes it */
    CHECK(read_after(&ask, "") == 200 && json_count(ask_member(&ask, "Documents")) == 1);
    CHECK(slice_is(json_string(json_get(json_element(ask_member(&ask, "Documents"), 0), "id")), "2"));
    ask_header(&ask, HEADER_IF_MODIFIED_SINCE, "Tue, 14 Nov 2023 22:13:19 GMT");
    CHECK(read_after(&ask, "") == 200 && json_count(ask_member(&ask, "Documents")) == 2);
    ask_header(&ask, HEADER_IF_MODIFIED_SINCE, "Tue, 14 Nov 2023 22:13:21 GMT");
    CHECK(read_after(&ask, "") == 304);
    ask_close(&ask);
}

TEST(a_delete_that_nobody_asked_for_says_so_and_names_the_key_by_its_path)
{
    struct json change, metadata;
    uint64_t removed = 0;
    struct ask ask;

    open_feed(&ask, "Full-Fidelity Feed");
    create(&ask, "{'id':'1','a':{'b':'k'},'ttl':10}");
    rig_advance_ms(&ask.rig, HOUR_MS / 2);
    CHECK(rig_sweep(&ask.rig, &removed) == ST_OK && removed == 1);
    CHECK(read_after(&ask, "\"2\"") == 200 && json_count(ask_member(&ask, "Documents")) == 1);
    change = json_element(ask_member(&ask, "Documents"), 0);
    metadata = json_get(change, "metadata");
    CHECK(json_count(json_get(change, "current")) == 0);
    CHECK(json_int(json_get(json_get(change, "previous"), "ttl")) == 10);
    CHECK(json_kind(json_get(metadata, "timeToLiveExpired")) == JSON_TRUE);
    CHECK(slice_is(json_string(json_get(metadata, "id")), "1"));
    CHECK(slice_is(json_string(json_get(json_get(metadata, "partitionKey"), "a/b")), "k"));
    CHECK(json_int(json_get(metadata, "crts")) == 1700000000 + HOUR_MS / 2000);
    ask_close(&ask);
}

TEST(a_page_ends_at_four_megabytes)
{
    struct ask ask;
    struct buf body;

    open_feed(&ask, "Incremental Feed");
    for (int i = 0; i < 6; i++) {
        buf_init(&body, &ask.rig.op->arena);
        buf_printf(&body, "{'id':'%d','a':{'b':'k'},'text':'%0*d'}", i, 1500000, 7);
        create(&ask, arena_text(&ask.rig.op->arena, buf_as_slice(&body)));
    }
    ask_header(&ask, HEADER_MAX_ITEM_COUNT, "100");
    CHECK(read_after(&ask, "\"0\"") == 200 && json_int(ask_member(&ask, "_count")) == 3);
    CHECK(slice_is(ask_answer(&ask, "etag"), "\"4\""));
    CHECK(read_after(&ask, "\"4\"") == 200 && json_int(ask_member(&ask, "_count")) == 3);
    ask_close(&ask);
}

static struct json large_document(struct op *op, int id)
{
    struct buf text;

    buf_init(&text, &op->arena);
    buf_printf(&text, "{'id':'%d','a':{'b':'k'},'text':'%0*d'}", id, 2000000, 7);
    return rig_json(op, arena_text(&op->arena, buf_as_slice(&text)));
}

/* Items of 2 MB in one transaction, as a script can write them. */
static void create_together(struct ask *ask, int from, int count)
{
    struct op *op = ask->rig.op;
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct placed_key key;
    struct record item;

    op->arena.limit_bytes = 16 * (size_t)OP_MEMORY_BYTES_MAX;
    partition_key_extract(ask->call.container, large_document(op, from), &key.values);
    partition_key_place(ask->call.container, &key);
    REQUIRE(partition_begin_many(op, ask->call.container, &key, &txn) == ST_OK);
    for (int i = 0; i < count; i++)
        CHECK(partition_create(op, txn, large_document(op, from + i), &item) == ST_OK);
    REQUIRE(partition_commit(op, &txn, &stamp) == ST_OK);
}

/* With the memory that one operation has, whatever the test has taken. */
static int page_after(struct ask *ask, const char *etag)
{
    struct op *op = ask->rig.op;

    op->arena.limit_bytes = op->arena.used_bytes + OP_MEMORY_BYTES_MAX;
    return read_after(ask, etag);
}

TEST(a_transaction_as_large_as_the_service_has_is_in_one_page)
{
    struct ask ask;

    open_feed(&ask, "Incremental Feed");
    create_together(&ask, 0, 7);
    ask_header(&ask, HEADER_MAX_ITEM_COUNT, "1");
    CHECK(page_after(&ask, "\"0\"") == 200 && slice_is(ask_answer(&ask, "x-ms-item-count"), "7"));
    CHECK(slice_is(ask_answer(&ask, "etag"), "\"2\""));
    ask_close(&ask);
}

TEST(a_larger_transaction_goes_on_in_the_next_page_and_loses_nothing)
{
    static const char *const modes[] = { "Incremental Feed", "Full-Fidelity Feed" };

    for (size_t i = 0; i < 2; i++) {
        struct ask ask;

        open_feed(&ask, modes[i]);
        create_together(&ask, 0, 20);
        create_together(&ask, 20, 1);
        CHECK(page_after(&ask, "\"0\"") == 200 && slice_is(ask_answer(&ask, "x-ms-item-count"), "9"));
        CHECK(slice_is(ask_answer(&ask, "etag"), "\"2.8\""));
        CHECK(page_after(&ask, "\"2.8\"") == 200 && slice_is(ask_answer(&ask, "x-ms-item-count"), "9"));
        CHECK(slice_is(ask_answer(&ask, "etag"), "\"2.17\""));
        CHECK(page_after(&ask, "\"2.17\"") == 200 && slice_is(ask_answer(&ask, "x-ms-item-count"), "3"));
        CHECK(slice_is(ask_answer(&ask, "etag"), "\"3\""));
        CHECK(page_after(&ask, "\"2.19\"") == 200 && slice_is(ask_answer(&ask, "x-ms-item-count"), "1"));
        ask_close(&ask);
    }
}

TEST(a_page_that_ended_within_a_transaction_is_named_by_two_numbers_and_nothing_else)
{
    static const char *const malformed[] = { "\"1.\"", "\".1\"",   "\"1.x\"",          "\"0.1\"",
                                             "1.-1",   "\"1..1\"", "\"1.4294967295\"", "\"1.1.1\"" };
    struct ask ask;

    open_feed(&ask, "Incremental Feed");
    create(&ask, "{'id':'1','a':{'b':'k'}}");
    for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++)
        CHECK(read_after(&ask, malformed[i]) == 400);
    CHECK(read_after(&ask, "\"2.99\"") == 304 && read_after(&ask, "\"2.0\"") == 304);
    ask_close(&ask);
}
