/*
 * src/query/plan/demand_private.h - what the files of demand.h share: sets of values, making demands, who is asked.
 * Each function that takes an expression and a set gives what must hold for its value to be in the set.
 */
#pragma once
#include "query/eval/builtin.h"
#include "query/plan/demand.h"
#include "query/plan/kinds.h"

/* A source of the statement, or of one around it. */
struct scope {
    const struct scope *outer;
    const struct source *source;
    const struct scope *inner; /* of a subquery that was read: what its own sources are */
    bool is_read;
    bool is_plain;  /* neither it nor one around it is a subquery: names stand for nothing else */
    bool is_joined; /* it is not the first of its FROM */
};

/* An expression, and the sources that its names are of. */
struct term {
    const struct expr *expr; /* NULL: the object that `row` makes of its select list */
    const struct scope *scope;
    const struct select *row;
};

/* Values, one interval beside the other. */
struct values {
    const struct interval *interval;
    size_t count;
    kinds kinds; /* of them: asked often */
};

struct reader {
    struct arena *arena;
    unsigned hidden; /* so many joined subqueries around what is read */
    unsigned spent;  /* expressions that were asked */
};

/* ---- demand.c ---- */

struct demand *demand_any(void);
struct demand *demand_none(struct reader *reader);
struct demand *demand_list(struct reader *reader, enum demand_kind kind, size_t room);
void demand_put(struct demand *list, struct demand *kid);
struct demand *demand_pair(struct reader *reader, enum demand_kind kind, struct demand *a, struct demand *b);

/* The expression's value is among these. */
struct demand *demand_among(struct reader *reader, struct term term, struct values values);
struct demand *demand_kinds(struct reader *reader, struct term term, kinds wanted);
struct demand *demand_equal(struct reader *reader, struct term term, struct value value);
struct demand *demand_path(struct reader *reader, struct term term, struct values values);

/* Whether it is the same for every row, and the service's planner knows its value. */
bool demand_constant(struct term term, struct value *value);

/* A name, or a step below something. */
bool demand_is_step(const struct expr *expr);

static inline struct term demand_kid(struct term term, size_t i)
{
    return (struct term){ term.expr->kid[i], term.scope, NULL };
}

/* ---- demand_values.c ---- */

static inline kinds values_kinds(struct values values)
{
    return values.kinds;
}

struct values values_of(const struct interval *interval, size_t count);
bool values_have(struct values values, struct value value);
struct values values_of_kinds(struct reader *reader, kinds wanted);
struct values values_of_one(struct reader *reader, struct interval interval);

/* Room for so many intervals; NULL past the arena's limit. */
struct interval *values_room(struct reader *reader, size_t count);

/* Whether there is nothing but values one by one, of this kind where others cannot be meant. */
bool values_are_points(struct values values, enum json_kind kind);

/* ---- demand_operator.c ---- */

struct demand *demand_operator(struct reader *reader, struct term term, struct values values);
struct demand *demand_compared(struct reader *reader, enum operator_kind operation, struct term a,
                               struct term b);
struct demand *demand_between(struct reader *reader, struct term term, bool truth);
struct demand *demand_in(struct reader *reader, struct term term, bool truth);
struct demand *demand_choice(struct reader *reader, struct term condition, struct term then,
                             struct term otherwise, struct values values);

/* ---- demand_call.c ---- */

struct demand *demand_call(struct reader *reader, struct term term, struct values values);
struct demand *demand_like(struct reader *reader, struct term term, bool truth);
