/*
 * test/client/programs/drive_calls.c - one call of every kind against a real database; says which went otherwise than expected.
 * usage: drive_calls ENDPOINT KEY, or DIRECTORY, or memory. The last line is "N passed, M failed".
 */
#include "../../../examples/example.h"

static const char items[] = "dbs/drive/colls/items";
static int passed, failed;

static void check(int good, const char *what, int line)
{
    good ? passed++ : failed++;
    if (!good)
        printf("FAILED line %d: %s\n    %s\n", line, what, orrery_error(client));
}

#define CHECK(condition) check((condition), #condition, __LINE__)

static void databases_and_containers(void)
{
    orrery_container container = {
        .size = sizeof(container), .id = "items", .partition_key = { "/pk" }, .default_ttl = -1
    };
    orrery_container levels = { .size = sizeof(levels), .id = "levels", .partition_key = { "/a", "/b" } };
    orrery_options wide = { .size = sizeof(wide), .throughput = 30000 };
    orrery_response *response = NULL;
    int throughput = 0, autoscale = -1;

    orrery_delete(client, "dbs/drive", NULL, NULL);
    CHECK(orrery_database_create(client, "drive", NULL, NULL) == ORRERY_OK);
    CHECK(orrery_database_create(client, "drive", NULL, NULL) == ORRERY_ECONFLICT);
    CHECK(orrery_response_http(orrery_failed_response(client)) == 409);
    CHECK(orrery_container_create(client, "dbs/drive", &container, &wide, NULL) == ORRERY_OK);
    CHECK(orrery_container_create(client, "dbs/drive", &levels, NULL, NULL) == ORRERY_OK);
    CHECK(orrery_read(client, items, NULL, &response) == ORRERY_OK);
    CHECK(orrery_value_int(orrery_value_member(orrery_response_json(response), "defaultTtl")) == -1);
    orrery_response_free(response);
    container.default_ttl = 1000;
    CHECK(orrery_container_replace(client, items, &container, NULL, NULL) == ORRERY_OK);
    CHECK(orrery_throughput_read(client, items, &throughput, &autoscale) == ORRERY_OK);
    CHECK(throughput == 30000 && autoscale == 0);
    CHECK(orrery_throughput_replace(client, items, 25000, 0) == ORRERY_OK);
    CHECK(orrery_throughput_read(client, items, &throughput, NULL) == ORRERY_OK && throughput == 25000);
    CHECK(orrery_throughput_read(client, "dbs/drive", &throughput, NULL) == ORRERY_ENOTFOUND);
}

static void writes(void)
{
    orrery_key key = orrery_key_text("a");
    orrery_options same = { .size = sizeof(same) }, minimal = { .size = sizeof(minimal), .minimal = 1 };
    orrery_response *made = NULL, *again = NULL;

    CHECK(orrery_item_create(client, items, "{\"id\":\"1\",\"pk\":\"a\",\"n\":1}", ORRERY_TEXT, &key, NULL,
                             &made) == ORRERY_OK);
    CHECK(orrery_response_http(made) == 201 && orrery_response_charge(made) > 0);
    CHECK(orrery_response_activity(made) && orrery_session_token(client, items));
    CHECK(orrery_item_create(client, items, "{\"id\":\"1\",\"pk\":\"a\"}", ORRERY_TEXT, NULL, NULL, NULL) ==
          ORRERY_ECONFLICT);
    CHECK(orrery_item_upsert(client, items, "{\"id\":\"1\",\"pk\":\"a\",\"n\":2}", ORRERY_TEXT, &key,
                             &minimal, &again) == ORRERY_OK);
    CHECK(*orrery_response_body(again, NULL) == '\0' && orrery_response_http(again) == 200);
    same.if_match = orrery_response_etag(made);
    CHECK(orrery_item_replace(client, items, "1", "{\"id\":\"1\",\"pk\":\"a\"}", ORRERY_TEXT, &key, &same,
                              NULL) == ORRERY_EPRECONDITION);
    CHECK(orrery_item_replace(client, items, "1", "{\"id\":\"1\",\"pk\":\"a\",\"n\":3}", ORRERY_TEXT, NULL,
                              NULL, NULL) == ORRERY_OK);
    orrery_response_free(made);
    orrery_response_free(again);
    made = NULL;
    CHECK(orrery_item_create(client, items, "{\"pk\":\"no id\"}", ORRERY_TEXT, NULL, NULL, &made) ==
          ORRERY_OK);
    CHECK(strlen(orrery_value_text(orrery_value_member(orrery_response_json(made), "id"), NULL)) == 36);
    orrery_response_free(made);
    CHECK(orrery_item_create(client, items, "[]", ORRERY_TEXT, &key, NULL, NULL) == ORRERY_EJSON);
    CHECK(orrery_item_create(client, items, "{\"id\":\"x\",\"pk\":\"b\"}", ORRERY_TEXT, &key, NULL, NULL) ==
          ORRERY_EBADREQUEST);
}

