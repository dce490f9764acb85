/*
 * test/client/programs/grow.c - the parts of test/client/kill, each a process that may be ended at any moment.
 *     grow ENDPOINT KEY make             the database
 *     grow ENDPOINT KEY resize COUNT     the manager
 *     grow ENDPOINT KEY write NAME       creates until its input ends; prints each id once it is acknowledged
 *     grow ENDPOINT KEY read             every id that a list has, and whether it lies in its place
 */
#include <poll.h>
#include <string.h>

#include "../../../examples/example.h"

static const orrery_extractor by_id = { .size = sizeof(by_id), .property = "id" };

static orrery_manager_options arrangement(void)
{
    static const orrery_managed_options two = { .size = sizeof(two), .count = 2 };

    return (orrery_manager_options){ .size = sizeof(orrery_manager_options),
                                     .extractor = &by_id,
                                     .managed = &two,
                                     .owner = "grow",
                                     .refresh_ms = 50,
                                     .grace_ms = 1500 };
}

static void resize(size_t count)
{
    orrery_manager_options options = arrangement();
    orrery_manager *manager = NULL;

    must(orrery_manager_open(client, "dbs/grow", &options, &manager));
    must(orrery_manager_resize(manager, count, NULL));
    orrery_manager_close(manager);
}

static void follow(void)
{
    orrery_manager_options options = arrangement();
    orrery_resolver *resolver = NULL;

    must(orrery_resolver_follow(client, "dbs/grow", &options, &resolver));
    must(orrery_client_set_resolver(client, "dbs/grow", resolver));
    orrery_resolver_unref(resolver);
}

static int input_ended(void)
{
    struct pollfd input = { .fd = 0, .events = POLLIN };

    return poll(&input, 1, 0) != 0;
}

static void write_on(const char *name)
{
    char json[96];
    orrery_status status;

    follow();
    for (int i = 0; !input_ended(); i++) {
        snprintf(json, sizeof(json), "{\"id\":\"%s%d\",\"n\":%d}", name, i, i);
        status = orrery_item_create(client, "dbs/grow", json, ORRERY_TEXT, NULL, NULL, NULL);
        if (status == ORRERY_ETIMEOUT) /* a slow machine: it was not acknowledged */
            continue;
        must(status);
        printf("%s%d\n", name, i);
        fflush(stdout);
    }
}

/* Each id with the key that leads to it: one that lies in the wrong place is not found, and one that lies twice is twice. */
static void read_all(void)
{
    orrery_manager_options options = arrangement();
    orrery_resolver *resolver = NULL;
    orrery_query *query = NULL;
    orrery_status status;

    follow();
    must(orrery_resolver_follow(client, "dbs/grow", &options, &resolver));
    must(orrery_list_open(client, "dbs/grow", NULL, NULL, &query));
    while ((status = orrery_query_step(query)) == ORRERY_ROW) {
        const char *id = orrery_value_text(orrery_value_member(orrery_query_value(query), "id"), NULL);
        orrery_links *links = NULL;

        must(orrery_resolve_document(resolver, orrery_query_row(query, NULL), ORRERY_TEXT, &links));
        printf("%s%s\n", id,
               strcmp(orrery_links_at(links, 0), orrery_query_link(query)) == 0 ? "" : " misplaced");
        orrery_links_free(links);
    }
    must(status);
    orrery_query_close(query);
    orrery_resolver_unref(resolver);
}

int main(int argc, char **argv)
{
    orrery_settings settings = { .size = sizeof(settings),
                                 .endpoint = argc > 1 ? argv[1] : NULL,
                                 .key = argc > 2 ? argv[2] : NULL };
    const char *what = argc > 3 ? argv[3] : "";

    must(orrery_open(&settings, &client));
    if (strcmp(what, "make") == 0)
        must(orrery_database_create(client, "grow", NULL, NULL));
    else if (strcmp(what, "resize") == 0 && argc > 4)
        resize((size_t)strtoul(argv[4], NULL, 10));
    else if (strcmp(what, "write") == 0 && argc > 4)
        write_on(argv[4]);
    else
        read_all();
    orrery_close(client);
    return 0;
}
