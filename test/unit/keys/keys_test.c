/* test/unit/keys/keys_test.c - keys sort as they must, come apart again, and never meet. */
#include "keys/keys.h"
#include "test.h"

static struct arena *arena(void)
{
    return &test_op()->arena;
}

static bool less(struct slice a, struct slice b)
{
    return slice_compare(a, b) < 0;
}

TEST(a_key_comes_apart_into_what_it_was_made_of)
{
    uint64_t bucket = bucket_make(0xabcdef012, 0x345), number;
    uint32_t position;
    struct key_parts parts;

    REQUIRE(key_parse(key_document(arena(), bucket, 0x0123456789abcdef), &parts));
    CHECK(parts.bucket == bucket && bucket_container(parts.bucket) == 0xabcdef012 &&
          parts.kind == KEY_DOCUMENT);
    CHECK(key_parse_document(&parts, &number) && number == 0x0123456789abcdef);
    CHECK(!key_parse_log(&parts, &number, &position) && !key_parse_dropped(&parts, &number));

    REQUIRE(key_parse(key_log(arena(), bucket, 77, 3), &parts));
    CHECK(key_parse_log(&parts, &number, &position) && number == 77 && position == 3);
    CHECK(!key_parse_document(&parts, &number));

    REQUIRE(key_parse(key_dropped(arena(), 0xfffffffff), &parts));
    CHECK(parts.bucket == 0 && key_parse_dropped(&parts, &number) && number == 0xfffffffff);

    REQUIRE(key_parse(key_catalog(arena(), slice_of("\x01\x02\x03\x04")), &parts));
    CHECK(parts.bucket == 0 && parts.kind == KEY_CATALOG && slice_is(parts.rest, "\x01\x02\x03\x04"));

    REQUIRE(key_parse(key_id(arena(), bucket, slice_of("EPK"), slice_of("id")), &parts));
    CHECK(parts.kind == KEY_ID && slice_is(parts.rest, "EPKid"));

    REQUIRE(
        key_parse(key_unique(arena(), bucket, slice_of("EPK"), 3, (struct hash128){ 0x41, 0x42 }), &parts));
    CHECK(parts.kind == KEY_UNIQUE &&
          slice_equal(parts.rest, slice_make("EPK\3\0\0\0\0\0\0\0A\0\0\0\0\0\0\0B", 20)));
    REQUIRE(key_parse(key_unique(arena(), bucket, slice_of(""), 0, (struct hash128){ 0 }), &parts));
    CHECK(parts.rest.size == 18 && parts.rest.data[0] == '\xff');

    REQUIRE(key_parse(key_head(arena(), bucket), &parts));
    CHECK(parts.kind == KEY_HEAD && parts.rest.size == 0);
}

TEST(bytes_that_are_no_key_do_not_come_apart)
{
    struct slice document = key_document(arena(), 1, 2);
    struct key_parts parts;
    uint64_t number;

    CHECK(!key_parse(slice_of(""), &parts));
    CHECK(!key_parse(key_bucket_first(arena(), 1), &parts));
    CHECK(!key_parse(slice_make("\0\0\0\0\0\1z", 7), &parts));
    CHECK(!key_parse(slice_make("\0\0\0\0\0\1\0", 7), &parts));
    REQUIRE(key_parse(slice_make(document.data, document.size - 1), &parts));
    CHECK(!key_parse_document(&parts, &number));
}

TEST(documents_lie_by_number_and_changes_by_lsn)
{
    for (int i = 0; i < 1000; i++) {
        uint64_t a = test_random() >> test_random() % 60, b = test_random() >> test_random() % 60;
        uint32_t p = (uint32_t)test_random(), q = (uint32_t)test_random();

        CHECK(less(key_document(arena(), 5, a), key_document(arena(), 5, b)) == (a < b));
        CHECK(less(key_log(arena(), 5, a, p), key_log(arena(), 5, b, q)) == (a < b));
        CHECK(less(key_log(arena(), 5, a, p), key_log(arena(), 5, a, q)) == (p < q));
    }
}

TEST(a_kinds_keys_lie_between_its_bounds_and_in_its_bucket)
{
    static const enum key_kind kinds[] = { KEY_HEAD, KEY_DOCUMENT, KEY_ID, KEY_LOG };
    uint64_t bucket = bucket_make(0xffffffff0, 0xfff);
    struct slice key[] = {
        key_head(arena(), bucket),
        key_document(arena(), bucket, UINT64_MAX),
        key_id(arena(), bucket, slice_of("\x3f\xff"), slice_of("\xf4")),
        key_log(arena(), bucket, UINT64_MAX, UINT32_MAX),
    };

    for (size_t i = 0; i < 4; i++) {
        CHECK(!less(key[i], key_kind_first(arena(), bucket, kinds[i])));
        CHECK(less(key[i], key_kind_end(arena(), bucket, kinds[i])));
        CHECK(less(key_bucket_first(arena(), bucket), key[i]));
        CHECK(less(key[i], key_bucket_end(arena(), bucket)));
        CHECK(less(key_bucket_end(arena(), bucket - 1), key[i]));
        for (size_t j = 0; j < 4; j++)
            CHECK(i == j || less(key[i], key_kind_first(arena(), bucket, kinds[j])) ||
                  !less(key[i], key_kind_end(arena(), bucket, kinds[j])));
    }
}

TEST(a_buckets_end_is_the_next_ones_first_key_across_containers)
{
    uint64_t last = bucket_make(7, (1 << BUCKET_BITS) - 1);

    CHECK(slice_equal(key_bucket_end(arena(), last), key_bucket_first(arena(), bucket_make(8, 0))));
}

TEST(a_document_without_a_partition_key_shares_no_key_with_one_that_has_one)
{
    struct slice epk = slice_of("0123456789abcdef");

    CHECK(!slice_equal(key_id(arena(), 1, epk, slice_of("x")),
                       key_id(arena(), 1, slice_of(""), slice_of("0123456789abcdefx"))));
}

TEST(a_key_says_whose_it_is_and_of_which_kind_without_being_taken_apart)
{
    uint64_t bucket = bucket_make(0xabcdef012, 0x345);
    struct slice document = key_document(arena(), bucket, 7), entry;
    uint8_t memory[KEY_INDEX_TERM + 4];

    CHECK(key_bucket(document) == bucket && key_is_of_bucket(document, bucket));
    CHECK(!key_is_of_bucket(document, bucket + 1));
    CHECK(!key_is_of_bucket(key_bucket_first(arena(), bucket), bucket)); /* it has no kind */
    CHECK(key_is_document(document) && !key_is_index(document));
    CHECK(!key_is_document(key_log(arena(), bucket, 7, 0)) && !key_is_document(slice_of("")));
    entry = key_index_term_put(memory, bucket, slice_of("term"));
    CHECK(key_is_index(entry) && slice_equal(entry, key_index_term(arena(), bucket, slice_of("term"))));
}
