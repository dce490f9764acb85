/*
 * examples/regions.c - a resolver of one's own: the region says which country's collections, a hash which of them.
 *     cc examples/regions.c $(pkg-config --cflags --libs orrery) -o regions && ./regions http://localhost:8081 KEY
 */
#include <string.h>

#include "example.h"

/* ---- the resolver: it knows the regions, and asks another resolver for the place within one */

static const char *const names[] = { "eu", "us" };

struct regions {
    orrery_resolver *within[2];
};

/* A key of ours is "eu/ann": the region, and what the region's own resolver goes by. */
static orrery_status region_key(void *self, orrery_value document, orrery_held_key *key)
{
    const char *region = orrery_value_text(orrery_value_member(document, "region"), NULL);
    const char *user = orrery_value_text(orrery_value_member(document, "user"), NULL);
    char text[128];
    orrery_key found;

    (void)self;
    if (!*region || !*user || snprintf(text, sizeof(text), "%s/%s", region, user) >= (int)sizeof(text))
        return ORRERY_ENOKEY;
    found = orrery_key_text(text);
    return orrery_held_key_put(key, &found);
}

static orrery_status ask(orrery_resolver *resolver, const orrery_key *key, orrery_links *links)
{
    orrery_links *found = NULL;
    orrery_status status = orrery_resolve_read(resolver, key, &found);

    for (size_t i = 0; i < orrery_links_count(found) && status == ORRERY_OK; i++)
        status = orrery_links_add(links, orrery_links_at(found, i));
    orrery_links_free(found);
    return status;
}

/* "eu/ann" asks one collection, "eu/" those of the region, no key all. */
static orrery_status region_links(void *self, const orrery_key *key, orrery_links *links)
{
    struct regions *regions = self;
    orrery_status status = ORRERY_ENORANGE;

    if (key->type == ORRERY_KEY_NONE)
        status = ask(regions->within[0], NULL, links) == ORRERY_OK ? ask(regions->within[1], NULL, links)
                                                                   : ORRERY_ENOMEM;
    for (int i = 0; i < 2 && key->type == ORRERY_KEY_TEXT; i++) {
        size_t size = strlen(names[i]) + 1;
        orrery_key user = orrery_key_bytes(key->text + size, key->size - size);

        if (key->size >= size && strncmp(key->text, names[i], size - 1) == 0)
            status = ask(regions->within[i], user.size ? &user : NULL, links);
    }
    return status;
}

static void region_destroy(void *self)
{
    struct regions *regions = self;

    orrery_resolver_unref(regions->within[0]);
    orrery_resolver_unref(regions->within[1]);
}

static const orrery_resolver_vtbl region_calls = {
    .size = sizeof(region_calls), region_key, region_links, region_links, NULL, region_destroy
};

/* ---- and how it is used */

static void make_collections(void)
{
    static const char *const ids[] = { "eu0", "eu1", "us0", "us1" };
    orrery_container container = { .size = sizeof(container), .partition_key = { "/user" } };

    orrery_delete(client, "dbs/world", NULL, NULL); /* from an earlier run */
    must(orrery_database_create(client, "world", NULL, NULL));
    for (int i = 0; i < 4; i++) {
        container.id = ids[i];
        must(orrery_container_create(client, "dbs/world", &container, NULL, NULL));
    }
}

static void register_regions(struct regions *regions)
{
    static const char *const links[] = { "dbs/world/colls/eu0", "dbs/world/colls/eu1", "dbs/world/colls/us0",
                                         "dbs/world/colls/us1" };
    orrery_extractor by_user = { .size = sizeof(by_user), .property = "user" };
    orrery_resolver *resolver = NULL;

    must(orrery_resolver_hash(&by_user, &links[0], 2, NULL, &regions->within[0]));
    must(orrery_resolver_hash(&by_user, &links[2], 2, NULL, &regions->within[1]));
    must(orrery_resolver_custom(&region_calls, regions, &resolver));
    must(orrery_client_set_resolver(client, "dbs/world", resolver));
    orrery_resolver_unref(resolver);
}

static void count(const char *what, const char *text)
{
    orrery_key key = orrery_key_text(text);
    orrery_query *query = NULL;

    must(orrery_query_open(client, "dbs/world", "SELECT VALUE COUNT(1) FROM c", NULL, 0, text ? &key : NULL,
                           NULL, &query));
    if (orrery_query_step(query) == ORRERY_ROW)
        printf("%s: %s\n", what, orrery_query_row(query, NULL));
    orrery_query_close(query);
}

int main(int argc, char **argv)
{
    struct regions regions = { { NULL, NULL } };
    char json[128];

    open_client(argc, argv);
    make_collections();
    register_regions(&regions);
    for (int i = 0; i < 30; i++) {
        snprintf(json, sizeof(json), "{\"id\":\"%d\",\"region\":\"%s\",\"user\":\"user%d\"}", i,
                 names[i % 3 == 0], i % 10);
        must(orrery_item_create(client, "dbs/world", json, ORRERY_TEXT, NULL, NULL, NULL));
    }
    count("in Europe", "eu/");
    count("in the United States", "us/");
    count("everywhere", NULL);
    printf("elsewhere: %s\n", orrery_status_text(orrery_item_create(
                                  client, "dbs/world", "{\"id\":\"x\",\"region\":\"moon\",\"user\":\"neil\"}",
                                  ORRERY_TEXT, NULL, NULL, NULL)));
    must(orrery_delete(client, "dbs/world", NULL, NULL));
    orrery_close(client);
    return 0;
}
