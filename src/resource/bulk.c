/*
 * src/resource/bulk.c - operations that stand or fall each by itself, committed together where they can be.
 * A wave has every part that need not wait for another. The transactions of a wave begin one by one, and then go to
 * the committer side by side, so that a hundred parts mostly wait for one sync.
 */
#include <assert.h>

#include "reply/charge.h"
#include "resource/scope.h"
#include "resource/batch.h"
#include "resource/heat.h"
#include "resource/throughput.h"

struct wave {
    struct part **part;
    struct partition_ending *ending; /* of each */
    size_t count;
};

static struct slice id_written(const struct action *action)
{
    struct json id = json_get(action->document, "id");

    return json_kind(id) == JSON_STRING ? json_string(id) : action->id;
}

/* Whether both are about one item, or one gives its item the other's id. */
static bool meet(const struct action *a, const struct action *b)
{
    struct slice a_written = id_written(a), b_written = id_written(b);

    return partition_key_equal(&a->key.values, &b->key.values) &&
           (slice_equal(a->id, b->id) || slice_equal(a->id, b_written) || slice_equal(a_written, b->id) ||
            slice_equal(a_written, b_written));
}

/* Operations on one item are done in the order in which they came. */
static bool must_wait(const struct parts *parts, size_t which)
{
    assert(which < parts->count);
    for (size_t i = 0; i < which; i++)
        if (!parts->part[i].done && meet(&parts->part[i].action, &parts->part[which].action))
            return true;
    return false;
}

static void finish(struct op *op, struct part *part, enum status status)
{
    assert(!part->done); /* a part ends once */
    batch_end_part(op, part, status);
    part->done = true;
}

/* A part costs what it would cost as a request of its own: at least the read of an item. */
static enum status take(struct op *op, struct parts *parts, struct part *part, struct partition_txn *txn)
{
    struct work before = op->work;
    enum status st = batch_take_part(op, parts, part, txn);

    if (part->charge == 0)
        work_read(&op->work, 0);
    part->charge = charge_since(&op->work, &before);
    return st;
}

/* Begins a part. Unless it fails, it joins the wave and waits for its commit. */
static enum status begin(struct op *op, struct parts *parts, struct part *part, struct wave *wave)
{
    struct partition_txn *txn = NULL;
    enum status st;

    assert(!part->done);
    assert(wave->count < parts->count); /* there is room for all of them */
    op->retry_after_ms = 0;
    part->charge = charge_refused;
    TRY(throughput_enter_part(op, parts->call, &part->action.key.epk));
    TRY(partition_begin_many(op, parts->call->container, &part->action.key, &txn));
    st = take(op, parts, part, txn);
    throughput_leave_part(op, parts->call, &part->action.key.epk, part->charge);
    heat_note_key(op, parts->call, &part->action.key, part->charge);
    TRY(st);
    wave->ending[wave->count] = (struct partition_ending){ .txn = txn };
    wave->part[wave->count++] = part;
    txn = NULL;
out:
    if (st != ST_OK)
        finish(op, part, st);
    partition_abort(txn);
    return st;
}

/* Ends a part after its wave's commit. If another writer came first, it runs again like a request, with a lock. */
static enum status settle(struct op *op, const struct parts *parts, struct part *part,
                          struct partition_ending *ending)
{
    struct work before = op->work;

    assert(!ending->txn); /* partition_commit_many() has ended it */
    op->error = ending->error;
    op->retry_after_ms = 0; /* another part's */
    if (ending->status == ST_WRITE_CONFLICT)
        ending->status = action_run(op, parts->call, &part->action, &ending->stamp);
    part->charge += charge_since(&op->work, &before);
    if (ending->status == ST_OK)
        action_stamp(&part->action, ending->stamp);
    return ending->status;
}

static bool is_failure(enum status st)
{
    return st != ST_OK && st != ST_NOT_MODIFIED;
}

/* Begins as many parts as need not wait, but no more than `limit`. Says whether one has failed. */
static bool begin_wave(struct op *op, struct parts *parts, size_t limit, struct wave *wave)
{
    bool failed = false;

    wave->count = 0;
    for (size_t i = 0; i < parts->count && wave->count < limit && !(failed && limit == 1); i++)
        if (!parts->part[i].done && !must_wait(parts, i))
            failed |= is_failure(begin(op, parts, &parts->part[i], wave));
    return failed;
}

static bool end_wave(struct op *op, struct parts *parts, struct wave *wave)
{
    bool failed = false;

    assert(wave->count > 0);
    partition_commit_many(op, wave->ending, wave->count);
    for (size_t i = 0; i < wave->count; i++) {
        finish(op, wave->part[i], settle(op, parts, wave->part[i], &wave->ending[i]));
        failed |= is_failure(wave->part[i]->status);
    }
    return failed;
}

void bulk_run(struct op *op, struct parts *parts, bool stops)
{
    struct wave wave = {
        .part = arena_alloc(&op->arena, parts->count * sizeof(*wave.part)),
        .ending = arena_alloc(&op->arena, parts->count * sizeof(*wave.ending)),
    };
    bool failed;

    do {
        failed = begin_wave(op, parts, stops ? 1 : parts->count, &wave);
        if (wave.count)
            failed |= end_wave(op, parts, &wave);
    } while (wave.count && !(failed && stops));
    parts->lsn = scope_lsn(parts->call, parts->reply);
}
