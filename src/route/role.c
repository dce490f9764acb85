/* src/route/role.c - roles against requests. */
#include <assert.h>

#include "route/role.h"

#define LEARN_MORE "Learn more: https://aka.ms/cosmos-native-rbac."

enum { SHOWN_BYTES_MAX = 200 };

enum status role_refuse(struct op *op, const struct request *request)
{
    struct slice target = request->target;

    return op_fail(op, ST_ROLE_UNSUPPORTED,
                   AUTH_BLOCKED
                   "The given request [%s %.*s] cannot be authorized by AAD token in data plane. " LEARN_MORE,
                   method_name(request->method),
                   target.size > SHOWN_BYTES_MAX ? SHOWN_BYTES_MAX : (int)target.size, target.data);
}

/* Roles are for names. A path may have rids, which the owners that were found know the names of. */
static struct scope_names scope_of(const struct call *call, unsigned owners, const struct path *path)
{
    struct scope_names scope = { 0 };

    if (owners & OWNER_DATABASE)
        scope.database = call->database ? call->database->id : path->segment[1];
    if (owners & OWNER_CONTAINER)
        scope.container = call->container ? call->container->id : path->segment[3];
    return scope;
}

static enum status missing(struct op *op, unsigned action, const struct principal *principal,
                           const struct call *call, const struct scope_names *scope)
{
    struct slice who = principal_name(principal);
    enum status why = action == ACTION_METADATA ? ST_ROLE_METADATA
                      : call->by_rid            ? ST_ROLE_DATA_BY_RID
                                                : ST_ROLE_DATA;
    struct buf place;

    buf_init(&place, &op->arena);
    buf_text(&place, scope->database.data ? "dbs/" : "/");
    if (scope->database.data)
        buf_slice(&place, scope->database);
    if (scope->container.data) {
        buf_text(&place, "/colls/");
        buf_slice(&place, scope->container);
    }
    return op_fail(
        op, why,
        AUTH_BLOCKED "Request is blocked because principal [%.*s] does not have required RBAC permissions "
                     "to perform action [%s] on resource [%.*s]. " LEARN_MORE,
        who.size > SHOWN_BYTES_MAX ? SHOWN_BYTES_MAX : (int)who.size, who.data, data_action_name(action),
        place.size > SHOWN_BYTES_MAX ? SHOWN_BYTES_MAX : (int)place.size, place.data);
}

enum status role_check(struct op *op, struct auth *auth, const struct principal *principal,
                       const struct call *call, const struct route *route, const struct path *path)
{
    struct scope_names scope = scope_of(call, route_owners(route), path);
    unsigned action;

    if (!route->actions)
        return role_refuse(op, call->request);
    if (route->flags & FOR_EVERYBODY && auth_allows_somewhere(auth, principal, route->actions))
        return ST_OK;
    action = auth_missing_actions(auth, principal, route->actions, &scope);
    return action ? missing(op, action, principal, call, &scope) : ST_OK;
}
