/*
 * tools/bench/json.c - how fast text becomes a value and a value becomes text, on one core.
 * Prints a line for each direction and document: json in 1KB NNN MB/s (of text, both ways).
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/env.h"
#include "json/json.h"

enum { RUN_US = 500 * 1000, ROUND_BYTES = 256 * 1024 };

/* What a small item of an application looks like: 20-odd paths, 1 KB with its padding. */
static void item_1kb(struct buf *out)
{
    static const char head[] =
        "{\"id\":\"doc-4711\",\"pk\":\"tenant-1\",\"n\":4711,\"user\":\"user-388\",\"city\":\"city-57\","
        "\"price\":123456.78,\"active\":false,\"address\":{\"street\":\"9a3d4f0c5b7e21688d0f4b6a7c1e2f35\","
        "\"zip\":\"4711\",\"geo\":{\"lat\":31,\"lon\":31}},\"tags\":[\"a\",\"b\",\"t11\"],"
        "\"created\":\"2023-11-14T23:31:51.000Z\",\"pad\":\"";

    buf_text(out, head);
    for (size_t i = sizeof(head); i < 1000; i++)
        buf_byte(out, 'x');
    buf_text(out, "\"}");
}

/* Numbers of all sizes, nested objects, short strings. */
static void element(struct buf *out, unsigned i)
{
    buf_printf(out,
               "{\"sku\":\"A-%u\",\"count\":%u,\"price\":%u.%02u,\"at\":{\"x\":%d.%03u,\"y\":-%u,"
               "\"weight\":0.%u},\"on\":%s,\"names\":[\"n%u\",\"m\"],\"stock\":[%u,%u,%u]}",
               i, i % 100, i * 37 % 9000, i % 100, (int)(i % 180) - 90, i * 7 % 1000, i * 1000003u, i % 9 + 1,
               i % 2 ? "true" : "null", i % 10, i, i * 31, i * 65537u);
}

static void elements(struct buf *out, size_t bytes)
{
    buf_text(out, "{\"items\":[");
    for (unsigned i = 1; out->size < bytes; i++) {
        if (i > 1)
            buf_byte(out, ',');
        element(out, i);
    }
    buf_text(out, "]}");
}

static void item_10kb(struct buf *out)
{
    elements(out, 10 * 1000);
}

static void item_1mb(struct buf *out)
{
    elements(out, 1000 * 1000);
}

static void parse(struct op *op, struct slice text, struct json *value)
{
    if (json_parse(op, text, value) != ST_OK) {
        fprintf(stderr, "%s\n", op->error);
        exit(1);
    }
}

static void in(struct op *op, struct slice text, struct json value)
{
    parse(op, text, &value);
}

static void out(struct op *op, struct slice text, struct json value)
{
    struct buf printed;

    (void)text;
    buf_init(&printed, &op->arena);
    json_print(&printed, value);
}

/* Rounds of some hundred kilobytes between two looks at the clock, for half a second. */
static void measure(const char *name, void (*run)(struct op *, struct slice, struct json), struct slice text,
                    struct json value)
{
    struct env *env = env_system();
    int64_t start_us = env_monotonic_us(env), spent_us = 0;
    double bytes = 0;
    struct op op;

    op_init(&op, env, OP_MEMORY_BYTES_MAX);
    while (spent_us < RUN_US) {
        for (size_t done = 0; done < ROUND_BYTES; done += text.size) {
            run(&op, text, value);
            arena_reset(&op.arena);
            bytes += (double)text.size;
        }
        spent_us = env_monotonic_us(env) - start_us;
    }
    printf("json %s %.0f MB/s\n", name, bytes / (double)spent_us);
    op_free(&op);
}

int main(void)
{
    static const struct {
        const char *in, *out;
        void (*make)(struct buf *);
    } rows[] = {
        { "in 1KB", "out 1KB", item_1kb },
        { "in 10KB", "out 10KB", item_10kb },
        { "in 1MB", "out 1MB", item_1mb },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct json value;
        struct buf text;
        struct op op;

        op_init(&op, env_system(), OP_MEMORY_BYTES_MAX);
        buf_init(&text, &op.arena);
        rows[i].make(&text);
        parse(&op, buf_as_slice(&text), &value);
        measure(rows[i].in, in, buf_as_slice(&text), value);
        measure(rows[i].out, out, buf_as_slice(&text), value);
        op_free(&op);
    }
    return 0;
}
