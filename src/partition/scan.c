/* src/partition/scan.c - items in number order, one at a time, read in blocks. */
#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "catalog/parts.h"
#include "keys/keys.h"
#include "partition/expiry.h"
#include "partition/scan.h"
#include "partition/txn.h"

/*
 * The first block is small, because many scans end soon. Later ones are large, because every block has a fixed cost.
 */
enum { BLOCK_ROWS_FIRST = 64, BLOCK_ROWS_MAX = 4096, BLOCK_BYTES = 1024 * 1024 };
enum { PICK_ROWS_FIRST = 24, PICK_ROWS_MAX = 64 };

/* On a loop thread. */
enum { INLINE_BLOCK_BYTES = 64 * 1024, BYTES_OF_A_STEP = 512, STEPS_OF_A_BLOCK = 8 };

/* The bits of the least (fill 00) or the greatest (fill ff) EPK that begins with the prefix. */
static uint32_t prefix_bits(const struct container *container, const struct epk *prefix, uint8_t fill)
{
    struct epk padded = *prefix;

    if (container->epk_version != EPK_V1) { /* V1 keys are whole or empty */
        size_t full = EPK_LEVEL_BYTES * (container->epk_version == EPK_MULTI ? container->key_path_count : 1);

        for (; padded.size < full; padded.size++)
            padded.bytes[padded.size] = fill;
    }
    return epk_number_bits(container->epk_version, container->key_path_count, &padded);
}

static struct number_span span_of_prefix(const struct container *container, const struct epk *prefix)
{
    return (struct number_span){ number_make(prefix_bits(container, prefix, 0x00), 0),
                                 number_make(prefix_bits(container, prefix, 0xff) + 1, 0) };
}

/*
 * How many levels of hierarchical keys order the numbers of [min, max): the levels that all keys share, and the next.
 */
static size_t levels_in_order(const struct partition_scope *scope)
{
    size_t bytes = EPK_LEVEL_BYTES;

    while (bytes <= scope->min.size && bytes <= scope->max.size &&
           memcmp(scope->min.bytes, scope->max.bytes, bytes) == 0)
        bytes += EPK_LEVEL_BYTES;
    return bytes / EPK_LEVEL_BYTES;
}

static struct epk up_to_level(const struct container *container, struct epk bound, size_t levels)
{
    if (container->epk_version == EPK_MULTI && bound.size > levels * EPK_LEVEL_BYTES)
        bound.size = (uint16_t)(levels * EPK_LEVEL_BYTES);
    return bound;
}

/* The numbers that keys of [min, max) can have. */
static struct number_span span_of_bounds(const struct container *container,
                                         const struct partition_scope *scope)
{
    struct number_span span = { 0, 1ull << (NUMBER_EPK_BITS + NUMBER_COUNTER_BITS) };
    size_t levels = levels_in_order(scope);
    struct epk min = up_to_level(container, scope->min, levels),
               max = up_to_level(container, scope->max, levels);

    if (min.size)
        span.from = number_make(prefix_bits(container, &min, 0x00), 0);
    if (max.size)
        span.to = number_make(prefix_bits(container, &max, 0xff) + 1, 0);
    return span;
}

struct number_span partition_scope_span(const struct container *container,
                                        const struct partition_scope *scope)
{
    return scope->key.epk.size ? span_of_prefix(container, &scope->key.epk)
                               : span_of_bounds(container, scope);
}

/* Keys of other bits than those of the bounds lie on the side of them that their bits do, as far as the first level tells. */
struct number_span partition_scope_inside(const struct container *container,
                                          const struct partition_scope *scope)
{
    struct number_span span = { 0, 1ull << (NUMBER_EPK_BITS + NUMBER_COUNTER_BITS) };
    struct epk min = up_to_level(container, scope->min, 1), max = up_to_level(container, scope->max, 1);

    if (scope->key.epk.size || scope->exact || scope->points)
        return (struct number_span){ 0, 0 };
    if (min.size)
        span.from = number_make(prefix_bits(container, &min, 0xff) + 1, 0);
    if (max.size)
        span.to = number_make(prefix_bits(container, &max, 0x00), 0);
    return span.from < span.to ? span : (struct number_span){ 0, 0 };
}

