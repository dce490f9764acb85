/* src/main/copy_store.c - all of one store into another, block by block, and taken up again where it was cut off. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "keys/keys.h"
#include "main/copy_store.h"
#include "store/entries.h"
#include "store/transfer.h"

enum { BLOCK_ROWS = 2000, BLOCK_BYTES = 4 * 1024 * 1024 };

/* ---- how far it has come: the value of KEY_COPYING ---- */

/* Format 1, the bucket 8, how many bytes its head has 1, the head, the last key that was put. No key: no bucket is begun. */
enum { COPYING_FORMAT = 1, COPYING_BYTES_MIN = 10 };

struct reached {
    uint64_t bucket;
    struct slice head, key;
};

static struct row reached_row(struct arena *arena, const struct reached *reached)
{
    size_t size = COPYING_BYTES_MIN + reached->head.size + reached->key.size;
    uint8_t *value = arena_alloc(arena, size);

    value[0] = COPYING_FORMAT;
    put_be(value + 1, reached->bucket, 8);
    value[9] = (uint8_t)reached->head.size;
    if (reached->head.size)
        memcpy(value + COPYING_BYTES_MIN, reached->head.data, reached->head.size);
    if (reached->key.size)
        memcpy(value + COPYING_BYTES_MIN + reached->head.size, reached->key.data, reached->key.size);
    return (struct row){ key_copying(arena), slice_make(value, size) };
}

static enum status reached_decode(struct op *op, struct slice value, struct reached *reached)
{
    *reached = (struct reached){ 0 };
    if (value.size < COPYING_BYTES_MIN || value.data[0] != COPYING_FORMAT ||
        value.size - COPYING_BYTES_MIN < (uint8_t)value.data[9])
        return op_fail(op, ST_CORRUPT,
                       "what says how far the copy has come is damaged, or of a newer version");
    reached->bucket = get_be(value.data + 1, 8);
    reached->head = slice_make(value.data + COPYING_BYTES_MIN, (uint8_t)value.data[9]);
    reached->key = slice_after(value, COPYING_BYTES_MIN + reached->head.size);
    return ST_OK;
}

/* Data NULL: the store is no copy that is under way. */
static enum status read_copying(struct op *op, struct snapshot *snapshot, struct slice *value)
{
    struct slice key = key_copying(&op->arena);

    return store_get_many(op, snapshot, &key, 1, value);
}

/* A snapshot that shows every bucket. */
static enum status see_all(struct op *op, struct store *store, struct snapshot **snapshot)
{
    struct bucket *bucket;
    enum status st;

    TRY(store_bucket(op, store, 0, &bucket));
    TRY(store_snapshot(op, bucket, snapshot));
out:
    return st;
}

enum status copy_is_whole(struct op *op, struct store *store)
{
    struct snapshot *snapshot = NULL;
    struct slice value;
    enum status st;

    TRY(see_all(op, store, &snapshot));
    TRY(read_copying(op, snapshot, &value));
    if (value.data)
        TRY(op_fail(
            op, ST_UNAVAILABLE,
            "This is half a copy: give the same orrery copy again, which goes on with it, or remove it."));
out:
    store_release(snapshot);
    return st;
}

enum status copy_open(struct op *op, struct store *store, struct copy_source *source)
{
    enum status st;

    *source = (struct copy_source){ .store = store };
    TRY(copy_is_whole(op, store));
    TRY(see_all(op, store, &source->moment));
out:
    return st;
}

void copy_close(struct copy_source *source)
{
    store_release(source->moment);
    *source = (struct copy_source){ 0 };
}

/* ---- what is being copied ---- */

struct copying {
    struct op *op;
    struct op block; /* what one block needs */
    struct store *from, *to;
    struct snapshot *source;
    copy_tell *tell;
    struct copy_progress *progress;

    bool entries_too;           /* the target will have them as rows */
    struct bucket_found *found; /* what the target had at the beginning */
    size_t found_count, found_capacity;
    struct reached reached; /* by the call before; in the op's arena */
    struct row *list;       /* entries, whose keys lie in the block's arena */
    size_t list_count, list_capacity;
};

static void copying_free(struct copying *c)
{
    op_free(&c->block);
    free(c->found);
    free(c->list);
}

static void begin_block(struct copying *c)
{
    op_begin(&c->block, INT64_MAX / 2);
    c->block.may_block = true;
}

/* What went wrong in a block is told by the caller's operation. */
static enum status told(struct copying *c, enum status st)
{
    return st == ST_OK ? ST_OK
                       : op_fail(c->op, st, "%s", c->block.error ? c->block.error : error_row(st)->code);
}

