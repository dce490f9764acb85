/* test/unit/main/memory_test.c - what follows from the memory that there is. */
#include "main/memory.h"
#include "test.h"

TEST(the_server_takes_half_of_what_there_is_and_a_part_of_that_is_the_cache)
{
    struct settings settings = { 0 };

    CHECK(!memory_settle(&settings, 16384) && settings.memory_mb == 8192 && settings.cache_mb == 256);
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
