/* src/workload/workload.c - the lists in which actions wait, and the lock of the record. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/thread.h"
#include "workload/book.h"

enum { LISTS = 16, LIST_SIZE = 32, LIST_KNOWN = 16 };

/* Actions that wait. A thread has always the same list, which it shares with few others. */
struct list {
    pthread_mutex_t lock;
    size_t count;
    struct waiting waiting[LIST_SIZE];
    struct container_record *known[LIST_KNOWN]; /* some containers' records, each where its rid says */
    char apart[64];                             /* from the next one's lock */
};

struct workload {
    struct workload_options options;
    _Atomic uint64_t times_forgotten;
    pthread_mutex_t lock; /* of the record; whoever holds lists' locks may take it, and not the other way */
    struct book book;
    struct list list[LISTS];
};

static unsigned my_list(void)
{
    return thread_number() % LISTS;
}

struct workload *workload_open(const struct workload_options *options)
{
    struct workload *workload = heap_allocate(sizeof(*workload));

    workload->options = *options;
    pthread_mutex_init(&workload->lock, NULL);
    for (size_t i = 0; i < LISTS; i++)
        pthread_mutex_init(&workload->list[i].lock, NULL);
    book_init(&workload->book, options->account, options->env);
    return workload;
}

void workload_close(struct workload *workload)
{
    if (!workload)
        return;
    book_free(&workload->book);
    for (size_t i = 0; i < LISTS; i++)
        pthread_mutex_destroy(&workload->list[i].lock);
    pthread_mutex_destroy(&workload->lock);
    free(workload);
}

bool workload_records(const struct workload *workload)
{
    return workload && workload->options.records;
}

/* ---- lists ---- */

/* Both locks are held. */
static void empty(struct workload *workload, struct list *list)
{
    for (size_t i = 0; i < list->count; i++)
        book_action(&workload->book, &list->waiting[i]);
    list->count = 0;
}

/* The list's lock is held. NULL: there is no room for the container. */
static struct container_record *find_container(struct workload *workload, struct list *list,
                                               const struct workload_told *told)
{
    struct container_record **known = &list->known[rid_owner(told->container) % LIST_KNOWN];

    if (*known && rid_equal(&(*known)->rid, told->container))
        return *known;
    pthread_mutex_lock(&workload->lock);
    *known = book_container(&workload->book, told->container, told->link);
    pthread_mutex_unlock(&workload->lock);
    return *known;
}

/* A part of what the operation cost, if it had several actions. */
struct share {
    enum work_kind kind;
    const struct noted_key *key;
    uint32_t charge, bytes, took_us;
    uint64_t id_hash;
};

static void put_in_line(struct workload *workload, const struct workload_told *told,
                        const struct share *share)
{
    struct list *list = &workload->list[my_list()];
    struct container_record *container;
    struct waiting *waiting;

    pthread_mutex_lock(&list->lock);
    container = find_container(workload, list, told);
    if (container) {
        waiting = &list->waiting[list->count++];
        waiting->container = container;
        waiting->kind = share->kind;
        waiting->failed = told->failed;
        waiting->ranges_there = told->ranges_there;
        waiting->charge = share->charge;
        waiting->bytes = share->bytes;
        waiting->took_us = share->took_us;
        waiting->id_hash = share->id_hash;
        waiting->at_ms = told->at_ms;
        waiting->key.size = share->key->size;
        memcpy(waiting->key.text, share->key->text, share->key->size);
    }
    if (list->count == LIST_SIZE) {
        pthread_mutex_lock(&workload->lock);
        empty(workload, list);
        pthread_mutex_unlock(&workload->lock);
    }
    pthread_mutex_unlock(&list->lock);
}

/* Nothing that was noted before is left in a list. */
static void settle(struct workload *workload)
{
    for (size_t i = 0; i < LISTS; i++) {
        struct list *list = &workload->list[i];

        pthread_mutex_lock(&list->lock);
        if (list->count) {
            pthread_mutex_lock(&workload->lock);
            empty(workload, list);
            pthread_mutex_unlock(&workload->lock);
        }
        pthread_mutex_unlock(&list->lock);
    }
}

/* For who replaces the record as a whole: lists know parts of it. */
static void lock_all(struct workload *workload)
{
    for (size_t i = 0; i < LISTS; i++)
        pthread_mutex_lock(&workload->list[i].lock);
    pthread_mutex_lock(&workload->lock);
    for (size_t i = 0; i < LISTS; i++) {
        empty(workload, &workload->list[i]);
        memset(workload->list[i].known, 0, sizeof(workload->list[i].known));
    }
}