static int by_start(const void *a, const void *b)
{
    uint64_t x = ((const struct number_span *)a)->from, y = ((const struct number_span *)b)->from;

    return x < y ? -1 : x > y;
}

/* Sorts the spans by number, which need not be the order of keys, and joins those that meet. */
static void join_spans(struct partition_scan *scan)
{
    size_t kept = 0;

    qsort(scan->span, scan->span_count, sizeof(*scan->span), by_start);
    for (size_t i = 0; i < scan->span_count; i++) {
        struct number_span span = scan->span[i];

        if (kept == 0 || span.from > scan->span[kept - 1].to)
            scan->span[kept++] = span;
        else if (span.to > scan->span[kept - 1].to)
            scan->span[kept - 1].to = span.to;
    }
    scan->span_count = kept;
}

static void make_spans(struct op *op, struct partition_scan *scan)
{
    const struct partition_scope *scope = &scan->scope;
    size_t points = scope->points ? scope->point_count : 1;

    scan->span = arena_alloc(&op->arena, (points + 1) * sizeof(*scan->span));
    if (!scope->points) {
        scan->span[0] = partition_scope_span(scan->container, scope);
        scan->span_count = 1;
        return;
    }
    for (size_t i = 0; i < points; i++)
        scan->span[scan->span_count++] = span_of_prefix(scan->container, &scope->points[i]);
    join_spans(scan);
}

static bool begins_with(struct slice epk, struct slice prefix)
{
    return epk.size >= prefix.size && slice_equal(slice_make(epk.data, prefix.size), prefix);
}

