/* src/resource/action.c - create, upsert, read, replace, patch and delete, in any transaction. */
#include <assert.h>

#include "resource/action.h"
#include "workload/noted.h"

void action_place(const struct container *container, struct action *action)
{
    assert(json_kind(action->document) == JSON_OBJECT);
    partition_key_extract(container, action->document, &action->key.values);
    partition_key_place(container, &action->key);
    action->id = json_string(json_get(action->document, "id"));
    assert(action->id.size > 0); /* item_check_document() has let the document in */
}

static enum status refuse_key(struct op *op)
{
    return op_fail(
        op, ST_KEY_MISMATCH,
        "PartitionKey extracted from document doesn't match the one specified in the header. Learn more: "
        "https://aka.ms/CosmosDB/sql/errors/wrong-pk-value");
}

enum status action_check_key(struct op *op, const struct action *action, const struct partition_key *named)
{
    return partition_key_equal(named, &action->key.values) ? ST_OK : refuse_key(op);
}

enum status action_not_found(struct op *op, enum action_kind kind)
{
    static const char *const names[ACTION_KINDS] = {
        "Create", "Upsert", "Read", "Replace", "Patch", "Delete"
    };

    /* Of a patch the service's backend tells it, in words of its own, and not the gateway. */
    enum status whose = kind == ACTION_PATCH ? ST_NOT_FOUND : ST_ITEM_NOT_FOUND;

    assert(kind < ACTION_KINDS);
    return op_fail(op, ST_ITEM_NOT_FOUND, "%s,\r\nResourceType: Document, OperationType: %s",
                   error_row(whose)->text, names[kind]);
}

/* ---- in a transaction ---- */

static enum status take_create(struct op *op, const struct container *container, struct partition_txn *txn,
                               struct action *action)
{
    enum status st;

    (void)container;
    TRY(partition_find(op, txn, action->id, &action->old, &action->found));
    if (action->found)
        TRY(op_fail_as(op, ST_ITEM_EXISTS));
    TRY(partition_create(op, txn, action->document, &action->item));
out:
    return st;
}

/* An upsert replaces the item, or creates it: then If-Match has nothing to compare with. */
static enum status take_upsert(struct op *op, const struct container *container, struct partition_txn *txn,
                               struct action *action)
{
    enum status st;

    (void)container;
    TRY(partition_find(op, txn, action->id, &action->old, &action->found));
    if (action->found) {
        TRY(if_match(op, action->if_match, action->old.etag, action->old.ts_ms));
        TRY(partition_replace(op, txn, &action->old, action->document, &action->item));
    } else {
        TRY(partition_create(op, txn, action->document, &action->item));
    }
out:
    return st;
}

static enum status find(struct op *op, struct partition_txn *txn, struct action *action)
{
    enum status st;

    TRY(partition_find(op, txn, action->id, &action->old, &action->found));
    if (!action->found)
        TRY(action_not_found(op, action->kind));
out:
    return st;
}

/* Either condition says which version the client has: a batch of the service treats both as If-None-Match. */
static enum status take_read(struct op *op, const struct container *container, struct partition_txn *txn,
                             struct action *action)
{
    enum status st;

    (void)container;
    TRY(find(op, txn, action));
    action->item = action->old;
    work_read(&op->work, action->old.stored.size);
    if (etag_matches(action->if_none_match, action->old.etag, action->old.ts_ms) ||
        etag_matches(action->if_match, action->old.etag, action->old.ts_ms))
        TRY(op_fail_as(op, ST_NOT_MODIFIED));
out:
    return st;
}

static enum status find_to_change(struct op *op, struct partition_txn *txn, struct action *action)
{
    enum status st;

    TRY(find(op, txn, action));
    TRY(if_match(op, action->if_match, action->old.etag, action->old.ts_ms));
out:
    return st;
}

static enum status take_replace(struct op *op, const struct container *container, struct partition_txn *txn,
                                struct action *action)
{
    enum status st;

    (void)container;
    TRY(find_to_change(op, txn, action));
    if (action->moves)
        TRY(refuse_key(op));
    TRY(partition_replace(op, txn, &action->old, action->document, &action->item));
out:
    return st;
}

static enum status take_patch(struct op *op, const struct container *container, struct partition_txn *txn,
                              struct action *action)
{
    enum status st;

    TRY(find(op, txn, action));
    /* As in action_not_found(), these are the backend's words. */
    if (if_match(op, action->if_match, action->old.etag, action->old.ts_ms) != ST_OK)
        TRY(op_fail(op, ST_PRECONDITION_FAILED, "One of the specified pre-condition is not met."));
    TRY(item_patch_apply(op, container, &action->patch, &action->old, &action->document));
    TRY(partition_replace(op, txn, &action->old, action->document, &action->item));
out:
    return st;
}

