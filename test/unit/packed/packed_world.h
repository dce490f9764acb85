/*
 * test/unit/packed/packed_world.h - a packed index beside a plain table of what it must say.
 * Commits add and remove entries at random; a view is a pin with a copy of the table as it was then.
 */
#pragma once
#include "packed/packed.h"
#include "store/backend.h"

enum {
    WORLD_BUCKETS = 3,
    WORLD_PATHS = 3,
    WORLD_VALUES = 40,
    WORLD_NUMBERS = 120,
    WORLD_VIEWS = 6,
    WORLD_LSNS = 1000,
};

/* What one bucket has. */
struct table {
    bool has[WORLD_PATHS][WORLD_VALUES][WORLD_NUMBERS];
};

struct world_view {
    struct packed_pin *pin; /* NULL: none is held */
    struct table table[WORLD_BUCKETS];
    uint64_t lsn[WORLD_BUCKETS];
};

struct world {
    struct op *op;
    struct backend *backend;
    struct packed *packed;
    struct packed_options options;
    struct table now[WORLD_BUCKETS];
    uint64_t lsn[WORLD_BUCKETS];
    struct table *past[WORLD_BUCKETS][WORLD_LSNS]; /* after each commit */
    bool dropped[WORLD_BUCKETS];
    struct world_view view[WORLD_VIEWS];
    void (*disturb)(struct world *world); /* NULL: nothing happens between the blocks of a walk */
};

uint64_t world_random(uint64_t below);
uint64_t world_bucket(size_t bucket);

/* Opens over the backend, which stays the caller's. */
struct world *world_new(struct op *op, struct backend *backend, const struct packed_options *options);
void world_open(struct world *world);
void world_close(struct world *world);  /* the packed index, and all views */
void world_forget(struct world *world); /* after world_close() */
void world_free(struct world *world);   /* both */

/* The packed index goes without a word and is opened again, over another backend if that has changed: of each bucket there
   is what is settled. */
void world_crash(struct world *world);
void world_recall(struct world *world); /* the second half of it */

/* One commit of a bucket: up to `changes` entries appear or go. False when the packed index took none of it. */
bool world_commit(struct world *world, size_t bucket, size_t changes);

/* The same, but the write fails and the packed index is told to forget it: in its two halves, too. */
void world_lose(struct world *world, size_t bucket, size_t changes);
void world_begin_commit(struct world *world, size_t bucket, size_t changes);

/* The bucket and its keys go, as when a container is deleted. */
void world_drop(struct world *world, size_t bucket);

void world_look(struct world *world, size_t view); /* takes the view anew, as of now */

/* A random walk, and a random count; false when the packed index says something else than the table. */
bool world_check(struct world *world, const struct world_view *view);
bool world_check_views(struct world *world);

/* Everything, path by path, both ways. */
bool world_check_all(struct world *world, const struct world_view *view);
