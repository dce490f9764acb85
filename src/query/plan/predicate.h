/* src/query/plan/predicate.h - what the files that read a filter share. */
#pragma once
#include "query/plan/access.h"

/* ST_WITHIN and ST_INTERSECTS of a path and a constant. */
struct access *predicate_area(struct planner *planner, const struct alias *aliases, const struct expr *call);

/* ST_DISTANCE of a path and a constant, compared with a number. */
bool predicate_is_distance(const struct expr *expr);
struct access *predicate_distance(struct planner *planner, const struct alias *aliases,
                                  const struct expr *call, enum operator_kind operation, struct value value);
