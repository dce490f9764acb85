/* src/partition/partition.c - transactions over the items of one logical partition. */
#include <assert.h>

#include "base/hash.h"
#include "base/limits.h"
#include "catalog/parts.h"
#include "keys/keys.h"
#include "partition/attachment.h"
#include "partition/expiry.h"
#include "partition/indexed.h"
#include "partition/txn.h"
#include "partition/unique.h"

/* The scope of an item: of two writers who have read the same item, the commit refuses one. */
static uint64_t item_scope(const struct container *container, struct slice epk, struct slice id)
{
    struct hash128 key = murmur3_128(epk.data, epk.size), name = murmur3_128(id.data, id.size);
    uint64_t mixed[3] = { container->bucket_id, key.h1, name.h1 };

    return murmur3_128(mixed, sizeof(mixed)).h1;
}

/* Without a view. */
static struct partition_txn *txn_new(struct op *op, const struct container *container)
{
    struct partition_txn *made = arena_alloc(&op->arena, sizeof(*made));

    *made = (struct partition_txn){ .container = container, .token = env_random_u64(op->env) };
    made->batch = batch_new(op, container->bucket_id);
    made->changes_end = &made->changes;
    return made;
}

/*
 * `seen` is the bucket's LSN before the snapshot was taken: it shows at least that. The definitions are those that are known
 * once it is taken, or later ones. By them the container may have another's name: then what is written would be lost.
 */
static enum status begin_at(struct op *op, struct partition_txn *txn, uint64_t seen)
{
    const struct bucket *bucket = txn->container->bucket;

    txn->lsn = store_snapshot_lsn(txn->view.snapshot, seen);
    batch_follows(txn->batch, bucket_followed_lsn(bucket));
    return container_is_renamed(txn->container) ? op_fail_as(op, ST_OWNER_NOT_FOUND) : ST_OK;
}

enum status txn_open(struct op *op, const struct container *container, struct partition_txn **txn)
{
    struct partition_txn *made = txn_new(op, container);
    uint64_t seen = bucket_lsn(container->bucket);
    enum status st;

    TRY(view_open(op, container->bucket, made->batch, &made->view));
    TRY(begin_at(op, made, seen));
    *txn = made;
    made = NULL;
out:
    if (made)
        view_close(&made->view);
    return st;
}

/*
 * Takes the lock of the item `id`. An empty id is no item's: its lock is the one that transactions which begin in
 * turn share. Without `locks` it takes none.
 */
static enum status begin(struct op *op, struct locks *locks, const struct container *container,
                         const struct placed_key *key, struct slice id, struct partition_txn **txn)
{
    struct lock *lock = NULL;
    enum status st = ST_OK;

    assert(key);
    container = container_part_of(container, epk_slice(&key->epk));
    if (locks)
        TRY(locks_acquire(op, locks, item_scope(container, epk_slice(&key->epk), id), &lock));
    op_renew_time(op);
    TRY(txn_open(op, container, txn));
    (*txn)->key = key;
    (*txn)->lock = lock;
    lock = NULL;
out:
    locks_release(lock);
    return st;
}

enum status partition_begin(struct op *op, struct locks *locks, const struct container *container,
                            const struct placed_key *key, struct slice id, struct partition_txn **txn)
{
    enum status st;

    TRY(begin(op, locks, container, key, id, txn));
    (*txn)->id = id;
    partition_expect(*txn, id);
out:
    return st;
}

enum status partition_begin_many(struct op *op, const struct container *container,
                                 const struct placed_key *key, struct partition_txn **txn)
{
    return begin(op, NULL, container, key, slice_of(""), txn);
}

enum status partition_begin_in_turn(struct op *op, struct locks *locks, const struct container *container,
                                    const struct placed_key *key, struct partition_txn **txn)
{
    return begin(op, locks, container, key, slice_of(""), txn);
}

enum status partition_begin_together(struct op *op, struct container *const *containers, size_t count,
                                     struct partition_txn **txns)
{
    struct bucket **buckets = arena_alloc(&op->arena, count * sizeof(struct bucket *));
    struct snapshot **snapshots = arena_alloc(&op->arena, count * sizeof(struct snapshot *));
    struct partition_txn **made = arena_alloc(&op->arena, count * sizeof(struct partition_txn *));
    uint64_t *seen = arena_alloc(&op->arena, count * sizeof(*seen));
    enum status st;

