/* test/unit/reply/reply_test.c - answers: error bodies, the headers of all answers, lists, the charge. */
#include "reply/feed.h"
#include "rig.h"

static const struct error_row all_rows[] = {
#define ERROR(name, http, sub, code, retry, wrapped, text) { #name, http, sub, code, retry, wrapped, text },
#include "base/errors.def"
#undef ERROR
};
enum { ROW_COUNT = sizeof(all_rows) / sizeof(all_rows[0]) };

/* One answer under way. */
struct answering {
    struct op *op;
    struct answer answer;
    struct reply reply;
};

static void begin(struct answering *a)
{
    a->op = test_op();
    snprintf(a->op->activity_id, sizeof(a->op->activity_id), "the-activity");
    reply_begin(&a->reply, a->op, &a->answer);
}

static struct json body_of(struct answering *a)
{
    return rig_body(a->op, &a->answer);
}

static struct slice header_of(struct answering *a, const char *name)
{
    return rig_header(a->op, &a->answer, name);
}

static bool contains(struct slice text, const char *part)
{
    return memmem(text.data, text.size, part, strlen(part)) != NULL;
}

/* Promise 1. */
TEST(every_error_has_a_json_body_with_its_code_and_message)
{
    for (int i = 0; i < ROW_COUNT; i++) {
        const struct error_row *row = &all_rows[i];
        struct answering a;
        struct json body;
        struct slice message;

        begin(&a);
        reply_finish(&a.reply, op_fail(a.op, (enum status)(i + 1), "the \"reason\"\n"));
        CHECK(a.answer.status == row->http);
        if (row->http == 304) {
            CHECK(a.answer.body.size == 0);
            continue;
        }
        body = body_of(&a);
        CHECK(slice_is(json_string(json_get(body, "code")), row->code));
        message = json_string(json_get(body, "message"));
        CHECK(contains(message, row->wrapped == 1   ? "Message: {\"Errors\":[\"the \\\"reason\\\"\\n\"]}"
                                : row->wrapped == 2 ? "Message: the \"reason\"\n"
                                                    : "the \"reason\"\n"));
        CHECK(contains(message, "\r\nActivityId: the-activity, Orrery/"));
        CHECK((header_of(&a, "x-ms-substatus").data != NULL) == (row->sub != 0));
        CHECK((header_of(&a, "x-ms-retry-after-ms").data != NULL) == row->retry);
        CHECK(slice_is(header_of(&a, "content-type"), "application/json"));
    }
}

TEST(an_error_without_a_reason_has_a_body_too)
{
    struct answering a;

    begin(&a);
    a.op->error = NULL;
    reply_finish(&a.reply, ST_TIMEOUT);
    CHECK(a.answer.status == 408 && json_string(json_get(body_of(&a), "message")).size > 0);
}

TEST(the_sub_status_is_the_rows)
{
    struct answering a;

    begin(&a);
    reply_finish(&a.reply, ST_SESSION_UNAVAILABLE);
    CHECK(slice_is(header_of(&a, "x-ms-substatus"), "1002") && a.answer.status == 404);
}

/* What clients send finds its way into reasons, and not all of it is UTF-8. */
TEST(a_reason_with_bytes_that_are_no_text_still_makes_a_json_body)
{
    static const char *const reasons[] = { "\xff\xfe", "cut \xf0\x9f\x98", "ok \xc3\xbc then \xc3",
                                           "\x01\x7f", "\xed\xa0\x80" };

    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        struct answering a;

        begin(&a);
        reply_finish(&a.reply, op_fail(a.op, i % 2 ? ST_BAD_REQUEST : ST_BAD_HEADER, "%s", reasons[i]));
        CHECK(json_kind(json_get(body_of(&a), "message")) == JSON_STRING);
    }
}

TEST(text_in_a_reason_is_kept_as_it_is)
{
    struct answering a;

    begin(&a);
    reply_finish(&a.reply, op_fail(a.op, ST_BAD_HEADER, "grün 漢 😀"));
    CHECK(contains(json_string(json_get(body_of(&a), "message")), "grün 漢 😀"));
}

