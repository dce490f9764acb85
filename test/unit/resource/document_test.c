/* test/unit/resource/document_test.c - items as operations see them: bodies, replies, conditions, addresses, sessions. */
#include "base/limits.h"
#include "reply/charge.h"
#include "ask.h"

#define PRECONDITION "Operation cannot be performed because one of the specified precondition is not met."

/* --- bodies --- */

TEST(a_created_item_comes_back_with_its_system_properties_last)
{
    struct json_iter i;
    static const char *const names[] = { "id", "pk", "n", "_rid", "_self", "_etag", "_attachments", "_ts" };
    size_t at = 0;
    struct ask ask;

    ask_open(&ask);
    ask_header(&ask, HEADER_PARTITION_KEY, "['a']");
    CHECK(ask_run(&ask, document_create, "{'id':'1','pk':'a','n':1}") == 201);
    for (i = json_iter(ask_body(&ask)); json_next(&i); at++)
        CHECK(at < 8 && slice_is(i.name, names[at]));
    CHECK(at == 8 && json_int(ask_member(&ask, "_ts")) == 1700000000);
    CHECK(slice_equal(json_string(ask_member(&ask, "_etag")), ask_answer(&ask, "etag")));
    CHECK(slice_is(ask_answer(&ask, "x-ms-session-token"), "0:-1#2") &&
          slice_is(ask_answer(&ask, "lsn"), "2"));
    CHECK(slice_is(ask_answer(&ask, "x-ms-item-lsn"), "2"));
    CHECK(slice_is(ask_answer(&ask, "x-ms-alt-content-path"), "dbs/db/colls/c"));
    ask_close(&ask);
}

/* Promise 3 of the folder. */
TEST(what_a_client_sends_under_a_system_name_is_not_stored)
{
    struct json_iter i;
    size_t count = 0;
    struct ask ask;

    ask_open(&ask);
    ask_header(&ask, HEADER_PARTITION_KEY, "['a']");
    CHECK(
        ask_run(&ask, document_create,
                "{'_rid':'x','id':'1','_ts':5,'_self':'x','pk':'a','_etag':'x','_attachments':'x','_mine':1,"
                "'in':{'_ts':5}}") == 201);
    for (i = json_iter(ask_body(&ask)); json_next(&i);)
        count++;
    CHECK(!memmem(ask.answer.body.data, ask.answer.body.size, "\"x\"",
                  3)); /* not even as a second member of that name */
    CHECK(count == 9 && json_int(ask_member(&ask, "_ts")) == 1700000000 &&
          json_int(ask_member(&ask, "_mine")) == 1);
    CHECK(json_int(json_get(ask_member(&ask, "in"), "_ts")) == 5);
    ask_close(&ask);
}

static const struct {
    const char *body, *reason;
} bad_bodies[] = {
    { "[]", "The request payload is invalid. Ensure to provide a valid request payload." },
    { "'text'", "The request payload is invalid. Ensure to provide a valid request payload." },
    { "{'pk':'a'}", "The input content is invalid because the required properties - 'id; ' - are missing" },
    { "{'id':1,'pk':'a'}", "One of the specified inputs is invalid" },
    { "{'id':null,'pk':'a'}", "One of the specified inputs is invalid" },
    { "{'id':'','pk':'a'}", "The input name '' is invalid. Ensure to provide a unique non-empty string less "
                            "than '1024' characters." },
};

TEST(a_body_that_is_no_item_is_refused_with_its_reason)
{
    struct ask ask;

    ask_open(&ask);
    ask_header(&ask, HEADER_PARTITION_KEY, "['a']");
    for (size_t i = 0; i < sizeof(bad_bodies) / sizeof(bad_bodies[0]); i++) {
        CHECK(ask_run(&ask, document_create, bad_bodies[i].body) == 400);
        if (!ask_told(&ask, bad_bodies[i].reason))
            test_failed(__FILE__, __LINE__, ask.rig.op->error);
    }
    CHECK(ask_run(&ask, document_create, "") == 400 && ask_run(&ask, document_create, "{") == 400);
    CHECK(bucket_lsn(ask.call.container->bucket) == CONTAINER_FIRST_LSN);
    ask_close(&ask);
}

/* An id of so many bytes, in a document whose text has so many; apostrophes stand for quotes. */
static const char *document_of(struct op *op, size_t id_bytes, size_t bytes)
{
    struct buf text;

    buf_init(&text, &op->arena);
    buf_text(&text, "{'pk':'a','id':'");
    for (size_t i = 0; i < id_bytes; i++)
        buf_byte(&text, 'i');
    buf_text(&text, "','s':'");
    while (text.size < bytes - 2)
        buf_byte(&text, 's');
    buf_append(&text, "'}", 3);
    return text.data;
}

