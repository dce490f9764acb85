/* test/unit/base/buf_test.c - bytes that grow, and fail once, at the end. */
#include "base/buf.h"
#include "test.h"

TEST(a_buffer_holds_what_was_appended_however_it_grew)
{
    struct buf buf;
    struct slice all;
    size_t at = 0;

    buf_init(&buf, &test_op()->arena);
    for (int i = 0; i < 5000; i++) {
        buf_printf(&buf, "%d,", i);
        if (i % 50 == 0)
            arena_alloc(&test_op()->arena, 1); /* so that it must sometimes move */
    }
    CHECK(!buf.failed);
    all = buf_as_slice(&buf);
    for (int i = 0; i < 5000; i++) {
        char number[16];

        snprintf(number, sizeof(number), "%d,", i);
        REQUIRE(slice_starts_with(slice_after(all, at), number));
        at += strlen(number);
    }
    CHECK(at == all.size);
}

TEST(the_small_appends_append_what_they_say)
{
    struct buf buf;

    buf_init(&buf, &test_op()->arena);
    CHECK(buf_as_slice(&buf).size == 0 && buf_as_slice(&buf).data != NULL);
    buf_text(&buf, "a");
    buf_byte(&buf, 'b');
    buf_slice(&buf, slice_of("cd"));
    buf_append(&buf, NULL, 0);
    buf_u64(&buf, 0);
    buf_byte(&buf, ' ');
    buf_u64(&buf, UINT64_MAX);
    CHECK(slice_is(buf_as_slice(&buf), "abcd0 18446744073709551615"));
}

TEST(past_the_limit_a_buffer_keeps_what_it_has_and_ignores_the_rest)
{
    struct arena small;
    struct buf buf;

    arena_init(&small, 300);
    buf_init(&buf, &small);
    buf_text(&buf, "kept");
    for (int i = 0; i < 100; i++)
        buf_text(&buf, "0123456789");
    CHECK(buf.failed);
    CHECK(buf.size > 200 && buf.size <= 300);
    CHECK(slice_starts_with(buf_as_slice(&buf), "kept0123456789"));
    buf_byte(&buf, 'x'); /* would fit, but a hole in the middle is worse than an end */
    CHECK(buf.failed && buf.data[buf.size - 1] == '9');
    CHECK(buf_reserve(&buf, 0) == NULL);
    arena_free(&small);
}

TEST(a_large_buffer_that_moves_takes_little_more_than_it_holds)
{
    static char block[64 * 1024];
    struct claim claim = { 0 };
    struct arena arena;
    struct buf buf;

    arena_init(&arena, 64 << 20);
    arena.claim = &claim;
    buf_init(&buf, &arena);
    buf.moves = true;
    for (int i = 0; i < 320; i++) { /* 20 MB */
        memset(block, i, sizeof(block));
        buf_append(&buf, block, sizeof(block));
        arena_alloc(&arena, 64);
    }
    CHECK(!buf.failed && buf.size == 20 << 20 && claim.bytes < 28 << 20);
    for (size_t i = 0; i < 320; i++)
        CHECK((unsigned char)buf.data[i * sizeof(block)] == (unsigned char)i);
    arena_free(&arena);
}
