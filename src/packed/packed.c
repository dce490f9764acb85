/*
 * src/packed/packed.c - the packed index: what the store calls, and its life. packed/upkeep.c does the work behind
 * it.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/log.h"
#include "base/thread.h"
#include "keys/bytes.h"
#include "keys/keys.h"
#include "packed/packed_private.h"
#include "packed/page.h"

enum {
    DELTA_BYTES_MIN = 4 * 1024 * 1024,
    DELTA_BYTES_MAX = 64 * 1024 * 1024,
    MERGE_RUNS = 4,
    OP_BYTES = 16 * 1024 * 1024,
};

/* ---- changes ---- */

static struct delta_change change_of(const struct packed_entry *entry)
{
    struct key_parts parts;
    struct slice term;
    uint64_t number;

    if (!key_parse(entry->key, &parts) || !key_parse_index(&parts, &term, &number))
        abort();            /* the committer's own keys */
    assert(term.size >= 8); /* a path */
    assert(term.size <= PAGE_TERM_BYTES_MAX);
    return (struct delta_change){ get_be(term.data, 8), slice_after(term, 8), number, entry->present };
}

static bool has_sealed(struct packed *packed)
{
    bool sealed;

    pthread_mutex_lock(&packed->mutex);
    sealed = packed->layers->sealed != NULL;
    pthread_mutex_unlock(&packed->mutex);
    return sealed;
}

static bool is_full(const struct packed *packed)
{
    return !packed->options.read_only && delta_bytes(packed->active) >= packed->options.delta_bytes;
}

/* When a second delta is full before the first is written out, the writers wait; but not in the middle of a group. */
static enum status hold_up(struct op *op, struct packed *packed)
{
    enum status st = ST_OK;

    thread_assert_locked(&packed->append_mutex);
    if (packed->has_uncommitted || !is_full(packed))
        goto out;
    if (has_sealed(packed))
        TRY(upkeep_wait(op, packed));
    upkeep_seal(packed);
    upkeep_wake(packed);
out:
    return st;
}

enum status packed_append(struct op *op, struct packed *packed, uint64_t bucket, uint64_t lsn,
                          const struct packed_entry *entry, size_t count)
{
    struct delta_bucket *in;
    enum status st;

    pthread_mutex_lock(&packed->append_mutex);
    TRY(hold_up(op, packed));
    assert(bucket < RUN_FILTER_BUCKET);
    packed->has_uncommitted = true;
    in = delta_reach(packed->active, bucket, lsn);
    for (size_t i = 0; i < count; i++) {
        struct delta_change change = change_of(&entry[i]);

        delta_append(packed->active, in, lsn, &change);
    }
out:
    pthread_mutex_unlock(&packed->append_mutex);
    return st;
}

void packed_committed(struct packed *packed)
{
    pthread_mutex_lock(&packed->append_mutex);
    packed->has_uncommitted = false;
    pthread_cond_broadcast(&packed->group_ended);
    if (is_full(packed) && !has_sealed(packed)) {
        upkeep_seal(packed);
        upkeep_wake(packed);
    }
    pthread_mutex_unlock(&packed->append_mutex);
}

static void change_deltas(struct packed *packed, uint64_t bucket,
                          void (*change)(struct delta *, uint64_t, uint64_t), uint64_t lsn)
{
    struct packed_pin *layers;

    thread_assert_locked(&packed->append_mutex); /* else a delta could be sealed between the two */
    pthread_mutex_lock(&packed->mutex);
    layers = layers_hold(packed->layers);
    pthread_mutex_unlock(&packed->mutex);
    assert(layers->active == packed->active);
    pthread_mutex_lock(&packed->settle_mutex);
    packed->forgets += change == delta_forget; /* what is being written out has to be looked at again */
    change(packed->active, bucket, lsn);
    if (layers->sealed)
        change(layers->sealed, bucket, lsn);
    pthread_mutex_unlock(&packed->settle_mutex);
    layers_release(layers);
}

void packed_forget(struct packed *packed, uint64_t bucket, uint64_t lsn)
{
    pthread_mutex_lock(&packed->append_mutex);
    change_deltas(packed, bucket, delta_forget, lsn);
    pthread_mutex_unlock(&packed->append_mutex);
}

