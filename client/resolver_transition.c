/* client/resolver_transition.c - from one resolver to the next, while documents move between them. */
#include <stdlib.h>

#include "state.h"

struct transition_resolver {
    orrery_resolver *current, *next;
    orrery_read_mode mode;
};

static orrery_status transition_key(void *self, orrery_value document, orrery_held_key *key)
{
    orrery_resolver *next = ((struct transition_resolver *)self)->next;

    return next->calls.partition_key(next->self, document, key);
}

static orrery_status transition_create(void *self, const orrery_key *key, orrery_links *links)
{
    orrery_resolver *next = ((struct transition_resolver *)self)->next;

    return next->calls.for_create(next->self, key, links);
}

static orrery_status ask(orrery_resolver *resolver, const orrery_key *key, orrery_links *links)
{
    return resolver->calls.for_read(resolver->self, key, links);
}

static orrery_status transition_read(void *self, const orrery_key *key, orrery_links *links)
{
    struct transition_resolver *resolver = self;
    orrery_status status = ORRERY_OK;

    if (resolver->mode == ORRERY_READ_NONE)
        return ORRERY_EMIGRATING;
    if (resolver->mode != ORRERY_READ_NEXT)
        status = ask(resolver->current, key, links);
    if (resolver->mode != ORRERY_READ_CURRENT && status == ORRERY_OK)
        status = ask(resolver->next, key, links);
    return status;
}

static orrery_status transition_save(void *self, char **json)
{
    struct transition_resolver *resolver = self;
    struct state_writer writer;

    state_begin(&writer, "Transition");
    state_text(&writer, "ReadMode", slice_of(state_mode_name(resolver->mode)));
    state_resolver(&writer, "CurrentResolver", resolver->current);
    state_resolver(&writer, "NextResolver", resolver->next);
    return state_end(&writer, json);
}

static void transition_destroy(void *self)
{
    struct transition_resolver *resolver = self;

    orrery_resolver_unref(resolver->current);
    orrery_resolver_unref(resolver->next);
    allocator_free(resolver);
}

static const orrery_resolver_vtbl transition_calls = { .size = sizeof(transition_calls),
                                                       transition_key,
                                                       transition_create,
                                                       transition_read,
                                                       transition_save,
                                                       transition_destroy };

orrery_status orrery_resolver_transition(orrery_resolver *current, orrery_resolver *next,
                                         orrery_read_mode mode, orrery_resolver **resolver)
{
    struct transition_resolver *made;
    orrery_status status;

    if (!resolver)
        return ORRERY_EINVAL;
    *resolver = NULL;
    if (!current || !next || mode > ORRERY_READ_NONE)
        return ORRERY_EINVAL;
    made = allocator_get(sizeof(*made));
    if (!made)
        return ORRERY_ENOMEM;
    *made = (struct transition_resolver){ orrery_resolver_ref(current), orrery_resolver_ref(next), mode };
    status = orrery_resolver_custom(&transition_calls, made, resolver);
    if (status != ORRERY_OK)
        transition_destroy(made);
    return status;
}
