/*
 * src/housekeeping/rounds.h - runs a chore over containers. Each container that is due gets a step in turn, until
 * none is due or the time is up. A round may begin with any container, so that none waits for ever behind those that
 * are always due.
 *
 * Rounds keep a chore's state of each container, or of each of its parts, for as long as the container has the same
 * edition (catalog.h). Splits and merges change no item and keep the edition, so the work goes on; with another
 * definition it begins anew. The state of a dropped container is forgotten.
 *
 * Threads. One at a time: no other thread sees any of it.
 */
#pragma once
#include "catalog/catalog.h"

/* One container in a chore's round. */
struct visit {
    struct container *container;
    void *state;     /* the chore's state of the container: zero bytes at first, and with each edition */
    void *context;   /* the chore's own */
    int64_t rest_ms; /* advance() may set it: the container is not due before this time is over */

    struct known *known; /* rounds.c's own */
};

/* What a chore is made of. */
struct rounds_kind {
    size_t state_bytes;
    int64_t call_ms_max;
    int64_t failed_ms; /* how long a container rests after a step that failed, and will probably fail again */
    int64_t share;     /* any other rest is at least so many times as long as the work since the last rest */

    bool by_part;               /* each part of a container (catalog/parts.h) is visited by itself */
    container_filter *concerns; /* which containers the chore is about; NULL: all */
    bool (*is_due)(const struct visit *visit, struct env *env);

    /* Takes one short step, with an operation that has just begun and may wait. A dropped container is no failure. */
    enum status (*advance)(struct op *op, struct visit *visit);
};

struct rounds;

/* `kind`, `context` and the catalog outlive the rounds. */
struct rounds *rounds_open(const struct rounds_kind *kind, struct catalog *catalog, void *context);
void rounds_close(struct rounds *rounds); /* NULL is welcome */

/* Takes steps for `call_ms_max`, and one step longer at most. The first failure ends the call and is its status. */
enum status rounds_run(struct op *op, struct rounds *rounds);
