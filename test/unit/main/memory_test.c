/* test/unit/main/memory_test.c - what follows from the memory that there is. */
#include <string.h>

#include "main/memory.h"
#include "test.h"

TEST(the_server_takes_half_of_what_there_is_and_a_part_of_that_is_the_cache)
{
    struct settings settings = { 0 };

    CHECK(!memory_settle(&settings, 16384) && settings.memory_mb == 8192 && settings.cache_mb == 512);
    settings = (struct settings){ 0 };
    CHECK(!memory_settle(&settings, 1 << 20) && settings.memory_mb == 1 << 19 && settings.cache_mb == 1024);
    settings = (struct settings){ 0 };
    CHECK(!memory_settle(&settings, 1024) && settings.memory_mb == 512 && settings.cache_mb == 32);
    settings = (struct settings){ 0 };
    CHECK(!memory_settle(&settings, 128) && settings.memory_mb == MEMORY_MB_MIN); /* it cannot do with less */
}

TEST(what_was_asked_for_is_taken_or_refused_in_words)
{
    struct settings settings = { .memory_mb = 300 };

    CHECK(!memory_settle(&settings, 64) && settings.memory_mb == 300 && settings.cache_mb == 18);
    settings = (struct settings){ .memory_mb = 255 };
    CHECK(memory_settle(&settings, 16384));
    settings = (struct settings){ .memory_mb = 4096, .cache_mb = 2048 };
    CHECK(memory_settle(&settings, 16384));
    settings = (struct settings){ .memory_mb = 4096, .cache_mb = 512 };
    CHECK(!memory_settle(&settings, 16384) && settings.cache_mb == 512);
}

TEST(the_machine_has_memory)
{
    CHECK(memory_available_mb() >= 16 && memory_available_mb() < (size_t)1 << 40);
}

TEST(what_the_process_has_is_told)
{
    struct memory_use use;

    memory_use(&use);
    CHECK(use.resident_bytes > 1 << 20 && use.own_bytes > 0 && use.own_bytes <= use.resident_bytes);
}

TEST(memory_is_spare_when_much_more_is_kept_than_held)
{
    const uint64_t mb = 1 << 20;

    CHECK(memory_is_spare(&(struct memory_use){ .own_bytes = 300 * mb, .heap_bytes = 150 * mb }));
    CHECK(!memory_is_spare(&(struct memory_use){ .own_bytes = 300 * mb, .heap_bytes = 260 * mb }));
    CHECK(!memory_is_spare(&(struct memory_use){ .own_bytes = 20 * mb, .heap_bytes = 8 * mb })); /* idle */
    CHECK(!memory_is_spare(&(struct memory_use){ .own_bytes = 300 * mb, .heap_bytes = 0 })); /* not told */
}

/* The system's own allocator, also where a sanitizer has another in its place. */
void *__libc_malloc(size_t bytes); /* NOLINT: its name is glibc's */
void __libc_free(void *memory);    /* NOLINT */

enum { PIECES = 1024, PIECE_BYTES = 120 * 1024, HELD_BYTES = 5000 };

static void *filled(size_t bytes)
{
    return memset(__libc_malloc(bytes), 1, bytes);
}

TEST(holes_between_what_is_held_go_back_to_the_system)
{
    void *piece[PIECES], *held[PIECES];
    struct memory_use full, after;
    int64_t due_ms = 0;

    for (size_t i = 0; i < PIECES; i++) {
        piece[i] = filled(PIECE_BYTES);
        held[i] = filled(HELD_BYTES);
    }
    for (size_t i = 0; i < PIECES; i++)
        __libc_free(piece[i]);
    memory_use(&full);
    CHECK(memory_is_spare(&full));
    memory_give_back(1000, &due_ms);
    memory_use(&after);
    CHECK(after.own_bytes + (uint64_t)PIECES / 2 * PIECE_BYTES < full.own_bytes);
    CHECK(due_ms == 11000);
    memory_give_back(due_ms - 1, &due_ms);
    CHECK(due_ms == 11000); /* it was not due */
    memory_give_back(due_ms, &due_ms);
    CHECK(due_ms > 11000);
    for (size_t i = 0; i < PIECES; i++)
        __libc_free(held[i]);
}
