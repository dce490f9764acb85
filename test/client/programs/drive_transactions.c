/*
 * test/client/programs/drive_transactions.c - transactions of every kind against a real database: what they do, abort, read.
 * usage: drive_transactions ENDPOINT KEY, or DIRECTORY, or memory. The last line is "N passed, M failed".
 */
#include "../../../examples/example.h"

static const char left[] = "dbs/txn one/colls/left", right[] = "dbs/txn two/colls/right";
static int passed, failed;

static void check(int good, const char *what, int line)
{
    good ? passed++ : failed++;
    if (!good)
        printf("FAILED line %d: %s\n    %s\n", line, what, orrery_error(client));
}

#define CHECK(condition) check((condition), #condition, __LINE__)

static orrery_transaction *begin(void)
{
    orrery_transaction *transaction = NULL;

    must(orrery_transaction_new(&transaction));
    return transaction;
}

static void make_containers(void)
{
    orrery_container one = { .size = sizeof(one), .id = "left", .partition_key = { "/pk" } };
    orrery_container two = { .size = sizeof(two), .id = "right", .partition_key = { "/a", "/b" } };

    orrery_delete(client, "dbs/txn one", NULL, NULL);
    orrery_delete(client, "dbs/txn two", NULL, NULL);
    must(orrery_database_create(client, "txn one", NULL, NULL));
    must(orrery_database_create(client, "txn two", NULL, NULL));
    must(orrery_container_create(client, "dbs/txn one", &one, NULL, NULL));
    must(orrery_container_create(client, "dbs/txn two", &two, NULL, NULL));
}

/* A member of an item that is there; -1: it is not. */
static int64_t number_of(const char *link, const char *id, const orrery_key *key)
{
    orrery_response *item = NULL;
    int64_t number = -1;

    if (orrery_item_read(client, link, id, key, NULL, &item) == ORRERY_OK)
        number = orrery_value_int(orrery_value_member(orrery_response_json(item), "n"));
    orrery_response_free(item);
    return number;
}

static orrery_result result_at(orrery_response *results, size_t index)
{
    orrery_result result = { .size = sizeof(result) };

    CHECK(orrery_transaction_result(results, index, &result) == ORRERY_OK);
    return result;
}

static void put_items(void)
{
    orrery_transaction *transaction = begin();

    orrery_transaction_upsert(transaction, left, "{\"id\":\"replaced\",\"pk\":\"a\",\"n\":1}", ORRERY_TEXT,
                              NULL);
    orrery_transaction_upsert(transaction, left, "{\"id\":\"patched\",\"pk\":\"b\",\"n\":1}", ORRERY_TEXT,
                              NULL);
    orrery_transaction_upsert(transaction, right, "{\"id\":\"deleted\",\"a\":\"x\",\"b\":1,\"n\":1}",
                              ORRERY_TEXT, NULL);
    CHECK(orrery_transaction_run(client, transaction, NULL, NULL) == ORRERY_OK);
    orrery_transaction_free(transaction);
}

