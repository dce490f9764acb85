/*
 * src/store/committer.c - from waiting batches to durable, visible, numbered commits.
 *
 * A group is everything that waits, up to a bound. While its sync runs the next group gathers,
 * so there is no delay to tune: the slower the disk, the larger the groups. Large batches have groups of their own,
 * and while small ones wait, each is alone in its group and they take turns: a small one waits for one large one.
 *
 * Failure. When the backend's write fails nobody knows whether the group is on disk. Nothing
 * more is written until the backend was reopened and the heads of the group's buckets were
 * read again. A batch is on disk exactly if its LSN is not above its bucket's head: the head
 * is part of the same atomic write, and no other batch was given that LSN since.
 *
 * Outcomes. If reopening fails, those who wait get ST_AMBIGUOUS and ask later. By then the LSNs of
 * a lost group may have been given out again, so the head of today proves nothing. Each
 * successful reopen therefore begins a new incarnation, a batch remembers the one that
 * stamped it, and a bucket remembers the head with which an incarnation ended in doubt.
 *
 * Entries of the index are keys like all others, or belong to the packed index (packed/packed.h). The packed index
 * gets them before the group is written. After a failure it forgets those that were not written, once the heads are
 * known again.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/heap.h"
#include "base/log.h"
#include "base/thread.h"
#include "keys/keys.h"
#include "store/batch_private.h"
#include "store/cache.h"
#include "store/committer.h"
#include "store/conflict.h"
#include "store/gather.h"
#include "store/packed_entries.h"

enum { GROUP_BYTES_MAX = 8 * 1024 * 1024, LARGE_BYTES = 256 * 1024, REOPEN_PAUSE_MS = 200 };

/* What one write to the backend is made of. */
struct group {
    struct submission *submissions;
    int64_t now_ms;
    struct mutation *mutations;
    size_t count, capacity;
    size_t commits, conflicts, bytes;
    struct local_bucket *touched;
};

struct committer {
    struct backend *backend;
    struct packed *packed; /* NULL: entries are mutations */
    struct cache *cache;   /* NULL: there is none */
    struct conflicts *conflicts;
    struct op op; /* for calls of the backend; its arena lasts for one group */
    bool sync;

    pthread_mutex_t
        mutex; /* guards the queue, `called`, `stopping`, `stats`, `incarnation` and buckets' `past` */
    pthread_cond_t arrived;
    struct submission *first, **last;
    size_t waiting, waiting_bytes; /* in the queue */
    struct gather gather;
    bool holds;     /* the thread holds a group back, and is called when all have come that it expects */
    bool was_large; /* the last group */
    bool called;    /* somebody has told the thread that there is work, since it last took some */
    bool stopping;
    struct store_stats stats;
    uint64_t incarnation;

    pthread_mutex_t step_mutex; /* held for a whole step; guards what follows */
    struct group group;
    struct local_bucket *in_doubt;
    int64_t reopen_after_ms; /* on the monotonic clock */

    atomic_bool writable;
    bool threaded;
    pthread_t thread;
};

/* ---- the queue ---- */

static size_t bytes_of(const struct submission *submission)
{
    return submission->batch ? submission->batch->bytes : 0;
}

/* A set is submissions that are joined; mostly it is one. What follows the set in the queue. */
static struct submission *end_of_set(const struct submission *first)
{
    while (first->joined)
        first = first->next;
    return first->next;
}

/* Whether what waits is as much as is waited for. Large ones wait for nobody. */
static bool is_gathered(const struct committer *committer)
{
    return committer->waiting >= committer->gather.expected || committer->waiting_bytes > LARGE_BYTES;
}

/* Under the mutex: true when the caller is to signal `arrived`, without the mutex, on which the thread would wait. */
static bool is_to_call(struct committer *committer)
{
    bool calls = committer->first && !committer->called && (!committer->holds || is_gathered(committer));

    committer->called |= calls;
    return calls;
}

