/*
 * src/packed/page_cache.c - shelves of pages in order. A run's pages are all on one shelf, side by side, so that a page
 * and its neighbours are found by one search.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/heap.h"
#include "packed/page_cache.h"

enum {
    SHELVES = 8,
    ROOM_PART = 8, /* of a full shelf so much is cleared at once, because clearing looks at all of it */
};

struct shelf {
    pthread_rwlock_t lock; /* taken alone */
    struct run_page **page;
    size_t count, capacity;
    size_t bytes;
    size_t hand; /* where looking for room goes on */
};

struct page_cache {
    size_t shelf_bytes_max;
    struct shelf shelf[SHELVES];
};

struct page_cache *page_cache_new(size_t bytes_max)
{
    struct page_cache *cache = heap_allocate(sizeof(*cache));

    cache->shelf_bytes_max = bytes_max / SHELVES;
    for (size_t i = 0; i < SHELVES; i++)
        pthread_rwlock_init(&cache->shelf[i].lock, NULL);
    return cache;
}

static void free_shelf(struct shelf *shelf)
{
    for (size_t i = 0; i < shelf->count; i++)
        run_page_release(shelf->page[i]);
    free(shelf->page);
    pthread_rwlock_destroy(&shelf->lock);
}

void page_cache_free(struct page_cache *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i < SHELVES; i++)
        free_shelf(&cache->shelf[i]);
    free(cache);
}

static struct shelf *shelf_of(struct page_cache *cache, uint64_t run)
{
    return &cache->shelf[run % SHELVES];
}

/* ---- looking ---- */

/* The first page whose key is not before this one; `count` when all are. */
static size_t find(const struct shelf *shelf, struct slice key)
{
    size_t low = 0, high = shelf->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (slice_compare(shelf->page[middle]->row.key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_next(const struct run_page *page, const struct run_page *after)
{
    return run_page_run(page) == run_page_run(after) && page->page.ordinal + 1 == after->page.ordinal;
}

/* No page of the run lies between the key and the page at `at`, behind it: the page before is here, or there is none. */
static bool is_settled(const struct shelf *shelf, size_t at, uint64_t run)
{
    const struct run_page *page = shelf->page[at];

    if (run_page_run(page) != run)
        return false;
    return page->page.ordinal == 0 || (at > 0 && is_next(shelf->page[at - 1], page));
}

static struct run_page *give(struct run_page *page)
{
    if (!atomic_load_explicit(&page->is_wanted, memory_order_relaxed))
        atomic_store_explicit(&page->is_wanted, true, memory_order_relaxed);
    return run_page_hold(page);
}

struct run_page *page_cache_at(struct page_cache *cache, uint64_t run, struct slice key)
{
    struct shelf *shelf = shelf_of(cache, run);
    struct run_page *page = NULL;
    size_t at;

    pthread_rwlock_rdlock(&shelf->lock);
    at = find(shelf, key);
    if (at < shelf->count && (is_settled(shelf, at, run) || run_page_has(shelf->page[at], key)))
        page = give(shelf->page[at]);
    pthread_rwlock_unlock(&shelf->lock);
    return page;
}

struct run_page *page_cache_neighbour(struct page_cache *cache, const struct run_page *from, bool reverse)
{
    struct shelf *shelf = shelf_of(cache, run_page_run(from));
    struct run_page *page = NULL;
    size_t at;

    pthread_rwlock_rdlock(&shelf->lock);
    at = find(shelf, from->row.key);
    if (reverse && at > 0 && is_next(shelf->page[at - 1], from))
        page = give(shelf->page[at - 1]);
    at += !reverse && at < shelf->count && slice_equal(shelf->page[at]->row.key, from->row.key);
    if (!reverse && at < shelf->count && is_next(from, shelf->page[at]))
        page = give(shelf->page[at]);
    pthread_rwlock_unlock(&shelf->lock);
    return page;
}

/* ---- keeping ---- */

/* Puts the pages that are left side by side again. */
static void close_gaps(struct shelf *shelf)
{
    size_t kept = 0;

    for (size_t i = 0; i < shelf->count; i++)
        if (shelf->page[i])
            shelf->page[kept++] = shelf->page[i];
    shelf->count = kept;
}

static void let_go(struct shelf *shelf, size_t at)
{
    shelf->bytes -= run_page_bytes(shelf->page[at]);
    run_page_release(shelf->page[at]);
    shelf->page[at] = NULL;
}

/* Once round the shelf: a page that was asked for since the last time stays for one time more. */
static void clear(struct shelf *shelf, size_t bytes_max)
{
    size_t left = shelf->count;

    for (; left > 0 && shelf->bytes > bytes_max; left--) {
        shelf->hand = shelf->hand + 1 < shelf->count ? shelf->hand + 1 : 0;
        if (!atomic_exchange_explicit(&shelf->page[shelf->hand]->is_wanted, false, memory_order_relaxed))
            let_go(shelf, shelf->hand);
    }
    close_gaps(shelf);
}

static void make_room(struct shelf *shelf, size_t bytes, size_t bytes_max)
{
    if (shelf->bytes + bytes <= bytes_max)
        return;
    while (shelf->bytes + bytes > bytes_max - bytes_max / ROOM_PART && shelf->count > 0)
        clear(shelf, bytes_max - bytes_max / ROOM_PART - bytes);
}

static void insert(struct shelf *shelf, struct run_page *page)
{
    size_t at = find(shelf, page->row.key);

    if (shelf->count == shelf->capacity) {
        shelf->capacity = 2 * shelf->capacity + 16;
        shelf->page = heap_grow(shelf->page, shelf->capacity * sizeof(struct run_page *));
    }
    memmove(&shelf->page[at + 1], &shelf->page[at], (shelf->count - at) * sizeof(struct run_page *));
    shelf->page[at] = run_page_hold(page);
    shelf->count++;
    shelf->bytes += run_page_bytes(page);
}

static bool has(const struct shelf *shelf, struct slice key)
{
    size_t at = find(shelf, key);

    return at < shelf->count && slice_equal(shelf->page[at]->row.key, key);
}

void page_cache_add(struct page_cache *cache, struct run_page *page)
{
    struct shelf *shelf = shelf_of(cache, run_page_run(page));
    size_t bytes = run_page_bytes(page);

    if (bytes > cache->shelf_bytes_max / 2)
        return;
    pthread_rwlock_wrlock(&shelf->lock);
    if (!has(shelf, page->row.key)) {
        make_room(shelf, bytes, cache->shelf_bytes_max);
        insert(shelf, page);
    }
    pthread_rwlock_unlock(&shelf->lock);
}

void page_cache_drop(struct page_cache *cache, uint64_t run)
{
    struct shelf *shelf = shelf_of(cache, run);
    uint8_t key[RUN_ID_BYTES];
    size_t at;

    run_key(key, run);
    pthread_rwlock_wrlock(&shelf->lock);
    for (at = find(shelf, slice_make(key, sizeof(key)));
         at < shelf->count && run_page_run(shelf->page[at]) == run; at++)
        let_go(shelf, at);
    close_gaps(shelf);
    pthread_rwlock_unlock(&shelf->lock);
}

size_t page_cache_bytes(struct page_cache *cache)
{
    size_t bytes = 0;

    for (size_t i = 0; i < SHELVES; i++) {
        pthread_rwlock_rdlock(&cache->shelf[i].lock);
        bytes += cache->shelf[i].bytes;
        pthread_rwlock_unlock(&cache->shelf[i].lock);
    }
    return bytes;
}