    op_renew_time(op);
    for (size_t i = 0; i < count; i++) {
        made[i] = txn_new(op, containers[i]);
        buckets[i] = containers[i]->bucket;
        seen[i] = bucket_lsn(buckets[i]);
    }
    TRY(store_snapshot_together(op, buckets, count, snapshots));
    for (size_t i = 0; i < count; i++) {
        view_open_over(snapshots[i], buckets[i], made[i]->batch, &made[i]->view);
        txns[i] = made[i]; /* which the caller ends */
    }
    for (size_t i = 0; i < count; i++)
        TRY(begin_at(op, txns[i], seen[i]));
out:
    return st;
}

void partition_turn_to(struct partition_txn *txn, const struct placed_key *key)
{
    assert(key);
    assert(!txn->id.data); /* it began with no item of its own */
    assert(!txn->lock);
    assert(!txn->pending);
    txn->key = key;
    txn->entry_key = (struct slice){ 0 };
}

void txn_expect_item(struct partition_txn *txn, struct slice epk, struct slice id)
{
    assert(!txn->pending); /* what is with the committer is not changed any more */
    batch_expect(txn->batch, item_scope(txn->container, epk, id), txn->lsn);
}

void partition_expect(struct partition_txn *txn, struct slice id)
{
    assert(txn->key); /* it is about one logical partition */
    txn_expect_item(txn, epk_slice(&txn->key->epk), id);
}

void partition_order_entries(struct partition_txn *txn)
{
    size_t count;

    assert(!txn->pending);
    batch_index_entries(txn->batch, &count);
}

void partition_set_indexing(struct partition_txn *txn, enum indexing_wish wish)
{
    txn->indexing = wish;
}

void partition_set_bare(struct partition_txn *txn, bool bare)
{
    txn->bare = bare;
}

void partition_set_behind(struct partition_txn *txn, uint16_t behind)
{
    txn->behind = behind;
}

void partition_abort(struct partition_txn *txn)
{
    if (!txn)
        return;
    view_close(&txn->view);
    locks_release(txn->lock);
}

/* A record that the transaction has written itself has no time yet. Until the commit its time is that of the op. */
enum status txn_decode(struct op *op, struct slice value, struct record *item)
{
    enum status st = record_decode(op, value, item);

    if (st == ST_OK && item->lsn == 0)
        item->ts_ms = op->now_ms;
    return st;
}

/* The item with that number, if it is of this logical partition: others may share its EPK and its id. */
static enum status look_at(struct op *op, const struct view *view, const struct container *container,
                           const struct placed_key *key, uint64_t number, struct record *item, bool *found)
{
    struct slice value;
    enum status st;

    TRY(view_get(op, view, key_document(&op->arena, container->bucket_id, number), &value));
    if (!value.data)
        TRY(op_fail(op, ST_CORRUPT, "the entry of an id leads to no document"));
    TRY(txn_decode(op, value, item));
    *found = partition_key_begins(container, item->document, &key->values);
out:
    return st;
}

/* Mostly two gets: (EPK, id) to number, number to record. `entry` is what the first one gave. */
static enum status find(struct op *op, const struct view *view, const struct container *container,
                        const struct placed_key *key, struct slice entry_key, struct slice *entry,
                        struct record *item, bool *found)
{
    enum status st;

    *found = false;
    TRY(view_get(op, view, entry_key, entry));
    TRY(holders_check(op, *entry));
    for (size_t i = 0; i < holders_count(*entry) && !*found; i++)
        TRY(look_at(op, view, container, key, holders_at(*entry, i), item, found));
out:
    return st;
}

static struct slice entry_key_of(struct op *op, const struct container *container, struct slice epk,
                                 struct slice id)
{
    return key_id(&op->arena, container->bucket_id, epk, id);
}

