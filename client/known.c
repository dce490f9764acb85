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
    struct known **at = &client->known;

    while (*at && !(slice_is(link, (*at)->link) &&
                    slice_equal(question, slice_make((*at)->question, (*at)->question_bytes))))
        at = &(*at)->next;
    return at;
}

static void remove_at(struct known **at)
{
    struct known *gone = *at;

    *at = gone->next;
    free(gone->link);
    free(gone->question);
    free(gone->answer);
    free(gone);
}

/* Without memory for it, it is asked for again the next time. */
static void note(orrery_client *client, struct slice link, struct slice question, struct slice answer)
{
    struct known *made = calloc(1, sizeof(*made)), **old = find(client, link, question);

    if (*old)
        remove_at(old);
    if (made)
        *made = (struct known){ client->known,       memory_text(link), memory_text(question),
                                memory_text(answer), question.size,     answer.size };
    if (made && made->link && made->question && made->answer) {
        client->known = made;
        return;
    }
    if (made)
        remove_at(&made);
}

/* The newest of them is in front. */
static void limit_plans(orrery_client *client)
{
    size_t count = 0;

    for (struct known **at = &client->known; *at;) {
        count += (*at)->question_bytes > 0;
        if (count > PLANS_MAX && (*at)->question_bytes > 0)
            remove_at(at);
        else
            at = &(*at)->next;
    }
}

struct slice ranges_known(const orrery_client *client, struct slice link)
{
    const struct known *known = *find((orrery_client *)client, link, slice_of(""));

    return known ? slice_make(known->answer, known->answer_bytes) : slice_make(NULL, 0);
}

void ranges_note(orrery_client *client, struct slice link, struct slice body)
{
    note(client, link, slice_of(""), body);
}

void ranges_forget(orrery_client *client, struct slice link)
{
    struct known **at = find(client, link, slice_of(""));

    if (*at)
        remove_at(at);
}

struct slice plan_known(orrery_client *client, struct slice link, struct slice query)
{
    struct known **at = find(client, link, query), *known = *at;

    if (!known)
        return slice_make(NULL, 0);
    *at = known->next;
    known->next = client->known;
    client->known = known;
    return slice_make(known->answer, known->answer_bytes);
}

void plan_note(orrery_client *client, struct slice link, struct slice query, struct slice body)
{
    if (query.size + body.size > PLAN_BYTES_MAX)
        return;
    note(client, link, query, body);
    limit_plans(client);
}

void known_forget(orrery_client *client, struct slice link)
{
    for (struct known **at = &client->known; *at;)
        if (slice_is(link, (*at)->link))
            remove_at(at);
        else
            at = &(*at)->next;
    definition_forget(client, link);
}

void known_forget_database(orrery_client *client, struct slice database)
{
    for (struct known **at = &client->known; *at;)
        if (link_lies_in((*at)->link, database))
            remove_at(at);
        else
            at = &(*at)->next;
    definition_forget_database(client, database);
}

void known_free(orrery_client *client)
{
    while (client->known)
        remove_at(&client->known);
}
