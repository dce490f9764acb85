/* src/store/plain.c - entries that are keys of the store: scanned in blocks, given out a term at a time. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "keys/keys.h"
#include "store/plain.h"
#include "store/store_private.h"

/* Small at first, because many walks end soon; then large, because a block has its price. */
enum { BLOCK_ROWS_FIRST = 64, BLOCK_ROWS_MAX = 4096, BLOCK_BYTES = 1024 * 1024 };

struct plain_cursor {
    struct entries_cursor cursor;
    struct snapshot *snapshot;
    uint64_t bucket;
    struct entries_walk walk;
    struct range left; /* keys not asked for yet */
    struct arena from_memory, to_memory;
    bool ended; /* there are none */
    size_t block_rows;
    struct rows rows; /* the latest block, in `block` */
    size_t at;
    struct arena block;
    uint64_t number[BLOCK_ROWS_MAX];
};

static struct plain_cursor *plain_of(struct entries_cursor *cursor)
{
    return (struct plain_cursor *)cursor; /* its first member */
}

static void end(struct entries_cursor *cursor)
{
    struct plain_cursor *plain = plain_of(cursor);

    arena_free(&plain->block);
    arena_free(&plain->from_memory);
    arena_free(&plain->to_memory);
    free(plain);
}

/* The rows lie in the cursor's own memory: the operation's is the reader's. */
static enum status scan_block(struct op *op, struct plain_cursor *cursor)
{
    struct scan_limit limit = { .rows = cursor->block_rows, .bytes = BLOCK_BYTES };
    struct arena readers = op->arena;
    enum status st;

    arena_reset(&cursor->block);
    op->arena = cursor->block;
    st = store_scan(op, cursor->snapshot, cursor->left, limit, &cursor->rows);
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

    assert(!cursor->ended);
    assert(cursor->at == cursor->rows.count); /* the block before was given out whole */
    TRY(op_check(op));
    TRY(scan_block(op, cursor));
    assert(cursor->rows.count <= BLOCK_ROWS_MAX); /* take_term() has room for the numbers of one block */
    assert(cursor->rows.count > 0 || !cursor->rows.more);
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

static bool is_wanted(const struct entries_walk *walk, uint64_t number)
{
    return number >= walk->first && number <= walk->last;
}

/* From the rows that are there: those of the first term that has a wanted one. */
static enum status take_term(struct op *op, struct plain_cursor *cursor, struct entries_block *block)
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

static enum status next(struct op *op, struct entries_cursor *cursor, struct entries_block *block)
{
    struct plain_cursor *plain = plain_of(cursor);
    enum status st = ST_OK;

    *block = (struct entries_block){ .number = plain->number };
    while (!block->count) {
        if (plain->at == plain->rows.count) {
            if (plain->ended)
                break;
            TRY(refill(op, plain));
        }
        TRY(take_term(op, plain, block));
    }
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

    assert(!cursor->ended);
    if (left->reverse && slice_compare(key, left->to) < 0)
        left->to = bound_at(&cursor->to_memory, key, true);
    if (!left->reverse && slice_compare(key, left->from) > 0)
        left->from = bound_at(&cursor->from_memory, key, false);
    cursor->ended = slice_compare(left->from, left->to) >= 0;
}

static enum status seek(struct op *op, struct entries_cursor *cursor, struct slice term, uint64_t number)
{
    struct plain_cursor *plain = plain_of(cursor);
    struct arena_mark mark = arena_mark(&op->arena);
    struct slice key = key_index(&op->arena, plain->bucket, term, number);

    while (plain->at < plain->rows.count && comes_before(plain, plain->rows.row[plain->at].key, key))
        plain->at++;
    if (plain->at == plain->rows.count && !plain->ended)
        narrow(plain, key);
    arena_rewind(&op->arena, mark);
    return ST_OK;
}

static const struct entries_ops plain_ops = { next, seek, end };

enum status plain_open(struct op *op, struct snapshot *snapshot, const struct entries_walk *walk,
                       struct entries_cursor **cursor)
{
    struct plain_cursor *made = heap_allocate(sizeof(*made));

    (void)op;
    made->cursor.ops = &plain_ops;
    made->snapshot = snapshot;
    made->bucket = snapshot->bucket->id;
    made->walk = *walk;
    made->block_rows = BLOCK_ROWS_FIRST;
    arena_init(&made->block, SIZE_MAX);
    arena_init(&made->from_memory, SIZE_MAX);
    arena_init(&made->to_memory, SIZE_MAX);
    made->left = (struct range){ key_index_term(&made->from_memory, made->bucket, walk->from),
                                 key_index_term(&made->to_memory, made->bucket, walk->to), walk->reverse };
    made->ended = slice_compare(made->left.from, made->left.to) >= 0;
    *cursor = &made->cursor;
    return ST_OK;
}

/* ---- counting ---- */

/* `most` is where it stops. */
static enum status count_up_to(struct op *op, struct snapshot *snapshot, struct slice from, struct slice to,
                               uint64_t most, uint64_t *count)
{
    struct entries_walk walk = { .from = from, .to = to, .last = UINT64_MAX };
    struct entries_cursor *cursor = NULL;
    struct entries_block block;
    enum status st;

    *count = 0;
    TRY(plain_open(op, snapshot, &walk, &cursor));
    do {
        TRY(store_entries_next(op, cursor, &block));
        *count += block.count;
    } while (block.count && *count < most);
out:
    store_entries_end(cursor);
    return st;
}

/* Plain keys know no counts: past a few hundred, it is taken for a quarter of the documents. */
enum status plain_count(struct op *op, struct snapshot *snapshot, struct slice from, struct slice to,
                        bool rough, uint64_t *count)
{
    enum { LOOKED_AT_MAX = 300 };
    struct bucket_usage usage;
    enum status st;

    TRY(count_up_to(op, snapshot, from, to, rough ? LOOKED_AT_MAX : UINT64_MAX, count));
    if (rough && *count >= LOOKED_AT_MAX && bucket_usage(snapshot->bucket, &usage) &&
        usage.documents / 4 > *count)
        *count = usage.documents / 4;
out:
    return st;
}
