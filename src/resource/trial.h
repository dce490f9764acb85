/*
 * src/resource/trial.h - which queries a loop thread tries: those of whose text it has not given up one lately.
 * A loop thread answers a short query sooner than a pool thread would, but what it has to give up is begun anew. Nobody
 * knows before how long a query takes; but the next one with the same text mostly takes as long as the last.
 *     trial_begin(op, call, text, &trial);      ST_WOULD_BLOCK: it is not tried
 *     trial_end(trial, st);                     how it ended; welcome on what never began
 *
 * Threads. Any. What two threads note at once may be lost: it costs time, and nothing else.
 */
#pragma once
#include "resource/call.h"

/* `trial` is NULL on a thread that may wait, which tries everything. */
enum status trial_begin(struct op *op, const struct call *call, struct slice text, trial_count **trial);
void trial_end(trial_count *trial, enum status st);
