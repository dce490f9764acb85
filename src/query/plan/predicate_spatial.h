/* src/query/plan/predicate_spatial.h - ranges of the cells that geometries lie in. */
#pragma once
#include "query/plan/access.h"
#include "query/plan/filter.h"

/*
 * The items that may lie within reach of a FILTER_NEAR. Never exact: a cell says only roughly where a geometry lies.
 */
struct access *access_near(struct planner *planner, const struct filter *filter);
