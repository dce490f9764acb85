/* src/partition/indexed.c - the entries of items: which policy gives them, and what a write changes of them. */
#include <assert.h>

#include "base/limits.h"
#include "index/set.h"
#include "keys/keys.h"
#include "partition/indexed.h"
#include "partition/txn.h"

/*
 * No document is an array, so the path of the root's elements is free to mark documents that are left out of the
 * index.
 */
enum { UNINDEXED_BYTES = TERM_PATH_BYTES + 1 };

static struct slice unindexed_term(uint8_t bytes[UNINDEXED_BYTES])
{
    term_put_path(bytes, path_element(path_root(TERM_RANGE)));
    bytes[TERM_PATH_BYTES] = 1; /* undefined */
    return slice_make(bytes, UNINDEXED_BYTES);
}

static bool is_wanted(const struct partition_txn *txn, const struct index_policy *policy)
{
    if (txn->indexing == INDEXING_DEFAULT)
        return !index_policy_is_manual(policy);
    return txn->indexing == INDEXING_INCLUDE;
}

void indexed_mark(const struct partition_txn *txn, struct record *record)
{
    const struct container *container = container_latest(txn->container);

    assert(container->bucket == txn->container->bucket); /* another version of the same container */
    record->policy_version = container->policy_version;
    if (container->index && !index_policy_is_empty(container->index) && !is_wanted(txn, container->index))
        record->flags |= RECORD_UNINDEXED;
}

static bool find_policy(const struct container *container, uint32_t version,
                        const struct index_policy **policy)
{
    *policy = container->index;
    if (version == container->policy_version)
        return true;
    for (size_t i = 0; i < container->index_older_count; i++) {
        *policy = container->index_older[i].policy;
        if (version == container->index_older[i].version)
            return true;
    }
    return false;
}

/* The policy is known to this version of the container, or to a later one. */
static enum status policy_of(struct op *op, const struct container *container, const struct record *record,
                             const struct index_policy **policy)
{
    for (; container; container = container_successor(container))
        if (find_policy(container, record->policy_version, policy))
            return ST_OK;
    return op_fail(op, ST_CORRUPT, "an item has version %u of the indexing policy, which is not known",
                   (unsigned)record->policy_version);
}

/* A record that a transaction has written and not committed has no LSN, and its time is not known. */
static enum status read_item(struct op *op, const struct container *container, const struct record *record,
                             struct index_item *item)
{
    enum status st;

    *item = (struct index_item){ .document = record->document,
                                 .ts_ms = record->lsn ? record->ts_ms : TERM_TIME_UNKNOWN };
    TRY(policy_of(op, container, record, &item->policy));
    if (record->flags & RECORD_UNINDEXED)
        item->policy = NULL;
out:
    return st;
}

static bool is_left_out(const struct record *record)
{
    return record && record->flags & RECORD_UNINDEXED;
}

static void mark_left_out(struct op *op, struct batch *batch, uint64_t number, bool before, bool after)
{
    uint8_t term[UNINDEXED_BYTES];
    struct slice key;

    if (before == after)
        return;
    key = key_index(&op->arena, batch_bucket(batch), unindexed_term(term), number);
    if (after)
        batch_index_add(batch, key);
    else
        batch_index_remove(batch, key);
}

static enum status change_entries(struct op *op, const struct container *container, struct batch *batch,
                                  const struct record *before, const struct record *after, size_t bytes_max,
                                  bool *left_out)
{
    uint64_t number = (before ? before : after)->number;
    struct index_item old = { 0 }, new = { 0 };
    enum status st = ST_OK;

    assert(!before || !after || before->number == after->number); /* two versions of one item */
    assert(batch_bucket(batch) == container->bucket_id);
    *left_out = is_left_out(after);
    if (!bucket_keeps_entries(container->bucket))
        return ST_OK;
    if (before)
        TRY(read_item(op, container, before, &old));
    if (after)
        TRY(read_item(op, container, after, &new));
    new.bytes_max = bytes_max;
    TRY(index_change(op, batch, number, old.policy ? &old : NULL, new.policy ? &new : NULL));
    *left_out |= new.left_out;
    mark_left_out(op, batch, number, is_left_out(before), *left_out);
out:
    return st;
}

enum status indexed_difference(struct op *op, const struct container *container, struct batch *batch,
                               const struct record *before, const struct record *after)
{
    bool left_out;

    assert(before || after);
    return change_entries(op, container, batch, before, after, 0, &left_out);
}

enum status indexed_change(struct op *op, struct partition_txn *txn, const struct record *before,
                           struct record *after)
{
    bool left_out;
    enum status st;

    assert(before || after);
    TRY(change_entries(op, txn->container, txn->batch, before, after, INDEX_ITEM_BYTES_MAX, &left_out));
    assert(after || !left_out); /* what is gone has no entries to leave out */
    if (left_out)
        after->flags |= RECORD_UNINDEXED;
out:
    return st;
}

enum status indexed_terms(struct op *op, const struct container *container, const struct record *record,
                          struct index_terms *terms)
{
    uint8_t *mark = arena_alloc(&op->arena, UNINDEXED_BYTES);
    struct index_item item;
    enum status st = ST_OK;

