/*
 * src/main/ephemeral.h - a data directory that goes with its server (--ephemeral), below TMPDIR or /tmp.
 * A server that was killed leaves its directory behind. The next one that is started so removes it: the kernel has given
 * up the lock that its owner held.
 */
#pragma once
#include "base/op.h"

/* Removes what killed servers have left, and makes a directory of this one's own, whose path is in the op's arena. */
enum status ephemeral_make(struct op *op, const char **path);

/* With all that is in it. */
void ephemeral_remove(const char *path);
