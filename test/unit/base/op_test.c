/* test/unit/base/op_test.c - one operation: how it fails and when it should stop. */
#include "base/limits.h"
#include "base/op.h"
#include "test.h"

TEST(a_failure_keeps_its_reason_and_returns_its_status)
{
    CHECK(op_fail(test_op(), ST_EXISTS, "%s number %d", "document", 7) == ST_EXISTS);
    CHECK(strcmp(test_op()->error, "document number 7") == 0);
}

TEST(a_failure_may_be_told_in_the_words_of_its_row)
{
    CHECK(op_fail_as(test_op(), ST_TOO_LARGE) == ST_TOO_LARGE);
    CHECK(strcmp(test_op()->error, "Request size is too large") == 0);
    CHECK(op_fail_as(test_op(), ST_OWNER_NOT_FOUND) == ST_OWNER_NOT_FOUND);
    CHECK(test_op()->error ==
          error_row(ST_OWNER_NOT_FOUND)->text); /* without a copy: there may be no memory */
}

TEST(what_takes_long_is_for_threads_that_may_wait)
{
    CHECK(op_may_take_long(test_op()) == ST_OK && !test_op()->error);
    test_op()->may_block = false;
    CHECK(op_may_take_long(test_op()) == ST_WOULD_BLOCK && test_op()->error);
}

TEST(a_loop_thread_spends_its_steps_and_then_gives_up_and_others_have_as_many_as_they_need)
{
    struct op *op = test_op();

    op_begin(op, 1000);
    op->may_block = false;
    CHECK(op_may_spend(op, INLINE_STEPS_MAX) == ST_OK);
    CHECK(op_may_spend(op, INLINE_STEPS_MAX + 0.5) == ST_WOULD_BLOCK);
    CHECK(op_spend(op, INLINE_STEPS_MAX - 2) == ST_OK && op_may_spend(op, 2) == ST_OK);
    CHECK(op_may_spend(op, 3) == ST_WOULD_BLOCK && op_spend(op, 1) == ST_OK);
    CHECK(op_spend(op, 2) == ST_WOULD_BLOCK);
    CHECK(op_spend(op, 1) == ST_WOULD_BLOCK && op_spend(op, 0) == ST_OK);
    op->may_block = true;
    CHECK(op_may_spend(op, 1e9) == ST_OK && op_spend(op, UINT64_MAX) == ST_OK);
    op->may_block = false;
    op_begin(op, 1000);
    CHECK(op_spend(op, INLINE_STEPS_MAX) == ST_OK);
}

TEST(every_status_has_its_row)
{
    CHECK(error_row(ST_OK)->http == 200);
    CHECK(error_row(ST_BAD_REQUEST)->http == 400 && error_row(ST_BAD_REQUEST)->sub == 0);
    CHECK(error_row(ST_SESSION_UNAVAILABLE)->http == 404 && error_row(ST_SESSION_UNAVAILABLE)->sub == 1002);
    CHECK(error_row(ST_TOO_MANY_REQUESTS)->retry);
    CHECK(strcmp(error_row(ST_CORRUPT)->name, "CORRUPT") == 0); /* the last one */
}

TEST(an_operation_stops_at_its_deadline_or_when_it_is_cancelled)
{
    struct env *env = env_seeded(1, 0);
    struct op op;

    op_init(&op, env, 1 << 20);
    op_begin(&op, 100);
    env_advance_ms(env, 100);
    CHECK(op_check(&op) == ST_OK);
    env_advance_ms(env, 1);
    CHECK(op_check(&op) == ST_TIMEOUT && op.error);
    op_begin(&op, 100);
    CHECK(op_check(&op) == ST_OK && !op.error);
    atomic_store(&op.cancelled, true);
    CHECK(op_check(&op) == ST_UNAVAILABLE);
    op_free(&op);
    env_free(env);
}

TEST(an_operation_sees_one_time)
{
    struct env *env = env_seeded(1, 5000);
    struct op op;

    op_init(&op, env, 1 << 20);
    op_begin(&op, 100);
    env_advance_ms(env, 50);
    CHECK(op.now_ms == 5000);
    op_begin(&op, 100);
    CHECK(op.now_ms == 5050);
    op_free(&op);
    env_free(env);
}
