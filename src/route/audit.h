/*
 * src/route/audit.h - a file that tells who was refused, and who changed definitions and keys: one JSON object a line.
 *
 *     {"time":"2026-11-16T12:00:00.000Z","event":"refused","peer":"192.0.2.7:50312","by":"key","principal":null,
 *      "method":"GET","path":"/dbs","operation":"database_list","status":401,"subStatus":0,"activityId":"..."}
 *
 * A line is one write() of at most AUDIT_LINE_BYTES_MAX, at the end of the file. What clients sent is escaped and
 * shortened. Refusals beyond AUDIT_REFUSALS_MAX a second are counted, and told in a line of their own.
 *
 * Ownership. The caller owns an audit from audit_open() to audit_close().
 * Threads. Any. A thread waits for its own write, and for audit_look() while that opens the file.
 */
#pragma once
#include "auth/auth.h"
#include "base/exchange.h"
#include "catalog/child.h"

struct audit;

enum { AUDIT_LINE_BYTES_MAX = 4096, AUDIT_REFUSALS_MAX = 1000 };

enum status audit_open(struct op *op, const char *path, struct audit **audit);
void audit_close(struct audit *audit); /* NULL is welcome */

/* Opens the path again if the file that is open is no longer there, because it was moved away or deleted. */
void audit_look(struct audit *audit);

struct audit_event {
    const struct request *request;
    const struct auth_who *who;
    struct catalog *catalog; /* knows whose a resource token is; NULL: nobody may ask it now */
    const char *operation;
    bool is_definition; /* it changes definitions if it succeeds */
    int status, sub_status;
};

/* Writes a line if the event is one of those that are told. NULL is welcome. */
void audit_request(struct audit *audit, struct op *op, const struct audit_event *event);

/* {"time":...,"event":"keys","what":"the keys of FILE are in use"}. NULL is welcome. */
void audit_note(struct audit *audit, const struct op *op, const char *event, const char *what);
