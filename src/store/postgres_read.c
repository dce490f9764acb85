/*
 * src/store/postgres_read.c - snapshots, which are REPEATABLE READ transactions on connections of their own, reads
 * through them, and the latest value, which is one statement.
 * The head of a bucket is a row of another table. Readers of the store see it among the keys, as everywhere.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "keys/keys.h"
#include "store/postgres_private.h"
#include "store/rows.h"
#include "store/wanted.h"

/*
 * The transaction that snapshots of one moment share. An operation may take a hundred snapshots, one for each of its
 * transactions. As long as nothing newer of the bucket was seen, they are one moment, on one connection.
 */
struct moment {
    struct link *link;
    unsigned sharers;
    bool failed; /* a statement was refused: the transaction is over */

    const struct op *op; /* who took it; it outlives its snapshots */
    const struct bucket *bucket;
    struct head_row row;
    struct moment *next; /* of the store's that are open; guarded by its mutex, as `sharers` is */
};

struct postgres_snapshot {
    struct snapshot base;
    struct moment *moment;
    bool dropped; /* the bucket, as of this moment */
};

static struct postgres_snapshot *snapshot_of(struct snapshot *snapshot)
{
    return (struct postgres_snapshot *)snapshot; /* its first member */
}

/* ---- snapshots ---- */

/* The transaction, and the heads in the same round trip. */
static enum link_end ask_heads(struct link *link, struct bucket *const *buckets, size_t count,
                               struct head_row *rows)
{
    enum link_end end, each;
    uint8_t bytes[8];

    link_send(link, SQL_BEGIN_SNAPSHOT, NULL, 0);
    for (size_t i = 0; i < count; i++)
        link_send(link, SQL_HEAD, &(struct sql_param){ sql_number(bytes, buckets[i]->id).data, 8 }, 1);
    link_sync(link);
    end = link_take(link, NULL);
    for (size_t i = 0; i < count; i++) {
        struct answer *answer = NULL;

        each = link_take(link, &answer);
        if (each == LINK_OK && answer_rows(answer) == 1)
            rows[i] = head_row_of(answer, 0);
        else
            rows[i] = (struct head_row){ .head = { .counts = true } };
        answer_free(answer);
        end = end == LINK_OK ? each : end;
    }
    each = link_end(link);
    return end == LINK_OK ? each : end;
}

/* Where the tables are distributed, each bucket's moment is its database's: the heads are held until all are read. */
static enum link_end ask_together(struct op *op, struct postgres *postgres, struct link *link,
                                  struct bucket *const *buckets, size_t count, struct head_row *rows)
{
    struct link *held = NULL;
    enum link_end end;

    if (!postgres->is_distributed || count == 1)
        return ask_heads(link, buckets, count, rows);
    held = citus_hold(op, postgres, buckets, count);
    if (!held)
        return LINK_REFUSED;
    end = ask_heads(link, buckets, count, rows);
    citus_let_go(postgres, held);
    return end;
}

static enum status begin_moment(struct op *op, struct postgres *postgres, struct bucket *const *buckets,
                                size_t count, struct head_row *rows, struct moment **moment)
{
    enum link_end end = LINK_LOST;
    struct link *link = NULL;
    enum status st = ST_OK;

    for (int attempt = 0; end == LINK_LOST && attempt < 2; attempt++) {
        link = links_take(&postgres->snapshots);
        if (!link)
            return postgres_failed(op, NULL);
        end = ask_together(op, postgres, link, buckets, count, rows);
        if (end == LINK_OK)
            break;
        st = postgres_failed(op, link);
        links_give(&postgres->snapshots, link);
        links_forget_idle(&postgres->snapshots);
    }
    if (end != LINK_OK)
        return st;
    *moment = heap_allocate(sizeof(**moment));
    (*moment)->link = link;
    return ST_OK;
}

static struct snapshot *share(struct moment *moment, struct bucket *bucket, const struct head_row *row)
{
    struct postgres_snapshot *made = heap_allocate(sizeof(*made));

    made->base = (struct snapshot){ .bucket = bucket, .head = row->head, .has_head = true };
    made->moment = moment;
    made->dropped = row->dropped;
    return &made->base;
}

static void list_moment(struct postgres *postgres, struct moment *moment, size_t sharers)
{
    pthread_mutex_lock(&postgres->moments_mutex);
    moment->sharers = (unsigned)sharers;
    moment->next = postgres->moments;
    postgres->moments = moment;
    pthread_mutex_unlock(&postgres->moments_mutex);
}

/* True when the last sharer has gone. */
static bool leave_moment(struct postgres *postgres, struct moment *moment)
{
    struct moment **at = &postgres->moments;
    bool last;

    pthread_mutex_lock(&postgres->moments_mutex);
    last = --moment->sharers == 0;
    while (last && *at != moment)
        at = &(*at)->next;
    if (last)
        *at = moment->next;
    pthread_mutex_unlock(&postgres->moments_mutex);
    return last;
}

