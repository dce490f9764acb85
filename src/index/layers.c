/* src/index/layers.c - counting who looks at what. */
#include <stdlib.h>

#include "base/heap.h"
#include "index/layers.h"

struct keeper_pin *layers_new(struct delta *active, struct delta *sealed, struct run *const *run,
                              size_t run_count)
{
    struct keeper_pin *layers = heap_allocate_unset(sizeof(*layers) + run_count * sizeof(layers->run[0]));

    atomic_init(&layers->refs, 1);
    layers->active = delta_hold(active);
    layers->sealed = sealed ? delta_hold(sealed) : NULL;
    layers->run_count = run_count;
    for (size_t i = 0; i < run_count; i++)
        layers->run[i] = run_hold(run[i]);
    return layers;
}

struct keeper_pin *layers_hold(struct keeper_pin *layers)
{
    atomic_fetch_add(&layers->refs, 1);
    return layers;
}

void layers_release(struct keeper_pin *layers)
{
    if (!layers || atomic_fetch_sub(&layers->refs, 1) != 1)
        return;
    delta_release(layers->active);
    delta_release(layers->sealed);
    for (size_t i = 0; i < layers->run_count; i++)
        run_release(layers->run[i]);
    free(layers);
}
