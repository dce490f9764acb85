/*
 * tools/bench/throughput.c - what a request pays for being held back to its container's throughput, in processor time.
 *     bench-throughput [rounds]
 * The first line is a server without --enforce-throughput; in a container of several ranges the key has to be read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/limits.h"
#include "catalog/catalog.h"
#include "catalog/definition.h"
#include "resource/throughput.h"

struct bench {
    struct op op;
    struct store *store;
    struct service service;
    struct database *database;
    struct request request;
    size_t rounds;
};

static void check(struct bench *bench, enum status st, const char *what)
{
    if (st == ST_OK)
        return;
    fprintf(stderr, "bench-throughput: %s: %s\n", what, bench->op.error ? bench->op.error : "failed");
    exit(1);
}

static double cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static void open_all(struct bench *bench)
{
    op_init(&bench->op, env_system(), OP_MEMORY_BYTES_MAX);
    op_begin(&bench->op, 600 * 1000);
    bench->op.may_block = true;
    check(bench, store_open(&bench->op, &(struct store_options){ .kind = STORE_MEMORY }, &bench->store),
          "store_open");
    check(bench, catalog_open(&bench->op, bench->store, &bench->service.catalog), "catalog_open");
    check(bench,
          catalog_create_database(&bench->op, bench->service.catalog, slice_of("db"), &bench->database),
          "database");
    bench->request.header[HEADER_PARTITION_KEY] = slice_of("[\"a key\"]");
}

static struct container *make_container(struct bench *bench, const char *id, uint32_t ranges)
{
    struct container *container;
    struct json body, definition;
    struct buf text;

    buf_init(&text, &bench->op.arena);
    buf_printf(&text, "{\"id\":\"%s\",\"partitionKey\":{\"paths\":[\"/pk\"],\"version\":2}}", id);
    check(bench, json_parse(&bench->op, buf_as_slice(&text), &body), "definition");
    check(bench, container_define(&bench->op, body, (struct define_options){ 0 }, &definition), "define");
    check(bench,
          catalog_create_container(&bench->op, bench->service.catalog, bench->database, definition, ranges,
                                   &container),
          "container");
    return container;
}

/* One unit in a thousand: nobody is refused, who would not be paid for. */
static void measure(struct bench *bench, const char *what, struct container *container, bool enforces)
{
    struct call call = { .service = &bench->service, .request = &bench->request, .container = container };
    double began = cpu_ns();

    bench->service.enforces_throughput = enforces;
    for (size_t i = 0; i < bench->rounds; i++) {
        struct arena_mark mark = arena_mark(&bench->op.arena);

        call.pays.count = 0;
        check(bench, throughput_enter(&bench->op, &call), "enter");
        throughput_leave(&bench->op, &call, 0.00001);
        arena_rewind(&bench->op.arena, mark);
    }
    printf("%8.0f ns a request  %s\n", (cpu_ns() - began) / (double)bench->rounds, what);
}

int main(int argc, char **argv)
{
    struct bench bench = { .rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000 };
    struct container *one, *ten;

    open_all(&bench);
    one = make_container(&bench, "one", 1);
    ten = make_container(&bench, "ten", 10);
    measure(&bench, "not enforced", one, false);
    measure(&bench, "enforced, one range", one, true);
    measure(&bench, "enforced, ten ranges", ten, true);
    container_release(one);
    container_release(ten);
    database_release(bench.database);
    catalog_close(bench.service.catalog);
    store_close(bench.store);
    op_free(&bench.op);
    return 0;
}
