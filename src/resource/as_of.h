/* src/resource/as_of.h - x-orrery-as-of: items as they were at an earlier moment, for document*.c. */
#pragma once
#include "resource/call.h"
#include "source/past.h"

/* Whether the request asks for the past. */
bool as_of_is_asked(const struct call *call);

/*
 * The items of the scope at the moment that the header names, and a header of the answer that tells its LSN. It waits: ST_WOULD_BLOCK
 * on a loop thread.
 */
enum status as_of_open(struct op *op, const struct call *call, struct reply *reply,
                       const struct partition_scope *scope, struct past_source **items);

/* The item that the path names, within one logical partition; its bytes live as long as `items`. */
enum status as_of_find(struct op *op, const struct call *call, struct past_source *items, struct record *item,
                       bool *found);
