/* src/partition/list.c - items in number order, a page at a time. */
#include <assert.h>

#include "base/limits.h"
#include "keys/keys.h"
#include "partition/partition.h"

/* A page that finds little stops here, and goes on with the next request. */
enum { SCANNED_BYTES_MAX = 16 * 1024 * 1024, BLOCK_BYTES = 1024 * 1024 };

struct span {
    uint64_t from, to; /* numbers, [from, to) */
};

/* The bits of the least (fill 00) or the greatest (fill ff) EPK that begins with the prefix. */
static uint32_t prefix_bits(const struct container *container, const struct epk *prefix, uint8_t fill)
{
    struct epk padded = *prefix;

    if (container->epk_version != EPK_V1) { /* V1 keys are whole or empty */
        size_t full = 16 * (container->epk_version == EPK_MULTI ? container->key_path_count : 1);

        for (; padded.size < full; padded.size++)
            padded.bytes[padded.size] = fill;
    }
    return epk_number_bits(container->epk_version, container->key_path_count, &padded);
}

static struct span span_of(const struct container *container, const struct partition_scope *scope,
                           uint64_t after)
{
    struct span span = { 0, 1ull << (NUMBER_EPK_BITS + NUMBER_COUNTER_BITS) };

    if (scope->prefix.size) {
        span.from = number_make(prefix_bits(container, &scope->prefix, 0x00), 0);
        span.to = number_make(prefix_bits(container, &scope->prefix, 0xff) + 1, 0);
    }
    if (after && span.from <= after)
        span.from = after + 1;
    return span;
}

static bool in_scope(const struct partition_scope *scope, struct slice epk)
{
    struct slice prefix = epk_slice(&scope->prefix);

    if (epk.size < prefix.size || !slice_equal(slice_make(epk.data, prefix.size), prefix))
        return false;
    if (slice_compare(epk, epk_slice(&scope->min)) < 0)
        return false;
    return scope->max.size == 0 || slice_compare(epk, epk_slice(&scope->max)) < 0;
}

struct listing {
    const struct partition_scope *scope;
    size_t limit, bytes, scanned;
    struct partition_page *page;
};

/* False when the page is full before this row. */
static enum status take(struct op *op, struct listing *listing, const struct row *row, bool *taken)
{
    struct partition_page *page = listing->page;
    struct record record;
    enum status st;

    *taken = true;
    TRY(record_decode(op, row->value, &record));
    listing->scanned += row->value.size;
    if (in_scope(listing->scope, record.epk)) {
        *taken = page->count < listing->limit &&
                 (page->count == 0 || listing->bytes + row->value.size < PAGE_BYTES_MAX);
        if (!*taken)
            goto out;
        page->item[page->count++] = record;
        listing->bytes += row->value.size;
        op->work.documents_read++;
    }
    page->last = record.number;
out:
    return st;
}

/* Orders by creation what one page holds whole, as people who know the service's emulator expect. */
static int by_creation(const void *a, const void *b)
{
    uint64_t x = number_counter(((const struct record *)a)->number);
    uint64_t y = number_counter(((const struct record *)b)->number);

    return x < y ? -1 : x > y;
}

static enum status fill_page(struct op *op, const struct view *view, uint64_t bucket, struct span span,
                             struct listing *listing)
{
    struct rows rows = { .more = span.from < span.to };
    struct scan_limit block = { .rows = listing->limit + 1, .bytes = BLOCK_BYTES };
    bool taken = true;
    enum status st = ST_OK;

    while (taken && rows.more && listing->scanned < SCANNED_BYTES_MAX) {
        struct range range = { key_document(&op->arena, bucket, span.from),
                               key_document(&op->arena, bucket, span.to), false };

        TRY(op_check(op));
        TRY(view_scan(op, view, range, block, &rows));
        for (size_t i = 0; i < rows.count && taken; i++)
            TRY(take(op, listing, &rows.row[i], &taken));
        span.from = listing->page->last + 1;
    }
    listing->page->more = !taken || rows.more;
out:
    return st;
}

enum status partition_list(struct op *op, const struct container *container,
                           const struct partition_scope *scope, uint64_t after, size_t limit,
                           struct partition_page *page)
{
    struct listing listing = { .scope = scope, .limit = limit, .page = page };
    struct view view = { 0 };
    enum status st;

    assert(limit > 0);
    *page = (struct partition_page){ .last = after };
    page->item = arena_alloc(&op->arena, limit * sizeof(*page->item));
    TRY(view_open(op, container->bucket, NULL, &view));
    TRY(fill_page(op, &view, bucket_id(container->bucket), span_of(container, scope, after), &listing));
    if (after == 0 && !page->more)
        qsort(page->item, page->count, sizeof(*page->item), by_creation);
out:
    view_close(&view);
    return st;
}
