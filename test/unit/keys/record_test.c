/* test/unit/keys/record_test.c - stored values come back whole, and damage never does. */
#include "keys/keys.h"
#include "keys/record.h"
#include "test.h"

static struct json parse(const char *text)
{
    struct json value;

    return json_parse(test_op(), slice_of(text), &value) == ST_OK ? value : json_undefined;
}

static const struct record sample = {
    .etag = 0x1122334455667788,
    .number = 0x0fedcba987654321,
    .ttl_seconds = -1,
    .policy_version = 7,
    .behind = 0x0102,
    .epk = { "0123456789abcdef", 16 },
};

static struct slice encode_sample(const char *document, uint64_t lsn, int64_t ts_ms)
{
    struct record record = sample;
    uint8_t *value;
    size_t size;

    record.document = parse(document);
    value = record_encode(test_op(), &record, &size);
    value_stamp(value, size, lsn, ts_ms);
    return slice_make(value, size);
}

TEST(a_record_comes_back_as_it_was_written)
{
    struct slice value = encode_sample("{\"id\":\"1\",\"n\":[1,2,3]}", 42, 1700000000123);
    struct record got;

    REQUIRE(record_decode(test_op(), value, &got) == ST_OK);
    CHECK(got.lsn == 42 && got.ts_ms == 1700000000123);
    CHECK(got.etag == sample.etag && got.number == sample.number);
    CHECK(got.ttl_seconds == -1 && got.policy_version == 7 && got.behind == 0x0102);
    CHECK(slice_equal(got.epk, sample.epk));
    CHECK(json_equal(got.document, parse("{\"id\":\"1\",\"n\":[1,2,3]}")));
}

TEST(a_record_can_be_read_before_it_is_stamped)
{
    struct record record = sample, got;
    uint8_t *value;
    size_t size;

    record.document = parse("{}");
    record.epk = slice_of("");
    record.lsn = 99;
    value = record_encode(test_op(), &record, &size);
    REQUIRE(record_decode(test_op(), slice_make(value, size), &got) == ST_OK);
    CHECK(got.lsn == 0 && got.ts_ms == 0 && got.epk.size == 0);
}

TEST(a_change_comes_back_as_it_was_written)
{
    struct slice old = encode_sample("{\"id\":\"1\"}", 41, 5);
    struct change change = { CHANGE_REPLACE, 0, 0, 0xdeadbeef, 12, 41, old, false }, got;
    size_t size;
    uint8_t *value = change_encode(test_op(), &change, &size);

    value_stamp(value, size, 42, 6);
    REQUIRE(change_decode(test_op(), slice_make(value, size), &got) == ST_OK);
    CHECK(got.kind == CHANGE_REPLACE && got.lsn == 42 && got.ts_ms == 6);
    CHECK(got.token == 0xdeadbeef && got.number == 12 && got.previous_lsn == 41);
    CHECK(slice_equal(got.old_record, old));

    change.kind = CHANGE_CREATE;
    change.old_record = slice_of("");
    value = change_encode(test_op(), &change, &size);
    REQUIRE(change_decode(test_op(), slice_make(value, size), &got) == ST_OK);
    CHECK(got.kind == CHANGE_CREATE && got.old_record.size == 0);
}

TEST(a_delete_says_whether_an_items_time_was_over)
{
    for (int expired = 0; expired < 2; expired++) {
        struct change change = { .kind = CHANGE_DELETE, .number = 12, .expired = expired }, got;
        size_t size;
        uint8_t *value = change_encode(test_op(), &change, &size);

        REQUIRE(change_decode(test_op(), slice_make(value, size), &got) == ST_OK);
        CHECK(got.kind == CHANGE_DELETE && got.expired == expired);
    }
}

TEST(a_flag_that_is_known_comes_back_and_any_other_is_refused)
{
    for (int bit = 0; bit < 8; bit++) {
        struct record record = sample, got;
        size_t size;
        uint8_t *value;

        record.document = parse("{}");
        record.flags = (uint8_t)(1 << bit);
        value = record_encode(test_op(), &record, &size);
        if (record.flags & (RECORD_KEEPS_UNIQUE | RECORD_HAS_ATTACHMENTS | RECORD_UNINDEXED |
                            RECORD_HAS_RANGES | RECORD_HAS_SEED | RECORD_BARE))
            CHECK(record_decode(test_op(), slice_make(value, size), &got) == ST_OK &&
                  got.flags == record.flags);
        else
            CHECK(record_decode(test_op(), slice_make(value, size), &got) == ST_CORRUPT);
    }
}

