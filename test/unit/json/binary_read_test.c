/* test/unit/json/binary_read_test.c - binary JSON to values: what .NET writes, what it refuses, where we are stricter. */
#include "binary_vectors.h"
#include "json/binary_read.h"
#include "test.h"

static struct vector vectors[VECTOR_COUNT];

/* Whether the bytes were taken; `value` is undefined if not. */
static bool reads(struct slice bytes, struct json *value)
{
    *value = json_undefined;
    return json_is_binary(bytes) && json_parse_binary(test_op(), bytes, value) == ST_OK;
}

static bool same_as_text(struct json value, struct slice text)
{
    struct json expected;

    return json_parse(test_op(), text, &expected) == ST_OK && json_check(json_bytes(value)) &&
           slice_equal(json_bytes(value), json_bytes(expected));
}

static void report(const char *what, size_t index)
{
    printf("vector %zu %s: ", index, what);
    for (size_t i = 0; i < vectors[index].bytes.size && i < 40; i++)
        printf("%02x", (uint8_t)vectors[index].bytes.data[i]);
    printf("\n");
}

/* Text is limited to 128 levels, and so is this: the few vectors that are deeper are refused in both forms. */
static bool is_too_deep(const struct vector *vector)
{
    struct json value;

    return json_parse(test_op(), vector->text, &value) != ST_OK;
}

static bool is_read_well(const struct vector *vector)
{
    struct json value;
    bool taken = reads(vector->bytes, &value);

    if (vector->kind == VECTOR_REFUSED || vector->kind == VECTOR_DICTIONARY)
        return !taken;
    if (vector->kind == VECTOR_LENIENT)
        return !taken || same_as_text(value, vector->text);
    return taken ? same_as_text(value, vector->text) : is_too_deep(vector);
}

TEST(every_vector_is_read_as_the_sdk_reads_it_or_refused_as_the_sdk_refuses_it)
{
    size_t taken = 0;

    REQUIRE(vectors_load(test_op(), vectors));
    for (size_t i = 0; i < VECTOR_COUNT; i++) {
        struct arena_mark mark = arena_mark(&test_op()->arena);
        struct json value;

        if (!is_read_well(&vectors[i]))
            report("is not read well", i);
        CHECK(is_read_well(&vectors[i]));
        taken += reads(vectors[i].bytes, &value);
        arena_rewind(&test_op()->arena, mark);
    }
    CHECK(taken == 2741);
}

/* ---- single facts ---- */

#define BYTES(literal) slice_make(literal, sizeof(literal) - 1)

static bool is_refused(struct slice bytes, const char *message)
{
    struct op *op = test_op();
    struct json value;

    return json_parse_binary(op, bytes, &value) == ST_BAD_REQUEST && strstr(op->error, message);
}

TEST(what_is_wrong_is_told_with_its_place)
{
    CHECK(is_refused(BYTES("\x80"), "Unexpected end at byte 1."));
    CHECK(is_refused(BYTES("\x80\xe2\x05\x01"), "Unexpected end at byte 3."));
    CHECK(is_refused(BYTES("\x80\xff"), "An unknown marker at byte 2."));
    CHECK(is_refused(BYTES("\x80\x40"), "A string of a dictionary at byte 2."));
    CHECK(is_refused(BYTES("\x80\xe9\x05\x05"), "A name that is no string at byte 3."));
}

TEST(nothing_may_stand_behind_the_value)
{
    CHECK(is_refused(BYTES("\x80\xd0\x00"), "Bytes behind the value at byte 2."));
}

TEST(a_string_is_utf8_in_every_form)
{
    CHECK(is_refused(BYTES("\x80\x82\xc3\x28"), "Invalid UTF-8"));
    CHECK(is_refused(BYTES("\x80\xe9\x81\xff\x01"), "Invalid UTF-8"));
    CHECK(is_refused(BYTES("\x80\x7c\x01\x61\x1f"), "Invalid UTF-8"));
    CHECK(is_refused(BYTES("\x80\x7b\x02\xff\xff"), "Packed text that is not ASCII"));
    CHECK(is_refused(BYTES("\x80\xe2\x06\x81\xc3\x81\xa9\xc3\x03"), "Invalid UTF-8"));
}