/* Points are sorted, and none is the beginning of another: only the last point not above the key can match. */
static bool is_point(const struct partition_scope *scope, struct slice epk)
{
    size_t low = 0, high = scope->point_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (slice_compare(epk_slice(&scope->points[middle]), epk) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low && begins_with(epk, epk_slice(&scope->points[low - 1]));
}

/* The EPK is looked at first, because it is at hand. */
bool partition_scope_holds(const struct container *container, const struct partition_scope *scope,
                           const struct record *item)
{
    struct slice epk = item->epk, prefix = epk_slice(&scope->key.epk);

    if (!begins_with(epk, prefix) || (scope->exact && epk.size != prefix.size))
        return false;
    if (!partition_key_begins(container, item->document, &scope->key.values))
        return false;
    if (slice_compare(epk, epk_slice(&scope->min)) < 0)
        return false;
    if (scope->max.size && slice_compare(epk, epk_slice(&scope->max)) >= 0)
        return false;
    return !scope->points || is_point(scope, epk);
}

static bool is_hidden(const struct op *op, const struct partition_scan *scan, const struct record *item)
{
    return !scan->expired_too && item_is_expired(scan->container, item, op->now_ms);
}

static void prepare(struct op *op, const struct container *container, const struct partition_scope *scope,
                    struct partition_scan *scan)
{
    *scan = (struct partition_scan){ .container = container, .scope = *scope, .pick_rows = PICK_ROWS_FIRST };
    op_arena(op, &scan->memory, OP_MEMORY_BYTES_MAX);
    make_spans(op, scan);
    partition_scan_seek(scan, 0);
}

/* ---- parts ---- */

static const struct container *part_of_points(const struct container *container,
                                              const struct partition_scope *scope)
{
    const struct container *first, *last;

    if (scope->point_count == 0)
        return container->part[0];
    first = container_part_of(container, epk_slice(&scope->points[0]));
    last = container_part_of(container, epk_slice(&scope->points[scope->point_count - 1]));
    return first == last ? first : NULL;
}

const struct container *partition_scope_part(const struct container *container,
                                             const struct partition_scope *scope)
{
    const struct container *of_points;

    if (container->part_count == 1)
        return container;
    if (scope->key.epk.size)
        return container_part_of(container, epk_slice(&scope->key.epk));
    of_points = scope->points ? part_of_points(container, scope) : NULL;
    if (!of_points && container_is_one_part(container, epk_slice(&scope->min), epk_slice(&scope->max)))
        return container_part_of(container, epk_slice(&scope->min));
    return of_points;
}

/* The parts that have keys of [min, max). */
static void choose_parts(const struct container *whole, const struct partition_scope *scope,
                         struct scan_parts *parts)
{
    parts->whole = whole;
    parts->first = container_part_of(whole, epk_slice(&scope->min))->part_index;
    parts->count = 1;
    while (parts->first + parts->count < whole->part_count &&
           (scope->max.size == 0 ||
            slice_compare(whole->part[parts->first + parts->count]->part_min, epk_slice(&scope->max)) < 0))
        parts->count++;
}

static void enter_part(struct partition_scan *scan, uint32_t at)
{
    struct scan_parts *parts = &scan->parts;

    assert(at < parts->count);
    parts->at = at;
    scan->container = parts->whole->part[parts->first + at];
    scan->view = parts->view[at];
    scan->at_span = 0;
    scan->from = at ? part_before_all(parts->whole, parts->first + at) + 1 : 0;
}

static enum status open_parts(struct op *op, struct partition_scan *scan)
{
    struct scan_parts *parts = &scan->parts;
    const struct container *whole = scan->container;
    struct bucket **buckets;
    struct snapshot **snapshots;
    enum status st;

    choose_parts(whole, &scan->scope, parts);
    buckets = arena_alloc(&op->arena, parts->count * sizeof(struct bucket *));
    snapshots = arena_alloc(&op->arena, parts->count * sizeof(struct snapshot *));
    parts->view = arena_alloc(&op->arena, parts->count * sizeof(*parts->view));
    memset(parts->view, 0, parts->count * sizeof(*parts->view));
    for (uint32_t i = 0; i < parts->count; i++)
        buckets[i] = whole->part[parts->first + i]->bucket;
    TRY(store_snapshot_together(op, buckets, parts->count, snapshots));
    for (uint32_t i = 0; i < parts->count; i++)
        view_open_over(snapshots[i], buckets[i], NULL, &parts->view[i]);
    enter_part(scan, 0);
out:
    return st;
}

/* A number names its part. Behind the last part there is nothing. */
static void seek_part(struct partition_scan *scan, uint64_t after)
{
    struct scan_parts *parts = &scan->parts;
    uint32_t index = container_part_at(parts->whole, after)->part_index;

    if (index < parts->first || after == 0) {
        enter_part(scan, 0);
    } else if (index < parts->first + parts->count) {
        enter_part(scan, index - parts->first);
    } else {
        enter_part(scan, parts->count - 1);
        scan->at_span = scan->span_count;
    }
}

enum status partition_scan_open(struct op *op, const struct container *container,
                                const struct partition_scope *scope, struct partition_scan *scan)
{
    const struct container *part = partition_scope_part(container, scope);
    enum status st;

    prepare(op, part ? part : container, scope, scan);
    if (part)
        TRY(view_open(op, part->bucket, NULL, &scan->view));
    else
        TRY(open_parts(op, scan));
out:
    return st;
}

enum status partition_scan_open_in(struct op *op, const struct partition_txn *txn,
                                   const struct partition_scope *scope, struct partition_scan *scan)
{
    assert(!txn->pending);
    prepare(op, txn->container, scope, scan);
    scan->txn = txn;
    return ST_OK;
}

void partition_scan_open_over(struct op *op, const struct container *container,
                              const struct partition_scope *scope, const struct view *view,
                              struct partition_scan *scan)
{
    prepare(op, container, scope, scan);
    scan->over = view;
}

void partition_scan_seek(struct partition_scan *scan, uint64_t after)
{
    scan->rows = (struct rows){ 0 };
    scan->at_row = scan->at_span = 0;
    scan->block_rows = BLOCK_ROWS_FIRST;
    scan->from = after ? after + 1 : 0;
    scan->pick = NULL;
    if (!scan->parts.whole)
        return;
    seek_part(scan, after);
    if (after >= scan->from)
        scan->from = after + 1;
}

void partition_scan_pick(struct partition_scan *scan, const uint64_t *number, size_t count)
{
    assert(number || count == 0);
    scan->rows = (struct rows){ 0 };
    scan->at_row = scan->at_pick = 0;
    scan->pick = number;
    scan->pick_count = count;
}

const struct number_span *partition_scan_spans(const struct partition_scan *scan, size_t *count)
{
    *count = scan->span_count;
    return scan->span;
}

uint64_t partition_scan_after(const struct partition_scan *scan)
{
    return scan->from ? scan->from - 1 : 0;
}

const struct view *partition_scan_view(const struct partition_scan *scan)
{
    const struct view *view = scan->over ? scan->over : scan->txn ? &scan->txn->view : &scan->view;

    assert(view->snapshot); /* the scan is open */
    return view;
}

enum status partition_scan_count(struct op *op, const struct partition_scan *scan, uint64_t *documents,
                                 bool *counted)
{
    const struct view *view = partition_scan_view(scan);
    struct head head;
    enum status st;

    TRY(store_snapshot_head(op, view->snapshot, &head));
    *counted = head.counts;
    *documents = head.documents + (view->writes ? (uint64_t)batch_documents(view->writes) : 0);
out:
    return st;
}

bool partition_scan_sees_own(const struct partition_scan *scan)
{
    return scan->txn && !batch_is_empty(scan->txn->batch);
}

static enum status scan_span(struct op *op, struct partition_scan *scan, struct number_span span)
{
    struct scan_limit limit = { .rows = scan->block_rows,
                                .bytes = op->may_block ? BLOCK_BYTES : INLINE_BLOCK_BYTES };
    uint64_t bucket = scan->container->bucket_id;
    struct range range = { key_document(&op->arena, bucket, span.from),
                           key_document(&op->arena, bucket, span.to), false };

    assert(span.from < span.to);
    assert(scan->block_rows > 0);
    if (scan->block_rows < BLOCK_ROWS_MAX)
        scan->block_rows *= 4;
    return view_scan(op, partition_scan_view(scan), range, limit, &scan->rows);
}

/* As many rows as fill a block, if they are as large as the rows before. */
static size_t rows_of_block(size_t rows, size_t bytes)
{
    size_t wanted = bytes ? rows * BLOCK_BYTES / bytes : PICK_ROWS_MAX;

    return wanted < 1 ? 1 : wanted < PICK_ROWS_MAX ? wanted : PICK_ROWS_MAX;
}

/* How many of the next numbers are read at a time, and turns to the part that they lie in. */
static size_t choose_picked(struct partition_scan *scan)
{
    const uint64_t *pick = scan->pick + scan->at_pick;
    size_t left = scan->pick_count - scan->at_pick, count = 1;
    const struct container *whole = scan->parts.whole;

    if (left > scan->pick_rows)
        left = scan->pick_rows;
    if (!whole)
        return left;
    scan->container = container_part_at(whole, pick[0]);
    while (count < left && container_part_at(whole, pick[count]) == scan->container)
        count++;
    assert(scan->container->part_index - scan->parts.first < scan->parts.count); /* it is in scope */
    scan->view = scan->parts.view[scan->container->part_index - scan->parts.first];
    return count;
}

/* Reads the items of the next few numbers as rows, and leaves out those that are not there. */
static enum status get_picked(struct op *op, struct partition_scan *scan)
{
    size_t kept = 0, bytes = 0, count = choose_picked(scan);
    struct slice key[PICK_ROWS_MAX] = { 0 }, value[PICK_ROWS_MAX];
    enum status st;

    assert(scan->at_pick < scan->pick_count);
    assert(count > 0);
    assert(count <= PICK_ROWS_MAX);
    for (size_t i = 0; i < count; i++)
        key[i] = key_document(&op->arena, scan->container->bucket_id, scan->pick[scan->at_pick + i]);
    TRY(scan->txn ? view_get_many(op, partition_scan_view(scan), key, count, value)
                  : view_get_items(op, partition_scan_view(scan), key, count, value));
    scan->rows.row = arena_alloc(&op->arena, PICK_ROWS_MAX * sizeof(struct row));
    for (size_t i = 0; i < count; i++) {
        if (value[i].data)
            scan->rows.row[kept++] = (struct row){ key[i], value[i] };
        bytes += value[i].size;
    }
    scan->rows.count = kept;
    scan->at_pick += count;
    scan->pick_rows = rows_of_block(count, bytes);
out:
    return st;
}

/* The block lies in the scan's own memory, because the op's arena is the reader's, who gives it back row by row. */
static enum status read_block(struct op *op, struct partition_scan *scan, struct number_span span)
{
    int64_t began_us = op_clock_us(op);
    struct arena readers = op->arena;
    enum status st;

    assert(scan->at_row == scan->rows.count); /* nobody needs the block before it any more */
    arena_reset(&scan->memory);
    scan->at_row = 0;
    scan->rows = (struct rows){ 0 };
    op->arena = scan->memory;
    st = scan->pick ? get_picked(op, scan) : scan_span(op, scan, span);
    scan->memory = op->arena;
    op->arena = readers;
    op->spent.load_us += op_clock_us(op) - began_us;
    if (st != ST_OK && op->error)
        op->error = arena_text(&op->arena, slice_of(op->error));
    return st;
}

/* Rows that were read are looked at, and many are printed: a step is a small one, or so many bytes of a large one. */
static uint64_t steps_of(const struct rows *rows)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < rows->count; i++)
        bytes += rows->row[i].value.size;
    return rows->count + bytes / BYTES_OF_A_STEP;
}

