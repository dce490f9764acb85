/*
 * src/packed/page.h - a page of a run: entries of neighbouring terms of one bucket, packed.
 *
 *     format 1, adds less removes in all pages of the run before it 8, how many pages those are 4 (little-endian), then records:
 *     bytes of the term shared with the record before it, its other bytes: how many and which,
 *     numbers in the record, how many of them are removed, bytes of the numbers, and the numbers: each as its
 *     difference from the one before; where any is removed times two, plus one if this one is.
 *
 * Integers in records are varints: seven bits a byte, low ones first, the highest bit says that another follows.
 * A term with many numbers has several records, in this page and in the next ones.
 *
 * Threads. None of its own.
 */
#pragma once
#include "packed/stream.h"

enum {
    PAGE_BYTES = 4000,                /* what a page is filled to: with its key a block of 4 KB */
    PAGE_READ_BYTES_MAX = 64 * 1024,  /* a larger one is damaged */
    PAGE_TERMS_BYTES_MAX = 64 * 1024, /* its terms, unpacked */
    PAGE_TERM_BYTES_MAX = 4096,
    PAGE_BUCKET_BYTES = 6,
    PAGE_TERM_AT = PAGE_BUCKET_BYTES + 8, /* where a value begins behind bucket and path */
};

/* ---- reading ---- */

/* Small, because pages are kept unpacked: what bounds a page bounds these. */
struct page_record {
    uint32_t place_at; /* in page.places */
    uint16_t place_bytes;
    uint16_t count, removes;
    uint16_t numbers_at, numbers_bytes; /* in page.value */
};

struct page {
    struct slice value; /* what was read */
    int64_t before;
    uint32_t ordinal; /* pages of the run before it */
    struct page_record *record;
    size_t count, capacity;
    char *places; /* bucket and term of each record */
    size_t places_bytes, places_capacity;
};

/* All zero to begin with. The value must outlive what is read of it. ST_CORRUPT: it is no page. */
enum status page_read(struct op *op, struct page *page, struct slice bucket, struct slice value);
void page_free(struct page *page);

/* Gives back what page_read() took beyond what it needed. */
void page_fit(struct page *page);
size_t page_bytes(const struct page *page); /* of memory */

static inline struct slice page_place(const struct page *page, size_t record)
{
    return slice_make(page->places + page->record[record].place_at, page->record[record].place_bytes);
}

/* Adds less removes. */
static inline int64_t page_net(const struct page *page, size_t record)
{
    return (int64_t)page->record[record].count - 2 * (int64_t)page->record[record].removes;
}

/* The first record whose bucket and term are not before these; `count` when all are. */
size_t page_find(const struct page *page, struct slice place);

/* All marks of a record, rising. */
enum status page_marks(struct op *op, const struct page *page, size_t record, struct marks *marks);

/* ---- writing ---- */

struct page_writer {
    uint8_t bytes[PAGE_BYTES + PAGE_TERM_BYTES_MAX + 256];
    size_t size;
    size_t records, terms_bytes;
    int64_t net; /* of this page */
    size_t term_bytes;
    uint8_t term[PAGE_TERM_BYTES_MAX]; /* the last one */
    uint64_t last;                     /* the last number */
};

void page_begin(struct page_writer *page, int64_t before, uint32_t ordinal);

/* For at least one mark of the term. An empty page has room for any. */
bool page_has_room(const struct page_writer *page, struct slice term);

/* Puts as many of the marks as there is room for, at least one into an empty page, and says how many. */
size_t page_put(struct page_writer *page, struct slice term, const uint64_t *number, const bool *gone,
                size_t count);
