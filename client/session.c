/*
 * client/session.c - session tokens: what this client has seen of each container.
 * A token is "range:version#lsn", several with commas between them. Of each range the newest is kept.
 */
#include <stdlib.h>

#include "client.h"

struct session {
    struct session *next;
    char *container, *rid, *token;
};

static struct session **find(orrery_client *client, struct slice container)
{
    struct session **at = &client->share->sessions;

    while (*at && !slice_is(container, (*at)->container))
        at = &(*at)->next;
    return at;
}

static void free_one(struct session *session)
{
    if (!session)
        return;
    allocator_free(session->container);
    allocator_free(session->rid);
    allocator_free(session->token);
    allocator_free(session);
}

void session_forget(orrery_client *client, struct slice container)
{
    struct session **at, *gone;

    share_lock(client);
    at = find(client, container);
    gone = *at;
    if (gone)
        *at = gone->next;
    share_unlock(client);
    free_one(gone);
}

void session_forget_database(orrery_client *client, struct slice database)
{
    share_lock(client);
    for (struct session **at = &client->share->sessions, *one; (one = *at);)
        if (link_lies_in(one->container, database)) {
            *at = one->next;
            free_one(one);
        } else {
            at = &one->next;
        }
    share_unlock(client);
}

void session_free(orrery_share *share)
{
    while (share->sessions) {
        struct session *gone = share->sessions;

        share->sessions = gone->next;
        free_one(gone);
    }
}

const char *session_known(const orrery_client *client, struct slice container)
{
    const struct session *session = *find((orrery_client *)client, container);

    return session && container.size ? session->token : NULL;
}

void session_header(struct call *call)
{
    share_lock(call->client);
    call_header(call, "x-ms-session-token", session_known(call->client, call->target.container));
    share_unlock(call->client);
}

const char *orrery_session_token(const orrery_client *client, const char *container_link)
{
    struct slice link = container_link ? slice_of(container_link) : slice_of("");
    orrery_client *asked = (orrery_client *)client;
    const char *token;

    while (link.size > 0 && link.data[0] == '/')
        link = slice_after(link, 1);
    while (link.size > 0 && link.data[link.size - 1] == '/')
        link.size--;
    if (!client)
        return NULL;
    allocator_free(asked->session_text);
    share_lock(client);
    token = session_known(client, link);
    asked->session_text = token ? memory_text(slice_of(token)) : NULL;
    share_unlock(client);
    return asked->session_text;
}

/* The next part of a list, and what is left of it. */
static struct slice next_part(struct slice *list)
{
    const char *comma = list->size ? memchr(list->data, ',', list->size) : NULL;
    struct slice part = slice_make(list->data, comma ? (size_t)(comma - list->data) : list->size);

    *list = slice_after(*list, comma ? part.size + 1 : part.size);
    return part;
}

static struct slice range_of(struct slice part)
{
    const char *colon = part.size ? memchr(part.data, ':', part.size) : NULL;

    return slice_make(part.data, colon ? (size_t)(colon - part.data) : part.size);
}

/* Digits behind the colon or the nth #: 0 is the version, 1 the LSN. One figure alone is the LSN. */
static int64_t figure(struct slice part, int which)
{
    struct slice rest = slice_after(part, range_of(part).size);
    const char *hash = rest.size ? memchr(rest.data, '#', rest.size) : NULL;
    int64_t number = 0;
    struct slice digits;

    if (!hash && which == 0)
        return 0;
    if (hash && which == 1)
        rest = slice_after(rest, (size_t)(hash - rest.data) + 1);
    else if (rest.size)
        rest = slice_after(rest, 1);
    digits = rest;
    digits.size = 0;
    while (digits.size < rest.size && strchr("-0123456789", rest.data[digits.size]))
        digits.size++;
    return slice_to_i64(digits, &number) ? number : 0;
}

static bool newer(struct slice a, struct slice b)
{
    int64_t version_a = figure(a, 0), version_b = figure(b, 0);

    return version_a != version_b ? version_a > version_b : figure(a, 1) > figure(b, 1);
}

static struct slice part_of_range(struct slice list, struct slice range)
{
    while (list.size > 0) {
        struct slice part = next_part(&list);

        if (slice_equal(range_of(part), range))
            return part;
    }
    return slice_make(NULL, 0);
}

static void append_part(char *to, size_t *size, struct slice part)
{
    if (*size > 0)
        to[(*size)++] = ',';
    memcpy(to + *size, part.data, part.size);
    *size += part.size;
}

/* Both lists in one: each range once, with its newer part. NULL: no memory. The old list was made in the same way. */
static char *merge(struct slice old, struct slice fresh)
{
    char *merged = allocator_get(old.size + fresh.size + 2);
    struct slice list = old;
    size_t size = 0;

    if (!merged)
        return NULL;
    while (list.size > 0) {
        struct slice part = next_part(&list), other = part_of_range(fresh, range_of(part));

        append_part(merged, &size, other.data && newer(other, part) ? other : part);
    }
    for (list = fresh; list.size > 0;) {
        struct slice part = next_part(&list);

        if (!part_of_range(slice_make(merged, size), range_of(part)).data)
            append_part(merged, &size, part);
    }
    merged[size] = '\0';
    return merged;
}

static struct session *add(orrery_client *client, struct slice container, const char *rid)
{
    struct session *session = allocator_zeroed(1, sizeof(*session));

    if (!session)
        return NULL;
    session->container = memory_text(container);
    session->rid = memory_text(slice_of(rid));
    if (!session->container || !session->rid) {
        free_one(session);
        return NULL;
    }
    session->next = client->share->sessions;
    client->share->sessions = session;
    return session;
}

/* One that was noted without its container's rid is of the first rid that is told. */
static void learn_rid(struct session *session, const char *rid)
{
    char *copy = session && rid && !*session->rid ? memory_text(slice_of(rid)) : NULL;

    if (!copy)
        return;
    allocator_free(session->rid);
    session->rid = copy;
}

static struct session *session_for(orrery_client *client, struct slice container, const char *rid)
{
    struct session *session = *find(client, container);

    learn_rid(session, rid);
    if (session && rid && *session->rid &&
        strcmp(session->rid, rid) != 0) { /* a container of the same name, and another one */
        session_forget(client, container);
        session = NULL;
    }
    return session ? session : add(client, container, rid ? rid : "");
}

static void keep(struct session *session, const char *token)
{
    char *merged;

    if (session->token && strcmp(session->token, token) == 0)
        return;
    merged = merge(session->token ? slice_of(session->token) : slice_of(""), slice_of(token));
    if (!merged)
        return;
    allocator_free(session->token);
    session->token = merged;
}

/*
 * Without memory for its token a session is weaker for a while. That is no reason to fail a request that has
 * succeeded.
 */
void session_note_token(orrery_client *client, struct slice container, const char *rid, const char *token)
{
    struct session *session;

    if (!token || !*token)
        return;
    share_lock(client);
    session = session_for(client, container, rid);
    if (session)
        keep(session, token);
    share_unlock(client);
}

void session_note(orrery_client *client, struct slice container, const orrery_response *response)
{
    session_note_token(client, container, orrery_response_header(response, "x-ms-content-path"),
                       orrery_response_session(response));
}
