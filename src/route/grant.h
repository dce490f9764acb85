/*
 * src/route/grant.h - what the bearer of a resource token may do.
 * The permission must still stand as it was when the token was made; the request must be about its resource or
 * something below it, in its partition key, and no write where only reading is allowed.
 */
#pragma once
#include "route/table.h"

/* The call's owners are set as far as they were found; `keeps_id` is set here. ST_FORBIDDEN, with the service's words. */
enum status grant_check(struct op *op, const struct grant *grant, struct call *call,
                        const struct route *route);
