/* src/packed/run_page.c - counting who reads a page, and what its key says. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "keys/bytes.h"
#include "packed/run_page.h"

struct run_page *run_page_new(void)
{
    struct run_page *page = heap_allocate(sizeof(*page));

    atomic_init(&page->holders, 1);
    return page;
}

struct run_page *run_page_hold(struct run_page *page)
{
    unsigned before = atomic_fetch_add_explicit(&page->holders, 1, memory_order_relaxed);

    assert(before > 0); /* whoever holds it once more has it from somebody who does */
    return page;
}

void run_page_release(struct run_page *page)
{
    unsigned before;

    if (!page)
        return;
    before = atomic_fetch_sub(&page->holders, 1);
    assert(before > 0);
    if (before != 1)
        return;
    page_free(&page->page);
    free(page->row.memory);
    free(page);
}

void run_page_fit(struct run_page *page)
{
    page_fit(&page->page);
}

size_t run_page_bytes(const struct run_page *page)
{
    return sizeof(*page) + page->row.capacity + page_bytes(&page->page);
}

/* ---- keys ---- */

static uint64_t run_of(struct slice key)
{
    return get_be(key.data, RUN_ID_BYTES);
}

static struct slice place_of(struct slice key)
{
    return slice_make(key.data + RUN_ID_BYTES, key.size - RUN_ID_BYTES - RUN_NUMBER_BYTES);
}

static uint64_t number_of(struct slice key)
{
    return get_be(key.data + key.size - RUN_NUMBER_BYTES, RUN_NUMBER_BYTES);
}

uint64_t run_page_run(const struct run_page *page)
{
    return run_of(page->row.key);
}

struct slice run_page_last_place(const struct run_page *page)
{
    return place_of(page->row.key);
}

uint64_t run_page_last_number(const struct run_page *page)
{
    return number_of(page->row.key);
}

struct slice run_page_key(uint8_t out[RUN_PAGE_KEY_BYTES_MAX], uint64_t run, struct slice place,
                          uint64_t number)
{
    assert(place.size <= RUN_PAGE_KEY_BYTES_MAX - RUN_ID_BYTES - RUN_NUMBER_BYTES);
    run_key(out, run);
    memcpy(out + RUN_ID_BYTES, place.data, place.size);
    put_be(out + RUN_ID_BYTES + place.size, number, RUN_NUMBER_BYTES);
    return slice_make(out, RUN_ID_BYTES + place.size + RUN_NUMBER_BYTES);
}

/*
 * The page before may end with the place that this one begins with, so a place equal to the first one is not this
 * page's for sure.
 */
bool run_page_has(const struct run_page *page, struct slice key)
{
    struct slice place = place_of(key);
    int order;

    if (run_page_run(page) != run_of(key) || slice_compare(page_place(&page->page, 0), place) >= 0)
        return false;
    order = slice_compare(run_page_last_place(page), place);
    return order > 0 || (order == 0 && run_page_last_number(page) >= number_of(key));
}
