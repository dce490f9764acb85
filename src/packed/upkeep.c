/*
 * src/packed/upkeep.c - the work beside the committer: writing the sealed delta out, merging runs, and removing runs
 * that nobody reads any more. A thread of its own does one after the other. A long merge pauses while a delta is
 * written out.
 *
 * The manifest decides which runs there are. A run is written first and listed then. Runs that are not listed are
 * removed when the store is opened. A manifest whose write failed may still turn up after a reopening, so a run that
 * only such a manifest lists is kept until another manifest has been written.
 */
#include <assert.h>
#include <signal.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/log.h"
#include "base/thread.h"
#include "keys/keys.h"
#include "packed/merge.h"
#include "packed/pack.h"
#include "packed/packed_private.h"
#include "packed/survey.h"

enum { TRIES_MAX = 4, MERGED_MAX = 64 };

/* ---- layers ---- */

static struct packed_pin *current_layers(struct packed *packed)
{
    struct packed_pin *layers;

    pthread_mutex_lock(&packed->mutex);
    layers = layers_hold(packed->layers);
    pthread_mutex_unlock(&packed->mutex);
    return layers;
}

/* Under `mutex`. Gives back the layers of before, to be released without it. */
static struct packed_pin *put_layers(struct packed *packed, struct packed_pin *layers)
{
    struct packed_pin *before = packed->layers;

    thread_assert_locked(&packed->mutex);
    packed->layers = layers;
    return before;
}

void upkeep_seal(struct packed *packed)
{
    struct delta *fresh = delta_new();
    struct packed_pin *before;

    thread_assert_locked(&packed->append_mutex);
    assert(!packed->has_uncommitted); /* a manifest must not settle what may still be forgotten */
    pthread_mutex_lock(&packed->mutex);
    assert(!packed->layers->sealed);
    assert(packed->layers->active == packed->active);
    before =
        put_layers(packed, layers_new(fresh, packed->active, packed->layers->run, packed->layers->run_count));
    pthread_mutex_unlock(&packed->mutex);
    delta_release(packed->active);
    packed->active = fresh;
    layers_release(before);
}

/* ---- runs that are gone ---- */

void upkeep_run_gone(void *context, uint64_t id)
{
    struct packed *packed = context;
    struct dead_run *dead = heap_allocate_unset(sizeof(*dead));

    page_cache_drop(packed->pages, id);
    dead->id = id;
    pthread_mutex_lock(&packed->mutex);
    dead->next = packed->dead;
    packed->dead = dead;
    packed->has_work = true;
    pthread_cond_signal(&packed->wanted);
    pthread_mutex_unlock(&packed->mutex);
}

void upkeep_free_later(struct packed *packed, struct packed_pin *layers)
{
    pthread_mutex_lock(&packed->mutex);
    layers->next = packed->unpinned;
    packed->unpinned = layers;
    packed->has_work = true;
    pthread_cond_signal(&packed->wanted);
    pthread_mutex_unlock(&packed->mutex);
}

void upkeep_free_unpinned(struct packed *packed)
{
    struct packed_pin *layers, *next;

    pthread_mutex_lock(&packed->mutex);
    layers = packed->unpinned;
    packed->unpinned = NULL;
    pthread_mutex_unlock(&packed->mutex);
    for (; layers; layers = next) {
        next = layers->next;
        layers_free(layers);
    }
}

static bool take_dead(struct packed *packed, uint64_t *id)
{
    struct dead_run *dead;

    pthread_mutex_lock(&packed->mutex);
    dead = packed->dead;
    if (dead)
        packed->dead = dead->next;
    pthread_mutex_unlock(&packed->mutex);
    if (!dead)
        return false;
    *id = dead->id;
    free(dead);
    return true;
}

enum status upkeep_remove_run(struct op *op, struct run_space *space, uint64_t id)
{
    uint8_t from[RUN_ID_BYTES], to[RUN_ID_BYTES];

    run_key(from, id);
    run_key(to, id + 1);
    return space->ops->remove(op, space, slice_make(from, sizeof(from)), slice_make(to, sizeof(to)));
}

/* A run that cannot be removed now is removed when the store is opened again. */
void upkeep_remove_dead(struct packed *packed)
{
    uint64_t id;

    while (!packed->options.read_only && take_dead(packed, &id))
        if (upkeep_remove_run(&packed->op, packed->space, id) != ST_OK)
            log_line(LOG_WARN, "index: a run cannot be removed: %s", packed->op.error);
}

