/*
 * test/client/programs/drive_allocator.c - memory by a function of the program's own.
 * usage: drive_allocator ENDPOINT KEY, or DIRECTORY, or memory. Ends with "N passed, M failed".
 */
#include <stdatomic.h>
#include <stdint.h>

#include "../../../examples/example.h"

enum { ROUNDS = 4, ITEMS = 40 };

static const uint64_t mark = 0x6f72726572792121;
static atomic_long live, asked;
static int passed, failed;

static void check(int good, const char *what, int line)
{
    good ? passed++ : failed++;
    if (!good)
        printf("FAILED line %d: %s\n", line, what);
}

#define CHECK(condition) check((condition), #condition, __LINE__)

struct block {
    uint64_t mark, bytes;
    char memory[];
};

/* What comes back was given out here, and once. */
static void *resize(void *context, void *memory, size_t bytes)
{
    struct block *block = memory ? (struct block *)((char *)memory - sizeof(*block)) : NULL;

    CHECK(context == &live);
    if (block && block->mark != mark)
        abort();
    atomic_fetch_add(&asked, 1);
    atomic_fetch_add(&live, (bytes > 0) - (block != NULL));
    if (bytes == 0) {
        block->mark = 0;
        free(block);
        return NULL;
    }
    block = realloc(block, sizeof(*block) + bytes);
    if (!block)
        return NULL;
    block->mark = mark;
    return block->memory;
}

static void work(const orrery_settings *settings)
{
    orrery_container container = { .size = sizeof(container), .id = "items", .partition_key = { "/id" } };
    orrery_query *query = NULL;
    orrery_batch *batch = NULL;
    char *text = NULL, json[64];
    int rows = 0;

    must(orrery_open(settings, &client));
    must(orrery_create_if_missing(client, "dbs", "{\"id\":\"allocator\"}", ORRERY_TEXT, NULL, NULL));
    must(orrery_container_create(client, "dbs/allocator", &container, NULL, NULL));
    must(orrery_batch_new(&batch));
    for (int i = 0; i < ITEMS; i++) {
        snprintf(json, sizeof(json), "{\"id\":\"%d\",\"n\":%d}", i, i % 3);
        orrery_batch_create(batch, json, ORRERY_TEXT, NULL);
    }
    must(orrery_bulk_run(client, "dbs/allocator/colls/items", batch, NULL, NULL));
    orrery_batch_free(batch);
    must(orrery_query_open(client, "dbs/allocator/colls/items",
                           "SELECT c.n, COUNT(1) AS m FROM c GROUP BY c.n", NULL, 0, NULL,
                           &(orrery_options){ .size = sizeof(orrery_options), .parallel = 2 }, &query));
    while (orrery_query_step(query) == ORRERY_ROW) {
        must(orrery_value_print(orrery_query_value(query), &text, NULL));
        orrery_free(text);
        rows++;
    }
    CHECK(rows == 3);
    orrery_query_close(query);
    must(orrery_delete(client, "dbs/allocator", NULL, NULL));
    orrery_close(client);
}

int main(int argc, char **argv)
{
    orrery_settings settings = settings_from(argc, argv);
    long after = 0;

    CHECK(orrery_allocate_by(NULL, NULL) == ORRERY_EINVAL);
    CHECK(orrery_allocate_by(resize, &live) == ORRERY_OK);
    for (int i = 0; i < ROUNDS; i++) {
        work(&settings);
        if (i > 0)
            CHECK(atomic_load(&live) <= after); /* libcurl keeps something, once */
        after = atomic_load(&live);
    }
    CHECK(atomic_load(&asked) > 100);
    CHECK(orrery_allocate_by(resize, &live) == ORRERY_EINVAL);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