/* Of numbers without items, and of spans, the search is what takes time. */
static enum status next_block(struct op *op, struct partition_scan *scan, struct number_span span)
{
    enum status st;

    TRY(op_spend(op, STEPS_OF_A_BLOCK));
    TRY(read_block(op, scan, span));
    TRY(op_spend_often(op, steps_of(&scan->rows)));
out:
    return st;
}

static enum status next_picked(struct op *op, struct partition_scan *scan, bool *found)
{
    enum status st = ST_OK;

    while (scan->at_row == scan->rows.count && scan->at_pick < scan->pick_count)
        TRY(next_block(op, scan, (struct number_span){ 0 }));
    *found = scan->at_row < scan->rows.count;
out:
    return st;
}

/* Goes to the next row, in this span or a later one. `found` is false when there is none. */
static enum status next_in_spans(struct op *op, struct partition_scan *scan, bool *found)
{
    enum status st = ST_OK;

    while (scan->at_row == scan->rows.count && scan->at_span < scan->span_count) {
        struct number_span span = scan->span[scan->at_span];

        if (span.from < scan->from)
            span.from = scan->from;
        if (span.from >= span.to || (scan->rows.count && !scan->rows.more)) {
            scan->at_span++;
            scan->rows = (struct rows){ 0 };
            scan->at_row = 0;
            continue;
        }
        TRY(next_block(op, scan, span));
        if (scan->rows.count == 0)
            scan->at_span++;
    }
    *found = scan->at_row < scan->rows.count;
out:
    return st;
}

