/* src/store/view.c - merges the rows of a snapshot with the writes of a batch, in both directions. */
#include <assert.h>

#include "store/rows.h"
#include "store/view.h"

/* Deletions thin out what the snapshot gives. The first scan asks for up to so many rows more, to make up for them. */
enum { OVERLAP_MAX = 64 };

enum status view_open(struct op *op, struct bucket *bucket, struct batch *writes, struct view *view)
{
    assert(!writes || batch_bucket(writes) == bucket_id(bucket));
    *view = (struct view){ .bucket = bucket, .writes = writes };
    return store_snapshot(op, bucket, &view->snapshot);
}

void view_open_over(struct snapshot *snapshot, struct bucket *bucket, struct batch *writes, struct view *view)
{
    assert(!writes || batch_bucket(writes) == bucket_id(bucket));
    *view = (struct view){ .bucket = bucket, .snapshot = snapshot, .writes = writes };
}

void view_close(struct view *view)
{
    store_release(view->snapshot);
    *view = (struct view){ 0 };
}

static bool has_writes(const struct view *view)
{
    return view->writes && !batch_is_empty(view->writes);
}

/* What the batch does not answer is asked of the snapshot in one call. */
enum status view_get_many(struct op *op, const struct view *view, const struct slice *keys, size_t count,
                          struct slice *values)
{
    struct slice *asked_keys, *asked_values;
    size_t *asked, asked_count = 0;
    enum status st = ST_OK;

    assert(view->snapshot); /* the view is open */
    if (!has_writes(view))
        return store_get_many(op, view->snapshot, keys, count, values);
    asked = arena_alloc(&op->arena, count * sizeof(*asked));
    asked_keys = arena_alloc(&op->arena, 2 * count * sizeof(*asked_keys));
    asked_values = asked_keys + count;
    for (size_t i = 0; i < count; i++) {
        const struct batch_entry *entry = batch_find(view->writes, keys[i]);

        if (entry) {
            values[i] = entry->value;
            continue;
        }
        asked[asked_count] = i;
        asked_keys[asked_count++] = keys[i];
    }
    if (asked_count > 0)
        TRY(store_get_many(op, view->snapshot, asked_keys, asked_count, asked_values));
    for (size_t i = 0; i < asked_count; i++)
        values[asked[i]] = asked_values[i];
out:
    return st;
}

enum status view_get_items(struct op *op, const struct view *view, const struct slice *keys, size_t count,
                           struct slice *values)
{
    assert(view->snapshot);
    if (has_writes(view)) /* the transaction may write what it reads: it is to see nothing but its moment */
        return view_get_many(op, view, keys, count, values);
    return store_get_items(op, view->snapshot, keys, count, values);
}

/* Two sorted lists: what is left of the snapshot's latest block, and the batch. */
struct merge {
    const struct view *view;
    struct range left; /* of the snapshot, not yet asked for */
    struct range range;
    struct rows block;
    size_t at;                       /* in the block */
    const struct batch_entry *entry; /* NULL past the range's end */
};

/* NULL when the entry lies outside the range. */
static const struct batch_entry *within(const struct batch_entry *entry, const struct range *range)
{
    if (!entry || slice_compare(entry->key, range->from) < 0 || slice_compare(entry->key, range->to) >= 0)
        return NULL;
    return entry;
}

static const struct batch_entry *following(const struct batch_entry *entry, const struct range *range)
{
    assert(entry); /* behind the last one there is nothing */
    return within(range->reverse ? batch_previous(entry) : batch_next(entry), range);
}

static void merge_init(struct merge *merge, const struct view *view, struct range range)
{
    const struct batch_entry *entry =
        range.reverse ? batch_before(view->writes, range.to) : batch_at_or_after(view->writes, range.from);

    *merge = (struct merge){ .view = view, .left = range, .range = range, .block = { .more = true } };
    merge->entry = within(entry, &range);
}

/* How many rows to ask for so that `rows` are left after deletions, and one to tell whether there are more. */
static size_t rows_wanted(const struct merge *merge, size_t rows)
{
    const struct batch_entry *entry = merge->entry;
    size_t extra = 1;

    while (entry && extra <= OVERLAP_MAX && extra <= rows) {
        extra++;
        entry = following(entry, &merge->range);
    }
    return rows > SIZE_MAX - extra ? rows : rows + extra;
}

/* The least key after another. */
static struct slice key_after(struct op *op, struct slice key)
{
    char *next = arena_alloc(&op->arena, key.size + 1);

    memcpy(next, key.data, key.size);
    next[key.size] = '\0';
    return slice_make(next, key.size + 1);
}

static enum status refill(struct op *op, struct merge *merge, struct scan_limit limit)
{
    enum status st;

    assert(merge->at == merge->block.count); /* the block before was passed on whole */
    assert(merge->block.more);
    limit.rows = rows_wanted(merge, limit.rows);
    merge->at = 0;
    TRY(store_scan(op, merge->view->snapshot, merge->left, limit, &merge->block));
    assert(merge->block.count > 0 || !merge->block.more);
    if (merge->block.more) {
        struct slice last = merge->block.row[merge->block.count - 1].key;

        if (merge->left.reverse)
            merge->left.to = last;
        else
            merge->left.from = key_after(op, last);
    }
out:
    return st;
}

/* Below 0: the snapshot's row is next; above 0: the batch's entry; 0: they are one key. */
static int which_is_next(const struct merge *merge, const struct row *row)
{
    int order;

    if (!merge->entry)
        return -1;
    if (!row)
        return 1;
    order = slice_compare(row->key, merge->entry->key);
    return merge->range.reverse ? -order : order;
}

/* The next row that the view shows; key.data is NULL at the end. */
static enum status merge_next(struct op *op, struct merge *merge, struct scan_limit limit, struct row *next)
{
    enum status st = ST_OK;

    for (*next = (struct row){ 0 }; !next->value.data;) {
        const struct row *row;
        int which;

        if (merge->at == merge->block.count && merge->block.more)
            TRY(refill(op, merge, limit));
        row = merge->at < merge->block.count ? &merge->block.row[merge->at] : NULL;
        if (!row && !merge->entry)
            break;
        which = which_is_next(merge, row);
        if (which < 0)
            *next = *row;
        else /* a deletion has no value, and the loop goes on */
            *next = (struct row){ merge->entry->key, merge->entry->value };
        if (which <= 0)
            merge->at++;
        if (which >= 0)
            merge->entry = following(merge->entry, &merge->range);
    }
    if (!next->value.data)
        next->key.data = NULL;
out:
    return st;
}

enum status view_scan(struct op *op, const struct view *view, struct range range, struct scan_limit limit,
                      struct rows *rows)
{
    struct row_block block;
    struct merge merge;
    struct row next;
    enum status st;

    assert(view->snapshot);
    if (!has_writes(view))
        return store_scan(op, view->snapshot, range, limit, rows);
    row_block_init(&block, op, limit, rows);
    merge_init(&merge, view, range);
    for (;;) {
        TRY(merge_next(op, &merge, limit, &next));
        if (!next.key.data || !row_block_takes(&block, next.key, next.value))
            break;
        TRY(row_block_add(&block, next.key, next.value));
    }
out:
    return st;
}
