/*
 * src/script/children.h - the children: how many there are, and who has which.
 * One is kept warm once somebody has asked. When somebody has waited for CHILD_PATIENCE_MS another is started, up
 * to as many as there are cores; when nobody was served for so long, up to children_max. Those that are too many end
 * when they have been idle for a while. Whoever has to wait is served in turn.
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
enum status children_take(struct op *op, struct children *children, struct script_child **child);

/* One that is no good any more is killed. */
void children_give_back(struct children *children, struct script_child *child, bool good);

void children_count(struct children *children, size_t *count, size_t *waiting);