static void every_kind_of_write(void)
{
    orrery_key a = orrery_key_text("a"), b = orrery_key_text("b");
    orrery_key levels[] = { orrery_key_text("x"), orrery_key_number(1) }, x1 = orrery_key_list(levels, 2);
    orrery_transaction *transaction = begin();
    orrery_response *results = NULL;
    orrery_patch *patch = NULL;
    static const int expected[] = { 201, 200, 201, 200, 204 };

    must(orrery_patch_new(&patch));
    orrery_patch_increment(patch, "/n", 4);
    orrery_patch_condition(patch, "from c where c.n = 1");
    orrery_transaction_create(transaction, left, "{\"id\":\"made \xc3\xa9\",\"pk\":\"a\",\"n\":1}",
                              ORRERY_TEXT, &a);
    orrery_transaction_replace(transaction, left, "replaced", "{\"id\":\"replaced\",\"pk\":\"a\",\"n\":2}",
                               ORRERY_TEXT, NULL, &a);
    orrery_transaction_upsert(transaction, right, "{\"id\":\"upserted\",\"a\":\"x\",\"b\":1,\"n\":3}",
                              ORRERY_TEXT, NULL);
    orrery_transaction_patch(transaction, "/dbs/txn one/colls/left/", "patched", patch, NULL, &b);
    orrery_transaction_delete(transaction, right, "deleted", NULL, &x1);
    orrery_patch_free(patch);
    CHECK(orrery_transaction_run(client, transaction, NULL, &results) == ORRERY_OK);
    CHECK(orrery_response_http(results) == 200 && orrery_response_charge(results) > 0);
    for (size_t i = 0; i < 5; i++) {
        orrery_result result = result_at(results, i);

        CHECK(result.http == expected[i] && result.status == ORRERY_OK && result.charge > 0);
        CHECK((*orrery_value_text(result.etag, NULL) != 0) == (i != 4));
        CHECK(strstr(orrery_value_text(result.session, NULL), "0:") != NULL);
    }
    CHECK(orrery_transaction_result(results, 5, &(orrery_result){ .size = sizeof(orrery_result) }) ==
          ORRERY_EINVAL);
    orrery_response_free(results);
    orrery_transaction_free(transaction);
    CHECK(number_of(left, "made \xc3\xa9", &a) == 1 && number_of(left, "replaced", &a) == 2);
    CHECK(number_of(right, "upserted", &x1) == 3 && number_of(left, "patched", &b) == 5);
    CHECK(number_of(right, "deleted", &x1) == -1);
}

static void an_abort_tells_which_operation_it_was(void)
{
    orrery_key a = orrery_key_text("a"), b = orrery_key_text("b"), new = orrery_key_text("new");
    orrery_transaction *transaction = begin();
    orrery_response *results = NULL;
    orrery_patch *patch = NULL;

    must(orrery_patch_new(&patch));
    orrery_patch_increment(patch, "/n", 1);
    orrery_patch_condition(patch, "from c where c.n = 77");
    orrery_transaction_create(transaction, left, "{\"id\":\"1\",\"pk\":\"new\"}", ORRERY_TEXT, &new);
    orrery_transaction_patch(transaction, left, "patched", patch, NULL, &b);
    orrery_transaction_delete(transaction, left, "replaced", NULL, &a);
    orrery_patch_free(patch);
    CHECK(orrery_transaction_run(client, transaction, NULL, &results) == ORRERY_EBATCH && results);
    CHECK(strstr(orrery_error(client), "operation 1: HTTP status 412") != NULL);
    CHECK(orrery_response_http(results) == 452);
    CHECK(result_at(results, 0).http == 453 && result_at(results, 0).sub_status == 5415);
    CHECK(result_at(results, 1).status == ORRERY_EPRECONDITION && result_at(results, 1).sub_status == 1110);
    CHECK(result_at(results, 2).http == 453);
    CHECK(number_of(left, "1", &new) == -1 && number_of(left, "replaced", &a) == 2);
    orrery_response_free(results);
    results = NULL;
    /* What was aborted stays so. A new try is another transaction, with a token of its own. */
    CHECK(orrery_transaction_run(client, transaction, NULL, NULL) == ORRERY_EBATCH);
    must(orrery_item_upsert(client, left, "{\"id\":\"patched\",\"pk\":\"b\",\"n\":77}", ORRERY_TEXT, NULL,
                            NULL, NULL));
    CHECK(orrery_transaction_run(client, transaction, NULL, NULL) == ORRERY_EBATCH);
    CHECK(orrery_transaction_set_token(transaction, NULL) == ORRERY_OK);
    CHECK(orrery_transaction_run(client, transaction, NULL, NULL) == ORRERY_OK);
    CHECK(number_of(left, "patched", &b) == 78 && number_of(left, "replaced", &a) == -1);
    orrery_transaction_free(transaction);
}

static void an_etag_that_is_old_aborts(void)
{
    orrery_key a = orrery_key_text("a");
    orrery_response *made = NULL, *results = NULL;
    orrery_transaction *transaction = begin();

    must(orrery_item_upsert(client, left, "{\"id\":\"tagged\",\"pk\":\"a\",\"n\":1}", ORRERY_TEXT, &a, NULL,
                            &made));
    orrery_transaction_replace(transaction, left, "tagged", "{\"id\":\"tagged\",\"pk\":\"a\",\"n\":2}",
                               ORRERY_TEXT, orrery_response_etag(made), &a);
    CHECK(orrery_transaction_run(client, transaction, NULL, NULL) == ORRERY_OK);
    CHECK(orrery_transaction_set_token(transaction, NULL) == ORRERY_OK);
    CHECK(orrery_transaction_run(client, transaction, NULL, &results) == ORRERY_EBATCH);
    CHECK(result_at(results, 0).status == ORRERY_EPRECONDITION);
    orrery_response_free(results);
    orrery_response_free(made);
    orrery_transaction_free(transaction);
}

