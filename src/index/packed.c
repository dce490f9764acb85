/* src/index/packed.c - the packed keeper: what the store calls, and its life. index/upkeep.c does the work behind it. */
#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "index/packed_body.h"
#include "index/page.h"
#include "keys/bytes.h"
#include "keys/keys.h"

enum {
    DELTA_BYTES = 64 * 1024 * 1024,
    FILTER_BYTES = 256 * 1024 * 1024,
    MERGE_RUNS = 4,
    OP_BYTES = 16 * 1024 * 1024,
};

/* ---- changes ---- */

static struct delta_change change_of(const struct keeper_entry *entry)
{
    struct key_parts parts;
    struct slice term;
    uint64_t number;

    if (!key_parse(entry->key, &parts) || !key_parse_index(&parts, &term, &number))
        abort(); /* the committer's own keys */
    assert(term.size >= 8 && term.size <= PAGE_TERM_BYTES_MAX);
    return (struct delta_change){ get_be(term.data, 8), slice_after(term, 8), number, entry->present };
}

static enum status packed_append(struct op *op, struct keeper *keeper, uint64_t bucket, uint64_t lsn,
                                 const struct keeper_entry *entry, size_t count)
{
    struct packed *packed = packed_of(keeper);
    struct delta_bucket *in;

    (void)op;
    pthread_mutex_lock(&packed->append_mutex);
    in = delta_reach(packed->active, bucket, lsn);
    for (size_t i = 0; i < count; i++) {
        struct delta_change change = change_of(&entry[i]);

        delta_append(packed->active, in, lsn, &change);
    }
    pthread_mutex_unlock(&packed->append_mutex);
    return ST_OK;
}

static void packed_committed(struct keeper *keeper)
{
    (void)keeper;
}

static void packed_forget(struct keeper *keeper, uint64_t bucket, uint64_t lsn)
{
    struct packed *packed = packed_of(keeper);

    pthread_mutex_lock(&packed->append_mutex);
    pthread_mutex_lock(&packed->settle_mutex);
    packed->forgets++;
    delta_forget(packed->active, bucket, lsn);
    pthread_mutex_unlock(&packed->settle_mutex);
    pthread_mutex_unlock(&packed->append_mutex);
}

static enum status packed_drop(struct op *op, struct keeper *keeper, uint64_t bucket)
{
    struct packed *packed = packed_of(keeper);

    (void)op;
    pthread_mutex_lock(&packed->append_mutex);
    delta_drop(packed->active, bucket);
    pthread_mutex_unlock(&packed->append_mutex);
    return ST_OK;
}

/* ---- pins ---- */

static struct keeper_pin *packed_pin(struct keeper *keeper)
{
    struct packed *packed = packed_of(keeper);
    struct keeper_pin *pin;

    pthread_mutex_lock(&packed->mutex);
    pin = layers_hold(packed->layers);
    pthread_mutex_unlock(&packed->mutex);
    return pin;
}

static bool packed_pin_is_current(struct keeper *keeper, const struct keeper_pin *pin)
{
    struct packed *packed = packed_of(keeper);
    bool current;

    pthread_mutex_lock(&packed->mutex);
    current = packed->layers == pin;
    pthread_mutex_unlock(&packed->mutex);
    return current;
}

static void packed_unpin(struct keeper *keeper, struct keeper_pin *pin)
{
    (void)keeper;
    layers_release(pin);
}

/* ---- questions ---- */

static enum status packed_settled(struct op *op, struct keeper *keeper, uint64_t bucket, uint64_t *lsn)
{
    (void)op, (void)keeper, (void)bucket;
    *lsn = 0;
    return ST_OK;
}

static enum status packed_flush(struct op *op, struct keeper *keeper)
{
    (void)op, (void)keeper;
    return ST_OK;
}

static uint64_t packed_memory_bytes(struct keeper *keeper)
{
    struct keeper_pin *pin = packed_pin(keeper);
    uint64_t bytes = delta_bytes(pin->active) + (pin->sealed ? delta_bytes(pin->sealed) : 0);

    layers_release(pin);
    return bytes;
}

/* ---- life ---- */

static void packed_close(struct keeper *keeper)
{
    struct packed *packed = packed_of(keeper);

    layers_release(packed->layers);
    delta_release(packed->active);
    op_free(&packed->op);
    pthread_cond_destroy(&packed->ended);
    pthread_cond_destroy(&packed->wanted);
    pthread_mutex_destroy(&packed->mutex);
    pthread_mutex_destroy(&packed->settle_mutex);
    pthread_mutex_destroy(&packed->work_mutex);
    pthread_mutex_destroy(&packed->append_mutex);
    free(packed);
}

static const struct keeper_ops packed_ops = {
    .append = packed_append,
    .committed = packed_committed,
    .forget = packed_forget,
    .settled = packed_settled,
    .pin = packed_pin,
    .pin_is_current = packed_pin_is_current,
    .unpin = packed_unpin,
    .open = packed_cursor_open,
    .next = packed_cursor_next,
    .seek = packed_cursor_seek,
    .end = packed_cursor_end,
    .count = packed_count,
    .drop = packed_drop,
    .flush = packed_flush,
    .memory_bytes = packed_memory_bytes,
    .close = packed_close,
};

static struct packed *packed_new(struct env *env, struct backend *backend,
                                 const struct packed_options *options)
{
    struct packed *packed = calloc(1, sizeof(*packed));

    if (!packed)
        abort();
    packed->keeper.ops = &packed_ops;
    packed->backend = backend;
    packed->options = *options;
    op_init(&packed->op, env, OP_BYTES);
    pthread_mutex_init(&packed->append_mutex, NULL);
    pthread_mutex_init(&packed->work_mutex, NULL);
    pthread_mutex_init(&packed->settle_mutex, NULL);
    pthread_mutex_init(&packed->mutex, NULL);
    pthread_cond_init(&packed->wanted, NULL);
    pthread_cond_init(&packed->ended, NULL);
    packed->active = delta_new();
    packed->layers = layers_new(packed->active, NULL, NULL, 0);
    return packed;
}

enum status packed_open_with(struct op *op, struct backend *backend, const struct packed_options *options,
                             struct keeper **keeper)
{
    struct packed *packed = packed_new(op->env, backend, options);

    *keeper = &packed->keeper;
    return ST_OK;
}

enum status packed_open(struct op *op, struct backend *backend, bool threads, bool read_only,
                        struct keeper **keeper)
{
    const struct packed_options options = { .delta_bytes = DELTA_BYTES,
                                            .filter_bytes = FILTER_BYTES,
                                            .merge_runs = MERGE_RUNS,
                                            .threads = threads,
                                            .read_only = read_only };

    return packed_open_with(op, backend, &options, keeper);
}
