/*
 * src/packed/run_reader.h - pages of runs, read when somebody asks for them. Those read lately are kept: a query asks
 * for one page several times, to count, to walk, and to look for numbers.
 *     TRY(run_page_at(op, reader, run, place, number, &page));      the page where (place, number) is or would be
 *     run_page_release(page);
 *
 * Ownership. A page that was given is the caller's until it is released, which is before the reader is closed.
 * Threads. A reader is used by one thread at a time.
 */
#pragma once
#include "packed/page.h"
#include "packed/run.h"

struct run_page {
    struct run_page *next; /* asked for before this one */
    uint64_t run;
    unsigned holders;
    struct run_row row; /* as it lies there */
    struct page page;
};

/* One cursor for all runs that somebody reads. All zero but for the first two to begin with. */
struct run_reader {
    struct run_space *space;
    bool once; /* a long read of what will not be read again */
    struct run_cursor *cursor;
    const struct run_page *at; /* where the cursor is; NULL: elsewhere */
    struct run_page *pages;    /* the latest first */
    size_t page_count;
    struct run_reader *next; /* for whoever keeps several */
};

/* Gives its cursor back, for others to use. The reader keeps its pages, and opens a cursor when it needs others. */
void run_reader_rest(struct run_reader *reader);
void run_reader_close(struct run_reader *reader);

/* The first page that has something at (place, number) or after it; NULL past the end of the run. */
enum status run_page_at(struct op *op, struct run_reader *reader, uint64_t run, struct slice place,
                        uint64_t number, struct run_page **page);
enum status run_page_last(struct op *op, struct run_reader *reader, uint64_t run, struct run_page **page);

/* The one after it, or before it; NULL at the end. */
enum status run_page_neighbour(struct op *op, struct run_reader *reader, const struct run_page *from,
                               bool reverse, struct run_page **page);
void run_page_release(struct run_page *page); /* NULL is welcome */

/* Place and number of the page's last entry, out of its key. */
struct slice run_page_last_place(const struct run_page *page);
uint64_t run_page_last_number(const struct run_page *page);