/* The same in this part or a later one. */
static enum status next_row(struct op *op, struct partition_scan *scan, bool *found)
{
    enum status st;

    for (;;) {
        TRY(next_in_spans(op, scan, found));
        if (*found || !scan->parts.whole || scan->parts.at + 1 == scan->parts.count)
            break;
        enter_part(scan, scan->parts.at + 1);
    }
out:
    return st;
}

enum status partition_scan_next(struct op *op, struct partition_scan *scan, struct record *item, bool *found)
{
    enum status st = ST_OK;

    do {
        const struct row *row;

        scan->paused = scan->scanned_bytes_max && scan->scanned_bytes >= scan->scanned_bytes_max;
        *found = false;
        if (scan->paused)
            break;
        TRY(scan->pick ? next_picked(op, scan, found) : next_row(op, scan, found));
        if (!*found)
            break;
        row = &scan->rows.row[scan->at_row++];
        TRY(txn_decode(op, row->value, item));
        if (!scan->pick)
            scan->from = item->number + 1;
        scan->scanned++;
        scan->scanned_bytes += row->value.size;
    } while (!partition_scope_holds(scan->container, &scan->scope, item) || is_hidden(op, scan, item));
out:
    return st;
}

void partition_scan_close(struct partition_scan *scan)
{
    for (uint32_t i = 0; i < scan->parts.count; i++)
        view_close(&scan->parts.view[i]);
    if (!scan->parts.whole)
        view_close(&scan->view);
    arena_free(&scan->memory);
}
