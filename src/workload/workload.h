/*
 * src/workload/workload.h - a record of what clients ask for: operations, queries without their values, partition keys, paths.
 * It is for the advisor, and for whoever wants to know. docs/observability.md describes what it tells.
 *     workload_note(workload, &told);                when an operation has ended
 *     workload_print(workload, out, WORKLOAD_SHOWN); as JSON
 *
 * Threads. Any number at once. Actions on items wait in one of several lists, so that threads seldom meet; a list that is full is
 *     added to the record, under its lock. Queries and changes are added at once. No lock is held over anything that waits.
 *
 * Promises
 * 1. Memory is bounded by WORKLOAD_BYTES_MAX, and on the account. What finds no room is counted.
 * 2. What was printed WORKLOAD_KEPT and read again is the same record.
 * 3. Values of items are in it only as partition keys, and as the examples of queries that WORKLOAD_KEPT has.
 */
#pragma once
#include "base/account.h"
#include "keys/rid.h"
#include "workload/noted.h"

enum { WORKLOAD_BYTES_MAX = 16 * 1024 * 1024 };

struct workload;

struct workload_options {
    struct env *env;
    struct account *account; /* NULL: none */
    bool records;            /* false: what is there may be read, and nothing is added */
};

struct workload *workload_open(const struct workload_options *options);
void workload_close(struct workload *workload); /* NULL is welcome */

/* Whether operations should note anything. NULL is welcome. */
bool workload_records(const struct workload *workload);

/* An operation that has ended. */
struct workload_told {
    const struct noted *noted;
    const struct rid *container;
    struct slice link; /* of the container */
    enum work_kind kind;
    struct slice id; /* of the item that was read; no data: none */
    bool failed;
    double charge;
    uint64_t bytes;        /* of the answer, or of what was written */
    uint64_t scanned;      /* items that a query looked at */
    uint32_t ranges;       /* that it was about */
    uint32_t ranges_there; /* of the container */
    int64_t took_us;
    int64_t at_ms; /* on the monotonic clock */
};

void workload_note(struct workload *workload, const struct workload_told *told);

/* Everything is forgotten; what comes from here on is recorded. And how often that was. */
void workload_forget(struct workload *workload);
uint64_t workload_times_forgotten(struct workload *workload);

/* The container is gone, or the database: so is what was recorded of it. */
void workload_drop(struct workload *workload, const struct rid *rid);

/* Whether anything has changed since the last call that asked. */
bool workload_has_changed(struct workload *workload);

enum workload_form {
    WORKLOAD_SHOWN,    /* for those who read it: figures, the commonest keys */
    WORKLOAD_EXAMPLES, /* the same with examples of queries, to be asked again: they have values */
    WORKLOAD_KEPT,     /* for workload_read(): all of it, secrets and examples too */
};

void workload_print(struct workload *workload, struct buf *out, enum workload_form form);

/* Into a record that is empty. ST_CORRUPT: it is no such text, and the record stays empty. */
enum status workload_read(struct op *op, struct workload *workload, struct slice text);
