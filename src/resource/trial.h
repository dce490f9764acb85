/*
 * src/resource/trial.h - which queries a loop thread tries: those of whose text it has not given up one lately.
 * A loop thread answers a short query sooner than a pool thread would, but what it has to give up is begun anew. Nobody
 * knows before how long a query takes; but the next one with the same text mostly takes as long as the last. Texts that
 * differ in numbers and strings only count as one.
 *     trial_begin(op, call, &trial);           ST_WOULD_BLOCK: it is not tried, and nothing of it was looked at
 *     trial_text(op, call, text, &trial);      likewise
 *     trial_end(op, &trial, st);               how it ended; welcome on what never began
 *
 * Threads. Any. What two threads note at once may be lost: it costs time, and nothing else.
 */
#pragma once
#include "resource/call.h"

struct trial {
    trial_count *count; /* NULL on a thread that may wait, which tries everything */
    int64_t began_us;
    uint32_t steps;
};

enum status trial_begin(struct op *op, const struct call *call, struct trial *trial);
enum status trial_text(struct op *op, const struct call *call, struct slice text, struct trial *trial);

/* What it took by the clock is what the loop thread has spent: steps are counted so that they are rather too many. */
void trial_end(struct op *op, struct trial *trial, enum status st);
