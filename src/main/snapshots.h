/*
 * src/main/snapshots.h - named moments of the account, and going back to them. docs/internals/snapshots.md
 * On disk a snapshot is a folder below snapshots/ in the data directory. In memory it is a mark of the store, and goes with
 * the server.
 *
 * Threads. Any thread that may wait and is not inside the engine's gate; they wait for each other.
 */
#pragma once
#include "route/route.h"

struct engine;

struct snapshots {
    struct snapshot_mark *marks; /* of a store in memory, the latest first */
    char *folder;                /* of the store, once another was taken up than the server began with */
};

/* What route_options.snapshots wants; the context is the engine. */
extern const struct route_snapshots engine_snapshots;

/* For engine.c. At the start: those on disk that were not finished are removed. */
void snapshots_clear(struct op *op, struct engine *engine);

/* At the end: before the store is closed, and after it. */
void snapshots_close(struct engine *engine);
void snapshots_settle(struct engine *engine);
