/* src/packed/run_reader.c - which page to ask for, and which of those read lately will do. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "keys/bytes.h"
#include "packed/run_reader.h"

enum {
    NUMBER_BYTES = 8,
    KEY_BYTES_MAX = RUN_ID_BYTES + PAGE_BUCKET_BYTES + PAGE_TERM_BYTES_MAX + NUMBER_BYTES,
    PAGES_KEPT = 8,
};

struct slice run_page_last_place(const struct run_page *page)
{
    return slice_make(page->row.key.data + RUN_ID_BYTES, page->row.key.size - RUN_ID_BYTES - NUMBER_BYTES);
}

uint64_t run_page_last_number(const struct run_page *page)
{
    return get_be(page->row.key.data + page->row.key.size - NUMBER_BYTES, NUMBER_BYTES);
}

/* ---- those that are kept ---- */

static void free_page(struct run_page *page)
{
    assert(page->holders == 0);
    page_free(&page->page);
    free(page->row.memory);
    free(page);
}

void run_page_release(struct run_page *page)
{
    if (!page)
        return;
    assert(page->holders > 0);
    page->holders--;
}

static void put_first(struct run_reader *reader, struct run_page *page)
{
    page->next = reader->pages;
    reader->pages = page;
}

/*
 * The page before may end with the place that this one begins with, so a place equal to the first one is looked up
 * anew.
 */
static bool has_place(const struct run_page *page, struct slice place, uint64_t number)
{
    int order;

    if (slice_compare(page_place(&page->page, 0), place) >= 0)
        return false;
    order = slice_compare(run_page_last_place(page), place);
    return order > 0 || (order == 0 && run_page_last_number(page) >= number);
}

static struct run_page *find_kept(struct run_reader *reader, uint64_t run, struct slice place,
                                  uint64_t number)
{
    for (struct run_page **link = &reader->pages; *link; link = &(*link)->next) {
        struct run_page *page = *link;

        if (page->run != run || !has_place(page, place, number))
            continue;
        *link = page->next;
        put_first(reader, page);
        return page;
    }
    return NULL;
}

static struct run_page *new_page(struct run_reader *reader)
{
    struct run_page *page = heap_allocate(sizeof(*page));

    put_first(reader, page);
    reader->page_count++;
    return page;
}

/* A page to read into: of those that nobody holds, the one that was asked for longest ago; or a new one. */
static struct run_page *take_page(struct run_reader *reader)
{
    struct run_page **oldest = NULL, *page;

    for (struct run_page **link = &reader->pages; *link; link = &(*link)->next)
        if ((*link)->holders == 0)
            oldest = link;
    if (!oldest || reader->page_count < PAGES_KEPT)
        return new_page(reader);
    page = *oldest;
    *oldest = page->next;
    put_first(reader, page);
    return page;
}

/* ---- reading ---- */

void run_reader_rest(struct run_reader *reader)
{
    if (reader->cursor)
        reader->space->ops->close(reader->space, reader->cursor);
    reader->cursor = NULL;
    reader->at = NULL;
}

void run_reader_close(struct run_reader *reader)
{
    run_reader_rest(reader);
    while (reader->pages) {
        struct run_page *page = reader->pages;

        reader->pages = page->next;
        free_page(page);
    }
    reader->page_count = 0;
}

static bool is_page_of(const struct run_row *row, uint64_t run)
{
    return row->key.data && row->key.size >= RUN_PREFIX_BYTES + NUMBER_BYTES &&
           get_be(row->key.data, RUN_ID_BYTES) == run &&
           get_be(row->key.data + RUN_ID_BYTES, PAGE_BUCKET_BYTES) != RUN_FILTER_BUCKET;
}

static enum status unpack(struct op *op, struct run_page *page)
{
    struct slice bucket = slice_make(page->row.key.data + RUN_ID_BYTES, PAGE_BUCKET_BYTES);

    return page_read(op, &page->page, bucket, page->row.value);
}

static enum status read_page(struct op *op, struct run_reader *reader, uint64_t run, enum run_move move,
                             struct slice key, struct run_page **read)
{
    const struct run_space_ops *runs = reader->space->ops;
    struct run_page *page = take_page(reader);
    enum status st = ST_OK;

    assert(page->holders == 0); /* nobody reads what is overwritten here */
    page->run = 0;              /* no run's, until it is one's */
    reader->at = NULL;
    if (!reader->cursor)
        TRY(runs->open(op, reader->space, reader->once, &reader->cursor));
    TRY(runs->read(op, reader->space, reader->cursor, move, key, &page->row));
    if (!is_page_of(&page->row, run))
        goto out;
    TRY(unpack(op, page));
    page->run = run;
    page->holders = 1;
    reader->at = page;
    *read = page;
out:
    return st;
}

enum status run_page_at(struct op *op, struct run_reader *reader, uint64_t run, struct slice place,
                        uint64_t number, struct run_page **page)
{
    uint8_t key[KEY_BYTES_MAX];

    *page = find_kept(reader, run, place, number);
    if (*page) {
        (*page)->holders++;
        return ST_OK;
    }
    assert(place.size <= KEY_BYTES_MAX - RUN_ID_BYTES - NUMBER_BYTES);
    run_key(key, run);
    memcpy(key + RUN_ID_BYTES, place.data, place.size);
    put_be(key + RUN_ID_BYTES + place.size, number, NUMBER_BYTES);
    return read_page(op, reader, run, RUN_AT_OR_AFTER,
                     slice_make(key, RUN_ID_BYTES + place.size + NUMBER_BYTES), page);
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
    bool is_there = reader->at == from;
    struct slice key = from->row.key;

    assert(from->holders > 0); /* else it could be the very page that is read into */
    *page = NULL;
    if (reverse)
        return read_page(op, reader, from->run, is_there ? RUN_PREVIOUS : RUN_BEFORE, key, page);
    return read_page(op, reader, from->run, is_there ? RUN_NEXT : RUN_AT_OR_AFTER,
                     slice_make(key.data, key.size + 1), page);
}
