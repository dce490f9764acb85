/*
 * src/base/account.h - one account of the memory that clients can make grow.
 * Whatever outlives a step is on it: holders.def has the kinds. Each holder has a claim: an operation, a request that is
 * being read, a cache. Past the limit a claim gets no more, which is an answer to its client and never the program's end.
 *
 * The last part of the account is kept for claims that are small. So a request that needs little finds room, however
 * many there are that need much.
 *
 * Ownership. Whoever has a claim gives back what it took; the account outlives its claims.
 * Threads. An account is shared. A claim is used by one thread at a time.
 *
 * Promises
 * 1. What claim_more() granted, all claims together, never exceeds the limit.
 * 2. A small claim is granted while those that are not small have taken all that they may.
 */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum holder {
#define HOLDER(name, text, percent) HOLDER_##name,
#include "base/holders.def"
#undef HOLDER
    HOLDER_COUNT
};

struct account {
    size_t limit_bytes; /* 0: none */
    atomic_size_t used_bytes, held_bytes[HOLDER_COUNT];
    _Atomic uint64_t refused[HOLDER_COUNT]; /* how often a claim got no more */
};

void account_init(struct account *account, size_t limit_bytes);
const char *holder_name(enum holder holder);

/* What all of that kind may have together, small claims aside. SIZE_MAX where there is no limit. */
size_t account_share(const struct account *account, enum holder holder);

/* The part that is kept for small claims; SIZE_MAX where there is no limit. */
size_t account_kept(const struct account *account);

enum {
    CLAIM_SMALL_BYTES = 1024 * 1024
}; /* what a claim may have of the part that is kept: a small query takes half of it */

struct claim {
    struct account *account; /* NULL: it is counted here only */
    size_t bytes;
    enum holder holder;
    bool refused; /* it got no more; whoever begins anew sets it back */
    bool
        is_owed; /* what it asks for is granted whatever the limit: its work is done, and its client must be told */
};

/* False when there is no room: nothing has changed then but `refused`. */
bool claim_more(struct claim *claim, size_t bytes);

/* Whether claim_more() would grant it at this moment. */
bool claim_may_have(const struct claim *claim, size_t bytes);

/* For what cannot fail, and for what is taken already. */
void claim_anyway(struct claim *claim, size_t bytes);

void claim_less(struct claim *claim, size_t bytes);

/* What it holds is of another kind from here on. */
void claim_move(struct claim *claim, enum holder holder);
