/* client/manager_move.c - one item from its old collection to its new one: created there, then deleted here. */
#include "manager.h"

/* What the server adds to an item, and would not take back as part of another. */
static bool is_system_name(struct slice name)
{
    static const char *const names[] = {
        "_rid", "_self", "_etag", "_ts", "_attachments", "_lsn", "_metadata"
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (slice_is(name, names[i]))
            return true;
    return false;
}

static orrery_status strip(struct arena *arena, struct json item, struct stray *stray)
{
    struct json_builder builder;
    struct json stripped;
    struct buf text;

    json_builder_init(&builder, arena);
    json_begin_object(&builder);
    for (struct json_iter i = json_iter(item); json_next(&i);) {
        if (is_system_name(i.name))
            continue;
        json_add_name(&builder, i.name);
        json_add(&builder, i.value);
    }
    json_end(&builder);
    stripped = json_built(&builder);
    if (json_kind(stripped) == JSON_UNDEFINED)
        return ORRERY_ENOMEM;
    buf_init(&text, arena);
    json_print(&text, stripped);
    stray->what = json_hash(stripped);
    stray->text = buf_as_slice(&text);
    return text.failed ? ORRERY_ENOMEM : ORRERY_OK;
}

static bool take_text(struct arena *arena, struct json value, struct slice *text)
{
    char *copy = json_kind(value) == JSON_STRING ? memory_text_in(arena, json_string(value)) : NULL;

    *text = slice_make(copy, copy ? json_string(value).size : 0);
    return copy;
}

/* The contents, ETag and identity of an item as the server gave it. */
static orrery_status describe(struct arena *arena, const struct key_paths *paths, struct json item,
                              struct stray *stray)
{
    orrery_key key;
    struct buf who;
    orrery_status status = strip(arena, item, stray);

    if (status != ORRERY_OK)
        return status;
    if (!take_text(arena, json_get(item, "id"), &stray->id) ||
        !take_text(arena, json_get(item, "_etag"), &stray->etag))
        return ORRERY_EIO;
    status = key_paths_key(paths, arena, item, &key);
    if (status == ORRERY_OK)
        status = key_copy(arena, &key, &stray->key);
    if (status != ORRERY_OK)
        return status;
    buf_init(&who, arena);
    buf_text(&who, stray->from);
    buf_byte(&who, '\0');
    buf_slice(&who, stray->id);
    for (size_t i = 0; i < paths->count; i++) {
        const orrery_key *part = paths->count > 1 ? &stray->key.items[i] : &stray->key;

        buf_printf(&who, "%c%d:%.17g:", '\0', part->type, part->number);
        buf_append(&who, part->text ? part->text : "", part->text ? part->size : 0);
    }
    stray->who = murmur3_128(who.data, who.size);
    return who.failed ? ORRERY_ENOMEM : ORRERY_OK;
}

/* Where the target wants it. */
static orrery_status place(struct arena *arena, orrery_resolver *target, struct json item,
                           struct stray *stray)
{
    orrery_links *links = NULL;
    struct buf text;
    orrery_status status;

    buf_init(&text, arena);
    json_print(&text, item);
    if (text.failed)
        return ORRERY_ENOMEM;
    status = orrery_resolve_document(target, text.data, text.size, &links);
    if (status == ORRERY_OK) {
        stray->to = memory_text_in(arena, slice_of(orrery_links_at(links, 0)));
        status = stray->to ? ORRERY_OK : ORRERY_ENOMEM;
    }
    orrery_links_free(links);
    return status;
}

/* Whether the target has the collection at all. */
static bool is_kept(orrery_resolver *target, const char *link)
{
    orrery_links *links = NULL;
    bool found = false;

    if (orrery_resolve_read(target, NULL, &links) != ORRERY_OK)
        return false;
    for (size_t i = 0; i < orrery_links_count(links) && !found; i++)
        found = link_equal(orrery_links_at(links, i), link);
    orrery_links_free(links);
    return found;
}

orrery_status stray_of(struct arena *arena, const struct searched *in, struct json item, struct stray *stray,
                       bool *is_stray)
{
    orrery_status status;

    *stray = (struct stray){ .from = in->link };
    *is_stray = false;
    status = place(arena, in->target, item, stray);
    if (status == ORRERY_ENOKEY ||
        status == ORRERY_EKEYTYPE) /* nobody could have created it by the resolver */
        return is_kept(in->target, in->link) ? ORRERY_OK : status;
    if (status != ORRERY_OK || link_equal(stray->to, in->link))
        return status;
    *is_stray = true;
    return describe(arena, in->paths, item, stray);
}

static bool same_hash(struct hash128 a, struct hash128 b)
{
    return a.h1 == b.h1 && a.h2 == b.h2;
}

/* Whether a manager meant to copy these contents: this one, or an earlier one that was ended. */
static bool is_intended(const struct arrangement *arrangement, const struct stray *stray, struct hash128 what)
{
    for (size_t i = 0; i < arrangement->intent_count; i++)
        if (same_hash(arrangement->intent[i].who, stray->who) && same_hash(arrangement->intent[i].what, what))
            return true;
    return false;
}

/*
 * The copy as it lies in the new place: its ETag, its contents, and whether it is ours, so that it may be written
 * over. One that was only found (is_made is false) looks like ours, but a client may have written the same.
 */
struct copy {
    struct slice etag;
    struct hash128 what;
    bool is_ours, is_made;
};

/* The item where it goes to, and where it comes from. etag: what lies there must still have it; NULL: any. */
static struct remote_item new_place(const struct stray *stray, const char *etag)
{
    return (struct remote_item){ stray->to, stray->id.data, &stray->key, etag };
}

static struct remote_item old_place(const struct stray *stray, const char *etag)
{
    return (struct remote_item){ stray->from, stray->id.data, &stray->key, etag };
}

static orrery_status look(const struct mover *mover, struct arena *arena, const struct stray *stray,
                          struct copy *copy)
{
    const struct remote *remote = &mover->settings->remote;
    struct remote_answer answer;
    struct remote_item item = new_place(stray, NULL);
    struct stray there = { .from = stray->from };
    orrery_status status = remote->calls->item_read(remote->self, arena, &item, &answer);

    if (status == ORRERY_OK)
        status = strip(arena, answer.body, &there);
    if (status == ORRERY_OK)
        *copy = (struct copy){ answer.etag, there.what, is_intended(mover->arrangement, stray, there.what),
                               false };
    return status;
}

static orrery_status write_over(const struct mover *mover, struct arena *arena, const struct stray *stray,
                                struct copy *copy)
{
    const struct remote *remote = &mover->settings->remote;
    struct remote_answer answer;
    struct remote_item item = new_place(stray, copy->etag.data);
    orrery_status status = remote->calls->item_replace(remote->self, arena, &item, stray->text, &answer);

    if (status == ORRERY_OK)
        *copy = (struct copy){ answer.etag, stray->what, true, true };
    if (status ==
        ORRERY_EPRECONDITION) /* a client's, and then later than what lies here; or ours, and the answer was lost */
        status = look(mover, arena, stray, copy);
    if (status != ORRERY_ENOTFOUND)
        return status;
    copy->is_ours = false; /* a client has deleted it there: it goes here too */
    return ORRERY_OK;
}

/* Only what is written down is copied. So a copy that is found after a kill is known to be ours. */
static orrery_status note_intent(const struct mover *mover, const struct stray *stray)
{
    struct arrangement *arrangement = mover->arrangement;
    const struct remote *remote = &mover->settings->remote;

    if (is_intended(arrangement, stray, stray->what))
        return ORRERY_OK;
    if (arrangement->intent_count == arrangement->intent_capacity)
        return ORRERY_ERETRY;
    arrangement->intent[arrangement->intent_count++] = (struct intent){ stray->who, stray->what };
    arrangement->until_ms = remote->calls->now_ms(remote->self) + mover->settings->lease_ms;
    return arrangement_write(arrangement, mover->settings);
}

/* ORRERY_ECONFLICT: another item there has a unique key of this one. */
static orrery_status put(const struct mover *mover, struct arena *arena, const struct stray *stray,
                         struct copy *copy)
{
    const struct remote *remote = &mover->settings->remote;
    struct remote_answer answer;
    struct remote_item item = new_place(stray, NULL);
    orrery_status status = ORRERY_ENOTFOUND;

    for (int i = 0; status == ORRERY_ENOTFOUND && i < PUT_ATTEMPTS_MAX; i++) {
        status = remote->calls->item_create(remote->self, arena, &item, stray->text, &answer);
        if (status == ORRERY_OK)
            *copy = (struct copy){ answer.etag, stray->what, true, true };
        if (status != ORRERY_ECONFLICT)
            return status;
        status = look(mover, arena, stray,
                      copy); /* not there: a client has just deleted it, or that key is taken */
    }
    if (status == ORRERY_OK && copy->is_ours && !same_hash(copy->what, stray->what))
        status = write_over(mover, arena, stray, copy);
    return status == ORRERY_ENOTFOUND ? ORRERY_ECONFLICT : status;
}

/* A copy that is gone, or that somebody has changed since, need not be deleted. */
static orrery_status delete_copy(const struct mover *mover, const struct stray *stray,
                                 const struct copy *copy)
{
    const struct remote *remote = &mover->settings->remote;
    struct remote_item item = new_place(stray, copy->etag.data);
    orrery_status status = remote->calls->item_delete(remote->self, &item);

    return status == ORRERY_ENOTFOUND || status == ORRERY_EPRECONDITION ? ORRERY_OK : status;
}

/*
 * Somebody deleted the item here while it was being copied: the copy goes too. It is the last one, so two things are made
 * sure of first. The item is really gone: if it is there after all, it is the next pass's. And the move is still ours: it
 * may have been another manager that moved the item, and then deleted it.
 */
static orrery_status take_back(const struct mover *mover, struct arena *arena, const struct stray *stray,
                               const struct copy *copy)
{
    const struct remote *remote = &mover->settings->remote;
    struct remote_item item = old_place(stray, NULL);
    struct remote_answer answer;
    orrery_status status;

    if (!copy->is_made)
        return ORRERY_OK;
    status = remote->calls->item_read(remote->self, arena, &item, &answer);
    if (status != ORRERY_OK && status != ORRERY_ENOTFOUND)
        return status;
    mover->arrangement->until_ms = remote->calls->now_ms(remote->self) + mover->settings->lease_ms;
    status = arrangement_write(mover->arrangement, mover->settings);
    return status == ORRERY_OK ? delete_copy(mover, stray, copy) : status;
}

/* It changed here since it was copied: the copy is made anew, unless a client has written there. */
static orrery_status follow(const struct mover *mover, struct arena *arena, struct stray *stray,
                            struct copy *copy)
{
    const struct remote *remote = &mover->settings->remote;
    struct remote_answer answer;
    struct remote_item item = old_place(stray, NULL);
    orrery_status status = remote->calls->item_read(remote->self, arena, &item, &answer);

    if (status == ORRERY_OK)
        status = strip(arena, answer.body, stray);
    if (status != ORRERY_OK)
        return status;
    stray->etag = answer.etag;
    if (!copy->is_ours || same_hash(copy->what, stray->what))
        return ORRERY_OK;
    status = note_intent(mover, stray);
    return status == ORRERY_OK ? write_over(mover, arena, stray, copy) : status;
}

/*
 * The item changes faster than it is copied, so the copy is taken away. The next pass does not know what was
 * copied: it would take a copy that stayed for a client's, and for later than what lies here.
 */
static orrery_status withdraw(const struct mover *mover, const struct stray *stray, const struct copy *copy)
{
    return copy->is_ours ? delete_copy(mover, stray, copy) : ORRERY_OK;
}

static orrery_status delete_old(const struct mover *mover, const struct stray *stray)
{
    const struct remote *remote = &mover->settings->remote;
    struct remote_item item = old_place(stray, stray->etag.data);

    return remote->calls->item_delete(remote->self, &item);
}

/* The copy is there. `deleted` is what came of the first attempt to delete the item here. */
static orrery_status settle(const struct mover *mover, struct arena *arena, struct stray *stray,
                            struct copy *copy, orrery_status deleted)
{
    orrery_status status = deleted;

    for (int i = 1; status == ORRERY_EPRECONDITION && i < ITEM_ATTEMPTS_MAX; i++) {
        status = follow(mover, arena, stray, copy);
        if (status == ORRERY_OK)
            status = delete_old(mover, stray);
    }
    if (status == ORRERY_OK)
        return ORRERY_DONE;
    if (status == ORRERY_ENOTFOUND)
        return take_back(mover, arena, stray, copy);
    return status == ORRERY_ERETRY || status == ORRERY_EPRECONDITION ? withdraw(mover, stray, copy) : status;
}

/* One that met somebody else's writes. ORRERY_DONE: it has moved; ORRERY_OK: it is gone, or the next pass's. */
static orrery_status move_one(const struct mover *mover, const struct stray *stray,
                              const struct remote_write *created, const struct remote_write *deleted)
{
    struct copy copy = { .etag = created->etag, .what = stray->what, .is_ours = true, .is_made = true };
    struct stray changing = *stray;
    struct arena arena;
    orrery_status status = deleted->status;

    arena_init(&arena, MANAGER_BYTES_MAX);
    if (created->status == ORRERY_ECONFLICT) {
        status = put(mover, &arena, &changing, &copy);
        if (status == ORRERY_OK)
            status = delete_old(mover, &changing);
        else if (status == ORRERY_EPRECONDITION || status == ORRERY_ENOTFOUND)
            status = ORRERY_EIO;
    }
    status = settle(mover, &arena, &changing, &copy, status);
    arena_free(&arena);
    return status;
}

/* Creates all in their new places. */
static orrery_status create_all(const struct mover *mover, struct arena *arena, const struct stray *strays,
                                struct remote_write *created, size_t count)
{
    const struct remote *remote = &mover->settings->remote;

    for (size_t i = 0; i < count; i++)
        created[i] = (struct remote_write){ .item = new_place(&strays[i], NULL), .json = strays[i].text };
    return remote->calls->write_many(remote->self, arena, created, count);
}

/* Deletes in their old places those that were created. `deleted` has a row for each of them, in their order. */
static orrery_status delete_all(const struct mover *mover, struct arena *arena, const struct stray *strays,
                                const struct remote_write *created, struct remote_write *deleted,
                                size_t count)
{
    const struct remote *remote = &mover->settings->remote;
    size_t rows = 0;

    for (size_t i = 0; i < count; i++)
        if (created[i].status == ORRERY_OK)
            deleted[rows++] = (struct remote_write){ .is_delete = true,
                                                     .item = old_place(&strays[i], strays[i].etag.data) };
    return rows ? remote->calls->write_many(remote->self, arena, deleted, rows) : ORRERY_OK;
}

/* All of them have been met by one request or another: counts those that have moved, and looks after the others. */
static orrery_status finish_all(const struct mover *mover, const struct stray *strays,
                                const struct remote_write *created, const struct remote_write *deleted,
                                size_t count, size_t *moved)
{
    static const struct remote_write none = { .status = ORRERY_OK };
    orrery_status first = ORRERY_OK;
    size_t rows = 0;

    for (size_t i = 0; i < count; i++) {
        bool is_made = created[i].status == ORRERY_OK;
        const struct remote_write *of_old = is_made ? &deleted[rows++] : &none;
        orrery_status status = is_made && of_old->status == ORRERY_OK ? ORRERY_DONE : created[i].status;

        if (status == ORRERY_ECONFLICT || status == ORRERY_OK)
            status = first == ORRERY_OK ? move_one(mover, &strays[i], &created[i], of_old) : ORRERY_OK;
        *moved += status == ORRERY_DONE;
        if (orrery_failed(status) && first == ORRERY_OK)
            first = status;
    }
    return first;
}

/* Any failure ends it: what was written down tells the next manager which copies are ours. */
orrery_status strays_move(const struct mover *mover, const struct stray *strays, size_t count, size_t *moved)
{
    struct remote_write *created, *deleted;
    struct arena arena;
    orrery_status status = ORRERY_ENOMEM;

    *moved = 0;
    arena_init(&arena, MANAGER_BYTES_MAX);
    created = memory_list(&arena, count, sizeof(*created));
    deleted = memory_list(&arena, count, sizeof(*deleted));
    if (created && deleted)
        status = create_all(mover, &arena, strays, created, count);
    if (status == ORRERY_OK)
        status = delete_all(mover, &arena, strays, created, deleted, count);
    if (status == ORRERY_OK)
        status = finish_all(mover, strays, created, deleted, count, moved);
    arena_free(&arena);
    return status;
}
