/*
 * examples/profiles.c - profiles by hash: from two collections to eight while others write, and none is lost.
 *     cc examples/profiles.c -pthread $(pkg-config --cflags --libs orrery) -o profiles && ./profiles http://localhost:8081 KEY
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "example.h"

enum { WRITERS = 2, PROFILES_FIRST = 120, PROFILES_MAX = 3000 };

static orrery_settings settings; /* of the writers' clients */
static const orrery_extractor by_user = { .size = sizeof(by_user), .property = "id" };
static atomic_bool finished;
static atomic_int written;

/* Two collections at first, partitioned by /id, whose clients look every tenth of a second whether that has changed. */
static orrery_manager_options arrangement(void)
{
    static const orrery_managed_options two = { .size = sizeof(two), .count = 2, .prefix = "profiles" };

    return (orrery_manager_options){ .size = sizeof(orrery_manager_options),
                                     .extractor = &by_user,
                                     .managed = &two,
                                     .refresh_ms = 100,
                                     .grace_ms = 4000 };
}

static void write_profile(orrery_client *of, int number)
{
    char json[96];

    snprintf(json, sizeof(json), "{\"id\":\"user%d\",\"name\":\"User number %d\"}", number, number);
    must_of(orrery_item_create(of, "dbs/people", json, ORRERY_TEXT, NULL, NULL, NULL), of);
}

/* A writer has a client of its own: example.h's is the main thread's. It knows only the database, and its resolver
   follows what the manager does. */
static void *write_on(void *argument)
{
    orrery_manager_options options = arrangement();
    orrery_client *mine = NULL;
    orrery_resolver *resolver = NULL;

    (void)argument;
    must_of(orrery_open(&settings, &mine), NULL);
    must_of(orrery_resolver_follow(mine, "dbs/people", &options, &resolver), mine);
    must_of(orrery_client_set_resolver(mine, "dbs/people", resolver), mine);
    orrery_resolver_unref(resolver);
    while (!finished && written < PROFILES_MAX)
        write_profile(mine, written++);
    orrery_close(mine);
    return NULL;
}

static int count_profiles(void)
{
    orrery_query *query = NULL;
    int count = -1;

    must(
        orrery_query_open(client, "dbs/people", "SELECT VALUE COUNT(1) FROM c", NULL, 0, NULL, NULL, &query));
    if (orrery_query_step(query) == ORRERY_ROW)
        count = (int)orrery_value_int(orrery_query_value(query));
    orrery_query_close(query);
    return count;
}

/* Each is found where its name leads. */
static int count_found(void)
{
    orrery_parameter parameter = { "@id", NULL };
    int found = 0;

    for (int i = 0; i < written; i++) {
        char id[32], json[40];
        orrery_query *query = NULL;
        orrery_key key;

        snprintf(id, sizeof(id), "user%d", i);
        snprintf(json, sizeof(json), "\"%s\"", id);
        parameter.value = json;
        key = orrery_key_text(id);
        must(orrery_query_open(client, "dbs/people", "SELECT VALUE c.id FROM c WHERE c.id = @id", &parameter,
                               1, &key, NULL, &query));
        while (orrery_query_step(query) == ORRERY_ROW)
            found++;
        orrery_query_close(query);
    }
    return found;
}

int main(int argc, char **argv)
{
    orrery_manager_options options = arrangement();
    orrery_manager *manager = NULL;
    pthread_t writers[WRITERS];
    size_t moved = 0;

    open_client(argc, argv);
    settings = settings_of_another(argc, argv);
    orrery_delete(client, "dbs/people", NULL, NULL); /* from an earlier run */
    must(orrery_database_create(client, "people", NULL, NULL));
    must(orrery_manager_open(client, "dbs/people", &options, &manager));
    while (written < PROFILES_FIRST)
        write_profile(client, written++);
    for (int i = 0; i < WRITERS; i++)
        pthread_create(&writers[i], NULL, write_on, NULL);
    must(orrery_manager_add(manager, &moved)); /* one more */
    printf("%zu collections\n", orrery_manager_count(manager));
    must(orrery_manager_resize(manager, 8, &moved)); /* and to eight at once */
    printf("%zu collections\n", orrery_manager_count(manager));
    finished = true;
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    printf("all there: %s\n", count_profiles() == written ? "yes" : "no");
    printf("each found once: %s\n", count_found() == written ? "yes" : "no");
    orrery_manager_close(manager);
    must(orrery_delete(client, "dbs/people", NULL, NULL));
    orrery_close(client);
    return 0;
}
