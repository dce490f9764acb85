/* src/index/plain.c - entries that are keys of the store: scanned in blocks, given out a term at a time. */
#include <stdlib.h>

#include "base/heap.h"
#include "index/plain.h"
#include "keys/keys.h"

/* Small at first, because many walks end soon; then large, because a block has its price. */
enum { BLOCK_ROWS_FIRST = 64, BLOCK_ROWS_MAX = 4096, BLOCK_BYTES = 1024 * 1024 };

struct plain_cursor {
    const struct view *view;
    struct index_walk walk;
    struct range left; /* keys not asked for yet */
    struct arena from_memory, to_memory;
    bool ended; /* there are none */
    size_t block_rows;
    struct rows rows; /* the latest block, in `block` */
    size_t at;
    struct arena block;
    uint64_t number[BLOCK_ROWS_MAX];
};

enum status plain_open(struct op *op, const struct view *view, const struct index_walk *walk,
                       struct plain_cursor **cursor)
{
    struct plain_cursor *made = heap_allocate(sizeof(*made));
    uint64_t bucket = bucket_id(view->bucket);

    (void)op;
    made->view = view;
    made->walk = *walk;
    made->block_rows = BLOCK_ROWS_FIRST;
    arena_init(&made->block, SIZE_MAX);
    arena_init(&made->from_memory, SIZE_MAX);
    arena_init(&made->to_memory, SIZE_MAX);
    made->left = (struct range){ key_index_term(&made->from_memory, bucket, walk->from),
                                 key_index_term(&made->to_memory, bucket, walk->to), walk->reverse };
    made->ended = slice_compare(made->left.from, made->left.to) >= 0;
    *cursor = made;
    return ST_OK;
}

void plain_end(struct plain_cursor *cursor)
{
    if (!cursor)
        return;
    arena_free(&cursor->block);
    arena_free(&cursor->from_memory);
    arena_free(&cursor->to_memory);
    free(cursor);
}

/* The rows lie in the cursor's own memory: the operation's is the reader's. */
static enum status scan_block(struct op *op, struct plain_cursor *cursor)
{
    struct scan_limit limit = { .rows = cursor->block_rows, .bytes = BLOCK_BYTES };
    struct arena readers = op->arena;
    enum status st;

    arena_reset(&cursor->block);
    op->arena = cursor->block;
    st = store_scan(op, cursor->view->snapshot, cursor->left, limit, &cursor->rows);
    cursor->block = op->arena;
    op->arena = readers;
    if (st != ST_OK && op->error)
        op->error = arena_text(&op->arena, slice_of(op->error));
    return st;
}

/* The least key behind one, or the same key: where a bound lies that keeps it out, or in. */
static struct slice bound_at(struct arena *memory, struct slice key, bool behind)
{
    char *bound;

    arena_reset(memory);
    bound = arena_alloc(memory, key.size + 1);
    memcpy(bound, key.data, key.size);
    bound[key.size] = '\0';
    return slice_make(bound, key.size + behind);
}

static enum status refill(struct op *op, struct plain_cursor *cursor)
{
    enum status st;

    TRY(op_check(op));
    TRY(scan_block(op, cursor));
    cursor->at = 0;
    cursor->ended = !cursor->rows.more;
    if (cursor->rows.more) {
        struct slice last = cursor->rows.row[cursor->rows.count - 1].key;

        if (cursor->walk.reverse)
            cursor->left.to = bound_at(&cursor->to_memory, last, false);
        else
            cursor->left.from = bound_at(&cursor->from_memory, last, true);
    }
    if (cursor->block_rows < BLOCK_ROWS_MAX)
        cursor->block_rows *= 4;
out:
    return st;
}

struct entry {
    struct slice term;
    uint64_t number;
};

static enum status read_entry(struct op *op, struct slice key, struct entry *entry)
{
    struct key_parts parts;

    if (!key_parse(key, &parts) || !key_parse_index(&parts, &entry->term, &entry->number))
        return op_fail(op, ST_CORRUPT, "the index has a malformed key");
    return ST_OK;
}

static bool is_wanted(const struct index_walk *walk, uint64_t number)
{
    return number >= walk->first && number <= walk->last;
}

/* From the rows that are there: those of the first term that has a wanted one. */
static enum status take_term(struct op *op, struct plain_cursor *cursor, struct index_block *block)
{
    struct entry entry;
    enum status st = ST_OK;

    for (; cursor->at < cursor->rows.count; cursor->at++) {
        TRY(read_entry(op, cursor->rows.row[cursor->at].key, &entry));
        if (block->count && !slice_equal(block->term, entry.term))
            break;
        if (!is_wanted(&cursor->walk, entry.number))
            continue;
        block->term = entry.term;
        cursor->number[block->count++] = entry.number;
    }
out:
    return st;
}

enum status plain_next(struct op *op, struct plain_cursor *cursor, struct index_block *block)
{
    enum status st = ST_OK;

    *block = (struct index_block){ .number = cursor->number };
    while (!block->count) {
        if (cursor->at == cursor->rows.count) {
            if (cursor->ended)
                break;
            TRY(refill(op, cursor));
        }
        TRY(take_term(op, cursor, block));
    }
    op->work.entries_read += block->count;
out:
    return st;
}

/* Whether a key comes before another in the walk's order. */
static bool comes_before(const struct plain_cursor *cursor, struct slice key, struct slice other)
{
    int order = slice_compare(key, other);

    return cursor->walk.reverse ? order > 0 : order < 0;
}

/* The keys not asked for begin, or in reverse end, with this one. */
static void narrow(struct plain_cursor *cursor, struct slice key)
{
    struct range *left = &cursor->left;

    if (left->reverse && slice_compare(key, left->to) < 0)
        left->to = bound_at(&cursor->to_memory, key, true);
    if (!left->reverse && slice_compare(key, left->from) > 0)
        left->from = bound_at(&cursor->from_memory, key, false);
    cursor->ended = slice_compare(left->from, left->to) >= 0;
}

enum status plain_seek(struct op *op, struct plain_cursor *cursor, struct slice term, uint64_t number)
{
    struct arena_mark mark = arena_mark(&op->arena);
    struct slice key = key_index(&op->arena, bucket_id(cursor->view->bucket), term, number);

    while (cursor->at < cursor->rows.count && comes_before(cursor, cursor->rows.row[cursor->at].key, key))
        cursor->at++;
    if (cursor->at == cursor->rows.count && !cursor->ended)
        narrow(cursor, key);
    arena_rewind(&op->arena, mark);
    return ST_OK;
}

enum status plain_count(struct op *op, const struct view *view, struct slice from, struct slice to,
                        uint64_t most, uint64_t *count)
{
    struct index_walk walk = { .from = from, .to = to, .last = UINT64_MAX };
    struct plain_cursor *cursor = NULL;
    struct index_block block;
    enum status st;

    *count = 0;
    TRY(plain_open(op, view, &walk, &cursor));
    do {
        TRY(plain_next(op, cursor, &block));
        *count += block.count;
    } while (block.count && *count < most);
out:
    plain_end(cursor);
    return st;
}
