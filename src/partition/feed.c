/* src/partition/feed.c - the log read in blocks, and what each change left of its item. */
#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "keys/keys.h"
#include "partition/expiry.h"
#include "partition/feed.h"

enum { BLOCK_ROWS_MIN = 8, BLOCK_ROWS_FIRST = 128, BLOCK_ROWS_MAX = 4096, BLOCK_BYTES = 4 * 1024 * 1024 };

/*
 * How long a reader may wait while the feed passes over changes outside its scope. An earlier empty page would be
 * worse: some SDKs take it for the end.
 */
enum { LOOK_MS_MAX = 2000 };

struct feed_row {
    struct change change;
    struct log_place place;
    struct slice image; /* the record after the change; data is NULL when nobody asks, or it is not known */
};

/* --- opening --- */

/* As many rows as a block has memory for, if their items are as large as the container's items are on average. */
static size_t rows_of_head(const struct head *head)
{
    size_t average = head->counts && head->documents ? head->document_bytes / head->documents : 1024;
    size_t rows = BLOCK_BYTES / (average + 1);

    return rows < BLOCK_ROWS_MIN ? BLOCK_ROWS_MIN : rows < BLOCK_ROWS_MAX ? rows : BLOCK_ROWS_MAX;
}

static enum status read_marks(struct op *op, struct partition_feed *feed)
{
    struct slice key = key_trimmed(&op->arena, feed->container->bucket_id), value;
    struct trimmed trimmed;
    struct head head;
    enum status st;

    TRY(store_snapshot_head(op, feed->view.snapshot, &head));
    TRY(view_get(op, &feed->view, key, &value));
    TRY(trimmed_decode(op, value, &trimmed));
    feed->head_lsn = head.lsn;
    feed->trimmed_lsn = trimmed.lsn;
    feed->block_rows_max = rows_of_head(&head);
    partition_feed_expect(feed, BLOCK_ROWS_FIRST);
out:
    return st;
}

/* The snapshot of the part's bucket is the feed's from here on. */
static void take_snapshot(struct partition_feed *feed, struct snapshot *snapshot,
                          const struct container *part, const struct partition_scope *scope,
                          enum feed_mode mode)
{
    *feed = (struct partition_feed){ .container = part, .scope = *scope, .mode = mode };
    view_open_over(snapshot, part->bucket, NULL, &feed->view);
}

static enum status begin(struct op *op, struct partition_feed *feed)
{
    enum status st;

    op_arena(op, &feed->memory, OP_MEMORY_BYTES_MAX);
    feed->span = partition_scope_span(feed->container, &feed->scope);
    feed->until_ms = env_monotonic_ms(op->env) + LOOK_MS_MAX;
    TRY(read_marks(op, feed));
    partition_feed_after(feed, 0);
out:
    return st;
}

enum status partition_feed_open(struct op *op, const struct container *container,
                                const struct partition_scope *scope, enum feed_mode mode,
                                struct partition_feed *feed)
{
    struct snapshot *snapshot;
    enum status st;

    container = partition_scope_part(container, scope);
    assert(container);
    TRY(store_snapshot(op, container->bucket, &snapshot));
    take_snapshot(feed, snapshot, container, scope, mode);
    TRY(begin(op, feed));
out:
    return st;
}

enum status partition_feed_open_together(struct op *op, const struct container *container,
                                         const struct partition_scope *scope, enum feed_mode mode,
                                         struct partition_feed *feeds)
{
    uint32_t count = container->part_count;
    struct bucket **buckets = arena_alloc(&op->arena, count * sizeof(struct bucket *));
    struct snapshot **snapshots = arena_alloc(&op->arena, count * sizeof(struct snapshot *));
    enum status st;

    for (uint32_t i = 0; i < count; i++)
        buckets[i] = container->part[i]->bucket;
    TRY(store_snapshot_together(op, buckets, count, snapshots));
    for (uint32_t i = 0; i < count; i++)
        take_snapshot(&feeds[i], snapshots[i], container->part[i], scope, mode);
    for (uint32_t i = 0; i < count; i++)
        TRY(begin(op, &feeds[i]));
out:
    return st;
}

void partition_feed_close(struct partition_feed *feed)
{
    view_close(&feed->view);
    arena_free(&feed->memory);
}

void partition_feed_expect(struct partition_feed *feed, size_t entries)
{
    size_t rows = entries < BLOCK_ROWS_MIN ? BLOCK_ROWS_MIN : entries;

    assert(feed->block_rows_max >= BLOCK_ROWS_MIN); /* the feed is open */
    feed->block_rows = rows < feed->block_rows_max ? rows : feed->block_rows_max;
}

