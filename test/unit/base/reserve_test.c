/* test/unit/base/reserve_test.c - memory that is set aside, spent and taken back. */
#include <stdlib.h>

#include "base/heap.h"
#include "base/limits.h"
#include "base/op.h"
#include "base/reserve.h"
#include "test.h"

TEST(without_a_reserve_nothing_is_spent_and_nothing_refused)
{
    CHECK(!reserve_spend());
    CHECK(reserve_is_whole());
    CHECK(!reserve_is_broken());
}

TEST(each_piece_is_spent_once_and_then_all_are_taken_back)
{
    REQUIRE(reserve_open());
    for (int i = 0; i < RESERVE_PIECES; i++)
        CHECK(reserve_spend());
    CHECK(!reserve_spend());
    CHECK(reserve_is_broken());
    CHECK(reserve_is_whole()); /* the machine has memory */
    CHECK(!reserve_is_broken());
    CHECK(reserve_spend());
    reserve_close();
}

TEST(the_last_who_closes_it_gives_it_back)
{
    REQUIRE(reserve_open());
    REQUIRE(reserve_open());
    reserve_close();
    CHECK(reserve_spend());
    reserve_close();
    CHECK(!reserve_spend());
    CHECK(!reserve_is_broken()); /* nobody is left who could take it back */
}

TEST(while_it_is_broken_an_operation_ends_and_gets_what_cannot_be_refused)
{
    struct account account;
    struct op op;

    account_init(&account, 0);
    op_init(&op, env_system(), SIZE_MAX);
    op_join_account(&op, &account);
    REQUIRE(reserve_open());
    REQUIRE(reserve_spend());
    CHECK(op_check(&op) == ST_NO_MEMORY);
    CHECK(!arena_try_alloc(&op.arena, 1024 * 1024));
    CHECK(op.claim.refused);
    CHECK(arena_alloc(&op.arena, 1024 * 1024) != NULL);
    CHECK(reserve_is_whole());
    CHECK(op_check(&op) == ST_OK);
    CHECK(arena_try_alloc(&op.arena, 1024 * 1024) != NULL);
    reserve_close();
    op_free(&op);
}

TEST(an_answer_to_what_is_done_is_not_refused)
{
    struct account account;
    struct op op;

    account_init(&account, 0);
    op_init(&op, env_system(), SIZE_MAX);
    op_join_account(&op, &account);
    REQUIRE(reserve_open());
    REQUIRE(reserve_spend());
    op.claim.is_owed = true;
    CHECK(arena_try_alloc(&op.arena, 1024 * 1024) != NULL);
    reserve_close();
    op_free(&op);
}

TEST(a_copy_of_a_text_ends_where_it_does)
{
    char *copy = heap_text("four");

    CHECK(strcmp(copy, "four") == 0);
    free(copy);
}
