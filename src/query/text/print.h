/*
 * src/query/text/print.h - the clauses of a statement as text, for the planner, which writes a SELECT of
 * its own in front of them. parse.h has the calls for whole statements and expressions.
 */
#pragma once
#include "base/buf.h"
#include "query/value/tree.h"

/* What stands between SELECT [DISTINCT] [TOP n] and FROM: the star, VALUE x, or the list. */
void query_print_list(struct buf *out, const struct select *select);

/* Each begins with a newline and its keyword, and is nothing where the clause is absent. */
void query_print_from(struct buf *out, const struct select *select);
void query_print_where(struct buf *out, const struct select *select);
void query_print_group(struct buf *out, const struct select *select);
void query_print_order(struct buf *out, const struct select *select);
void query_print_limit(struct buf *out, const struct select *select);

/* The whole statement on one line, with ? for its strings, numbers and parameters. It is to be read, and not to be parsed. */
void query_print_outline(struct buf *out, const struct select *select);