TEST(an_item_has_at_most_two_megabytes_and_its_id_1023_bytes)
{
    struct ask ask;

    ask_open(&ask);
    ask_header(&ask, HEADER_PARTITION_KEY, "['a']");
    CHECK(ask_run(&ask, document_create, document_of(ask.rig.op, ITEM_ID_BYTES_MAX, 2000)) == 201);
    CHECK(ask_run(&ask, document_create, document_of(ask.rig.op, ITEM_ID_BYTES_MAX + 1, 2000)) == 400);
    CHECK(ask_run(&ask, document_create, document_of(ask.rig.op, 5, ITEM_BYTES_MAX)) == 201);
    CHECK(ask_run(&ask, document_create, document_of(ask.rig.op, 6, ITEM_BYTES_MAX + 1)) == 413);
    ask_close(&ask);
}

TEST(the_key_in_the_header_must_be_the_documents)
{
    struct ask ask;

    ask_open(&ask);
    ask_header(&ask, HEADER_PARTITION_KEY, "['b']");
    CHECK(ask_run(&ask, document_create, "{'id':'1','pk':'a'}") == 400 && ask.st == ST_KEY_MISMATCH);
    CHECK(slice_is(ask_answer(&ask, "x-ms-substatus"), "1001"));
    ask_header(&ask, HEADER_PARTITION_KEY, NULL);
    CHECK(ask_run(&ask, document_create, "{'id':'1','pk':'a'}") == 400 && ask.st == ST_BAD_REQUEST);
    ask_close(&ask);
}

/* --- create, upsert, replace, delete --- */

TEST(an_item_can_be_created_once)
{
    struct ask ask;

    ask_open(&ask);
    ask_header(&ask, HEADER_PARTITION_KEY, "['a']");
    CHECK(ask_run(&ask, document_create, "{'id':'1','pk':'a'}") == 201);
    CHECK(ask_run(&ask, document_create, "{'id':'1','pk':'a'}") == 409 && ask.st == ST_ITEM_EXISTS);
    ask_close(&ask);
}

TEST(an_upsert_creates_with_201_and_replaces_with_200)
{
    struct slice rid;
    struct ask ask;

    ask_open(&ask);
    ask_header(&ask, HEADER_PARTITION_KEY, "['a']");
    CHECK(ask_run(&ask, document_upsert, "{'id':'1','pk':'a','n':1}") == 201);
    rid = json_string(ask_member(&ask, "_rid"));
    CHECK(ask_run(&ask, document_upsert, "{'id':'1','pk':'a','n':2}") == 200);
    CHECK(slice_equal(json_string(ask_member(&ask, "_rid")), rid) && json_int(ask_member(&ask, "n")) == 2);
    ask_close(&ask);
}

TEST(what_is_not_there_cannot_be_read_replaced_or_deleted)
{
    struct ask ask;

    ask_open(&ask);
    ask_header(&ask, HEADER_PARTITION_KEY, "['a']");
    ask_about(&ask, "1");
    CHECK(ask_run(&ask, document_read, NULL) == 404 && ask.st == ST_ITEM_NOT_FOUND);
    CHECK(ask_run(&ask, document_replace, "{'id':'1','pk':'a'}") == 404);
    CHECK(ask_run(&ask, document_delete, NULL) == 404);
    ask_item(&ask, "['a']", "{'id':'1','pk':'a'}");
    CHECK(ask_run(&ask, document_delete, NULL) == 204 && ask.answer.body.size == 0);
    CHECK(slice_is(ask_answer(&ask, "x-ms-session-token"), "0:-1#3"));
    CHECK(ask_run(&ask, document_read, NULL) == 404);
    ask_close(&ask);
}

TEST(a_replace_that_renames_answers_under_the_new_id_only)
{
    struct ask ask;

    ask_open(&ask);
    ask_item(&ask, "['a']", "{'id':'1','pk':'a'}");
    ask_about(&ask, "1");
    CHECK(ask_run(&ask, document_replace, "{'id':'2','pk':'a'}") == 200);
    CHECK(ask_run(&ask, document_read, NULL) == 404);
    ask_about(&ask, "2");
    CHECK(ask_run(&ask, document_read, NULL) == 200);
    ask_item(&ask, "['a']", "{'id':'1','pk':'a'}");
    CHECK(ask_run(&ask, document_replace, "{'id':'1','pk':'a'}") == 409 && ask.st == ST_ITEM_EXISTS);
    ask_close(&ask);
}

