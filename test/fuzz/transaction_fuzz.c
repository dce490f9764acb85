/*
 * test/fuzz/transaction_fuzz.c - any text as the body of a transaction, over three containers with two items.
 * Every answer is JSON. What is sent again under its token is answered with the same bytes, and neither that nor a read
 * changes how many items there are.
 */
#include <assert.h>
#include <string.h>

#include "catalog/definition.h"
#include "partition/partition.h"
#include "resource/resource.h"
#include "store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SEED_TIME_MS 1600000000000

static const char *const definitions[] = {
    "{\"id\":\"c\",\"partitionKey\":{\"paths\":[\"/pk\"],\"version\":2},"
    "\"uniqueKeyPolicy\":{\"uniqueKeys\":[{\"paths\":[\"/u\"]}]}}",
    "{\"id\":\"other\",\"partitionKey\":{\"paths\":[\"/pk\"],\"version\":2}}",
    "{\"id\":\"h\",\"partitionKey\":{\"paths\":[\"/t\",\"/u\"],\"kind\":\"MultiHash\",\"version\":2},"
    "\"defaultTtl\":100}",
};

static const char items[] =
    "{\"operations\":[{\"databaseName\":\"d\",\"collectionName\":\"c\",\"id\":\"1\",\"partitionKey\":[\"a\"],"
    "\"operationType\":\"Create\",\"resourceBody\":{\"id\":\"1\",\"pk\":\"a\",\"n\":1,\"u\":1}},"
    "{\"databaseName\":\"d\",\"collectionName\":\"h\",\"id\":\"2\",\"partitionKey\":[\"x\",7],"
    "\"operationType\":\"Create\",\"resourceBody\":{\"id\":\"2\",\"t\":\"x\",\"u\":7}}]}";

enum { CONTAINERS = sizeof(definitions) / sizeof(definitions[0]), ITEMS = 2 };

struct world {
    struct op op;
    struct service service;
    struct database *database;
    struct container *container[CONTAINERS];
};

static void must(enum status st)
{
    assert(st == ST_OK);
}

static void define(struct world *world, size_t index)
{
    struct op *op = &world->op;
    struct json text, defined;

    must(json_parse(op, slice_of(definitions[index]), &text));
    must(container_define(op, text, (struct define_options){ .is_old = true }, &defined));
    must(catalog_create_container(op, world->service.catalog, world->database, defined, 1,
                                  &world->container[index]));
}

static void open_world(struct world *world)
{
    struct store_options options = { .sync = true };
    struct service *service = &world->service;
    struct op *op = &world->op;

    *world =
        (struct world){ .service = { .env = env_seeded(1, SEED_TIME_MS), .account = slice_of("orrery") } };
    op_init(op, service->env, 64 << 20);
    op_begin(op, 100000);
    op->may_block = true;
    must(store_open(op, &options, &service->store));
    must(catalog_open(op, service->store, &service->catalog));
    must(ledger_open(op, service->store, &service->ledger));
    service->locks = locks_open();
    service->hints = hints_open();
    must(catalog_create_database(op, service->catalog, slice_of("d"), &world->database));
    for (size_t i = 0; i < CONTAINERS; i++)
        define(world, i);
}

static void close_world(struct world *world)
{
    struct service *service = &world->service;

    for (size_t i = 0; i < CONTAINERS; i++)
        container_release(world->container[i]);
    database_release(world->database);
    hints_close(service->hints);
    locks_close(service->locks);
    ledger_close(service->ledger);
    catalog_close(service->catalog);
    store_close(service->store);
    op_free(&world->op);
    env_free(service->env);
}

static enum status allow(struct op *op, const struct call *whole, struct call *part,
                         const struct slice names[2])
{
    (void)op, (void)whole, (void)part, (void)names;
    return ST_OK;
}

/* Memory as an earlier request may have left it: nothing may be taken for zero that was not set. */
static void soil(struct op *op)
{
    enum { PIECES = 64, PIECE_BYTES = 1024 };
    struct op_mark mark = op_mark(op);

    for (int i = 0; i < PIECES; i++)
        memset(arena_alloc(&op->arena, PIECE_BYTES), 0xa5, PIECE_BYTES);
    op_rewind(op, mark);
}

/* The answer's status, and its body. */
static int send(struct world *world, operation *run, const char *token, struct slice body,
                struct slice *answered)
{
    struct request request = { .method = METHOD_POST, .target = slice_of("/operations/dtc"), .body = body };
    struct call call = { .service = &world->service,
                         .request = &request,
                         .type = slice_of("operations"),
                         .id = slice_of("dtc"),
                         .check_part = allow };
    struct answer answer;
    struct reply reply;
    struct json value;

    soil(&world->op);
    request.header[HEADER_IDEMPOTENCY_TOKEN] = slice_of(token);
    reply_begin(&reply, &world->op, &answer);
    reply.tells_retriable = true;
    reply_finish(&reply, run(&world->op, &call, &reply));
    *answered = buf_as_slice(&answer.body);
    assert(answer.status >= 200 && answer.status < 500);
    must(json_parse(&world->op, *answered, &value));
    assert(json_kind(json_get(value, "isRetriable")) == JSON_FALSE);
    return answer.status;
}

static uint64_t count_items(const struct world *world)
{
    uint64_t count = 0;

    for (size_t i = 0; i < CONTAINERS; i++) {
        struct bucket_usage usage = { 0 };

        bucket_usage(world->container[i]->bucket, &usage);
        count += usage.documents;
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char first[] = "51eb84be-bf65-4749-8806-000000000001",
                      second[] = "51eb84be-bf65-4749-8806-000000000002";
    struct slice body = slice_make(data, size), told, again;
    struct world world;
    uint64_t items_then;
    int status;

    open_world(&world);
    status = send(&world, transaction_write, first, slice_of(items), &told);
    assert(status == 200 && count_items(&world) == ITEMS);
    status = send(&world, transaction_write, second, body, &told);
    items_then = count_items(&world);
    assert(status == 200 || items_then == ITEMS);
    if (status == 200 || status == 452) {
        assert(send(&world, transaction_write, second, body, &again) == status);
        assert(slice_equal(told, again));
    }
    (void)send(&world, transaction_read, second, body, &again);
    assert(count_items(&world) == items_then);
    close_world(&world);
    return 0;
}