static void call_thread(void *context)
{
    struct committer *committer = context;
    bool calls;

    pthread_mutex_lock(&committer->mutex);
    calls = is_to_call(committer);
    pthread_mutex_unlock(&committer->mutex);
    if (calls)
        pthread_cond_signal(&committer->arrived);
}

/*
 * A loop thread calls the committer when it has begun everything that has arrived, and so makes one group of it. It has the
 * answers to send, so nobody would hear of an earlier commit earlier.
 */
void committer_submit(struct committer *committer, struct submission *submissions, size_t count)
{
    bool calls_later = submissions->waiting && thread_put_off(call_thread, committer), calls;
    size_t bytes = 0;

    assert(count > 0);
    for (size_t i = 0; i < count; i++) {
        assert((submissions[i].batch != NULL) == (submissions[i].kind == SUBMISSION_COMMIT));
        assert(!submissions[i].joined || (i + 1 < count && submissions[i + 1].batch));
        assert((submissions[i].bucket != NULL) == (submissions[i].kind != SUBMISSION_RECOVER));
        submissions[i].next = i + 1 < count ? &submissions[i + 1] : NULL;
        sem_init(&submissions[i].done, 0, 0);
        bytes += bytes_of(&submissions[i]);
    }
    pthread_mutex_lock(&committer->mutex);
    assert(!committer->stopping); /* nobody commits to a store that is being closed */
    assert(!*committer->last);    /* it points behind the last that waits */
    *committer->last = submissions;
    committer->last = &submissions[count - 1].next;
    committer->waiting += count;
    committer->waiting_bytes += bytes;
    calls = !calls_later && is_to_call(committer);
    pthread_mutex_unlock(&committer->mutex);
    if (calls)
        pthread_cond_signal(&committer->arrived);
}

static size_t bytes_of_set(const struct submission *first)
{
    const struct submission *end = end_of_set(first);
    size_t bytes = 0;

    for (; first != end; first = first->next)
        bytes += bytes_of(first);
    return bytes;
}

/* Where the queue goes on behind a set. */
static struct submission **link_behind(struct submission **at)
{
    while ((*at)->joined)
        at = &(*at)->next;
    return &(*at)->next;
}

static bool is_large(const struct submission *first)
{
    return bytes_of_set(first) > LARGE_BYTES;
}

/* Whether small and large sets wait, up to the first that is no commit: nothing goes past that. */
static bool both_wait(const struct committer *committer)
{
    bool small = false, large = false;

    for (const struct submission *at = committer->first; at && at->kind == SUBMISSION_COMMIT;
         at = end_of_set(at)) {
        large |= is_large(at);
        small |= !is_large(at);
    }
    return small && large;
}

/* What the next group is made of. */
struct choice {
    bool large; /* large sets, or small ones */
    bool alone; /* just one of them */
};

static bool may_join(const struct submission *first, const struct choice *choice, size_t count, size_t bytes)
{
    if (count == 0)
        return true;
    return !choice->alone && bytes + bytes_of_set(first) <= GROUP_BYTES_MAX;
}

/* Takes sets of the chosen kind out of the queue, in their order: at least one, and then as many as the bound allows. */
static struct submission *take_chosen(struct committer *committer, const struct choice *choice)
{
    struct submission *taken = NULL, **end = &taken, **at = &committer->first;
    size_t count = 0, bytes = 0;

    while (*at && (at == &committer->first || (*at)->kind == SUBMISSION_COMMIT)) {
        struct submission *first = *at, **behind = link_behind(at);

        if (is_large(first) != choice->large) {
            at = behind;
            continue;
        }
        if (!may_join(first, choice, count, bytes))
            break;
        count++;
        bytes += bytes_of_set(first);
        *end = first;
        *at = *behind;
        end = behind;
    }
    *end = NULL;
    if (!*at)
        committer->last = at;
    return taken;
}

static void count_taken(struct committer *committer, const struct submission *taken)
{
    for (; taken; taken = taken->next) {
        assert(committer->waiting > 0);
        committer->waiting--;
        committer->waiting_bytes -= bytes_of(taken);
    }
    assert(committer->first || committer->waiting_bytes == 0);
}

