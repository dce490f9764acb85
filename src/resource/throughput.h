/*
 * src/resource/throughput.h - requests on items held back to what their container was promised.
 * How route/ uses it:
 *     TRY(throughput_enter(op, call));    before anything is done: ST_TOO_MANY_REQUESTS when nothing is left
 *     ...
 *     throughput_leave(op, call, charge);  whatever became of it
 * Operations in bulk stand for themselves: instead of the first, each enters and leaves by its own key.
 * Without --enforce-throughput nobody is refused, and charges are only counted.
 */
#pragma once
#include "keys/epk.h"
#include "resource/call.h"

enum status throughput_enter(struct op *op, struct call *call);
void throughput_leave(struct op *op, const struct call *call, double charge);

/* By the key that an operation is about. What it has paid is not paid again when the request leaves. */
enum status throughput_enter_part(struct op *op, const struct call *call, const struct epk *epk);
void throughput_leave_part(struct op *op, const struct call *call, const struct epk *epk, double charge);
