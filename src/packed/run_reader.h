/*
 * src/packed/run_reader.h - pages of runs, read when somebody asks for them. A reader keeps those that it gave lately: a
 * query asks for one page several times, to count, to walk, and to look for numbers. What others have read comes from
 * the cache that readers share.
 *     TRY(run_page_at(op, reader, run, place, number, &page));      the page where (place, number) is or would be
 *     run_page_release(page);
 *
 * Ownership. A page that was given is the caller's until it is released.
 * Threads. A reader is used by one thread at a time.
 */
#pragma once
#include "packed/page_cache.h"

enum { RUN_PAGES_KEPT = 8 };

/* One cursor for all runs that somebody reads. All zero but for the first three to begin with. */
struct run_reader {
    struct run_space *space;
    struct page_cache *cache; /* NULL: pages are not shared */
    bool once;                /* a long read of what will not be read again */
    struct run_cursor *cursor;
    bool is_at; /* the cursor is at that page */
    uint64_t at_run;
    uint32_t at_ordinal;
    struct run_page *kept[RUN_PAGES_KEPT]; /* the latest first */
    size_t kept_count;
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
