/* src/query/plan/predicate_spatial.h - ranges of the cells that geometries lie in. */
#pragma once
#include "query/plan/access.h"
#include "query/plan/filter.h"

/* Of a FILTER_NEAR: what may lie within its reach. Never exact, because a cell says only about where something is. */
struct access *access_near(struct planner *planner, const struct filter *filter);
