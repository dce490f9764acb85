/* test/unit/index/term_test.c - ids of paths, which are part of the format, and values inside terms. */
#include "index/term.h"
#include "rig.h"

static const struct hash_seed no_seed = { 0 }, a_seed = { 1, 2 };

static path_id member(const char *name)
{
    return path_member(no_seed, path_root(TERM_RANGE), slice_of(name));
}

static path_id seeded(const char *name)
{
    return path_member(a_seed, path_root(TERM_RANGE), slice_of(name));
}

TEST(the_ids_of_paths_are_the_same_on_every_machine_and_for_ever)
{
    CHECK(path_root(TERM_RANGE) == 0xb456bcfc34c2cb2cu);
    CHECK(path_root(TERM_COMPOSITE) == 0x3abf2a20650683e7u);
    CHECK(member("tags") == 0x50b4d5043c935758u);
    CHECK(seeded("tags") == 0xe362a125c2a638b4u);
    CHECK(path_element(member("tags")) == 0xfa7d8a4afc50ebc9u);
    CHECK(path_join(path_root(TERM_COMPOSITE), member("tags"), true) == 0x508161842290a591u);
    CHECK(path_spatial(member("tags"), NULL) == 0x6f3c7b7ddb856031u);
}

TEST(paths_that_differ_in_anything_have_different_ids)
{
    path_id root = path_root(TERM_RANGE), a = member("a"), b = member("b");
    path_id ids[] = { root,
                      path_root(TERM_COMPOSITE),
                      path_root(TERM_TUPLE),
                      path_root(TERM_SPATIAL),
                      a,
                      b,
                      member("ab"),
                      member(""),
                      path_member(no_seed, a, slice_of("b")),
                      path_member(no_seed, b, slice_of("a")),
                      path_element(root),
                      path_element(a),
                      path_element(path_element(a)),
                      path_spatial(a, NULL),
                      path_spatial(a, (double[]){ 0, 0, 1, 1 }),
                      path_spatial(a, (double[]){ 0, 0, 1, 2 }),
                      path_root(TERM_COMPUTED),
                      path_join(root, a, false),
                      path_join(root, a, true),
                      path_join(path_join(root, a, false), b, false),
                      path_join(path_join(root, b, false), a, false) };
    size_t count = sizeof(ids) / sizeof(ids[0]);

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            CHECK(ids[i] != ids[k]);
}

/* test/security/twins.py --name price has made the second name. */
TEST(names_that_were_made_to_share_an_id_do_not_share_it_with_a_seed)
{
    CHECK(member("price") == member("bgeb7f6vc0mv9yzl1bz^ OzUaSXL`ICr"));
    CHECK(seeded("price") != seeded("bgeb7f6vc0mv9yzl1bz^ OzUaSXL`ICr"));
}

/* In ORDER BY order. */
static const char *const values[] = {
    "null", "false", "true",       "-1e300", "-1",  "0",         "0.5", "1", "9007199254740993",
    "''",   "'a'",   "'a\\u0000'", "'ab'",   "'b'", "'\xc3\xbc'"
};
enum { VALUES = sizeof(values) / sizeof(values[0]) };

TEST(descending_values_sort_the_other_way_round_and_tell_where_they_end)
{
    uint8_t ascending[VALUES][ORDERED_BYTES_MAX + 4], descending[VALUES][ORDERED_BYTES_MAX + 4];
    size_t size[VALUES];

    for (size_t i = 0; i < VALUES; i++) {
        struct json value = rig_json(test_op(), values[i]);

        memset(ascending[i], 0, sizeof(ascending[i]));
        memset(descending[i], 0, sizeof(descending[i]));
        size[i] = term_put_value(ascending[i], value, false);
        CHECK(term_put_value(descending[i], value, true) == size[i]);
        CHECK(term_value_size(slice_make(ascending[i], sizeof(ascending[i])), false) == size[i]);
        CHECK(term_value_size(slice_make(descending[i], sizeof(descending[i])), true) == size[i]);
        CHECK(term_value_size(slice_make(descending[i], size[i] - 1), true) == 0);
        for (size_t k = 0; k < i; k++) {
            CHECK(memcmp(ascending[k], ascending[i], sizeof(ascending[i])) < 0);
            CHECK(memcmp(descending[k], descending[i], sizeof(descending[i])) > 0);
        }
    }
}

TEST(undefined_comes_before_all_and_a_container_is_its_hash)
{
    struct json list = rig_json(test_op(), "[1,{'a':2}]");
    uint8_t bytes[ORDERED_BYTES_MAX], hashed[ORDERED_BYTES_MAX];
    size_t size;

    CHECK(term_put_value(bytes, json_undefined, false) == 1 && bytes[0] == 1);
    size = term_put_value(bytes, list, true);
    CHECK(size == ORDERED_HASHED_BYTES);
    CHECK(term_put_hashed(hashed, JSON_ARRAY, json_hash(list), true) == size);
    CHECK(memcmp(bytes, hashed, size) == 0);
}

TEST(a_time_is_the_number_of_whole_seconds_and_one_not_known_is_above_all)
{
    uint8_t time[TERM_TIME_BYTES], number[ORDERED_BYTES_MAX], unknown[TERM_TIME_BYTES];

    for (int descending = 0; descending < 2; descending++) {
        CHECK(term_put_time(time, 1700000000999, descending) == TERM_TIME_BYTES);
        CHECK(term_put_value(number, rig_json(test_op(), "1700000000"), descending) == TERM_TIME_BYTES);
        CHECK(memcmp(time, number, TERM_TIME_BYTES) == 0);
        CHECK(term_put_time(unknown, TERM_TIME_UNKNOWN, descending) == TERM_TIME_BYTES);
        CHECK(term_value_size(slice_make(unknown, TERM_TIME_BYTES), descending) == TERM_TIME_BYTES);
        CHECK(term_put_value(number, rig_json(test_op(), "1.7976931348623157e308"), descending) ==
              TERM_TIME_BYTES);
        CHECK(descending ? memcmp(unknown, number, TERM_TIME_BYTES) < 0
                         : memcmp(unknown, number, TERM_TIME_BYTES) > 0);
    }
}

TEST(terms_of_a_path_begin_with_its_id_highest_byte_first)
{
    uint8_t bytes[TERM_PATH_BYTES];

    term_put_path(bytes, 0x0102030405060708u);
    CHECK(memcmp(bytes, "\x01\x02\x03\x04\x05\x06\x07\x08", 8) == 0);
}
