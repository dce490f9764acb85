/*
 * test/client/programs/drive_faults.c - one call of a kind for each line of input; prints the statuses that it ended with.
 *     drive_faults ENDPOINT KEY
 *     <kind> <waits|later> <id> <ms>     "<status>", or of a bulk one for each operation
 *     resize <database> <count>      the manager: "<status>"
 *     fill <database> <count>        documents through the manager's resolver
 */
#include <string.h>

#include "../../../examples/example.h"

enum { BULK_ITEMS = 120 };

static const char items[] = "dbs/faults/colls/items";

struct asked {
    char id[64], json[512];
    orrery_key key;
    orrery_options options;
    int has_ended;
    orrery_status status;
    orrery_response *response;
};

static orrery_status do_create(struct asked *asked)
{
    return orrery_item_create(client, items, asked->json, ORRERY_TEXT, &asked->key, &asked->options, NULL);
}

/* Without an id: the library makes one, and a second write would be another document. */
static orrery_status do_unnamed(struct asked *asked)
{
    snprintf(asked->json, sizeof(asked->json), "{\"pk\":\"k\",\"mark\":\"%s\"}", asked->id);
    return orrery_item_upsert(client, items, asked->json, ORRERY_TEXT, NULL, &asked->options, NULL);
}

static orrery_status do_upsert(struct asked *asked)
{
    return orrery_item_upsert(client, items, asked->json, ORRERY_TEXT, &asked->key, &asked->options, NULL);
}

static orrery_status do_replace(struct asked *asked)
{
    return orrery_item_replace(client, items, asked->id, asked->json, ORRERY_TEXT, &asked->key,
                               &asked->options, NULL);
}

static orrery_status do_delete(struct asked *asked)
{
    return orrery_item_delete(client, items, asked->id, &asked->key, &asked->options, NULL);
}

static orrery_status do_read(struct asked *asked)
{
    return orrery_item_read(client, items, asked->id, &asked->key, &asked->options, NULL);
}

static orrery_status do_patch(struct asked *asked)
{
    orrery_patch *patch = NULL;
    orrery_status status;

    orrery_patch_new(&patch);
    orrery_patch_increment(patch, "/n", 1);
    status = orrery_item_patch(client, items, asked->id, &asked->key, patch, &asked->options, NULL);
    orrery_patch_free(patch);
    return status;
}

/* An increment and a create, both or none. */
static orrery_status do_batch(struct asked *asked)
{
    orrery_batch *batch = NULL;
    orrery_patch *patch = NULL;
    orrery_status status;

    snprintf(asked->json, sizeof(asked->json), "{\"id\":\"%s-b\",\"pk\":\"k\"}", asked->id);
    orrery_patch_new(&patch);
    orrery_patch_increment(patch, "/n", 1);
    orrery_batch_new(&batch);
    orrery_batch_patch(batch, asked->id, patch, NULL, NULL);
    orrery_batch_create(batch, asked->json, ORRERY_TEXT, NULL);
    status = orrery_batch_run(client, items, &asked->key, batch, &asked->options, NULL);
    orrery_batch_free(batch);
    orrery_patch_free(patch);
    return status;
}

/* The same under a token: it is sent again until its outcome is known. */
static orrery_status do_transaction(struct asked *asked)
{
    orrery_transaction *transaction = NULL;
    orrery_patch *patch = NULL;
    orrery_status status;

    snprintf(asked->json, sizeof(asked->json), "{\"id\":\"%s-b\",\"pk\":\"k\"}", asked->id);
    orrery_patch_new(&patch);
    orrery_patch_increment(patch, "/n", 1);
    orrery_transaction_new(&transaction);
    orrery_transaction_patch(transaction, items, asked->id, patch, NULL, &asked->key);
    orrery_transaction_create(transaction, items, asked->json, ORRERY_TEXT, &asked->key);
    status = orrery_transaction_run(client, transaction, &asked->options, NULL);
    orrery_transaction_free(transaction);
    orrery_patch_free(patch);
    return status;
}

static orrery_status rows_of(orrery_status status, orrery_query *query)
{
    while (status == ORRERY_OK || status == ORRERY_ROW)
        status = orrery_query_step(query);
    orrery_query_close(query);
    return status == ORRERY_DONE ? ORRERY_OK : status;
}

static orrery_status do_query(struct asked *asked)
{
    orrery_options options = {
        .size = sizeof(options), .timeout_ms = asked->options.timeout_ms, .page_items = 20, .parallel = 2
    };
    orrery_query *query = NULL;
    orrery_status status =
        orrery_query_open(client, items, "SELECT VALUE c.id FROM c", NULL, 0, NULL, &options, &query);

    return rows_of(status, query);
}

static orrery_status do_changes(struct asked *asked)
{
    orrery_options options = { .size = sizeof(options),
                               .timeout_ms = asked->options.timeout_ms,
                               .page_items = 100 };
    orrery_query *query = NULL;
    orrery_status status =
        orrery_changes_open(client, items, NULL, ORRERY_FROM_BEGINNING, 0, &options, &query);

    return rows_of(status, query);
}

