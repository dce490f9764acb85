/*
 * examples/inbox.c - several threads put messages into one database, which may be inside this program, and one reads them.
 *     cc examples/inbox.c -pthread $(pkg-config --cflags --libs orrery-embedded) -o inbox && ./inbox mail
 */
#include <pthread.h>

#include "example.h"

enum { SENDERS = 4, MESSAGES = 25 };

static const char inbox[] = "dbs/mail/colls/inbox";
static orrery_settings settings; /* of the senders' clients */

/* A client is one thread's: a sender opens its own, of the same database. Where that is inside, this costs microseconds. */
static void *send_messages(void *argument)
{
    orrery_client *mine = NULL;
    char json[96];

    must_of(orrery_open(&settings, &mine), NULL);
    for (int i = 0; i < MESSAGES; i++) {
        snprintf(json, sizeof(json), "{\"id\":\"%s-%d\",\"from\":\"%s\",\"number\":%d}", (char *)argument, i,
                 (char *)argument, i);
        must_of(orrery_item_create(mine, inbox, json, ORRERY_TEXT, NULL, NULL, NULL), mine);
    }
    orrery_close(mine);
    return NULL;
}

static void send_all(void)
{
    static char names[SENDERS][8] = { "ann", "bob", "cem", "dai" };
    pthread_t senders[SENDERS];

    for (int i = 0; i < SENDERS; i++)
        if (pthread_create(&senders[i], NULL, send_messages, names[i]) != 0)
            exit(1);
    for (int i = 0; i < SENDERS; i++)
        pthread_join(senders[i], NULL);
}

static void print_counts(void)
{
    orrery_query *query = NULL;
    orrery_status status;

    must(orrery_query_open(client, inbox,
                           "SELECT m[\"from\"] AS sender, COUNT(1) AS messages FROM m GROUP BY m[\"from\"]",
                           NULL, 0, NULL, NULL, &query));
    while ((status = orrery_query_step(query)) == ORRERY_ROW)
        puts(orrery_query_row(query, NULL));
    must(status);
    orrery_query_close(query);
}

/* What has come since the beginning, each message once. */
static int count_changes(void)
{
    orrery_query *query = NULL;
    int count = 0;

    must(orrery_changes_open(client, inbox, NULL, ORRERY_FROM_BEGINNING, 0, NULL, &query));
    while (orrery_query_step(query) == ORRERY_ROW)
        count++;
    orrery_query_close(query);
    return count;
}

int main(int argc, char **argv)
{
    orrery_container container = { .size = sizeof(container), .id = "inbox", .partition_key = { "/from" } };

    open_client(argc, argv);
    settings = settings_of_another(argc, argv);
    orrery_delete(client, "dbs/mail", NULL, NULL); /* from an earlier run */
    must(orrery_database_create(client, "mail", NULL, NULL));
    must(orrery_container_create(client, "dbs/mail", &container, NULL, NULL));
    send_all();
    print_counts();
    printf("%d messages\n", count_changes());
    must(orrery_delete(client, "dbs/mail", NULL, NULL));
    orrery_close(client);
    return 0;
}