/* ---- the manifest ---- */

/* What a manifest is to say: the runs as they will be, and how far buckets are settled. */
struct settling {
    struct run *const *run; /* as they are, but that [cut, cut + cut_count) becomes `added` */
    size_t count, cut, cut_count;
    const struct run_facts *added; /* NULL: nothing */
    struct delta *delta;           /* NULL: no bucket's settled LSN changes */
    uint64_t reopens, forgets;     /* as of the beginning */
};

static struct slice encode_runs(struct op *op, const struct packed *packed, const struct settling *settling)
{
    struct manifest manifest = { .next_run = packed->next_run };

    assert(settling->cut + settling->cut_count <= settling->count);
    assert(!settling->added || settling->added->id < packed->next_run); /* no number is given twice */
    manifest.run = arena_alloc(&op->arena, (settling->count + 1) * sizeof(*manifest.run));
    for (size_t i = 0; i <= settling->count; i++) {
        if (i == settling->cut && settling->added)
            manifest.run[manifest.count++] = *settling->added;
        if (i < settling->count && (i < settling->cut || i >= settling->cut + settling->cut_count))
            manifest.run[manifest.count++] = *run_facts(settling->run[i]);
    }
    return manifest_encode(op, &manifest);
}

/* Of one that was dropped, or whose first commit failed (LSN 0), nothing is there: a row of it would stay for ever. */
static bool has_row(const struct delta_bucket *bucket)
{
    return !bucket->dropped && bucket->lsn > 0;
}

static size_t count_buckets(const struct settling *settling)
{
    size_t count = 0;

    if (settling->delta)
        for (struct delta_bucket *bucket = delta_buckets(settling->delta); bucket; bucket = bucket->next)
            count += has_row(bucket);
    return count;
}

/* Under settle_mutex: nothing is forgotten or dropped meanwhile. */
static enum status write_manifest(struct op *op, struct packed *packed, const struct settling *settling)
{
    size_t count = 1 + count_buckets(settling), at = 0;
    struct settled_row *row = arena_alloc(&op->arena, count * sizeof(*row));

    thread_assert_locked(&packed->settle_mutex);
    row[at++] = (struct settled_row){ key_runs(&op->arena), encode_runs(op, packed, settling) };
    for (struct delta_bucket *bucket = settling->delta ? delta_buckets(settling->delta) : NULL; bucket;
         bucket = bucket->next)
        if (has_row(bucket))
            row[at++] = (struct settled_row){ key_settled(&op->arena, bucket->bucket),
                                              settled_encode(op, bucket->lsn) };
    assert(at == count); /* none was dropped between counting and listing */
    return packed->space->ops->settle(op, packed->space, settling->reopens, row, count);
}

/* A manifest was written, so the runs that only failed manifests list are surely in none. */
static void bury_doubtful(struct packed *packed)
{
    thread_assert_locked(&packed->work_mutex);
    while (packed->doubtful_count > 0)
        upkeep_run_gone(packed, packed->doubtful[--packed->doubtful_count]);
}

static void doubt(struct packed *packed, uint64_t id)
{
    thread_assert_locked(&packed->work_mutex);
    if (packed->doubtful_count < DOUBTFUL_MAX)
        packed->doubtful[packed->doubtful_count++] = id; /* others wait until the store is opened */
}

static enum status settle(struct op *op, struct packed *packed, const struct settling *settling)
{
    enum status st;

    pthread_mutex_lock(&packed->settle_mutex);
    if (packed->forgets != settling->forgets)
        st = op_fail(op, ST_WRITE_CONFLICT, "A write failed while the index was written out.");
    else
        st = write_manifest(op, packed, settling);
    pthread_mutex_unlock(&packed->settle_mutex);
    if (st == ST_OK)
        bury_doubtful(packed);
    else if (settling->added)
        doubt(packed, settling->added->id);
    return st;
}

static void begin_settling(struct packed *packed, struct settling *settling)
{
    settling->reopens = packed->space->ops->reopens(packed->space);
    pthread_mutex_lock(&packed->settle_mutex);
    settling->forgets = packed->forgets;
    pthread_mutex_unlock(&packed->settle_mutex);
}

/* ---- new runs ---- */