void partition_feed_after(struct partition_feed *feed, uint64_t lsn)
{
    feed->from = (struct log_place){ lsn + 1, 0 };
    feed->lsn = feed->at_lsn = lsn;
    feed->row_count = feed->at_row = 0;
    feed->more = true;
    feed->paused = feed->tired = false;
}

void partition_feed_behind(struct partition_feed *feed, struct log_place place)
{
    assert(place.lsn > 0);
    partition_feed_after(feed, place.lsn - 1);
    feed->from = (struct log_place){ place.lsn, place.position + 1 };
    feed->at_lsn = place.lsn;
}

static struct range log_behind(struct op *op, const struct partition_feed *feed, struct log_place from)
{
    uint64_t bucket = feed->container->bucket_id;

    return (struct range){ key_log(&op->arena, bucket, from.lsn, from.position),
                           key_kind_end(&op->arena, bucket, KEY_LOG), false };
}

/* The first change of that LSN or a higher one; its LSN is 0 when there is none. */
static enum status change_at(struct op *op, const struct partition_feed *feed, uint64_t lsn,
                             struct change *change)
{
    struct rows rows;
    enum status st;

    *change = (struct change){ 0 };
    TRY(view_scan(op, &feed->view, log_behind(op, feed, (struct log_place){ lsn, 0 }),
                  (struct scan_limit){ 1, BLOCK_BYTES }, &rows));
    if (rows.count)
        TRY(change_decode(op, rows.row[0].value, change));
out:
    return st;
}

/* Times never fall while LSNs rise, so a binary search finds the place. */
enum status partition_feed_since(struct op *op, struct partition_feed *feed, int64_t ms)
{
    uint64_t low = 0;               /* changes up to it are not after that time */
    uint64_t high = feed->head_lsn; /* changes above it are after that time, or there are none */
    enum status st = ST_OK;

    while (low < high) {
        struct arena_mark mark = arena_mark(&op->arena);
        uint64_t middle = low + (high - low + 1) / 2;
        struct change change;

        TRY(change_at(op, feed, middle, &change));
        arena_rewind(&op->arena, mark);
        if (change.lsn && change.ts_ms <= ms)
            low = change.lsn;
        else
            high = middle - 1;
    }
    partition_feed_after(feed, low);
out:
    return st;
}

/* --- a block --- */

/*
 * A row of the block by its item's number. Sorted so, the changes of an item are neighbours, in the order of the log.
 */
struct by_number {
    uint64_t number;
    size_t row;
};

