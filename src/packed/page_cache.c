/*
 * src/packed/page_cache.c - shelves of pages in order. A run's pages are all on one shelf, so that a page and its neighbours
 * are found by one search; the room is everybody's, so that one large run may have all of it.
 *
 * A shelf is a row of drawers, and each drawer is a short row of pages: putting a page in moves its drawer's, and a lock is held
 * for one drawer at a time.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/heap.h"
#include "packed/page_cache.h"

enum {
    SHELVES = 8,
    DRAWER_PAGES_MAX = 128,
    PAGE_PART = 16, /* a page that is more of the cache than one in so many is not kept */
    ROUNDS_MAX = 3, /* looking for room: the first takes away the marks, the second the pages */
};

/* Whoever has the shelf's lock finds none that is empty. */
struct drawer {
    size_t count;
    struct run_page *page[DRAWER_PAGES_MAX];
};

struct shelf {
    pthread_rwlock_t lock; /* taken alone */
    struct drawer **drawer;
    size_t count, capacity;
    size_t hand, hand_at; /* the drawer, and the page in it, where looking for room goes on */
};

struct page_cache {
    size_t bytes_max;
    atomic_size_t bytes; /* of the pages on shelves, and of those for which room is being made */
    atomic_size_t turn;  /* the shelf that is looked at for room */
    struct shelf shelf[SHELVES];
};

struct page_cache *page_cache_new(size_t bytes_max)
{
    struct page_cache *cache = heap_allocate(sizeof(*cache));

    cache->bytes_max = bytes_max;
    for (size_t i = 0; i < SHELVES; i++)
        pthread_rwlock_init(&cache->shelf[i].lock, NULL);
    return cache;
}

static void free_drawer(struct drawer *drawer)
{
    for (size_t i = 0; i < drawer->count; i++)
        run_page_release(drawer->page[i]);
    free(drawer);
}