static struct submission *take_waiting(struct committer *committer)
{
    struct submission *taken = NULL;
    struct choice choice;

    thread_assert_locked(&committer->step_mutex);
    pthread_mutex_lock(&committer->mutex);
    committer->called = false;
    if (committer->first) {
        bool both = both_wait(committer);

        choice.large = both ? !committer->was_large : is_large(committer->first);
        choice.alone = both && choice.large;
        taken = take_chosen(committer, &choice);
        assert(taken);
        count_taken(committer, taken);
        committer->was_large = choice.large;
    }
    pthread_mutex_unlock(&committer->mutex);
    return taken;
}

/*
 * A submission is gone as soon as its owner is awake. A semaphore each, and not a mutex with a
 * condition: the one that wakes may then take the processor at once, and finds no lock held.
 */
static void finish_all(struct submission *submission)
{
    struct op *resumed = NULL; /* the last one so far: whether it is the last of all is known at the end */

    while (submission) {
        struct submission *next = submission->next;
        struct op *waiting = submission->waiting;

        if (waiting && resumed)
            resumed->resume(resumed, false);
        if (waiting)
            resumed = waiting;
        else
            sem_post(&submission->done);
        submission = next;
    }
    if (resumed)
        resumed->resume(resumed, true);
}

static void wait_until_done(struct submission *submission)
{
    while (sem_wait(&submission->done) != 0)
        ; /* a signal came between */
}

void committer_run(struct committer *committer, struct submission *submissions, size_t count)
{
    committer_submit(committer, submissions, count);
    while (!committer->threaded && committer_step(committer))
        ; /* until the queue, and with it these submissions, is done */
    for (size_t i = 0; i < count; i++) {
        wait_until_done(&submissions[i]);
        sem_destroy(&submissions[i].done);
    }
}

/* ---- a group ---- */

static void add_mutation(struct group *group, struct slice key, struct slice value)
{
    heap_list_reserve(&group->mutations, &group->capacity, group->count + 1, sizeof(*group->mutations));
    group->mutations[group->count++] = (struct mutation){ key, value };
    group->bytes += key.size + value.size;
}

static void touch(struct group *group, struct local_bucket *bucket)
{
    if (bucket->touched)
        return;
    bucket->touched = true;
    bucket->next_touched = group->touched;
    group->touched = bucket;
}

static void add_entries(struct group *group, const struct batch *batch, struct commit_stamp stamp)
{
    for (const struct batch_entry *entry = batch_first(batch); entry; entry = batch_next(entry)) {
        if (entry->stamped) /* then the value is writable: batch_put_stamped() asked for it */
            value_stamp((uint8_t *)entry->value.data, entry->value.size, stamp.lsn, stamp.ts_ms);
        add_mutation(group, entry->key, entry->value);
    }
}

static void add_index(struct group *group, struct batch *batch)
{
    size_t count;
    const struct batch_index_entry *entry = batch_index_entries(batch, &count);

    for (size_t i = 0; i < count; i++)
        add_mutation(group, entry[i].key, entry[i].present ? slice_of("") : (struct slice){ 0 });
}

/* Mostly the counter was given out by this bucket. One that comes from elsewhere is not to be given out again. */
static void raise_counter(struct local_bucket *bucket, uint64_t counter)
{
    uint64_t last = atomic_load_explicit(&bucket->last_counter, memory_order_relaxed);

    while (last < counter && !atomic_compare_exchange_weak(&bucket->last_counter, &last, counter))
        ;
}