static int compare_numbers(const void *a, const void *b)
{
    const struct by_number *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static bool is_wanted(const struct partition_feed *feed, const struct change *change)
{
    return change->kind != CHANGE_REINDEX && change->number >= feed->span.from &&
           change->number < feed->span.to;
}

static struct by_number *sort_rows(struct op *op, const struct partition_feed *feed, size_t *count)
{
    struct by_number *list = arena_alloc(&op->arena, (feed->row_count + 1) * sizeof(*list));

    *count = 0;
    for (size_t i = 0; i < feed->row_count; i++)
        if (is_wanted(feed, &feed->row[i].change))
            list[(*count)++] = (struct by_number){ feed->row[i].change.number, i };
    qsort(list, *count, sizeof(*list), compare_numbers);
    return list;
}

/* Keys that a block asks the store for together, each for one of its rows. */
struct question {
    struct feed_row **row;
    struct slice *key, *value;
    size_t count, most;
};

static struct question question_of(struct op *op, size_t most)
{
    return (struct question){ .most = most,
                              .row = arena_alloc(&op->arena, (most + 1) * sizeof(struct feed_row *)),
                              .key = arena_alloc(&op->arena, (most + 1) * sizeof(struct slice)),
                              .value = arena_alloc(&op->arena, (most + 1) * sizeof(struct slice)) };
}

static void question_add(struct question *question, struct feed_row *row, struct slice key)
{
    assert(question->count < question->most);
    question->row[question->count] = row;
    question->key[question->count++] = key;
}

static enum status ask(struct op *op, const struct partition_feed *feed, struct question *question)
{
    if (question->count == 0)
        return ST_OK;
    return view_get_many(op, &feed->view, question->key, question->count, question->value);
}

/* Reads the items as they are now. The giving functions check whether an item is still what the change left. */
static enum status find_items(struct op *op, const struct partition_feed *feed, struct question *items)
{
    enum status st;

    TRY(ask(op, feed, items));
    for (size_t i = 0; i < items->count; i++)
        items->row[i]->image = items->value[i];
out:
    return st;
}

/* Only an item's last change in the block can be its last change at all. */
static enum status find_latest(struct op *op, struct partition_feed *feed)
{
    uint64_t bucket = feed->container->bucket_id;
    size_t count;
    struct by_number *list = sort_rows(op, feed, &count);
    struct question items = question_of(op, count);

    for (size_t i = 0; i < count; i++) {
        struct feed_row *row = &feed->row[list[i].row];

        if ((i + 1 == count || list[i + 1].number != list[i].number) && row->change.kind != CHANGE_DELETE)
            question_add(&items, row, key_document(&op->arena, bucket, row->change.number));
    }
    return find_items(op, feed, &items);
}

/* Reads the changes that ended the versions: each holds the version as its old record. */
static enum status find_ended(struct op *op, const struct partition_feed *feed, struct question *changes)
{
    enum status st;

    TRY(ask(op, feed, changes));
    for (size_t i = 0; i < changes->count; i++) {
        struct change change;

        if (!changes->value[i].data)
            continue;
        TRY(change_decode(op, changes->value[i], &change));
        changes->row[i]->image = change.old_record;
    }
out:
    return st;
}

/* A version was ended by a change, which the version's key leads to; otherwise it is the item as it is now. */
static enum status find_versions(struct op *op, const struct partition_feed *feed, struct question *next)
{
    uint64_t bucket = feed->container->bucket_id;
    struct question changes = question_of(op, next->count), items = question_of(op, next->count);
    struct log_place place;
    enum status st;

    TRY(ask(op, feed, next));
    for (size_t i = 0; i < next->count; i++) {
        struct feed_row *row = next->row[i];

        if (!next->value[i].data) {
            question_add(&items, row, key_document(&op->arena, bucket, row->change.number));
            continue;
        }
        TRY(next_decode(op, next->value[i], &place));
        question_add(&changes, row, key_log(&op->arena, bucket, place.lsn, place.position));
    }
    TRY(find_ended(op, feed, &changes));
    TRY(find_items(op, feed, &items));
out:
    return st;
}

/* The item's next change in the block holds what this change left. For an item's last change the store is asked. */
static enum status find_all(struct op *op, struct partition_feed *feed)
{
    uint64_t bucket = feed->container->bucket_id;
    size_t count;
    struct by_number *list = sort_rows(op, feed, &count);
    struct question next = question_of(op, count);

    for (size_t i = 0; i < count; i++) {
        struct feed_row *row = &feed->row[list[i].row];

        if (i + 1 < count && list[i + 1].number == list[i].number)
            row->image = feed->row[list[i + 1].row].change.old_record;
        else if (row->change.kind != CHANGE_DELETE)
            question_add(&next, row, key_next(&op->arena, bucket, row->change.lsn, row->change.number));
    }
    return find_versions(op, feed, &next);
}

static enum status read_row(struct op *op, const struct row *row, struct feed_row *read)
{
    struct key_parts key;
    enum status st;

    *read = (struct feed_row){ 0 };
    TRY(change_decode(op, row->value, &read->change));
    if (!key_parse(row->key, &key) || !key_parse_log(&key, &read->place.lsn, &read->place.position))
        TRY(op_fail(op, ST_CORRUPT, "the log has a malformed key"));
out:
    return st;
}

static enum status fill_block(struct op *op, struct partition_feed *feed)
{
    struct scan_limit limit = { feed->block_rows, BLOCK_BYTES };
    struct rows rows;
    enum status st;

    TRY(view_scan(op, &feed->view, log_behind(op, feed, feed->from), limit, &rows));
    feed->row = arena_alloc(&op->arena, (rows.count + 1) * sizeof(*feed->row));
    for (size_t i = 0; i < rows.count; i++)
        TRY(read_row(op, &rows.row[i], &feed->row[i]));
    feed->row_count = rows.count;
    feed->more = rows.more;
    TRY(feed->mode == FEED_ALL ? find_all(op, feed) : find_latest(op, feed));
    if (rows.count) {
        feed->from = feed->row[rows.count - 1].place;
        feed->from.position++;
    }
out:
    return st;
}

/* Reads the block into the feed's own memory, because the op's arena is the reader's. */
static enum status try_block(struct op *op, struct partition_feed *feed)
{
    struct arena readers = op->arena;
    enum status st;

    arena_reset(&feed->memory);
    feed->row_count = feed->at_row = 0;
    op->arena = feed->memory;
    st = fill_block(op, feed);
    feed->memory = op->arena;
    op->arena = readers;
    if (st != ST_OK && op->error)
        op->error = arena_text(&op->arena, slice_of(op->error));
    return st;
}

/* Items may be larger than the average. A block that does not fit is read again as a smaller one. */
static enum status read_block(struct op *op, struct partition_feed *feed)
{
    enum status st;

    assert(feed->at_row == feed->row_count); /* nobody needs the block before it any more */
    TRY(op_check(op));
    feed->tired = feed->row_count > 0 && env_monotonic_ms(op->env) > feed->until_ms;
    st = try_block(op, feed);
    if (st == ST_TOO_LARGE && feed->block_rows > BLOCK_ROWS_MIN) {
        feed->block_rows_max = BLOCK_ROWS_MIN;
        partition_feed_expect(feed, BLOCK_ROWS_MIN);
        st = try_block(op, feed);
    }
    partition_feed_expect(feed, 4 * feed->block_rows);
out:
    return st;
}

/* --- entries --- */

/*
 * Gives a change when the item is still what the change left. When the item was changed again, the later change is
 * given.
 */
static enum status give_latest(struct op *op, const struct partition_feed *feed, const struct feed_row *row,
                               struct feed_entry *entry, bool *found)
{
    enum status st = ST_OK;

    *found = false;
    if (!row->image.data)
        goto out;
    TRY(record_decode(op, row->image, &entry->item));
    *found = entry->item.lsn == row->change.lsn &&
             partition_scope_holds(feed->container, &feed->scope, &entry->item) &&
             !item_is_expired(feed->container, &entry->item, op->now_ms);
out:
    return st;
}

static enum status missing(struct op *op)
{
    return op_fail(op, ST_BAD_REQUEST,
                   "The change feed does not have all versions behind the continuation any more. Start again "
                   "from now.");
}

static enum status give_any(struct op *op, const struct partition_feed *feed, const struct feed_row *row,
                            struct feed_entry *entry, bool *found)
{
    bool left = row->change.kind != CHANGE_DELETE;
    enum status st = ST_OK;

    if (row->change.kind != CHANGE_CREATE)
        TRY(record_decode(op, row->change.old_record, &entry->previous));
    if (left && !row->image.data)
        TRY(missing(op));
    if (left)
        TRY(record_decode(op, row->image, &entry->item));
    if (left && entry->item.lsn != row->change.lsn)
        TRY(missing(op));
    *found = partition_scope_holds(feed->container, &feed->scope, left ? &entry->item : &entry->previous);
out:
    return st;
}

static enum status give(struct op *op, const struct partition_feed *feed, const struct feed_row *row,
                        struct feed_entry *entry, bool *found)
{
    *found = false;
    if (!is_wanted(feed, &row->change))
        return ST_OK;
    *entry = (struct feed_entry){ .change = row->change, .place = row->place };
    entry->change.old_record = (struct slice){ 0 };
    if (feed->mode == FEED_ALL)
        return give_any(op, feed, row, entry, found);
    return give_latest(op, feed, row, entry, found);
}

/* Goes to the next row. `found` is false when there is none, or when the feed pauses between two transactions. */
static enum status next_row(struct op *op, struct partition_feed *feed, bool *found)
{
    enum status st = ST_OK;

    assert(feed->at_row <= feed->row_count);
    while (feed->at_row == feed->row_count && feed->more)
        TRY(read_block(op, feed));
    *found = feed->at_row < feed->row_count;
    if (!*found) {
        feed->lsn = feed->head_lsn;
        goto out;
    }
    if (feed->row[feed->at_row].change.lsn == feed->at_lsn)
        goto out;
    feed->lsn = feed->row[feed->at_row].change.lsn - 1;
    if (feed->tired) {
        feed->paused = true;
        *found = false;
    }
    feed->at_lsn = feed->row[feed->at_row].change.lsn;
out:
    return st;
}

enum status partition_feed_next(struct op *op, struct partition_feed *feed, struct feed_entry *entry,
                                bool *found)
{
    enum status st;

    assert(feed->view.snapshot); /* the feed is open */
    do {
        TRY(next_row(op, feed, found));
        if (!*found)
            break;
        TRY(give(op, feed, &feed->row[feed->at_row++], entry, found));
    } while (!*found);
    if (*found)
        work_read(&op->work, entry->item.stored.size + entry->previous.stored.size);
out:
    return st;
}
