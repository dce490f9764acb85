/* src/words/lists.c - shelves of lists, who uses them, and which are let go. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/heap.h"
#include "words/lists.h"

/* Lists in the order of their keys. */
struct word_shelf {
    unsigned references;
    struct word_list **list;
    size_t count, capacity;
};

/* All lists that stand on shelves, by when they were used. `lock` guards them and the shelves. */
static struct {
    pthread_mutex_t lock;
    struct word_list *newest, *oldest;
    struct word_lists_stats stats;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct word_shelf *word_shelf_new(void)
{
    struct word_shelf *made = heap_allocate(sizeof(*made));

    made->references = 1;
    return made;
}

struct word_shelf *word_shelf_take(struct word_shelf *shelf)
{
    pthread_mutex_lock(&all.lock);
    shelf->references++;
    pthread_mutex_unlock(&all.lock);
    return shelf;
}

/* ---- with the lock ---- */

static void unlink_list(struct word_list *list)
{
    *(list->newer ? &list->newer->older : &all.newest) = list->older;
    *(list->older ? &list->older->newer : &all.oldest) = list->newer;
    list->newer = list->older = NULL;
}

static void link_newest(struct word_list *list)
{
    list->older = all.newest;
    if (all.newest)
        all.newest->newer = list;
    else
        all.oldest = list;
    all.newest = list;
}

/* The place of a key, or where it belongs. */
static size_t place_of(const struct word_shelf *shelf, struct slice key)
{
    size_t low = 0, high = shelf->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (slice_compare(shelf->list[middle]->key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct word_list *find(const struct word_shelf *shelf, struct slice key)
{
    size_t at = place_of(shelf, key);

    return at < shelf->count && slice_equal(shelf->list[at]->key, key) ? shelf->list[at] : NULL;
}

static void count(const struct word_list *list, bool comes)
{
    all.stats.lists += comes ? 1 : (uint64_t)-1;
    all.stats.texts += comes ? list->count : (uint64_t)-list->count;
    all.stats.bytes += comes ? list->claim.bytes : (uint64_t)-list->claim.bytes;
}

static void free_if_unused(struct word_list *list)
{
    if (list->users == 0 && !list->shelf)
        word_list_free(list);
}

static void take_off(struct word_list *list)
{
    struct word_shelf *shelf = list->shelf;
    size_t at = place_of(shelf, list->key);

    assert(shelf->list[at] == list);
    memmove(&shelf->list[at], &shelf->list[at + 1], (--shelf->count - at) * sizeof(*shelf->list));
    unlink_list(list);
    count(list, false);
    list->shelf = NULL;
    free_if_unused(list);
}

static void put_on(struct word_shelf *shelf, struct slice key, struct word_list *list)
{
    size_t at = place_of(shelf, key);

    heap_list_reserve(&shelf->list, &shelf->capacity, shelf->count + 1, sizeof(*shelf->list));
    memmove(&shelf->list[at + 1], &shelf->list[at], (shelf->count++ - at) * sizeof(*shelf->list));
    shelf->list[at] = list;
    list->key = slice_make(memcpy(heap_allocate(key.size + 1), key.data, key.size), key.size);
    list->shelf = shelf;
    link_newest(list);
    count(list, true);
}

/* ---- who has which ---- */

void word_shelf_release(struct word_shelf *shelf)
{
    bool is_last;

    if (!shelf)
        return;
    pthread_mutex_lock(&all.lock);
    is_last = --shelf->references == 0;
    while (is_last && shelf->count)
        take_off(shelf->list[shelf->count - 1]);
    pthread_mutex_unlock(&all.lock);
    if (!is_last)
        return;
    free(shelf->list);
    free(shelf);
}

struct word_list *word_shelf_find(struct word_shelf *shelf, struct slice key)
{
    struct word_list *list;

    pthread_mutex_lock(&all.lock);
    list = find(shelf, key);
    if (list) {
        list->users++;
        unlink_list(list);
        link_newest(list);
    }
    pthread_mutex_unlock(&all.lock);
    return list;
}

void word_shelf_put(struct word_shelf *shelf, struct slice key, struct word_list *list)
{
    struct word_list *there;

    assert(!list->shelf && list->users > 0); /* its maker uses it */
    pthread_mutex_lock(&all.lock);
    there = find(shelf, key);
    if (!there || there->lsn < list->lsn) {
        if (there)
            take_off(there);
        put_on(shelf, key, list);
    }
    pthread_mutex_unlock(&all.lock);
}

void word_list_done(struct word_list *list)
{
    if (!list)
        return;
    pthread_mutex_lock(&all.lock);
    assert(list->users > 0);
    list->users--;
    free_if_unused(list);
    pthread_mutex_unlock(&all.lock);
}

bool word_lists_let_go(const struct account *account)
{
    struct word_list *list;

    pthread_mutex_lock(&all.lock);
    for (list = all.oldest; list && (list->users > 0 || list->claim.account != account);)
        list = list->newer;
    if (list)
        take_off(list);
    pthread_mutex_unlock(&all.lock);
    return list != NULL;
}

void word_lists_stats(struct word_lists_stats *stats)
{
    pthread_mutex_lock(&all.lock);
    *stats = all.stats;
    pthread_mutex_unlock(&all.lock);
}
