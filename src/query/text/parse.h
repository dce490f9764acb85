/*
 * src/query/text/parse.h - text to tree.
 * Nothing is looked up: whether names and functions exist is the binder's business.
 */
#pragma once
#include "query/value/tree.h"

/*
 * One statement. Too long (QUERY_BYTES_MAX), too deep (QUERY_DEPTH_MAX) or not the language:
 * ST_BAD_QUERY with the service's words and place.
 */
enum status query_parse(struct op *op, struct slice text, struct select **select);

/* FROM c WHERE ..., which is how a patch writes its condition: SELECT * of it. */
enum status query_parse_condition(struct op *op, struct slice text, struct select **select);

/* A tree back to text, as the service's planner writes it: see print.c. */
void query_print(struct buf *out, const struct select *select);
void query_print_expr(struct buf *out, const struct expr *expr);
