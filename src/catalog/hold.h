/*
 * src/catalog/hold.h - containers whose writes are told to come back, because another one is about to take their place.
 * Requests look at the container's meter. Where other processes may write, the holds are also a row of the store, which these read
 * with the definitions; a write by what they knew before is refused (batch_redefines), and then they have read it.
 *
 * A hold ends by itself, by the clock of who looks. It makes a change of names likely to succeed, and nothing depends on it.
 */
#pragma once
#include "base/op.h"

struct catalog;

enum { HOLDS_MAX = 64 }; /* at a time */

struct holds {
    size_t count;
    struct hold {
        uint64_t container; /* its number */
        int64_t until_ms;
    } hold[HOLDS_MAX];
};

/* As the store keeps them, in the op's arena. */
struct slice holds_encode(struct op *op, const struct holds *holds);
enum status holds_decode(struct op *op, struct slice value, struct holds *holds);

/* Without that of the container, and without those that have ended. */
void holds_forget(struct holds *holds, uint64_t container, int64_t now_ms);

/* Those of the catalog are told to the meters, and what is left of those before them is taken back. Inside a change. */
void holds_tell(struct env *env, struct catalog *catalog, const struct holds *before);
