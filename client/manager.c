/* client/manager.c - the partitioning manager: opens, takes the lease, goes from phase to phase. */
#include <stdlib.h>

#include "hash_ring.h"
#include "manager.h"

enum { STEP_ITEMS = 10000, WAIT_MS = 50 };

/*
 * New collections may get at most so many even shares of the documents. Where they would get more, another name is
 * tried.
 */
#define SHARE_MAX 1.25

static void drop_work(orrery_manager *manager)
{
    if (manager->pass.cursor)
        manager->settings.remote.calls->list_close(manager->pass.cursor);
    if (manager->pass.is_open)
        pass_end(&manager->pass);
    manager->pass = (struct pass){ .is_open = false };
    orrery_resolver_unref(manager->target);
    manager->target = NULL;
    arena_reset(&manager->arena);
    manager->earlier_count = manager->source_count = 0;
}

void orrery_manager_close(orrery_manager *manager)
{
    if (!manager)
        return;
    drop_work(manager);
    arena_free(&manager->arena);
    arrangement_free(&manager->now);
    settings_free(&manager->settings);
    allocator_free(manager);
}

static int64_t now_ms(const orrery_manager *manager)
{
    return manager->settings.remote.calls->now_ms(manager->settings.remote.self);
}

/* Tells the client how documents lie from now on. */
static orrery_status publish(orrery_manager *manager)
{
    orrery_resolver *resolver = NULL;
    orrery_status status = arrangement_resolver(&manager->now, &manager->settings, &resolver);

    if (status == ORRERY_OK && manager->publish)
        status = manager->publish(manager->listener, manager->settings.database_link, resolver);
    orrery_resolver_unref(resolver);
    return status;
}

/* Writes the arrangement as ours for a while. */
static orrery_status write_held(orrery_manager *manager)
{
    manager->now.owner = slice_of(manager->settings.owner);
    manager->now.until_ms = now_ms(manager) + manager->settings.lease_ms;
    return arrangement_write(&manager->now, &manager->settings);
}

static orrery_status write_released(orrery_manager *manager)
{
    manager->now.owner = slice_of("");
    manager->now.until_ms = 0;
    return arrangement_write(&manager->now, &manager->settings);
}

/* Reads the arrangement anew and holds it, or says who does. */
static orrery_status acquire(orrery_manager *manager)
{
    orrery_status status = arrangement_read(&manager->now, &manager->settings);

    if (status != ORRERY_OK)
        return status;
    if (manager->now.owner.size && !slice_is(manager->now.owner, manager->settings.owner) &&
        manager->now.until_ms > now_ms(manager))
        return busy(&manager->settings, "another manager holds the arrangement, and its lease is not over");
    if (manager->now.grace_ms <
        manager->settings.grace_ms) /* clients go by what they read: the longer one holds */
        manager->now.grace_ms = manager->settings.grace_ms;
    return write_held(manager);
}

static bool has_link(const char *const *links, size_t count, const char *link)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(links[i], link) == 0)
            return true;
    return false;
}

/* The collections that may hold documents of others: those that go, or all of them if collections only come. */
static orrery_status find_sources(orrery_manager *manager)
{
    struct arrangement *now = &manager->now;
    bool is_dropping = now->phase == PHASE_DROPPING;
    const char **links = is_dropping ? now->next : now->link;
    size_t count = is_dropping ? now->next_count : now->count;
    bool shrinks = is_dropping || now->next_count < now->count;

    manager->source = memory_list(&manager->arena, count, sizeof(*manager->source));
    if (!manager->source)
        return ORRERY_ENOMEM;
    manager->source_count = 0;
    for (size_t i = 0; i < count; i++)
        if (is_dropping || !shrinks || !has_link(now->next, now->next_count, links[i]))
            manager->source[manager->source_count++] = links[i];
    return ORRERY_OK;
}

/* What a manager wrote down before it was ended is kept until the first pass has met it all. */
static orrery_status keep_earlier(orrery_manager *manager)
{
    struct arrangement *now = &manager->now;

    manager->earlier = memory_list(&manager->arena, now->intent_count, sizeof(*now->intent));
    if (!manager->earlier)
        return ORRERY_ENOMEM;
    if (now->intent_count)
        memcpy(manager->earlier, now->intent, now->intent_count * sizeof(*now->intent));
    manager->earlier_count = now->intent_count;
    return ORRERY_OK;
}

