/*
 * src/resource/trigger.h - triggers: scripts that a write names, run before and after it in its transaction.
 * They run when a request names them, and at no other time; writes of batches and of scripts run none.
 */
#pragma once
#include "resource/action.h"

/* Whether the request names any. */
bool trigger_is_named(const struct call *call);

/*
 * Like action_run(), with the triggers around the write. A trigger before it may change the document, a trigger
 * after it may change the answer, and each may refuse the write. `answer` is undefined where none has changed it.
 */
enum status trigger_run(struct op *op, const struct call *call, struct action *action,
                        struct commit_stamp *stamp, struct json *answer);
