/* src/catalog/carry.c - numbers and LSNs, from the catalog of before to the one of an earlier moment. */
#include <assert.h>

#include "base/thread.h"
#include "catalog/carry.h"
#include "catalog/change.h"
#include "catalog/entry.h"

/* The parts of all containers. Each is a reference. */
static struct container **list_all(struct op *op, struct catalog *catalog, size_t *count)
{
    size_t databases, most, parts = 0, listed;
    struct container **list, **all;

    catalog_count(catalog, &databases, &most);
    list = arena_alloc(&op->arena, (most + 1) * sizeof(*list));
    listed = catalog_list_where(catalog, NULL, NULL, list, most);
    for (size_t i = 0; i < listed; i++)
        parts += list[i]->part_count;
    all = arena_alloc(&op->arena, (parts + 1) * sizeof(*all));
    *count = 0;
    for (size_t i = 0; i < listed; i++) {
        for (uint32_t j = 0; j < list[i]->part_count; j++)
            all[(*count)++] = container_take(list[i]->part[j]);
        container_release(list[i]);
    }
    return all;
}

static void release_all(struct container **list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        container_release(list[i]);
}

/* Numbers that were given out and not committed are passed over with the others. */
enum { NUMBERS_BESIDE = 16 };

static void take_dropped(struct catalog *catalog, struct past *past)
{
    readers_enter(&catalog->lock);
    for (const struct container *old = catalog->dropped; old; old = old->life->next_dropped)
        past_note(past, past_name(old->link), container_lsn(old));
    readers_leave(&catalog->lock);
}

void carry_take(struct op *op, struct catalog *catalog, struct carried *carried)
{
    struct container **list = list_all(op, catalog, &carried->count);

    pthread_mutex_lock(&catalog->changing);
    carried->number = bucket_next_counter(catalog->bucket) + NUMBERS_BESIDE;
    carried->past = arena_alloc(&op->arena, sizeof(*carried->past));
    *carried->past = catalog->past;
    pthread_mutex_unlock(&catalog->changing);
    take_dropped(catalog, carried->past);
    carried->items = arena_alloc(&op->arena, (carried->count + 1) * sizeof(*carried->items));
    for (size_t i = 0; i < carried->count; i++) {
        past_note(carried->past, past_name(list[i]->link), container_lsn(list[i]));
        carried->items[i] = (struct carried_items){ list[i]->bucket_id,
                                                    bucket_next_counter(list[i]->bucket) + NUMBERS_BESIDE };
    }
    release_all(list, carried->count);
}

/*
 * Of a container that was dropped since, nobody knows how many items it got. It goes on far above: numbers of the catalog rise
 * with every restore, so a million items may come between two of them.
 */
static uint64_t counter_of(const struct carried *carried, const struct container *container)
{
    enum { ITEMS_BITS = 16, COUNTER_BITS = 39 };
    const uint64_t most = (uint64_t)1 << COUNTER_BITS, far = carried->number << ITEMS_BITS;
    uint64_t above;

    for (size_t i = 0; i < carried->count; i++)
        if (carried->items[i].bucket == container->bucket_id)
            return carried->items[i].counter;
    above = bucket_next_counter(container->bucket) + far; /* of what it had at that moment */
    return above < most ? above : most;
}

static struct batch *raise_container(struct op *op, const struct container *container,
                                     const struct carried *carried)
{
    struct batch *batch = batch_new(op, container->bucket_id);
    uint64_t counter = counter_of(carried, container);

    batch_begins_above(batch, past_lsn(carried->past, past_name(container->link)));
    batch_uses_counter(batch, counter);
    return batch;
}

/* The names that both know keep the larger LSN. */
static struct batch *raise_catalog(struct op *op, struct catalog *catalog, const struct carried *carried)
{
    struct batch *batch = change_begin(op, catalog);
    struct past *past = &catalog->past;

    thread_assert_locked(&catalog->changing);
    if (past->floor_lsn < carried->past->floor_lsn)
        past->floor_lsn = carried->past->floor_lsn;
    for (size_t i = 0; i < carried->past->count; i++)
        past_note(past, carried->past->known[i].name, carried->past->known[i].lsn);
    batch_uses_counter(batch, carried->number);
    batch_put(batch, key_past(&op->arena), past_encode(op, past));
    return batch;
}

enum status carry_give(struct op *op, struct catalog *catalog, const struct carried *carried)
{
    size_t count;
    struct container **list = list_all(op, catalog, &count);
    struct commit *commits = arena_alloc(&op->arena, (count + 1) * sizeof(*commits));
    enum status st = change_lock(op, catalog);

    if (st != ST_OK)
        goto out;
    for (size_t i = 0; i < count; i++)
        commits[i] =
            (struct commit){ .batch = raise_container(op, list[i], carried), .bucket = list[i]->bucket };
    commits[count] =
        (struct commit){ .batch = raise_catalog(op, catalog, carried), .bucket = catalog->bucket };
    TRY(store_commit_together(op, commits, count + 1));
    change_note_lsn(catalog, commits[count].stamp.lsn);
out:
    change_unlock(catalog);
    release_all(list, count);
    return st;
}
