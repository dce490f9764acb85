/*
 * src/packed/layers.h - what a reader looks at: the runs, and the deltas above them. Layers never change, except that
 * the active delta grows. When a run or a delta comes or goes, new layers take their place. A pin is a reference.
 *
 * Threads. Anybody's.
 */
#pragma once
#include <stdatomic.h>

#include "packed/delta.h"
#include "packed/run.h"

struct packed_pin {
    atomic_uint refs;
    struct packed_pin *next; /* of those that nobody holds and that are not freed yet: upkeep_free_later() */
    struct delta *sealed, *active; /* sealed: being written out, or NULL */
    size_t run_count;
    struct run *run[]; /* oldest first */
};

/* The layers take references of their own to the deltas and the runs. */
struct packed_pin *layers_new(struct delta *active, struct delta *sealed, struct run *const *run,
                              size_t run_count);
struct packed_pin *layers_hold(struct packed_pin *layers);
void layers_release(struct packed_pin *layers); /* NULL is welcome */

/* The same in two steps: true when it was the last, and the caller is to free them. A delta may be large. */
bool layers_let_go(struct packed_pin *layers);
void layers_free(struct packed_pin *layers);