static void add_commit(struct committer *committer, struct submission *submission)
{
    struct local_bucket *bucket = submission->bucket;
    struct batch *batch = submission->batch;

    assert(batch->bucket == bucket->base.id);
    assert(!bucket->in_doubt); /* nothing is stamped before its head was read again */
    assert(!bucket->dropped);  /* a dropped bucket gets no key any more */
    assert(batch->lsn == 0);   /* a batch is stamped once */
    batch_advance_head(batch, &bucket->head, committer->group.now_ms);
    raise_counter(bucket, batch->counter);
    assert(bucket->head.lsn > atomic_load(&bucket->visible_lsn)); /* LSNs only rise */
    submission->stamp = (struct commit_stamp){ bucket->head.lsn, bucket->head.ts_ms };
    batch->lsn = submission->stamp.lsn;
    batch->incarnation = committer->incarnation;
    add_entries(&committer->group, batch, submission->stamp);
    batch_index_date(batch, submission->stamp.ts_ms);
    if (!committer->packed)
        add_index(&committer->group, batch);
    touch(&committer->group, bucket);
    for (size_t i = 0; i < batch->expectation_count; i++) /* at once: the rest of this group must see it */
        conflicts_mark(committer->conflicts, bucket, batch->expectation[i].scope, batch->lsn);
    committer->group.commits++;
}

static bool expectations_hold(const struct committer *committer, const struct submission *submission)
{
    const struct batch *batch = submission->batch;

    for (size_t i = 0; i < batch->expectation_count; i++)
        if (conflicts_changed_after(committer->conflicts, submission->bucket, batch->expectation[i].scope,
                                    batch->expectation[i].lsn))
            return false;
    return true;
}

static enum status check(const struct committer *committer, const struct submission *submission)
{
    if (submission->kind != SUBMISSION_COMMIT)
        return ST_OK;
    if (submission->bucket->dropped)
        return ST_OWNER_NOT_FOUND;
    if (!batch_follows_last(submission->batch, submission->bucket->head.lsn))
        return ST_WRITE_CONFLICT;
    return expectations_hold(committer, submission) ? ST_OK : ST_WRITE_CONFLICT;
}

/* A batch may hold the stamps of those before it in its set: they are written before its own checksums are made. */
static void tell_stamps(const struct submission *first, const struct submission *last)
{
    uint8_t *room = last->batch->stamps;

    for (; room && first != last; first = first->next, room += STAMP_BYTES)
        stamp_encode(&first->stamp, room);
}

static void add(struct committer *committer, const struct submission *first, struct submission *submission)
{
    if (submission->kind == SUBMISSION_DROP) {
        submission->bucket->dropped = true;
        local_bucket_begin_turn(submission->bucket); /* which never ends: its head goes with its rows */
    }
    if (submission->kind != SUBMISSION_COMMIT)
        return;
    tell_stamps(first, submission);
    add_commit(committer, submission);
}

/* All of the set or none. Nothing of the set is marked as changed before all of it was checked. */
static void add_set(struct committer *committer, struct submission *first)
{
    struct submission *end = end_of_set(first);
    enum status st = ST_OK;

    for (struct submission *each = first; st == ST_OK && each != end; each = each->next)
        st = check(committer, each);
    committer->group.conflicts += st == ST_WRITE_CONFLICT;
    for (struct submission *each = first; each != end; each = each->next) {
        each->status = st;
        if (st == ST_OK)
            add(committer, first, each);
    }
}

/* One head for each bucket, however many of its batches are in the group. */
static void add_heads(struct committer *committer)
{
    for (struct local_bucket *bucket = committer->group.touched; bucket; bucket = bucket->next_touched) {
        uint8_t *bytes = arena_alloc(&committer->op.arena, HEAD_BYTES);
        size_t size = head_encode(&bucket->head, bytes);

        assert(bucket->touched);
        add_mutation(&committer->group, key_head(&committer->op.arena, bucket->base.id),
                     slice_make(bytes, size));
    }
}

static bool was_stamped(const struct submission *submission)
{
    return submission->kind == SUBMISSION_COMMIT && submission->status == ST_OK;
}

static void add_changes(struct committer *committer, const struct submission *submission)
{
    const struct commit_stamp stamp = submission->stamp;
    const struct batch *batch = submission->batch;
    uint32_t position = 0;

    assert(stamp.lsn == batch->lsn);
    for (const struct batch_change *change = batch->changes; change; change = change->next) {
        struct slice key = key_log(&committer->op.arena, batch->bucket, stamp.lsn, position++);

        value_stamp(change->value, change->size, stamp.lsn, stamp.ts_ms);
        add_mutation(&committer->group, key, slice_make(change->value, change->size));
    }
}

