/* test/unit/packed/page_test.c - packing marks into pages and back; damage is told. */
#include <stdlib.h>

#include "packed/page.h"
#include "test.h"

static const char bucket[PAGE_BUCKET_BYTES] = { 0, 0, 0, 0, 7, 0 };

static uint64_t draw(uint64_t below)
{
    return test_random() % below;
}

static struct slice in_bucket(void)
{
    return slice_make(bucket, sizeof(bucket));
}

static struct slice page_of(const struct page_writer *writer)
{
    return slice_make(writer->bytes, writer->size);
}

struct some_marks {
    uint64_t number[MARKS_MAX];
    bool gone[MARKS_MAX];
    size_t count;
};

static void draw_marks(struct some_marks *marks, bool removes)
{
    uint64_t number = draw(1000);

    marks->count = 1 + draw(draw(4) ? 5 : MARKS_MAX);
    for (size_t i = 0; i < marks->count; i++) {
        marks->number[i] = number;
        marks->gone[i] = removes && draw(3) == 0;
        number += 1 + draw(draw(5) ? 9 : (uint64_t)1 << 50);
    }
}

TEST(what_goes_into_a_page_comes_out_of_it)
{
    struct page_writer *writer = malloc(sizeof(*writer));
    struct page page = { 0 };
    struct some_marks put;
    struct marks got;

    for (int round = 0; round < 300; round++) {
        char term[64];
        size_t size = (size_t)snprintf(term, sizeof(term), "pathpath-%06d", round), taken;

        draw_marks(&put, round % 2);
        page_begin(writer, round - 150, (uint32_t)round);
        taken = page_put(writer, slice_make(term, size), put.number, put.gone, put.count);
        CHECK(taken > 0 && taken <= put.count && writer->size <= PAGE_BYTES);
        CHECK(writer->last == put.number[taken - 1]);
        REQUIRE(page_read(test_op(), &page, in_bucket(), page_of(writer)) == ST_OK);
        CHECK(page.before == round - 150 && page.ordinal == (uint32_t)round && page.count == 1);
        REQUIRE(page_marks(test_op(), &page, 0, &got) == ST_OK);
        CHECK(got.count == taken && page_net(&page, 0) == writer->net);
        CHECK(memcmp(got.number, put.number, taken * sizeof(got.number[0])) == 0);
        for (size_t i = 0; i < taken; i++)
            CHECK(marks_is_gone(&got, i) == put.gone[i]);
    }
    page_free(&page);
    free(writer);
}

static size_t fill(struct page_writer *writer)
{
    const uint64_t number = 12;
    char term[64];
    size_t terms = 0;

    page_begin(writer, 0, 0);
    for (;;) {
        size_t size = (size_t)snprintf(term, sizeof(term), "pathpathvalue %05zu", terms);

        if (page_put(writer, slice_make(term, size), &number, NULL, 1) == 0)
            return terms;
        terms++;
    }
}

TEST(a_full_page_takes_no_more_and_its_terms_are_found)
{
    struct page_writer *writer = malloc(sizeof(*writer));
    size_t terms = fill(writer);
    struct page page = { 0 };
    char place[64];

    CHECK(terms > 300 && writer->size <= PAGE_BYTES);
    REQUIRE(page_read(test_op(), &page, in_bucket(), page_of(writer)) == ST_OK);
    CHECK(page.count == terms);
    memcpy(place, bucket, sizeof(bucket));
    for (size_t i = 0; i < terms; i++) {
        int size = snprintf(place + sizeof(bucket), sizeof(place) - sizeof(bucket), "pathpathvalue %05zu", i);
        struct slice exact = slice_make(place, sizeof(bucket) + (size_t)size);

        CHECK(slice_equal(page_place(&page, i), exact));
        CHECK(page_find(&page, exact) == i);
        place[exact.size] = 'x'; /* behind it, and before the next one */
        CHECK(page_find(&page, slice_make(place, exact.size + 1)) == i + 1);
    }
    page_free(&page);
    free(writer);
}

/* Whatever is read, it is read without harm; a page cut short is never sound. */
TEST(a_damaged_page_is_corrupt_and_no_more)
{
    struct page_writer *writer = malloc(sizeof(*writer));
    size_t terms = fill(writer);
    struct page page = { 0 };
    struct marks marks;
    char *bytes;

    bytes = malloc(writer->size);
    for (size_t size = 0; size < writer->size; size++) {
        memcpy(bytes, writer->bytes, size);
        if (page_read(test_op(), &page, in_bucket(), slice_make(bytes, size)) == ST_OK)
            CHECK(page.count < terms && page.count > 0); /* cut between two records */
    }
    for (int round = 0; round < 3000; round++) {
        memcpy(bytes, writer->bytes, writer->size);
        for (uint64_t i = 0; i <= draw(4); i++)
            bytes[draw(writer->size)] = (char)test_random();
        if (page_read(test_op(), &page, in_bucket(), slice_make(bytes, writer->size)) != ST_OK)
            continue;
        for (size_t i = 0; i < page.count; i++)
            if (page_marks(test_op(), &page, i, &marks) == ST_OK)
                CHECK(marks.count == page.record[i].count);
    }
    page_free(&page);
    free(bytes);
    free(writer);
}

TEST(numbers_that_do_not_rise_are_damage)
{
    /* format, before, ordinal, shared 0, 8 bytes of term, two numbers, none removed, 2 bytes: 5, and then the same */
    static const char same[] = "\x01\0\0\0\0\0\0\0\0\0\0\0\0\x00\x08pathpath\x02\x00\x02\x05\x00";
    struct page page = { 0 };
    struct marks marks;

    REQUIRE(page_read(test_op(), &page, in_bucket(), slice_make(same, sizeof(same) - 1)) == ST_OK);
    CHECK(page_marks(test_op(), &page, 0, &marks) == ST_CORRUPT);
    page_free(&page);
}

TEST(terms_that_do_not_rise_are_damage)
{
    static const char falls[] =
        "\x01\0\0\0\0\0\0\0\0\0\0\0\0\x00\x08pathpath\x01\x00\x01\x05\x03\x05gpath\x01\x00\x01\x05";
    struct page page = { 0 };

    CHECK(page_read(test_op(), &page, in_bucket(), slice_make(falls, sizeof(falls) - 1)) == ST_CORRUPT);
    page_free(&page);
}
