/*
 * tools/bench/embedded.c - the database inside the program: memory of an empty one, point reads and durable creates of
 * 1 KB, one thread. What counts is the quickest round: the machine has other things to do.
 * usage: bench-embedded DIRECTORY [ROUNDS [READS [CREATES]]], or bench-embedded --rss DIRECTORY
 *        bench-embedded --threads DIRECTORY ROUNDS READS THREADS   point reads by so many threads, each with a client of its own
 *        bench-embedded ENDPOINT KEY ROUNDS READS CREATES   the same calls of a server
 */
#include <linux/perf_event.h>
#include <orrery.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char items[] = "dbs/bench/colls/items";
static _Thread_local orrery_client *client;

static void must(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s: %s\n", what, client ? orrery_error(client) : "");
    exit(1);
}

static double now_us(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* The instructions of this thread; -1: the machine does not tell. */
static int open_counter(void)
{
    struct perf_event_attr what = { .type = PERF_TYPE_HARDWARE,
                                    .size = sizeof(what),
                                    .config = PERF_COUNT_HW_INSTRUCTIONS,
                                    .exclude_kernel = 1 };

    return (int)syscall(SYS_perf_event_open, &what, 0, -1, -1, 0);
}

static long long count_of(int counter)
{
    long long count = -1;

    if (counter < 0 || read(counter, &count, sizeof(count)) != sizeof(count))
        return -1;
    return count;
}

static void print_item(char *text, size_t size, int id)
{
    char filling[1001];

    memset(filling, 'x', 1000);
    filling[1000] = '\0';
    snprintf(text, size, "{\"id\":\"%d\",\"pk\":\"k\",\"text\":\"%s\"}", id, filling);
}

static void create(int id)
{
    orrery_key key = orrery_key_text("k");
    char text[1100];

    print_item(text, sizeof(text), id);
    must(orrery_item_create(client, items, text, ORRERY_TEXT, &key, NULL, NULL) == ORRERY_OK, "create");
}

static void make_container(void)
{
    orrery_container container = { .size = sizeof(container), .id = "items", .partition_key = { "/pk" } };

    orrery_delete(client, "dbs/bench", NULL, NULL);
    must(orrery_database_create(client, "bench", NULL, NULL) == ORRERY_OK, "database");
    must(orrery_container_create(client, "dbs/bench", &container, NULL, NULL) == ORRERY_OK, "container");
    create(0);
}

static void read_items(int count)
{
    orrery_key key = orrery_key_text("k");

    for (int i = 0; i < count; i++) {
        orrery_response *response = NULL;

        must(orrery_item_read(client, items, "0", &key, NULL, &response) == ORRERY_OK, "read");
        orrery_response_free(response);
    }
}

static void bench_reads(int rounds, int reads)
{
    int counter = open_counter();
    double wall = 1e18, cpu = 1e18;
    long long instructions = -1;

    read_items(reads);
    for (int round = 0; round < rounds; round++) {
        double wall_before = now_us(CLOCK_MONOTONIC), cpu_before = now_us(CLOCK_THREAD_CPUTIME_ID);
        long long before = count_of(counter);

        read_items(reads);
        cpu_before = (now_us(CLOCK_THREAD_CPUTIME_ID) - cpu_before) / reads;
        wall_before = (now_us(CLOCK_MONOTONIC) - wall_before) / reads;
        instructions = before < 0 ? -1 : (count_of(counter) - before) / reads;
        wall = wall_before < wall ? wall_before : wall;
        cpu = cpu_before < cpu ? cpu_before : cpu;
    }
    printf("read_us %.2f\nread_cpu_us %.2f\nread_instructions %lld\n", wall, cpu, instructions);
}

static void bench_creates(int rounds, int creates)
{
    double best = 1e18;
    int id = 1;

    for (int round = 0; round < rounds; round++) {
        double began = now_us(CLOCK_MONOTONIC), each;

        for (int i = 0; i < creates; i++)
            create(id++);
        each = (now_us(CLOCK_MONOTONIC) - began) / creates;
        best = each < best ? each : best;
    }
    printf("create_us %.1f\n", best);
}

/* Of the whole process, as the system counts it. */
static void print_rss(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[128];

    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, "VmRSS:", 6) == 0 || strncmp(line, "RssAnon:", 8) == 0)
            printf("%.*s_kb %ld\n", (int)strcspn(line, ":"), line, strtol(strchr(line, ':') + 1, NULL, 10));
    if (file)
        fclose(file);
}

/* ---- several threads ---- */

struct reader {
    const char *directory;
    int reads;
    pthread_t thread;
};

/* Each asks for the same item, as many clients of one hot item would. */
static void *read_by_itself(void *argument)
{
    struct reader *reader = argument;
    orrery_settings settings = { .size = sizeof(settings), .directory = reader->directory };

    must(orrery_open(&settings, &client) == ORRERY_OK, "a thread's client");
    read_items(reader->reads);
    orrery_close(client);
    return NULL;
}

/* Reads a second of all together; the quickest of the rounds. */
static void bench_threads(const char *directory, int rounds, int reads, int threads)
{
    struct reader *reader = calloc((size_t)threads, sizeof(*reader));
    double best = 0;

    must(reader != NULL, "memory");
    for (int round = 0; round < rounds; round++) {
        double began = now_us(CLOCK_MONOTONIC), rate;

        for (int i = 0; i < threads; i++) {
            reader[i] = (struct reader){ .directory = directory, .reads = reads };
            must(pthread_create(&reader[i].thread, NULL, read_by_itself, &reader[i]) == 0, "a thread");
        }
        for (int i = 0; i < threads; i++)
            pthread_join(reader[i].thread, NULL);
        rate = 1e6 * threads * reads / (now_us(CLOCK_MONOTONIC) - began);
        best = rate > best ? rate : best;
    }
    free(reader);
    printf("reads_per_second %.0f\n", best);
}

int main(int argc, char **argv)
{
    int only_rss = argc > 2 && strcmp(argv[1], "--rss") == 0,
        only_threads = argc > 5 && strcmp(argv[1], "--threads") == 0;
    const char *place = argc > 1 ? argv[only_rss || only_threads ? 2 : 1] : "";
    int over_http = strncmp(place, "http", 4) == 0, at = over_http || only_threads ? 3 : 2;
    int rounds = argc > at ? atoi(argv[at]) : 20, reads = argc > at + 1 ? atoi(argv[at + 1]) : 5000;
    char why[256] = "";
    orrery_settings settings = { .size = sizeof(settings), .why = why, .why_size = sizeof(why) };

    if (over_http) {
        settings.endpoint = place;
        settings.key = argc > 2 ? argv[2] : NULL;
    } else {
        settings.directory = place;
    }
    if (orrery_open(&settings, &client) != ORRERY_OK) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    if (only_rss) {
        print_rss();
    } else if (only_threads) {
        make_container();
        bench_threads(place, rounds, reads, atoi(argv[5]));
    } else {
        make_container();
        bench_reads(rounds, reads);
        bench_creates(rounds, argc > at + 2 ? atoi(argv[at + 2]) : 50);
    }
    orrery_close(client);
    return 0;
}
