/*
 * client/bulk_routed.c - a bulk through a resolver: each document goes to the collection that the resolver names, and the
 * operations of one collection are a bulk of their own. All of them run side by side.
 */
#include <stdlib.h>

#include "bulk.h"

/* What goes to one collection. */
struct part {
    char *link;
    struct operation *operations;
    size_t *numbers; /* of the operations, among all */
    size_t count, capacity, number_capacity;
    struct bulk *bulk;
    bool ended;
};

struct routed {
    orrery_client *client;
    struct arena arena; /* of parts and results */
    struct part *parts;
    size_t count, capacity;
    int64_t deadline_ms; /* until which the resolver's answers hold; 0: for ever */
};

static void routed_free(struct routed *routed)
{
    for (size_t i = 0; i < routed->count; i++) {
        bulk_free(routed->parts[i].bulk);
        allocator_free(routed->parts[i].link);
    }
    arena_free(&routed->arena);
}

/* Takes the link away. NULL: no memory. */
static struct part *part_of(struct routed *routed, char *link)
{
    for (size_t i = routed->count; i > 0; i--)
        if (strcmp(routed->parts[i - 1].link, link) == 0) {
            allocator_free(link);
            return &routed->parts[i - 1];
        }
    if (!memory_grow_in(&routed->arena, &routed->parts, &routed->capacity, routed->count + 1,
                        sizeof(*routed->parts))) {
        allocator_free(link);
        return NULL;
    }
    routed->parts[routed->count] = (struct part){ .link = link };
    return &routed->parts[routed->count++];
}

static bool add_to(struct routed *routed, struct part *part, const struct operation *operation, size_t number)
{
    if (!memory_grow_in(&routed->arena, &part->operations, &part->capacity, part->count + 1,
                        sizeof(*part->operations)) ||
        !memory_grow_in(&routed->arena, &part->numbers, &part->number_capacity, part->count + 1,
                        sizeof(*part->numbers)))
        return false;
    part->operations[part->count] = *operation;
    part->numbers[part->count++] = number;
    return true;
}

static void note_bound(struct routed *routed)
{
    int bound_ms = routed->client->write_ms_max;
    int64_t until_ms = env_monotonic_ms(routed->client->env) + bound_ms;

    if (bound_ms > 0 && (routed->deadline_ms == 0 || until_ms < routed->deadline_ms))
        routed->deadline_ms = until_ms;
}

static orrery_status place(struct routed *routed, const char *link, const orrery_batch *batch)
{
    orrery_status status = ORRERY_OK;

    for (size_t i = 0; i < batch->count && status == ORRERY_OK; i++) {
        const struct operation *operation = &batch->operations[i];
        struct part *part = NULL;
        char *collection = NULL;

        if (!operation_has_document(operation))
            return client_refuse(routed->client, ORRERY_EINVAL,
                                 "operation %zu has no document to place it by: name its collection", i);
        status = resolver_place(routed->client, link, operation->body, &collection);
        if (status != ORRERY_OK)
            break;
        note_bound(routed);
        part = part_of(routed, collection);
        if (!part || !add_to(routed, part, operation, i))
            status = client_no_memory(routed->client);
    }
    return status;
}

/* Each looks up keys and definitions now: until the last one has, nothing is sent. */
static orrery_status make_bulks(struct routed *routed, const orrery_options *options)
{
    orrery_status status = ORRERY_OK;

    for (size_t i = 0; i < routed->count && status == ORRERY_OK; i++) {
        struct part *part = &routed->parts[i];

        status = bulk_new(routed->client, part->link, part->operations, part->count, options, &part->bulk);
        if (status == ORRERY_OK)
            part->bulk->deadline_ms = routed->deadline_ms;
    }
    return status;
}

/* How many have not come to their end, and when the first of them must be looked at. */
static orrery_status step_all(struct routed *routed, size_t *left, int *wait_ms)
{
    orrery_status status = ORRERY_OK;

    *left = 0;
    *wait_ms = -1;
    for (size_t i = 0; i < routed->count && status == ORRERY_OK; i++) {
        struct part *part = &routed->parts[i];
        orrery_status outcome = part->ended ? ORRERY_OK : bulk_step(part->bulk);
        int64_t left_ms = bulk_left_ms(part->bulk);

        if (outcome != ORRERY_OK && outcome != ORRERY_WAIT)
            status = bulk_fill_in(part->bulk, outcome);
        part->ended = outcome != ORRERY_WAIT;
        if (part->ended)
            continue;
        (*left)++;
        if (left_ms >= 0 && (*wait_ms < 0 || left_ms < *wait_ms))
            *wait_ms = (int)left_ms;
    }
    return status;
}

static orrery_status run_all(struct routed *routed)
{
    size_t left = 1;

    while (left > 0) {
        int wait_ms;
        orrery_status status = step_all(routed, &left, &wait_ms);

        if (status != ORRERY_OK)
            return status;
        if (left > 0 && transport_turn(routed->client, wait_ms) != ORRERY_OK)
            return client_no_memory(routed->client); /* some may have happened */
    }
    return ORRERY_OK;
}

static orrery_status join_all(struct routed *routed, size_t count, orrery_response **response)
{
    struct bulk_outcome outcome = { .client = routed->client, .count = count };

    outcome.results = memory_list(&routed->arena, count, sizeof(*outcome.results));
    if (!outcome.results)
        return client_no_memory(routed->client);
    for (size_t i = 0; i < routed->count; i++) {
        const struct part *part = &routed->parts[i];

        outcome.charge += part->bulk->charge;
        if (part->bulk->rounds > outcome.rounds)
            outcome.rounds = part->bulk->rounds;
        for (size_t j = 0; j < part->count; j++)
            outcome.results[part->numbers[j]] = part->bulk->entries[j].result;
    }
    return bulk_join(&outcome, response);
}

orrery_status bulk_run_routed(orrery_client *client, const char *link, const orrery_batch *batch,
                              const orrery_options *options, orrery_response **response)
{
    struct routed routed = { .client = client };
    orrery_response *made = NULL;
    orrery_status status = batch_check(client, link, batch, SIZE_MAX);

    if (status != ORRERY_OK)
        return status;
    if (options && !struct_is_sized(options))
        return client_refuse(client, ORRERY_EINVAL, "%s", options_unsized);
    if (OPTION(options, done))
        return client_refuse(client, ORRERY_EUNSUPPORTED, "a bulk through a resolver waits for its answers");
    arena_init(&routed.arena, SIZE_MAX);
    status = place(&routed, link, batch);
    if (status == ORRERY_OK)
        status = make_bulks(&routed, options);
    if (status == ORRERY_OK)
        status = run_all(&routed);
    if (status == ORRERY_OK)
        status = join_all(&routed, batch->count, &made);
    routed_free(&routed);
    if (response)
        *response = made;
    else
        orrery_response_free(made);
    return status;
}