/* Prepares the work of the phase. */
static orrery_status prepare(orrery_manager *manager)
{
    struct arrangement *now = &manager->now;
    bool is_moving = now->phase == PHASE_MOVING;
    orrery_status status;

    drop_work(manager);
    now->since_ms = now_ms(manager); /* clients can know it only now that it is written, and by our clock */
    status = find_sources(manager);
    if (status == ORRERY_OK)
        status = keep_earlier(manager);
    if (status == ORRERY_OK)
        status = publish(manager);
    if (status == ORRERY_OK)
        status = settings_ring(&manager->settings, is_moving ? now->next : now->link,
                               is_moving ? now->next_count : now->count, &manager->target);
    return status;
}

static orrery_status resume(orrery_manager *manager)
{
    orrery_status status = arrangement_read(&manager->now, &manager->settings);

    if (status != ORRERY_OK)
        return status;
    if (manager->now.phase == PHASE_STABLE) {
        status = publish(manager);
        return status == ORRERY_OK ? ORRERY_DONE : status;
    }
    status = acquire(manager);
    return status == ORRERY_OK ? prepare(manager) : status;
}

static orrery_status become_stable(orrery_manager *manager)
{
    struct arrangement *now = &manager->now;
    orrery_status status;

    now->phase = PHASE_STABLE;
    now->next_count = 0;
    now->grace_ms = manager->settings.grace_ms;
    now->since_ms = now_ms(manager);
    status = write_released(manager);
    if (status == ORRERY_OK)
        status = publish(manager);
    if (status == ORRERY_OK)
        drop_work(manager);
    return status == ORRERY_OK ? ORRERY_DONE : status;
}

/*
 * All documents are in their new places. Collections that go have a phase of their own, so that every client
 * forgets them first.
 */
static orrery_status all_moved(orrery_manager *manager)
{
    struct arrangement *now = &manager->now;
    const char **links = now->link, **gone;
    size_t count = now->count, gone_count = 0;
    orrery_status status;

    gone = memory_list(&now->arena, count, sizeof(*gone));
    if (!gone)
        return ORRERY_ENOMEM;
    for (size_t i = 0; i < count; i++)
        if (!has_link(now->next, now->next_count, links[i]))
            gone[gone_count++] = links[i];
    now->link = now->next;
    now->count = now->next_count;
    now->next = gone;
    now->next_count = gone_count;
    if (gone_count == 0)
        return become_stable(manager);
    now->phase = PHASE_DROPPING;
    now->since_ms = now_ms(manager);
    status = write_held(manager);
    return status == ORRERY_OK ? prepare(manager) : status;
}

static orrery_status drop_collections(orrery_manager *manager)
{
    const struct remote *remote = &manager->settings.remote;
    orrery_status status = write_held(manager); /* still ours: nobody else has begun anything with them */

    for (size_t i = 0; i < manager->now.next_count && status == ORRERY_OK; i++) {
        status = remote->calls->drop(remote->self, manager->now.next[i]);
        if (status == ORRERY_ENOTFOUND)
            status = ORRERY_OK;
    }
    return status == ORRERY_OK ? become_stable(manager) : status;
}

static orrery_status work(orrery_manager *manager, size_t items_max)
{
    orrery_status status = manager->target ? ORRERY_OK : resume(manager);

    if (status == ORRERY_OK)
        status = pass_step(manager, items_max);
    else
        return status;
    if (status != ORRERY_DONE)
        return status;
    return manager->now.phase == PHASE_MOVING ? all_moved(manager) : drop_collections(manager);
}

orrery_status orrery_manager_step(orrery_manager *manager, size_t documents_max)
{
    orrery_status status;

    if (!manager || documents_max == 0)
        return ORRERY_EINVAL;
    status = work(manager, documents_max);
    if (orrery_failed(status)) /* what really happened is written down: the next step reads it */
        drop_work(manager);
    return status;
}

size_t orrery_manager_count(const orrery_manager *manager)
{
    const struct arrangement *now = manager ? &manager->now : NULL;

    if (!now)
        return 0;
    return now->phase == PHASE_MOVING ? now->next_count : now->count;
}

struct naming {
    struct arena arena;
    const char **link;
    size_t count, old_count;
};

/* What a new collection would get on average, as a multiple of an even share of all documents. */
static orrery_status overload(const orrery_manager *manager, const struct naming *naming, double *ratio)
{
    struct ring_shape shape;
    struct ring ring;
    struct arena arena;
    double share = 0;
    orrery_status status = ring_shape_of(&manager->settings.hash_options, &shape);

    arena_init(&arena, RESOLVER_BYTES_MAX);
    if (status == ORRERY_OK)
        status = ring_init(&ring, &arena, &shape, naming->link, naming->count);
    for (size_t i = naming->old_count; status == ORRERY_OK && i < naming->count; i++)
        share += ring_share(&ring, i);
    *ratio = share * (double)naming->count / (double)(naming->count - naming->old_count);
    arena_free(&arena);
    return status;
}

