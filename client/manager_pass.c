/* client/manager_pass.c - the sources from the first to the last, in batches: find what lies wrong, write it down, move it. */
#include <stdlib.h>

#include "manager.h"

struct batch {
    struct arena arena;
    struct stray stray[MOVE_ITEMS_MAX];
    size_t count, seen;
    bool sources_done;
};

void pass_end(struct pass *pass)
{
    arena_free(&pass->arena);
    pass->is_open = false;
}

static void close_cursor(orrery_manager *manager)
{
    if (manager->pass.cursor)
        manager->settings.remote.calls->list_close(manager->pass.cursor);
    manager->pass.cursor = NULL;
}

/*
 * Begins with the next source: lists its items, and reads what they are partitioned by. A source that is gone has
 * none.
 */
static orrery_status open_source(orrery_manager *manager)
{
    const struct remote *remote = &manager->settings.remote;
    struct pass *pass = &manager->pass;
    const char *link = manager->source[pass->source];
    orrery_status status;

    arena_reset(&pass->arena);
    status = key_paths_read(remote, &pass->arena, link, &pass->paths);
    if (status == ORRERY_OK)
        status = remote->calls->list_open(remote->self, link, &pass->cursor);
    if (status != ORRERY_ENOTFOUND)
        return status;
    pass->source++;
    return ORRERY_OK;
}

static orrery_status take_row(orrery_manager *manager, struct batch *batch, struct json row)
{
    struct pass *pass = &manager->pass;
    struct searched in = { manager->source[pass->source], &pass->paths, manager->target };
    bool is_stray;
    orrery_status status = stray_of(&batch->arena, &in, row, &batch->stray[batch->count], &is_stray);

    batch->seen++;
    if (status == ORRERY_OK && is_stray)
        batch->count++;
    return status;
}

/* Reads on until there is a batch, or enough was looked at. */
static orrery_status collect(orrery_manager *manager, struct batch *batch, size_t items_max)
{
    const struct remote_calls *calls = manager->settings.remote.calls;
    struct pass *pass = &manager->pass;
    orrery_status status = ORRERY_OK;
    struct json row;

    while (status == ORRERY_OK && batch->count < MOVE_ITEMS_MAX && batch->seen < items_max &&
           batch->arena.used_bytes < MOVE_BYTES_MAX && pass->source < manager->source_count) {
        if (!pass->cursor) {
            status = open_source(manager);
            continue;
        }
        status = calls->list_next(pass->cursor, &row);
        if (status == ORRERY_ROW) {
            status = take_row(manager, batch, row);
        } else if (status == ORRERY_DONE) {
            close_cursor(manager);
            pass->source++;
            status = ORRERY_OK;
        }
    }
    batch->sources_done = pass->source == manager->source_count;
    return status;
}

/* Writes down what is about to be copied, and what a manager that was ended may have copied. */
static orrery_status write_intents(orrery_manager *manager, struct batch *batch)
{
    struct arrangement *now = &manager->now;
    size_t capacity = manager->earlier_count + batch->count + INTENTS_SPARE;

    now->intent = memory_list(&batch->arena, capacity, sizeof(*now->intent));
    if (!now->intent)
        return ORRERY_ENOMEM;
    now->intent_capacity = capacity;
    now->intent_count = manager->earlier_count;
    if (manager->earlier_count)
        memcpy(now->intent, manager->earlier, manager->earlier_count * sizeof(*now->intent));
    for (size_t i = 0; i < batch->count; i++)
        now->intent[now->intent_count++] = (struct intent){ batch->stray[i].who, batch->stray[i].what };
    now->until_ms =
        manager->settings.remote.calls->now_ms(manager->settings.remote.self) + manager->settings.lease_ms;
    return arrangement_write(now, &manager->settings);
}

static void report(const orrery_manager *manager)
{
    if (manager->progress)
        manager->progress(manager->context, manager->now.seen, manager->now.moved);
}

static orrery_status move_batch(orrery_manager *manager, struct batch *batch)
{
    struct mover mover = { &manager->settings, &manager->now };
    orrery_status status = write_intents(manager, batch);
    size_t moved = 0;

    if (status == ORRERY_OK)
        status = strays_move(&mover, batch->stray, batch->count, &moved);
    manager->now.moved += moved;
    manager->moved += moved;
    manager->now.intent = NULL; /* they were the batch's */
    manager->now.intent_count = manager->now.intent_capacity = 0;
    return status;
}

/*
 * A pass begins only when no client can know the old arrangement any more. A client that did could write to a place that
 * the pass is through with, and nobody could tell whether that is older or newer than what lies in the new place.
 */
static orrery_status begin(orrery_manager *manager)
{
    struct pass *pass = &manager->pass;
    int64_t now_ms = manager->settings.remote.calls->now_ms(manager->settings.remote.self);

    if (now_ms < manager->now.since_ms + manager->now.grace_ms)
        return ORRERY_WAIT;
    *pass = (struct pass){ .is_open = true };
    arena_init(&pass->arena, MANAGER_BYTES_MAX);
    return ORRERY_OK;
}

/*
 * All is in place once a pass has found nothing out of place. An item that changed too often is left for the next
 * pass.
 */
static orrery_status finish(orrery_manager *manager)
{
    struct pass *pass = &manager->pass;
    bool is_last = pass->strays == 0;

    pass_end(pass);
    manager->earlier_count = 0; /* whatever they were about was met again, or is not there any more */
    return is_last ? ORRERY_DONE : ORRERY_OK;
}

orrery_status pass_step(orrery_manager *manager, size_t items_max)
{
    struct batch *batch;
    orrery_status status = manager->pass.is_open ? ORRERY_OK : begin(manager);

    if (status != ORRERY_OK)
        return status;
    batch = allocator_zeroed(1, sizeof(*batch));
    if (!batch)
        return ORRERY_ENOMEM;
    arena_init(&batch->arena, MANAGER_BYTES_MAX);
    status = collect(manager, batch, items_max);
    manager->now.seen += batch->seen;
    manager->pass.strays += batch->count;
    if (status == ORRERY_OK && batch->count > 0)
        status = move_batch(manager, batch);
    if (status == ORRERY_OK)
        report(manager);
    if (status == ORRERY_OK && batch->sources_done)
        status = finish(manager);
    arena_free(&batch->arena);
    allocator_free(batch);
    return status;
}
