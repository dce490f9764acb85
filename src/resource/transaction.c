/*
 * src/resource/transaction.c - runs transactions over several containers: all of it in one commit, or nothing.
 * A write leaves a record under its token in the same commit (ledger/), whether it was done or aborted. A request with a
 * token that has a record does nothing, and gets the answer that the record tells.
 */
#include <assert.h>

#include "catalog/ranges.h"
#include "partition/locks.h"
#include "reply/charge.h"
#include "resource/heat.h"
#include "resource/resource.h"
#include "resource/throughput.h"
#include "resource/transaction.h"

/* ---- what both have ---- */

static enum status enter(struct op *op, const struct transaction *transaction)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < transaction->count; i++)
        if (transaction->part[i].placed == ST_OK)
            TRY(throughput_enter_part(op, &transaction->part[i].call, &transaction->part[i].action.key.epk));
out:
    return st;
}

static void pay(struct op *op, const struct transaction *transaction)
{
    for (size_t i = 0; i < transaction->count; i++) {
        const struct txn_part *part = &transaction->part[i];

        if (part->placed != ST_OK)
            continue;
        throughput_pay_part(op, &part->call, &part->action.key.epk, part->charge);
        heat_note_place(op, &part->call, &part->action.key, part->charge);
    }
}

static void take_part(struct op *op, const struct transaction *transaction, struct txn_part *part)
{
    struct work before = op->work;

    op->error = part->error;
    part->status = part->placed;
    if (part->placed == ST_OK) {
        struct partition_txn *txn = transaction->txn[part->home];

        partition_turn_to(txn, &part->action.key);
        part->status = action_take(op, part->call.container, txn, &part->action);
    }
    part->charge = charge_since(&op->work, &before);
}

static enum status begin(struct op *op, struct transaction *transaction)
{
    if (transaction->container_count == 0)
        return ST_OK;
    return partition_begin_together(op, transaction->container, transaction->container_count,
                                    transaction->txn);
}

static void end(struct transaction *transaction)
{
    for (size_t i = 0; i < transaction->container_count; i++) {
        partition_abort(transaction->txn[i]);
        transaction->txn[i] = NULL;
    }
    transaction_leave(transaction);
}

/* ---- records ---- */

static struct ledger_part outcome_of(const struct txn_part *part)
{
    const struct error_row *row = error_row(part->status);
    bool wrote = part->status == ST_OK && part->action.kind != ACTION_DELETE;

    return (struct ledger_part){
        .status = (uint16_t)(part->status == ST_OK ? action_status(&part->action) : row->http),
        .sub_status = part->status == ST_OK ? 0 : (uint32_t)row->sub,
        .container = (uint16_t)part->home,
        .range = part->home == LEDGER_NOWHERE
                     ? 0
                     : *ranges_of_prefix(part->call.container, &part->action.key.epk).id,
        .etag = wrote ? part->action.item.etag : 0,
        .charge = part->charge,
    };
}

static void make_record(struct op *op, const struct transaction *transaction, bool committed,
                        struct ledger_record *record)
{
    struct slice body = transaction->call->request->body;

    *record = (struct ledger_record){
        .token = transaction->token,
        .seed = { env_random_u64(op->env), env_random_u64(op->env) },
        .committed = committed,
        .container_count = transaction->container_count,
        .part_count = transaction->count,
        .container = arena_alloc(&op->arena, (transaction->container_count + 1) * sizeof(*record->container)),
        .part = arena_alloc(&op->arena, transaction->count * sizeof(*record->part)),
    };
    record->body = siphash_128(record->seed, body.data, body.size);
    for (size_t i = 0; i < transaction->container_count; i++)
        record->container[i] =
            (struct ledger_container){ transaction->container[i]->rid,
                                       { .lsn = container_lsn(transaction->container[i]) } };
    for (size_t i = 0; i < transaction->count; i++)
        record->part[i] = outcome_of(&transaction->part[i]);
}

/* A token is spent by its first request. Another one may not use it, and is not told what became of the first. */
static enum status check_same(struct op *op, const struct transaction *transaction,
                              const struct ledger_record *record)
{
    struct slice body = transaction->call->request->body;
    struct hash128 hash = siphash_128(record->seed, body.data, body.size);

    if (hash.h1 == record->body.h1 && hash.h2 == record->body.h2)
        return ST_OK;
    return op_fail(op, ST_TXN_BAD_OPERATION, "The idempotency token belongs to another transaction.");
}

/* ---- writing ---- */

/* One operation could not be done, and so none is. That is an outcome, and is kept like another. */
static enum status abort_all(struct op *op, struct transaction *transaction, const struct txn_part *culprit,
                             uint64_t seen, struct ledger_record *record)
{
    struct commit witness;

    for (size_t i = 0; i < transaction->count; i++) {
        struct txn_part *part = &transaction->part[i];

        if (part > culprit)
            part->charge = 0;
        if (part != culprit)
            part->status = ST_TXN_ROLLED_BACK;
    }
    make_record(op, transaction, false, record);
    ledger_note(op, transaction->call->service->ledger, record, seen, &witness);
    return ledger_commit(op, &witness);
}

static enum status commit_all(struct op *op, struct transaction *transaction, uint64_t seen,
                              struct ledger_record *record)
{
    struct commit witness;
    enum status st;