/* A transaction that meets an expired item removes it, and may then use its id. */
enum status partition_find(struct op *op, struct partition_txn *txn, struct slice id, struct record *item,
                           bool *found)
{
    struct slice entry_key;
    enum status st;

    assert(txn->key);
    assert(!txn->pending);
    entry_key = entry_key_of(op, txn->container, epk_slice(&txn->key->epk), id);
    if (!txn->id.data || !slice_equal(id, txn->id))
        partition_expect(txn, id);
    txn->entry_key = (struct slice){ 0 };
    TRY(find(op, &txn->view, txn->container, txn->key, entry_key, &txn->entry, item, found));
    txn->entry_key = entry_key;
    if (*found && item->stored.size > INLINE_ITEM_BYTES_MAX) /* its entries are many */
        TRY(op_may_take_long(op));
    if (*found && item_is_expired(txn->container, item, op->now_ms)) {
        *found = false;
        TRY(txn_remove_expired(op, txn, item));
    }
out:
    return st;
}

/* `ttl` counts only when it is a positive number of seconds, or -1. */
static int32_t ttl_of(struct json document)
{
    struct json ttl = json_get(document, "ttl");

    if (json_kind(ttl) != JSON_NUMBER || !json_is_int(ttl))
        return RECORD_TTL_NONE;
    return json_int(ttl) == -1 || (json_int(ttl) > 0 && json_int(ttl) <= INT32_MAX) ? (int32_t)json_int(ttl)
                                                                                    : RECORD_TTL_NONE;
}

/* `old` is the version that the item replaces; NULL for a new item. */
static enum status put_record(struct op *op, struct partition_txn *txn, struct record *item,
                              const struct record *old)
{
    size_t size;
    uint8_t *value = record_encode(op, item, &size);
    struct slice key = key_document(&op->arena, txn->container->bucket_id, item->number);

    assert(!old || old->number == item->number);      /* promise 3 */
    assert(!old || slice_equal(old->epk, item->epk)); /* an item stays in its logical partition */
    if (!value)
        return op_fail_as(op, ST_TOO_LARGE);
    batch_put_stamped(txn->batch, key, value, size);
    batch_counts(txn->batch, old ? 0 : 1, (int64_t)size - (old ? (int64_t)old->stored.size : 0));
    measure_document(op, &txn->measure, txn->container, item->document);
    work_wrote(&op->work, size);
    if (old)
        work_removed(&op->work, old->stored.size);
    return ST_OK;
}

/*
 * Adds the number to the entry of an id, or takes it off. The entry is mostly the one that was read last. The
 * transaction expects its item unchanged, and so the entry: all items of an entry share one scope.
 */
static enum status change_entry(struct op *op, struct partition_txn *txn, struct slice epk, struct slice id,
                                uint64_t number, bool adds)
{
    struct slice key = entry_key_of(op, txn->container, epk, id);
    enum status st = ST_OK;

    if (!txn->entry_key.data || !slice_equal(key, txn->entry_key))
        TRY(view_get(op, &txn->view, key, &txn->entry));
    TRY(holders_check(op, txn->entry));
    txn->entry_key = key;
    txn->entry = holders_without(&op->arena, txn->entry, number);
    if (adds)
        txn->entry = holders_with(&op->arena, txn->entry, number);
    if (txn->entry.data)
        batch_put(txn->batch, key, txn->entry);
    else
        batch_delete(txn->batch, key);
out:
    return st;
}

static enum status encode_change(struct op *op, struct txn_change *noted)
{
    noted->value = change_encode(op, &noted->change, &noted->size);
    return noted->value ? ST_OK : op_fail_as(op, ST_TOO_LARGE);
}

/* The transaction has written this document before: the earlier change and this one become a single change. */
static enum status change_again(struct op *op, const struct partition_txn *txn, const struct change *change)
{
    struct txn_change *noted = txn->changes;

    while (noted && (!noted->value || noted->change.number != change->number))
        noted = noted->next;
    assert(noted); /* a record of LSN 0 is the transaction's own, and each of those has its change */
    if (change->kind != CHANGE_DELETE)
        return ST_OK;
    if (noted->change.kind == CHANGE_CREATE) {
        noted->value = NULL;
        return ST_OK;
    }
    noted->change.kind = CHANGE_DELETE;
    return encode_change(op, noted);
}

enum status txn_log(struct op *op, struct partition_txn *txn, struct change change, const struct record *old)
{
    struct txn_change *noted;
    enum status st;

