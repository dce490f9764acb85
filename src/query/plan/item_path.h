/*
 * src/query/plan/item_path.h - expressions that are paths below the item, through the names of sources.
 */
#pragma once
#include "index/policy.h"
#include "query/value/tree.h"

/* A source of the statement, or of one around it: what its name stands for is found by looking into it. */
struct alias {
    const struct alias *outer;
    const struct source *source;
};

enum { ITEM_STEPS_MAX = 32 };

/* How a path was come by. */
struct path_traits {
    bool has_place;    /* c.a[0]: its terms are those of every element */
    bool computed;     /* its first step is a computed property, and no value of the document's */
    bool has_elements; /* an alias on the way is one of an array's elements */
};

/* A path from the item down. */
struct item_path {
    struct index_step step[ITEM_STEPS_MAX];
    size_t count;
    struct path_traits traits;
};

/* The same, as long as it is. */
struct kept_path {
    struct index_path steps;
    struct path_traits traits;
};

/* Of no steps yet. Clearing all that there may be would cost more than finding those that there are. */
static inline void item_path_begin(struct item_path *path)
{
    path->count = 0;
    path->traits = (struct path_traits){ 0 };
}

/* Steps are added. False when the expression is no path below the item. */
bool item_path_of(const struct alias *aliases, const struct expr *expr, struct item_path *path);

/* False when it is long enough. */
bool item_path_add(struct item_path *path, struct index_step step);

/* A copy in the arena; false past its limit. */
bool item_path_keep(struct arena *arena, const struct item_path *path, struct kept_path *kept);
