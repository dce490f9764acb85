/*
 * client/ranges.c - the ranges of containers as the server told them: kept, for cursors and bulks, until one of them is gone
 * or the container is.
 */
#include <stdlib.h>

#include "client.h"

struct known_ranges {
    struct known_ranges *next;
    char *link, *body;
    size_t body_bytes;
};

static struct known_ranges **find(orrery_client *client, struct slice link)
{
    struct known_ranges **at = &client->ranges;

    while (*at && !slice_is(link, (*at)->link))
        at = &(*at)->next;
    return at;
}

static void remove_at(struct known_ranges **at)
{
    struct known_ranges *gone = *at;

    *at = gone->next;
    free(gone->link);
    free(gone->body);
    free(gone);
}

void ranges_forget(orrery_client *client, struct slice link)
{
    struct known_ranges **at = find(client, link);

    if (*at)
        remove_at(at);
}

void ranges_forget_database(orrery_client *client, struct slice database)
{
    for (struct known_ranges **at = &client->ranges; *at;)
        if (link_lies_in((*at)->link, database))
            remove_at(at);
        else
            at = &(*at)->next;
}

void ranges_free(orrery_client *client)
{
    while (client->ranges)
        remove_at(&client->ranges);
}

struct slice ranges_known(const orrery_client *client, struct slice link)
{
    const struct known_ranges *known = *find((orrery_client *)client, link);

    return known ? slice_make(known->body, known->body_bytes) : slice_make(NULL, 0);
}

/* Without memory for them they are asked for again the next time. */
void ranges_note(orrery_client *client, struct slice link, struct slice body)
{
    struct known_ranges *made = calloc(1, sizeof(*made));

    ranges_forget(client, link);
    if (made)
        *made = (struct known_ranges){ client->ranges, memory_text(link), memory_text(body), body.size };
    if (made && made->link && made->body) {
        client->ranges = made;
        return;
    }
    if (made)
        remove_at(&made);
}