/* ---- which buckets ---- */

static bool same_head(const struct head *a, const struct head *b)
{
    return a->lsn == b->lsn && a->ts_ms == b->ts_ms && a->counter == b->counter && a->counts == b->counts &&
           a->documents == b->documents && a->document_bytes == b->document_bytes;
}

/* A bucket begun by a version that did not count is counted now: there may be no other way to say that it was not. */
static enum status count_documents(struct copying *c, uint64_t id, struct head *head)
{
    struct slice end = key_kind_end(&c->op->arena, id, KEY_DOCUMENT);
    struct rows rows = { .more = true };
    struct buf from;
    enum status st = ST_OK;

    buf_init(&from, &c->op->arena);
    buf_slice(&from, key_kind_first(&c->op->arena, id, KEY_DOCUMENT));
    for (head->counts = true; rows.more;) {
        begin_block(c);
        TRY(store_scan(&c->block, c->source, (struct range){ buf_as_slice(&from), end, false },
                       (struct scan_limit){ BLOCK_ROWS, BLOCK_BYTES }, &rows));
        for (size_t i = 0; i < rows.count; i++)
            head->document_bytes += rows.row[i].value.size;
        head->documents += rows.count;
        if (rows.count)
            key_step_behind(&from, rows.row[rows.count - 1].key);
    }
out:
    return told(c, st);
}

/*
 * The source's next bucket. A dropped one is passed over, but for the head of a container whose drop is still to be finished:
 * that is how far a container made anew under its name must begin.
 */
static enum status next_bucket(struct copying *c, uint64_t from, struct bucket_found *found, bool *is_there)
{
    struct slice key, value;
    enum status st;

    do {
        begin_block(c);
        TRY(store_next_bucket(&c->block, c->source, from, found, is_there));
        if (!*is_there || !found->dropped)
            break;
        key = key_dropped(&c->block.arena, bucket_container(found->id));
        TRY(store_get_many(&c->block, c->source, &key, 1, &value));
        from = found->id + 1;
    } while (!value.data);
    if (*is_there && !found->head.counts)
        TRY(count_documents(c, found->id, &found->head));
out:
    return told(c, st);
}

typedef enum status visit_bucket(struct copying *c, const struct bucket_found *found);

static enum status each_bucket(struct copying *c, visit_bucket *visit)
{
    struct bucket_found found = { 0 };
    bool is_there = true;
    enum status st = ST_OK;

    for (uint64_t from = 0; is_there; from = found.id + 1) {
        TRY(next_bucket(c, from, &found, &is_there));
        if (is_there)
            TRY(visit(c, &found));
    }
out:
    return st;
}

static enum status count_bucket(struct copying *c, const struct bucket_found *found)
{
    (void)found;
    c->progress->buckets++;
    return ST_OK;
}

/* ---- the target, as it was found ---- */

static enum status list_target(struct copying *c, struct snapshot *snapshot)
{
    struct bucket_found found = { 0 };
    bool is_there = true;
    enum status st = ST_OK;

    for (uint64_t from = 0; is_there; from = found.id + 1) {
        TRY(store_next_bucket(c->op, snapshot, from, &found, &is_there));
        if (!is_there)
            break;
        heap_list_reserve(&c->found, &c->found_capacity, c->found_count + 1, sizeof(*c->found));
        c->found[c->found_count++] = found;
    }
out:
    return st;
}

static enum status put_reached(struct copying *c, const struct reached *reached)
{
    struct row row;

    begin_block(c);
    row = reached_row(&c->block.arena, reached);
    return told(c, store_load(&c->block, c->to, &row, 1));
}

static enum status remove_copying(struct op *op, struct store *to)
{
    struct row row = { .key = key_copying(&op->arena) };

    return store_load(op, to, &row, 1);
}

/*
 * Whoever starts a server says first that it uses the database, and looks then whether this is half a copy. We do it the other way
 * round: at least one of two sees the other.
 */
static enum status keep_servers_out(struct copying *c, bool is_new)
{
    unsigned users;
    enum status st;

    if (is_new)
        TRY(put_reached(c, &(struct reached){ 0 }));
    TRY(store_count_users(c->op, c->to, &users));
    if (!users)
        goto out;
    if (is_new)
        TRY(remove_copying(c->op, c->to));
    st = op_fail(c->op, ST_UNAVAILABLE, "%u servers use the target: a copy needs it for itself.", users);
out:
    return st;
}