static void reads(void)
{
    orrery_key key = orrery_key_text("a"), other = orrery_key_text("b");
    orrery_options unchanged = { .size = sizeof(unchanged) };
    orrery_response *item = NULL;

    CHECK(orrery_item_read(client, items, "1", &key, NULL, &item) == ORRERY_OK);
    CHECK(orrery_value_int(orrery_value_member(orrery_response_json(item), "n")) == 3);
    unchanged.if_none_match = orrery_response_etag(item);
    CHECK(orrery_item_read(client, items, "1", &key, &unchanged, NULL) == ORRERY_NOT_MODIFIED);
    CHECK(orrery_item_read(client, items, "1", &other, NULL, NULL) == ORRERY_ENOTFOUND);
    CHECK(orrery_item_read(client, "dbs/none/colls/none", "1", &key, NULL, NULL) == ORRERY_ENOTFOUND);
    orrery_response_free(item);
}

static void keys_of_every_type(void)
{
    orrery_key levels[] = { orrery_key_text("caf\xc3\xa9 \xf0\x9f\x98\x80"), orrery_key_number(1.5) };
    orrery_key keys[] = { orrery_key_none(), orrery_key_null(), orrery_key_bool(1), orrery_key_number(-2.5),
                          orrery_key_text("\xe6\x97\xa5 \"x\"") };
    const char *documents[] = { "{\"id\":\"k\"}", "{\"id\":\"k\",\"pk\":null}", "{\"id\":\"k\",\"pk\":true}",
                                "{\"id\":\"k\",\"pk\":-2.5}",
                                "{\"id\":\"k\",\"pk\":\"\xe6\x97\xa5 \\\"x\\\"\"}" };
    orrery_key both = orrery_key_list(levels, 2), list = orrery_key_range(levels);

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        CHECK(orrery_item_create(client, items, documents[i], ORRERY_TEXT, NULL, NULL, NULL) == ORRERY_OK);
        CHECK(orrery_item_read(client, items, "k", &keys[i], NULL, NULL) == ORRERY_OK);
        CHECK(orrery_item_delete(client, items, "k", &keys[i], NULL, NULL) == ORRERY_OK);
    }
    CHECK(orrery_item_create(client, "dbs/drive/colls/levels",
                             "{\"id\":\"k\",\"a\":\"caf\xc3\xa9 \xf0\x9f\x98\x80\",\"b\":1.5}", ORRERY_TEXT,
                             NULL, NULL, NULL) == ORRERY_OK);
    CHECK(orrery_item_read(client, "/dbs/drive/colls/levels/", "k", &both, NULL, NULL) == ORRERY_OK);
    CHECK(orrery_item_read(client, items, "k", &list, NULL, NULL) == ORRERY_EINVAL);
    CHECK(orrery_item_read(client, items, "a/b", &both, NULL, NULL) == ORRERY_EINVAL);
    CHECK(orrery_item_read(client, items, "1", NULL, NULL, NULL) == ORRERY_EINVAL);
}

static void odd_ids(void)
{
    orrery_key key = orrery_key_text("odd");
    const char *ids[] = { "a b", "50%", "a?b&c=d+e", "\xc3\xa9t\xc3\xa9", "a;b,c@d" };

    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        char document[80];

        snprintf(document, sizeof(document), "{\"id\":\"%s\",\"pk\":\"odd\"}", ids[i]);
        CHECK(orrery_item_create(client, items, document, ORRERY_TEXT, &key, NULL, NULL) == ORRERY_OK);
        CHECK(orrery_item_read(client, items, ids[i], &key, NULL, NULL) == ORRERY_OK);
        CHECK(orrery_item_delete(client, items, ids[i], &key, NULL, NULL) == ORRERY_OK);
    }
}

