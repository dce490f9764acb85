/*
 * src/packed/run_page.h - a page of a run as it was read: its row, and what is unpacked of it. A run never changes, so
 * neither does its page, and whoever reads it shares it with others.
 *
 * Ownership. Counted. run_page_new() gives one count, run_page_hold() another; run_page_release() takes one.
 * Threads. Whoever made a page fills it; from then on it is anybody's.
 */
#pragma once
#include <stdatomic.h>

#include "packed/page.h"
#include "packed/run.h"

struct run_page {
    atomic_uint holders;
    atomic_bool is_wanted; /* somebody asked the cache for it since the cache last looked for room */
    struct run_row row;    /* as it lies there */
    struct page page;
};

struct run_page *run_page_new(void);
struct run_page *run_page_hold(struct run_page *page);
void run_page_release(struct run_page *page); /* NULL is welcome */

/* Gives back what reading took and the page does not need. Before others see it. */
void run_page_fit(struct run_page *page);
size_t run_page_bytes(const struct run_page *page);

uint64_t run_page_run(const struct run_page *page);

/* Place and number of the page's last entry, out of its key. */
struct slice run_page_last_place(const struct run_page *page);
uint64_t run_page_last_number(const struct run_page *page);

/*
 * A key that a page could have, of a run's place and number. The page where they are or would be is the first whose key is
 * not before it.
 */
enum {
    RUN_NUMBER_BYTES = 8,
    RUN_PAGE_KEY_BYTES_MAX = RUN_ID_BYTES + PAGE_BUCKET_BYTES + PAGE_TERM_BYTES_MAX + RUN_NUMBER_BYTES,
};

struct slice run_page_key(uint8_t out[RUN_PAGE_KEY_BYTES_MAX], uint64_t run, struct slice place,
                          uint64_t number);

/* Whether this is the page for such a key, as far as the page itself can tell. */
bool run_page_has(const struct run_page *page, struct slice key);
