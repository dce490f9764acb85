/*
 * test/client/programs/drive_many.c - calls that say several requests in one word, and every version of a change feed.
 * Asked of a server: drive_many ENDPOINT KEY. Ends with "N passed, M failed".
 */
#include <string.h>

#include "../../../examples/example.h"

static const char items[] = "dbs/many/colls/items";
static int passed, failed;

static void tell(int good, const char *what)
{
    passed += good;
    failed += !good;
    if (!good)
        printf("FAILED %s: %s\n", what, orrery_error(client));
}

static void create_if_missing(void)
{
    static const char *const database = "{\"id\":\"many\"}";
    static const char *const container =
        "{\"id\":\"items\",\"partitionKey\":{\"paths\":[\"/pk\"],\"kind\":\"Hash\"},"
        "\"changeFeedPolicy\":{\"retentionDuration\":10}}";

    for (int expected = 201; expected >= 200; expected--) {
        orrery_response *response = NULL;
        orrery_options options = { .size = sizeof(options), .throughput = 30000 };

        must(orrery_create_if_missing(client, "dbs", database, ORRERY_TEXT, NULL, &response));
        tell(orrery_response_http(response) == expected, "a database that is missing is made once");
        orrery_response_free(response);
        must(orrery_create_if_missing(client, "dbs/many/colls", container, ORRERY_TEXT, &options, &response));
        tell(orrery_response_http(response) == expected, "a container that is missing is made once");
        orrery_response_free(response);
    }
    tell(orrery_create_if_missing(client, "dbs", "{}", ORRERY_TEXT, NULL, NULL) == ORRERY_EJSON, "no id");
}

static void create_items(void)
{
    char json[64];

    for (int i = 0; i < 40; i++) {
        snprintf(json, sizeof(json), "{\"id\":\"%d\",\"pk\":\"p%d\"}", i, i % 8);
        must(orrery_item_create(client, items, json, ORRERY_TEXT, NULL, NULL, NULL));
    }
}

static void read_many(void)
{
    orrery_identity wanted[30];
    char ids[30][8], keys[30][8];
    orrery_response *response = NULL;
    orrery_value documents;
    int good = 1;

    for (int i = 0; i < 30; i++) { /* every second one is of another key, and so not there */
        snprintf(ids[i], sizeof(ids[i]), "%d", 39 - i);
        snprintf(keys[i], sizeof(keys[i]), "p%d", i % 2 ? (39 - i) % 8 : 99);
        wanted[i] = (orrery_identity){ ids[i], orrery_key_text(keys[i]) };
    }
    must(orrery_read_many(client, items, wanted, 30, NULL, &response));
    documents = orrery_value_member(orrery_response_json(response), "Documents");
    tell(orrery_value_count(documents) == 15, "those that are there are found");
    for (size_t i = 0; i < 15; i++)
        good = good && orrery_value_equals(orrery_value_member(orrery_value_element(documents, i), "id"),
                                           ids[2 * i + 1]);
    tell(good, "in the order in which they were asked for");
    orrery_response_free(response);
}

static size_t count_items(void)
{
    orrery_query *query = NULL;
    orrery_status status;
    size_t count = 0;

    must(orrery_list_open(client, items, NULL, NULL, &query));
    while ((status = orrery_query_step(query)) == ORRERY_ROW)
        count++;
    must(status);
    orrery_query_close(query);
    return count;
}

static void delete_key(void)
{
    orrery_key key = orrery_key_text("p3");

    must(orrery_items_delete(client, items, &key, NULL, NULL));
    tell(count_items() == 35, "all items of the key are deleted, and no others");
}

static void all_versions(void)
{
    orrery_options options = { .size = sizeof(options), .all_versions = 1 };
    orrery_key key = orrery_key_text("v");
    orrery_query *query = NULL;
    orrery_status status;
    int rows = 0, deletes = 0;

    must(orrery_changes_open(client, items, NULL, ORRERY_FROM_NOW, 0, &options, &query));
    while ((status = orrery_query_step(query)) == ORRERY_ROW)
        ;
    must(status);
    must(orrery_item_create(client, items, "{\"id\":\"v\",\"pk\":\"v\",\"n\":1}", ORRERY_TEXT, &key, NULL,
                            NULL));
    must(orrery_item_upsert(client, items, "{\"id\":\"v\",\"pk\":\"v\",\"n\":2}", ORRERY_TEXT, &key, NULL,
                            NULL));
    must(orrery_item_delete(client, items, "v", &key, NULL, NULL));
    while ((status = orrery_query_step(query)) == ORRERY_ROW) {
        orrery_value metadata = orrery_value_member(orrery_query_value(query), "metadata");

        rows++;
        deletes += orrery_value_equals(orrery_value_member(metadata, "operationType"), "delete");
    }
    must(status);
    orrery_query_close(query);
    tell(rows == 3 && deletes == 1, "every version of an item, and its deletion");
}

struct ended {
    int times;
    orrery_status status;
};

static void has_ended(orrery_client *client_of_it, void *context, orrery_status status,
                      orrery_response *response)
{
    struct ended *ended = context;

    (void)client_of_it;
    ended->times++;
    ended->status = status;
    orrery_response_free(response);
}

static void cancel(void)
{
    struct ended one = { .times = 0 }, other = { .times = 0 };
    orrery_options options = { .size = sizeof(options), .done = has_ended, .context = &one };
    orrery_key key = orrery_key_text("p1");
    size_t under_way = 1;

    must(orrery_item_read(client, items, "1", &key, &options, NULL));
    options.context = &other;
    must(orrery_item_read(client, items, "1", &key, &options, NULL));
    tell(orrery_cancel(client, &one) == 1 && orrery_cancel(client, &one) == 0, "a call is cancelled once");
    while (under_way > 0)
        must(orrery_run(client, 1000, &under_way));
    tell(one.times == 1 && one.status == ORRERY_ECANCELED, "who is told so");
    tell(other.times == 1 && other.status == ORRERY_OK, "and no other is cancelled");
}

int main(int argc, char **argv)
{
    open_client(argc, argv);
    orrery_delete(client, "dbs/many", NULL, NULL);
    create_if_missing();
    create_items();
    read_many();
    delete_key();
    all_versions();
    cancel();
    must(orrery_delete(client, "dbs/many", NULL, NULL));
    orrery_close(client);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