static void patches(void)
{
    orrery_key key = orrery_key_text("a");
    orrery_response *item = NULL;
    orrery_patch *patch = NULL;

    orrery_patch_new(&patch);
    orrery_patch_increment(patch, "/n", 2);
    orrery_patch_set(patch, "/list", "[1,2]");
    orrery_patch_add(patch, "/list/-", "3");
    orrery_patch_move(patch, "/list", "/moved");
    orrery_patch_condition(patch, "from c where c.n = 3");
    CHECK(orrery_item_patch(client, items, "1", &key, patch, NULL, &item) == ORRERY_OK);
    CHECK(orrery_value_int(orrery_value_member(orrery_response_json(item), "n")) == 5);
    CHECK(orrery_value_count(orrery_value_member(orrery_response_json(item), "moved")) == 3);
    CHECK(orrery_item_patch(client, items, "1", &key, patch, NULL, NULL) == ORRERY_EPRECONDITION);
    orrery_patch_set(patch, "/x", "no json");
    CHECK(orrery_item_patch(client, items, "1", &key, patch, NULL, NULL) == ORRERY_EJSON);
    orrery_patch_free(patch);
    orrery_response_free(item);
}

static void batches(void)
{
    orrery_key key = orrery_key_text("batch");
    orrery_batch *batch = NULL;
    orrery_response *results = NULL;
    orrery_result result = { .size = sizeof(result) };

    orrery_batch_new(&batch);
    orrery_batch_create(batch, "{\"id\":\"1\",\"pk\":\"batch\"}", ORRERY_TEXT, NULL);
    orrery_batch_upsert(batch, "{\"id\":\"2\",\"pk\":\"batch\",\"n\":7}", ORRERY_TEXT, NULL);
    orrery_batch_read(batch, "2", NULL);
    CHECK(orrery_batch_run(client, items, &key, batch, NULL, &results) == ORRERY_OK);
    CHECK(orrery_batch_result(results, 2, &result) == ORRERY_OK && result.status == ORRERY_OK);
    CHECK(orrery_value_int(orrery_value_member(result.body, "n")) == 7);
    CHECK(orrery_batch_result(results, 3, &result) == ORRERY_EINVAL);
    orrery_response_free(results);
    results = NULL;
    CHECK(orrery_batch_run(client, items, &key, batch, NULL, &results) == ORRERY_EBATCH);
    CHECK(orrery_batch_result(results, 0, &result) == ORRERY_OK && result.status == ORRERY_ECONFLICT);
    CHECK(orrery_batch_result(results, 1, &result) == ORRERY_OK && result.http == 424);
    orrery_response_free(results);
    orrery_batch_free(batch);
}

static void bulks(void)
{
    orrery_key key = orrery_key_text("bulk 7");
    orrery_batch *batch = NULL;
    orrery_response *results = NULL;
    orrery_result result = { .size = sizeof(result) };
    char document[80];

    orrery_batch_new(&batch);
    for (int i = 0; i < 500; i++) {
        snprintf(document, sizeof(document), "{\"id\":\"%d\",\"pk\":\"bulk %d\",\"n\":%d}", i, i % 50, i);
        orrery_batch_create(batch, document, ORRERY_TEXT, NULL);
    }
    orrery_batch_read(batch, "7", &key);
    CHECK(orrery_bulk_run(client, items, batch, NULL, &results) == ORRERY_EBATCH || results);
    for (size_t i = 0; i < 500; i++)
        if (orrery_batch_result(results, i, &result) != ORRERY_OK || result.http != 201 ||
            orrery_value_int(orrery_value_member(result.body, "n")) != (int)i)
            CHECK(!"each result belongs to its operation");
    orrery_response_free(results);
    orrery_batch_free(batch);
    CHECK(orrery_item_read(client, items, "7", &key, NULL, NULL) == ORRERY_OK);
    batch = NULL;
    orrery_batch_new(&batch);
    orrery_batch_delete(batch, "7", NULL, &key);
    orrery_batch_delete(batch, "never", NULL, &key);
    results = NULL;
    CHECK(orrery_bulk_run(client, items, batch, NULL, &results) == ORRERY_EBATCH);
    CHECK(orrery_batch_result(results, 0, &result) == ORRERY_OK && result.http == 204);
    CHECK(orrery_batch_result(results, 1, &result) == ORRERY_OK && result.status == ORRERY_ENOTFOUND);
    orrery_response_free(results);
    orrery_batch_free(batch);
}

static size_t count_rows(orrery_query *query)
{
    size_t count = 0;

    while (query && orrery_query_step(query) == ORRERY_ROW)
        count++;
    return count;
}

