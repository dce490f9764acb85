/*
 * src/script/children.h - the children: how many there are, and who has which.
 * From the first request on one child is kept warm. When a request has waited for CHILD_PATIENCE_MS, another child is
 * started, until there are as many as cores. Beyond that another is started only when no request was served for so
 * long, until there are children_max. Children that are too many end when they have been idle for a while. Owners take
 * turns when their requests wait, and some children are not for an owner that has all the others (base/turns.h).
 *
 * Threads. Any. The keeper, a thread of its own, starts children and ends idle ones: no request waits for a start.
 */
#pragma once
#include "script/child.h"
#include "script/script.h"

struct children;

struct children *children_open(const struct script_options *options);
void children_close(struct children *children); /* NULL is welcome; all were given back */

/* ST_NOT_BUILT when none can be started; ST_TOO_MANY_REQUESTS when none becomes free in time. */
enum status children_take(struct op *op, struct children *children, uint64_t owner,
                          struct script_child **child);

/* A child that is not `good` is killed. */
void children_give_back(struct children *children, struct script_child *child, bool good);

void children_count(struct children *children, size_t *count, size_t *waiting);