static void a_transaction_is_done_once_under_its_token(void)
{
    static const char own[] = "6F9619FF-8B86-D011-B42D-00C04FC964FF";
    orrery_key key = orrery_key_text("once");
    orrery_transaction *transaction = begin(), *later = begin();
    orrery_patch *patch = NULL;
    char token[40];

    must(orrery_item_upsert(client, left, "{\"id\":\"once\",\"pk\":\"once\",\"n\":0}", ORRERY_TEXT, &key,
                            NULL, NULL));
    must(orrery_patch_new(&patch));
    orrery_patch_increment(patch, "/n", 1);
    orrery_transaction_patch(transaction, left, "once", patch, NULL, &key);
    orrery_transaction_patch(later, left, "once", patch, NULL, &key);
    orrery_patch_free(patch);
    snprintf(token, sizeof(token), "%s", orrery_transaction_token(transaction));
    CHECK(strlen(token) == 36);
    CHECK(orrery_transaction_run(client, transaction, NULL, NULL) == ORRERY_OK);
    CHECK(orrery_transaction_run(client, transaction, NULL, NULL) == ORRERY_OK);
    CHECK(strcmp(token, orrery_transaction_token(transaction)) == 0);
    /* As a program does that was ended, and comes back with what it had written down. */
    CHECK(orrery_transaction_set_token(later, token) == ORRERY_OK);
    CHECK(orrery_transaction_run(client, later, NULL, NULL) == ORRERY_OK);
    CHECK(number_of(left, "once", &key) == 1);
    CHECK(orrery_transaction_set_token(later, "no token") == ORRERY_EINVAL);
    CHECK(orrery_transaction_set_token(later, own) == ORRERY_OK);
    CHECK(strcmp(orrery_transaction_token(later), own) == 0);
    CHECK(!orrery_failed(orrery_transaction_run(client, later, NULL, NULL)));
    orrery_transaction_free(transaction);
    orrery_transaction_free(later);
}

static void reads_of_one_moment(void)
{
    orrery_key a = orrery_key_text("a"), levels[] = { orrery_key_text("x"), orrery_key_number(1) };
    orrery_key x1 = orrery_key_list(levels, 2), none = orrery_key_text("none");
    orrery_transaction *reads = begin(), *missing = begin(), *same = begin();
    orrery_response *results = NULL, *failure = NULL;
    orrery_value etag;

    orrery_transaction_read(reads, left, "tagged", NULL, &a);
    orrery_transaction_read(reads, right, "upserted", NULL, &x1);
    CHECK(orrery_transaction_run(client, reads, NULL, &results) == ORRERY_OK);
    CHECK(orrery_value_int(orrery_value_member(result_at(results, 0).body, "n")) == 2);
    CHECK(orrery_value_int(orrery_value_member(result_at(results, 1).body, "n")) == 3);
    etag = result_at(results, 1).etag;
    orrery_transaction_read(missing, left, "tagged", NULL, &a);
    orrery_transaction_read(missing, left, "never", NULL, &none);
    CHECK(orrery_transaction_run(client, missing, NULL, &failure) == ORRERY_ENOTFOUND && failure);
    CHECK(strstr(orrery_error(client), "operation 1: HTTP status 404") != NULL);
    CHECK(result_at(failure, 0).http == 424 && result_at(failure, 1).status == ORRERY_ENOTFOUND);
    orrery_response_free(failure);
    failure = NULL;
    orrery_transaction_read(same, right, "upserted", orrery_value_text(etag, NULL), &x1);
    CHECK(orrery_transaction_run(client, same, NULL, &failure) == ORRERY_NOT_MODIFIED);
    CHECK(result_at(failure, 0).status == ORRERY_NOT_MODIFIED);
    orrery_transaction_read(same, left, "tagged", NULL, &a);
    orrery_response_free(failure);
    CHECK(orrery_transaction_run(client, same, NULL, &failure) == ORRERY_OK &&
          orrery_response_http(failure) == 207);
    orrery_response_free(failure);
    orrery_response_free(results);
    orrery_transaction_free(reads);
    orrery_transaction_free(missing);
    orrery_transaction_free(same);
}

