/* src/partition/verify.c - every entry made again from the items, and compared with the index both ways. */
#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "index/set.h"
#include "keys/bytes.h"
#include "keys/keys.h"
#include "partition/indexed.h"
#include "partition/verify.h"

enum { BLOCK_ROWS = 500, BLOCK_BYTES = 4 * 1024 * 1024 };

/* The sums of a set of entries. Two sets with the same sums are taken for the same. */
struct tally {
    uint64_t count, sum1, sum2;
};

struct verification {
    const struct container *container;
    const struct view *view;
    struct tally expected, found;
    struct verify_result *result;
    struct op block; /* what one block of items needs */
};

typedef enum status visit_item(struct op *op, struct verification *v, const struct record *item,
                               const struct index_terms *terms);

static void count(struct tally *tally, struct slice term, uint64_t number)
{
    struct hash128 hash = murmur3_128(term.data, term.size);
    uint64_t mixed[3] = { hash.h1, hash.h2, number };

    hash = murmur3_128(mixed, sizeof(mixed));
    tally->count++;
    tally->sum1 += hash.h1;
    tally->sum2 += hash.h2;
}

static bool same(const struct tally *a, const struct tally *b)
{
    return a->count == b->count && a->sum1 == b->sum1 && a->sum2 == b->sum2;
}

/* --- items --- */

static enum status visit_rows(struct op *op, struct verification *v, const struct rows *rows,
                              visit_item *visit)
{
    struct index_terms terms;
    struct record item;
    enum status st = ST_OK;

    for (size_t i = 0; i < rows->count; i++) {
        if (record_decode(op, rows->row[i].value, &item) != ST_OK || !json_check(json_bytes(item.document)))
            continue;
        TRY(indexed_terms(op, v->container, &item, &terms));
        TRY(visit(op, v, &item, &terms));
    }
out:
    return st;
}

static enum status visit_block(struct verification *v, struct buf *from, bool *more, visit_item *visit)
{
    uint64_t bucket = v->container->bucket_id;
    struct op *op = &v->block;
    struct range range;
    struct rows rows;
    enum status st;

    op_begin(op, INT64_MAX / 2);
    op->may_block = true;
    range = (struct range){ buf_as_slice(from), key_kind_end(&op->arena, bucket, KEY_DOCUMENT), false };
    TRY(view_scan(op, v->view, range, (struct scan_limit){ BLOCK_ROWS, BLOCK_BYTES }, &rows));
    TRY(visit_rows(op, v, &rows, visit));
    assert(rows.count > 0 || !rows.more); /* each block goes on behind the one before it */
    *more = rows.more;
    if (rows.count)
        key_step_behind(from, rows.row[rows.count - 1].key);
out:
    return st;
}

static enum status visit_items(struct op *op, struct verification *v, visit_item *visit)
{
    struct buf from;
    bool more = true;
    enum status st = ST_OK;

    buf_init(&from, &op->arena);
    buf_slice(&from, key_kind_first(&op->arena, v->container->bucket_id, KEY_DOCUMENT));
    while (more)
        TRY(visit_block(v, &from, &more, visit));
out:
    if (st != ST_OK && v->block.error)
        op_set_error(op, "%s", v->block.error);
    return st;
}

static enum status count_item(struct op *op, struct verification *v, const struct record *item,
                              const struct index_terms *terms)
{
    (void)op;
    for (size_t i = 0; i < terms->count; i++)
        count(&v->expected, terms->term[i], item->number);
    return ST_OK;
}

static enum status has_entry(struct op *op, struct verification *v, struct slice term, uint64_t number,
                             bool *has)
{
    struct index_walk walk = { term, index_prefix_end(&op->arena, term), number, number, false };
    struct index_cursor *cursor = NULL;
    struct index_block block;
    enum status st;

    TRY(index_cursor_open(op, v->view, &walk, &cursor));
    TRY(index_cursor_next(op, cursor, &block));
    *has = block.count == 1;
out:
    index_cursor_close(cursor);
    return st;
}

static enum status look_for_entries(struct op *op, struct verification *v, const struct record *item,
                                    const struct index_terms *terms)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < terms->count; i++) {
        bool has;

        TRY(has_entry(op, v, terms->term[i], item->number, &has));
        if (has)
            continue;
        v->result->missing++;
        v->result->document = item->number;
    }
out:
    return st;
}

/* --- entries --- */

typedef enum status visit_entry(struct op *op, struct verification *v, struct slice term, uint64_t number);

static enum status visit_entries(struct op *op, struct verification *v, visit_entry *visit)
{
    uint8_t behind[TERM_PATH_BYTES + 1];
    struct index_walk walk = { .from = slice_of(""),
                               .to = slice_make(behind, sizeof(behind)),
                               .last = UINT64_MAX };
    struct index_cursor *cursor = NULL;
    struct index_block block;
    enum status st;

    memset(behind, 0xff, sizeof(behind));
    TRY(index_cursor_open(op, v->view, &walk, &cursor));
    do {
        TRY(index_cursor_next(op, cursor, &block));
        for (size_t i = 0; i < block.count; i++)
            TRY(visit(op, v, block.term, block.number[i]));
    } while (block.count);
out:
    index_cursor_close(cursor);
    return st;
}

static enum status count_entry(struct op *op, struct verification *v, struct slice term, uint64_t number)
{
    (void)op;
    count(&v->found, term, number);
    return ST_OK;
}

static bool is_among(const struct index_terms *terms, struct slice term)
{
    for (size_t i = 0; i < terms->count; i++)
        if (slice_equal(terms->term[i], term))
            return true;
    return false;
}

static enum status look_for_item(struct op *op, struct verification *v, struct slice term, uint64_t number)
{
    struct slice key, value;
    struct index_terms terms = { 0 };
    struct record item;
    enum status st;

    (void)op;
    op_begin(&v->block, INT64_MAX / 2);
    v->block.may_block = true;
    key = key_document(&v->block.arena, v->container->bucket_id, number);
    TRY(view_get(&v->block, v->view, key, &value));
    if (value.data && record_decode(&v->block, value, &item) == ST_OK)
        TRY(indexed_terms(&v->block, v->container, &item, &terms));
    if (is_among(&terms, term))
        goto out;
    v->result->extra++;
    v->result->document = number;
out:
    return st;
}

enum status verify_index(struct op *op, const struct container *container, const struct view *view,
                         struct verify_result *result)
{
    struct verification v = { .container = container, .view = view, .result = result };
    enum status st;

    assert(view->bucket == container->bucket);
    *result = (struct verify_result){ 0 };
    op_init(&v.block, op->env, SIZE_MAX);
    TRY(visit_items(op, &v, count_item));
    TRY(visit_entries(op, &v, count_entry));
    result->expected = v.expected.count;
    result->found = v.found.count;
    if (!same(&v.expected, &v.found)) {
        TRY(visit_items(op, &v, look_for_entries));
        TRY(visit_entries(op, &v, look_for_item));
    }
out:
    op_free(&v.block);
    return st;
}
