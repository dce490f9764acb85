/*
 * src/route/role.h - what the bearer of an identity provider's token may do.
 * The route says which data actions a request needs; a role must allow them at the account, the database or the
 * container. What has no data action, such as making a container, no role allows, as on the service.
 */
#pragma once
#include "auth/auth.h"
#include "route/path.h"
#include "route/table.h"

/* The caller has set the call's owners as far as they were found. An ST_ROLE_ error, with the service's words. */
enum status role_check(struct op *op, struct auth *auth, const struct principal *principal,
                       const struct call *call, const struct route *route, const struct path *path);

/* The answer to requests that no data action stands for. */
enum status role_refuse(struct op *op, const struct request *request);
