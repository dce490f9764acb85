/* client/dispatch.c - links of databases: which collections a document, a query or a list goes to. */
#include <assert.h>
#include <stdlib.h>

#include "client.h"
#include "resolver.h"

struct registered {
    struct registered *next;
    char *link; /* of the database, without slashes at its ends */
    orrery_resolver *resolver;
};

static struct registered **find(orrery_client *client, const char *link)
{
    struct registered **at = &client->resolvers;

    while (*at && !link_equal((*at)->link, link))
        at = &(*at)->next;
    return at;
}

static void forget(struct registered **at)
{
    struct registered *gone = *at;

    *at = gone->next;
    orrery_resolver_unref(gone->resolver);
    allocator_free(gone->link);
    allocator_free(gone);
}

static orrery_status add(orrery_client *client, struct registered **at, const char *link,
                         orrery_resolver *resolver)
{
    struct registered *made = allocator_get(sizeof(*made));
    struct slice trimmed = link_trim(link);

    if (made)
        *made = (struct registered){ .link = memory_text(trimmed) };
    if (!made || !made->link) {
        allocator_free(made);
        return client_no_memory(client);
    }
    made->resolver = orrery_resolver_ref(resolver);
    *at = made;
    return ORRERY_OK;
}

orrery_status orrery_client_set_resolver(orrery_client *client, const char *database_link,
                                         orrery_resolver *resolver)
{
    struct registered **at;

    if (!client)
        return ORRERY_EINVAL;
    if (!link_is_database(database_link))
        return client_refuse(client, ORRERY_ELINK, "\"%s\" is no link of a database",
                             database_link ? database_link : "");
    client_begin(client);
    at = find(client, database_link);
    if (!*at)
        return resolver ? add(client, at, database_link, resolver) : ORRERY_OK;
    if (!resolver) {
        forget(at);
        return ORRERY_OK;
    }
    orrery_resolver_ref(resolver);
    orrery_resolver_unref((*at)->resolver);
    (*at)->resolver = resolver;
    return ORRERY_OK;
}

void resolver_forget_all(orrery_client *client)
{
    while (client->resolvers)
        forget(&client->resolvers);
}

/*
 * NULL and ORRERY_OK: the link is no database's, and means itself. The caller gets a reference of its own: a
 * resolver that asks the server may be exchanged while it does.
 */
static orrery_status resolver_of(orrery_client *client, const char *link, orrery_resolver **resolver)
{
    struct registered *found;

    *resolver = NULL;
    if (!link_is_database(link))
        return ORRERY_OK;
    found = *find(client, link);
    if (!found)
        return client_refuse(client, ORRERY_ENORESOLVER, "no resolver is registered for \"%s\"", link);
    *resolver = orrery_resolver_ref(found->resolver);
    return ORRERY_OK;
}

/* A resolver that asks the server has the server's reason already. */
static orrery_status say_why(orrery_client *client, orrery_status status, const char *link)
{
    if (orrery_failed(status) && !*orrery_error(client))
        return client_fail(client, status, "the resolver of \"%s\": %s", link, orrery_status_text(status));
    return status;
}

orrery_status resolver_place(orrery_client *client, const char *link, struct slice document,
                             char **collection)
{
    orrery_resolver *resolver;
    orrery_links *links = NULL;
    orrery_status status = resolver_of(client, link, &resolver);

    *collection = NULL;
    if (!resolver)
        return status;
    client_begin(client);
    client->write_ms_max = 0;
    status = say_why(client, orrery_resolve_document(resolver, document.data, document.size, &links), link);
    if (status == ORRERY_OK) {
        *collection = memory_text(slice_of(orrery_links_at(links, 0)));
        if (!*collection)
            status = client_no_memory(client);
    }
    orrery_links_free(links);
    orrery_resolver_unref(resolver);
    return status;
}

/* Where to read: each collection once, however often the resolver names it. */
static orrery_status read_links(orrery_resolver *resolver, const orrery_key *key, orrery_links **once)
{
    orrery_links *links = NULL;
    orrery_status status = orrery_resolve_read(resolver, key, &links);

    if (status == ORRERY_OK)
        status = orrery_links_new(once);
    for (size_t i = 0; i < orrery_links_count(links) && status == ORRERY_OK; i++)
        status = orrery_links_add(*once, orrery_links_at(links, i));
    orrery_links_free(links);
    return status;
}

/* The key is for the resolver, and is not sent: the collections may be partitioned by something else. */
orrery_status resolver_open(orrery_client *client, const struct question *question, orrery_query **query)
{
    struct question asked = *question;
    const char *link = question->links[0];
    orrery_resolver *resolver;
    orrery_links *links = NULL;
    orrery_status status = resolver_of(client, link, &resolver);

    if (status != ORRERY_OK)
        return status;
    if (!resolver)
        return query_open_links(client, question, query);
    client_begin(client);
    status = say_why(client, read_links(resolver, question->key, &links), link);
    if (status == ORRERY_OK) {
        assert(links);
        asked.links = links->link;
        asked.link_count = links->count;
        asked.key = NULL;
        status = query_open_links(client, &asked, query);
    }
    orrery_links_free(links);
    orrery_resolver_unref(resolver);
    return status;
}
