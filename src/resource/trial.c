/* src/resource/trial.c - counts by the hash of a text: how many queries of it are not tried before one is tried again. */
#include "base/limits.h"
#include "resource/trial.h"

enum {
    NOT_TRIED_MAX = 32,
    STEPS_OF_A_HAND_OVER = 12, /* that a query saves which is answered here, and some */
    STEPS_OF_EACH = 25,        /* to be bound and planned, and its answer sent */
    STEPS_OF_10_US = 25,
    LONG_US = 1000, /* several times what its steps should take: so it is with what nobody counts */
};

/* The text without its numbers and strings. */
static uint64_t hash_of(const struct call *call, struct slice text)
{
    struct hash128 from = { call->container ? call->container->bucket_id : 0, 0 };
    char kept[INLINE_QUERY_BYTES_MAX];
    size_t count = 0;
    char quote = 0;

    for (size_t i = 0; i < text.size && count < sizeof(kept); i++) {
        char c = text.data[i];

        if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c < '0' || c > '9')
            kept[count++] = c;
    }
    return murmur3_128_from(from, kept, count).h1;
}

enum status trial_begin(struct op *op, const struct call *call, struct trial *trial)
{
    *trial = (struct trial){ 0 };
    if (op->may_block)
        return ST_OK;
    if (!call->service->trials || catalog_is_shared(call->service->catalog))
        return op_may_take_long(op);
    return op_spend(op, STEPS_OF_EACH); /* the loop thread may have done enough for others */
}

/* Two texts may have one count. Then the shorter query waits for a thread now and then. */
enum status trial_text(struct op *op, const struct call *call, struct slice text, struct trial *trial)
{
    trial_count *count;
    unsigned left;

    if (op->may_block)
        return ST_OK;
    count = &call->service->trials->count[hash_of(call, text) % TRIAL_COUNTS];
    left = atomic_load_explicit(count, memory_order_relaxed);
    if (left > 0) {
        atomic_store_explicit(count, (unsigned char)(left - 1), memory_order_relaxed);
        return op_may_take_long(op);
    }
    *trial = (struct trial){ count, env_monotonic_us(op->env), op->steps_left };
    return ST_OK;
}

/* What was done in vain is to be little beside what is saved. */
static unsigned char not_tried(int64_t steps)
{
    int64_t count = 1 + steps / STEPS_OF_A_HAND_OVER;

    return (unsigned char)(count < NOT_TRIED_MAX ? count : NOT_TRIED_MAX);
}

void trial_end(struct op *op, struct trial *trial, enum status st)
{
    int64_t took_us, took, counted;

    if (!trial->count)
        return;
    took_us = env_monotonic_us(op->env) - trial->began_us;
    took = took_us * STEPS_OF_10_US / 10;
    counted = trial->steps - op->steps_left;
    if (st == ST_WOULD_BLOCK || took_us > LONG_US)
        atomic_store_explicit(trial->count, not_tried(took > counted ? took : counted), memory_order_relaxed);
    op->steps_left = took < trial->steps ? trial->steps - (uint32_t)took : 0;
}
