/*
 * src/source/vectors.c - the columns of a container's vectors, as of a query's snapshot.
 * A column is as of another commit, mostly an earlier one. The change log names the items that were written in between:
 * those are doubtful, and the query looks at them itself. When they are many, they are taken into the column.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "keys/record.h"
#include "source/changes.h"
#include "vector/columns.h"

enum {
    DOUBTFUL_FEW = 64,    /* so many are read by each query; more are taken in, if nobody is in the way */
    DOUBTFUL_MANY = 1024, /* and so many even if somebody is */
    BEHIND_MIN = 4096, /* when so many changes, and half of all items, are behind, the column is made anew */
    TRIES_MAX = 4,
};

/* One query's wish. */
struct wish {
    struct op *op;
    const struct item_index *index;
    const struct index_path *path;
    struct vector_column *column;
    uint64_t lsn; /* of the snapshot */
    double *x;
    bool has_room;
};

/* ---- an item's vector ---- */

static bool read_vector(const struct wish *wish, struct json document, const struct vector_key *key)
{
    struct json array = item_value_at(document, wish->path);
    double *to = wish->x;

    if (json_kind(array) != JSON_ARRAY || json_count(array) != key->dimensions)
        return false;
    for (struct json_iter i = json_iter(array); json_next(&i);) {
        if (json_kind(i.value) != JSON_NUMBER)
            return false;
        *to++ = json_double(i.value);
    }
    return vector_hold(key->type, wish->x, key->dimensions);
}

/* Where there is no memory, columns that nobody uses make room. */
static bool add_vector(const struct wish *wish, uint64_t number)
{
    struct account *account = wish->op->claim.account;

    while (!vector_column_add(wish->column, number, wish->x))
        if (!vector_columns_let_go(account))
            return false;
    return true;
}

/* Of each item that the scan gives. */
static enum status take_items(struct wish *wish, struct partition_scan *scan, const struct vector_key *key)
{
    struct record item;
    bool found;
    enum status st;

    for (;;) {
        TRY(partition_scan_next(wish->op, scan, &item, &found));
        if (!found || !wish->has_room)
            break;
        if (read_vector(wish, item.document, key))
            wish->has_room = add_vector(wish, item.number);
    }
out:
    return st;
}

static void open_scan(struct wish *wish, struct partition_scan *scan)
{
    static const struct partition_scope everything = { 0 };

    partition_scan_open_over(wish->op, wish->index->container, &everything, wish->index->base.view, scan);
    scan->expired_too = true; /* when an item has expired is the query's business */
}

/* ---- making ---- */

/* Whether so many vectors may take what they need. */
static bool would_fit(const struct wish *wish, const struct vector_key *key)
{
    const struct account *account = wish->op->claim.account;
    size_t each = vector_code_bytes(key->dimensions) + 160;

    return !account || wish->index->base.documents < account_share(account, HOLDER_VECTORS) / each;
}

static enum status make_column(struct wish *wish, const struct vector_key *key)
{
    struct partition_scan scan;
    enum status st;

    open_scan(wish, &scan);
    TRY(take_items(wish, &scan, key));
    vector_column_reach(wish->column, wish->lsn);
out:
    partition_scan_close(&scan);
    return st;
}

static enum status make_or_give_up(struct wish *wish, const struct vector_key *key)
{
    enum status st = make_column(wish, key);

    if (st == ST_OK && wish->has_room) {
        vector_shelf_publish(wish->column);
        return ST_OK;
    }
    vector_shelf_give_up(wish->column);
    wish->column = NULL;
    return st;
}

/* ---- keeping up ---- */

/* With the lock for writing: the column becomes one of the snapshot. */
static enum status take_in(struct wish *wish, const struct changes *changes, const struct vector_key *key)
{
    struct partition_scan scan;
    uint64_t *changed;
    size_t changed_count;
    enum status st;

    open_scan(wish, &scan);
    TRY(changes_numbers(wish->op, changes->change, changes->count, NULL, 0, &changed, &changed_count));
    for (size_t i = 0; i < changed_count; i++)
        vector_column_remove(wish->column, changed[i]);
    partition_scan_pick(&scan, changed, changed_count);
    TRY(take_items(wish, &scan, key));
    for (size_t i = 0; i < changes->count; i++)
        vector_column_note(wish->column, changes->change[i].lsn, changes->change[i].number);
    vector_column_reach(wish->column, wish->lsn);
    if (vector_column_wants_compacting(wish->column))
        vector_column_compact(wish->column);
out:
    if (st != ST_OK || !wish->has_room) {
        vector_column_spoil(wish->column);
        vector_column_drop(wish->column);
    }
    partition_scan_close(&scan);
    return st;
}