static void unlock_all(struct workload *workload)
{
    pthread_mutex_unlock(&workload->lock);
    for (size_t i = 0; i < LISTS; i++)
        pthread_mutex_unlock(&workload->list[i].lock);
}

/* ---- what has ended ---- */

/* Whatever is beyond 32 bits is one operation's, and as good as endless. */
static uint32_t narrow(uint64_t number)
{
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

static struct share share_of(const struct workload *workload, const struct workload_told *told, size_t parts)
{
    return (struct share){ .kind = told->kind,
                           .key = &told->noted->key,
                           .charge = narrow((uint64_t)(told->charge * 100 + 0.5) / parts),
                           .bytes = narrow(told->bytes / parts),
                           .took_us = narrow((uint64_t)told->took_us / parts),
                           .id_hash = told->id.data ? book_id_hash(&workload->book, told->id) : 0 };
}

static void note_actions(struct workload *workload, const struct workload_told *told)
{
    const struct noted *noted = told->noted;
    struct share share = share_of(workload, told, noted->count);

    for (size_t i = 0; i < noted->count; i++) {
        const struct noted_action *action = noted_action(noted, i);

        share.kind = action->kind;
        share.key = &action->key;
        put_in_line(workload, told, &share);
    }
}

/* What is not for lists: it is rarer, or dearer by itself. */
static void note_at_once(struct workload *workload, const struct workload_told *told)
{
    const struct noted *noted = told->noted;
    struct container_record *container;
    bool has_changes = noted->query.outline != NULL;

    for (size_t i = 0; i < noted->count && !has_changes; i++)
        has_changes = noted_action(noted, i)->path_count > 0;
    if (!has_changes || told->failed)
        return;
    if (noted->query.outline)
        settle(workload); /* a query is compared with the reads before it */
    pthread_mutex_lock(&workload->lock);
    container = book_container(&workload->book, told->container, told->link);
    if (container && noted->query.outline)
        book_query(&workload->book, container, told);
    for (size_t i = 0; container && i < noted->count; i++)
        book_changes(&workload->book, container, noted_action(noted, i));
    pthread_mutex_unlock(&workload->lock);
}

void workload_note(struct workload *workload, const struct workload_told *told)
{
    assert(told->noted);
    assert(told->kind < WORK_KINDS);
    if (told->noted->count && !told->failed)
        note_actions(workload, told);
    if (told->noted->count == 0 || told->failed || told->kind == WORK_SCRIPT) {
        struct share share = share_of(workload, told, 1);

        if (told->noted->count && !told->failed)
            share.charge = share.bytes = 0; /* its actions have them */
        put_in_line(workload, told, &share);
    }
    note_at_once(workload, told);
}

/* ---- as a whole ---- */

void workload_forget(struct workload *workload)
{
    lock_all(workload);
    book_clear(&workload->book, workload->options.env);
    unlock_all(workload);
    atomic_fetch_add(&workload->times_forgotten, 1);
}

void workload_drop(struct workload *workload, const struct rid *rid)
{
    lock_all(workload);
    book_drop(&workload->book, rid);
    unlock_all(workload);
}

uint64_t workload_times_forgotten(struct workload *workload)
{
    return atomic_load(&workload->times_forgotten);
}

bool workload_has_changed(struct workload *workload)
{
    bool is_changed;

    settle(workload);
    pthread_mutex_lock(&workload->lock);
    is_changed = workload->book.is_changed;
    workload->book.is_changed = false;
    pthread_mutex_unlock(&workload->lock);
    return is_changed;
}

/* A container at a time, so that nobody waits for long. */
static bool print_container(struct workload *workload, struct buf *out, enum workload_form form, size_t index)
{
    bool is_there;

    pthread_mutex_lock(&workload->lock);
    is_there = index < workload->book.container_count;
    if (is_there)
        book_print_container(&workload->book, out, form, index);
    pthread_mutex_unlock(&workload->lock);
    return is_there;
}

void workload_print(struct workload *workload, struct buf *out, enum workload_form form)
{
    settle(workload);
    pthread_mutex_lock(&workload->lock);
    book_print_head(&workload->book, out, form, workload->options.records);
    pthread_mutex_unlock(&workload->lock);
    for (size_t i = 0; print_container(workload, out, form, i);)
        i++;
    buf_text(out, "]}");
}

enum status workload_read(struct op *op, struct workload *workload, struct slice text)
{
    enum status st;

    lock_all(workload);
    assert(workload->book.container_count == 0);
    st = book_read(op, &workload->book, text);
    if (st != ST_OK)
        book_clear(&workload->book, workload->options.env);
    workload->book.is_changed = false;
    unlock_all(workload);
    return st;
}
