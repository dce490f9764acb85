/*
 * src/resource/throughput.h - holds requests on items back to the throughput that their container was promised.
 * How route/ uses it:
 *     TRY(throughput_enter(op, call));    before anything is done: ST_TOO_MANY_REQUESTS when nothing is left
 *     ...
 *     throughput_leave(op, call, charge);  whatever became of it
 * A request in bulk does not enter: each of its operations enters and leaves by its own partition key.
 * Without --enforce-throughput nobody is refused, and charges are only counted.
 */
#pragma once
#include "keys/epk.h"
#include "resource/call.h"

enum status throughput_enter(struct op *op, struct call *call);
void throughput_leave(struct op *op, const struct call *call, double charge);

/* For one operation in bulk, by its key. What the operation has paid is not paid again when the request leaves. */
enum status throughput_enter_part(struct op *op, const struct call *call, const struct epk *epk);
void throughput_leave_part(struct op *op, const struct call *call, const struct epk *epk, double charge);

/* The same for an operation whose request is no container's, so that nobody counts it when the request leaves. */
void throughput_pay_part(struct op *op, const struct call *call, const struct epk *epk, double charge);
