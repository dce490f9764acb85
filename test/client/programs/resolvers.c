/*
 * test/client/programs/resolvers.c - every kind of resolver on a server: documents are created through it, found by their
 * keys in one collection, and all of them by a list.
 * Asked of a server: resolvers ENDPOINT KEY. Ends with "N passed, M failed".
 */
#include <string.h>

#include "../../../examples/example.h"

enum { DOCUMENTS = 40 };

static const char database[] = "dbs/resolvers";
static const char *const links[] = { "dbs/resolvers/colls/c0", "dbs/resolvers/colls/c1",
                                     "dbs/resolvers/colls/c2" };
static const orrery_extractor by_user = { .size = sizeof(by_user), .property = "user" };
static const orrery_extractor by_number = { .size = sizeof(by_number), .property = "n" };
static const orrery_extractor by_id = { .size = sizeof(by_id), .property = "id" };
static int passed, failed;

static void tell(int good, const char *name, const char *what)
{
    passed += good;
    failed += !good;
    if (!good)
        printf("FAILED %s: %s\n", name, what);
}

static void make_collections(void)
{
    orrery_delete(client, database, NULL, NULL);
    must(orrery_database_create(client, "resolvers", NULL, NULL));
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        orrery_container container = { .size = sizeof(container),
                                       .id = strrchr(links[i], '/') + 1,
                                       .partition_key = { "/id" } };

        must(orrery_container_create(client, database, &container, NULL, NULL));
    }
}

/* ---- the kinds */

static orrery_status make_hash(orrery_resolver **resolver)
{
    return orrery_resolver_hash(&by_user, links, 3, NULL, resolver);
}

static orrery_status make_range(orrery_resolver **resolver)
{
    orrery_range ranges[] = { { orrery_key_number(0), orrery_key_number(9), links[0] },
                              { orrery_key_number(10), orrery_key_number(19), links[1] },
                              { orrery_key_number(20), orrery_key_number(99), links[2] } };

    return orrery_resolver_range(&by_number, ranges, 3, NULL, resolver);
}

static orrery_status make_lookup(orrery_resolver **resolver)
{
    static char names[DOCUMENTS][16];
    orrery_lookup rows[DOCUMENTS];

    for (int i = 0; i < DOCUMENTS; i++) {
        snprintf(names[i], sizeof(names[i]), "user%d", i);
        rows[i] = (orrery_lookup){ orrery_key_text(names[i]), links[i % 3] };
    }
    return orrery_resolver_lookup(&by_user, rows, DOCUMENTS, NULL, resolver);
}

static orrery_status make_kinds(orrery_resolver **resolver)
{
    orrery_resolver *hash = NULL, *range = NULL;
    orrery_status status = make_hash(&hash);

    if (status == ORRERY_OK)
        status = make_range(&range);
    if (status == ORRERY_OK) {
        orrery_kind kinds[] = { { .name = "even", .resolver = hash }, { .name = NULL, .resolver = range } };

        status = orrery_resolver_kinds("kind", kinds, 2, resolver);
    }
    orrery_resolver_unref(hash);
    orrery_resolver_unref(range);
    return status;
}

static orrery_status make_transition(orrery_resolver **resolver)
{
    orrery_resolver *two = NULL, *three = NULL;
    orrery_status status = orrery_resolver_hash(&by_user, links, 2, NULL, &two);

    if (status == ORRERY_OK)
        status = make_hash(&three);
    if (status == ORRERY_OK)
        status = orrery_resolver_transition(two, three, ORRERY_READ_BOTH, resolver);
    orrery_resolver_unref(two);
    orrery_resolver_unref(three);
    return status;
}

static orrery_status make_managed(orrery_resolver **resolver)
{
    orrery_managed_options options = { .size = sizeof(options), .count = 3, .prefix = "made" };

    return orrery_resolver_managed(client, database, &by_user, &options, resolver);
}

/* Of 4 KB each, looked at before every create: a document has about a quarter of that. */
static orrery_status make_spillover(orrery_resolver **resolver)
{
    orrery_spillover_options options = {
        .size = sizeof(options), .prefix = "spill", .check_seconds = -1, .quota_kb = 4
    };

    return orrery_resolver_spillover(client, database, &options, resolver);
}

static orrery_status make_follow(orrery_resolver **resolver)
{
    orrery_managed_options managed = { .size = sizeof(managed), .count = 2, .prefix = "follow" };
    orrery_manager_options options = { .size = sizeof(options), .extractor = &by_id, .managed = &managed };
    orrery_manager *manager = NULL;
    orrery_status status = orrery_manager_open(client, database, &options, &manager);

    orrery_manager_close(manager);
    return status == ORRERY_OK ? orrery_resolver_follow(client, database, &options, resolver) : status;
}

static const struct kind_of_resolver {
    const char *name;
    orrery_status (*make)(orrery_resolver **resolver);
    const char *key; /* the property that documents are found by; NULL: none */
    int collections; /* that have documents at the end, at least */
} kinds[] = {
    { "hash", make_hash, "user", 2 },           { "range", make_range, "n", 3 },
    { "lookup", make_lookup, "user", 3 },       { "kinds", make_kinds, NULL, 2 },
    { "transition", make_transition, NULL, 2 }, { "managed", make_managed, "user", 2 },
    { "spillover", make_spillover, NULL, 3 },   { "follow", make_follow, "id", 2 },
};

