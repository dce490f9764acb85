/*
 * src/query/plan/interval.h - values of one path, between two bounds or all of some kinds.
 * A list of them is what a filter leaves of a path (filter.h): which terms of an index, and which partition keys.
 */
#pragma once
#include "query/value/tree.h"

struct bound_value {
    bool is_set, is_open;
    struct value value;
};

/* A bound that is not set is the first or last value of its kind. */
struct interval {
    struct bound_value low, high;
    enum json_kind first, last; /* kinds, where a bound is not set */
    bool is_prefix;             /* strings that begin with low.value */
};

struct interval interval_of_kinds(enum json_kind first, enum json_kind last);
struct interval interval_of_value(struct value value);
struct interval interval_of_prefix(struct slice prefix);

/* Values of its own kind that are less than the value, or greater, or else equal: null to strings have such an order. */
struct interval interval_of_order(enum operator_kind operation, struct value value);

/* The comparison that holds where this one does not; and with its sides changed: a < b is b > a. */
enum operator_kind interval_opposite_order(enum operator_kind operation);
enum operator_kind interval_turned_order(enum operator_kind operation);

/* Every defined value but this one, which is no array and no object: before it, and behind it. */
void interval_complement(struct value value, struct interval both[2]);

/* What two intervals, neither of them a prefix, have in common. */
struct interval interval_meet(const struct interval *a, const struct interval *b);

/* Of an interval that is no prefix. */
bool interval_has(const struct interval *interval, struct value value);

/* One value and no other. */
bool interval_is_point(const struct interval *interval);
bool interval_is_empty(const struct interval *interval);

/* Whether documents can hold one of its values: they hold no number that is not finite. */
bool interval_is_stored(const struct interval *interval);

/* The first and last bytes of the interval's terms behind a prefix. False when they hold other values too. */
bool interval_terms(struct op *op, struct slice prefix, const struct interval *interval, bool descending,
                    struct slice *from, struct slice *to);

void interval_print(struct buf *out, const struct interval *interval);
