/* src/partition/list.c - a page of items, kept for as long as the operation. */
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