TEST(minimal_replies_have_headers_and_no_body)
{
    struct ask ask;

    ask_open(&ask);
    ask_header(&ask, HEADER_PARTITION_KEY, "['a']");
    ask_header(&ask, HEADER_PREFER, " Return=Minimal ");
    ask_about(&ask, "1");
    CHECK(ask_run(&ask, document_create, "{'id':'1','pk':'a'}") == 201 && ask.answer.body.size == 0);
    CHECK(ask_answer(&ask, "etag").size == 38 && ask_answer(&ask, "x-ms-session-token").data);
    CHECK(ask_run(&ask, document_upsert, "{'id':'1','pk':'a'}") == 200 && ask.answer.body.size == 0);
    CHECK(ask_run(&ask, document_replace, "{'id':'1','pk':'a'}") == 200 && ask.answer.body.size == 0);
    CHECK(ask_run(&ask, document_read, NULL) == 200 && ask.answer.body.size > 0);
    CHECK(ask_run(&ask, document_create, "{'id':'1','pk':'a'}") == 409 && ask.answer.body.size > 0);
    ask_header(&ask, HEADER_PREFER, "return=representation");
    CHECK(ask_run(&ask, document_upsert, "{'id':'1','pk':'a'}") == 200 && ask.answer.body.size > 0);
    ask_close(&ask);
}

static double charged(struct ask *ask, operation *run, const char *body, int status)
{
    CHECK(ask_run(ask, run, body) == status);
    return charge_of(&ask->rig.op->work);
}

TEST(writes_and_reads_are_charged_as_the_service_does)
{
    double create, charge;
    struct ask ask;

    ask_open(&ask);
    ask_header(&ask, HEADER_PARTITION_KEY, "['a']");
    create = charged(&ask, document_create, document_of(ask.rig.op, 1, 1024), 201);
    CHECK(create >= 5 && create <= 6);
    ask_about(&ask, "i");
    charge = charged(&ask, document_read, NULL, 200);
    CHECK(charge >= 1 && charge < 1.1);
    charge = charged(&ask, document_replace, document_of(ask.rig.op, 1, 1024), 200);
    CHECK(charge >= 1.8 * create && charge <= 2.2 * create);
    charge = charged(&ask, document_upsert, document_of(ask.rig.op, 1, 1024), 200);
    CHECK(charge >= 1.8 * create && charge <= 2.2 * create);
    charge = charged(&ask, document_delete, NULL, 204);
    CHECK(charge >= 5 && charge <= 6);
    CHECK(charged(&ask, document_read, NULL, 404) == 1);
    ask_close(&ask);
}

/* --- conditions --- */

#define OTHER_ETAG "'00000000-0000-0000-0000-000000000000'"

static const char *text_of(struct ask *ask, struct slice text)
{
    return arena_text(&ask->rig.op->arena, text);
}

TEST(a_read_looks_at_if_none_match_and_not_at_if_match)
{
    const char *etag;
    struct ask ask;

    ask_open(&ask);
    etag = text_of(&ask, ask_item(&ask, "['a']", "{'id':'1','pk':'a'}"));
    ask_about(&ask, "1");
    ask_header(&ask, HEADER_IF_NONE_MATCH, etag);
    CHECK(ask_run(&ask, document_read, NULL) == 304 && ask.answer.body.size == 0);
    ask_header(&ask, HEADER_IF_NONE_MATCH, "*");
    CHECK(ask_run(&ask, document_read, NULL) == 304);
    ask_header(&ask, HEADER_IF_NONE_MATCH, OTHER_ETAG);
    CHECK(ask_run(&ask, document_read, NULL) == 200);
    ask_header(&ask, HEADER_IF_NONE_MATCH, NULL);
    ask_header(&ask, HEADER_IF_MATCH, OTHER_ETAG);
    CHECK(ask_run(&ask, document_read, NULL) == 200);
    ask_close(&ask);
}

