/*
 * src/main/recorded.h - the record of the workload beyond the end of the server: a file in the data directory, written whole now
 * and then, and at the end. What was recorded since the last time is lost with a crash, and nothing else.
 *
 * Threads. One opens, saves and closes it.
 */
#pragma once
#include "main/directory.h"
#include "main/settings.h"
#include "workload/workload.h"

enum { RECORDED_SAVE_MS = 30 * 1000 };

struct recorded {
    struct workload *workload; /* NULL: nothing is recorded, and nothing was */
    const char *path;          /* of the directory; NULL: there is none */
    int64_t saved_ms;
    uint64_t forgotten; /* how often, when it was saved */
};

/* `directory` may be NULL. A file that cannot be read is told of, and replaced. */
void recorded_open(struct op *op, const struct settings *settings, struct account *account,
                   const struct directory *directory, struct recorded *recorded);

/* If it is time for it; at once when it was forgotten, so that it is forgotten on the disk, too. */
void recorded_save(struct op *op, struct recorded *recorded);

/* Saves what is new. */
void recorded_close(struct op *op, struct recorded *recorded);