    make_record(op, transaction, true, record);
    ledger_note(op, transaction->call->service->ledger, record, seen, &witness);
    TRY(partition_commit_together(op, transaction->txn, transaction->container_count, &witness));
    TRY(ledger_noted(op, &witness, &transaction->token, record));
out:
    return st;
}

static enum status execute(struct op *op, struct transaction *transaction, uint64_t seen,
                           struct ledger_record *record)
{
    enum status st;

    TRY(ledger_check_room(op, transaction->call->service->ledger));
    TRY(enter(op, transaction));
    TRY(begin(op, transaction));
    for (size_t i = 0; i < transaction->count; i++) {
        struct txn_part *part = &transaction->part[i];

        take_part(op, transaction, part);
        if (part->status == ST_OK)
            continue;
        st = action_is_to_blame(part->status) ? abort_all(op, transaction, part, seen, record) : part->status;
        goto out;
    }
    st = commit_all(op, transaction, seen, record);
out:
    return st;
}

/* A client that may not do this again is not told what became of it either: its rights come first. */
static enum status attempt(struct op *op, struct transaction *transaction, struct ledger_record *record)
{
    struct ledger *ledger = transaction->call->service->ledger;
    uint64_t seen = ledger_lsn(ledger);
    bool found;
    enum status st;

    TRY(transaction_place(op, transaction));
    TRY(ledger_find(op, ledger, &transaction->token, record, &found));
    if (found)
        TRY(check_same(op, transaction, record));
    else
        TRY(execute(op, transaction, seen, record));
    if (!found)
        pay(op, transaction);
out:
    end(transaction);
    return st;
}

/*
 * Those that lost a race line up, so that they do not make one another lose again. They have the locks of their tokens
 * then. Those are odd, and so none of them is this one.
 */
enum { TURN_LOCK = 0x7472616e };

static uint64_t lock_of(const struct ledger_token *token)
{
    return murmur3_128(token, sizeof(*token)).h1 | 1;
}

static enum status attempt_in_turn(struct op *op, struct transaction *transaction,
                                   struct ledger_record *record)
{
    struct lock *lock = NULL;
    enum status st;

    TRY(locks_acquire(op, transaction->call->service->locks, TURN_LOCK, &lock));
    TRY(attempt(op, transaction, record));
out:
    locks_release(lock);
    return st;
}

/* A container that was dropped while the transaction ran is missed by the next attempt. */
static bool is_worth_another(enum status st)
{
    return st == ST_WRITE_CONFLICT || st == ST_OWNER_NOT_FOUND;
}

static enum status attempt_until_decided(struct op *op, struct transaction *transaction,
                                         struct ledger_record *record)
{
    struct action_attempt begun = action_attempt_begin(op);
    enum status st = attempt(op, transaction, record);

    for (int tries = 1; is_worth_another(st) && tries < ACTION_TRIES; tries++) {
        action_attempt_again(op, &begun);
        st = attempt_in_turn(op, transaction, record);
    }
    if (is_worth_another(st))
        return op_fail_as(op, ST_TXN_CONTENDED);
    if (st == ST_AMBIGUOUS)
        return op_fail(op, ST_TXN_UNDECIDED, "It is not known yet what became of the transaction.");
    return st;
}

/* The answer gets its room before anything is written. A client that got none would have to ask again. */
static bool make_room(const struct transaction *transaction)
{
    enum { BARE_BYTES = 4096, PART_BYTES = 320 };

    return buf_reserve(&transaction->reply->answer->head, BARE_BYTES) &&
           buf_reserve(reply_body(transaction->reply), BARE_BYTES + PART_BYTES * transaction->count);
}

enum status transaction_write(struct op *op, struct call *call, struct reply *reply)
{
    struct transaction transaction = { .call = call, .reply = reply };
    struct ledger_record record;
    struct lock *lock = NULL;
    enum status st;

    assert(op->may_block); /* its route never runs on a loop thread */
    TRY(transaction_read_body(op, call, false, &transaction));
    if (!make_room(&transaction))
        TRY(op_fail_as(op, ST_TOO_LARGE));
    /* Two requests with one token: the second waits, and then finds the record of the first. */
    TRY(locks_acquire(op, call->service->locks, lock_of(&transaction.token), &lock));
    TRY(attempt_until_decided(op, &transaction, &record));
    transaction_answer(&transaction, &record);
out:
    locks_release(lock);
    return st;
}

/* ---- reading ---- */

/* Every part is asked, so that the client is told all that is missing. */
static enum status read_all(struct op *op, struct transaction *transaction)
{
    enum status st;

    TRY(enter(op, transaction));
    TRY(begin(op, transaction));
    for (size_t i = 0; i < transaction->count; i++) {
        struct txn_part *part = &transaction->part[i];

        take_part(op, transaction, part);
        if (part->status != ST_OK && part->status != ST_NOT_MODIFIED && !action_is_to_blame(part->status))
            TRY(part->status);
    }
out:
    return st;
}

enum status transaction_read(struct op *op, struct call *call, struct reply *reply)
{
    struct transaction transaction = { .call = call, .reply = reply };
    enum status st;

    assert(op->may_block);
    TRY(transaction_read_body(op, call, true, &transaction));
    TRY(transaction_place(op, &transaction));
    TRY(read_all(op, &transaction));
    pay(op, &transaction);
    TRY(transaction_answer_read(op, &transaction));
out:
    end(&transaction);
    return st;
}