TEST(a_write_looks_at_if_match_and_not_at_if_none_match)
{
    const char *etag;
    struct ask ask;

    ask_open(&ask);
    etag = text_of(&ask, ask_item(&ask, "['a']", "{'id':'1','pk':'a'}"));
    ask_about(&ask, "1");
    ask_header(&ask, HEADER_IF_MATCH, OTHER_ETAG);
    CHECK(ask_run(&ask, document_replace, "{'id':'1','pk':'a'}") == 412 && ask_told(&ask, PRECONDITION));
    CHECK(ask_run(&ask, document_upsert, "{'id':'1','pk':'a'}") == 412);
    CHECK(ask_run(&ask, document_delete, NULL) == 412);
    ask_header(&ask, HEADER_IF_MATCH, etag);
    CHECK(ask_run(&ask, document_replace, "{'id':'1','pk':'a'}") == 200);
    CHECK(ask_run(&ask, document_replace, "{'id':'1','pk':'a'}") == 412); /* it has another one by now */
    ask_header(&ask, HEADER_IF_MATCH, "*");
    CHECK(ask_run(&ask, document_replace, "{'id':'1','pk':'a'}") == 200);
    ask_header(&ask, HEADER_IF_MATCH, NULL);
    ask_header(&ask, HEADER_IF_NONE_MATCH, "*");
    CHECK(ask_run(&ask, document_replace, "{'id':'1','pk':'a'}") == 200);
    CHECK(ask_run(&ask, document_upsert, "{'id':'1','pk':'a'}") == 200);
    CHECK(ask_run(&ask, document_delete, NULL) == 204);
    ask_close(&ask);
}

TEST(an_upsert_of_an_item_that_is_not_there_has_nothing_to_compare)
{
    struct ask ask;

    ask_open(&ask);
    ask_header(&ask, HEADER_PARTITION_KEY, "['a']");
    ask_header(&ask, HEADER_IF_MATCH, OTHER_ETAG);
    CHECK(ask_run(&ask, document_upsert, "{'id':'1','pk':'a'}") == 201);
    CHECK(ask_run(&ask, document_create, "{'id':'2','pk':'a'}") == 201);
    ask_close(&ask);
}

/* Another client, which has the item's lock somewhere else: it comes between a lookup and its commit. */
struct meanwhile {
    struct ask *ask;
    operation *run;
    const char *body;
    int status;
};

static void run_meanwhile(void *context)
{
    struct meanwhile *meanwhile = context;
    struct ask other = *meanwhile->ask;

    other.service.locks = locks_open();
    other.call.service = &other.service;
    other.call.request = &other.request;
    other.answer = (struct answer){ 0 };
    ask_header(&other, HEADER_IF_MATCH, NULL);
    meanwhile->status = ask_run(&other, meanwhile->run, meanwhile->body);
    locks_close(other.service.locks);
}

static int upsert_while(struct ask *ask, struct meanwhile *meanwhile)
{
    ask->rig.controls.instead = run_meanwhile;
    ask->rig.controls.context = meanwhile;
    faulty_fail(&ask->rig.controls, FAULTY_GET, 1);
    return ask_run(ask, document_upsert, "{'id':'1','pk':'a'}");
}

TEST(an_upsert_with_if_match_is_decided_by_what_is_there_when_it_is_committed)
{
    struct ask ask;
    struct meanwhile vanishes = { &ask, document_delete, NULL, 0 };
    struct meanwhile appears = { &ask, document_create, "{'id':'1','pk':'a'}", 0 };

    ask_open(&ask);
    ask_header(&ask, HEADER_IF_MATCH, text_of(&ask, ask_item(&ask, "['a']", "{'id':'1','pk':'a'}")));
    ask_about(&ask, "1");
    CHECK(upsert_while(&ask, &vanishes) == 201 && vanishes.status == 204);
    CHECK(ask_run(&ask, document_upsert, "{'id':'1','pk':'a'}") == 412);
    ask_header(&ask, HEADER_IF_MATCH, NULL);
    CHECK(ask_run(&ask, document_delete, NULL) == 204);
    ask_header(&ask, HEADER_IF_MATCH, OTHER_ETAG);
    CHECK(upsert_while(&ask, &appears) == 412 && appears.status == 201);
    ask_close(&ask);
}

/* Memory that entries of the index took counts against a limit of its own, which an item may fill alone. */
TEST(an_attempt_in_vain_takes_no_memory_and_costs_nothing)
{
    struct ask ask;
    struct meanwhile replaces = { &ask, document_upsert, "{'id':'1','pk':'a'}", 0 };
    size_t before, taken;
    const char *charge;

    ask_open(&ask);
    ask_item(&ask, "['a']", "{'id':'1','pk':'a'}");
    before = ask.rig.op->index_bytes;
    CHECK(ask_run(&ask, document_upsert, "{'id':'1','pk':'a'}") == 200);
    charge = text_of(&ask, ask_answer(&ask, "x-ms-request-charge"));
    taken = ask.rig.op->index_bytes - before;
    before = ask.rig.op->index_bytes;
    CHECK(upsert_while(&ask, &replaces) == 200 && replaces.status == 200);
    CHECK(slice_is(ask_answer(&ask, "x-ms-request-charge"), charge));
    CHECK(taken > 0 && ask.rig.op->index_bytes - before == taken);
    ask_close(&ask);
}

