/*
 * test/store/faulty.h - a backend that passes calls on to another one, and can make them fail or take time.
 * The controls are the test's; it may change them between calls.
 */
#pragma once
#include "store/backend.h"

enum faulty_kind {
    FAULTY_SNAPSHOT = 1,
    FAULTY_GET = 2,
    FAULTY_SCAN = 4,
    FAULTY_WRITE = 8,
    FAULTY_REMOVE = 16,
    FAULTY_REOPEN = 32,
    FAULTY_RUN = 64, /* writing and removing runs, and settling */
    FAULTY_RUN_READ = 128,
    FAULTY_ANY = 255,
};

struct faulty_controls {
    unsigned kinds;                 /* the calls that count, an or of the above */
    uint64_t fail_call;             /* of those, the one that fails, counting from 1; 0: none. Once only */
    uint64_t fail_again;            /* so many calls of any kind after that one, another fails; 0: none */
    bool fail_after;                /* a write, a removal or a settling fails after it has happened */
    int reopen_failures;            /* so many more reopenings fail */
    void (*instead)(void *context); /* what happens at fail_call in place of a failure; NULL: it fails */
    void *context;
    struct env *clock; /* seeded; each call that a remote store would answer takes 1 ms on it */

    uint64_t calls; /* so far, of the kinds that count */
    bool failed;    /* fail_call was reached */
};

/* Owns the backend underneath. */
struct backend *faulty_backend(struct backend *under, struct faulty_controls *controls);

/* Start counting anew. */
void faulty_fail(struct faulty_controls *controls, unsigned kinds, uint64_t call);