    assert(!txn->pending);
    assert((change.kind == CHANGE_CREATE) == !old);
    assert(!old || old->number == change.number);
    if (old && old->lsn == 0)
        return change_again(op, txn, &change);
    noted = arena_alloc(&op->arena, sizeof(*noted));
    *noted = (struct txn_change){ .change = change };
    noted->change.token = txn->token;
    if (old) {
        noted->change.previous_lsn = old->lsn;
        noted->change.old_record = old->stored;
    }
    TRY(encode_change(op, noted));
    assert(noted->size >= noted->change.old_record.size); /* which is the end of it */
    noted->change.old_record =
        slice_make(noted->value + noted->size - noted->change.old_record.size, noted->change.old_record.size);
    *txn->changes_end = noted;
    txn->changes_end = &noted->next;
out:
    return st;
}

static void fill(struct op *op, const struct partition_txn *txn, uint64_t number, struct json document,
                 struct record *item)
{
    *item = (struct record){
        .flags = txn->bare ? RECORD_BARE : 0,
        .etag = env_random_u64(op->env),
        .number = number,
        .ttl_seconds = ttl_of(document),
        .epk = epk_slice(&txn->key->epk),
        .document = document,
        .behind = txn->behind,
    };
    indexed_mark(txn, item);
}

static struct slice id_of(struct json document)
{
    return json_string(json_get(document, "id"));
}

enum status partition_create(struct op *op, struct partition_txn *txn, struct json document,
                             struct record *item)
{
    const struct container *container = txn->container;
    uint64_t counter = part_next_counter(container);
    uint32_t bits = epk_number_bits(container->epk_version, container->key_path_count, &txn->key->epk);
    uint64_t number = number_make(bits, counter);
    enum status st;

    assert(number_counter(number) == counter); /* the counter has room, or two items would share a number */
    assert(json_kind(document) == JSON_OBJECT);
    fill(op, txn, number, document, item);
    TRY(unique_move(op, txn, item->epk, number, json_undefined, document));
    batch_uses_counter(txn->batch, part_counted(container, counter));
    TRY(indexed_change(op, txn, NULL, item));
    TRY(put_record(op, txn, item, NULL));
    TRY(change_entry(op, txn, item->epk, id_of(document), number, true));
    TRY(txn_log(op, txn, (struct change){ .kind = CHANGE_CREATE, .number = number }, NULL));
out:
    return st;
}

/* A replace may rename the item. partition_find() expects the new id unchanged, so it is still free at the commit. */
static enum status check_free(struct op *op, struct partition_txn *txn, struct slice id)
{
    struct record other;
    bool taken;
    enum status st;

    TRY(partition_find(op, txn, id, &other, &taken));
    if (taken)
        TRY(op_fail_as(op, ST_ITEM_EXISTS));
out:
    return st;
}

static enum status rename_id(struct op *op, struct partition_txn *txn, const struct record *old,
                             struct slice id)
{
    enum status st;

    TRY(change_entry(op, txn, old->epk, id_of(old->document), old->number, false));
    TRY(change_entry(op, txn, old->epk, id, old->number, true));
out:
    return st;
}

enum status partition_replace(struct op *op, struct partition_txn *txn, const struct record *old,
                              struct json document, struct record *item)
{
    struct slice id = id_of(document);
    bool renames = !slice_equal(id, id_of(old->document));
    enum status st;

    assert(txn->key);
    assert(json_kind(document) == JSON_OBJECT);
    fill(op, txn, old->number, document, item);
    item->flags |= old->flags & RECORD_HAS_ATTACHMENTS;
    if (renames)
        TRY(check_free(op, txn, id));
    TRY(unique_move(op, txn, item->epk, old->number, old->document, document));
    if (renames) /* only after everything that may refuse, because a script may go on after a refusal */
        TRY(rename_id(op, txn, old, id));
    TRY(indexed_change(op, txn, old, item));
    TRY(put_record(op, txn, item, old));
    TRY(txn_log(op, txn, (struct change){ .kind = CHANGE_REPLACE, .number = old->number }, old));
out:
    return st;
}