/* All of the group's changes side by side: their keys are neighbours, and neighbours are cheap to insert. */
static void add_log(struct committer *committer)
{
    for (struct submission *submission = committer->group.submissions; submission;
         submission = submission->next)
        if (was_stamped(submission))
            add_changes(committer, submission);
}

/* The catalog's bucket has no documents, and so no entries. */
static bool has_index(const struct submission *submission)
{
    return was_stamped(submission) && bucket_container(submission->bucket->base.id) != 0;
}

/*
 * The packed index is told of each commit, even one without entries, so that it knows up to which LSN it has
 * everything.
 */
static enum status append_all(struct committer *committer)
{
    enum status st = ST_OK;

    if (!committer->packed)
        return ST_OK;
    for (struct submission *submission = committer->group.submissions; submission;
         submission = submission->next)
        if (has_index(submission))
            TRY(packed_entries_append(&committer->op, committer->packed, submission->batch,
                                      submission->stamp.lsn));
out:
    return st;
}

static void announce(struct committer *committer, void (*change)(struct cache *cache, struct slice key))
{
    const struct group *group = &committer->group;

    for (size_t i = 0; committer->cache && i < group->count; i++)
        if (key_is_document(group->mutations[i].key))
            change(committer->cache, group->mutations[i].key);
}

/* In between, no document of the group is found in the cache: nobody can tell which of two versions is the latest. */
static enum status write_mutations(struct committer *committer)
{
    const struct group *group = &committer->group;
    struct backend *backend = committer->backend;
    enum status st;

    assert(group->count > 0);
    for (struct local_bucket *bucket = group->touched; bucket; bucket = bucket->next_touched)
        local_bucket_begin_turn(bucket);
    announce(committer, cache_begin_change);
    st = backend->ops->write(&committer->op, backend, group->mutations, group->count, committer->sync);
    announce(committer, cache_end_change);
    return st;
}

static void publish(struct group *group)
{
    for (struct local_bucket *bucket = group->touched; bucket; bucket = bucket->next_touched) {
        assert(!bucket->in_doubt); /* only what is known to be written is shown */
        local_bucket_publish(bucket);
    }
}

/* ---- failure ---- */

enum status backend_read_head(struct op *op, struct backend *backend, uint64_t bucket, struct head *head)
{
    struct slice key = key_head(&op->arena, bucket), value;
    struct backend_snapshot *snapshot = NULL;
    enum status st;

    TRY(backend->ops->snapshot(op, backend, &snapshot));
    TRY(backend->ops->get_many(op, backend, snapshot, &key, 1, &value));
    TRY(head_decode(op, value, head));
out:
    if (snapshot)
        backend->ops->release(backend, snapshot);
    return st;
}

static void doubt_touched(struct committer *committer)
{
    for (struct local_bucket *bucket = committer->group.touched; bucket; bucket = bucket->next_touched) {
        assert(!bucket->in_doubt); /* else this group would not have been written */
        bucket->in_doubt = true;
        bucket->next_in_doubt = committer->in_doubt;
        committer->in_doubt = bucket;
    }
}

/* The bucket is again as it is on disk. A transaction that read before the failure may have to begin again. */
static void settle_bucket(struct local_bucket *bucket, uint64_t incarnation)
{
    assert(bucket->in_doubt);
    assert(incarnation > bucket->past[0].incarnation); /* an incarnation ends once */
    for (size_t i = ENDINGS_KEPT - 1; i > 0; i--)
        bucket->past[i] = bucket->past[i - 1];
    bucket->past[0] = (struct ending){ incarnation, bucket->head.lsn };
    bucket->floor_lsn = bucket->head.lsn;
    bucket->in_doubt = false;
    local_bucket_publish(bucket);
}