static void free_shelf(struct shelf *shelf)
{
    for (size_t i = 0; i < shelf->count; i++)
        free_drawer(shelf->drawer[i]);
    free(shelf->drawer);
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

/* A page's place on its shelf. Behind the last one: drawer is the shelf's count. */
struct spot {
    size_t drawer, at;
};

static struct run_page *page_on(const struct shelf *shelf, struct spot spot)
{
    return spot.drawer < shelf->count ? shelf->drawer[spot.drawer]->page[spot.at] : NULL;
}

static bool is_before(const struct run_page *page, struct slice key)
{
    return slice_compare(page->row.key, key) < 0;
}

/* The first drawer whose last page is not before the key. */
static size_t find_drawer(const struct shelf *shelf, struct slice key)
{
    size_t low = 0, high = shelf->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct drawer *drawer = shelf->drawer[middle];

        if (is_before(drawer->page[drawer->count - 1], key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first page of a drawer whose key is not before this one; its count when all are. */
static size_t find_in(const struct drawer *drawer, struct slice key)
{
    size_t low = 0, high = drawer->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (is_before(drawer->page[middle], key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first page whose key is not before this one. */
static struct spot find(const struct shelf *shelf, struct slice key)
{
    size_t drawer = find_drawer(shelf, key);

    return (struct spot){ drawer, drawer < shelf->count ? find_in(shelf->drawer[drawer], key) : 0 };
}

/* The page before a spot, NULL: it is the first. */
static struct run_page *page_before(const struct shelf *shelf, struct spot spot)
{
    if (spot.at > 0)
        return shelf->drawer[spot.drawer]->page[spot.at - 1];
    if (spot.drawer == 0)
        return NULL;
    return shelf->drawer[spot.drawer - 1]->page[shelf->drawer[spot.drawer - 1]->count - 1];
}

static struct spot spot_after(const struct shelf *shelf, struct spot spot)
{
    if (spot.at + 1 < shelf->drawer[spot.drawer]->count)
        return (struct spot){ spot.drawer, spot.at + 1 };
    return (struct spot){ spot.drawer + 1, 0 };
}

static bool is_next(const struct run_page *page, const struct run_page *after)
{
    return page && after && run_page_run(page) == run_page_run(after) &&
           page->page.ordinal + 1 == after->page.ordinal;
}

/* No page of the run lies between the key and the page at the spot, behind it: the page before is here, or there is none. */
static bool is_settled(const struct shelf *shelf, struct spot spot, uint64_t run)
{
    const struct run_page *page = page_on(shelf, spot);

    if (run_page_run(page) != run)
        return false;
    return page->page.ordinal == 0 || is_next(page_before(shelf, spot), page);
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
    struct run_page *page;
    struct spot spot;

    pthread_rwlock_rdlock(&shelf->lock);
    spot = find(shelf, key);
    page = page_on(shelf, spot);
    if (page)
        page = is_settled(shelf, spot, run) || run_page_has(page, key) ? give(page) : NULL;
    pthread_rwlock_unlock(&shelf->lock);
    return page;
}

/* On its shelf: what page_cache_neighbour() looks for. */
static struct run_page *neighbour(const struct shelf *shelf, const struct run_page *from, bool reverse)
{
    struct spot spot = find(shelf, from->row.key);
    struct run_page *page = reverse ? page_before(shelf, spot) : page_on(shelf, spot);

    if (reverse)
        return is_next(page, from) ? page : NULL;
    if (page && slice_equal(page->row.key, from->row.key))
        page = page_on(shelf, spot_after(shelf, spot));
    return is_next(from, page) ? page : NULL;
}

struct run_page *page_cache_neighbour(struct page_cache *cache, const struct run_page *from, bool reverse)
{
    struct shelf *shelf = shelf_of(cache, run_page_run(from));
    struct run_page *page;

    pthread_rwlock_rdlock(&shelf->lock);
    page = neighbour(shelf, from, reverse);
    if (page)
        page = give(page);
    pthread_rwlock_unlock(&shelf->lock);
    return page;
}

/* ---- drawers ---- */

static struct drawer *put_in_drawer(struct shelf *shelf, size_t at)
{
    struct drawer *drawer = heap_allocate(sizeof(*drawer));

    if (shelf->count == shelf->capacity) {
        shelf->capacity = 2 * shelf->capacity + 4;
        shelf->drawer = heap_grow(shelf->drawer, shelf->capacity * sizeof(struct drawer *));
    }
    memmove(&shelf->drawer[at + 1], &shelf->drawer[at], (shelf->count - at) * sizeof(struct drawer *));
    shelf->drawer[at] = drawer;
    shelf->count++;
    shelf->hand += at < shelf->hand;
    return drawer;
}

static void take_out_drawer(struct shelf *shelf, size_t at)
{
    free(shelf->drawer[at]);
    shelf->count--;
    if (at == shelf->hand)
        shelf->hand_at = 0;
    shelf->hand -= at < shelf->hand;
    memmove(&shelf->drawer[at], &shelf->drawer[at + 1], (shelf->count - at) * sizeof(struct drawer *));
}

/* All from `from` on, behind those of another one. */
static void move_pages(struct drawer *to, struct drawer *drawer, size_t from)
{
    memcpy(&to->page[to->count], &drawer->page[from], (drawer->count - from) * sizeof(struct run_page *));
    to->count += drawer->count - from;
    drawer->count = from;
}

/* The drawer of a new page, with room for it. */
static struct drawer *drawer_for(struct shelf *shelf, struct slice key)
{
    size_t at = find_drawer(shelf, key);
    struct drawer *drawer, *next;

    if (at == shelf->count && at > 0)
        at--;
    drawer = at < shelf->count ? shelf->drawer[at] : put_in_drawer(shelf, at);
    if (drawer->count < DRAWER_PAGES_MAX)
        return drawer;
    next = put_in_drawer(shelf, at + 1);
    move_pages(next, drawer, DRAWER_PAGES_MAX / 2);
    return is_before(next->page[0], key) ? next : drawer;
}

/* A drawer of which pages were taken goes, or takes in the one behind it: never are many nearly empty. Whether it is still there. */
static bool tidy(struct shelf *shelf, size_t at)
{
    struct drawer *drawer = shelf->drawer[at];

    if (drawer->count == 0) {
        take_out_drawer(shelf, at);
        return false;
    }
    if (at + 1 < shelf->count && drawer->count + shelf->drawer[at + 1]->count <= DRAWER_PAGES_MAX / 2) {
        move_pages(drawer, shelf->drawer[at + 1], 0);
        take_out_drawer(shelf, at + 1);
    }
    return true;
}

/* ---- keeping ---- */

static void let_go(struct page_cache *cache, struct run_page *page)
{
    atomic_fetch_sub(&cache->bytes, run_page_bytes(page));
    run_page_release(page);
}

/* A page that was asked for since the last time stays for one time more. */
static bool may_stay(struct run_page *page)
{
    return atomic_exchange_explicit(&page->is_wanted, false, memory_order_relaxed);
}

static bool is_full(struct page_cache *cache)
{
    return atomic_load(&cache->bytes) > cache->bytes_max;
}

/* From that page on, until there is room. Where it came to an end: the drawer's count when it looked at all of them. */
static size_t clear_drawer(struct page_cache *cache, struct drawer *drawer, size_t from)
{
    size_t kept = from, at = from;

    for (; at < drawer->count && is_full(cache); at++) {
        if (may_stay(drawer->page[at]))
            drawer->page[kept++] = drawer->page[at];
        else
            let_go(cache, drawer->page[at]);
    }
    memmove(&drawer->page[kept], &drawer->page[at], (drawer->count - at) * sizeof(struct run_page *));
    drawer->count -= at - kept;
    return kept;
}

/* The drawer whose turn it is. False: it was the shelf's last one, and all of it was looked at. */
static bool clear_next(struct page_cache *cache, struct shelf *shelf)
{
    bool is_more;

    pthread_rwlock_wrlock(&shelf->lock);
    if (shelf->hand < shelf->count) {
        struct drawer *drawer = shelf->drawer[shelf->hand];
        size_t from = shelf->hand_at < drawer->count ? shelf->hand_at : drawer->count;

        shelf->hand_at = clear_drawer(cache, drawer, from);
        if (shelf->hand_at == drawer->count) {
            shelf->hand_at = 0;
            shelf->hand += tidy(shelf, shelf->hand);
        }
    }
    is_more = shelf->hand < shelf->count;
    if (!is_more)
        shelf->hand = shelf->hand_at = 0;
    pthread_rwlock_unlock(&shelf->lock);
    return is_more;
}

/* Goes on where the last one ended, so that all pages of all shelves have their turn. Whether there is room now. */
static bool make_room(struct page_cache *cache)
{
    int left = ROUNDS_MAX * SHELVES;

    while (is_full(cache) && left > 0) {
        size_t turn = atomic_load(&cache->turn);

        if (clear_next(cache, &cache->shelf[turn % SHELVES]))
            continue;
        atomic_compare_exchange_strong(&cache->turn, &turn, turn + 1);
        left--;
    }
    return !is_full(cache);
}

/* Whether the cache has the page, which somebody has read once more. */
static bool has(struct shelf *shelf, const struct run_page *page)
{
    struct run_page *there;

    pthread_rwlock_rdlock(&shelf->lock);
    there = page_on(shelf, find(shelf, page->row.key));
    if (there && !slice_equal(there->row.key, page->row.key))
        there = NULL;
    if (there)
        atomic_store_explicit(&there->is_wanted, true, memory_order_relaxed);
    pthread_rwlock_unlock(&shelf->lock);
    return there != NULL;
}

/* False: somebody else has put it there meanwhile. */
static bool insert(struct shelf *shelf, struct run_page *page)
{
    const struct run_page *there = page_on(shelf, find(shelf, page->row.key));
    struct drawer *drawer;
    size_t at;

    if (there && slice_equal(there->row.key, page->row.key))
        return false;
    drawer = drawer_for(shelf, page->row.key);
    at = find_in(drawer, page->row.key);
    memmove(&drawer->page[at + 1], &drawer->page[at], (drawer->count - at) * sizeof(struct run_page *));
    drawer->page[at] = run_page_hold(page);
    drawer->count++;
    return true;
}

void page_cache_add(struct page_cache *cache, struct run_page *page)
{
    struct shelf *shelf = shelf_of(cache, run_page_run(page));
    size_t bytes = run_page_bytes(page);
    bool is_kept;

    if (bytes > cache->bytes_max / PAGE_PART || has(shelf, page))
        return;
    atomic_fetch_add(&cache->bytes, bytes);
    is_kept = make_room(cache);
    if (is_kept) {
        pthread_rwlock_wrlock(&shelf->lock);
        is_kept = insert(shelf, page);
        pthread_rwlock_unlock(&shelf->lock);
    }
    if (!is_kept)
        atomic_fetch_sub(&cache->bytes, bytes);
}

/* The first spot that may have a page of the run. */
static struct spot first_of(const struct shelf *shelf, uint64_t run)
{
    uint8_t key[RUN_ID_BYTES];

    run_key(key, run);
    return find(shelf, slice_make(key, sizeof(key)));
}

/* Those of one drawer. False: there are no more. */
static bool drop_some(struct page_cache *cache, struct shelf *shelf, uint64_t run)
{
    struct spot spot;
    size_t end;
    bool found;

    pthread_rwlock_wrlock(&shelf->lock);
    spot = first_of(shelf, run);
    end = spot.at;
    if (spot.drawer < shelf->count) {
        struct drawer *drawer = shelf->drawer[spot.drawer];

        for (; end < drawer->count && run_page_run(drawer->page[end]) == run; end++)
            let_go(cache, drawer->page[end]);
        memmove(&drawer->page[spot.at], &drawer->page[end],
                (drawer->count - end) * sizeof(struct run_page *));
        drawer->count -= end - spot.at;
        tidy(shelf, spot.drawer);
    }
    found = end > spot.at;
    pthread_rwlock_unlock(&shelf->lock);
    return found;
}

void page_cache_drop(struct page_cache *cache, uint64_t run)
{
    while (drop_some(cache, shelf_of(cache, run), run))
        ;
}

size_t page_cache_bytes(struct page_cache *cache)
{
    return atomic_load(&cache->bytes);
}