/* Creates, and of the first half of them an increment each, which stands behind its create. */
static orrery_status do_bulk(struct asked *asked)
{
    orrery_batch *batch = NULL;
    orrery_patch *patch = NULL;
    orrery_status status;

    orrery_patch_new(&patch);
    orrery_patch_increment(patch, "/n", 1);
    orrery_batch_new(&batch);
    for (int i = 0; i < BULK_ITEMS; i++) {
        char id[96], json[256];
        orrery_key key;

        snprintf(id, sizeof(id), "%s-%d", asked->id, i / 2);
        key = orrery_key_text(id);
        snprintf(json, sizeof(json), "{\"id\":\"%s\",\"pk\":\"%s\",\"n\":0}", id, id);
        if (i % 2 == 0)
            orrery_batch_create(batch, json, ORRERY_TEXT, &key);
        else
            orrery_batch_patch(batch, id, patch, NULL, &key);
    }
    status =
        orrery_bulk_run(client, items, batch, &asked->options, asked->options.done ? NULL : &asked->response);
    orrery_batch_free(batch);
    orrery_patch_free(patch);
    return status;
}

struct kind {
    const char *name;
    orrery_status (*run)(struct asked *asked);
};

static const struct kind kinds[] = {
    { "create", do_create },   { "unnamed", do_unnamed }, { "upsert", do_upsert },
    { "replace", do_replace }, { "delete", do_delete },   { "read", do_read },
    { "patch", do_patch },     { "batch", do_batch },     { "query", do_query },
    { "changes", do_changes }, { "bulk", do_bulk },       { "transaction", do_transaction },
};

static void has_ended(orrery_client *client_of_it, void *context, orrery_status status,
                      orrery_response *response)
{
    struct asked *asked = context;

    (void)client_of_it;
    asked->status = status;
    asked->response = response;
    asked->has_ended = 1;
}

/* Of a bulk that came to results: a status for each operation. */
static void tell(struct asked *asked)
{
    orrery_result result = { .size = sizeof(result) };

    if (asked->status != ORRERY_EBATCH || !asked->response) {
        printf("%d\n", asked->status);
        return;
    }
    for (size_t i = 0; orrery_batch_result(asked->response, i, &result) == ORRERY_OK; i++)
        printf("%d ", result.status);
    printf("\n");
}

static void call(const struct kind *kind, const char *mode, const char *id, int time_ms)
{
    struct asked asked = { .key = orrery_key_text("k") };

    asked.options = (orrery_options){ .size = sizeof(asked.options), .timeout_ms = time_ms };
    snprintf(asked.id, sizeof(asked.id), "%s", id);
    snprintf(asked.json, sizeof(asked.json), "{\"id\":\"%s\",\"pk\":\"k\",\"n\":1}", id);
    if (strcmp(mode, "later") == 0) {
        asked.options.done = has_ended;
        asked.options.context = &asked;
    }
    asked.status = kind->run(&asked);
    while (asked.options.done && asked.status == ORRERY_OK && !asked.has_ended)
        must(orrery_run(client, 1000, NULL));
    tell(&asked);
    orrery_response_free(asked.response);
}

static orrery_status open_manager(const char *database, orrery_manager **manager)
{
    static const orrery_extractor by_id = { .size = sizeof(by_id), .property = "id" };
    static const orrery_managed_options two = { .size = sizeof(two), .count = 2 };
    orrery_manager_options options = { .size = sizeof(options),
                                       .extractor = &by_id,
                                       .managed = &two,
                                       .owner = "faults",
                                       .refresh_ms = 1,
                                       .grace_ms = 10 };

    return orrery_manager_open(client, database, &options, manager);
}

static void resize(const char *database, size_t count)
{
    orrery_manager *manager = NULL;
    orrery_status status = open_manager(database, &manager);

    if (status == ORRERY_OK)
        status = orrery_manager_resize(manager, count, NULL);
    orrery_manager_close(manager);
    printf("%d\n", status);
}

static void fill(const char *database, int count)
{
    orrery_manager *manager = NULL;

    must(open_manager(database, &manager));
    for (int i = 0; i < count; i++) {
        char json[64];

        snprintf(json, sizeof(json), "{\"id\":\"d%d\",\"n\":%d}", i, i);
        must(orrery_item_create(client, database, json, ORRERY_TEXT, NULL, NULL, NULL));
    }
    orrery_manager_close(manager);
    printf("0\n");
}

static void obey(const char *what, const char *how, const char *which, int time_ms)
{
    if (strcmp(what, "resize") == 0) {
        resize(how, strtoul(which, NULL, 10));
        return;
    }
    if (strcmp(what, "fill") == 0) {
        fill(how, atoi(which));
        return;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, what) == 0)
            call(&kinds[i], how, which, time_ms);
}

int main(int argc, char **argv)
{
    orrery_settings settings = { .size = sizeof(settings),
                                 .endpoint = argc > 1 ? argv[1] : NULL,
                                 .key = argc > 2 ? argv[2] : NULL,
                                 .direct = argc > 3 && strcmp(argv[3], "direct") == 0 };
    char line[256], what[64], how[64], which[64];
    int time_ms = 0;

    must(orrery_open(&settings, &client));
    while (fgets(line, sizeof(line), stdin) &&
           sscanf(line, "%63s %63s %63s %d", what, how, which, &time_ms) >= 3) {
        obey(what, how, which, time_ms);
        fflush(stdout);
    }
    orrery_close(client);
    return 0;
}
