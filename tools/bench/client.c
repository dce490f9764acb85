/*
 * tools/bench/client.c - point reads by the client library beside bare libcurl that fetches the same bytes.
 * Both in one thread and one after another on one connection, in turns; what counts is this process's CPU time.
 * Then the same reads in Direct mode, one after another and many at a time; creates in bulk; documents that the manager moves.
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

static double by_library(orrery_client *of, int reads)
{
    orrery_key key = orrery_key_text("k");
    double began = cpu_seconds();

    for (int i = 0; i < reads; i++) {
        orrery_response *response = NULL;

        must(orrery_item_read(of, items, "1", &key, NULL, &response) == ORRERY_OK, "read");
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

/* ---- many at a time, by the clock on the wall */

enum { BULK_ITEMS = 50 * 1000, BULK_AT_A_TIME = 5000 };

static double wall_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Creates in the collection, in bulks. */
static void create_items(const char *link, int first, int count)
{
    orrery_batch *batch = NULL;
    orrery_response *response = NULL;
    char text[160];

    must(orrery_batch_new(&batch) == ORRERY_OK, "batch");
    for (int i = first; i < first + count; i++) {
        snprintf(text, sizeof(text),
                 "{\"id\":\"%d\",\"pk\":\"%d\",\"text\":\"a short document like many others\"}", i, i);
        orrery_batch_create(batch, text, ORRERY_TEXT, NULL);
    }
    must(orrery_bulk_run(client, link, batch, NULL, &response) == ORRERY_OK, "bulk");
    orrery_response_free(response);
    orrery_batch_free(batch);
}

/* ---- over HTTP and in Direct mode, in turns */

enum { IN_FLIGHT = 64 };

struct flight {
    int left; /* to be sent */
};

static void next_read(orrery_client *of, void *context, orrery_status status, orrery_response *response)
{
    struct flight *flight = context;
    orrery_key key = orrery_key_text("k");
    orrery_options options = { .size = sizeof(options), .done = next_read, .context = flight };

    must(status == ORRERY_OK, "read in flight");
    orrery_response_free(response);
    if (flight->left-- > 0)
        must(orrery_item_read(of, items, "1", &key, &options, NULL) == ORRERY_OK, "read in flight");
}

static void by_flight(orrery_client *of, int reads, double *cpu, double *wall)
{
    struct flight flight = { .left = reads };
    double began = wall_seconds(), used = cpu_seconds();
    size_t under_way = 1;

    for (int i = 0; i < IN_FLIGHT; i++)
        next_read(of, &flight, ORRERY_OK, NULL);
    while (under_way > 0)
        must(orrery_run(of, -1, &under_way) == ORRERY_OK, "run");
    *cpu += cpu_seconds() - used;
    *wall += wall_seconds() - began;
}

static void measure_direct(const orrery_settings *settings, int rounds, int reads)
{
    orrery_settings in_frames = *settings;
    orrery_client *sides[2] = { client, NULL };
    double alone[2] = { 0 }, cpu[2] = { 0 }, wall[2] = { 0 };

    in_frames.direct = 1;
    must(orrery_open(&in_frames, &sides[1]) == ORRERY_OK, "direct");
    for (int i = 0; i < rounds; i++)
        for (int side = 0; side < 2; side++) {
            alone[side] += by_library(sides[side], reads);
            by_flight(sides[side], reads, &cpu[side], &wall[side]);
        }
    printf("CPU of a read, direct by HTTP   one at a time %.2f   %d in flight %.2f (at most 1.00)\n",
           alone[1] / alone[0], IN_FLIGHT, cpu[1] / cpu[0]);
    printf("reads per second, %d in flight  HTTP %7.0f   direct %7.0f (at least that)\n", IN_FLIGHT,
           rounds * reads / wall[0], rounds * reads / wall[1]);
    orrery_close(sides[1]);
}

static void measure_bulk(void)
{
    double began = wall_seconds();

    for (int i = 0; i < BULK_ITEMS; i += BULK_AT_A_TIME)
        create_items(items, 1000 + i, BULK_AT_A_TIME);
    printf("creates in bulk per second      %7.0f (at least 25,000)\n",
           BULK_ITEMS / (wall_seconds() - began));
}

static void measure_manager(void)
{
    orrery_extractor by_id = { .size = sizeof(by_id), .property = "id" };
    orrery_managed_options one = { .size = sizeof(one), .count = 1 };
    orrery_manager_options options = {
        .size = sizeof(options), .extractor = &by_id, .managed = &one, .refresh_ms = 1, .grace_ms = 5
    };
    orrery_manager *manager = NULL;
    size_t moved = 0;
    double began;

    must(orrery_manager_open(client, "dbs/bench", &options, &manager) == ORRERY_OK, "manager");
    create_items("dbs/bench/colls/ManagedHashCollection.0", 0, BULK_AT_A_TIME * 4);
    began = wall_seconds();
    must(orrery_manager_resize(manager, 4, &moved) == ORRERY_OK, "resize");
    printf("documents moved per second      %7.0f (at least 5,000)\n",
           (double)moved / (wall_seconds() - began));
    orrery_manager_close(manager);
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
    by_library(client, reads);
    by_curl(&bare, reads);
    for (int i = 0; i < rounds; i++) {
        ours += by_library(client, reads);
        theirs += by_curl(&bare, reads);
    }
    printf("point reads per second of CPU   library %7.0f   bare libcurl %7.0f   ratio %.2f (at least 0.9)\n",
           rounds * reads / ours, rounds * reads / theirs, theirs / ours);
    bare_close(&bare);
    measure_direct(&settings, rounds, reads);
    measure_bulk();
    measure_manager();
    orrery_close(client);
    return 0;
}
