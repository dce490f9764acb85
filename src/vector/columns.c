/* src/vector/columns.c - shelves of columns, who uses them, and the thread that builds their graphs. */
#include <assert.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/heap.h"
#include "base/thread.h"
#include "vector/column_private.h"
#include "vector/columns.h"

enum { STATE_NEW, STATE_READY, STATE_GONE };
enum { BUILDER_NICE = 5 };

struct vector_shelf {
    unsigned references;
    struct vector_column *first;
};

/* All columns of the process. `lock` guards them and the lists of shelves; it is never held over work on a column. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t rested; /* the builder let go of a column */
    struct vector_column *first, *building;
    uint64_t clock;
    bool builds;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER, .rested = PTHREAD_COND_INITIALIZER };

struct vector_shelf *vector_shelf_new(void)
{
    struct vector_shelf *made = heap_allocate(sizeof(*made));

    made->references = 1;
    return made;
}

struct vector_shelf *vector_shelf_take(struct vector_shelf *shelf)
{
    pthread_mutex_lock(&all.lock);
    shelf->references++;
    pthread_mutex_unlock(&all.lock);
    return shelf;
}

/* ---- with the lock ---- */

static void unlink_column(struct vector_column *column)
{
    struct vector_column **at = &all.first;

    while (*at != column)
        at = &(*at)->next_of_all;
    *at = column->next_of_all;
    for (at = &column->shelf->first; *at != column;)
        at = &(*at)->next;
    *at = column->next;
}

static void free_column(struct vector_column *column)
{
    unlink_column(column);
    while (all.building == column)
        pthread_cond_wait(&all.rested, &all.lock);
    vector_column_free(column);
}

static struct vector_column *add_column(struct vector_shelf *shelf, const struct vector_key *key,
                                        struct account *account)
{
    struct vector_column *made = vector_column_new(key, account);

    made->shelf = shelf;
    made->next = shelf->first;
    made->next_of_all = all.first;
    shelf->first = all.first = made;
    return made;
}

static bool is_same(const struct vector_key *a, const struct vector_key *b)
{
    return slice_equal(a->path, b->path) && a->dimensions == b->dimensions && a->type == b->type &&
           a->function == b->function && a->graph_from == b->graph_from && a->build_list == b->build_list;
}

static struct vector_column *find_column(const struct vector_shelf *shelf, const struct vector_key *key)
{
    struct vector_column *column = shelf->first;

    while (column && (column->state == STATE_GONE || !is_same(&column->key, key)))
        column = column->next;
    return column;
}

/* ---- the builder ---- */

/* A column whose graph can be built further, from the one behind the last on. */
static struct vector_column *next_to_build(struct vector_column *column)
{
    for (; column; column = column->next_of_all)
        if (column->state == STATE_READY && column->wants_building)
            return column;
    return NULL;
}

static void build(struct vector_column *column, uint64_t random)
{
    bool goes_on;

    vector_column_lock(column);
    goes_on = vector_column_build(column, random);
    vector_column_unlock(column);
    pthread_mutex_lock(&all.lock);
    if (!goes_on)
        column->wants_building = false;
    all.building = NULL;
    pthread_cond_broadcast(&all.rested);
    pthread_mutex_unlock(&all.lock);
}

static void *run_builder(void *context)
{
    uint64_t random = 1;

    (void)context;
    setpriority(PRIO_PROCESS, (id_t)gettid(), BUILDER_NICE);
    for (;;) {
        struct vector_column *column;

        pthread_mutex_lock(&all.lock);
        column = all.building = next_to_build(all.first);
        all.builds = column != NULL;
        pthread_mutex_unlock(&all.lock);
        if (!column)
            return NULL;
        random = random * 6364136223846793005u + 1442695040888963407u;
        build(column, random >> 24);
    }
}

/* Where no thread can be had there is no graph, and codes are scanned. */
static void wake_builder(struct vector_column *column)
{
    pthread_t thread;

    column->wants_building = column_wants_building(column);
    if (!column->wants_building || all.builds)
        return;
    all.builds = pthread_create(&thread, NULL, run_builder, NULL) == 0;
    if (all.builds)
        pthread_detach(thread);
}

/* ---- who has which ---- */

void vector_shelf_release(struct vector_shelf *shelf)
{
    bool is_last;

    if (!shelf)
        return;
    pthread_mutex_lock(&all.lock);
    is_last = --shelf->references == 0;
    while (is_last && shelf->first) {
        assert(shelf->first->users == 0); /* whoever uses one has the container */
        free_column(shelf->first);
    }
    pthread_mutex_unlock(&all.lock);
    if (is_last)
        free(shelf);
}

enum vector_found vector_shelf_find(struct vector_shelf *shelf, const struct vector_key *key,
                                    struct account *account, struct vector_column **column)
{
    enum vector_found found = VECTOR_READY;

    pthread_mutex_lock(&all.lock);
    *column = find_column(shelf, key);
    if (!*column) {
        *column = add_column(shelf, key, account);
        found = VECTOR_NEW;
    } else if ((*column)->state == STATE_NEW) {
        *column = NULL;
        found = VECTOR_BUSY;
    }
    if (*column) {
        (*column)->users++;
        (*column)->used_at = ++all.clock;
    }
    pthread_mutex_unlock(&all.lock);
    return found;
}

void vector_shelf_publish(struct vector_column *column)
{
    pthread_mutex_lock(&all.lock);
    assert(column->state == STATE_NEW);
    column->state = STATE_READY;
    wake_builder(column);
    pthread_mutex_unlock(&all.lock);
}

void vector_column_drop(struct vector_column *column)
{
    pthread_mutex_lock(&all.lock);
    column->state = STATE_GONE;
    pthread_mutex_unlock(&all.lock);
}

void vector_shelf_give_up(struct vector_column *column)
{
    vector_column_drop(column);
    vector_column_done(column);
}

void vector_column_done(struct vector_column *column)
{
    if (!column)
        return;
    pthread_mutex_lock(&all.lock);
    assert(column->users > 0);
    column->users--;
    if (column->users == 0 && column->state == STATE_GONE)
        free_column(column);
    else if (column->state == STATE_READY && !column->wants_building)
        wake_builder(column);
    pthread_mutex_unlock(&all.lock);
}

bool vector_columns_let_go(const struct account *account)
{
    struct vector_column *oldest = NULL;

    pthread_mutex_lock(&all.lock);
    for (struct vector_column *column = all.first; column; column = column->next_of_all)
        if (column->users == 0 && column->state == STATE_READY && column->claim.account == account &&
            (!oldest || column->used_at < oldest->used_at))
            oldest = column;
    if (oldest)
        free_column(oldest);
    pthread_mutex_unlock(&all.lock);
    return oldest != NULL;
}

void vector_columns_stats(struct vector_columns_stats *stats)
{
    *stats = (struct vector_columns_stats){ .recall_percent = 100 };
    pthread_mutex_lock(&all.lock);
    for (struct vector_column *column = all.first; column; column = column->next_of_all) {
        struct vector_column_stats of;

        vector_column_stats(column, &of);
        stats->columns++;
        stats->vectors += of.vectors;
        stats->bytes += of.bytes;
        stats->graph_vectors += of.graph;
        stats->building += column->wants_building;
        stats->graphs += of.is_walked;
        if (of.is_walked && of.recall_percent < stats->recall_percent)
            stats->recall_percent = of.recall_percent;
    }
    pthread_mutex_unlock(&all.lock);
}
