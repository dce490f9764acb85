/*
 * tools/bench/entries.c - what finding the index entries of a 1 KB document costs, in time of a processor.
 *     bench-entries [rounds]
 * terms     its 25 terms, sorted
 * create    those, and their keys in a batch
 * replace   the terms of two versions that differ in two properties, and the four entries that change
 * delete    as create
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "index/entries.h"
#include "keys/keys.h"

enum { NUMBER = 1 };

static const char policy_text[] = "{\"includedPaths\":[{\"path\":\"/*\"}],"
                                  "\"excludedPaths\":[{\"path\":\"/\\\"_etag\\\"/?\"}]}";

/* Twenty properties, one of them an array of five, and _ts: of the shape that docs call a typical item. */
static const char document_format[] =
    "{\"id\":\"6f1c9f0e-5b0e-4c38-9c1c-2a1f5d1f2b%02d\",\"tenant\":\"tenant-000042\",\"type\":\"order\","
    "\"status\":\"%s\",\"email\":\"somebody.with.a.name@example.com\",\"amount\":%d.25,\"currency\":\"EUR\","
    "\"created\":\"2026-11-15T12:34:56.789Z\",\"updated\":\"2026-11-15T12:34:56.789Z\",\"count\":17,"
    "\"active\":true,\"region\":\"westeurope\",\"sku\":\"SKU-0012345678\",\"rating\":4.5,"
    "\"tags\":[\"alpha\",\"beta\",\"gamma\",\"delta\",\"epsilon\"],\"owner\":\"3d9b0a51-94c5-4e4c-9f55-"
    "0d4b1a7a2c11\","
    "\"session\":\"a5b7f6d2-7a54-4d3e-8d84-4c1b0b5f9e70\",\"version\":3,"
    "\"note\":\"The quick brown fox jumps over the lazy dog, and then it does so again and again, until the "
    "note has the "
    "size that notes have; it is a longer text, which is cut in its entry after 256 bytes, and has a hash "
    "behind "
    "that, so that the whole of it is looked at once for the entry and once for nothing else. That is "
    "all.\"}";

static struct json parse(struct op *op, const char *text)
{
    struct json value;

    if (json_parse(op, slice_of(text), &value) != ST_OK)
        abort();
    return value;
}

static struct index_item make_item(struct op *op, const struct index_policy *policy, const char *status,
                                   int amount)
{
    char *text = arena_alloc(&op->arena, 2048);

    snprintf(text, 2048, document_format, 7, status, amount);
    return (struct index_item){ .policy = policy, .document = parse(op, text), .ts_ms = 1700000000000 };
}

struct bench {
    struct op op;
    size_t rounds;
    struct index_item old, new;
};

/* Of this thread: others may have the machine at the same time. */
static double cpu_us(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void report(const char *what, const struct bench *bench, double start_us, size_t entries)
{
    double us = (cpu_us() - start_us) / (double)bench->rounds;

    printf("%-8s %6.2f us  %zu entries, %zu bytes\n", what, us, entries, json_size(bench->new.document));
}

static void bench_terms(struct bench *bench)
{
    double start = cpu_us();
    struct index_terms terms = { 0 };

    for (size_t i = 0; i < bench->rounds; i++) {
        struct arena_mark mark = arena_mark(&bench->op.arena);

        if (index_terms(&bench->op, &bench->new, &terms) != ST_OK)
            abort();
        arena_rewind(&bench->op.arena, mark);
    }
    report("terms", bench, start, terms.count);
}

static void bench_change(struct bench *bench, const char *what, const struct index_item *old,
                         struct index_item *new)
{
    double start = cpu_us();
    uint64_t before = bench->op.work.entries_written;

    for (size_t i = 0; i < bench->rounds; i++) {
        struct arena_mark mark = arena_mark(&bench->op.arena);

        if (index_change(&bench->op, batch_new(&bench->op, bucket_make(1, 0)), NUMBER, old, new) != ST_OK)
            abort();
        arena_rewind(&bench->op.arena, mark);
    }
    report(what, bench, start, (size_t)(bench->op.work.entries_written - before) / bench->rounds);
}

int main(int argc, char **argv)
{
    struct bench bench = { .rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 200000 };
    struct index_policy *policy;

    op_init(&bench.op, env_system(), SIZE_MAX / 2);
    struct index_policy_source source = { .policy = parse(&bench.op, policy_text) };

    if (bench.rounds == 0 || index_policy_read(&bench.op, &bench.op.arena, &source, &policy) != ST_OK)
        return 1;
    bench.old = make_item(&bench.op, policy, "open", 100);
    bench.new = make_item(&bench.op, policy, "closed", 101);
    bench_terms(&bench);
    bench_change(&bench, "create", NULL, &bench.new);
    bench_change(&bench, "replace", &bench.old, &bench.new);
    bench_change(&bench, "delete", &bench.old, NULL);
    op_free(&bench.op);
    return 0;
}