/* A filter for which there is no room is dropped. The next start reads it again, if there is room then. */
static struct run *open_run(struct packed *packed, const struct packed_pin *layers,
                            const struct run_facts *facts, struct filter *filter)
{
    uint64_t bytes = facts->filter_bytes;

    for (size_t i = 0; i < layers->run_count; i++)
        if (run_filter(layers->run[i]))
            bytes += filter_bytes(run_filter(layers->run[i])).size;
    if (bytes > packed->options.filter_bytes) {
        filter_free(filter);
        filter = NULL;
    }
    return run_new(facts, filter, upkeep_run_gone, packed);
}

/* The runs with [cut, cut + cut_count) replaced by the new one, which may be none. */
static void publish(struct packed *packed, size_t cut, size_t cut_count, struct run *added, bool unseals)
{
    struct packed_pin *before, *after;
    struct run **run;
    size_t count = 0;

    thread_assert_locked(&packed->work_mutex); /* else the places of runs could change meanwhile */
    pthread_mutex_lock(&packed->mutex);
    before = packed->layers;
    assert(cut + cut_count <= before->run_count);
    assert(!unseals || before->sealed);
    run = heap_allocate_unset((before->run_count + 1) * sizeof(struct run *));
    for (size_t i = 0; i <= before->run_count; i++) {
        if (i == cut && added)
            run[count++] = added;
        if (i < before->run_count && (i < cut || i >= cut + cut_count))
            run[count++] = before->run[i];
    }
    after = layers_new(before->active, unseals ? NULL : before->sealed, run, count);
    put_layers(packed, after);
    pthread_cond_broadcast(&packed->ended);
    pthread_mutex_unlock(&packed->mutex);
    for (size_t i = cut; i < cut + cut_count; i++)
        run_retire(before->run[i]);
    layers_release(before);
    free(run);
    if (added)
        run_release(added); /* the layers have it */
}

/* ---- writing out ---- */

static enum status try_write_out(struct op *op, struct packed *packed, const struct packed_pin *layers)
{
    struct settling settling = {
        .run = layers->run, .count = layers->run_count, .cut = layers->run_count, .delta = layers->sealed
    };
    struct run_facts facts;
    struct filter *filter = NULL;
    enum status st;

    thread_assert_locked(&packed->work_mutex);
    assert(layers->sealed);
    begin_settling(packed, &settling);
    TRY(pack_delta(op, packed->space, layers->sealed, packed->next_run++, &facts, &filter));
    settling.added = facts.marks ? &facts : NULL;
    TRY(settle(op, packed, &settling));
    publish(packed, layers->run_count, 0, facts.marks ? open_run(packed, layers, &facts, filter) : NULL,
            true);
    filter = NULL;
out:
    filter_free(filter);
    return st;
}

static void count_failure(struct packed *packed)
{
    pthread_mutex_lock(&packed->mutex);
    packed->failures++;
    pthread_cond_broadcast(&packed->ended);
    pthread_mutex_unlock(&packed->mutex);
}

/* A reopening meanwhile, after which some entries may be dead, means another try. */
static enum status write_out_sealed(struct op *op, struct packed *packed, const struct packed_pin *layers)
{
    enum status st = ST_WRITE_CONFLICT;

    for (int tries = 0; tries < TRIES_MAX && st == ST_WRITE_CONFLICT; tries++) {
        op_begin(op, INT64_MAX / 2);
        st = try_write_out(op, packed, layers);
    }
    return st;
}

static void write_out(struct packed *packed)
{
    struct packed_pin *layers = current_layers(packed);
    struct op *op = &packed->op;

    if (layers->sealed && write_out_sealed(op, packed, layers) != ST_OK) {
        log_line(LOG_ERROR, "index: cannot be written out: %s", op->error);
        count_failure(packed);
    }
    layers_release(layers);
}

/* ---- merging ---- */

/*
 * The runs of the lowest level that has enough of them; levels fall from the oldest run to the newest. During a long merge
 * very many may have come: the oldest of them go first.
 */
static bool choose_merge(const struct packed *packed, const struct packed_pin *layers, size_t *begin,
                         size_t *count)
{
    size_t end = layers->run_count;

    assert(packed->options.merge_runs > 1); /* merging one with itself would never end */
    while (end > 0) {
        size_t at = end;

        while (at > 0 && run_facts(layers->run[at - 1])->level == run_facts(layers->run[end - 1])->level)
            at--;
        if (end - at >= packed->options.merge_runs) {
            *begin = at;
            *count = end - at < MERGED_MAX ? end - at : MERGED_MAX;
            return true;
        }
        end = at;
    }
    return false;
}

