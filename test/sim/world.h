/*
 * test/sim/world.h - a whole server without sockets and threads, over a disk that outlives it.
 * A request goes through route_handle(), signed, first as on a loop thread and then as on a pool thread.
 */
#pragma once
#include "disk.h"
#include "housekeeping/reindex.h"
#include "housekeeping/sweep.h"
#include "housekeeping/trim.h"
#include "route/route.h"
#include "store/faulty.h"

/* A request may be interrupted by another one, and that one is the last. */
enum { WORLD_DEPTH = 2 };

struct world {
    struct env *env;
    struct disk *disk;
    size_t delta_bytes; /* of the packed index, in every other seed; 0: entries are plain keys */
    struct faulty_controls controls;
    struct op op; /* for what is no request: opening, housekeeping */
    struct store *store;
    struct catalog *catalog;
    struct sweep *sweep;
    struct reindex *reindex;
    struct trim *trim;
    struct auth *auth;
    struct router *router;
    struct service service;
    struct exchange exchange[WORLD_DEPTH];
    int depth;                              /* which of them is in use */
    bool holds_catalog;                     /* the catalog's lock may be held */
    int undisturbed;                        /* above 0: the packed index is at work */
    bool reindexing;                        /* it may be held now and then: definitions stay as they are */
    uint64_t requests, expired, starts_cut; /* so many so far */
};

struct world_header {
    enum header_id id;
    const char *value; /* NULL: not sent */
};

void world_open(struct world *world, uint64_t seed);
void world_close(struct world *world);

/*
 * As after a power cut: another process, over what the disk has kept. `again`: the power fails once more at
 * that write of the new one's start, counting from 1, and it starts over; 0: it does not.
 */
void world_restart(struct world *world, uint64_t luck, uint64_t again);

/* The answer is in the exchange that comes back, until the next request of the same depth. */
struct exchange *world_send(struct world *world, enum method method, const char *target,
                            const struct world_header *headers, size_t count, const char *body);

/* Housekeeping, as the server's main thread does it. */
enum status world_sweep(struct world *world);

/* Of an answer; false when it has none, or one too long. */
bool world_header_text(struct exchange *exchange, const char *name, char *text, size_t size);
struct json world_body(struct exchange *exchange);
