/* client/dispatch.c - links of databases: which collection a document goes to. */
#include "client.h"

static bool is_database(const char *link)
{
    struct target target;
    struct arena arena;
    bool is;

    arena_init(&arena, SIZE_MAX);
    is = link && link_target(&arena, link, strlen(link), &target) == ORRERY_OK &&
         strcmp(target.type, "dbs") == 0 && target.sign.size > 0; /* "dbs" alone is the list of them */
    arena_free(&arena);
    return is;
}

orrery_status resolver_place(orrery_client *client, const char *link, const char *json, size_t size,
                             char **collection)
{
    (void)json, (void)size;
    *collection = NULL;
    if (!is_database(link))
        return ORRERY_OK;
    return client_fail(client, ORRERY_ENORESOLVER, "no resolver is registered for \"%s\"", link);
}

orrery_status resolver_open(orrery_client *client, const char *link, const char *sql,
                            const orrery_parameter *parameters, size_t count, const orrery_key *key,
                            const orrery_options *options, orrery_query **query)
{
    if (is_database(link))
        return client_fail(client, ORRERY_ENORESOLVER, "no resolver is registered for \"%s\"", link);
    return query_open_links(client, &link, 1, sql, parameters, count, key, options, query);
}

void resolver_forget_all(orrery_client *client)
{
    client->resolvers = NULL;
}
