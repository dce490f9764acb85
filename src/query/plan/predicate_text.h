/* src/query/plan/predicate_text.h - ranges of the terms of words. */
#pragma once
#include "query/plan/access.h"
#include "query/plan/filter.h"

/* The items whose text has the word of a FILTER_WORD: exactly these, but of a fuzzy one some that do not. */
struct access *access_word(struct planner *planner, const struct filter *filter);
