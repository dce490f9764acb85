/* src/store/postgres_transfer.c - a store in PostgreSQL as rows: which buckets it has, and rows put without a commit of their own. */
#include <assert.h>
#include <string.h>

#include "store/postgres_private.h"

enum status postgres_next_bucket(struct op *op, struct snapshot *snapshot, uint64_t from,
                                 struct bucket_found *found, bool *is_there)
{
    enum { SHARD = 7 }; /* the column behind those of the head */
    struct answer *answer = NULL;
    uint8_t bytes[8];
    struct sql_param least = sql_number(bytes, from);
    struct head_row row;
    enum status st;

    TRY(op_may_take_long(op));
    TRY(postgres_ask(op, snapshot, SQL_NEXT_HEAD, &least, 1, &answer));
    *is_there = answer_rows(answer) == 1;
    if (*is_there) {
        row = head_row_of(answer, 0);
        *found = (struct bucket_found){ (uint64_t)answer_number(answer, 0, SHARD), row.head, row.dropped };
    }
out:
    answer_free(answer);
    return st;
}

bool postgres_entries_are_rows(const struct store *store)
{
    (void)store;
    return true;
}

/* ---- writing ---- */

/* Rows of one bucket that go the same way; each function tells how many statements it has sent. */
struct stretch {
    const struct row *row;
    size_t count;
};

static size_t send_deletes(struct op *op, struct link *link, struct stretch stretch)
{
    struct slice *keys = arena_alloc(&op->arena, stretch.count * sizeof(*keys));
    uint8_t bytes[8];
    struct sql_param params[2] = { sql_number(bytes, key_bucket(stretch.row[0].key)) };

    for (size_t i = 0; i < stretch.count; i++)
        keys[i] = stretch.row[i].key;
    params[1] = sql_key_array(&op->arena, keys, stretch.count);
    link_send(link, SQL_DELETE, params, 2);
    return 1;
}

static size_t send_puts(struct op *op, struct link *link, struct stretch stretch)
{
    enum { PUT_PARAMS_MAX = 257 };
    struct sql_param params[PUT_PARAMS_MAX];
    uint8_t bytes[8];
    size_t statements = 0, taken;

    (void)op;
    params[0] = sql_number(bytes, key_bucket(stretch.row[0].key));
    for (size_t at = 0; at < stretch.count; at += taken, statements++) {
        enum sql sql = sql_put(stretch.count - at, &taken);

        for (size_t i = 0; i < taken; i++) {
            const struct row *row = &stretch.row[at + i];

            params[1 + 2 * i] = sql_key(row->key);
            params[2 + 2 * i] = (struct sql_param){ row->value.data, row->value.size };
        }
        link_send(link, sql, params, 1 + 2 * taken);
    }
    return statements;
}

/*
 * The epoch is 0: it keeps out those who know older definitions, and nobody has known any of this store.
 * The value was made by head_encode().
 */
static size_t send_head(struct op *op, struct link *link, struct stretch stretch)
{
    uint8_t bytes[6][8];
    struct sql_param shard = sql_number(bytes[0], key_bucket(stretch.row[0].key));
    struct head head;
    enum status st = head_decode(op, stretch.row[0].value, &head);

    assert(st == ST_OK);
    link_send(link, SQL_HEAD_MAKE, &shard, 1);
    link_send(link, SQL_ADVANCE,
              (struct sql_param[]){ shard, sql_number(bytes[1], head.lsn),
                                    sql_number(bytes[2], (uint64_t)head.ts_ms),
                                    sql_number(bytes[3], head.counter), sql_number(bytes[4], head.documents),
                                    sql_number(bytes[5], head.document_bytes) },
              6);
    return 2;
}

typedef size_t send_stretch(struct op *op, struct link *link, struct stretch stretch);

static send_stretch *way_of(const struct row *row)
{
    if (!row->value.data)
        return send_deletes;
    return key_is_kind(row->key, KEY_HEAD) ? send_head : send_puts;
}

static size_t send_rows(struct op *op, struct link *link, const struct row *rows, size_t count)
{
    size_t statements = 0, taken;

    for (size_t at = 0; at < count; at += taken) {
        send_stretch *way = way_of(&rows[at]);

        taken = 1;
        while (way != send_head && at + taken < count && way_of(&rows[at + taken]) == way &&
               key_bucket(rows[at + taken].key) == key_bucket(rows[at].key))
            taken++;
        statements += way(op, link, (struct stretch){ &rows[at], taken });
    }
    return statements;
}

/* What was sent in one round trip: the first that did not end well. */
static enum link_end take_all(struct link *link, size_t statements)
{
    enum link_end end = LINK_OK, each;

    for (size_t i = 0; i < statements; i++) {
        each = link_take(link, NULL);
        end = end == LINK_OK ? each : end;
    }
    each = link_end(link);
    return end == LINK_OK ? each : end;
}

/* A connection that fails here is not tried again: whoever copies goes on later from what he finds. */
enum status postgres_load(struct op *op, struct store *store, const struct row *rows, size_t count)
{
    struct postgres *postgres = postgres_of(store);
    struct link *link = links_take(&postgres->calls);
    size_t statements;
    enum status st = ST_OK;

    if (!link)
        TRY(postgres_failed(op, NULL));
    link_send(link, SQL_BEGIN, NULL, 0);
    statements = send_rows(op, link, rows, count) + 2;
    link_send(link, SQL_COMMIT, NULL, 0);
    link_sync(link);
    if (take_all(link, statements) != LINK_OK) {
        st = postgres_failed(op, link);
        link_send(link, SQL_ROLLBACK, NULL, 0); /* the transaction is open where a statement was refused */
        link_sync(link);
        link_leave(link);
    }
    links_give(&postgres->calls, link);
out:
    return st;
}

enum status postgres_clear(struct op *op, struct store *store, uint64_t id)
{
    struct postgres *postgres = postgres_of(store);
    struct link *link = links_take(&postgres->calls);
    uint8_t bytes[8];
    struct sql_param shard = sql_number(bytes, id);
    enum link_end end;
    enum status st = ST_OK;

    if (!link)
        TRY(postgres_failed(op, NULL));
    end = postgres_remove_rows(link, id);
    if (end == LINK_OK) {
        link_send(link, SQL_HEAD_REMOVE, &shard, 1);
        link_sync(link);
        end = take_all(link, 1);
    }
    if (end != LINK_OK)
        st = postgres_failed(op, link);
    links_give(&postgres->calls, link);
out:
    return st;
}
