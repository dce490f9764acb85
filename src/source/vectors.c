/*
 * src/source/vectors.c - the columns of a container's vectors, as of a query's snapshot.
 * A column is as of another commit, mostly an earlier one. The change log names the items that were written in between:
 * those are doubtful, and the query looks at them itself. When they are many, they are taken into the column.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "keys/keys.h"
#include "keys/record.h"
#include "source/item_index_private.h"
#include "vector/columns.h"

enum {
    DOUBTFUL_FEW = 64,    /* so many are read by each query; more are taken in, if nobody is in the way */
    DOUBTFUL_MANY = 1024, /* and so many even if somebody is */
    BEHIND_MIN = 4096, /* when so many changes, and half of all items, are behind, the column is made anew */
    LOG_ROWS = 512,
    LOG_BYTES = 1024 * 1024,
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

/* What was written between the column's commit and the snapshot. */
struct changes {
    struct vector_change *change; /* rising LSNs */
    size_t count, capacity;
    bool too_many;
};

/* ---- an item's vector ---- */

static struct json value_at(struct json value, const struct index_path *path)
{
    for (size_t i = 0; i < path->count; i++)
        value = json_kind(value) == JSON_OBJECT ? json_member(value, path->step[i].name) : json_undefined;
    return value;
}

static bool read_vector(const struct wish *wish, struct json document, size_t dimensions)
{
    struct json array = value_at(document, wish->path);
    double *to = wish->x;

    if (json_kind(array) != JSON_ARRAY || json_count(array) != dimensions)
        return false;
    for (struct json_iter i = json_iter(array); json_next(&i);) {
        if (json_kind(i.value) != JSON_NUMBER)
            return false;
        *to++ = json_double(i.value);
    }
    return true;
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
static enum status take_items(struct wish *wish, struct partition_scan *scan, size_t dimensions)
{
    struct record item;
    bool found;
    enum status st;

    for (;;) {
        TRY(partition_scan_next(wish->op, scan, &item, &found));
        if (!found || !wish->has_room)
            break;
        if (read_vector(wish, item.document, dimensions))
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

static enum status make_column(struct wish *wish, size_t dimensions)
{
    struct partition_scan scan;
    enum status st;

    open_scan(wish, &scan);
    TRY(take_items(wish, &scan, dimensions));
    vector_column_reach(wish->column, wish->lsn);
out:
    partition_scan_close(&scan);
    return st;
}

static enum status make_or_give_up(struct wish *wish, size_t dimensions)
{
    enum status st = make_column(wish, dimensions);

    if (st == ST_OK && wish->has_room) {
        vector_shelf_publish(wish->column);
        return ST_OK;
    }
    vector_shelf_give_up(wish->column);
    wish->column = NULL;
    return st;
}

/* ---- what was written since ---- */

/* Whether the log still names every change above the LSN. */
static enum status log_is_whole(struct wish *wish, uint64_t lsn, bool *whole)
{
    struct op *op = wish->op;
    struct slice key = key_trimmed(&op->arena, wish->index->container->bucket_id), value;
    struct log_place trimmed;
    enum status st;

    TRY(view_get(op, wish->index->base.view, key, &value));
    TRY(trimmed_decode(op, value, &trimmed));
    *whole = trimmed.lsn <= lsn;
out:
    return st;
}

static enum status add_change(struct wish *wish, struct changes *changes, const struct change *change)
{
    struct arena *arena = &wish->op->arena;

    if (change->kind == CHANGE_REINDEX)
        return ST_OK;
    if (!arena_list_reserve(arena, &changes->change, &changes->capacity, changes->count + 1,
                            sizeof(*changes->change)))
        return op_fail_as(wish->op, ST_QUERY_MEMORY);
    changes->change[changes->count++] = (struct vector_change){ change->lsn, change->number };
    return ST_OK;
}

/* A block of the log; `from` goes on behind it. */
static enum status read_log(struct wish *wish, struct arena *memory, struct log_place *from,
                            struct changes *changes, bool *more)
{
    uint64_t bucket = wish->index->container->bucket_id;
    struct op *op = wish->op;
    struct arena readers = op->arena;
    struct range range;
    struct rows rows = { 0 };
    enum status st;

    arena_reset(memory);
    op->arena = *memory; /* old versions of items are in the log, and are let go block by block */
    range = (struct range){ key_log(&op->arena, bucket, from->lsn, from->position),
                            key_kind_end(&op->arena, bucket, KEY_LOG), false };
    st = view_scan(op, wish->index->base.view, range, (struct scan_limit){ LOG_ROWS, LOG_BYTES }, &rows);
    *memory = op->arena;
    op->arena = readers;
    if (st != ST_OK && op->error)
        op->error = arena_text(&op->arena, slice_of(op->error));
    *more = st == ST_OK && rows.count && rows.more;
    for (size_t i = 0; i < rows.count && st == ST_OK; i++) {
        struct key_parts key;
        struct change change;

        TRY(change_decode(op, rows.row[i].value, &change));
        if (!key_parse(rows.row[i].key, &key) || !key_parse_log(&key, &from->lsn, &from->position))
            TRY(op_fail_as(op, ST_CORRUPT));
        TRY(add_change(wish, changes, &change));
    }
    from->position++;
out:
    return st;
}

static enum status read_changes(struct wish *wish, uint64_t lsn, size_t most, struct changes *changes)
{
    struct log_place from = { lsn + 1, 0 };
    struct arena memory;
    bool more = lsn < wish->lsn, whole;
    enum status st;

    *changes = (struct changes){ 0 };
    op_arena(wish->op, &memory, OP_MEMORY_BYTES_MAX);
    TRY(log_is_whole(wish, lsn, &whole));
    changes->too_many = !whole || wish->lsn - lsn > most; /* each commit has a change at least */
    while (more && !changes->too_many) {
        TRY(op_check(wish->op));
        TRY(read_log(wish, &memory, &from, changes, &more));
        changes->too_many = changes->count > most;
    }
out:
    arena_free(&memory);
    return st;
}

/* ---- numbers ---- */

static int by_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* The items of the changes and the odd ones, each once, in order. */
static enum status list_numbers(struct op *op, const struct vector_change *change, size_t count,
                                const uint64_t *odd, size_t odd_count, struct query_vectors *to)
{
    uint64_t *number = arena_try_alloc(&op->arena, (count + odd_count + 1) * sizeof(*number));
    size_t all = 0, kept = 0;

    if (!number)
        return op_fail_as(op, ST_QUERY_MEMORY);
    for (size_t i = 0; i < count; i++)
        number[all++] = change[i].number;
    for (size_t i = 0; i < odd_count; i++)
        number[all++] = odd[i];
    qsort(number, all, sizeof(*number), by_u64);
    for (size_t i = 0; i < all; i++)
        if (kept == 0 || number[kept - 1] != number[i])
            number[kept++] = number[i];
    to->doubtful = number;
    to->doubtful_count = kept;
    return ST_OK;
}

/* ---- keeping up ---- */

/* With the lock for writing: the column becomes one of the snapshot. */
static enum status take_in(struct wish *wish, const struct changes *changes, size_t dimensions)
{
    struct query_vectors changed = { 0 };
    struct partition_scan scan;
    enum status st;

    open_scan(wish, &scan);
    TRY(list_numbers(wish->op, changes->change, changes->count, NULL, 0, &changed));
    for (size_t i = 0; i < changed.doubtful_count; i++)
        vector_column_remove(wish->column, changed.doubtful[i]);
    partition_scan_pick(&scan, changed.doubtful, changed.doubtful_count);
    TRY(take_items(wish, &scan, dimensions));
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
static enum status bring_up(struct wish *wish, bool waits, size_t dimensions)
{
    struct vector_column *column = wish->column;
    struct changes changes;
    enum status st = ST_OK;

    if (waits)
        vector_column_lock_to_write(column);
    else if (!vector_column_try_to_write(column))
        return ST_OK;
    if (vector_column_lsn(column) < wish->lsn) {
        TRY(read_changes(wish, vector_column_lsn(column), changes_max(wish), &changes));
        if (changes.too_many)
            vector_column_drop(column);
        else
            TRY(take_in(wish, &changes, dimensions));
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
    size_t odd_count, recent_count = 0;
    enum status st = ST_OK;

    *behind = 0;
    *served = vector_column_odd(wish->column, &odd, &odd_count);
    if (!*served)
        return ST_OK;
    if (lsn > wish->lsn) {
        *served = vector_column_since(wish->column, wish->lsn, &recent, &recent_count);
    } else {
        TRY(read_changes(wish, lsn, changes_max(wish), &changes));
        *behind = changes.too_many ? SIZE_MAX : changes.count;
        recent = changes.change;
        recent_count = changes.count;
    }
    if (*served && *behind != SIZE_MAX)
        TRY(list_numbers(wish->op, recent, recent_count, odd, odd_count, vectors));
out:
    return st;
}

/* Gives the column, locked for reading; or leaves it. */
static enum status use_column(struct wish *wish, size_t dimensions, struct query_vectors *vectors)
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
        TRY(bring_up(wish, behind > DOUBTFUL_MANY, dimensions));
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
        TRY(make_or_give_up(&wish, key->dimensions));
    if (wish.column)
        TRY(use_column(&wish, key->dimensions, vectors));
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
