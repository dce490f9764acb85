/*
 * src/query/plan/filter_private.h - what the files that read a filter share: making conditions.
 * Each function that takes an expression gives what is known of an item for which that is true, or `truth`.
 */
#pragma once
#include <math.h>

#include "query/eval/builtin.h"
#include "query/plan/filter.h"

/* ---- filter.c: conditions ---- */

struct filter *filter_any(void);
struct filter *filter_make(struct arena *arena, struct filter from); /* FILTER_ANY past the limit */
struct filter *filter_none(struct arena *arena);

/* The same, where the statement's own filter asks for more. */
struct filter *filter_loosely(struct filter *filter);

/* A list that kids are put into: `room` of them. FILTER_ANY past the arena's limit. */
struct filter *filter_list(struct arena *arena, enum filter_kind kind, size_t room);
void filter_put(struct filter *list, struct filter *kid);
struct filter *filter_pair(struct arena *arena, enum filter_kind kind, struct filter *a, struct filter *b);

/* Intervals are copied. */
struct filter *filter_at_path(struct arena *arena, const struct item_path *path,
                              const struct interval *interval, size_t count);

/* Of an expression that is a path; FILTER_ANY for one that is none. */
struct filter *filter_at(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                         const struct interval *interval, size_t count);
struct filter *filter_kinds_at(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                               enum json_kind first, enum json_kind last);

/* The items for which an expression can be true, or false. */
struct filter *filter_where(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                            bool truth);

/* The items for which a subquery has a row. */
struct filter *filter_rows(struct arena *arena, const struct alias *aliases, const struct select *select);

/* ---- filter_compare.c ---- */

/* Equal to one of these values, each a point. */
struct filter *filter_one_of(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                             const struct interval *point, size_t count);
struct filter *filter_equals(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                             struct value value);
struct filter *filter_comparison(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                                 bool truth);
struct filter *filter_between(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                              bool truth);
struct filter *filter_in(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                         bool truth);

/* ---- filter_call.c ---- */

static inline enum claim_kind filter_claim(const struct expr *expr)
{
    return expr->kind == EXPR_CALL ? expr->builtin->claim.kind : CLAIM_NOTHING;
}

struct filter *filter_like(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                           bool truth);
struct filter *filter_call(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                           bool truth);

/* ---- filter_text.c ---- */

/* Of keywords in a text. */
struct filter *filter_words(struct arena *arena, const struct alias *aliases, const struct expr *call);

/* Of a call of a path and a constant, in either order: geometries within reach of each other. */
struct filter *filter_near(struct arena *arena, const struct alias *aliases, const struct expr *call,
                           double reach);