    *terms = (struct index_terms){ 0 };
    if (!bucket_keeps_entries(container->bucket))
        return ST_OK;
    TRY(read_item(op, container, record, &item));
    if (item.policy)
        TRY(index_terms(op, &item, terms));
    if (is_left_out(record)) {
        terms->term = arena_alloc(&op->arena, sizeof(*terms->term));
        terms->term[0] = unindexed_term(mark);
        terms->count = 1;
    }
out:
    return st;
}

/* --- for queries --- */

typedef bool has_function(const struct index_policy *policy, const void *what);

/* An older policy that is NULL stands for items without any entries. */
static bool all_of_one_have(const struct container *container, has_function *has, const void *what)
{
    if (!container->index || !has(container->index, what))
        return false;
    for (size_t i = 0; i < container->index_older_count; i++)
        if (!container->index_older[i].policy || !has(container->index_older[i].policy, what))
            return false;
    return true;
}

static bool all_have(const struct container *container, has_function *has, const void *what)
{
    for (; container; container = container_successor(container))
        if (!all_of_one_have(container, has, what))
            return false;
    return true;
}

struct values_wanted {
    const struct index_path *path;
    const struct index_policy *by; /* whose ids the query looks for */
};

static bool has_values(const struct index_policy *policy, const void *what)
{
    const struct values_wanted *wanted = what;

    return index_policy_shares_ids(policy, wanted->by) && index_policy_has_values(policy, wanted->path);
}

static bool is_among(const struct index_joined *joined, size_t count, path_id id)
{
    for (size_t i = 0; i < count; i++)
        if (joined[i].id == id)
            return true;
    return false;
}

static bool has_composite(const struct index_policy *policy, const void *id)
{
    size_t count;
    const struct index_joined *joined = index_policy_composites(policy, &count);

    return is_among(joined, count, *(const path_id *)id);
}

static bool has_tuple(const struct index_policy *policy, const void *id)
{
    size_t count;
    const struct index_joined *joined = index_policy_tuples(policy, &count);

    return is_among(joined, count, *(const path_id *)id);
}

struct id_wanted {
    const struct index_path *path;
    path_id id;
};

/* An older policy with another map has another id. */
static bool has_spatial(const struct index_policy *policy, const void *what)
{
    const struct id_wanted *wanted = what;
    struct index_spatial spatial;

    return index_policy_spatial(policy, wanted->path, &spatial) && spatial.id == wanted->id;
}

/* So has one with another language. */
static bool has_text(const struct index_policy *policy, const void *what)
{
    const struct id_wanted *wanted = what;
    struct index_text text;

    return index_policy_text(policy, wanted->path, &text) && text.id == wanted->id;
}

static bool has_forms(const struct index_policy *policy, const void *what)
{
    const struct id_wanted *wanted = what;
    struct index_text text;

    return index_policy_text(policy, wanted->path, &text) && text.has_forms;
}

bool container_index_has(const struct container *container, const struct index_path *path)
{
    return container->index &&
           all_have(container, has_values, &(struct values_wanted){ path, container->index });
}

struct computed_wanted {
    struct slice name, query;
    path_id id;
};

static bool computes(const struct index_policy *policy, const void *what)
{
    const struct computed_wanted *wanted = what;
    path_id id;

    return index_policy_computes(policy, wanted->name, wanted->query, &id) && id == wanted->id;
}

bool container_index_computes(const struct container *container, struct slice name, path_id *id)
{
    struct computed_wanted wanted = { .name = name };

    if (!container->index)
        return false;
    wanted.query = index_policy_query(container->index, name);
    if (!wanted.query.data || !index_policy_computes(container->index, name, wanted.query, id))
        return false;
    wanted.id = *id;
    return all_have(container, computes, &wanted);
}

bool container_index_has_composite(const struct container *container, path_id id)
{
    return all_have(container, has_composite, &id);
}

bool container_index_has_tuple(const struct container *container, path_id id)
{
    return all_have(container, has_tuple, &id);
}

bool container_index_has_spatial(const struct container *container, const struct index_path *path)
{
    struct index_spatial spatial;
    struct id_wanted wanted = { .path = path };

    if (!container->index || !index_policy_spatial(container->index, path, &spatial))
        return false;
    wanted.id = spatial.id;
    return all_have(container, has_spatial, &wanted);
}

bool container_index_has_text(const struct container *container, const struct index_path *path,
                              struct index_text *text)
{
    struct id_wanted wanted = { .path = path };

    if (!container->index || !index_policy_text(container->index, path, text))
        return false;
    wanted.id = text->id;
    text->has_forms = text->has_forms && all_have(container, has_forms, &wanted);
    return all_have(container, has_text, &wanted);
}

struct slice container_index_left_out(struct op *op)
{
    return unindexed_term(arena_alloc(&op->arena, UNINDEXED_BYTES));
}

enum status container_index_is_whole(struct op *op, const struct view *view,
                                     const struct container *container, bool *whole)
{
    uint8_t bytes[UNINDEXED_BYTES];
    struct slice term = unindexed_term(bytes);
    struct index_walk walk = { .from = term, .to = index_prefix_end(&op->arena, term), .last = UINT64_MAX };
    struct index_cursor *cursor = NULL;
    struct index_block block;
    enum status st = ST_OK;

    assert(view->bucket == container->bucket);
    *whole = false;
    if (!container->index)
        goto out;
    TRY(index_cursor_open(op, view, &walk, &cursor));
    TRY(index_cursor_next(op, cursor, &block));
    *whole = block.count == 0;
out:
    index_cursor_close(cursor);
    return st;
}
