/*
 * src/query/plan/hybrid.h - ORDER BY RANK over several ranges: what SDKs ask each for, and how they rank the answers.
 * First the statistics of all ranges; then, of each range, the best rows by each score, in texts that have places for the
 * sums of the statistics. The plan is the one of the service's planner.
 */
#pragma once
#include "query/plan/sdk_plan_private.h"

struct select;

/* How many rows each score gives, of a bound statement: UINT64_MAX without TOP or LIMIT. */
uint64_t hybrid_rows(const struct select *select);

/* Whether a plan of the statement is a hybrid one, unless one range has all. */
bool hybrid_is(const struct select *select);

/* What a client must know for it. */
struct hybrid_needs {
    bool texts, vectors, weights;
};

struct hybrid_needs hybrid_needs(const struct select *select);

/*
 * Prints hybridSearchQueryInfo. `skips_order`: the client ranks without the order of rows, and is spared what only that
 * order is for. Others have the statistics of vectors, too, though there is nothing to count: some fail without.
 */
void hybrid_print(struct op *op, const struct select *select, bool skips_order, struct buf *out);