static void tell_packed_committed(struct committer *committer)
{
    if (committer->packed)
        packed_committed(committer->packed);
}

/* The packed index forgets the entries of commits that were not written, and is told that the others were. */
static void forget_lost(struct committer *committer)
{
    struct packed *packed = committer->packed;

    for (struct local_bucket *bucket = committer->in_doubt; packed && bucket; bucket = bucket->next_in_doubt)
        packed_forget(packed, bucket->base.id, bucket->head.lsn);
    tell_packed_committed(committer);
}

static void begin_incarnation(struct committer *committer)
{
    thread_assert_locked(&committer->step_mutex);
    assert(!atomic_load(&committer->writable)); /* so that no group is under way but the one that failed */
    forget_lost(committer);
    pthread_mutex_lock(&committer->mutex);
    for (struct local_bucket *bucket = committer->in_doubt; bucket; bucket = bucket->next_in_doubt)
        settle_bucket(bucket, committer->incarnation);
    committer->in_doubt = NULL;
    if (committer->cache)
        cache_resume(committer->cache);
    committer->incarnation++;
    committer->stats.reopens++;
    atomic_store(&committer->writable, true);
    pthread_mutex_unlock(&committer->mutex);
    log_line(LOG_WARN, "store: reopened after a failed write; writes are accepted again");
}

static enum status reopen(struct committer *committer)
{
    struct backend *backend = committer->backend;
    struct op *op = &committer->op;
    enum status st;

    assert(
        !atomic_load(&committer->writable)); /* else the heads in memory are right, and nothing is in doubt */
    if (committer->cache)                    /* the failed write may turn out either way */
        cache_pause(committer->cache);
    TRY(backend->ops->reopen(op, backend));
    for (struct local_bucket *bucket = committer->in_doubt; bucket; bucket = bucket->next_in_doubt)
        TRY(backend_read_head(op, backend, bucket->base.id, &bucket->head));
    begin_incarnation(committer);
out:
    if (st != ST_OK)
        log_line(LOG_ERROR, "store: cannot be reopened: %s", op->error ? op->error : error_row(st)->name);
    committer->reopen_after_ms = env_monotonic_ms(op->env) + REOPEN_PAUSE_MS;
    return st;
}

void committer_suspect(struct committer *committer)
{
    pthread_mutex_lock(&committer->step_mutex);
    atomic_store(&committer->writable, false);
    pthread_mutex_unlock(&committer->step_mutex);
}

/* True when writes are possible, after another try at it if the last one is long enough ago. */
static bool ensure_writable(struct committer *committer)
{
    if (atomic_load(&committer->writable))
        return true;
    if (env_monotonic_ms(committer->op.env) < committer->reopen_after_ms)
        return false;
    return reopen(committer) == ST_OK;
}

/* Marks of a write that may not have happened would refuse transactions for no reason. */
static void unmark(struct committer *committer, const struct submission *submission)
{
    for (size_t i = 0; i < submission->batch->expectation_count; i++)
        conflicts_forget(committer->conflicts, submission->bucket, submission->batch->expectation[i].scope);
}

static enum status status_after_reopen(const struct submission *submission)
{
    assert(submission->stamp.lsn > 0);
    assert(!submission->bucket->in_doubt); /* its head was read again */
    if (submission->stamp.lsn <= submission->bucket->head.lsn)
        return ST_OK;
    submission->batch->lsn = 0;
    return ST_UNAVAILABLE;
}

static void write_failed(struct committer *committer)
{
    struct group *group = &committer->group;
    struct op *op = &committer->op;
    bool reopened;

    log_line(LOG_ERROR, "store: a write failed: %s", op->error ? op->error : "for no known reason");
    atomic_store(&committer->writable, false);
    doubt_touched(committer);
    for (struct submission *submission = group->submissions; submission; submission = submission->next)
        if (was_stamped(submission))
            unmark(committer, submission);
    reopened = reopen(committer) == ST_OK;
    for (struct submission *submission = group->submissions; submission; submission = submission->next)
        if (was_stamped(submission))
            submission->status = reopened ? status_after_reopen(submission) : ST_AMBIGUOUS;
}

