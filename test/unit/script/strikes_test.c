/* test/unit/script/strikes_test.c - when a script is blocked, and when no longer. */
#include "script/strikes.h"
#include "test.h"

static void note_many(struct strikes *strikes, const char *key, int count, int64_t now_ms)
{
    for (int i = 0; i < count; i++)
        strikes_note(strikes, key, true, now_ms);
}

/* Promise 1. */
TEST(a_script_is_blocked_after_so_many_strikes_in_a_row_and_others_are_not)
{
    struct strikes *strikes = strikes_open();

    note_many(strikes, "bad", STRIKES_MAX - 1, 5);
    CHECK(!strikes_block(strikes, "bad", 5));
    note_many(strikes, "bad", 1, 6);
    CHECK(strikes_block(strikes, "bad", 6));
    CHECK(!strikes_block(strikes, "bad-replaced", 6));
    strikes_close(strikes);
}

/* Promise 2. */
TEST(a_good_run_clears_it_and_a_minute_later_it_may_try_once)
{
    struct strikes *strikes = strikes_open();

    note_many(strikes, "s", STRIKES_MAX - 1, 0);
    strikes_note(strikes, "s", false, 0);
    note_many(strikes, "s", STRIKES_MAX - 1, 0);
    CHECK(!strikes_block(strikes, "s", 0));
    note_many(strikes, "s", 1, 0);
    CHECK(strikes_block(strikes, "s", STRIKES_BLOCKED_MS - 1));
    CHECK(!strikes_block(strikes, "s", STRIKES_BLOCKED_MS));
    note_many(strikes, "s", 1, STRIKES_BLOCKED_MS);
    CHECK(strikes_block(strikes, "s", STRIKES_BLOCKED_MS + 1));
    strikes_close(strikes);
}

/* Promise 3. */
TEST(of_many_bad_scripts_the_latest_are_remembered)
{
    struct strikes *strikes = strikes_open();
    char key[32];

    note_many(strikes, "first", STRIKES_MAX, 0);
    for (int i = 1; i <= STRIKES_SCRIPTS_MAX; i++) {
        snprintf(key, sizeof(key), "s%d", i);
        note_many(strikes, key, STRIKES_MAX, i);
    }
    CHECK(!strikes_block(strikes, "first", STRIKES_SCRIPTS_MAX));
    CHECK(strikes_block(strikes, "s1", STRIKES_SCRIPTS_MAX));
    CHECK(strikes_block(strikes, key, STRIKES_SCRIPTS_MAX));
    strikes_close(strikes);
}
