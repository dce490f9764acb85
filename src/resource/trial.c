/* src/resource/trial.c - counts by the hash of a text: how many queries of it are not tried before one is tried again. */
#include "base/limits.h"
#include "resource/trial.h"

enum { NOT_TRIED = 32, STEPS_OF_EACH = 25 /* to be parsed, bound and planned, and its answer sent */ };

/* Two texts may have one count. Then the shorter query waits for a thread now and then. */
static trial_count *count_of(const struct call *call, struct slice text)
{
    struct hash128 from = { call->container ? call->container->bucket_id : 0, 0 };
    uint64_t hash = murmur3_128_from(from, text.data, text.size).h1;

    return &call->service->trials.count[hash % TRIAL_COUNTS];
}

enum status trial_begin(struct op *op, const struct call *call, struct slice text, trial_count **trial)
{
    trial_count *count;
    unsigned left;
    enum status st;

    *trial = NULL;
    if (op->may_block)
        return ST_OK;
    if (call->request->body.size > INLINE_QUERY_BYTES_MAX || catalog_is_shared(call->service->catalog))
        return op_may_take_long(op);
    st = op_spend(op,
                  STEPS_OF_EACH); /* not held against the text: the loop thread has done enough for others */
    if (st != ST_OK)
        return st;
    count = count_of(call, text);
    left = atomic_load_explicit(count, memory_order_relaxed);
    if (left > 0) {
        atomic_store_explicit(count, (unsigned char)(left - 1), memory_order_relaxed);
        return op_may_take_long(op);
    }
    *trial = count;
    return ST_OK;
}

void trial_end(trial_count *trial, enum status st)
{
    if (trial && st == ST_WOULD_BLOCK)
        atomic_store_explicit(trial, NOT_TRIED, memory_order_relaxed);
}
