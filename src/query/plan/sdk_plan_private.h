/* src/query/plan/sdk_plan_private.h - what sdk_plan.c and sdk_rewrite.c share. */
#pragma once
#include "query/plan.h"

enum distinct_type { DISTINCT_NONE, DISTINCT_ORDERED, DISTINCT_UNORDERED };

/* What is left to the client. A clause that is not here is the server's, in each range. */
struct plan {
    const struct select
        *select;    /* what the ranges are asked for; of a distinct count, the subquery; NULL: as it is */
    bool has_value; /* SELECT VALUE, of the statement itself */
    enum distinct_type distinct;
    bool is_grouped; /* by GROUP BY, or by aggregates over everything */
    bool is_ordered;
    bool drops_rows; /* so that rows are counted by the client, behind that */
    bool sorts_all;  /* each range gives its rows only when it has seen them all */
    bool is_whole;   /* a subquery in FROM gathers rows of many items: what ranges answer cannot be joined */
    bool sums_exactly; /* the client joins sums by their parts */
    const struct expr *top, *offset, *limit;
    const struct select_item *distinct_count; /* COUNT(1) over a subquery's distinct rows */
};

bool plan_is_aggregate(const struct expr *expr);

/* What a row would have been, as one column of what ranges are asked. */
void plan_print_payload(struct buf *out, const struct select *select, bool sums_exactly);

/* The client replaces it with true, or with where it left off. */
extern const char plan_resume_filter[];

/* The text each range is asked; nothing when it is the statement itself. */
void plan_rewrite(const struct plan *plan, struct buf *out);