/* Removes an item with all its entries. The change says whether the item had expired. */
static enum status remove_item(struct op *op, struct partition_txn *txn, const struct record *old,
                               bool expired)
{
    struct change change = { .kind = CHANGE_DELETE, .expired = expired, .number = old->number };
    uint64_t bucket = txn->container->bucket_id;
    enum status st;

    assert(!txn->key ||
           slice_equal(old->epk, epk_slice(&txn->key->epk))); /* it is one of the transaction's items */
    TRY(unique_move(op, txn, old->epk, old->number, old->document, json_undefined));
    TRY(attachment_remove_all(op, txn, old));
    TRY(indexed_change(op, txn, old, NULL));
    batch_delete(txn->batch, key_document(&op->arena, bucket, old->number));
    batch_counts(txn->batch, -1, -(int64_t)old->stored.size);
    TRY(change_entry(op, txn, old->epk, id_of(old->document), old->number, false));
    TRY(txn_log(op, txn, change, old));
out:
    return st;
}

enum status txn_remove_expired(struct op *op, struct partition_txn *txn, const struct record *old)
{
    enum status st;

    assert(item_is_expired(txn->container, old, op->now_ms));
    TRY(op_may_take_long(op)); /* the item may be large, and the commit will pin the container's definition */
    txn->expires = true;
    txn_expect_item(txn, old->epk, id_of(old->document));
    TRY(remove_item(op, txn, old, true));
out:
    return st;
}

enum status partition_delete(struct op *op, struct partition_txn *txn, const struct record *old)
{
    work_removed(&op->work, old->stored.size);
    return remove_item(op, txn, old, false);
}

/*
 * The commit was ambiguous. The store may know by now, perhaps after a wait; if not, the client is told that nobody
 * knows.
 */
static enum status settle(struct op *op, const struct partition_txn *txn)
{
    bool committed;

    if (store_outcome(op, txn->container->bucket, txn->batch, &committed) == ST_OK)
        return committed ? ST_OK : op_fail(op, ST_UNAVAILABLE, "The write failed. Nothing was written.");
    return op_fail(op, ST_AMBIGUOUS, "The write failed, and it is not known whether it took place.");
}

/* Puts the key that leads from a version to the change that ended it. The feed of all versions follows it. */
static void put_next(struct op *op, struct partition_txn *txn, const struct change *change, uint32_t position)
{
    uint64_t bucket = txn->container->bucket_id;
    uint8_t *value = arena_alloc(&op->arena, NEXT_BYTES);

    assert(change->previous_lsn > 0); /* it ends a version that was committed */
    next_encode(position, value);
    batch_put_stamped(txn->batch, key_next(&op->arena, bucket, change->previous_lsn, change->number), value,
                      NEXT_BYTES);
}

static void put_log(struct op *op, struct partition_txn *txn)
{
    uint32_t position = 0;

    for (const struct txn_change *noted = txn->changes; noted; noted = noted->next) {
        if (!noted->value)
            continue;
        if (noted->change.kind == CHANGE_REPLACE || noted->change.kind == CHANGE_DELETE)
            put_next(op, txn, &noted->change, position);
        batch_log(txn->batch, noted->value, noted->size);
        position++;
    }
}

/*
 * A transaction that removes expired items pins the definition, because the definition decides which items have
 * expired.
 */
static enum status prepare(struct op *op, struct partition_txn *txn)
{
    assert(!txn->pending); /* it is committed once */
    assert(!batch_is_empty(txn->batch));
    if (txn->expires && !container_pin(txn->container))
        return op_fail(op, ST_WRITE_CONFLICT, "The container's definition was changed.");
    put_log(op, txn);
    return ST_OK;
}

/* The outcome is known, or will not be. */
static void note_outcome(struct op *op, const struct partition_txn *txn, enum status st)
{
    assert(txn->pending); /* the committer had it */
    assert(st != ST_PENDING);
    if (txn->expires)
        container_unpin(txn->container);
    if (st == ST_OK)
        measure_note(op, &txn->measure, txn->container);
}

static enum status conclude(struct op *op, const struct partition_txn *txn, enum status st)
{
    if (st == ST_AMBIGUOUS)
        st = settle(op, txn);
    note_outcome(op, txn, st);
    return st;
}

/* A transaction that wrote nothing waits for nothing. It saw this LSN, or a later one. */
static enum status commit_nothing(const struct partition_txn *txn, struct commit_stamp *stamp)
{
    *stamp = (struct commit_stamp){ .lsn = txn->lsn };
    return ST_OK;
}

