/*
 * src/query/plan/filter.h - what a filter asks of an item, as values at paths joined by AND and OR.
 *     filter_of_select(arena, select)        from a bound and folded statement
 * predicate.c finds the ranges of the index that have such items. What is for partition keys is in demand.h.
 *
 * A filter is never too narrow: every item that passes the statement's filter has what this one asks for. Where it is
 * `loose`, other items may have that, too. A condition that is not understood becomes FILTER_ANY, and the evaluator
 * decides.
 *
 * Ownership. Everything lies in the arena, and points into the statement. Past the arena's limit a filter is
 *     FILTER_ANY, which is no failure.
 */
#pragma once
#include "query/plan/interval.h"
#include "query/plan/item_path.h"
#include "text/match.h"

enum filter_kind {
    FILTER_ANY,    /* every item */
    FILTER_NONE,   /* no item at all */
    FILTER_VALUES, /* the path's value lies in one of the intervals */
    FILTER_WORD,   /* the path's value is a text that has this word */
    FILTER_NEAR,   /* the path's value is a geometry within reach of this one */
    FILTER_AND,
    FILTER_OR,
    FILTER_ROWS, /* a subquery has a row where kid[0] holds */
};

struct filter {
    enum filter_kind kind;
    bool loose;
    bool settles;                    /* FILTER_ROWS: one element that passes is all that the subquery asks */
    struct kept_path path;           /* FILTER_VALUES, FILTER_WORD, FILTER_NEAR */
    const struct interval *interval; /* FILTER_VALUES; none: nothing passes */
    size_t interval_count;
    struct text_term word; /* FILTER_WORD */
    enum text_language language;
    struct json geometry; /* FILTER_NEAR */
    double reach;
    struct filter **kid; /* FILTER_AND, FILTER_OR, FILTER_ROWS */
    size_t kid_count;
};

/*
 * Whether a subquery's rows are those of its one source that pass its filter, as they are: then what it asks of an item is
 * all that decides.
 */
bool filter_passes_rows(const struct select *select);

/* What the statement's sources and its filter ask of an item; FILTER_ANY when that is nothing. */
const struct filter *filter_of_select(struct arena *arena, const struct select *select);
