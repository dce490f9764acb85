/*
 * src/resource/walk.h - a query that names neither a key nor a range, as the service's gateway answers it: range after
 * range. Each page is of one range. Its continuation is JSON, and names the keys that the next page is of:
 *     {"token":"...","range":{"min":"05C1DFFFFFFFF8","max":"FF"}}
 * The token is null where a range begins. Keys and positions stay good when ranges split or merge.
 */
#pragma once
#include "partition/partition.h"
#include "resource/call.h"

struct walk {
    bool is_on;          /* false: the page is of the whole scope, and goes on by a plain token */
    struct epk min, max; /* the keys that this page is of; `max` is FF at the end of all */
    bool goes_on;        /* behind `max` there are more keys of the scope: */
    struct epk next_min, next_max;
};

/*
 * Finds where the request goes on, and narrows the scope to it; the answer is about that range. A token that is no JSON
 * comes from a query that was answered whole, and goes on so. ST_BAD_REQUEST when the continuation is malformed.
 */
enum status walk_begin(struct op *op, const struct call *call, struct reply *reply,
                       struct partition_scope *scope, struct walk *walk);

/* Writes the continuation: `at` is where the range goes on, NULL at its end. */
void walk_reply(struct reply *reply, const struct walk *walk, const struct continuation *at);
