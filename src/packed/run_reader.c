/* src/packed/run_reader.c - which page to ask for, and which of those read before will do. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "keys/bytes.h"
#include "packed/run_reader.h"

/* ---- those that are kept ---- */

/* Makes it the first. The one that was asked for longest ago leaves, if there is no room. */
static void keep(struct run_reader *reader, struct run_page *page)
{
    if (reader->kept_count == RUN_PAGES_KEPT)
        run_page_release(reader->kept[--reader->kept_count]);
    memmove(&reader->kept[1], &reader->kept[0], reader->kept_count * sizeof(reader->kept[0]));
    reader->kept[0] = run_page_hold(page);
    reader->kept_count++;
}

static struct run_page *find_kept(struct run_reader *reader, struct slice key)
{
    for (size_t i = 0; i < reader->kept_count; i++) {
        struct run_page *page = reader->kept[i];

        if (!run_page_has(page, key))
            continue;
        memmove(&reader->kept[1], &reader->kept[0], i * sizeof(reader->kept[0]));
        reader->kept[0] = page;
        return run_page_hold(page);
    }
    return NULL;
}

/* ---- reading ---- */

void run_reader_rest(struct run_reader *reader)
{
    if (reader->cursor)
        reader->space->ops->close(reader->space, reader->cursor);
    reader->cursor = NULL;
    reader->is_at = false;
}

void run_reader_close(struct run_reader *reader)
{
    run_reader_rest(reader);
    while (reader->kept_count > 0)
        run_page_release(reader->kept[--reader->kept_count]);
}

static bool is_page_of(const struct run_row *row, uint64_t run)
{
    return row->key.data && row->key.size >= RUN_PREFIX_BYTES + RUN_NUMBER_BYTES &&
           get_be(row->key.data, RUN_ID_BYTES) == run &&
           get_be(row->key.data + RUN_ID_BYTES, PAGE_BUCKET_BYTES) != RUN_FILTER_BUCKET;
}

static enum status unpack(struct op *op, struct run_page *page)
{
    struct slice bucket = slice_make(page->row.key.data + RUN_ID_BYTES, PAGE_BUCKET_BYTES);

    return page_read(op, &page->page, bucket, page->row.value);
}

/* For this reader, and for others. */
static void offer(struct run_reader *reader, struct run_page *page)
{
    reader->is_at = true;
    reader->at_run = run_page_run(page);
    reader->at_ordinal = page->page.ordinal;
    if (reader->cache && !reader->once) {
        run_page_fit(page);
        page_cache_add(reader->cache, page);
    }
    keep(reader, page);
}

static enum status read_page(struct op *op, struct run_reader *reader, uint64_t run, enum run_move move,
                             struct slice key, struct run_page **read)
{
    const struct run_space_ops *runs = reader->space->ops;
    struct run_page *page = run_page_new();
    enum status st = ST_OK;

    reader->is_at = false;
    TRY(op_may_take_long(op)); /* the disk */
    if (!reader->cursor)
        TRY(runs->open(op, reader->space, reader->once, &reader->cursor));
    TRY(runs->read(op, reader->space, reader->cursor, move, key, &page->row));
    if (!is_page_of(&page->row, run))
        goto out;
    TRY(unpack(op, page));
    offer(reader, page);
    *read = page;
    page = NULL;
out:
    run_page_release(page);
    return st;
}

enum status run_page_at(struct op *op, struct run_reader *reader, uint64_t run, struct slice place,
                        uint64_t number, struct run_page **page)
{
    uint8_t bytes[RUN_PAGE_KEY_BYTES_MAX];
    struct slice key = run_page_key(bytes, run, place, number);

    *page = find_kept(reader, key);
    if (*page)
        return ST_OK;
    if (reader->cache)
        *page = page_cache_at(reader->cache, run, key);
    if (!*page)
        return read_page(op, reader, run, RUN_AT_OR_AFTER, key, page);
    keep(reader, *page);
    return ST_OK;
}

enum status run_page_last(struct op *op, struct run_reader *reader, uint64_t run, struct run_page **page)
{
    uint8_t key[RUN_PREFIX_BYTES];

    *page = NULL;
    run_key(key, run);
    put_be(key + RUN_ID_BYTES, RUN_FILTER_BUCKET, PAGE_BUCKET_BYTES);
    return read_page(op, reader, run, RUN_BEFORE, slice_make(key, sizeof(key)), page);
}

/* The cursor may be elsewhere by now, and then looks for the place again. */
enum status run_page_neighbour(struct op *op, struct run_reader *reader, const struct run_page *from,
                               bool reverse, struct run_page **page)
{
    uint64_t run = run_page_run(from);
    bool is_there = reader->is_at && reader->at_run == run && reader->at_ordinal == from->page.ordinal;
    struct slice key = from->row.key;

    *page = reader->cache ? page_cache_neighbour(reader->cache, from, reverse) : NULL;
    if (*page) {
        keep(reader, *page);
        return ST_OK;
    }
    if (reverse)
        return read_page(op, reader, run, is_there ? RUN_PREVIOUS : RUN_BEFORE, key, page);
    return read_page(op, reader, run, is_there ? RUN_NEXT : RUN_AT_OR_AFTER,
                     slice_make(key.data, key.size + 1), page);
}
