/*
 * src/catalog/carry.h - what a catalog keeps when its store goes back to an earlier moment: numbers and LSNs.
 * Clients go on with the session tokens, continuations and rids that they were given since. So no number is given to another
 * resource, and each container goes on above the last LSN that one of its name has given out.
 *     carry_take(op, old, &carried);          the last thing that is done with the old catalog
 *     carry_give(op, new, &carried);          the first thing with the new one
 *
 * Ownership. What is carried lies in the op's arena.
 * Threads. Nobody else uses either catalog meanwhile.
 */
#pragma once
#include "catalog/catalog.h"

struct carried {
    uint64_t number;   /* above those of all databases, containers and their children */
    struct past *past; /* how far each container got, be it there or dropped */
    size_t count;
    struct carried_items {
        uint64_t bucket, counter;
    } * items;
};

void carry_take(struct op *op, struct catalog *catalog, struct carried *carried);

/* In one commit. */
enum status carry_give(struct op *op, struct catalog *catalog, const struct carried *carried);
