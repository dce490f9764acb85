/* test/unit/packed/filter_test.c - which terms a run may have. */
#include "keys/ordered.h"
#include "packed/filter.h"
#include "test.h"

static struct slice term_of(char *bytes, unsigned value)
{
    char text[16];
    int size = snprintf(text, sizeof(text), "%u", value);

    memcpy(bytes, "pathpath\x06", 9);
    for (int i = 0; i < size; i++)
        bytes[9 + i] = (char)(text[i] + 1);
    bytes[9 + size] = 0;
    return slice_make(bytes, 10 + (size_t)size);
}

static uint64_t hash_of(uint64_t bucket, unsigned value)
{
    char bytes[32];
    uint64_t hash = 0;

    CHECK(filter_hash(bucket, term_of(bytes, value), &hash));
    return hash;
}

static unsigned count_wrong(const struct filter *filter)
{
    unsigned wrong = 0;

    for (unsigned i = 0; i < 10000; i++)
        wrong += filter_may_have(filter, hash_of(1, 1000000 + i));
    return wrong;
}

TEST(a_filter_has_all_that_went_in_and_little_else)
{
    struct filter *filter = filter_new(20000), *again;

    for (unsigned i = 0; i < 20000; i++)
        filter_add(filter, hash_of(1, i));
    for (unsigned i = 0; i < 20000; i++)
        CHECK(filter_may_have(filter, hash_of(1, i)));
    CHECK(count_wrong(filter) < 300);
    again = filter_from(filter_bytes(filter));
    CHECK(again && count_wrong(again) == count_wrong(filter));
    filter_free(again);
    filter_free(filter);
}

TEST(a_filter_that_was_made_too_large_becomes_small_and_loses_nothing)
{
    struct filter *filter = filter_new(1000000);
    size_t before = filter_bytes(filter).size;

    for (unsigned i = 0; i < 40000; i++)
        filter_add(filter, hash_of(1, i));
    filter_shrink(filter);
    CHECK(filter_bytes(filter).size <= before / 16);
    for (unsigned i = 0; i < 40000; i++)
        CHECK(filter_may_have(filter, hash_of(1, i)));
    CHECK(count_wrong(filter) < 300);
    filter_free(filter);
}

TEST(terms_with_one_first_value_have_one_hash_and_buckets_differ)
{
    char one[64], several[64];
    struct slice first = term_of(one, 77), joined = term_of(several, 77);
    uint64_t a, b;

    memcpy(several + joined.size, "\x02", 1); /* a second value: null */
    joined.size++;
    CHECK(filter_hash(1, first, &a) && filter_hash(1, joined, &b));
    CHECK(a == b);
    CHECK(filter_hash(2, first, &b));
    CHECK(a != b);
}

TEST(what_is_no_whole_value_has_no_hash)
{
    uint64_t hash;
    char bytes[32];
    struct slice term = term_of(bytes, 12345);

    CHECK(!filter_hash(1, slice_make(bytes, 8), &hash));
    CHECK(!filter_hash(1, slice_make(bytes, term.size - 1), &hash)); /* the beginning of a string */
    CHECK(filter_from(slice_make(bytes, 5)) == NULL);
}