/* Promise 2. */
TEST(a_failure_replaces_the_body_that_was_written_before_it)
{
    struct answering a;

    begin(&a);
    buf_text(reply_body(&a.reply), "{\"id\":\"half");
    reply_status(&a.reply, 201);
    reply_finish(&a.reply, op_fail(a.op, ST_PRECONDITION_FAILED, "no"));
    CHECK(a.answer.status == 412 && json_kind(json_get(body_of(&a), "id")) == JSON_UNDEFINED);
}

TEST(not_modified_keeps_its_headers_and_has_no_body)
{
    struct answering a;

    begin(&a);
    reply_etag(&a.reply, 7, 0);
    buf_text(reply_body(&a.reply), "{}");
    reply_finish(&a.reply, op_fail(a.op, ST_NOT_MODIFIED, "same"));
    CHECK(a.answer.status == 304 && a.answer.body.size == 0 && header_of(&a, "etag").data);
    CHECK(!header_of(&a, "content-type").data);
}

TEST(every_answer_has_an_activity_id_and_a_charge)
{
    struct answering a;

    begin(&a);
    buf_text(reply_body(&a.reply), "{}");
    reply_session(&a.reply, 57);
    reply_header_u64(&a.reply, "x-number", 18446744073709551615u);
    reply_finish(&a.reply, ST_OK);
    CHECK(a.answer.status == 200 && slice_is(buf_as_slice(&a.answer.body), "{}"));
    CHECK(slice_is(header_of(&a, "x-ms-activity-id"), "the-activity"));
    CHECK(slice_is(header_of(&a, "x-ms-request-charge"), "1"));
    CHECK(slice_is(header_of(&a, "x-ms-session-token"), "0:-1#57") && slice_is(header_of(&a, "lsn"), "57"));
    CHECK(slice_is(header_of(&a, "x-number"), "18446744073709551615"));
    CHECK(slice_is(header_of(&a, "cache-control"), "no-store, no-cache"));
}

TEST(an_answer_about_items_names_its_range_when_it_is_one)
{
    struct answering a;

    begin(&a);
    reply_ranges(&a.reply, (struct range_ids){ (uint32_t[]){ 2 }, 1 });
    reply_session(&a.reply, 57);
    reply_finish(&a.reply, ST_OK);
    CHECK(slice_is(header_of(&a, "x-ms-session-token"), "2:-1#57"));
    CHECK(slice_is(header_of(&a, "x-ms-documentdb-partitionkeyrangeid"), "2"));
    begin(&a);
    reply_ranges(&a.reply, (struct range_ids){ (uint32_t[]){ 0, 5 }, 2 });
    reply_session(&a.reply, 57);
    reply_finish(&a.reply, ST_OK);
    CHECK(slice_is(header_of(&a, "x-ms-session-token"), "0:-1#57"));
    CHECK(!header_of(&a, "x-ms-documentdb-partitionkeyrangeid").data);
}

/* Promise 3. */
TEST(what_an_answer_is_about_is_printed_once_and_by_a_failure_too)
{
    static const enum status outcomes[] = { ST_OK, ST_ITEM_NOT_FOUND, ST_NOT_MODIFIED };
    struct rid rid = rid_database(7);

    for (size_t i = 0; i < 3; i++) {
        struct answering a;

        begin(&a);
        reply_owner(&a.reply, slice_of("dbs/d\xc3\xbc/colls/c"), &rid,
                    (struct range_ids){ (uint32_t[]){ 0, 5 }, 2 });
        reply_ranges(&a.reply, (struct range_ids){ (uint32_t[]){ 5 }, 1 });
        reply_session(&a.reply, 57);
        CHECK(a.answer.head.size == 0 && reply_has_session(&a.reply));
        reply_finish(&a.reply, outcomes[i]);
        rig_check_head(&a.answer);
        CHECK(slice_is(header_of(&a, "x-ms-alt-content-path"), "dbs/d%C3%BC/colls/c"));
        CHECK((header_of(&a, "x-ms-content-path").size > 0) == (outcomes[i] != ST_ITEM_NOT_FOUND));
        CHECK(slice_is(header_of(&a, "x-ms-session-token"), "5:-1#57"));
    }
}