static char *numbered_link(const orrery_manager *manager, struct arena *arena, size_t number)
{
    struct buf id;

    buf_init(&id, arena);
    buf_printf(&id, "%s%zu", manager->settings.prefix, number);
    buf_append(&id, "", 1);
    return id.failed ? NULL : collection_link(arena, manager->settings.database_link, id.data);
}

/* Adds one link: the first number whose points on the ring do not happen to take too much. */
static orrery_status name_one(const orrery_manager *manager, struct naming *naming)
{
    char *best = NULL;
    double ratio, least = 0;

    for (size_t number = naming->count, tried = 0; tried < NAMES_TRIED_MAX; number++) {
        char *link = numbered_link(manager, &naming->arena, number);
        orrery_status status;

        if (!link)
            return ORRERY_ENOMEM;
        if (has_link(naming->link, naming->count, link))
            continue;
        naming->link[naming->count++] = link;
        status = overload(manager, naming, &ratio);
        naming->count--;
        if (status != ORRERY_OK)
            return status;
        if (!best || ratio < least) {
            best = link;
            least = ratio;
        }
        if (least <= SHARE_MAX)
            break;
        tried++;
    }
    naming->link[naming->count++] = best;
    return ORRERY_OK;
}

static orrery_status name_next(orrery_manager *manager, struct naming *naming, size_t count)
{
    struct arrangement *now = &manager->now;
    orrery_status status = ORRERY_OK;

    naming->link = memory_list(&naming->arena, count + now->count, sizeof(*naming->link));
    if (!naming->link)
        return ORRERY_ENOMEM;
    naming->count = naming->old_count = count < now->count ? count : now->count;
    memcpy(naming->link, now->link, naming->count * sizeof(*naming->link));
    while (naming->count < count && status == ORRERY_OK)
        status = name_one(manager, naming);
    return status;
}

static orrery_status make_named(orrery_manager *manager, const struct naming *naming)
{
    orrery_status status = ORRERY_OK;

    for (size_t i = naming->old_count; i < naming->count && status == ORRERY_OK; i++)
        status = collection_make(&manager->settings.remote, manager->settings.database_link,
                                 strrchr(naming->link[i], '/') + 1, &manager->settings.shape);
    return status;
}

/* From here on the next arrangement is where documents are created. */
static orrery_status begin_move(orrery_manager *manager, const struct naming *naming)
{
    struct arrangement *now = &manager->now;

    now->next = memory_list(&now->arena, naming->count, sizeof(*now->next));
    if (!now->next)
        return ORRERY_ENOMEM;
    for (size_t i = 0; i < naming->count; i++) {
        now->next[i] = memory_text_in(&now->arena, slice_of(naming->link[i]));
        if (!now->next[i])
            return ORRERY_ENOMEM;
    }
    now->next_count = naming->count;
    now->phase = PHASE_MOVING;
    now->mode = manager->settings.mode;
    now->since_ms = now_ms(manager);
    now->seen = now->moved = 0;
    return write_held(manager);
}

static orrery_status plan(orrery_manager *manager, size_t count)
{
    struct naming naming = { 0 };
    orrery_status status;

    arena_init(&naming.arena, MANAGER_BYTES_MAX);
    status = name_next(manager, &naming, count);
    if (status == ORRERY_OK)
        status = make_named(manager, &naming);
    if (status == ORRERY_OK)
        status = begin_move(manager, &naming);
    if (status == ORRERY_OK)
        status = prepare(manager);
    arena_free(&naming.arena);
    return status;
}

orrery_status orrery_manager_begin(orrery_manager *manager, size_t count)
{
    orrery_status status;

    if (!manager || count < 1 || count > RESOLVER_LINKS_MAX)
        return ORRERY_EINVAL;
    drop_work(manager);
    status = acquire(manager);
    if (status == ORRERY_OK && manager->now.phase != PHASE_STABLE)
        return ORRERY_EMIGRATING; /* an interrupted change is finished first */
    if (status == ORRERY_OK && manager->now.count == count)
        return write_released(manager);
    if (status == ORRERY_OK)
        status = plan(manager, count);
    if (orrery_failed(status))
        drop_work(manager);
    return status;
}

static orrery_status run(orrery_manager *manager)
{
    const struct remote *remote = &manager->settings.remote;
    orrery_status status;

    while ((status = orrery_manager_step(manager, STEP_ITEMS)) == ORRERY_OK || status == ORRERY_WAIT)
        if (status == ORRERY_WAIT)
            remote->calls->sleep_ms(remote->self, WAIT_MS);
    return status == ORRERY_DONE ? ORRERY_OK : status;
}