/*
 * `ready` are the transactions that have something to write, and that prepare() has not refused. Those of the first one's
 * bucket are committed, and come first; gives how many they are.
 */
static size_t commit_ready(struct op *op, struct partition_ending **ready, size_t count)
{
    struct bucket *bucket = ready[0]->txn->container->bucket;
    struct commit *commits;
    size_t all = count;

    count = 0;
    for (size_t i = 0; i < all; i++) {
        struct partition_ending *ending = ready[i];

        if (ending->txn->container->bucket != bucket)
            continue;
        memmove(&ready[count + 1], &ready[count],
                (i - count) * sizeof(struct partition_ending *)); /* in order */
        ready[count++] = ending;
    }
    commits = arena_alloc(&op->arena, count * sizeof(*commits));
    for (size_t i = 0; i < count; i++)
        commits[i] = (struct commit){ .batch = ready[i]->txn->batch };
    store_commit_many(op, bucket, commits, count);
    for (size_t i = 0; i < count; i++) {
        ready[i]->txn->pending = &commits[i];
        ready[i]->status = commits[i].status;
        if (commits[i].status == ST_PENDING)
            continue;
        op->error = commits[i].error;
        ready[i]->stamp = commits[i].stamp;
        ready[i]->status = conclude(op, ready[i]->txn, commits[i].status);
        ready[i]->error = op->error;
    }
    return count;
}

/* Keeps the lock while the commit is pending: the work of the next writer would be refused. */
static void leave(struct partition_txn *txn)
{
    view_close(&txn->view);
}

void partition_commit_many(struct op *op, struct partition_ending *endings, size_t count)
{
    struct partition_ending **ready = arena_alloc(&op->arena, count * sizeof(*ready));
    size_t ready_count = 0;

    for (size_t i = 0; i < count; i++) {
        struct partition_txn *txn = endings[i].txn;
        bool writes = !batch_is_empty(txn->batch);

        assert(!txn->pending);
        endings[i].status = writes ? prepare(op, txn) : commit_nothing(txn, &endings[i].stamp);
        endings[i].error = op->error;
        if (writes && endings[i].status == ST_OK)
            ready[ready_count++] = &endings[i];
    }
    for (size_t done = 0; done < ready_count;)
        done += commit_ready(op, ready + done, ready_count - done);
    for (size_t i = 0; i < count; i++) {
        if (endings[i].status == ST_PENDING) {
            leave(endings[i].txn);
            continue;
        }
        partition_abort(endings[i].txn);
        endings[i].txn = NULL;
    }
}

/* All of them are ready to be committed, or none is. */
static enum status prepare_together(struct op *op, struct partition_txn **txns, size_t count)
{
    size_t ready = 0;
    enum status st = ST_OK;

    for (; ready < count; ready++)
        TRY(prepare(op, txns[ready]));
out:
    for (size_t i = 0; st != ST_OK && i < ready; i++)
        if (txns[i]->expires)
            container_unpin(txns[i]->container);
    return st;
}

/* What became of the whole, when the store did not know. */
static enum status settle_together(struct op *op, const struct commit *witness)
{
    bool committed;

    if (store_outcome(op, witness->bucket, witness->batch, &committed) != ST_OK)
        return op_fail(op, ST_AMBIGUOUS, "The write failed, and it is not known whether it took place.");
    return committed ? ST_OK : op_fail(op, ST_UNAVAILABLE, "The write failed. Nothing was written.");
}

enum status partition_commit_together(struct op *op, struct partition_txn **txns, size_t count,
                                      const struct commit *witness)
{
    struct commit *commits = arena_alloc(&op->arena, (count + 1) * sizeof(*commits));
    enum status st;

    TRY(prepare_together(op, txns, count));
    for (size_t i = 0; i < count; i++) {
        commits[i] = (struct commit){ .batch = txns[i]->batch, .bucket = txns[i]->container->bucket };
        txns[i]->pending = &commits[i];
    }
    commits[count] = *witness;
    st = store_commit_together(op, commits, count + 1);
    if (st == ST_AMBIGUOUS)
        st = settle_together(op, witness);
    for (size_t i = 0; i < count; i++)
        note_outcome(op, txns[i], st);
out:
    return st;
}

