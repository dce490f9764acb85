/* src/partition/clear.c - every item of a logical partition deleted, some at a time. */
#include <assert.h>

#include "catalog/parts.h"
#include "partition/partition.h"

/* A step is one commit: large enough that its sync is shared by many, small enough that others get in between. */
enum { STEP_ITEMS_MAX = 100, STEP_TRIES = 12 };

struct clearing {
    const struct container *container;
    const struct placed_key *key;
    uint64_t newest; /* what the bucket had counted when clearing began: later items stay */
    uint64_t after;  /* clearing has done everything up to this number */
    size_t limit;    /* of a step's items */
    bool done;
};

/*
 * Passes over items of other keys. The page may have some, because its scope is a prefix: every key begins with the
 * empty key, which items of a container without a partition key may have.
 */
static enum status delete_page(struct op *op, struct clearing *clearing, struct partition_txn *txn,
                               const struct partition_page *page, size_t *deleted)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < page->count; i++) {
        const struct record *item = &page->item[i];

        if (!slice_equal(item->epk, epk_slice(&clearing->key->epk)))
            continue;
        if (part_counted(clearing->container, number_counter(item->number)) > clearing->newest) {
            clearing->done = true; /* numbers of one key rise with time */
            break;
        }
        partition_expect(txn, json_string(json_get(item->document, "id")));
        TRY(partition_delete(op, txn, item));
        ++*deleted;
    }
out:
    return st;
}

/*
 * The page is read after the transaction has begun, so the commit is refused when others change one of its items from
 * then on. Reading it calls op_check(), so a cancelled request does at most one step in vain.
 */
static enum status step(struct op *op, struct clearing *clearing, struct commit_stamp *stamp)
{
    struct partition_scope scope = { .key = *clearing->key };
    struct partition_txn *txn = NULL;
    struct partition_page page;
    size_t deleted = 0;
    enum status st;

    TRY(partition_begin_many(op, clearing->container, clearing->key, &txn));
    TRY(partition_list(op, clearing->container, &scope, clearing->after, clearing->limit, &page));
    assert(page.count <= clearing->limit);
    assert(page.last >= clearing->after); /* each step goes on behind the one before it */
    TRY(delete_page(op, clearing, txn, &page, &deleted));
    if (deleted)
        TRY(partition_commit(op, &txn, stamp));
    clearing->after = page.last;
    clearing->done |= !page.more;
out:
    partition_abort(txn);
    return st;
}

/*
 * Gives back a step's memory before the next one. Where others write all the time, one of a hundred items has always
 * changed. So a step that was refused is tried again with half as many items, down to one.
 */
static enum status step_until_written(struct op *op, struct clearing *clearing, struct commit_stamp *stamp)
{
    struct op_mark mark = op_mark(op);
    enum status st = ST_WRITE_CONFLICT;

    clearing->limit = STEP_ITEMS_MAX;
    for (int tries = 0; st == ST_WRITE_CONFLICT && tries < STEP_TRIES; tries++) {
        struct clearing attempt = *clearing;

        assert(!attempt.done);
        assert(attempt.limit > 0);
        st = step(op, &attempt, stamp);
        if (st == ST_OK)
            *clearing = attempt;
        if (clearing->limit > 1)
            clearing->limit /= 2;
        if (st == ST_OK || st == ST_WRITE_CONFLICT)
            op_rewind(op, mark);
    }
    return st;
}

/* The next counter says it, and says it first. Where others write too, they have reserved theirs in the head. */
static enum status find_newest(struct op *op, struct clearing *clearing)
{
    struct view view = { 0 };
    struct head head;
    enum status st = ST_OK;

    clearing->newest = bucket_next_counter(clearing->container->bucket);
    if (clearing->newest == COUNTER_NONE) /* it would be above every item, those of later too */
        TRY(op_fail(op, ST_UNAVAILABLE, "The store cannot write at the moment. Nothing was written."));
    if (!bucket_is_shared(clearing->container->bucket))
        goto out;
    TRY(view_open(op, clearing->container->bucket, NULL, &view));
    TRY(store_snapshot_head(op, view.snapshot, &head));
    clearing->newest = head.counter;
out:
    view_close(&view);
    return st;
}

enum status partition_clear(struct op *op, const struct container *container, const struct placed_key *key,
                            struct commit_stamp *stamp)
{
    struct clearing clearing = { .container = container_part_of(container, epk_slice(&key->epk)),
                                 .key = key };
    enum status st;

    TRY(find_newest(op, &clearing));
    while (!clearing.done)
        TRY(step_until_written(op, &clearing, stamp));
out:
    return st;
}