static enum status find_target(struct copying *c)
{
    struct snapshot *snapshot = NULL;
    struct slice value;
    enum status st;

    TRY(see_all(c->op, c->to, &snapshot));
    TRY(read_copying(c->op, snapshot, &value));
    TRY(list_target(c, snapshot));
    if (value.data)
        TRY(reached_decode(c->op, value, &c->reached));
    else if (c->found_count)
        TRY(op_fail(c->op, ST_EXISTS, "The target has data: a copy needs an empty one."));
    store_release(snapshot);
    snapshot = NULL;
    TRY(keep_servers_out(c, !value.data));
out:
    store_release(snapshot);
    return st;
}

/* ---- one bucket ---- */

static bool is_copied(const struct copying *c, const struct bucket_found *found)
{
    for (size_t i = 0; i < c->found_count; i++)
        if (c->found[i].id == found->id)
            return same_head(&c->found[i].head, &found->head);
    return false;
}

/* Heads have their own place, and what is about runs is the source's own. */
static bool is_passed_over(struct slice key)
{
    return key_is_kind(key, KEY_HEAD) || key_is_kind(key, KEY_RUNS) || key_is_kind(key, KEY_SETTLED);
}

/* Puts the block's rows and how far that is. There is room for one more row behind them. */
static enum status put_block(struct copying *c, struct row *rows, size_t count, struct reached *reached)
{
    enum status st;

    if (count == 0)
        return ST_OK;
    reached->key = rows[count - 1].key;
    rows[count] = reached_row(&c->block.arena, reached);
    TRY(store_load(&c->block, c->to, rows, count + 1));
    c->progress->rows += count;
    for (size_t i = 0; i < count; i++)
        c->progress->bytes += rows[i].key.size + rows[i].value.size;
    c->tell(c->progress);
out:
    return st;
}

/* `from` becomes the key behind the block. */
static enum status copy_block(struct copying *c, struct buf *from, struct slice to, struct reached *reached,
                              bool *more)
{
    struct row *kept;
    struct rows rows;
    size_t count = 0;
    enum status st;

    begin_block(c);
    TRY(store_scan(&c->block, c->source, (struct range){ buf_as_slice(from), to, false },
                   (struct scan_limit){ BLOCK_ROWS, BLOCK_BYTES }, &rows));
    kept = arena_alloc(&c->block.arena, (rows.count + 1) * sizeof(*kept));
    for (size_t i = 0; i < rows.count; i++) {
        if (is_passed_over(rows.row[i].key))
            continue;
        kept[count] = rows.row[i];
        if (!kept[count].value.size)
            kept[count].value = slice_of(""); /* an entry, which has none; without data it would be removed */
        count++;
    }
    if (rows.count)
        key_step_behind(from, rows.row[rows.count - 1].key);
    *more = rows.more;
    TRY(put_block(c, kept, count, reached));
out:
    return told(c, st);
}

static enum status copy_bucket_rows(struct copying *c, uint64_t id, struct buf *from, struct reached *reached)
{
    bool entries_too = c->entries_too && store_entries_are_rows(c->from);
    struct slice to = entries_too ? key_kind_end(&c->op->arena, id, KEY_INDEX)
                                  : key_kind_first(&c->op->arena, id, KEY_INDEX);
    bool more = slice_compare(buf_as_slice(from), to) < 0;
    enum status st = ST_OK;

    assert((int)KEY_INDEX > (int)KEY_SETTLED); /* entries come last, so a key says how far both have come */
    while (more)
        TRY(copy_block(c, from, to, reached, &more));
out:
    return st;
}

/* ---- entries that lie in runs ---- */

/* All terms of a bucket. */
static enum status open_entries(struct op *op, struct snapshot *snapshot, struct entries_cursor **cursor)
{
    enum { BEHIND_ALL_BYTES = 32 };
    uint8_t *behind = arena_alloc(&op->arena, BEHIND_ALL_BYTES);

    memset(behind, 0xff, BEHIND_ALL_BYTES);
    return store_entries_open(op, snapshot,
                              &(struct entries_walk){ .from = slice_of(""),
                                                      .to = slice_make(behind, BEHIND_ALL_BYTES),
                                                      .last = UINT64_MAX },
                              cursor);
}

/* The next entries, as rows in `list`; at the end none. A cursor gives them a few hundred at a time. */
static enum status next_entries(struct copying *c, uint64_t id, struct entries_cursor *cursor)
{
    struct entries_block block = { .count = 1 };
    enum status st = ST_OK;

