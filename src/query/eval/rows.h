/*
 * src/query/eval/rows.h - the rows of one SELECT: its sources joined, filtered, grouped and projected,
 * for the item or the outer row that stands in the slots already.
 */
#pragma once
#include "query/eval/eval.h"
#include "query/eval/groups.h"

/* One row: the sources' values are in their slots. False ends the walk. */
typedef bool row_sink(struct eval *eval, void *context);

/* Every row that passes WHERE, sources from `first` on. False when a sink ended it or something failed. */
bool rows_walk(struct eval *eval, const struct select *select, size_t first, row_sink *sink, void *context);

/* Projects the row in the slots by the select list: an object, or the bare value. */
struct value rows_project(struct eval *eval, const struct select *select);

/* The values of a subquery, undefined ones left out: grouped, projected, distinct. */
typedef bool value_sink(struct eval *eval, struct value value, void *context);

bool rows_each(struct eval *eval, const struct select *select, value_sink *sink, void *context);
