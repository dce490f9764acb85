/*
 * src/auth/roles.h - what the bearers of tokens may do: data actions, roles made of them, and who has which role where.
 * The service has two roles built in. Others, and all assignments, come from a file:
 *
 *     {"definitions": [{"name": "Orders", "dataActions": ["Microsoft.DocumentDB/databaseAccounts/readMetadata", ...]}],
 *      "assignments": [{"role": "Orders", "scope": "/dbs/shop/colls/orders", "group": "7ce1d003-..."}]}
 *
 * An assignment names one of oid, sub, appid and group: whose value a claim of that name must have. Two claims of the
 * same value are two principals.
 *
 * Ownership. The caller owns roles from roles_parse() to roles_free().
 * Threads. Roles may be shared, as they never change.
 */
#pragma once
#include "base/op.h"
#include "json/json.h"

/* One bit each. What none of them stands for, such as making a container, no token allows. */
enum data_action {
    ACTION_NONE = 0,
    ACTION_METADATA = 1 << 0,
    ACTION_CREATE = 1 << 1,
    ACTION_READ = 1 << 2,
    ACTION_REPLACE = 1 << 3,
    ACTION_UPSERT = 1 << 4,
    ACTION_DELETE = 1 << 5,
    ACTION_QUERY = 1 << 6,
    ACTION_FEED = 1 << 7,
    ACTION_EXECUTE = 1 << 8,
    ACTION_CONFLICTS = 1 << 9,

    ACTION_ITEMS = ACTION_CREATE | ACTION_READ | ACTION_REPLACE | ACTION_UPSERT | ACTION_DELETE,
    ACTION_CONTAINERS = ACTION_QUERY | ACTION_FEED | ACTION_EXECUTE | ACTION_CONFLICTS,
};

/* Who a token speaks of; texts that it does not have are absent. They lie in the op's arena. */
struct principal {
    struct slice oid, sub, appid;
    struct json groups;  /* an array of texts, or nothing */
    bool is_contributor; /* everywhere, without an assignment */
};

/* How errors and logs name it. */
struct slice principal_name(const struct principal *principal);

/* A database without a container, or neither, which is the account. */
struct scope_names {
    struct slice database, container; /* data is NULL where there is none */
};

struct roles;

/* ST_BAD_REQUEST, with what is wrong: an action that is none, a role that is not defined, a scope that is no place. */
enum status roles_parse(struct op *op, struct slice text, struct roles **roles);
void roles_free(struct roles *roles); /* NULL is welcome */

/* The least of `actions` that no role allows the principal there; 0 when all are allowed. NULL roles allow nothing. */
unsigned roles_missing(const struct roles *roles, const struct principal *principal, unsigned actions,
                       const struct scope_names *scope);

/* Whether one of its roles allows the action anywhere: who may read a container may read what the account is. */
bool roles_allow_somewhere(const struct roles *roles, const struct principal *principal, unsigned action);

/* Microsoft.DocumentDB/databaseAccounts/readMetadata */
const char *data_action_name(unsigned action);
