/* test/unit/base/turns_test.c - owners take turns, and leave places for others. */
#include <string.h>

#include "base/turns.h"
#include "test.h"

enum { OWNERS = 4, TURNS = 40 };

/* Takes all that wait, and tells their owners as letters in that order. */
static const char *taken(struct turns *turns)
{
    static char text[TURNS + 1];
    size_t size = 0;

    for (struct turn *turn = turns_next(turns, 0); turn; turn = turns_next(turns, 0))
        text[size++] = (char)('a' + turn->owner - 1);
    text[size] = '\0';
    return text;
}

static void wait_all(struct turns *turns, struct turn *turn, const char *owners)
{
    for (size_t i = 0; owners[i]; i++) {
        turn[i] = (struct turn){ .owner = (uint64_t)(owners[i] - 'a' + 1) };
        turns_wait(turns, &turn[i]);
    }
}

TEST(owners_take_turns_however_many_of_one_came_first)
{
    struct turns turns = { 0 };
    struct turn turn[TURNS];

    wait_all(&turns, turn, "aaaaabbc");
    CHECK(strcmp(taken(&turns), "abcabaaa") == 0);
    CHECK(!turns.first);
}

TEST(whoever_was_taken_last_is_behind_those_who_wait)
{
    struct turns turns = { 0 };
    struct turn turn[TURNS], again = { .owner = 2 };

    wait_all(&turns, turn, "aaab");
    CHECK(turns_next(&turns, 0) == &turn[0]);
    CHECK(turns_next(&turns, 0) == &turn[3]);
    turns_wait(&turns, &again); /* who comes again and again passes nobody */
    CHECK(turns_next(&turns, 0) == &turn[1]);
    CHECK(turns_next(&turns, 0) == &again);
    CHECK(turns_next(&turns, 0) == &turn[2]);
}

TEST(of_one_owner_the_first_to_come_is_the_first_to_be_taken)
{
    struct turns turns = { 0 };
    struct turn turn[TURNS];

    wait_all(&turns, turn, "aaaa");
    for (size_t i = 0; i < 4; i++)
        CHECK(turns_next(&turns, 0) == &turn[i]);
    CHECK(!turns_next(&turns, 0));
}

TEST(one_owner_leaves_places_for_others)
{
    struct turns turns = { 0 };
    struct turn turn[TURNS];

    wait_all(&turns, turn, "aaabb");
    for (size_t i = 0; i < 4; i++)
        turns_hold(&turns, turns_next(&turns, 2));
    CHECK(!turns_may_hold(&turns, 1, 2) && turns_may_hold(&turns, 3, 2));
    CHECK(turns.first == &turn[2] && !turns_first(&turns, 2) && !turns_next(&turns, 2));
    turns_release(&turns, &turn[0]);
    CHECK(turns_first(&turns, 2) == &turn[2] && turns_next(&turns, 2) == &turn[2]);
}

TEST(those_without_an_owner_are_taken_as_they_came_and_are_not_counted)
{
    struct turns turns = { 0 };
    struct turn turn[3] = { 0 };

    for (size_t i = 0; i < 3; i++)
        turns_wait(&turns, &turn[i]);
    for (size_t i = 0; i < 3; i++) {
        CHECK(turns_next(&turns, 1) == &turn[i]);
        turns_hold(&turns, &turn[i]);
    }
    CHECK(!turns.held);
}

/* Random comings, leavings and takings against a list that is searched from its front. */
TEST(whoever_leaves_is_missed_by_nobody)
{
    struct turns turns = { 0 };
    struct turn turn[TURNS];
    bool waits[TURNS] = { 0 };
    size_t count = 0;

    for (int step = 0; step < 20000; step++) {
        size_t i = test_random() % TURNS;

        if (waits[i]) {
            turns_leave(&turns, &turn[i]);
        } else {
            turn[i] = (struct turn){ .owner = test_random() % OWNERS };
            turns_wait(&turns, &turn[i]);
        }
        waits[i] = !waits[i];
        count = waits[i] ? count + 1 : count - 1;
        if (test_random() % 8 == 0 && count > 0) {
            const struct turn *next = turns_next(&turns, 0);

            REQUIRE(next && waits[next - turn]);
            waits[next - turn] = false;
            count--;
        }
    }
    for (; count > 0; count--)
        REQUIRE(turns_next(&turns, 0));
    CHECK(!turns_next(&turns, 0));
}