/* ---- a step ---- */

static void group_begin(struct committer *committer, struct submission *submissions)
{
    struct group *group = &committer->group;

    assert(!group->submissions); /* the group before has ended */
    assert(!group->touched);
    op_begin(&committer->op, INT64_MAX / 2);
    group->submissions = submissions;
    group->now_ms = committer->op.now_ms;
    group->count = group->commits = group->conflicts = group->bytes = 0;
}

static size_t count_all(const struct submission *submission)
{
    size_t count = 0;

    for (; submission; submission = submission->next)
        count++;
    return count;
}

static void count_group(struct committer *committer, bool failed, int64_t write_us)
{
    const struct group *group = &committer->group;
    struct store_stats *stats = &committer->stats;

    pthread_mutex_lock(&committer->mutex);
    gather_wrote(&committer->gather, count_all(group->submissions), committer->waiting, write_us);
    stats->conflicts += group->conflicts;
    stats->failures += failed;
    if (group->count > 0 && !failed) {
        stats->groups++;
        stats->commits += group->commits;
        stats->syncs += committer->sync;
        stats->bytes_written += group->bytes;
    }
    pthread_mutex_unlock(&committer->mutex);
}

static void group_end(struct committer *committer)
{
    struct group *group = &committer->group;

    thread_assert_locked(&committer->step_mutex);
    while (group->touched) {
        assert(group->touched->touched);
        group->touched->touched = false;
        group->touched = group->touched->next_touched;
    }
    finish_all(group->submissions);
    group->submissions = NULL;
}

static void group_write(struct committer *committer)
{
    struct group *group = &committer->group;
    int64_t began_us;
    enum status st;

    assert(atomic_load(&committer->writable));
    assert(!committer->in_doubt);
    for (struct submission *first = group->submissions; first; first = end_of_set(first))
        add_set(committer, first);
    add_log(committer);
    add_heads(committer);
    st = append_all(committer);
    began_us = env_monotonic_us(committer->op.env);
    if (st == ST_OK && group->count > 0)
        st = write_mutations(committer);
    count_group(committer, st != ST_OK, env_monotonic_us(committer->op.env) - began_us);
    if (st == ST_OK) {
        tell_packed_committed(committer);
        publish(group);
    } else {
        write_failed(committer);
    }
}

static void refuse_all(struct submission *submission)
{
    for (; submission; submission = submission->next)
        submission->status = ST_UNAVAILABLE;
}

bool committer_step(struct committer *committer)
{
    struct submission *submissions;

    pthread_mutex_lock(&committer->step_mutex);
    submissions = take_waiting(committer);
    if (submissions) {
        group_begin(committer, submissions);
        if (ensure_writable(committer))
            group_write(committer);
        else
            refuse_all(submissions);
        group_end(committer);
    }
    pthread_mutex_unlock(&committer->step_mutex);
    return submissions != NULL;
}

/* ---- its life ---- */

static struct timespec after_us(int64_t us)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    us += until.tv_nsec / 1000;
    until.tv_sec += us / 1000000;
    until.tv_nsec = us % 1000000 * 1000;
    return until;
}

/* Until those have come that are expected, or not in time: gather.h says why. */
static void hold_back(struct committer *committer)
{
    struct timespec until = after_us(committer->gather.limit_us);
    bool in_time = true;

    thread_assert_locked(&committer->mutex);
    committer->holds = true;
    while (in_time && !is_gathered(committer) && !committer->stopping) {
        committer->called = false;
        in_time = pthread_cond_timedwait(&committer->arrived, &committer->mutex, &until) != ETIMEDOUT;
    }
    committer->holds = false;
    gather_held(&committer->gather, is_gathered(committer));
}

