/* src/resource/bulk_insert.h - the system's procedure that writes many documents at once. procedure.c sends it here. */
#pragma once
#include "resource/call.h"

bool bulk_insert_is(struct slice procedure);

/* One transaction over all the documents, whatever their keys, as long as they lie in the range that is named. */
enum status bulk_insert_execute(struct op *op, struct call *call, struct reply *reply);