TEST(an_entry_of_a_unique_key_holds_the_numbers_that_were_put_into_it)
{
    struct arena *arena = &test_op()->arena;
    struct slice entry = { 0 };

    CHECK(holders_check(test_op(), entry) == ST_OK && holders_count(entry) == 0);
    for (uint64_t i = 0; i < 5; i++) {
        entry = holders_with(arena, entry, UINT64_MAX - i);
        CHECK(holders_check(test_op(), entry) == ST_OK && holders_count(entry) == i + 1);
    }
    entry = holders_without(arena, entry, UINT64_MAX - 2);
    CHECK(holders_count(entry) == 4 && holders_at(entry, 2) == UINT64_MAX - 3);
    CHECK(holders_count(holders_without(arena, entry, 77)) == 4);
    for (uint64_t i = 0; i < 5; i++)
        entry = holders_without(arena, entry, UINT64_MAX - i);
    CHECK(!entry.data);
}

TEST(an_entry_of_a_unique_key_that_is_cut_or_newer_is_noticed)
{
    struct slice entry = holders_with(&test_op()->arena, (struct slice){ 0 }, 7);

    for (size_t size = 0; size < entry.size; size++)
        CHECK(holders_check(test_op(), slice_make(entry.data, size)) == ST_CORRUPT);
    CHECK(holders_check(test_op(), slice_make("\2\0\0\0\0\0\0\0\7", 9)) == ST_CORRUPT);
}

TEST(a_head_comes_back_as_it_was_written)
{
    struct head head = { 1, -2, (1ull << 40) - 1, true, 3, 1ull << 50 }, got;
    uint8_t bytes[HEAD_BYTES];

    head_encode(&head, bytes);
    REQUIRE(head_decode(test_op(), slice_make(bytes, sizeof(bytes)), &got) == ST_OK);
    CHECK(got.lsn == 1 && got.ts_ms == -2 && got.counter == (1ull << 40) - 1);
    CHECK(got.counts && got.documents == 3 && got.document_bytes == 1ull << 50);
}

TEST(a_head_of_the_first_format_is_read_and_written_as_it_was_and_does_not_count)
{
    static const char first[] =
        "\1\0\0\0\xf9\x99\x9d\xad\7\0\0\0\0\0\0\0\0\x68\xe5\xcf\x8b\1\0\0\1\0\0\0\0\0\0";
    uint8_t bytes[HEAD_BYTES];
    struct head head;

    REQUIRE(head_decode(test_op(), slice_make(first, sizeof(first)), &head) == ST_OK);
    CHECK(head.lsn == 7 && head.counter == 1 && !head.counts && head.documents == 0);
    CHECK(head_encode(&head, bytes) == 32 && memcmp(bytes, first, 32) == 0);
}

TEST(a_bucket_without_a_head_counts_from_its_first_commit_on)
{
    struct head head = { .lsn = 5 };

    REQUIRE(head_decode(test_op(), (struct slice){ 0 }, &head) == ST_OK);
    CHECK(head.lsn == 0 && head.counts && head.documents == 0 && head.document_bytes == 0);
}

TEST(media_come_back_as_they_were_written_and_damage_is_seen)
{
    size_t size;
    uint8_t *value = media_encode(test_op(), slice_make("a\0b", 3), &size);
    struct slice bytes;

    REQUIRE(media_decode(test_op(), slice_make(value, size), &bytes) == ST_OK);
    CHECK(slice_equal(bytes, slice_make("a\0b", 3)));
    for (size_t i = 0; i < size; i++) {
        value[i] ^= 1;
        CHECK(media_decode(test_op(), slice_make(value, size), &bytes) == ST_CORRUPT);
        value[i] ^= 1;
        CHECK(media_decode(test_op(), slice_make(value, i), &bytes) == ST_CORRUPT);
    }
    value = media_encode(test_op(), slice_of(""), &size);
    CHECK(media_decode(test_op(), slice_make(value, size), &bytes) == ST_OK && bytes.size == 0);
}

enum what { RECORD, CHANGE, HEAD };

static enum status decode(enum what what, struct slice value)
{
    struct record record;
    struct change change;
    struct head head;

    if (what == RECORD)
        return record_decode(test_op(), value, &record);
    return what == CHANGE ? change_decode(test_op(), value, &change) : head_decode(test_op(), value, &head);
}

static struct slice encode(enum what what)
{
    struct slice record = encode_sample("{\"id\":\"1\"}", 3, 4);
    struct change change = { CHANGE_DELETE, 0, 0, 1, 2, 3, record, false };
    uint8_t *value;
    size_t size;

    if (what == RECORD)
        return record;
    if (what == HEAD) {
        value = arena_alloc(&test_op()->arena, HEAD_BYTES);
        head_encode(&(struct head){ 1, 2, 3, true, 4, 5 }, value);
        return slice_make(value, HEAD_BYTES);
    }
    value = change_encode(test_op(), &change, &size);
    return slice_make(value, size);
}