/* Small runs, as restarts leave them, stay on their level until they have become something. */
static uint64_t level_of(const struct packed *packed, uint64_t bytes, uint64_t level)
{
    uint64_t full = packed->options.delta_bytes / 2;

    for (uint64_t i = 0; i < level && full < UINT64_MAX / 8; i++)
        full *= packed->options.merge_runs;
    return bytes > full ? level + 1 : level;
}

static bool is_stopping(struct packed *packed)
{
    bool stopping;

    pthread_mutex_lock(&packed->mutex);
    stopping = packed->stopping;
    pthread_mutex_unlock(&packed->mutex);
    return stopping;
}

/* Whether there is something new to do since the last time. */
static bool take_work(struct packed *packed)
{
    bool work;

    pthread_mutex_lock(&packed->mutex);
    work = packed->has_work;
    packed->has_work = false;
    pthread_mutex_unlock(&packed->mutex);
    return work;
}

static enum status pause_merge(void *context)
{
    struct packed *packed = context;

    if (is_stopping(packed))
        return op_fail(&packed->merge_op, ST_UNAVAILABLE, "The store is being closed.");
    if (take_work(packed)) {
        upkeep_free_unpinned(packed);
        write_out(packed);
    }
    return ST_OK;
}

static bool is_dropped(void *context, uint64_t bucket)
{
    return packed_is_dropped(context, bucket);
}

static enum status merge_some(struct packed *packed, const struct packed_pin *layers, size_t begin,
                              size_t count)
{
    struct op *op = &packed->merge_op;
    struct merge merge = { .run = layers->run + begin,
                           .count = count,
                           .whole = begin == 0,
                           .id = packed->next_run++,
                           .pause = pause_merge,
                           .is_dropped = is_dropped,
                           .context = packed };
    struct settling settling = { .cut = begin, .cut_count = count };
    struct packed_pin *now = NULL;
    struct run_facts facts;
    struct filter *filter = NULL;
    enum status st;

    thread_assert_locked(&packed->work_mutex);
    assert(count > 0);
    assert(begin + count <= layers->run_count);
    op_begin(op, INT64_MAX / 2);
    TRY(merge_runs(op, packed->space, &merge, &facts, &filter));
    facts.level = run_facts(layers->run[begin])->level;
    if (count > 1)
        facts.level = level_of(packed, facts.bytes, facts.level);
    now = current_layers(packed);                  /* a pause may have brought new ones */
    assert(now->run[begin] == layers->run[begin]); /* new runs come behind the others */
    settling.run = now->run;
    settling.count = now->run_count;
    settling.added = facts.marks ? &facts : NULL;
    begin_settling(packed, &settling);
    TRY(settle(op, packed, &settling));
    publish(packed, begin, count, facts.marks ? open_run(packed, now, &facts, filter) : NULL, false);
    filter = NULL;
    atomic_fetch_add(&packed->merges, 1);
out:
    filter_free(filter);
    layers_release(now);
    return st;
}

static void merge_all(struct packed *packed)
{
    enum status st = ST_OK;

    while (st == ST_OK && !is_stopping(packed)) {
        struct packed_pin *layers = current_layers(packed);
        size_t begin, count;
        bool found = choose_merge(packed, layers, &begin, &count);

        if (found)
            st = merge_some(packed, layers, begin, count);
        layers_release(layers);
        if (!found)
            return;
        upkeep_remove_dead(packed);
    }
    if (st != ST_OK && !is_stopping(packed))
        log_line(LOG_WARN, "index: runs cannot be merged: %s", packed->merge_op.error);
}

/* ---- space of what was dropped ---- */

/* The buckets that were dropped since the last time; the caller frees them. */
static uint64_t *take_dropped(struct packed *packed, size_t *count)
{
    uint64_t *bucket;

    pthread_mutex_lock(&packed->mutex);
    bucket = packed->dropped_new;
    *count = packed->dropped_new_count;
    packed->dropped_new = NULL;
    packed->dropped_new_count = 0;
    pthread_mutex_unlock(&packed->mutex);
    return bucket;
}

