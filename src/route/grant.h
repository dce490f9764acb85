/*
 * src/route/grant.h - what the bearer of a resource token may do.
 * The permission must be unchanged since the token was made. The request must be about the permission's resource or
 * something below it, within the permission's partition key. It must not write if the permission only allows reading.
 */
#pragma once
#include "route/table.h"

/*
 * The caller has set the call's owners as far as they were found. Sets `keeps_id`. ST_FORBIDDEN, with the service's
 * words.
 */
enum status grant_check(struct op *op, const struct grant *grant, struct call *call,
                        const struct route *route);