static void lists_and_queries(void)
{
    orrery_options paged = { .size = sizeof(paged), .page_items = 100 };
    orrery_parameter parameters[] = { { "@pk", "\"bulk 3\"" }, { "@n", "100" } };
    orrery_key key = orrery_key_text("bulk 3");
    orrery_query *query = NULL;

    CHECK(orrery_list_open(client, "dbs/drive/colls", NULL, NULL, &query) == ORRERY_OK);
    CHECK(count_rows(query) == 2);
    orrery_query_close(query);
    CHECK(orrery_query_open(client, "dbs/drive/colls", "SELECT * FROM c WHERE c.id = 'items'", NULL, 0, NULL,
                            NULL, &query) == ORRERY_OK);
    CHECK(count_rows(query) == 1);
    orrery_query_close(query);
    CHECK(orrery_list_open(client, items, NULL, &paged, &query) == ORRERY_OK);
    CHECK(count_rows(query) > 499);
    orrery_query_close(query);
    CHECK(orrery_list_open(client, items, &key, NULL, &query) == ORRERY_OK);
    CHECK(count_rows(query) == 10);
    orrery_query_close(query);
    CHECK(orrery_query_open(client, items, "SELECT * FROM c WHERE c.pk = @pk AND c.n > @n", parameters, 2,
                            NULL, NULL, &query) == ORRERY_OK);
    CHECK(orrery_query_step(query) == ORRERY_ROW && strcmp(orrery_query_link(query), items) == 0);
    CHECK(1 + count_rows(query) == 8 && orrery_query_charge(query) > 0);
    orrery_query_close(query);
    CHECK(orrery_query_open(client, items, "SELECT * FRM c", NULL, 0, NULL, NULL, &query) == ORRERY_OK);
    CHECK(orrery_query_step(query) == ORRERY_EBADREQUEST);
    orrery_query_close(query);
    CHECK(orrery_query_open(client, "dbs/drive", "SELECT * FROM c", NULL, 0, NULL, NULL, &query) ==
          ORRERY_ENORESOLVER);
}

static int told;

static void count_told(orrery_client *client_of_it, void *context, orrery_status status,
                       orrery_response *response)
{
    told += client_of_it == client && status == ORRERY_OK && orrery_response_http(response) == 200 &&
            context == &told;
    orrery_response_free(response);
}

static void calls_that_do_not_wait(void)
{
    orrery_options later = { .size = sizeof(later), .done = count_told, .context = &told };
    orrery_key key = orrery_key_text("a");
    size_t under_way = 1;

    for (int i = 0; i < 100; i++)
        CHECK(orrery_item_read(client, items, "1", &key, &later, NULL) == ORRERY_OK);
    while (under_way > 0 && orrery_run(client, -1, &under_way) == ORRERY_OK)
        ;
    CHECK(told == 100);
}

static void queries_that_do_not_wait(void)
{
    orrery_options options = { .size = sizeof(options), .no_wait = 1, .parallel = 4, .page_items = 20 };
    orrery_query *query = NULL;
    orrery_status status;
    size_t rows = 0, waits = 0;

    CHECK(orrery_query_open(client, items, "SELECT * FROM c WHERE STARTSWITH(c.pk, 'bulk') ORDER BY c.n",
                            NULL, 0, NULL, &options, &query) == ORRERY_OK);
    while ((status = orrery_query_step(query)) == ORRERY_ROW || status == ORRERY_WAIT) {
        rows += status == ORRERY_ROW;
        waits += status == ORRERY_WAIT;
        if (status == ORRERY_WAIT)
            orrery_run(client, -1, NULL);
    }
    CHECK(status == ORRERY_DONE && rows == 499 && waits > 0);
    orrery_query_close(query);
}

static void changes(void)
{
    orrery_key key = orrery_key_text("fresh");
    orrery_query *query = NULL;
    size_t before;
    orrery_status status;

    CHECK(orrery_changes_open(client, items, NULL, ORRERY_FROM_BEGINNING, 0, NULL, &query) == ORRERY_OK);
    status = orrery_query_step(query);
    if (status == ORRERY_ESERVER) { /* a server without a change feed says so */
        orrery_query_close(query);
        return;
    }
    before = (status == ORRERY_ROW) + count_rows(query);
    CHECK(before > 499);
    CHECK(orrery_query_step(query) == ORRERY_DONE);
    CHECK(orrery_item_create(client, items, "{\"id\":\"new\",\"pk\":\"fresh\"}", ORRERY_TEXT, &key, NULL,
                             NULL) == ORRERY_OK);
    CHECK(orrery_query_step(query) == ORRERY_ROW);
    CHECK(orrery_value_equals(orrery_value_member(orrery_query_value(query), "id"), "new"));
    CHECK(orrery_query_step(query) == ORRERY_DONE);
    orrery_query_close(query);
}

