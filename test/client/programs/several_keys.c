/*
 * test/client/programs/several_keys.c - collections of one database that are partitioned in different ways: each document is
 * found by a query over all of them, whatever the query says of the keys.
 * Asked of a server: several_keys ENDPOINT KEY. Ends with "N passed, M failed".
 */
#include <string.h>

#include "../../../examples/example.h"

enum { DOCUMENTS = 60, RANGES = 4 };

static int passed, failed;

/* By another path, by the first version of the hash, by several levels. */
static const char *const definitions[] = {
    "{\"id\":\"k0\",\"partitionKey\":{\"paths\":[\"/id\"],\"kind\":\"Hash\",\"version\":2}}",
    "{\"id\":\"k1\",\"partitionKey\":{\"paths\":[\"/u\"],\"kind\":\"Hash\",\"version\":2}}",
    "{\"id\":\"k2\",\"partitionKey\":{\"paths\":[\"/id\"],\"kind\":\"Hash\"}}",
    "{\"id\":\"k3\",\"partitionKey\":{\"paths\":[\"/g\",\"/id\"],\"kind\":\"MultiHash\",\"version\":2}}",
};

static const char *const links[] = { "dbs/keys/colls/k0", "dbs/keys/colls/k1", "dbs/keys/colls/k2",
                                     "dbs/keys/colls/k3" };

static void make_collections(void)
{
    orrery_options options = { .size = sizeof(options), .throughput = 10000 * RANGES };
    orrery_extractor by_id = { .size = sizeof(by_id), .property = "id" };
    orrery_resolver *resolver = NULL;

    orrery_delete(client, "dbs/keys", NULL, NULL);
    must(orrery_database_create(client, "keys", NULL, NULL));
    for (size_t i = 0; i < sizeof(definitions) / sizeof(definitions[0]); i++)
        must(orrery_create(client, "dbs/keys/colls", definitions[i], ORRERY_TEXT, &options, NULL));
    must(orrery_resolver_hash(&by_id, links, sizeof(links) / sizeof(links[0]), NULL, &resolver));
    must(orrery_client_set_resolver(client, "dbs/keys", resolver));
    orrery_resolver_unref(resolver);
}

static void make_documents(void)
{
    char json[128];

    for (int i = 0; i < DOCUMENTS; i++) {
        snprintf(json, sizeof(json), "{\"id\":\"d%d\",\"u\":%d,\"g\":\"%c\"}", i, i, "abc"[i % 3]);
        must(orrery_item_create(client, "dbs/keys", json, ORRERY_TEXT, NULL, NULL, NULL));
    }
}

/* Each id that the query finds, once. */
static void check(orrery_client *asks, const char *filter, int number, int parallel)
{
    orrery_options options = { .size = sizeof(options), .parallel = parallel };
    char sql[160], expected[32];
    orrery_query *query = NULL;
    int rows = 0, good = 1;
    orrery_status status;

    snprintf(sql, sizeof(sql), "SELECT VALUE c.id FROM c WHERE ");
    snprintf(sql + strlen(sql), sizeof(sql) - strlen(sql), filter, number);
    snprintf(expected, sizeof(expected), "\"d%d\"", number);
    must_of(orrery_query_open(asks, "dbs/keys", sql, NULL, 0, NULL, &options, &query), asks);
    while ((status = orrery_query_step(query)) == ORRERY_ROW) {
        good = good && strcmp(orrery_query_row(query, NULL), expected) == 0;
        rows++;
    }
    must_of(status, asks);
    orrery_query_close(query);
    good = good && rows == 1;
    passed += good;
    failed += !good;
    if (!good)
        printf("FAILED %s (parallel %d): %d rows\n", sql, parallel, rows);
}

/* A client that knows nothing of the collections yet, and the one that created in them. */
static void check_all(orrery_client *asks)
{
    static const char *const filters[] = { "c.id = 'd%d'", "c.u = %d", "c.id IN ('d%d', 'none')" };

    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
        for (int number = 0; number < DOCUMENTS; number++)
            check(asks, filters[i], number, number % 2 ? 3 : 0);
}

/* Another client of the same database. */
static orrery_client *open_fresh(int argc, char **argv)
{
    orrery_settings settings = settings_of_another(argc, argv);
    orrery_extractor by_id = { .size = sizeof(by_id), .property = "id" };
    orrery_resolver *resolver = NULL;
    orrery_client *fresh = NULL;

    must_of(orrery_open(&settings, &fresh), NULL);
    must_of(orrery_resolver_hash(&by_id, links, sizeof(links) / sizeof(links[0]), NULL, &resolver), fresh);
    must_of(orrery_client_set_resolver(fresh, "dbs/keys", resolver), fresh);
    orrery_resolver_unref(resolver);
    return fresh;
}

int main(int argc, char **argv)
{
    orrery_client *fresh;

    open_client(argc, argv);
    make_collections();
    make_documents();
    fresh = open_fresh(argc, argv);
    check_all(fresh);
    check_all(client);
    must(orrery_delete(client, "dbs/keys", NULL, NULL));
    orrery_close(fresh);
    orrery_close(client);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