/*
 * All runs are looked at after a drop, the one that was just written out included: each may have pages of the bucket.
 */
static enum status survey(struct op *op, struct packed *packed, const struct packed_pin *layers)
{
    size_t count;
    uint64_t *bucket = take_dropped(packed, &count);
    enum status st = ST_OK;

    for (size_t i = 0; i < layers->run_count; i++) {
        if (!packed->is_surveyed)
            TRY(survey_run(op, packed->space, layers->run[i]));
        for (size_t j = 0; j < count; j++)
            TRY(survey_bucket(op, packed->space, layers->run[i], bucket[j]));
    }
    packed->is_surveyed = true;
out:
    free(bucket);
    return st;
}

/* A run is rewritten when enough of its pages belong to dropped buckets. */
static bool is_worth_rewriting(const struct run *run)
{
    const uint64_t pages_min = 64;
    uint64_t dropped = run_dropped_pages(run), pages = run_facts(run)->pages;

    return dropped > 0 && (dropped == pages || (dropped >= pages_min && dropped >= pages / 8));
}

static void reclaim(struct packed *packed)
{
    struct packed_pin *layers = current_layers(packed);
    struct op *op = &packed->merge_op;
    enum status st;

    op_begin(op, INT64_MAX / 2);
    st = survey(op, packed, layers);
    for (size_t i = layers->run_count; i > 0 && st == ST_OK && !is_stopping(packed); i--)
        if (is_worth_rewriting(
                layers->run[i - 1])) /* the newest first: the places of older ones stay the same */
            st = merge_some(packed, layers, i - 1, 1);
    if (st != ST_OK && !is_stopping(packed))
        log_line(LOG_WARN, "index: space of what was dropped is not given back: %s", op->error);
    layers_release(layers);
}

/* ---- the thread ---- */

static void work(struct packed *packed)
{
    upkeep_free_unpinned(packed);
    pthread_mutex_lock(&packed->work_mutex);
    write_out(packed);
    reclaim(packed);
    merge_all(packed);
    upkeep_remove_dead(packed);
    pthread_mutex_unlock(&packed->work_mutex);
}

static void *run_thread(void *argument)
{
    struct packed *packed = argument;

    for (;;) {
        pthread_mutex_lock(&packed->mutex);
        while (!packed->has_work && packed->dropped_new_count == 0 && !packed->stopping)
            pthread_cond_wait(&packed->wanted, &packed->mutex);
        packed->has_work = false;
        pthread_mutex_unlock(&packed->mutex);
        if (is_stopping(packed))
            return NULL;
        work(packed);
    }
}

/* Signals are for the threads that wait for them. */
bool upkeep_start(struct packed *packed)
{
    sigset_t all, before;
    bool started;

    assert(packed->options.threads);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pthread_create(&packed->thread, NULL, run_thread, packed) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void upkeep_stop(struct packed *packed)
{
    assert(packed->is_running);
    pthread_mutex_lock(&packed->mutex);
    packed->stopping = true;
    pthread_cond_signal(&packed->wanted);
    pthread_mutex_unlock(&packed->mutex);
    pthread_join(packed->thread, NULL);
}

void upkeep_wake(struct packed *packed)
{
    if (!packed->options.threads) {
        work(packed);
        return;
    }
    pthread_mutex_lock(&packed->mutex);
    packed->has_work = true;
    pthread_cond_signal(&packed->wanted);
    pthread_mutex_unlock(&packed->mutex);
}

/* An attempt that is under way counts too, because it writes the same delta. */
enum status upkeep_wait(struct op *op, struct packed *packed)
{
    const struct delta *sealed;
    uint64_t failures;
    bool failed;

    thread_assert_locked(&packed->append_mutex); /* so that no other delta is sealed meanwhile */
    pthread_mutex_lock(&packed->mutex);
    sealed = packed->layers->sealed;
    failures = packed->failures;
    pthread_mutex_unlock(&packed->mutex);
    upkeep_wake(packed);
    pthread_mutex_lock(&packed->mutex);
    while (sealed && packed->layers->sealed == sealed && packed->failures == failures)
        pthread_cond_wait(&packed->ended, &packed->mutex);
    failed = sealed && packed->layers->sealed == sealed;
    pthread_mutex_unlock(&packed->mutex);
    return failed ? op_fail(op, ST_UNAVAILABLE, "The index cannot be written out.") : ST_OK;
}
