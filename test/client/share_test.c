/* test/client/share_test.c - clients that know together: sessions, definitions, ranges, plans. */
#include <orrery.h>
#include <pthread.h>
#include <stdatomic.h>

#include "client.h"
#include "fake.h"
#include "test.h"

#define KEY "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="

enum { THREADS = 4, CALLS = 60 };

static const char items[] = "dbs/d/colls/c";

/* Each answer has a later session token; a container's definition says its key. */
static void answer(void *context, const char *request, struct fake_answer *answer)
{
    static char texts[64][512];
    atomic_int *count = context;
    int number = atomic_fetch_add(count, 1);
    const char *body =
        strncmp(request, "GET /dbs/d/colls/c ", 19) == 0
            ? "{\"id\":\"c\",\"_rid\":\"r\",\"partitionKey\":{\"paths\":[\"/pk\"],\"version\":2}}"
            : "{\"id\":\"1\"}";

    snprintf(texts[number % 64], sizeof(texts[0]),
             "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nx-ms-session-token: 0:-1#%d\r\n\r\n%s", strlen(body),
             number + 1, body);
    answer->bytes = texts[number % 64];
}

static orrery_client *open_with(struct fake *fake, orrery_share *share)
{
    orrery_settings settings = {
        .size = sizeof(settings), .endpoint = fake_url(fake), .key = KEY, .share = share
    };
    orrery_client *client = NULL;

    CHECK(orrery_open(&settings, &client) == ORRERY_OK);
    return client;
}

TEST(clients_with_one_share_read_what_the_others_wrote_and_know_what_they_asked)
{
    atomic_int count = 0;
    struct fake *fake = fake_start(answer, &count);
    orrery_share *share = NULL;
    orrery_client *a, *b, *other;

    REQUIRE(orrery_share_new(&share) == ORRERY_OK);
    a = open_with(fake, share);
    b = open_with(fake, share);
    other = open_with(fake, NULL);
    orrery_share_free(share);
    CHECK(orrery_item_create(a, items, "{\"id\":\"1\",\"pk\":1}", ORRERY_TEXT, NULL, NULL, NULL) ==
          ORRERY_OK);
    CHECK(orrery_item_create(b, items, "{\"id\":\"2\",\"pk\":1}", ORRERY_TEXT, NULL, NULL, NULL) ==
          ORRERY_OK);
    CHECK(fake_asked(fake) == 3); /* the definition once */
    CHECK(strstr(fake_request(fake, 2), "x-ms-session-token: 0:-1#2\r\n"));
    CHECK(strcmp(orrery_session_token(a, items), "0:-1#3") == 0 && !orrery_session_token(other, items));
    orrery_close(a);
    CHECK(strcmp(orrery_session_token(b, items), "0:-1#3") == 0);
    orrery_close(b);
    orrery_close(other);
    fake_stop(fake);
}

TEST(calls_that_wait_use_the_connections_that_other_clients_made)
{
    atomic_int count = 0;
    struct fake *fake = fake_start(answer, &count);
    orrery_share *share = NULL;
    orrery_key key = orrery_key_text("k");
    orrery_client *client, *other;

    REQUIRE(orrery_share_new(&share) == ORRERY_OK);
    for (int i = 0; i < 5; i++) { /* one that is closed leaves its connection, too */
        client = open_with(fake, share);
        other = open_with(fake, share);
        CHECK(orrery_item_read(client, items, "1", &key, NULL, NULL) == ORRERY_OK);
        CHECK(orrery_item_read(other, items, "1", &key, NULL, NULL) == ORRERY_OK);
        orrery_close(client);
        orrery_close(other);
    }
    CHECK(fake_connections(fake) == 1);
    client = open_with(fake, NULL);
    CHECK(orrery_item_read(client, items, "1", &key, NULL, NULL) == ORRERY_OK);
    CHECK(fake_connections(fake) == 2);
    orrery_close(client);
    orrery_share_free(share);
    fake_stop(fake);
}

static void *work(void *context)
{
    orrery_client *client = context;
    orrery_key key = orrery_key_text("k");

    for (int i = 0; i < CALLS; i++) {
        CHECK(orrery_item_create(client, items, "{\"id\":\"1\",\"pk\":1}", ORRERY_TEXT, NULL, NULL, NULL) ==
              ORRERY_OK);
        CHECK(orrery_session_token(client, items));
        if (i % 7 == 0)
            known_forget(client, slice_of(items));
        CHECK(orrery_item_read(client, items, "1", &key, NULL, NULL) == ORRERY_OK);
    }
    return NULL;
}

TEST(threads_with_a_client_each_may_share)
{
    atomic_int count = 0;
    struct fake *fake = fake_start(answer, &count);
    orrery_share *share = NULL;
    orrery_client *clients[THREADS];
    pthread_t threads[THREADS];
    char latest[32];

    REQUIRE(orrery_share_new(&share) == ORRERY_OK);
    for (int i = 0; i < THREADS; i++) {
        clients[i] = open_with(fake, share);
        REQUIRE(pthread_create(&threads[i], NULL, work, clients[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    snprintf(latest, sizeof(latest), "0:-1#%d", atomic_load(&count));
    CHECK(strcmp(orrery_session_token(clients[0], items), latest) ==
          0); /* the latest of all, whoever got it */
    for (int i = 0; i < THREADS; i++)
        orrery_close(clients[i]);
    orrery_share_free(share);
    fake_stop(fake);
}
