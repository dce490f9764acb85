/* test/unit/packed/manifest_test.c - the list of runs as bytes. */
#include "packed/manifest.h"
#include "test.h"

TEST(a_manifest_comes_back_as_it_was)
{
    struct run_facts run[2] = { { 3, 1, 1000, 10, 70, 90, -5, 640 }, { 9, 0, 5, 1, 1, 1, 1, 64 } };
    struct manifest manifest = { .next_run = 12, .run = run, .count = 2 }, got;
    struct op *op = test_op();

    REQUIRE(manifest_decode(op, manifest_encode(op, &manifest), &got) == ST_OK);
    CHECK(got.next_run == 12 && got.count == 2);
    CHECK(memcmp(got.run, run, sizeof(run)) == 0);
}

TEST(no_manifest_is_one_without_runs)
{
    struct manifest got;

    REQUIRE(manifest_decode(test_op(), (struct slice){ 0 }, &got) == ST_OK);
    CHECK(got.count == 0 && got.next_run == 1);
}

TEST(each_byte_of_a_manifest_counts)
{
    struct run_facts run = { .id = 3 };
    struct manifest manifest = { .next_run = 4, .run = &run, .count = 1 }, got;
    struct op *op = test_op();
    struct slice value = manifest_encode(op, &manifest);

    for (size_t i = 0; i < value.size; i++) {
        ((char *)value.data)[i] ^= 4;
        CHECK(manifest_decode(op, value, &got) == ST_CORRUPT);
        ((char *)value.data)[i] ^= 4;
        CHECK(manifest_decode(op, slice_make(value.data, i), &got) == ST_CORRUPT);
    }
}

TEST(a_settled_lsn_comes_back_and_none_is_nought)
{
    struct op *op = test_op();
    uint64_t lsn;

    CHECK(settled_decode(op, settled_encode(op, 77), &lsn) == ST_OK && lsn == 77);
    CHECK(settled_decode(op, (struct slice){ 0 }, &lsn) == ST_OK && lsn == 0);
    CHECK(settled_decode(op, slice_of("?"), &lsn) == ST_CORRUPT);
}