TEST(what_was_noted_before_a_wait_is_told_after_it)
{
    struct rid rid = rid_database(7);
    struct answering a;

    begin(&a);
    reply_owner(&a.reply, slice_of("dbs/d/colls/c"), &rid, (struct range_ids){ (uint32_t[]){ 5 }, 1 });
    a.answer.status = 0; /* as http/ leaves it */
    reply_resume(&a.reply);
    reply_session(&a.reply, 58);
    reply_finish(&a.reply, ST_OK);
    CHECK(a.answer.status == 200 && slice_is(header_of(&a, "x-ms-session-token"), "5:-1#58"));
    CHECK(slice_is(header_of(&a, "x-ms-alt-content-path"), "dbs/d/colls/c"));
}

TEST(a_body_that_is_not_wanted_leaves_status_and_headers)
{
    struct answering a;

    begin(&a);
    buf_text(reply_body(&a.reply), "{}");
    reply_status(&a.reply, 201);
    reply_etag(&a.reply, 1, 1);
    reply_drop_body(&a.reply);
    reply_finish(&a.reply, ST_OK);
    CHECK(a.answer.status == 201 && a.answer.body.size == 0 && header_of(&a, "etag").size == 38);
    CHECK(!header_of(&a, "content-type").data);
}

TEST(an_answer_that_does_not_fit_into_memory_says_so)
{
    struct answering a;
    char block[1000];

    begin(&a);
    memset(block, 'x', sizeof(block));
    a.op->arena.limit_bytes = a.op->arena.used_bytes + 100000;
    for (int i = 0; i < 1000; i++)
        buf_append(reply_body(&a.reply), block, sizeof(block));
    while (arena_try_alloc(&a.op->arena, 16))
        ; /* not a byte is left */
    CHECK(a.answer.body.failed);
    reply_finish(&a.reply, ST_OK);
    a.op->arena.limit_bytes = SIZE_MAX;
    CHECK(a.answer.status == 413 && !a.answer.body.failed && !a.answer.head.failed);
    CHECK(slice_is(json_string(json_get(body_of(&a), "code")), "RequestEntityTooLarge"));
    CHECK(slice_is(header_of(&a, "x-ms-activity-id"), "the-activity") &&
          header_of(&a, "x-ms-request-charge").data);
}

TEST(a_failure_before_there_is_an_operation_is_answered_alike)
{
    struct exchange *exchange = arena_alloc(&test_op()->arena, sizeof(*exchange));
    struct json body;

    memset(exchange, 0, sizeof(*exchange));
    op_init(&exchange->op, test_op()->env, SIZE_MAX);
    reply_write_error(exchange, ST_HEADERS_TOO_LARGE, "too many headers, 100% of them");
    CHECK(exchange->answer.status == 431 && strlen(exchange->op.activity_id) == ACTIVITY_ID_SIZE);
    CHECK(json_parse(&exchange->op, buf_as_slice(&exchange->answer.body), &body) == ST_OK);
    CHECK(contains(json_string(json_get(body, "message")), "too many headers, 100% of them"));
    op_free(&exchange->op);
}

/* --- lists --- */

TEST(a_list_has_an_envelope_with_owner_and_count)
{
    struct rid owner = rid_database(1);
    struct answering a;
    struct feed feed;
    struct json body;

    begin(&a);
    feed_begin(&feed, &a.reply, &owner, "Things");
    for (int i = 0; i < 3; i++) {
        feed_next(&feed);
        buf_u64(reply_body(&a.reply), (uint64_t)i);
    }
    feed_end(&feed);
    reply_finish(&a.reply, ST_OK);
    body = body_of(&a);
    CHECK(json_string(json_get(body, "_rid")).size == 8);
    CHECK(json_count(json_get(body, "Things")) == 3 && json_int(json_get(body, "_count")) == 3);
    CHECK(slice_is(header_of(&a, "x-ms-item-count"), "3"));
}

TEST(an_empty_list_of_the_account_has_an_empty_rid)
{
    struct answering a;
    struct feed feed;

    begin(&a);
    feed_begin(&feed, &a.reply, NULL, "Databases");
    feed_end(&feed);
    CHECK(slice_is(buf_as_slice(&a.answer.body), "{\"_rid\":\"\",\"Databases\":[],\"_count\":0}"));
}

/* --- the charge --- */

TEST(a_charge_has_at_most_two_decimals)
{
    struct answering a;

    begin(&a);
    a.op->work =
        (struct work){ .documents_written = 1, .document_bytes_written = 1900, .entries_written = 3 };
    reply_finish(&a.reply, ST_OK);
    CHECK(slice_is(header_of(&a, "x-ms-request-charge"), "5.47"));
}