/* The operation's own open moment, when it is still the bucket's newest that we know of. */
static struct moment *join_moment(struct op *op, const struct bucket *bucket)
{
    struct postgres *postgres = postgres_of(bucket->store);
    struct moment *moment;

    pthread_mutex_lock(&postgres->moments_mutex);
    moment = postgres->moments;
    while (moment && (moment->op != op || moment->bucket != bucket || moment->failed ||
                      moment->row.head.lsn != bucket_lsn(bucket)))
        moment = moment->next;
    if (moment)
        moment->sharers++;
    pthread_mutex_unlock(&postgres->moments_mutex);
    return moment;
}

enum status postgres_snapshot_together(struct op *op, struct bucket *const *buckets, size_t count,
                                       struct snapshot **snapshots)
{
    struct head_row *rows = arena_alloc(&op->arena, count * sizeof(*rows));
    struct postgres *postgres = postgres_of(buckets[0]->store);
    struct moment *moment = NULL;
    enum status st;

    TRY(op_may_take_long(op));
    TRY(begin_moment(op, postgres, buckets, count, rows, &moment));
    assert(moment); /* ST_OK gives one */
    moment->op = op;
    moment->bucket = buckets[0];
    moment->row = rows[0];
    list_moment(postgres, moment, count);
    for (size_t i = 0; i < count; i++) {
        postgres_bucket_saw(postgres_bucket_of(buckets[i]), &rows[i]);
        snapshots[i] = share(moment, buckets[i], &rows[i]);
    }
out:
    return st;
}

enum status postgres_snapshot(struct op *op, struct bucket *bucket, struct snapshot **snapshot)
{
    struct moment *moment = join_moment(op, bucket);

    if (!moment)
        return postgres_snapshot_together(op, &bucket, 1, snapshot);
    *snapshot = share(moment, bucket, &moment->row);
    return ST_OK;
}

/* Nobody waits for the end of the transaction. */
void postgres_release(struct snapshot *snapshot)
{
    struct postgres *postgres = postgres_of(snapshot->bucket->store);
    struct moment *moment = snapshot_of(snapshot)->moment;

    free(snapshot);
    if (!leave_moment(postgres, moment))
        return;
    if (link_is_sound(moment->link)) {
        link_send(moment->link, SQL_ROLLBACK, NULL, 0);
        link_sync(moment->link);
        link_leave(moment->link);
    }
    links_give(&postgres->snapshots, moment->link);
    free(moment);
}

/* The bucket may have moved to another database, whose moment is a later one. */
static bool is_still(struct snapshot *snapshot)
{
    struct link *link = snapshot_of(snapshot)->moment->link;
    struct answer *answer = NULL;
    bool is = link_take(link, &answer) == LINK_OK && answer_rows(answer) == 1 &&
              head_row_of(answer, 0).head.lsn == snapshot->head.lsn;

    answer_free(answer);
    return is;
}

/* A snapshot that was lost is over: its caller begins anew. */
enum status postgres_ask(struct op *op, struct snapshot *snapshot, enum sql sql,
                         const struct sql_param *params, size_t count, struct answer **answer)
{
    struct moment *moment = snapshot_of(snapshot)->moment;
    bool may_move = postgres_of(snapshot->bucket->store)->is_distributed, stays = true;
    enum link_end end, ended;
    uint8_t bytes[8];

    if (moment->failed)
        return op_fail(op, ST_UNAVAILABLE, "The connection to the database was lost.");
    link_send(moment->link, sql, params, count);
    if (may_move)
        link_send(moment->link, SQL_HEAD,
                  &(struct sql_param){ sql_number(bytes, snapshot->bucket->id).data, 8 }, 1);
    link_sync(moment->link);
    end = link_take(moment->link, answer);
    if (may_move)
        stays = is_still(snapshot);
    ended = link_end(moment->link);
    if (end == LINK_OK && ended == LINK_OK && stays)
        return ST_OK;
    answer_free(*answer);
    *answer = NULL;
    moment->failed = true;
    if (!stays && end == LINK_OK && ended == LINK_OK)
        return op_fail(op, ST_UNAVAILABLE, "The data was moved to another database meanwhile.");
    return postgres_failed(op, moment->link);
}

/* ---- heads among the keys ---- */

static enum status head_at(struct op *op, struct snapshot *snapshot, uint64_t id, struct head_row *row)
{
    struct postgres_snapshot *own = snapshot_of(snapshot);
    struct answer *answer = NULL;
    uint8_t bytes[8];
    struct sql_param shard = sql_number(bytes, id);
    enum status st = ST_OK;

