/*
 * src/store/wanted.h - keys that were asked for together, found again by what came, in whatever order it came.
 *
 * Ownership. The keys stay the caller's; the rest lies in the arena that it was made in.
 */
#pragma once
#include "base/arena.h"
#include "base/slice.h"

struct wanted_key {
    struct slice key; /* without the bytes that all have in common */
    size_t number;    /* among those asked for */
};

struct wanted {
    struct wanted_key *sorted;
    size_t count;
    size_t
        compared; /* pairs of keys so far, by wanted_find(): a few for each key that came, however many were asked for */
};

/* `skipped`: so many bytes at the front of each key are left out. */
void wanted_init(struct wanted *wanted, struct arena *arena, const struct slice *keys, size_t count,
                 size_t skipped);

/* The first of those with this key, which follow each other up to `end`; equal to it when there is none. */
const struct wanted_key *wanted_find(struct wanted *wanted, struct slice key, const struct wanted_key **end);