    c->list_count = 0;
    begin_block(c);
    while (block.count && c->list_count < BLOCK_ROWS) {
        TRY(store_entries_next(c->op, cursor, &block));
        heap_list_reserve(&c->list, &c->list_capacity, c->list_count + block.count + 1, sizeof(*c->list));
        for (size_t i = 0; i < block.count; i++)
            c->list[c->list_count++] =
                (struct row){ key_index(&c->block.arena, id, block.term, block.number[i]), slice_of("") };
    }
out:
    return st;
}

/* The same where they are rows; `from` becomes the key behind them. */
static enum status scan_entries(struct copying *c, uint64_t id, struct buf *from)
{
    struct rows rows;
    enum status st;

    begin_block(c);
    TRY(store_scan(&c->block, c->source,
                   (struct range){ buf_as_slice(from), key_kind_end(&c->block.arena, id, KEY_INDEX), false },
                   (struct scan_limit){ BLOCK_ROWS, BLOCK_BYTES }, &rows));
    heap_list_reserve(&c->list, &c->list_capacity, rows.count + 1, sizeof(*c->list));
    for (c->list_count = 0; c->list_count < rows.count; c->list_count++)
        c->list[c->list_count] = rows.row[c->list_count];
    if (rows.count)
        key_step_behind(from, rows.row[rows.count - 1].key);
out:
    return told(c, st);
}

/* What is done with the entries of `list`; the last call for a bucket may have none. */
typedef enum status give_entries(struct copying *c, struct bucket *bucket, struct reached *reached);

/* Where a source with runs goes on: behind the entry that `from` is the key behind of, if it is one. */
static enum status open_behind(struct copying *c, struct snapshot *snapshot, const struct buf *from,
                               struct entries_cursor **cursor)
{
    struct slice last = slice_make(from->data, from->size - 1);
    struct key_parts parts;
    struct slice term;
    uint64_t number;
    enum status st;

    TRY(open_entries(c->op, snapshot, cursor));
    if (key_parse(last, &parts) && key_parse_index(&parts, &term, &number))
        TRY(store_entries_seek(c->op, *cursor, term, number + 1));
out:
    return st;
}

/* All entries of the bucket behind `from`, in order. */
static enum status each_entry(struct copying *c, uint64_t id, struct buf *from, struct bucket *target,
                              struct reached *reached, give_entries *give)
{
    struct snapshot *snapshot = NULL;
    struct entries_cursor *cursor = NULL;
    struct bucket *bucket;
    enum status st = ST_OK;

    if (!store_entries_are_rows(c->from)) {
        TRY(store_bucket(c->op, c->from, id, &bucket));
        TRY(store_snapshot(c->op, bucket, &snapshot));
        TRY(open_behind(c, snapshot, from, &cursor));
    }
    do {
        if (cursor)
            TRY(next_entries(c, id, cursor));
        else
            TRY(scan_entries(c, id, from));
        TRY(told(c, give(c, target, reached)));
    } while (c->list_count);
out:
    store_entries_end(cursor);
    store_release(snapshot);
    return st;
}

static enum status put_entries(struct copying *c, struct bucket *bucket, struct reached *reached)
{
    (void)bucket;
    return put_block(c, c->list, c->list_count, reached);
}

/* ---- all of them, as rows ---- */

/* Behind the last key that was put, if this bucket was being copied and is the same still. Else from its beginning. */
static enum status begin_bucket(struct copying *c, struct reached *reached, struct buf *from)
{
    const struct reached *before = &c->reached;
    enum status st = ST_OK;

    buf_init(from, &c->op->arena);
    if (before->key.size && before->bucket == reached->bucket && slice_equal(before->head, reached->head)) {
        buf_slice(from, before->key);
        key_step_behind(from, before->key);
        goto out;
    }
    buf_slice(from, key_bucket_first(&c->op->arena, reached->bucket));
    TRY(store_clear(c->op, c->to, reached->bucket));
out:
    return st;
}

static enum status end_bucket(struct copying *c, const struct reached *reached)
{
    struct row rows[2];

    begin_block(c);
    rows[0] = (struct row){ key_head(&c->block.arena, reached->bucket), reached->head };
    rows[1] = reached_row(&c->block.arena, &(struct reached){ 0 });
    return told(c, store_load(&c->block, c->to, rows, 2));
}

static enum status copy_bucket(struct copying *c, const struct bucket_found *found)
{
    struct op_mark mark = op_mark(c->op);
    uint8_t bytes[HEAD_BYTES];
    struct reached reached = { .bucket = found->id,
                               .head = { (char *)bytes, head_encode(&found->head, bytes) } };
    struct buf from;
    enum status st = ST_OK;

