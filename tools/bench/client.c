/*
 * tools/bench/client.c - point reads by the client library beside bare libcurl that fetches the same bytes.
 * Both in one thread and one after another on one connection, in turns; what counts is this process's CPU time.
 * usage: bench-client ENDPOINT KEY [ROUNDS [READS]]
 */
#include <stdlib.h>
#include <time.h>

#include "client.h"

static const char items[] = "dbs/bench/colls/items";
static orrery_client *client;

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s: %s\n", what, orrery_error(client));
    exit(1);
}

static double cpu_seconds(void)
{
    struct timespec used;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

/* One item of a kilobyte. */
static void make_item(void)
{
    orrery_container container = { .size = sizeof(container), .id = "items", .partition_key = { "/pk" } };
    char text[1100], filling[1001];

    memset(filling, 'x', 1000);
    filling[1000] = '\0';
    snprintf(text, sizeof(text), "{\"id\":\"1\",\"pk\":\"k\",\"text\":\"%s\"}", filling);
    orrery_delete(client, "dbs/bench", NULL, NULL);
    must(orrery_database_create(client, "bench", NULL, NULL) == ORRERY_OK, "database");
    must(orrery_container_create(client, "dbs/bench", &container, NULL, NULL) == ORRERY_OK, "container");
    must(orrery_item_create(client, items, text, ORRERY_TEXT, NULL, NULL, NULL) == ORRERY_OK, "item");
}

static double by_library(int reads)
{
    orrery_key key = orrery_key_text("k");
    double began = cpu_seconds();

    for (int i = 0; i < reads; i++) {
        orrery_response *response = NULL;

        must(orrery_item_read(client, items, "1", &key, NULL, &response) == ORRERY_OK, "read");
        orrery_response_free(response);
    }
    return cpu_seconds() - began;
}

/* ---- the yardstick: the same request by one handle, signed once, the body into one piece of memory */

struct bare {
    CURL *easy;
    struct curl_slist *lines;
    char body[64 * 1024];
    size_t size;
};

static size_t take(char *bytes, size_t one, size_t size, void *user)
{
    struct bare *bare = user;

    if (bare->size + one * size > sizeof(bare->body))
        return 0;
    memcpy(bare->body + bare->size, bytes, one * size);
    bare->size += one * size;
    return one * size;
}

static void bare_open(struct bare *bare)
{
    orrery_key key = orrery_key_text("k");
    struct call *call = call_new(client, METHOD_GET, NULL);
    char url[256], session[256];

    must(call_child(call, items, "docs", "1") == ORRERY_OK && call_key(call, &key) == ORRERY_OK &&
             sign_request(client, call),
         "sign");
    for (char *at = call->head.data; at < call->head.data + call->head.size; at += strlen(at) + 1)
        bare->lines = curl_slist_append(bare->lines, at);
    bare->lines = curl_slist_append(bare->lines, call->date_line);
    bare->lines = curl_slist_append(bare->lines, call->authorization);
    snprintf(session, sizeof(session), "x-ms-session-token: %s", orrery_session_token(client, items));
    bare->lines = curl_slist_append(bare->lines, session);
    snprintf(url, sizeof(url), "%s%.*s", client->endpoint, SLICE_ARGS(call->target.path));
    call_free(call);
    bare->easy = curl_easy_init();
    curl_easy_setopt(bare->easy, CURLOPT_URL, url);
    curl_easy_setopt(bare->easy, CURLOPT_HTTPHEADER, bare->lines);
    curl_easy_setopt(bare->easy, CURLOPT_USERAGENT, client->user_agent);
    curl_easy_setopt(bare->easy, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(bare->easy, CURLOPT_WRITEDATA, bare);
}

static double by_curl(struct bare *bare, int reads)
{
    double began = cpu_seconds();

    for (int i = 0; i < reads; i++) {
        bare->size = 0;
        must(curl_easy_perform(bare->easy) == CURLE_OK && bare->size > 1000, "bare read");
    }
    return cpu_seconds() - began;
}

static void bare_close(struct bare *bare)
{
    curl_easy_cleanup(bare->easy);
    curl_slist_free_all(bare->lines);
}

int main(int argc, char **argv)
{
    orrery_settings settings = { .size = sizeof(settings),
                                 .endpoint = argv[1],
                                 .key = argc > 2 ? argv[2] : NULL };
    int rounds = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 100,
        reads = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 200;
    static struct bare bare;
    double ours = 0, theirs = 0;

    if (argc < 3 || orrery_open(&settings, &client) != ORRERY_OK)
        return 2;
    make_item();
    bare_open(&bare);
    by_library(reads);
    by_curl(&bare, reads);
    for (int i = 0; i < rounds; i++) {
        ours += by_library(reads);
        theirs += by_curl(&bare, reads);
    }
    printf("point reads per second of CPU   library %7.0f   bare libcurl %7.0f   ratio %.2f (at least 0.8)\n",
           rounds * reads / ours, rounds * reads / theirs, theirs / ours);
    bare_close(&bare);
    orrery_close(client);
    return 0;
}
