/*
 * src/query/plan/cost.h - what it would cost to answer from the index, and which parts of an access are worth reading.
 * Costs are in documents scanned: about 0.4 us each where everything is in memory.
 */
#pragma once
#include "query/plan/access.h"

/* A scanned document is 1. */
static const double cost_of_fetch = 10;   /* a document by its number */
static const double cost_of_entry = 0.12; /* an entry walked over, its number sorted in */
static const double cost_of_lookup = 20;  /* opening a cursor, or asking for a count */
static const double cost_of_seek = 2;     /* passing over entries to the one that is wanted */

static const double cost_of_covered = 0.5; /* an entry that becomes, with those of its term, a row */

enum { ENTRIES_OF_A_STEP = 8 }; /* walked over; steps of an operation (base/op.h) are as long as costs here */

struct cost {
    double items; /* in the scope, that the access gives */
    double work;  /* to find their numbers */
};

/* How many items the scope has, about. */
enum status cost_scope(struct planner *planner, struct access *access, double *items);

/*
 * Looks up how many entries each range has, and chooses: in an AND the kids that are worth their price come
 * first, `kid_used` of them. The others are left to the filter.
 */
enum status cost_access(struct planner *planner, struct access *access, double scope, struct cost *cost);