static void keys_of_every_type(void)
{
    orrery_key keys[] = { orrery_key_none(), orrery_key_null(), orrery_key_bool(1), orrery_key_number(-2.5),
                          orrery_key_text("\xe6\x97\xa5 \"x\"") };
    const char *documents[] = { "{\"id\":\"k\"}", "{\"id\":\"k\",\"pk\":null}", "{\"id\":\"k\",\"pk\":true}",
                                "{\"id\":\"k\",\"pk\":-2.5}",
                                "{\"id\":\"k\",\"pk\":\"\xe6\x97\xa5 \\\"x\\\"\"}" };
    orrery_transaction *makes = begin(), *reads = begin(), *deletes = begin();

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        orrery_transaction_create(makes, left, documents[i], ORRERY_TEXT, i % 2 ? NULL : &keys[i]);
        orrery_transaction_read(reads, left, "k", NULL, &keys[i]);
        orrery_transaction_delete(deletes, left, "k", NULL, &keys[i]);
    }
    CHECK(orrery_transaction_run(client, makes, NULL, NULL) == ORRERY_OK);
    CHECK(orrery_transaction_run(client, reads, NULL, NULL) == ORRERY_OK);
    CHECK(orrery_transaction_run(client, deletes, NULL, NULL) == ORRERY_OK);
    CHECK(orrery_transaction_run(client, reads, NULL, NULL) == ORRERY_ENOTFOUND);
    orrery_transaction_free(makes);
    orrery_transaction_free(reads);
    orrery_transaction_free(deletes);
}

static void a_hundred_operations_and_no_more(void)
{
    orrery_key key = orrery_key_text("many");
    orrery_transaction *transaction = begin();
    char json[64];

    for (int i = 0; i < 100; i++) {
        snprintf(json, sizeof(json), "{\"id\":\"%d\",\"pk\":\"many\",\"n\":%d}", i, i);
        orrery_transaction_create(transaction, left, json, ORRERY_TEXT, &key);
    }
    CHECK(orrery_transaction_run(client, transaction, NULL, NULL) == ORRERY_OK);
    CHECK(number_of(left, "99", &key) == 99);
    orrery_transaction_create(transaction, left, "{\"id\":\"100\",\"pk\":\"many\"}", ORRERY_TEXT, &key);
    CHECK(orrery_transaction_run(client, transaction, NULL, NULL) == ORRERY_EINVAL);
    CHECK(strstr(orrery_error(client), "1 to 100 operations") != NULL);
    orrery_transaction_free(transaction);
}

static void a_container_that_is_missing_is_told(void)
{
    orrery_key key = orrery_key_text("a");
    orrery_transaction *transaction = begin(), *unkeyed = begin();
    orrery_response *results = NULL;

    orrery_transaction_delete(transaction, "dbs/txn one/colls/never", "1", NULL, &key);
    CHECK(orrery_transaction_run(client, transaction, NULL, &results) == ORRERY_EBATCH);
    CHECK(result_at(results, 0).status == ORRERY_ENOTFOUND);
    orrery_transaction_create(unkeyed, "dbs/txn one/colls/never", "{\"id\":\"1\"}", ORRERY_TEXT, NULL);
    CHECK(orrery_transaction_run(client, unkeyed, NULL, NULL) == ORRERY_ENOTFOUND);
    orrery_response_free(results);
    orrery_transaction_free(transaction);
    orrery_transaction_free(unkeyed);
}

