/* test/unit/json/random_value.c - values made up from the test's random numbers. */
#include <math.h>

#include "random_value.h"
#include "test.h"

static double random_double(void)
{
    uint64_t bits = test_random();
    double number;

    if (bits % 2)
        return (double)(int64_t)(bits % 2000000 - 1000000) / 1000;
    memcpy(&number, &bits, sizeof(number));
    return isfinite(number) ? number : 0.5;
}

/* Pieces that are one byte, several, and such that must be escaped. */
static struct slice random_string(struct op *op)
{
    static const char *const pieces[] = { "a",
                                          "b",
                                          "Z",
                                          " ",
                                          "\"",
                                          "\\",
                                          "/",
                                          "\n",
                                          "\x01",
                                          "\x7f",
                                          "\xc3\xa9",
                                          "\xe2\x82\xac",
                                          "\xf0\x9f\x98\x80",
                                          "0123456789abcdef" };
    uint64_t count = test_random() % 8, choice = test_random() % 2 ? 4 : 14;
    struct buf out;

    if (test_random() % 8 == 0)
        count += test_random() % 80;
    buf_init(&out, &op->arena);
    for (; count; count--)
        buf_text(&out, pieces[test_random() % choice]);
    if (test_random() % 50 == 0)
        buf_append(&out, "\0", 1);
    return buf_as_slice(&out);
}

static void add_random(struct op *op, struct json_builder *b, int levels);

static void add_random_object(struct op *op, struct json_builder *b, int levels)
{
    uint64_t count = test_random() % (test_random() % 10 ? 6 : 40);

    json_begin_object(b);
    for (uint64_t i = 0; i < count; i++) {
        char name[24];

        snprintf(name, sizeof(name), "%s%u", test_random() % 4 ? "n" : "\"", (unsigned)i);
        json_add_name(b, slice_of(name));
        add_random(op, b, levels - 1);
    }
    json_end(b);
}

static void add_random_array(struct op *op, struct json_builder *b, int levels)
{
    json_begin_array(b);
    for (uint64_t i = test_random() % 6; i; i--)
        add_random(op, b, levels - 1);
    json_end(b);
}

static void add_random(struct op *op, struct json_builder *b, int levels)
{
    switch (test_random() % (levels > 0 ? 9 : 6)) {
    case 0:
        json_add_null(b);
        return;
    case 1:
        json_add_bool(b, test_random() % 2);
        return;
    case 2:
        json_add_int(b, (int64_t)test_random() >> test_random() % 64);
        return;
    case 3:
        json_add_double(b, random_double());
        return;
    case 4:
    case 5:
        json_add_string(b, random_string(op));
        return;
    case 6:
        add_random_array(op, b, levels);
        return;
    default:
        add_random_object(op, b, levels);
    }
}

struct json random_value(struct op *op, int levels)
{
    struct json_builder b;

    json_builder_init(&b, &op->arena);
    add_random(op, &b, levels);
    return json_built(&b);
}

static void add_shuffled(struct op *op, struct json_builder *b, struct json value);

/* Turned around at a random place. */
static void add_shuffled_object(struct op *op, struct json_builder *b, struct json object)
{
    size_t count = json_count(object), turn = count ? test_random() % count : 0;

    json_begin_object(b);
    for (int half = 0; half < 2; half++) {
        size_t index = 0;

        for (struct json_iter i = json_iter(object); json_next(&i); index++) {
            if ((index >= turn) != (half == 0))
                continue;
            json_add_name(b, i.name);
            add_shuffled(op, b, i.value);
        }
    }
    json_end(b);
}

static void add_shuffled(struct op *op, struct json_builder *b, struct json value)
{
    if (json_kind(value) == JSON_OBJECT) {
        add_shuffled_object(op, b, value);
    } else if (json_kind(value) == JSON_ARRAY) {
        json_begin_array(b);
        for (struct json_iter i = json_iter(value); json_next(&i);)
            add_shuffled(op, b, i.value);
        json_end(b);
    } else {
        json_add(b, value);
    }
}

struct json shuffled(struct op *op, struct json value)
{
    struct json_builder b;

    json_builder_init(&b, &op->arena);
    add_shuffled(op, &b, value);
    return json_built(&b);
}
