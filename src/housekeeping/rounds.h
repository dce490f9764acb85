/*
 * src/housekeeping/rounds.h - a chore over containers: a step for each that is due, in turn, until none is or the time is up.
 * Any container may be the first, so that none waits for ever behind those that are always due.
 *
 * What a chore knows of a container lies here, by the container's rid, for as long as the container has the same edition
 * (catalog.h): over splits and merges, which change no item, the work goes on; with another definition it begins anew. What
 * is known of containers that were dropped is forgotten.
 *
 * Threads. One at a time: nothing of it is seen by others.
 */
#pragma once
#include "catalog/catalog.h"

/* A container that a chore comes to. */
struct visit {
    struct container *container;
    void *state;     /* what the chore knows of it: zero bytes at first, and with every other edition */
    void *context;   /* the chore's own */
    int64_t rest_ms; /* advance() may set it: nothing is due before it is over */

    struct known *known; /* rounds.c's own */
};

/* A chore is these. */
struct rounds_kind {
    size_t state_bytes;
    int64_t call_ms_max;
    int64_t failed_ms; /* the rest after a step that failed, and will probably fail again */
    int64_t share; /* any other rest is so many times as long as was worked since the last one, at least */

    container_filter *concerns; /* NULL: it concerns all */
    bool (*is_due)(const struct visit *visit, struct env *env);

    /* One step: short, with an operation that has just begun and may wait. A container that is gone is no failure. */
    enum status (*advance)(struct op *op, struct visit *visit);
};

struct rounds;

/* `kind` and `context` outlive it, and so does the catalog. */
struct rounds *rounds_open(const struct rounds_kind *kind, struct catalog *catalog, void *context);
void rounds_close(struct rounds *rounds); /* NULL is welcome */

/* Does what is due, for `call_ms_max` and a step more at most. The first failure ends it, and is told. */
enum status rounds_run(struct op *op, struct rounds *rounds);
