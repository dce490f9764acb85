/* test/unit/query/eval/known_test.c - what is known of hashes is what they are. */
#include "query/eval/known.h"
#include "test.h"

static void check(struct known_hashes *known, struct value value)
{
    struct op *op = test_op();
    struct hash128 wanted = value_hash(op, value);

    for (int time = 0; time < 2; time++) { /* the second time it is known */
        struct hash128 hash = known_hash(op, known, value);

        CHECK(hash.h1 == wanted.h1 && hash.h2 == wanted.h2);
    }
}

TEST(a_hash_that_is_known_is_the_values_own)
{
    struct known_hashes known = { .memory = &test_op()->arena };
    struct value values[] = {
        value_undefined,
        value_null,
        value_bool(true),
        value_bool(false),
        value_int(1),
        value_int(-1),
        value_double(1.5),
        value_double(0x1p60),
        value_int(0),
        value_double(NAN),
        value_double(-0.0),
        value_int(1ll << 60),
        value_string(slice_of("")),
        value_string(slice_make("\1\0\0\0\0\0\0\0", 8)),
    };

    test_op()->seed = (struct hash_seed){ 1, 2 };
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
            check(&known, values[i]);
}

/* More than the table has places, so that they take each other's, of lengths around the longest that is kept. */
TEST(values_that_share_a_place_keep_their_own_hashes)
{
    struct known_hashes known = { .memory = &test_op()->arena };
    char text[100];

    test_op()->seed = (struct hash_seed){ 1, 2 };
    for (int i = 0; i < 3000; i++) {
        for (size_t at = 0; at < sizeof(text); at++)
            text[at] = (char)('a' + test_random() % 3);
        check(&known, value_string(slice_make(text, test_random() % sizeof(text))));
        check(&known, value_int((int64_t)(test_random() % 2000)));
        check(&known, value_double((double)(test_random() % 2000) / 2));
    }
}
