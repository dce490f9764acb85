/*
 * client/known.c - what servers told of containers: their ranges, and plans of queries. Both are kept, for cursors and bulks,
 * until the container changes or a range of it is gone.
 */
#include <stdlib.h>

#include "client.h"

enum {
    PLANS_MAX = 64,              /* of a client: the one that was not asked for longest goes */
    PLAN_BYTES_MAX = 256 * 1024, /* of a query with its plan: more is asked for each time */
};

/* An answer about a container. */
struct known {
    struct known *next;
    char *link, *question, *answer; /* question: a query with its parameters; "": which ranges there are */
    size_t question_bytes, answer_bytes;
};

static struct known **find(orrery_client *client, struct slice link, struct slice question)
{
    struct known **at = &client->share->known;

    while (*at && !(slice_is(link, (*at)->link) &&
                    slice_equal(question, slice_make((*at)->question, (*at)->question_bytes))))
        at = &(*at)->next;
    return at;
}

static void remove_at(struct known **at)
{
    struct known *gone = *at;

    *at = gone->next;
    allocator_free(gone->link);
    allocator_free(gone->question);
    allocator_free(gone->answer);
    allocator_free(gone);
}

/* Without memory for it, it is asked for again the next time. */
static void note(orrery_client *client, struct slice link, struct slice question, struct slice answer)
{
    struct known *made = allocator_zeroed(1, sizeof(*made)), **old = find(client, link, question);

    if (*old)
        remove_at(old);
    if (made)
        *made = (struct known){ client->share->known, memory_text(link), memory_text(question),
                                memory_text(answer),  question.size,     answer.size };
    if (made && made->link && made->question && made->answer) {
        client->share->known = made;
        return;
    }
    if (made)
        remove_at(&made);
}

/* The newest of them is in front. */
static void limit_plans(orrery_client *client)
{
    size_t count = 0;

    for (struct known **at = &client->share->known; *at;) {
        count += (*at)->question_bytes > 0;
        if (count > PLANS_MAX && (*at)->question_bytes > 0)
            remove_at(at);
        else
            at = &(*at)->next;
    }
}

/* A copy: another client may forget it meanwhile. */
static struct slice copy_of(const struct known *known, struct arena *arena)
{
    char *copy = known ? memory_text_in(arena, slice_make(known->answer, known->answer_bytes)) : NULL;

    return slice_make(copy, copy ? known->answer_bytes : 0);
}

struct slice ranges_known(const orrery_client *client, struct slice link, struct arena *arena)
{
    struct slice found;

    share_lock(client);
    found = copy_of(*find((orrery_client *)client, link, slice_of("")), arena);
    share_unlock(client);
    return found;
}

void ranges_note(orrery_client *client, struct slice link, struct slice body)
{
    share_lock(client);
    note(client, link, slice_of(""), body);
    share_unlock(client);
}

void ranges_forget(orrery_client *client, struct slice link)
{
    struct known **at;

    share_lock(client);
    at = find(client, link, slice_of(""));
    if (*at)
        remove_at(at);
    share_unlock(client);
}

/* What was asked for goes to the front. */
static struct known *touch(orrery_client *client, struct slice link, struct slice query)
{
    struct known **at = find(client, link, query), *known = *at;

    if (!known)
        return NULL;
    *at = known->next;
    known->next = client->share->known;
    client->share->known = known;
    return known;
}

struct slice plan_known(orrery_client *client, struct slice link, struct slice query, struct arena *arena)
{
    struct slice found;

    share_lock(client);
    found = copy_of(touch(client, link, query), arena);
    share_unlock(client);
    return found;
}

void plan_note(orrery_client *client, struct slice link, struct slice query, struct slice body)
{
    if (query.size + body.size > PLAN_BYTES_MAX)
        return;
    share_lock(client);
    note(client, link, query, body);
    limit_plans(client);
    share_unlock(client);
}

void known_forget(orrery_client *client, struct slice link)
{
    share_lock(client);
    for (struct known **at = &client->share->known; *at;)
        if (slice_is(link, (*at)->link))
            remove_at(at);
        else
            at = &(*at)->next;
    definition_forget(client, link);
    share_unlock(client);
}

void known_forget_database(orrery_client *client, struct slice database)
{
    share_lock(client);
    for (struct known **at = &client->share->known; *at;)
        if (link_lies_in((*at)->link, database))
            remove_at(at);
        else
            at = &(*at)->next;
    definition_forget_database(client, database);
    share_unlock(client);
}

void known_free(orrery_share *share)
{
    while (share->known)
        remove_at(&share->known);
}
