/* src/base/op.c - the life of one operation. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/op.h"
#include "base/reserve.h"

static const struct error_row error_rows[] = {
    { "OK", 200, 0, "", false, 0, NULL },
#define ERROR(name, http, sub, code, retry, wrapped, text) { #name, http, sub, code, retry, wrapped, text },
#include "base/errors.def"
#undef ERROR
};

const struct error_row *error_row(enum status status)
{
    assert((size_t)status < sizeof(error_rows) / sizeof(error_rows[0]));
    return &error_rows[status];
}

void op_init(struct op *op, struct env *env, size_t memory_limit_bytes)
{
    assert(env);
    *op = (struct op){ .env = env, .may_block = true };
    arena_init(&op->arena, memory_limit_bytes);
    op->memory_limit_bytes = memory_limit_bytes;
    op_begin(op, INT64_MAX / 2);
}

void op_join_account(struct op *op, struct account *account)
{
    assert(op->claim.bytes == 0); /* nothing was counted elsewhere */
    op->claim = (struct claim){ .account = account, .holder = HOLDER_OPERATIONS };
    op->arena.claim = &op->claim;
}

void op_arena(struct op *op, struct arena *arena, size_t limit_bytes)
{
    arena_init(arena, limit_bytes);
    arena->claim = op->arena.claim;
}

void op_begin(struct op *op, int64_t timeout_ms)
{
    assert(timeout_ms >= 0);
    arena_reset(&op->arena);
    claim_move(&op->claim, HOLDER_OPERATIONS);
    op->claim.refused = op->claim.is_owed = false;
    op->arena.limit_bytes = op->memory_limit_bytes; /* an answer may have been given more, or the index */
    op->index_bytes = 0;
    op->steps_left = INLINE_STEPS_MAX;
    op->now_ms = env_now_ms(op->env);
    op->deadline_ms = env_monotonic_ms(op->env) + timeout_ms;
    atomic_store_explicit(&op->cancelled, false, memory_order_relaxed);
    op->work = (struct work){ 0 };
    op->spent = (struct spent){ 0 };
    op->noted = NULL;
    op->error = NULL;
    op->error_info = (struct slice){ 0 };
    op->sub_status = 0;
    op->retry_after_ms = 0;
    op->activity_id[0] = '\0';
}

struct op_mark op_mark(const struct op *op)
{
    return (struct op_mark){ arena_mark(&op->arena), op->arena.limit_bytes, op->index_bytes };
}

void op_rewind(struct op *op, struct op_mark mark)
{
    assert(op->index_bytes >= mark.index_bytes);
    arena_rewind(&op->arena, mark.arena);
    op->arena.limit_bytes = mark.limit_bytes;
    op->index_bytes = mark.index_bytes;
}

void op_renew_time(struct op *op)
{
    op->now_ms = env_now_ms(op->env);
}

void op_hurry(struct op *op, int64_t timeout_ms)
{
    int64_t deadline_ms = env_monotonic_ms(op->env) + timeout_ms;

    if (deadline_ms < op->deadline_ms)
        op->deadline_ms = deadline_ms;
}

void op_free(struct op *op)
{
    arena_free(&op->arena);
}

void op_set_error(struct op *op, const char *fmt, ...)
{
    va_list args;
    int size;
    char *text;

    va_start(args, fmt);
    size = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    text = arena_alloc_or_null(&op->arena, (size_t)size + 1);
    if (!text) { /* the client library fails, and does not end its program */
        op->error = "There is no memory to say what was wrong.";
        return;
    }
    va_start(args, fmt);
    vsnprintf(text, (size_t)size + 1, fmt, args);
    va_end(args);
    op->error = text;
}

void op_set_row_error(struct op *op, enum status why)
{
    const char *text = error_row(why)->text;

    assert(text); /* the row has words */
    op->error = text;
}

/* Whoever gets no memory says so in many ways: a key that cannot be parsed is no key. Some failures are what they are. */
enum status op_explain_memory(struct op *op, enum status why)
{
    if (!op->claim.refused || why == ST_OK || why == ST_NOT_MODIFIED || error_row(why)->http == 408 ||
        error_row(why)->http >= 503)
        return why;
    return op_fail(op, ST_TOO_MANY_REQUESTS,
                   "Request rate is large: there is not enough memory for this request at this time. Please "
                   "retry after sometime.");
}

enum status op_may_take_long(struct op *op)
{
    return op->may_block ? ST_OK : op_fail_as(op, ST_WOULD_BLOCK);
}

enum status op_may_spend(struct op *op, double steps)
{
    return op->may_block || steps <= op->steps_left ? ST_OK : op_fail_as(op, ST_WOULD_BLOCK);
}

enum status op_spend(struct op *op, uint64_t steps)
{
    if (op->may_block)
        return op_check(op);
    if (steps > op->steps_left) {
        op->steps_left = 0; /* some of them were done before they were told */
        return op_fail_as(op, ST_WOULD_BLOCK);
    }
    op->steps_left -= (uint32_t)steps;
    return ST_OK;
}

enum status op_spend_often(struct op *op, uint64_t steps)
{
    return op->may_block ? ST_OK : op_spend(op, steps);
}

int64_t op_clock_us(const struct op *op)
{
    return op->spent.is_measured ? env_monotonic_us(op->env) : 0;
}

enum status op_check(struct op *op)
{
    if (atomic_load_explicit(&op->cancelled, memory_order_relaxed))
        return op_fail(op, ST_UNAVAILABLE, "The request was cancelled.");
    if (env_monotonic_ms(op->env) > op->deadline_ms)
        return op_fail(op, ST_TIMEOUT, "The request took longer than it may.");
    if (reserve_is_broken())
        return op_fail_as(op, ST_NO_MEMORY);
    return ST_OK;
}