enum status partition_commit(struct op *op, struct partition_txn **txn, struct commit_stamp *stamp)
{
    struct partition_ending ending = { .txn = *txn };

    partition_commit_many(op, &ending, 1);
    *txn = ending.txn;
    *stamp = ending.stamp;
    return ending.status;
}

enum status partition_commit_end(struct op *op, struct partition_txn **txn, struct commit_stamp *stamp)
{
    struct commit *commit = (*txn)->pending;
    enum status st;

    assert(commit); /* partition_commit() was ST_PENDING */
    store_commit_end(op, commit);
    *stamp = commit->stamp;
    st = conclude(op, *txn, commit->status);
    partition_abort(*txn);
    *txn = NULL;
    return st;
}

/* Follows a hint, if there is one. The document's own key and id say whether the hint was right. */
static enum status read_by_hint(struct op *op, const struct container *container,
                                const struct placed_key *key, struct slice id, uint64_t number,
                                struct record *item, bool *found)
{
    struct slice value;
    enum status st = ST_OK;

    *found = false;
    if (number == 0)
        goto out;
    TRY(store_get_latest(op, container->bucket, key_document(&op->arena, container->bucket_id, number),
                         &value));
    if (!value.data)
        goto out;
    TRY(record_decode(op, value, item));
    *found = slice_equal(item->epk, epk_slice(&key->epk)) && slice_equal(id_of(item->document), id) &&
             partition_key_begins(container, item->document, &key->values) &&
             !item_is_expired(container, item, op->now_ms);
out:
    return st;
}

enum status partition_read(struct op *op, struct hints *hints, const struct container *container,
                           const struct placed_key *key, struct slice id, struct record *item, bool *found)
{
    struct view view = { 0 };
    struct slice entry;
    uint64_t hash;
    enum status st;

    container = container_part_of(container, epk_slice(&key->epk));
    hash = item_scope(container, epk_slice(&key->epk), id);
    TRY(read_by_hint(op, container, key, id, hints ? hints_find(hints, hash) : 0, item, found));
    if (*found)
        goto out;
    TRY(view_open(op, container->bucket, NULL, &view));
    TRY(find(op, &view, container, key, entry_key_of(op, container, epk_slice(&key->epk), id), &entry, item,
             found));
    *found = *found && !item_is_expired(container, item, op->now_ms);
    if (*found && hints)
        hints_put(hints, hash, item->number);
out:
    if (st == ST_OK && *found)
        work_read(&op->work, item->stored.size);
    view_close(&view);
    return st;
}

enum status partition_at(struct op *op, const struct container *container, uint64_t number,
                         struct record *item, bool *found)
{
    struct slice value;
    enum status st;

    *found = false;
    container = container_part_at(container, number);
    TRY(store_get_latest(op, container->bucket, key_document(&op->arena, container->bucket_id, number),
                         &value));
    if (!value.data)
        goto out;
    TRY(record_decode(op, value, item));
    *found = !item_is_expired(container, item, op->now_ms);
out:
    return st;
}

static enum status id_in_view(struct op *op, const struct view *view, const struct container *container,
                              const struct placed_key *key, uint64_t number, struct slice *id)
{
    struct record item;
    struct slice value;
    enum status st;

    *id = (struct slice){ 0 };
    TRY(view_get(op, view, key_document(&op->arena, container->bucket_id, number), &value));
    if (!value.data)
        goto out;
    TRY(txn_decode(op, value, &item));
    if (slice_equal(item.epk, epk_slice(&key->epk)) &&
        partition_key_begins(container, item.document, &key->values) &&
        !item_is_expired(container, &item, op->now_ms))
        *id = id_of(item.document);
out:
    return st;
}

enum status partition_id_of(struct op *op, const struct container *container, const struct placed_key *key,
                            uint64_t number, struct slice *id)
{
    struct view view = { 0 };
    enum status st;

    container = container_part_of(container, epk_slice(&key->epk));
    TRY(view_open(op, container->bucket, NULL, &view));
    TRY(id_in_view(op, &view, container, key, number, id));
out:
    view_close(&view);
    return st;
}

enum status partition_id_in(struct op *op, const struct partition_txn *txn, uint64_t number, struct slice *id)
{
    assert(txn->key);
    return id_in_view(op, &txn->view, txn->container, txn->key, number, id);
}