static enum status take_delete(struct op *op, const struct container *container, struct partition_txn *txn,
                               struct action *action)
{
    enum status st;

    (void)container;
    TRY(find_to_change(op, txn, action));
    TRY(partition_delete(op, txn, &action->old));
out:
    return st;
}

/* clang-format off */
static const struct {
    enum status (*take)(struct op *op, const struct container *container, struct partition_txn *txn,
                        struct action *action);
    int status, status_if_new;
} kinds[ACTION_KINDS] = {
    [ACTION_CREATE]  = { take_create,  201, 201 },
    [ACTION_UPSERT]  = { take_upsert,  200, 201 },
    [ACTION_READ]    = { take_read,    200, 200 },
    [ACTION_REPLACE] = { take_replace, 200, 200 },
    [ACTION_PATCH]   = { take_patch,   200, 200 },
    [ACTION_DELETE]  = { take_delete,  204, 204 },
};
/* clang-format on */

_Static_assert((int)ACTION_CREATE == (int)WORK_CREATE && (int)ACTION_DELETE == (int)WORK_DELETE &&
                   (int)ACTION_KINDS == (int)WORK_DELETE + 1,
               "the record of the workload has the same kinds in the same order");

/* For the record of the workload: what was there, and what is there now. */
static void note(struct op *op, const struct action *action)
{
    bool writes = action->kind != ACTION_READ && action->kind != ACTION_DELETE;

    noted_act(op, (enum work_kind)action->kind, &action->key.values,
              action->found ? action->old.document : json_undefined,
              writes ? action->document : json_undefined);
}

enum status action_take(struct op *op, const struct container *container, struct partition_txn *txn,
                        struct action *action)
{
    enum status st;

    assert(txn);
    assert(action->kind < ACTION_KINDS);
    assert(action->id.data); /* a request that names no item was refused */
    partition_set_indexing(txn, action->indexing);
    partition_set_bare(txn, action->bare);
    partition_set_behind(txn, action->kind == ACTION_REPLACE ? action->behind : 0);
    TRY(kinds[action->kind].take(op, container, txn, action));
    if (op->noted)
        note(op, action);
out:
    return st;
}

int action_status(const struct action *action)
{
    assert(action->kind < ACTION_KINDS);
    return action->found ? kinds[action->kind].status : kinds[action->kind].status_if_new;
}

bool action_is_to_blame(enum status st)
{
    int http = error_row(st)->http;

    return http < 500 && http != 408 && http != 429 && http != 449 && st != ST_OWNER_NOT_FOUND;
}

void action_stamp(struct action *action, struct commit_stamp stamp)
{
    if (action->item.lsn != 0)
        return;
    action->item.lsn = stamp.lsn;
    action->item.ts_ms = stamp.ts_ms;
}

/* ---- in a transaction of its own ---- */

struct action_attempt action_attempt_begin(const struct op *op)
{
    return (struct action_attempt){ op_mark(op), op->work, noted_mark(op) };
}

void action_attempt_again(struct op *op, const struct action_attempt *begun)
{
    op_rewind(op, begun->mark);
    op->work = begun->work;
    noted_rewind(op, begun->noted);
}

enum status action_run(struct op *op, const struct call *call, struct action *action,
                       struct commit_stamp *stamp)
{
    struct action_attempt begun = action_attempt_begin(op);
    struct partition_txn *txn = NULL;
    enum status st = ST_WRITE_CONFLICT;

    assert(call->container); /* items have no other owner */
    assert(!action->txn);    /* one commit at a time */
    for (int tries = 0; st == ST_WRITE_CONFLICT && tries < ACTION_TRIES; tries++) {
        action_attempt_again(op, &begun);
        TRY(partition_begin(op, call->service->locks, call->container, &action->key, action->id, &txn));
        TRY(action_take(op, call->container, txn, action));
        st = partition_commit(op, &txn, stamp);
    }
    if (st == ST_PENDING) {
        action->txn = txn;
        txn = NULL;
    }
    if (st == ST_OK)
        action_stamp(action, *stamp);
    if (st == ST_WRITE_CONFLICT)
        st = op_fail_as(op, ST_RETRY_WITH);
out:
    partition_abort(txn);
    return st;
}

enum status action_end(struct op *op, struct action *action, struct commit_stamp *stamp)
{
    enum status st;

    assert(action->txn); /* action_run() left it there with ST_PENDING */
    st = partition_commit_end(op, &action->txn, stamp);
    assert(!action->txn);
    if (st == ST_OK)
        action_stamp(action, *stamp);
    return st;
}