/* --- addresses --- */

TEST(an_item_is_addressed_by_its_rid_too_inside_its_own_partition)
{
    const char *rid;
    struct ask ask;

    ask_open(&ask);
    ask_item(&ask, "['a']", "{'id':'1','pk':'a'}");
    rid = text_of(&ask, json_string(ask_member(&ask, "_rid")));
    ask_about(&ask, rid);
    CHECK(ask_run(&ask, document_read, NULL) == 404); /* by names it is an id, and there is none like that */
    ask.call.by_rid = true;
    CHECK(ask_run(&ask, document_read, NULL) == 200 && slice_is(json_string(ask_member(&ask, "id")), "1"));
    ask_header(&ask, HEADER_PARTITION_KEY, "['b']");
    CHECK(ask_run(&ask, document_read, NULL) == 404);
    ask_header(&ask, HEADER_PARTITION_KEY, "['a']");
    CHECK(ask_run(&ask, document_replace, "{'id':'1','pk':'a','n':2}") == 200);
    CHECK(ask_run(&ask, document_delete, NULL) == 204 && ask_run(&ask, document_read, NULL) == 404);
    ask_close(&ask);
}

TEST(an_id_that_looks_like_a_rid_of_nothing_is_an_id)
{
    struct rid rid;
    struct buf text;
    char document[100];
    struct ask ask;

    ask_open(&ask);
    rid = rid_child(&ask.call.container->rid, RID_DOCUMENT, 12345);
    buf_init(&text, &ask.rig.op->arena);
    rid_print(&text, &rid);
    snprintf(document, sizeof(document), "{'id':'%.*s','pk':'a'}", SLICE_ARGS(buf_as_slice(&text)));
    ask_item(&ask, "['a']", document);
    ask_about(&ask, text_of(&ask, buf_as_slice(&text)));
    CHECK(ask_run(&ask, document_read, NULL) == 200);
    ask_close(&ask);
}

TEST(names_that_no_header_can_carry_are_escaped_in_one)
{
    struct ask ask;

    ask_open(&ask);
    ask.call.container =
        rig_container(&ask.rig, "{'id':'grün\\r\\nx-evil: 1','partitionKey':{'paths':['/pk']}}");
    ask_header(&ask, HEADER_PARTITION_KEY, "['a']");
    CHECK(ask_run(&ask, document_create, "{'id':'1','pk':'a'}") == 201);
    CHECK(slice_is(ask_answer(&ask, "x-ms-alt-content-path"), "dbs/db/colls/gr%C3%BCn%0D%0Ax-evil: 1"));
    CHECK(!ask_answer(&ask, "x-evil").data);
    ask_close(&ask);
}

/* --- sessions --- */

TEST(a_session_later_than_any_write_is_not_available)
{
    struct ask ask;

    ask_open(&ask);
    ask_item(&ask, "['a']", "{'id':'1','pk':'a'}");
    ask_about(&ask, "1");
    ask_header(&ask, HEADER_SESSION_TOKEN, "0:-1#2");
    CHECK(ask_run(&ask, document_read, NULL) == 200 &&
          slice_is(ask_answer(&ask, "x-ms-session-token"), "0:-1#2"));
    ask_header(&ask, HEADER_SESSION_TOKEN, "0:-1#3");
    CHECK(ask_run(&ask, document_read, NULL) == 404 && slice_is(ask_answer(&ask, "x-ms-substatus"), "1002"));
    CHECK(ask_run(&ask, document_list, NULL) == 404);
    ask_header(&ask, HEADER_SESSION_TOKEN, "junk");
    CHECK(ask_run(&ask, document_read, NULL) == 400);
    ask_header(&ask, HEADER_SESSION_TOKEN, "");
    CHECK(ask_run(&ask, document_read, NULL) == 200);
    ask_close(&ask);
}

/* --- conflicts --- */

TEST(a_write_that_never_gets_through_asks_the_client_to_try_again)
{
    struct ask ask;

    ask_open(&ask);
    ask_header(&ask, HEADER_PARTITION_KEY, "['a']");
    faulty_fail(&ask.rig.controls, FAULTY_WRITE, 1);
    CHECK(ask_run(&ask, document_create, "{'id':'1','pk':'a'}") == 503);
    CHECK(ask_answer(&ask, "x-ms-retry-after-ms").data && ask.answer.body.size > 0);
    CHECK(ask_run(&ask, document_create, "{'id':'1','pk':'a'}") == 201);
    ask_close(&ask);
}