/* ---- what is done with each */

static void print_document(char *json, size_t size, const char *name, int i)
{
    char filling[1001];

    memset(filling, 'x', sizeof(filling) - 1);
    filling[sizeof(filling) - 1] = '\0';
    snprintf(json, size,
             "{\"id\":\"%s%d\",\"user\":\"user%d\",\"n\":%d,\"of\":\"%s\",\"kind\":\"%s\",\"f\":\"%s\"}",
             name, i, i, i, name, i % 2 ? "odd" : "even", filling);
}

/* Half of them one by one, half by a bulk. */
static void create_all(const char *name)
{
    orrery_batch *batch = NULL;
    orrery_response *response = NULL;
    char json[1400];

    must(orrery_batch_new(&batch));
    for (int i = 0; i < DOCUMENTS; i++) {
        print_document(json, sizeof(json), name, i);
        if (i < DOCUMENTS / 2)
            must(orrery_item_create(client, database, json, ORRERY_TEXT, NULL, NULL, NULL));
        else
            orrery_batch_create(batch, json, ORRERY_TEXT, NULL);
    }
    must(orrery_bulk_run(client, database, batch, NULL, &response));
    for (size_t i = 0; i < DOCUMENTS / 2; i++) {
        orrery_result result = { .size = sizeof(result) };
        char id[64];

        snprintf(id, sizeof(id), "%s%zu", name, DOCUMENTS / 2 + i);
        must(orrery_batch_result(response, i, &result));
        tell(result.http == 201 && orrery_value_equals(orrery_value_member(result.body, "id"), id), name,
             "a bulk's results are not in the order of its operations");
    }
    orrery_response_free(response);
    orrery_batch_free(batch);
}

/* A batch goes where the resolver wants its documents; one without documents goes nowhere. */
static void run_batch(const struct kind_of_resolver *kind)
{
    orrery_batch *batch = NULL;
    orrery_key key;
    char json[1400], id[64];

    snprintf(id, sizeof(id), "%s%d", kind->name, 1);
    key = orrery_key_text(id);
    print_document(json, sizeof(json), kind->name, 1);
    must(orrery_batch_new(&batch));
    orrery_batch_read(batch, id, NULL);
    tell(orrery_batch_run(client, database, &key, batch, NULL, NULL) == ORRERY_EINVAL, kind->name,
         "a batch without documents was placed");
    if (strcmp(kind->name, "spillover") != 0 && strcmp(kind->name, "transition") != 0) {
        orrery_batch_upsert(batch, json, ORRERY_TEXT, NULL);
        tell(orrery_batch_run(client, database, &key, batch, NULL, NULL) == ORRERY_OK, kind->name,
             "a batch did not find the document where the resolver puts it");
    }
    orrery_batch_free(batch);
}

static size_t count_rows(const char *name, const orrery_key *key, int number, int *collections)
{
    char sql[160], seen[64][64];
    orrery_query *query = NULL;
    size_t rows = 0;
    orrery_status status;

    snprintf(sql, sizeof(sql), "SELECT c.id FROM c WHERE c.of = '%s'", name);
    if (number >= 0)
        snprintf(sql + strlen(sql), sizeof(sql) - strlen(sql), " AND c.n = %d", number);
    must(orrery_query_open(client, database, sql, NULL, 0, key, NULL, &query));
    *collections = 0;
    while ((status = orrery_query_step(query)) == ORRERY_ROW) {
        int i = 0;

        rows++;
        while (i < *collections && strcmp(seen[i], orrery_query_link(query)) != 0)
            i++;
        if (i == *collections && i < 64)
            snprintf(seen[(*collections)++], sizeof(seen[0]), "%s", orrery_query_link(query));
    }
    must(status);
    orrery_query_close(query);
    return rows;
}

static void find_each(const struct kind_of_resolver *kind)
{
    int collections, good = 1;

    for (int i = 0; i < DOCUMENTS && kind->key; i++) {
        char text[64];
        orrery_key key = orrery_key_number(i);

        snprintf(text, sizeof(text), strcmp(kind->key, "id") == 0 ? "%s%d" : "user%.0s%d", kind->name, i);
        if (strcmp(kind->key, "n") != 0)
            key = orrery_key_text(text);
        good = good && count_rows(kind->name, &key, i, &collections) == 1;
    }
    tell(good, kind->name, "a document is not found by its key");
}

static void check(const struct kind_of_resolver *kind)
{
    orrery_resolver *resolver = NULL;
    int collections;

    must(kind->make(&resolver));
    must(orrery_client_set_resolver(client, database, resolver));
    create_all(kind->name);
    run_batch(kind);
    tell(count_rows(kind->name, NULL, -1, &collections) == DOCUMENTS, kind->name,
         "some documents are missed");
    tell(collections >= kind->collections, kind->name, "they are in too few collections");
    find_each(kind);
    orrery_resolver_unref(resolver);
}

int main(int argc, char **argv)
{
    open_client(argc, argv);
    make_collections();
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        check(&kinds[i]);
    must(orrery_delete(client, database, NULL, NULL));
    orrery_close(client);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