    if (is_copied(c, found))
        goto out;
    TRY(begin_bucket(c, &reached, &from));
    if (!found->dropped)
        TRY(copy_bucket_rows(c, found->id, &from, &reached));
    if (!found->dropped && c->entries_too && !store_entries_are_rows(c->from))
        TRY(each_entry(c, found->id, &from, NULL, &reached, put_entries));
    TRY(end_bucket(c, &reached));
    op_rewind(c->op, mark);
out:
    if (st == ST_OK)
        c->progress->buckets_done++;
    return st;
}

/* What the source has no longer, since an earlier call. */
static enum status clear_others(struct copying *c)
{
    struct bucket_found found;
    bool is_there;
    enum status st = ST_OK;

    for (size_t i = 0; i < c->found_count; i++) {
        TRY(next_bucket(c, c->found[i].id, &found, &is_there));
        if (!is_there || found.id != c->found[i].id)
            TRY(store_clear(c->op, c->to, c->found[i].id));
    }
    if (!c->reached.key.size)
        goto out;
    TRY(next_bucket(c, c->reached.bucket, &found, &is_there));
    if (!is_there || found.id != c->reached.bucket)
        TRY(store_clear(c->op, c->to, c->reached.bucket));
out:
    return st;
}

enum status copy_rows(struct op *op, const struct copy_source *from, struct store *to, bool entries_too,
                      copy_tell *tell, struct copy_progress *progress)
{
    struct copying c = { .op = op,
                         .from = from->store,
                         .source = from->moment,
                         .to = to,
                         .entries_too = entries_too,
                         .tell = tell,
                         .progress = progress };
    enum status st;

    *progress = (struct copy_progress){ 0 };
    op_init(&c.block, op->env, SIZE_MAX);
    TRY(find_target(&c));
    TRY(each_bucket(&c, count_bucket));
    TRY(clear_others(&c));
    TRY(each_bucket(&c, copy_bucket));
out:
    copying_free(&c);
    return st;
}

/* ---- entries in runs ---- */

enum status copy_forget_entries(struct op *op, struct store *to)
{
    struct row row = { .key = key_runs(&op->arena) };
    struct snapshot *snapshot = NULL;
    struct bucket_found found = { 0 };
    bool is_there = true;
    enum status st;

    TRY(see_all(op, to, &snapshot));
    for (uint64_t from = 0; is_there; from = found.id + 1) {
        TRY(store_load(op, to, &row, 1));
        TRY(store_next_bucket(op, snapshot, from, &found, &is_there));
        row.key = key_settled(&op->arena, found.id);
    }
out:
    store_release(snapshot);
    return st;
}

/* They are told to be all that there are after each block, so that few are in memory: nobody uses half a copy. */
static enum status restore_entries(struct copying *c, struct bucket *bucket, struct reached *reached)
{
    struct batch *batch = batch_new(&c->block, bucket_id(bucket));
    enum status st;

    (void)reached;
    for (size_t i = 0; i < c->list_count; i++)
        batch_index_add(batch, c->list[i].key);
    TRY(store_entries_restore(&c->block, bucket, batch));
    store_entries_restored(bucket);
    c->progress->entries += c->list_count;
    c->tell(c->progress);
out:
    return st;
}

/* The catalog and what is beside it have no entries. */
static enum status restore_bucket(struct copying *c, const struct bucket_found *found)
{
    struct op_mark mark = op_mark(c->op);
    struct bucket *bucket;
    struct buf from;
    enum status st = ST_OK;

    if (found->dropped || bucket_container(found->id) == 0)
        goto out;
    buf_init(&from, &c->op->arena);
    buf_slice(&from, key_kind_first(&c->op->arena, found->id, KEY_INDEX));
    TRY(store_bucket(c->op, c->to, found->id, &bucket));
    TRY(each_entry(c, found->id, &from, bucket, NULL, restore_entries));
    op_rewind(c->op, mark);
out:
    return st;
}

enum status copy_entries(struct op *op, const struct copy_source *from, struct store *to, copy_tell *tell,
                         struct copy_progress *progress)
{
    struct copying c = {
        .op = op, .from = from->store, .source = from->moment, .to = to, .tell = tell, .progress = progress
    };
    enum status st;

    op_init(&c.block, op->env, SIZE_MAX);
    TRY(each_bucket(&c, restore_bucket));
    TRY(store_entries_flush(op, to));
out:
    copying_free(&c);
    return st;
}

enum status copy_end(struct op *op, struct store *to)
{
    return remove_copying(op, to);
}