/* Under `mutex`: where the bucket is, or would be. */
static size_t find_dropped(struct packed *packed, uint64_t bucket)
{
    size_t low = 0, high = packed->dropped_count;

    thread_assert_locked(&packed->mutex);
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (packed->dropped[middle] < bucket)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool packed_is_dropped(struct packed *packed, uint64_t bucket)
{
    bool found;
    size_t at;

    if (atomic_load(&packed->dropped_count) == 0)
        return false;
    pthread_mutex_lock(&packed->mutex);
    at = find_dropped(packed, bucket);
    found = at < packed->dropped_count && packed->dropped[at] == bucket;
    pthread_mutex_unlock(&packed->mutex);
    return found;
}

static void remember_dropped(struct packed *packed, uint64_t bucket)
{
    size_t at, count = packed->dropped_count;

    thread_assert_locked(&packed->append_mutex); /* so that nobody else remembers the same bucket meanwhile */
    pthread_mutex_lock(&packed->mutex);
    heap_list_reserve(&packed->dropped, &packed->dropped_capacity, count + 1, sizeof(*packed->dropped));
    at = find_dropped(packed, bucket);
    assert(at == count || packed->dropped[at] > bucket); /* the list is in order, and has each bucket once */
    memmove(&packed->dropped[at + 1], &packed->dropped[at], (count - at) * sizeof(*packed->dropped));
    packed->dropped[at] = bucket;
    packed->dropped_count++;
    packed->dropped_new = heap_grow(packed->dropped_new, (packed->dropped_new_count + 1) * sizeof(uint64_t));
    packed->dropped_new[packed->dropped_new_count++] = bucket;
    pthread_mutex_unlock(&packed->mutex);
}

static void drop_from(struct delta *delta, uint64_t bucket, uint64_t lsn)
{
    (void)lsn;
    delta_drop(delta, bucket);
}

/* The bucket's entries in runs are left out when the runs are merged. A run with many of them is rewritten sooner. */
enum status packed_drop(struct op *op, struct packed *packed, uint64_t bucket)
{
    (void)op;
    pthread_mutex_lock(&packed->append_mutex);
    change_deltas(packed, bucket, drop_from, 0);
    if (!packed_is_dropped(packed, bucket))
        remember_dropped(packed, bucket);
    if (!packed->options.read_only)
        upkeep_wake(packed);
    pthread_mutex_unlock(&packed->append_mutex);
    return ST_OK;
}

/* ---- pins ---- */

struct packed_pin *packed_pin(struct packed *packed)
{
    struct packed_pin *pin;

    pthread_mutex_lock(&packed->mutex);
    pin = layers_hold(packed->layers);
    pthread_mutex_unlock(&packed->mutex);
    return pin;
}

bool packed_pin_is_current(struct packed *packed, const struct packed_pin *pin)
{
    bool current;

    pthread_mutex_lock(&packed->mutex);
    current = packed->layers == pin;
    pthread_mutex_unlock(&packed->mutex);
    return current;
}

void packed_unpin(struct packed *packed, struct packed_pin *pin)
{
    if (!layers_let_go(pin))
        return;
    if (packed->is_running && !thread_may_block())
        upkeep_free_later(packed, pin);
    else
        layers_free(pin);
}

/* ---- readers ---- */

static struct run_reader *new_reader(struct packed *packed)
{
    struct run_reader *reader = heap_allocate_unset(sizeof(*reader));

    *reader = (struct run_reader){ .space = packed->space, .cache = packed->pages };
    return reader;
}

static void free_reader(struct run_reader *reader)
{
    run_reader_close(reader);
    free(reader);
}

struct run_reader *packed_take_reader(struct packed *packed)
{
    struct run_reader *reader;

    pthread_mutex_lock(&packed->readers_mutex);
    reader = packed->readers;
    if (reader) {
        assert(packed->reader_count > 0);
        assert(!reader->cursor); /* it was given back at rest */
        packed->readers = reader->next;
        packed->reader_count--;
    }
    pthread_mutex_unlock(&packed->readers_mutex);
    return reader ? reader : new_reader(packed);
}

/* The reader that came back last is taken first: it has the pages of the query that is under way. */
void packed_give_reader(struct packed *packed, struct run_reader *reader)
{
    bool kept;

    assert(reader->space == packed->space);
    run_reader_rest(reader);
    pthread_mutex_lock(&packed->readers_mutex);
    assert(packed->reader_count <= READERS_IDLE_MAX);
    kept = packed->reader_count < READERS_IDLE_MAX;
    if (kept) {
        reader->next = packed->readers;
        packed->readers = reader;
        packed->reader_count++;
    }
    pthread_mutex_unlock(&packed->readers_mutex);
    if (!kept)
        free_reader(reader);
}

static void free_readers(struct packed *packed)
{
    while (packed->readers) {
        struct run_reader *reader = packed->readers;

        packed->readers = reader->next;
        free_reader(reader);
    }
}

/* ---- questions ---- */

enum status packed_settled(struct op *op, struct packed *packed, uint64_t bucket, uint64_t *lsn)
{
    struct run_space *space = packed->space;
    struct slice key = key_settled(&op->arena, bucket), value;
    enum status st;

    TRY(space->ops->get(op, space, key, &value));
    TRY(settled_decode(op, value, lsn));
out:
    return st;
}

/* Under append_mutex. A group whose write failed ends with the store's reopening, which may be far away. */
static enum status wait_for_group(struct op *op, struct packed *packed)
{
    struct timespec until;

    thread_assert_locked(&packed->append_mutex);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    while (packed->has_uncommitted)
        if (pthread_cond_timedwait(&packed->group_ended, &packed->append_mutex, &until) != 0)
            return op_fail(op, ST_UNAVAILABLE, "What is in memory is not committed yet.");
    return ST_OK;
}

enum status packed_flush(struct op *op, struct packed *packed)
{
    enum status st;

    if (packed->options.read_only)
        return ST_OK;
    pthread_mutex_lock(&packed->append_mutex);
    TRY(wait_for_group(op, packed));
    if (has_sealed(packed))
        TRY(upkeep_wait(op, packed));
    if (delta_buckets(packed->active)) {
        upkeep_seal(packed);
        TRY(upkeep_wait(op, packed));
    }
out:
    pthread_mutex_unlock(&packed->append_mutex);
    return st;
}

void packed_stats(struct packed *packed, struct packed_stats *stats)
{
    struct packed_pin *pin = packed_pin(packed);

    stats->memory_bytes = delta_bytes(pin->active) + (pin->sealed ? delta_bytes(pin->sealed) : 0);
    stats->runs = pin->run_count;
    stats->run_bytes = 0;
    for (size_t i = 0; i < pin->run_count; i++) {
        stats->run_bytes += run_facts(pin->run[i])->bytes;
        if (run_filter(pin->run[i]))
            stats->memory_bytes += filter_bytes(run_filter(pin->run[i])).size;
    }
    layers_release(pin);
    stats->memory_bytes += page_cache_bytes(packed->pages);
    stats->merges = atomic_load(&packed->merges);
}

/* ---- life ---- */

void packed_close(struct packed *packed)
{
    if (packed->is_running)
        upkeep_stop(packed);
    upkeep_free_unpinned(packed);
    free_readers(packed);
    layers_release(packed->layers);
    delta_release(packed->active);
    upkeep_remove_dead(packed);
    page_cache_free(packed->pages);
    op_free(&packed->merge_op);
    op_free(&packed->op);
    pthread_cond_destroy(&packed->group_ended);
    pthread_cond_destroy(&packed->ended);
    pthread_cond_destroy(&packed->wanted);
    pthread_mutex_destroy(&packed->readers_mutex);
    pthread_mutex_destroy(&packed->mutex);
    pthread_mutex_destroy(&packed->settle_mutex);
    pthread_mutex_destroy(&packed->work_mutex);
    pthread_mutex_destroy(&packed->append_mutex);
    free(packed->dropped);
    free(packed->dropped_new);
    free(packed);
}

static struct packed *packed_new(struct env *env, struct run_space *space,
                                 const struct packed_options *options)
{
    struct packed *packed = heap_allocate(sizeof(*packed));

    packed->space = space;
    packed->options = *options;
    packed->pages = page_cache_new(options->page_bytes);
    op_init(&packed->op, env, OP_BYTES);
    op_init(&packed->merge_op, env, OP_BYTES);
    pthread_cond_init(&packed->group_ended, NULL);
    pthread_mutex_init(&packed->append_mutex, NULL);
    pthread_mutex_init(&packed->work_mutex, NULL);
    pthread_mutex_init(&packed->settle_mutex, NULL);
    pthread_mutex_init(&packed->mutex, NULL);
    pthread_mutex_init(&packed->readers_mutex, NULL);
    pthread_cond_init(&packed->wanted, NULL);
    pthread_cond_init(&packed->ended, NULL);
    packed->active = delta_new();
    packed->layers = layers_new(packed->active, NULL, NULL, 0);
    return packed;
}

enum status packed_open(struct op *op, struct run_space *space, const struct packed_options *options,
                        struct packed **opened)
{
    struct packed *packed = packed_new(op->env, space, options);
    enum status st;

    TRY(packed_load(op, packed));
    packed->is_running = options->threads && !options->read_only && upkeep_start(packed);
    if (!packed->is_running && options->threads && !options->read_only)
        TRY(op_fail(op, ST_UNAVAILABLE, "no thread can be started for the index"));
    *opened = packed;
out:
    if (st != ST_OK)
        packed_close(packed);
    return st;
}

/* Two deltas take half as much as the cache, up to a bound. A larger delta means fewer merges, and a longer start after a crash. */
static size_t delta_bytes_for(size_t cache_bytes)
{
    size_t bytes = cache_bytes / 4;

    if (bytes < DELTA_BYTES_MIN)
        return DELTA_BYTES_MIN;
    return bytes < DELTA_BYTES_MAX ? bytes : DELTA_BYTES_MAX;
}

struct packed_options packed_options_for(size_t cache_bytes)
{
    return (struct packed_options){ .delta_bytes = delta_bytes_for(cache_bytes),
                                    .filter_bytes = cache_bytes,
                                    .page_bytes = cache_bytes / 8,
                                    .merge_runs = MERGE_RUNS };
}