/* False when there is nothing left to do and there will be nothing more. */
static bool wait_for_work(struct committer *committer)
{
    bool work;

    pthread_mutex_lock(&committer->mutex);
    while (!committer->first && !committer->stopping)
        pthread_cond_wait(&committer->arrived, &committer->mutex);
    work = committer->first != NULL;
    if (work && !is_gathered(committer) && gather_holds(&committer->gather, committer->waiting))
        hold_back(committer);
    pthread_mutex_unlock(&committer->mutex);
    return work;
}

static void *run_thread(void *argument)
{
    struct committer *committer = argument;

    while (wait_for_work(committer))
        committer_step(committer);
    return NULL;
}

/* Signals are for the threads that wait for them. */
static void start_thread(struct committer *committer)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    committer->threaded = pthread_create(&committer->thread, NULL, run_thread, committer) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

struct committer *committer_new(const struct committer_parts *parts, struct env *env, bool sync, bool thread)
{
    struct committer *committer = heap_allocate(sizeof(*committer));

    committer->backend = parts->backend;
    committer->packed = parts->packed;
    committer->cache = parts->cache;
    committer->sync = sync;
    committer->incarnation = 1;
    committer->last = &committer->first;
    committer->conflicts = conflicts_new();
    atomic_init(&committer->writable, true);
    op_init(&committer->op, env, SIZE_MAX / 2);
    pthread_mutex_init(&committer->mutex, NULL);
    pthread_mutex_init(&committer->step_mutex, NULL);
    init_condition(&committer->arrived);
    if (thread)
        start_thread(committer);
    if (committer->threaded == thread)
        return committer;
    committer_free(committer);
    return NULL;
}

static void stop_thread(struct committer *committer)
{
    pthread_mutex_lock(&committer->mutex);
    committer->stopping = true;
    pthread_cond_signal(&committer->arrived);
    pthread_mutex_unlock(&committer->mutex);
    pthread_join(committer->thread, NULL);
}

void committer_free(struct committer *committer)
{
    if (!committer)
        return;
    if (committer->threaded)
        stop_thread(committer);
    assert(!committer->first); /* nobody may be waiting for a commit of a store that is closed */
    pthread_cond_destroy(&committer->arrived);
    pthread_mutex_destroy(&committer->step_mutex);
    pthread_mutex_destroy(&committer->mutex);
    op_free(&committer->op);
    conflicts_free(committer->conflicts);
    free(committer->group.mutations);
    free(committer);
}

/* ---- questions ---- */

bool committer_is_threaded(const struct committer *committer)
{
    return committer->threaded;
}

bool committer_is_writable(const struct committer *committer)
{
    return atomic_load(&committer->writable);
}

/* How the batch's own incarnation ended; NULL when it ended without doubt about this bucket. */
static const struct ending *ending_of(const struct local_bucket *bucket, uint64_t incarnation)
{
    for (size_t i = 0; i < ENDINGS_KEPT; i++)
        if (bucket->past[i].incarnation == incarnation)
            return &bucket->past[i];
    return NULL;
}

/* Whether an ending as old as this might have been pushed out by later ones. */
static bool is_forgotten(const struct local_bucket *bucket, uint64_t incarnation)
{
    return bucket->past[ENDINGS_KEPT - 1].incarnation > incarnation;
}

bool committer_outcome(struct committer *committer, const struct local_bucket *bucket,
                       const struct batch *batch, bool *committed)
{
    const struct ending *ending;
    bool known = true;

    pthread_mutex_lock(&committer->mutex);
    ending = ending_of(bucket, batch->incarnation);
    if (batch->lsn == 0) /* never stamped, or found missing */
        *committed = false;
    else if (ending)
        *committed = batch->lsn <= ending->lsn;
    else if (batch->lsn <= atomic_load(&bucket->visible_lsn))
        *committed = known = !is_forgotten(bucket, batch->incarnation);
    else /* its own incarnation has not ended yet */
        known = false;
    pthread_mutex_unlock(&committer->mutex);
    return known;
}

void committer_stats(struct committer *committer, struct store_stats *stats)
{
    pthread_mutex_lock(&committer->mutex);
    *stats = committer->stats;
    pthread_mutex_unlock(&committer->mutex);
}
