/*
 * test/unit/resource/hybrid_row_test.c - binary batches, byte by byte.
 * The bytes were put together by another program, from the published sources of the format.
 */
#include "resource/hybrid_row.h"
#include "test.h"

#define BYTES(text) slice_make(text, sizeof(text) - 1)

enum { MAX = 4, FIRST_RECORD = 10 };

/* A create; a replace with everything that an operation may have; a read. */
static const char operations_text[] =
    "\x81\xF0\xD8\xFF\x7F\x01\x0A\x00\x00\x00\x81\xF1\xD8\xFF\x7F\x19\x00\x00\x00\x83\x2F\xCD\xF9\x81"
    "\x70\x54\xE1\x7F\x43\x00\x00\x00\x00\x02\x00\x00\x00\x0A\x7B\x22\x69\x64\x22\x3A\x22\x31\x22\x7D"
    "\x81\xF1\xD8\xFF\x7F\x29\x00\x00\x00\x20\x1B\x49\x57\x81\x70\x54\xE1\x7F\x57\x05\x00\x00\x00\x02"
    "\x00\x00\x00\x05\x5B\x22\x61\x22\x5D\x01\x32\x02\x7B\x7D\x14\x08\x07\x45\x78\x63\x6C\x75\x64\x65"
    "\x14\x09\x01\x65\x03\x0C\x81\xF1\xD8\xFF\x7F\x16\x00\x00\x00\xCA\xCD\x69\x33\x81\x70\x54\xE1\x7F"
    "\x13\x02\x00\x00\x00\x02\x00\x00\x00\x01\x33\x14\x0A\x01\x6E\x02\x0C";

static const char foreign_text[] = /* has a time to live */
    "\x81\xF0\xD8\xFF\x7F\x01\x0A\x00\x00\x00\x81\xF1\xD8\xFF\x7F\x16\x00\x00\x00\xB2\xDA\x7F\xEA\x81"
    "\x70\x54\xE1\x7F\x13\x02\x00\x00\x00\x02\x00\x00\x00\x01\x31\x07\x0B\x05\x00\x00\x00";

static const char results_text[] =
    "\x81\xF0\xD8\xFF\x7F\x01\x0A\x00\x00\x00\x81\xF1\xD8\xFF\x7F\x27\x00\x00\x00\x59\x44\x24\x3B\x81"
    "\x71\x54\xE1\x7F\x0D\xC9\x00\x00\x00\x00\x00\x00\x00\x03\x22\x65\x22\x0A\x7B\x22\x69\x64\x22\x3A"
    "\x22\x31\x22\x7D\x10\x06\x00\x00\x00\x00\x00\x00\x15\x40\x81\xF1\xD8\xFF\x7F\x1E\x00\x00\x00\xC4"
    "\x64\x7E\x61\x81\x71\x54\xE1\x7F\x03\xAD\x01\x00\x00\x80\x0C\x00\x00\x0B\x05\x32\x00\x00\x00\x10"
    "\x06\x00\x00\x00\x00\x00\x00\x00\x00";

TEST(operations_have_what_was_written)
{
    struct hybrid_row_operation operation[MAX];
    size_t count;

    CHECK(hybrid_row_is(BYTES(operations_text)) && !hybrid_row_is(slice_of("[]")) &&
          !hybrid_row_is(slice_of("")));
    CHECK(hybrid_row_read(test_op(), BYTES(operations_text), operation, MAX, &count) == ST_OK && count == 3);
    CHECK(operation[0].type == HYBRID_ROW_CREATE && slice_is(operation[0].body, "{\"id\":\"1\"}"));
    CHECK(!operation[0].id.data && !operation[0].key.data && !operation[0].if_match.data &&
          !operation[0].minimal);
    CHECK(operation[1].type == HYBRID_ROW_REPLACE && slice_is(operation[1].body, "{}"));
    CHECK(slice_is(operation[1].key, "[\"a\"]") && slice_is(operation[1].id, "2"));
    CHECK(slice_is(operation[1].indexing, "Exclude") && slice_is(operation[1].if_match, "e") &&
          operation[1].minimal);
    CHECK(operation[2].type == HYBRID_ROW_READ && slice_is(operation[2].id, "3") && !operation[2].body.data);
    CHECK(slice_is(operation[2].if_none_match, "n") && !operation[2].minimal && !operation[2].is_foreign);
}

TEST(what_only_the_service_sends_itself_is_noticed)
{
    struct hybrid_row_operation operation[MAX];
    size_t count;

    CHECK(hybrid_row_read(test_op(), BYTES(foreign_text), operation, MAX, &count) == ST_OK && count == 1);
    CHECK(operation[0].is_foreign);
}

TEST(operations_beyond_the_room_are_counted)
{
    struct hybrid_row_operation operation[1];
    size_t count;

    CHECK(hybrid_row_read(test_op(), BYTES(operations_text), operation, 1, &count) == ST_OK && count == 3);
    CHECK(operation[0].type == HYBRID_ROW_CREATE);
}

/* Where a record ends, a stream may end. */
TEST(a_stream_that_is_cut_off_is_refused)
{
    struct hybrid_row_operation operation[MAX];
    size_t count, good = 0;

    for (size_t size = 0; size < sizeof(operations_text) - 1; size++)
        good +=
            hybrid_row_read(test_op(), slice_make(operations_text, size), operation, MAX, &count) == ST_OK;
    CHECK(good == 3);
}

TEST(a_bit_that_fell_over_in_a_record_is_noticed)
{
    struct hybrid_row_operation operation[MAX];
    char text[sizeof(operations_text)];
    size_t count;

    for (size_t bit = 8 * FIRST_RECORD; bit < 8 * (sizeof(operations_text) - 1); bit++) {
        memcpy(text, operations_text, sizeof(text));
        text[bit / 8] ^= (char)(1 << bit % 8);
        CHECK(hybrid_row_read(test_op(), slice_make(text, sizeof(text) - 1), operation, MAX, &count) ==
              ST_BAD_REQUEST);
    }
}

TEST(results_are_written_as_they_are_read)
{
    struct buf out;

    buf_init(&out, &test_op()->arena);
    hybrid_row_begin(&out);
    buf_text(&out, "{\"id\":\"1\"}");
    hybrid_row_result(&out, &(struct hybrid_row_result){ 201, 0, slice_of("\"e\""), 5.25, 0 }, FIRST_RECORD);
    hybrid_row_result(&out, &(struct hybrid_row_result){ 429, 3200, { 0 }, 0, 50 }, HYBRID_ROW_NO_BODY);
    CHECK(slice_equal(buf_as_slice(&out), BYTES(results_text)));
}