/* The client knows the sessions of both containers from the transaction alone, and the reads that follow send them. */
static void sessions_are_known_afterwards(void)
{
    orrery_key a = orrery_key_text("a"), levels[] = { orrery_key_text("x"), orrery_key_number(1) };
    orrery_key x1 = orrery_key_list(levels, 2);
    orrery_transaction *transaction = begin(), *reads = begin();
    orrery_response *results = NULL;
    char session[64];

    orrery_transaction_upsert(transaction, left, "{\"id\":\"s\",\"pk\":\"a\",\"n\":1}", ORRERY_TEXT, &a);
    orrery_transaction_upsert(transaction, right, "{\"id\":\"s\",\"a\":\"x\",\"b\":1,\"n\":1}", ORRERY_TEXT,
                              &x1);
    CHECK(orrery_transaction_run(client, transaction, NULL, &results) == ORRERY_OK);
    snprintf(session, sizeof(session), "%s", orrery_value_text(result_at(results, 1).session, NULL));
    CHECK(orrery_session_token(client, right) && strcmp(orrery_session_token(client, right), session) == 0);
    CHECK(number_of(right, "s", &x1) == 1);
    CHECK(orrery_session_token(client, right) && strcmp(orrery_session_token(client, right), session) == 0);
    orrery_transaction_read(reads, left, "s", NULL, &a);
    orrery_transaction_read(reads, right, "s", NULL, &x1);
    CHECK(orrery_transaction_run(client, reads, NULL, NULL) == ORRERY_OK);
    orrery_response_free(results);
    orrery_transaction_free(transaction);
    orrery_transaction_free(reads);
}

/* A container of the same name, made anew: what was known of the old one is forgotten. */
static void a_container_that_was_made_anew_is_read(void)
{
    orrery_container container = { .size = sizeof(container), .id = "anew", .partition_key = { "/pk" } };
    static const char anew[] = "dbs/txn one/colls/anew";
    orrery_key a = orrery_key_text("a");
    orrery_transaction *reads = begin();

    orrery_transaction_read(reads, anew, "1", NULL, &a);
    for (int round = 0; round < 2; round++) {
        must(orrery_container_create(client, "dbs/txn one", &container, NULL, NULL));
        for (int i = 0; i < 5 - 4 * round; i++)
            must(
                orrery_item_upsert(client, anew, "{\"id\":\"1\",\"pk\":\"a\"}", ORRERY_TEXT, &a, NULL, NULL));
        CHECK(orrery_transaction_run(client, reads, NULL, NULL) == ORRERY_OK);
        must(orrery_delete(client, anew, NULL, NULL));
    }
    orrery_transaction_free(reads);
}

static void note(orrery_client *of, void *context, orrery_status status, orrery_response *response)
{
    orrery_status *noted = context;

    (void)of;
    *noted = status;
    orrery_response_free(response);
}

static void transactions_that_do_not_wait(void)
{
    orrery_key key = orrery_key_text("later");
    orrery_status done[8];
    orrery_options options = { .size = sizeof(options), .done = note };
    size_t under_way = 1;
    char json[64];

    for (int i = 0; i < 8; i++) {
        orrery_transaction *transaction = begin();

        done[i] = ORRERY_WAIT;
        options.context = &done[i];
        snprintf(json, sizeof(json), "{\"id\":\"%d\",\"pk\":\"later\",\"n\":%d}", i / 2, i);
        orrery_transaction_create(transaction, left, json, ORRERY_TEXT, &key);
        CHECK(orrery_transaction_run(client, transaction, &options, NULL) == ORRERY_OK);
        orrery_transaction_free(transaction); /* it is under way without it */
    }
    while (under_way > 0)
        must(orrery_run(client, -1, &under_way));
    for (int i = 0; i < 8; i += 2) /* of two creates of one item one is done */
        CHECK((done[i] == ORRERY_OK) + (done[i + 1] == ORRERY_OK) == 1 &&
              (done[i] == ORRERY_EBATCH) + (done[i + 1] == ORRERY_EBATCH) == 1);
}

int main(int argc, char **argv)
{
    open_client(argc, argv);
    make_containers();
    put_items();
    every_kind_of_write();
    an_abort_tells_which_operation_it_was();
    an_etag_that_is_old_aborts();
    a_transaction_is_done_once_under_its_token();
    reads_of_one_moment();
    keys_of_every_type();
    a_hundred_operations_and_no_more();
    a_container_that_is_missing_is_told();
    sessions_are_known_afterwards();
    a_container_that_was_made_anew_is_read();
    transactions_that_do_not_wait();
    orrery_close(client);
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}
