/*
 * src/query/plan.h - a query over several partition key ranges: which of them its filter can match, and the plan that SDKs ask
 * for before they query them: what each range is to be asked, and how the client joins the answers.
 *
 * Promises
 * 1. A rewritten query is one of the language: it parses and binds.                    sdk_plan_test.c
 * 2. The plan is the one that the service's own planner makes of the same query.       test/plan/run
 * 3. The ranges' answers, joined as the plan says, are the answer.                     test/plan/join
 */
#pragma once
#include "base/op.h"
#include "keys/epk.h"

struct select;

/* A container's partition key: the segments of each path. */
struct query_key {
    enum epk_version version;
    bool system; /* a container without a key of its own: an undefined key is the empty one */
    size_t path_count;
    struct {
        const struct slice *segment;
        size_t count;
    } path[PARTITION_KEY_PATHS_MAX];
};

enum { QUERY_POINTS_MAX = 8192 }; /* a filter that names more keys asks every partition */

/*
 * A point of a hierarchical key (EPK_MULTI) may lack the last levels: it then stands for every key
 * that begins with it.
 */
struct query_ranges {
    bool all;          /* no filter on the key: every partition */
    struct epk *point; /* otherwise these, in EPK order, none within another; none when nothing can match */
    size_t count;
};

/* The statement has been compiled. Never too narrow. */
enum status query_ranges(struct op *op, const struct select *select, const struct query_key *key,
                         struct query_ranges *ranges);

/* Whether the point stands for the keys that begin with it. */
bool query_point_is_prefix(const struct query_key *key, const struct epk *point);

/*
 * Prints the plan of a compiled statement: {"partitionedQueryExecutionInfoVersion":2,...}.
 * `features` is what the client says it can do
 * (x-ms-cosmos-supported-query-features; absent: nothing). ST_BAD_HEADER when the plan needs more,
 * ST_BAD_REQUEST when no client can join the answers.
 */
enum status query_plan(struct op *op, const struct select *select, const struct query_key *key,
                       struct slice features, struct buf *out);

/* A plan that leaves nothing to the client: the server's answer to the statement itself is the answer. */
enum status query_plan_whole(struct op *op, const struct select *select, const struct query_key *key,
                             struct buf *out);

/* The same for a client that has not asked: `needed` when the answers of several ranges are more than to be put together. */
enum status query_plan_unasked(struct op *op, const struct select *select, const struct query_key *key,
                               bool *needed, struct buf *out);