static size_t changes_max(const struct wish *wish)
{
    size_t half = (size_t)wish->index->base.documents / 2;

    return half > BEHIND_MIN ? half : BEHIND_MIN;
}

/* Nobody holds the lock. Others may have brought the column further meanwhile. */
static enum status bring_up(struct wish *wish, bool waits, const struct vector_key *key)
{
    struct vector_column *column = wish->column;
    struct changes changes;
    enum status st = ST_OK;

    if (waits)
        vector_column_lock_to_write(column);
    else if (!vector_column_try_to_write(column))
        return ST_OK;
    if (vector_column_lsn(column) < wish->lsn) {
        TRY(changes_read(wish->op, wish->index, vector_column_lsn(column), wish->lsn, changes_max(wish),
                         &changes));
        if (changes.too_many)
            vector_column_drop(column);
        else
            TRY(take_in(wish, &changes, key));
    }
out:
    vector_column_unlock(column);
    return st;
}

/* With the lock for reading. `behind`: the column is to be brought up first; `served`: the numbers are there. */
static enum status find_doubtful(struct wish *wish, struct query_vectors *vectors, size_t *behind,
                                 bool *served)
{
    const struct vector_change *recent = NULL;
    uint64_t lsn = vector_column_lsn(wish->column);
    struct changes changes = { 0 };
    const uint64_t *odd;
    uint64_t *doubtful = NULL;
    size_t odd_count, recent_count = 0;
    enum status st = ST_OK;

    *behind = 0;
    *served = vector_column_odd(wish->column, &odd, &odd_count);
    if (!*served)
        return ST_OK;
    if (lsn > wish->lsn) {
        *served = vector_column_since(wish->column, wish->lsn, &recent, &recent_count);
    } else {
        TRY(changes_read(wish->op, wish->index, lsn, wish->lsn, changes_max(wish), &changes));
        *behind = changes.too_many ? SIZE_MAX : changes.count;
        recent = changes.change;
        recent_count = changes.count;
    }
    if (*served && *behind != SIZE_MAX)
        TRY(changes_numbers(wish->op, recent, recent_count, odd, odd_count, &doubtful,
                            &vectors->doubtful_count));
    vectors->doubtful = doubtful;
out:
    return st;
}

/* Gives the column, locked for reading; or leaves it. */
static enum status use_column(struct wish *wish, const struct vector_key *key, struct query_vectors *vectors)
{
    size_t behind = 0;
    bool served = false;
    enum status st = ST_OK;

    for (int tries = 0; tries < TRIES_MAX; tries++) {
        bool is_last = tries == TRIES_MAX - 1;

        vector_column_lock(wish->column);
        st = find_doubtful(wish, vectors, &behind, &served);
        if (st == ST_OK && served && (behind <= DOUBTFUL_FEW || (is_last && behind <= DOUBTFUL_MANY))) {
            vectors->column = wish->column;
            return ST_OK;
        }
        vector_column_unlock(wish->column);
        if (st != ST_OK || !served)
            return st;
        TRY(bring_up(wish, behind > DOUBTFUL_MANY, key));
    }
out:
    return st;
}

/* ---- the offer ---- */

static struct slice name_path(struct op *op, const struct index_path *path)
{
    struct buf name;

    buf_init(&name, &op->arena);
    for (size_t i = 0; i < path->count; i++) {
        buf_printf(&name, "%zu:", path->step[i].name.size);
        buf_slice(&name, path->step[i].name);
    }
    return buf_as_slice(&name);
}

enum status item_vectors(struct op *op, const struct query_index *index, const struct index_path *path,
                         const struct vector_key *key, struct query_vectors *vectors)
{
    struct wish wish = { .op = op,
                         .index = (const struct item_index *)index,
                         .path = path,
                         .has_room = true,
                         .x = arena_alloc(&op->arena, key->dimensions * sizeof(*wish.x)) };
    struct vector_shelf *shelf = wish.index->container->vectors;
    struct vector_key named = *key;
    enum vector_found found;
    struct head head;
    enum status st;

    *vectors = (struct query_vectors){ 0 };
    named.path = name_path(op, path);
    TRY(store_snapshot_head(op, index->view->snapshot, &head));
    wish.lsn = head.lsn;
    if (index->view->writes || !would_fit(&wish, key))
        goto out;
    found = vector_shelf_find(shelf, &named, op->claim.account, &wish.column);
    if (found == VECTOR_NEW)
        TRY(make_or_give_up(&wish, key));
    if (wish.column)
        TRY(use_column(&wish, key, vectors));
out:
    if (!vectors->column)
        vector_column_done(wish.column);
    return st;
}

void item_vectors_end(struct query_vectors *vectors)
{
    if (!vectors->column)
        return;
    vector_column_unlock(vectors->column);
    vector_column_done(vectors->column);
    *vectors = (struct query_vectors){ 0 };
}
