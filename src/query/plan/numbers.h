/*
 * src/query/plan/numbers.h - sorted sets of item numbers: gathered from an access, met, joined.
 * A set holds the least numbers from some place on, as far as its room goes: memory is bounded, whatever the index holds.
 */
#pragma once
#include "query/plan/access.h"

struct numbers {
    uint64_t *number; /* rising, each once */
    size_t count, capacity;
    uint64_t *spare; /* as large, for sorting; NULL until it is needed */
    uint64_t end;    /* it is complete up to here: nothing at or above this number has been looked for */
};

static const uint64_t numbers_end = UINT64_MAX;

/*
 * The numbers at or above `from` that the access gives, in the scope's spans; up to about `room` of them.
 * Memory is the arena's. ST_QUERY_MEMORY past its limit.
 */
enum status numbers_gather(struct planner *planner, struct arena *memory, const struct access *access,
                           uint64_t from, size_t room, struct numbers *numbers);