static void scripts(void)
{
    orrery_key key = orrery_key_text("a");
    orrery_response *response = NULL;
    const char *script =
        "{\"id\":\"hello\",\"body\":\"function (who) { getContext().getResponse().setBody('hello ' + "
        "who); }\"}";
    orrery_status status;

    CHECK(orrery_create(client, "dbs/drive/colls/items/sprocs", script, ORRERY_TEXT, NULL, NULL) ==
          ORRERY_OK);
    status = orrery_procedure_run(client, "dbs/drive/colls/items/sprocs/hello", &key, "[\"you\"]", NULL,
                                  &response);
    if (status == ORRERY_ESERVER) /* a server without a script host says so */
        return;
    CHECK(status == ORRERY_OK);
    CHECK(strcmp(orrery_response_body(response, NULL), "\"hello you\"") == 0);
    orrery_response_free(response);
    CHECK(orrery_delete(client, "dbs/drive/colls/items/sprocs/hello", NULL, NULL) == ORRERY_OK);
}

/* Tokens are for those who come from outside: a database inside the program listens for them. */
static void resource_tokens(const char *endpoint, int direct)
{
    orrery_listen_settings listen = { .size = sizeof(listen), .address = "127.0.0.1:0", .no_tls = 1 };
    char url[96] = "http://";
    orrery_key key = orrery_key_text("a");
    orrery_settings settings = { .size = sizeof(settings),
                                 .endpoint = endpoint ? endpoint : url,
                                 .trust_any_certificate = 1,
                                 .direct = direct };
    orrery_response *permission = NULL;
    orrery_client *guest = NULL;

    if (!endpoint)
        CHECK(orrery_listen(client, &listen, url + 7, sizeof(url) - 7) == ORRERY_OK);
    CHECK(orrery_create(client, "dbs/drive/users", "{\"id\":\"ann\"}", ORRERY_TEXT, NULL, NULL) == ORRERY_OK);
    CHECK(orrery_create(client, "dbs/drive/users/ann/permissions",
                        "{\"id\":\"p\",\"permissionMode\":\"Read\",\"resource\":\"dbs/drive/colls/items\"}",
                        ORRERY_TEXT, NULL, &permission) == ORRERY_OK);
    settings.resource_token =
        orrery_value_text(orrery_value_member(orrery_response_json(permission), "_token"), NULL);
    CHECK(orrery_open(&settings, &guest) == ORRERY_OK);
    CHECK(orrery_item_read(guest, items, "1", &key, NULL, NULL) == ORRERY_OK);
    CHECK(orrery_item_delete(guest, items, "1", &key, NULL, NULL) == ORRERY_EUNAUTHORIZED);
    orrery_close(guest);
    orrery_response_free(permission);
}

/* Clients with one share use each other's connections, but not those that were made with less care. */
static void shared_connections(const char *endpoint, const char *key)
{
    orrery_settings settings = {
        .size = sizeof(settings), .endpoint = endpoint, .key = key, .retries_max = -1
    };
    orrery_client *one = NULL;

    CHECK(orrery_share_new(&settings.share) == ORRERY_OK);
    for (int i = 0; i < 4; i++) {
        settings.trust_any_certificate = i % 2 == 0;
        CHECK(orrery_open(&settings, &one) == ORRERY_OK);
        CHECK(orrery_read(one, "dbs/drive", NULL, NULL) ==
              (settings.trust_any_certificate ? ORRERY_OK : ORRERY_ECONNECT));
        orrery_close(one);
    }
    orrery_share_free(settings.share);
}

int main(int argc, char **argv)
{
    open_client(argc, argv);
    databases_and_containers();
    writes();
    reads();
    keys_of_every_type();
    odd_ids();
    patches();
    batches();
    bulks();
    lists_and_queries();
    calls_that_do_not_wait();
    queries_that_do_not_wait();
    changes();
    scripts();
    resource_tokens(argc > 2 ? argv[1] : NULL, settings_from(argc, argv).direct);
    if (argc > 2 && strncmp(argv[1], "https", 5) == 0) /* with a certificate that nobody vouches for */
        shared_connections(argv[1], argv[2]);
    CHECK(orrery_delete(client, "dbs/drive", NULL, NULL) == ORRERY_OK);
    orrery_close(client);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