orrery_status orrery_manager_resize(orrery_manager *manager, size_t count, size_t *moved)
{
    uint64_t before = manager ? manager->moved : 0;
    orrery_status status = manager ? run(manager) : ORRERY_EINVAL;

    if (status == ORRERY_OK)
        status = orrery_manager_begin(manager, count);
    if (status == ORRERY_OK)
        status = run(manager);
    if (moved)
        *moved = manager ? manager->moved - before : 0;
    return status;
}

/* Finishes a change that was interrupted. *count is how many collections there are then. */
static orrery_status settle(orrery_manager *manager, size_t *count)
{
    orrery_status status = run(manager);

    *count = manager->now.count;
    return status;
}

orrery_status orrery_manager_add(orrery_manager *manager, size_t *moved)
{
    size_t count;
    orrery_status status = manager ? settle(manager, &count) : ORRERY_EINVAL;

    return status == ORRERY_OK ? orrery_manager_resize(manager, count + 1, moved) : status;
}

orrery_status orrery_manager_remove(orrery_manager *manager, size_t *moved)
{
    size_t count;
    orrery_status status = manager ? settle(manager, &count) : ORRERY_EINVAL;

    return status == ORRERY_OK ? orrery_manager_resize(manager, count - 1, moved) : status;
}

/* The first arrangement: its collections, then the item that says so. Another manager may be doing the same. */
static orrery_status found(orrery_manager *manager)
{
    struct manager_settings *settings = &manager->settings;
    struct naming naming = { 0 };
    orrery_status status = ORRERY_OK;

    arena_init(&naming.arena, MANAGER_BYTES_MAX);
    naming.link = memory_list(&naming.arena, settings->count, sizeof(*naming.link));
    if (!naming.link)
        status = ORRERY_ENOMEM;
    for (size_t i = 0; i < settings->count && status == ORRERY_OK; i++) {
        naming.link[naming.count] = numbered_link(manager, &naming.arena, i);
        status = naming.link[naming.count++] ? ORRERY_OK : ORRERY_ENOMEM;
    }
    if (status == ORRERY_OK)
        status = make_named(manager, &naming);
    manager->now.link = naming.link;
    manager->now.count = naming.count;
    manager->now.grace_ms = settings->grace_ms;
    if (status == ORRERY_OK)
        status = arrangement_create(&manager->now, settings);
    arrangement_free(&manager->now);
    arena_free(&naming.arena);
    return status == ORRERY_ECONFLICT ? ORRERY_OK : status;
}

static orrery_status make_state_container(const struct manager_settings *settings)
{
    orrery_template plain;
    orrery_status status;
    struct arena arena;

    if (!settings->makes_state)
        return ORRERY_OK;
    arena_init(&arena, SCRATCH_BYTES_MAX);
    status = template_copy(&arena, NULL, &plain);
    if (status == ORRERY_OK)
        status = collection_make(&settings->remote, settings->database_link,
                                 strrchr(settings->state_link, '/') + 1, &plain);
    arena_free(&arena);
    return status;
}

static orrery_status start(orrery_manager *manager)
{
    orrery_status status = arrangement_read(&manager->now, &manager->settings);

    if (status == ORRERY_ENOTFOUND) {
        status = make_state_container(&manager->settings);
        if (status == ORRERY_OK)
            status = found(manager);
        if (status == ORRERY_OK)
            status = arrangement_read(&manager->now, &manager->settings);
    }
    return status == ORRERY_OK ? publish(manager) : status;
}

orrery_status manager_with(struct remote remote, const char *database_link,
                           const orrery_manager_options *options,
                           orrery_status (*listen)(void *listener, const char *database_link,
                                                   orrery_resolver *resolver),
                           void *listener, orrery_manager **manager)
{
    orrery_manager *made = allocator_zeroed(1, sizeof(*made));
    orrery_status status;

    *manager = NULL;
    if (!made)
        return ORRERY_ENOMEM;
    arena_init(&made->arena, MANAGER_BYTES_MAX);
    made->publish = listen;
    made->listener = listener;
    status = settings_init(&made->settings, remote, database_link, options);
    if (status == ORRERY_OK) {
        made->progress = made->settings.progress;
        made->context = made->settings.context;
        status = start(made);
    }
    if (status == ORRERY_OK)
        *manager = made;
    else
        orrery_manager_close(made);
    return status;
}

static orrery_status tell_client(void *client, const char *database_link, orrery_resolver *resolver)
{
    return orrery_client_set_resolver(client, database_link, resolver);
}

orrery_status orrery_manager_open(orrery_client *client, const char *database_link,
                                  const orrery_manager_options *options, orrery_manager **manager)
{
    if (!manager)
        return ORRERY_EINVAL;
    *manager = NULL;
    if (!client)
        return ORRERY_EINVAL;
    return manager_with(remote_of_client(client), database_link, options, tell_client, client, manager);
}