TEST(any_single_flipped_bit_is_noticed)
{
    for (enum what what = RECORD; what <= HEAD; what++) {
        struct slice value = encode(what);

        REQUIRE(decode(what, value) == ST_OK);
        for (size_t bit = 0; bit < 8 * value.size; bit++) {
            char *copy = arena_text(&test_op()->arena, value);

            copy[bit / 8] ^= (char)(1 << bit % 8);
            CHECK(decode(what, slice_make(copy, value.size)) == ST_CORRUPT);
            CHECK(test_op()->error != NULL);
        }
    }
}

TEST(a_value_cut_anywhere_or_longer_is_noticed)
{
    for (enum what what = RECORD; what <= HEAD; what++) {
        struct slice value = encode(what);
        struct slice longer = arena_copy(&test_op()->arena, value); /* has a byte behind it */

        for (size_t size = 0; size < value.size; size++)
            CHECK(decode(what, slice_make(value.data, size)) == ST_CORRUPT);
        CHECK(decode(what, slice_make(longer.data, value.size + 1)) == ST_CORRUPT);
    }
}

TEST(a_newer_format_says_that_it_is_newer)
{
    for (enum what what = RECORD; what <= HEAD; what++) {
        struct slice value = encode(what);
        char *copy = arena_text(&test_op()->arena, value);

        copy[0] = HEAD_FORMAT + 1;
        value_stamp((uint8_t *)copy, value.size, 1, 1);
        CHECK(decode(what, slice_make(copy, value.size)) == ST_CORRUPT);
        CHECK(strstr(test_op()->error, "newer than this program"));
        copy[0] = 0;
        CHECK(decode(what, slice_make(copy, value.size)) == ST_CORRUPT);
        CHECK(!strstr(test_op()->error, "newer"));
    }
}

TEST(a_right_checksum_does_not_excuse_a_wrong_shape)
{
    struct slice record = encode(RECORD), change = encode(CHANGE);
    uint8_t *bytes = (uint8_t *)record.data, longer[HEAD_BYTES + 1] = { HEAD_FORMAT };

    bytes[1] = 0x80; /* a flag nobody knows */
    value_stamp(bytes, record.size, 1, 1);
    CHECK(decode(RECORD, record) == ST_CORRUPT);
    bytes[1] = 0;
    bytes[49] = 0xff; /* the EPK's size */
    value_stamp(bytes, record.size, 1, 1);
    CHECK(decode(RECORD, record) == ST_CORRUPT);
    bytes[49] = 0;
    bytes[48] = (uint8_t)(record.size - 50); /* leaves nothing for the document */
    value_stamp(bytes, record.size, 1, 1);
    CHECK(decode(RECORD, record) == ST_CORRUPT);

    value_stamp(longer, sizeof(longer), 1, 1);
    CHECK(decode(HEAD, slice_make(longer, sizeof(longer))) == ST_CORRUPT);

    bytes = (uint8_t *)change.data;
    bytes[1] = 'q';
    value_stamp(bytes, change.size, 1, 1);
    CHECK(decode(CHANGE, change) == ST_CORRUPT);
}

TEST(a_record_larger_than_the_arena_is_refused)
{
    struct record record = sample;
    struct op small;
    size_t size;

    record.document = parse("{\"text\":\"longer than the arena of this operation may grow to\"}");
    op_init(&small, test_op()->env, 64);
    CHECK(record_encode(&small, &record, &size) == NULL);
    CHECK(change_encode(&small, &(struct change){ .old_record = slice_make(sample.epk.data, 16) }, &size) !=
          NULL);
    CHECK(change_encode(&small, &(struct change){ .old_record = slice_make(sample.epk.data, 16) }, &size) ==
          NULL);
    op_free(&small);
}

/* Its CRC is right, because whoever wrote it computed one: only the sizes disagree. */
TEST(a_document_that_lies_about_its_size_is_damage)
{
    struct slice value = encode_sample("{\"id\":\"1\"}", 42, 1700000000123);
    uint8_t *bytes = (uint8_t *)value.data;
    size_t header = 9 + strlen("Bid") + strlen("A1"); /* of an object with one short name and string */
    struct record got;

    bytes[value.size - header + 1]++;
    value_stamp(bytes, value.size, 42, 1700000000123);
    CHECK(record_decode(test_op(), value, &got) == ST_CORRUPT);
    bytes[value.size - header + 1]--;
    value_stamp(bytes, value.size, 42, 1700000000123);
    CHECK(record_decode(test_op(), value, &got) == ST_OK);
}
