/* test/client/programs/drive_headers.c - the calls that test/sdk/js/headers.cjs makes with the JavaScript SDK, in the same order.
 * usage: drive_headers ENDPOINT KEY */
#include "../../../examples/example.h"

static const char items[] = "dbs/headers/colls/items";

static void make(void)
{
    orrery_container container = { .size = sizeof(container), .id = "items", .partition_key = { "/pk" } };
    orrery_options offer = { .size = sizeof(offer), .throughput = 400 };

    must(orrery_database_create(client, "headers", NULL, NULL));
    must(orrery_container_create(client, "dbs/headers", &container, &offer, NULL));
    must(orrery_read(client, items, NULL, NULL));
}

static void use_items(void)
{
    orrery_key key = orrery_key_text("caf\xc3\xa9");
    const char *text = "{\"id\":\"1\",\"pk\":\"caf\xc3\xa9\"}";
    orrery_options star = { .size = sizeof(star), .if_match = "*" };
    orrery_patch *patch = NULL;

    must(orrery_item_create(client, items, text, ORRERY_TEXT, &key, NULL, NULL));
    must(orrery_item_upsert(client, items, text, ORRERY_TEXT, &key, NULL, NULL));
    must(orrery_item_read(client, items, "1", &key, NULL, NULL));
    must(orrery_item_replace(client, items, "1", text, ORRERY_TEXT, &key, &star, NULL));
    must(orrery_patch_new(&patch));
    orrery_patch_set(patch, "/n", "1");
    must(orrery_item_patch(client, items, "1", &key, patch, NULL, NULL));
    orrery_patch_free(patch);
}

static void drain(orrery_query *query)
{
    orrery_status status;

    while ((status = orrery_query_step(query)) == ORRERY_ROW)
        ;
    must(status);
    orrery_query_close(query);
}

static void use_cursors(void)
{
    orrery_key key = orrery_key_text("caf\xc3\xa9");
    orrery_options paged = { .size = sizeof(paged), .page_items = 5 };
    orrery_query *query = NULL;

    must(orrery_query_open(client, items, "SELECT * FROM c", NULL, 0, &key, &paged, &query));
    drain(query);
    must(orrery_query_open(client, "dbs", "SELECT * FROM d", NULL, 0, NULL, NULL, &query));
    drain(query);
    must(orrery_list_open(client, "dbs/headers/colls/items/sprocs", NULL, NULL, &query));
    drain(query);
}

static void use_batches(void)
{
    orrery_key key = orrery_key_text("caf\xc3\xa9");
    orrery_batch *batch = NULL;

    must(orrery_batch_new(&batch));
    orrery_batch_upsert(batch, "{\"id\":\"2\",\"pk\":\"caf\xc3\xa9\"}", ORRERY_TEXT, NULL);
    must(orrery_batch_run(client, items, &key, batch, NULL, NULL));
    orrery_batch_free(batch);
}

int main(int argc, char **argv)
{
    orrery_settings settings = { .size = sizeof(settings),
                                 .endpoint = argv[1],
                                 .key = argc > 2 ? argv[2] : NULL,
                                 .consistency = "Session" };
    orrery_key key = orrery_key_text("caf\xc3\xa9");

    if (argc < 3 || orrery_open(&settings, &client) != ORRERY_OK)
        return 2;
    make();
    use_items();
    use_cursors();
    use_batches();
    must(orrery_item_delete(client, items, "1", &key, NULL, NULL));
    must(orrery_delete(client, "dbs/headers", NULL, NULL));
    orrery_close(client);
    return 0;
}