TEST(a_reference_leads_back)
{
    CHECK(is_refused(BYTES("\x80\xe2\x04\xc3\x05\x81"
                           "a"),
                     "A reference that leads to no string"));
    CHECK(is_refused(BYTES("\x80\xc3\x01"), "A reference that leads to no string"));
    CHECK(is_refused(BYTES("\x80\xc3\x00"), "A reference that leads to no string"));
}

TEST(of_names_that_repeat_the_last_value_stays_where_the_first_was)
{
    struct json value;

    /* {"id":1,"b":2,"id":[3]}, the second id by its reference */
    CHECK(reads(BYTES("\x80\xea\x0b\x82id\x01\x81"
                      "b\x02\xc3\x03\xe1\x03"),
                &value));
    CHECK(same_as_text(value, slice_of("{\"id\":[3],\"b\":2}")));
}

static struct slice nested(int levels, uint8_t marker)
{
    uint8_t *bytes = arena_alloc(&test_op()->arena, (size_t)levels + 2);

    bytes[0] = 0x80;
    memset(bytes + 1, marker, (size_t)levels);
    bytes[levels + 1] = 0xd0;
    return slice_make(bytes, (size_t)levels + 2);
}

TEST(depth_is_limited_as_in_text)
{
    struct json value;

    CHECK(reads(nested(JSON_DEPTH_MAX, 0xe1), &value));
    CHECK(!reads(nested(JSON_DEPTH_MAX + 1, 0xe1), &value));
    CHECK(!reads(nested(1000000, 0xe1), &value));
    CHECK(strstr(test_op()->error, "The request payload is invalid."));
}

/* An array: one string of `size` bytes, and references to it. */
static struct slice expanding(uint16_t size, size_t references)
{
    uint8_t *bytes = arena_alloc(&test_op()->arena, 9 + (size_t)size + 2 * references), *at = bytes;
    uint32_t payload = (uint32_t)(3 + size + 2 * references);

    *at++ = 0x80;
    *at++ = 0xe4;
    memcpy(at, &payload, 4);
    at += 4;
    *at++ = 0xc1;
    memcpy(at, &size, 2);
    memset(at + 2, 'x', size);
    at += 2 + size;
    for (size_t i = 0; i < references; i++) {
        *at++ = 0xc3;
        *at++ = 6;
    }
    return slice_make(bytes, (size_t)(at - bytes));
}

TEST(what_short_bytes_stand_for_is_bounded_by_memory)
{
    struct op op;
    struct json value;

    op_init(&op, env_system(), OP_MEMORY_BYTES_MAX);
    CHECK(json_parse_binary(&op, expanding(60000, 100), &value) == ST_OK);
    CHECK(json_count(value) == 101);
    CHECK(json_parse_binary(&op, expanding(60000, 100000), &value) == ST_TOO_LARGE);
    op_free(&op);
}

TEST(a_loop_thread_leaves_a_value_that_grows_to_others)
{
    struct op op;
    struct json value;

    op_init(&op, env_system(), OP_MEMORY_BYTES_MAX);
    op.may_block = false;
    CHECK(json_parse_binary(&op, expanding(1000, 20), &value) == ST_OK);
    CHECK(json_parse_binary(&op, expanding(8000, 4000), &value) == ST_WOULD_BLOCK);
    op_free(&op);
}

TEST(a_parse_that_runs_out_of_memory_says_so_wherever_it_does)
{
    for (size_t limit = 64; limit < 40000; limit += 64) {
        struct op op;
        struct json value;
        enum status st;

        op_init(&op, env_system(), limit);
        st = json_parse_binary(&op, expanding(600, 10), &value);
        CHECK(st == ST_OK || st == ST_TOO_LARGE);
        op_free(&op);
    }
}

TEST(either_form_is_a_body)
{
    struct json text, binary;

    CHECK(json_parse_body(test_op(), slice_of(" {\"id\":\"a\"}"), &text) == ST_OK);
    CHECK(json_parse_body(test_op(),
                          BYTES("\x80\xe9\x2c\x81"
                                "a"),
                          &binary) == ST_OK);
    CHECK(json_equal(text, binary));
    CHECK(json_parse_body(test_op(), slice_of(""), &text) == ST_BAD_REQUEST);
    CHECK(!json_is_binary(slice_of("")) && !json_is_binary(slice_of("{}")));
}