    *row = (struct head_row){ .head = snapshot->head, .dropped = own->dropped };
    if (id == snapshot->bucket->id)
        return ST_OK;
    TRY(postgres_ask(op, snapshot, SQL_HEAD, &shard, 1, &answer));
    *row = answer_rows(answer) ? head_row_of(answer, 0) : (struct head_row){ 0 };
out:
    answer_free(answer);
    return st;
}

/* The head as a value; absent while nothing was written, and when the bucket was dropped. */
static enum status head_value(struct op *op, struct snapshot *snapshot, uint64_t id, struct slice *value)
{
    uint8_t bytes[HEAD_BYTES];
    struct head_row row;
    enum status st;

    *value = (struct slice){ 0 };
    TRY(head_at(op, snapshot, id, &row));
    if (row.head.lsn > 0 && !row.dropped)
        *value = arena_copy(&op->arena, slice_make(bytes, head_encode(&row.head, bytes)));
out:
    return st;
}

/* ---- gets ---- */

/* One dimension of bytea, as the server's array_recv reads it. */
struct sql_param sql_key_array(struct arena *arena, const struct slice *keys, size_t count)
{
    enum { HEADER = 20, BYTEA_TYPE = 17 };
    size_t bytes = HEADER;
    uint8_t *array, *at;

    for (size_t i = 0; i < count; i++)
        bytes += 4 + keys[i].size - BUCKET_KEY_BYTES;
    array = arena_alloc(arena, bytes);
    put_be(array, 1, 4);     /* dimensions */
    put_be(array + 4, 0, 4); /* no NULLs */
    put_be(array + 8, BYTEA_TYPE, 4);
    put_be(array + 12, count, 4);
    put_be(array + 16, 1, 4); /* the first index */
    at = array + HEADER;
    for (size_t i = 0; i < count; i++) {
        struct sql_param key = sql_key(keys[i]);

        put_be(at, key.size, 4);
        memcpy(at + 4, key.data, key.size);
        at += 4 + key.size;
    }
    return (struct sql_param){ array, bytes };
}

static bool is_head(struct slice key)
{
    return key.size == BUCKET_KEY_BYTES + 1 && key_is_kind(key, KEY_HEAD);
}

static enum status fill_values(struct op *op, const struct answer *answer, const struct slice *keys,
                               size_t count, struct slice *values)
{
    struct wanted wanted;
    enum status st = ST_OK;

    wanted_init(&wanted, &op->arena, keys, count, BUCKET_KEY_BYTES);
    for (size_t row = 0; row < answer_rows(answer); row++) {
        const struct wanted_key *end, *at = wanted_find(&wanted, answer_bytes(answer, row, 0), &end);
        struct slice value;

        TRY(row_copy_value(op, answer_bytes(answer, row, 1), &value));
        for (; at < end; at++)
            values[at->number] = value;
    }
out:
    return st;
}

enum status postgres_get_many(struct op *op, struct snapshot *snapshot, const struct slice *keys,
                              size_t count, struct slice *values)
{
    struct sql_param params[2];
    struct answer *answer = NULL;
    uint8_t bytes[8];
    uint64_t id;
    enum status st;

    TRY(op_may_take_long(op));
    if (count == 0)
        goto out;
    id = key_bucket(keys[0]);
    for (size_t i = 0; i < count; i++) {
        assert(key_bucket(keys[i]) == id);
        values[i] = (struct slice){ 0 };
    }
    params[0] = sql_number(bytes, id);
    params[1] = sql_key_array(&op->arena, keys, count);
    TRY(postgres_ask(op, snapshot, SQL_GET_MANY, params, 2, &answer));
    TRY(fill_values(op, answer, keys, count, values));
    for (size_t i = 0; i < count; i++)
        if (is_head(keys[i]))
            TRY(head_value(op, snapshot, id, &values[i]));
out:
    answer_free(answer);
    return st;
}

/* Columns of SQL_GET behind those of the head. */
enum { IS_THERE = 7, VALUE = 8 };

enum status postgres_get_latest(struct op *op, struct bucket *bucket, struct slice key, struct slice *value)
{
    struct get get = { .key = key };
    enum status st;

    assert(!is_head(key)); /* whoever wants the head takes a snapshot */
    TRY(op_may_take_long(op));
    gets_ask(postgres_of(bucket->store), &get);
    if (get.end != LINK_OK)
        TRY(postgres_failed(op, NULL));
    *value = (struct slice){ 0 };
    if (answer_rows(get.answer) == 1) {
        struct head_row row = head_row_of(get.answer, 0);

        postgres_bucket_saw(postgres_bucket_of(bucket), &row);
        if (answer_number(get.answer, 0, IS_THERE))
            TRY(row_copy_value(op, answer_bytes(get.answer, 0, VALUE), value));
    }
out:
    answer_free(get.answer);
    return st;
}

