/*
 * src/query/plan.h - the plan that SDKs ask for before they query several ranges: what each
 * range is to be asked, and how the client joins the answers.
 *
 * Promises
 * 1. A rewritten query is one of the language: it parses and binds.                    plan_test.c
 * 2. The plan is the one that the service's own planner makes of the same query.       test/plan/run
 * 3. The ranges' answers, joined as the plan says, are the answer.                     test/plan/join
 */
#pragma once
#include "query/ranges.h"

/*
 * Prints the plan of a bound statement: {"partitionedQueryExecutionInfoVersion":2,...}.
 * `options` are those it was bound with; `features` is what the client says it can do
 * (x-ms-cosmos-supported-query-features; absent: nothing). ST_BAD_HEADER when the plan needs more,
 * ST_BAD_REQUEST when no client can join the answers.
 */
enum status query_plan(struct op *op, const struct select *select, const struct query_key *key,
                       const struct query_options *options, struct slice features, struct buf *out);
