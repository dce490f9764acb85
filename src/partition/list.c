/* src/partition/list.c - a page of items, kept for as long as the operation; by number, or by creation. */
#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "partition/scan.h"

/* A page that has looked at so many bytes ends, however few items it found. The next request goes on. */
enum { SCANNED_BYTES_MAX = 16 * 1024 * 1024 };

/* Copies the item's bytes out of the scan's memory, and moves the pointers into the copy. */
static enum status keep(struct op *op, struct record *item)
{
    char *copy = arena_try_alloc(&op->arena, item->stored.size);

    assert(item->epk.data >= item->stored.data); /* both point into what is copied */
    assert((const char *)item->document.at >= item->stored.data);
    if (!copy)
        return op_fail(op, ST_TOO_LARGE, "The response size is too large.");
    memcpy(copy, item->stored.data, item->stored.size);
    item->epk.data = copy + (item->epk.data - item->stored.data);
    item->document.at = (const uint8_t *)copy + ((const char *)item->document.at - item->stored.data);
    item->stored.data = copy;
    return ST_OK;
}

/* When one page holds all items, they come in order of creation, as people who know the service's emulator expect. */
static int by_creation(const void *a, const void *b)
{
    uint64_t x = number_counter(((const struct record *)a)->number);
    uint64_t y = number_counter(((const struct record *)b)->number);

    return x < y ? -1 : x > y;
}

static enum status fill_page(struct op *op, struct partition_scan *scan, size_t limit,
                             struct partition_page *page)
{
    size_t bytes = 0;
    struct record item;
    enum status st;

    for (;;) {
        TRY(partition_scan_next(op, scan, &item, &page->more));
        if (scan->paused)
            page->last = partition_scan_after(scan);
        page->more |= scan->paused;
        if (scan->paused || !page->more || page->count == limit ||
            (page->count && bytes + item.stored.size > PAGE_BYTES_MAX))
            break;
        assert(page->count < limit); /* for which the page has room */
        bytes += item.stored.size;
        page->last = item.number;
        TRY(keep(op, &item));
        page->item[page->count++] = item;
        work_scanned(&op->work, item.stored.size);
    }
out:
    return st;
}

enum status partition_list(struct op *op, const struct container *container,
                           const struct partition_scope *scope, uint64_t after, size_t limit,
                           struct partition_page *page)
{
    struct partition_scan scan = { 0 };
    enum status st;

    assert(limit > 0);
    *page = (struct partition_page){ .last = after };
    page->item = arena_alloc(&op->arena, limit * sizeof(*page->item));
    TRY(partition_scan_open(op, container, scope, &scan));
    partition_scan_seek(&scan, after);
    scan.scanned_bytes_max = SCANNED_BYTES_MAX;
    TRY(fill_page(op, &scan, limit, page));
    if (after == 0 && !page->more)
        qsort(page->item, page->count, sizeof(*page->item), by_creation);
out:
    partition_scan_close(&scan);
    return st;
}

/* ---- in order of creation ---- */

/*
 * A page in order of creation looks at every item of the scope, so only containers whose items fill no more than a
 * page of the largest kind are listed so. People who try the service with a few items expect that order.
 */
enum { LIST_BYTES_MAX = PAGE_BYTES_MAX };

/* Numbers have 60 bits. This one says that a page goes on in order of creation, behind the counter in the rest. */
static const uint64_t by_counter = 1ull << 63;

/* In one part: numbers of several are not in the order of creation. */
static bool is_small(const struct container *container, const struct partition_scope *scope)
{
    struct bucket_usage usage;

    return partition_scope_part(container, scope) && container_usage(container, &usage) &&
           usage.bytes <= LIST_BYTES_MAX;
}

/* All items of a key have the same bits before their counters: number order is order of creation. */
static bool is_one_key(const struct container *container, const struct partition_scope *scope)
{
    return scope->key.epk.size && container->epk_version != EPK_MULTI;
}

static int by_counters(const void *a, const void *b)
{
    uint64_t x = number_counter(*(const uint64_t *)a), y = number_counter(*(const uint64_t *)b);

    return x < y ? -1 : x > y;
}

/* The `most` numbers of the list that were given first. */
static size_t keep_earliest(uint64_t *number, size_t count, size_t most)
{
    qsort(number, count, sizeof(*number), by_counters);
    return count < most ? count : most;
}

/* Of the items behind the counter, the numbers of the `most` that were created first, in that order. */
static enum status find_earliest(struct op *op, struct partition_scan *scan, uint64_t after, size_t most,
                                 uint64_t *number, size_t *count)
{
    struct record item;
    bool found;
    enum status st;

    *count = 0;
    for (;;) {
        TRY(partition_scan_next(op, scan, &item, &found));
        if (!found)
            break;
        if (number_counter(item.number) <= after)
            continue;
        if (*count == 2 * most)
            *count = keep_earliest(number, *count, most);
        number[(*count)++] = item.number;
    }
    *count = keep_earliest(number, *count, most);
out:
    return st;
}

static enum status list_earliest(struct op *op, struct partition_scan *scan, uint64_t after, size_t limit,
                                 struct partition_page *page)
{
    size_t most = limit + 1, count;
    uint64_t *number = arena_alloc(&op->arena, 2 * most * sizeof(*number));
    enum status st;

    TRY(find_earliest(op, scan, after, most, number, &count));
    partition_scan_pick(scan, number, count);
    TRY(fill_page(op, scan, limit, page));
    page->last = by_counter | (page->count ? number_counter(page->last) : after);
out:
    return st;
}

enum status partition_list_by_creation(struct op *op, const struct container *container,
                                       const struct partition_scope *scope, uint64_t after, size_t limit,
                                       struct partition_page *page)
{
    struct partition_scan scan = { 0 };
    enum status st;

    assert(limit > 0);
    if (after ? !(after & by_counter) : is_one_key(container, scope) || !is_small(container, scope))
        return partition_list(op, container, scope, after, limit, page);
    *page = (struct partition_page){ 0 };
    page->item = arena_alloc(&op->arena, limit * sizeof(*page->item));
    TRY(partition_scan_open(op, container, scope, &scan));
    TRY(list_earliest(op, &scan, number_counter(after), limit, page));
out:
    partition_scan_close(&scan);
    return st;
}
