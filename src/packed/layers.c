/* src/packed/layers.c - counting who looks at what. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "packed/layers.h"

struct packed_pin *layers_new(struct delta *active, struct delta *sealed, struct run *const *run,
                              size_t run_count)
{
    struct packed_pin *layers = heap_allocate_unset(sizeof(*layers) + run_count * sizeof(layers->run[0]));

    assert(active); /* there is always one to append to */
    assert(active != sealed);
    atomic_init(&layers->refs, 1);
    layers->active = delta_hold(active);
    layers->sealed = sealed ? delta_hold(sealed) : NULL;
    layers->run_count = run_count;
    for (size_t i = 0; i < run_count; i++)
        layers->run[i] = run_hold(run[i]);
    return layers;
}

struct packed_pin *layers_hold(struct packed_pin *layers)
{
    unsigned before = atomic_fetch_add(&layers->refs, 1);

    assert(before > 0); /* whoever holds it has a reference, or the lock under which it cannot go */
    return layers;
}

bool layers_let_go(struct packed_pin *layers)
{
    unsigned before = atomic_fetch_sub(&layers->refs, 1);

    assert(before > 0);
    return before == 1;
}

void layers_release(struct packed_pin *layers)
{
    if (layers && layers_let_go(layers))
        layers_free(layers);
}

void layers_free(struct packed_pin *layers)
{
    delta_release(layers->active);
    delta_release(layers->sealed);
    for (size_t i = 0; i < layers->run_count; i++)
        run_release(layers->run[i]);
    free(layers);
}
