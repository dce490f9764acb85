/*
 * src/query/run/explain.h - what a run did with the index, as text.
 * The service's index metrics come from the statement and the policy, whatever a run chose: which single
 * and composite indexes serve it, and which others would. What it says there of texts and vectors is not published: their
 * paths are named among the single ones.
 */
#pragma once
#include "query/plan/way.h"

/* {"way":"pick","filter":"/a = 3","scope":1000,"items":10}: the numbers are the planner's estimates; `read` is the page's. */
void explain_plan(struct buf *out, const struct way *way, const struct work *read, size_t rows);

/* The service's JSON, `indexing` being the policy: by SDKs of today (`v2`), or with more to each index by older ones. */
void explain_indexes(struct buf *out, struct way *way, const struct select *select, struct json indexing,
                     bool v2);