/* ---- scans ---- */

/* The whole key again: the bucket's bytes, and what the table has. */
static struct slice whole_key(struct buf *into, uint64_t id, struct slice rest)
{
    uint8_t bucket[8];

    put_be(bucket, id, BUCKET_KEY_BYTES);
    into->size = 0;
    buf_slice(into, slice_make(bucket, BUCKET_KEY_BYTES));
    buf_slice(into, rest);
    return slice_make(into->data, into->size);
}

/* Keys of another bucket are behind all of this one's, whose kinds are letters. */
static struct sql_param bound_of(uint64_t id, struct slice key)
{
    if (key.size < BUCKET_KEY_BYTES || key_bucket(key) != id)
        return (struct sql_param){ "\xff", 1 };
    return sql_key(key);
}

static enum sql scan_of(const struct range *range)
{
    if (key_is_index(range->from)) /* no values: rows alone bound it */
        return range->reverse ? SQL_SCAN_BACK : SQL_SCAN;
    return range->reverse ? SQL_SCAN_BYTES_BACK : SQL_SCAN_BYTES;
}

/* As many rows as may fit: each has a kind and its bucket's bytes at least. */
static void bound_limit(struct scan_limit *limit)
{
    enum { ROW_BYTES_MIN = BUCKET_KEY_BYTES + 1, BYTES_MAX = 1 << 30 };

    if (limit->bytes > BYTES_MAX)
        limit->bytes = BYTES_MAX;
    if (limit->rows > limit->bytes / ROW_BYTES_MIN + 1)
        limit->rows = limit->bytes / ROW_BYTES_MIN + 1;
}

static bool comes_before(const struct range *range, struct slice key, struct slice other)
{
    int order = slice_compare(key, other);

    return range->reverse ? order > 0 : order < 0;
}

/* The head stands among the rows where its key belongs. */
struct head_among {
    struct slice key, value; /* no value: it is not in the range, or was given out */
};

static enum status find_head(struct op *op, struct snapshot *snapshot, uint64_t id, const struct range *range,
                             struct head_among *head)
{
    enum status st = ST_OK;

    *head = (struct head_among){ .key = key_head(&op->arena, id) };
    if (slice_compare(head->key, range->from) >= 0 && slice_compare(head->key, range->to) < 0)
        TRY(head_value(op, snapshot, id, &head->value));
out:
    return st;
}

static enum status take_row(struct row_block *block, struct slice key, struct slice value)
{
    return row_block_takes(block, key, value) ? row_block_copy(block, key, value) : ST_OK;
}

static enum status take_rows(struct op *op, const struct answer *answer, uint64_t id,
                             const struct range *range, struct head_among *head, struct row_block *block)
{
    struct buf key;
    enum status st = ST_OK;

    buf_init(&key, &op->arena);
    for (size_t i = 0; i < answer_rows(answer) && !block->rows->more; i++) {
        struct slice at = whole_key(&key, id, answer_bytes(answer, i, 0));

        if (key.failed)
            TRY(op_fail(op, ST_TOO_LARGE, "The operation needs more memory than one operation may use."));
        if (head->value.data && comes_before(range, head->key, at)) {
            TRY(take_row(block, head->key, head->value));
            head->value = (struct slice){ 0 };
        }
        if (!block->rows->more)
            TRY(take_row(block, at, answer_bytes(answer, i, 1)));
    }
    if (head->value.data && !block->rows->more)
        TRY(take_row(block, head->key, head->value));
out:
    return st;
}

enum status postgres_scan(struct op *op, struct snapshot *snapshot, struct range range,
                          struct scan_limit limit, struct rows *rows)
{
    uint64_t id = key_bucket(range.from);
    enum sql sql = scan_of(&range);
    uint8_t bytes[3][8];
    struct sql_param params[5] = { sql_number(bytes[0], id), bound_of(id, range.from),
                                   bound_of(id, range.to) };
    struct answer *answer = NULL;
    struct head_among head;
    struct row_block block;
    enum status st;

    bound_limit(&limit);
    params[3] = sql_number(bytes[1], limit.rows + 1); /* so that it is known whether there is one more */
    params[4] = sql_number(bytes[2], limit.bytes);
    row_block_init(&block, op, limit, rows);
    TRY(op_may_take_long(op));
    if (slice_compare(range.from, range.to) >= 0)
        goto out;
    TRY(find_head(op, snapshot, id, &range, &head));
    TRY(postgres_ask(op, snapshot, sql, params, sql == SQL_SCAN || sql == SQL_SCAN_BACK ? 4 : 5, &answer));
    TRY(take_rows(op, answer, id, &range, &head, &block));
out:
    answer_free(answer);
    return st;
}
