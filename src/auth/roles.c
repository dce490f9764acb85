/* src/auth/roles.c - data actions, roles and assignments. */
#include <assert.h>
#include <stdlib.h>

#include "auth/jwt.h"
#include "auth/roles.h"
#include "base/heap.h"

/* --- data actions --- */

#define ACCOUNT "Microsoft.DocumentDB/databaseAccounts/"
#define CONTAINERS ACCOUNT "sqlDatabases/containers/"

/* In the service's words ("Azure Cosmos DB for NoSQL data plane security reference"). An asterisk is one segment. */
static const struct {
    const char *name;
    unsigned actions;
} data_actions[] = {
    { ACCOUNT "readMetadata", ACTION_METADATA },
    { CONTAINERS "items/create", ACTION_CREATE },
    { CONTAINERS "items/read", ACTION_READ },
    { CONTAINERS "items/replace", ACTION_REPLACE },
    { CONTAINERS "items/upsert", ACTION_UPSERT },
    { CONTAINERS "items/delete", ACTION_DELETE },
    { CONTAINERS "executeQuery", ACTION_QUERY },
    { CONTAINERS "readChangeFeed", ACTION_FEED },
    { CONTAINERS "executeStoredProcedure", ACTION_EXECUTE },
    { CONTAINERS "manageConflicts", ACTION_CONFLICTS },
    { CONTAINERS "*", ACTION_CONTAINERS },
    { CONTAINERS "items/*", ACTION_ITEMS },
};
enum { DATA_ACTIONS = sizeof(data_actions) / sizeof(data_actions[0]) };

const char *data_action_name(unsigned action)
{
    size_t i = 0;

    while (i < DATA_ACTIONS && data_actions[i].actions != action)
        i++;
    assert(i < DATA_ACTIONS);
    return data_actions[i].name;
}

/* --- roles --- */

static const struct {
    const char *name, *id;
    unsigned actions;
} built_in[] = {
    { "Cosmos DB Built-in Data Reader", "00000000-0000-0000-0000-000000000001",
      ACTION_METADATA | ACTION_READ | ACTION_QUERY | ACTION_FEED },
    { "Cosmos DB Built-in Data Contributor", "00000000-0000-0000-0000-000000000002",
      ACTION_METADATA | ACTION_CONTAINERS | ACTION_ITEMS },
};
enum { BUILT_IN = sizeof(built_in) / sizeof(built_in[0]) };

struct definition {
    struct slice name;
    unsigned actions;
};

enum claim_kind { CLAIM_OID, CLAIM_SUB, CLAIM_APPID, CLAIM_GROUP, CLAIMS };
static const char *const claim_names[CLAIMS] = { "oid", "sub", "appid", "group" };

struct assignment {
    enum claim_kind claim;
    struct slice value;
    unsigned actions;
    struct scope_names scope;
};

struct roles {
    struct arena memory; /* of the texts */
    struct definition *definition;
    size_t definition_count, definition_capacity;
    struct assignment *assignment;
    size_t assignment_count, assignment_capacity;
};

/* --- reading --- */

/* Shows so much of a text of the file that whoever wrote it finds it. */
#define SHOWN(text) (text).size > 100 ? 100 : (int)(text).size, (text).data ? (text).data : ""

static enum status read_action(struct op *op, struct slice role, struct json text, unsigned *actions)
{
    struct slice name = json_kind(text) == JSON_STRING ? json_string(text) : slice_of("");

    for (size_t i = 0; i < DATA_ACTIONS; i++)
        if (slice_is_nocase(name, data_actions[i].name)) {
            *actions |= data_actions[i].actions;
            return ST_OK;
        }
    return op_fail(op, ST_BAD_REQUEST, "the role '%.*s' has '%.*s', which is no data action", SHOWN(role),
                   SHOWN(name));
}

static enum status read_definition(struct op *op, struct json json, struct roles *roles)
{
    struct slice name = jwt_text(json, "name");
    struct json_iter action = json_iter(json_get(json, "dataActions"));
    struct definition definition = { 0 };
    enum status st = ST_OK;

    if (name.size == 0)
        TRY(op_fail(op, ST_BAD_REQUEST, "a definition of a role has no \"name\""));
    if (json_kind(json_get(json, "notDataActions")) != JSON_UNDEFINED)
        TRY(op_fail(op, ST_BAD_REQUEST, "the role '%.*s' has notDataActions, which do not exist",
                    SHOWN(name)));
    while (json_next(&action))
        TRY(read_action(op, name, action.value, &definition.actions));
    definition.name = arena_copy(&roles->memory, name);
    heap_list_reserve(&roles->definition, &roles->definition_capacity, roles->definition_count + 1,
                      sizeof(definition));
    roles->definition[roles->definition_count++] = definition;
out:
    return st;
}

static bool find_role(const struct roles *roles, struct slice name, unsigned *actions)
{
    for (size_t i = 0; i < BUILT_IN; i++)
        if (slice_is(name, built_in[i].name) || slice_is(name, built_in[i].id)) {
            *actions = built_in[i].actions;
            return true;
        }
    for (size_t i = 0; i < roles->definition_count; i++)
        if (slice_equal(name, roles->definition[i].name)) {
            *actions = roles->definition[i].actions;
            return true;
        }
    return false;
}

/* Takes "/<type>/<name>" off the text. */
static bool take_place(struct slice *text, const char *type, struct slice *name)
{
    const char *end;

    if (!slice_starts_with(*text, type))
        return false;
    *text = slice_after(*text, strlen(type));
    end = text->size ? memchr(text->data, '/', text->size) : NULL;
    *name = slice_make(text->data, end ? (size_t)(end - text->data) : text->size);
    *text = slice_after(*text, name->size);
    return name->size > 0;
}

static bool read_scope(struct slice text, struct scope_names *scope)
{
    *scope = (struct scope_names){ 0 };
    if (slice_is(text, "/"))
        return true;
    return take_place(&text, "/dbs/", &scope->database) &&
           (text.size == 0 || take_place(&text, "/colls/", &scope->container)) && text.size == 0;
}

static struct slice keep(struct roles *roles, struct slice text)
{
    return text.data ? arena_copy(&roles->memory, text) : text;
}

/* Which claim it names, of which there must be one. */
static bool read_claim(struct json json, struct assignment *assignment)
{
    size_t found = 0;

    for (int claim = 0; claim < CLAIMS; claim++) {
        struct slice value = jwt_text(json, claim_names[claim]);

        if (value.size == 0)
            continue;
        assignment->claim = (enum claim_kind)claim;
        assignment->value = value;
        found++;
    }
    return found == 1;
}

static enum status read_assignment(struct op *op, struct json json, struct roles *roles)
{
    struct slice role = jwt_text(json, "role"), scope = jwt_text(json, "scope");
    struct assignment assignment = { 0 };

    if (!read_claim(json, &assignment))
        return op_fail(op, ST_BAD_REQUEST,
                       "an assignment has not one of \"oid\", \"sub\", \"appid\" and \"group\"");
    if (!find_role(roles, role, &assignment.actions))
        return op_fail(op, ST_BAD_REQUEST, "the role '%.*s' of '%.*s' is not defined", SHOWN(role),
                       SHOWN(assignment.value));
    if (!read_scope(scope, &assignment.scope))
        return op_fail(op, ST_BAD_REQUEST,
                       "the scope '%.*s' of '%.*s' is none of /, /dbs/NAME and /dbs/NAME/colls/NAME",
                       SHOWN(scope), SHOWN(assignment.value));
    assignment.value = keep(roles, assignment.value);
    assignment.scope.database = keep(roles, assignment.scope.database);
    assignment.scope.container = keep(roles, assignment.scope.container);
    heap_list_reserve(&roles->assignment, &roles->assignment_capacity, roles->assignment_count + 1,
                      sizeof(assignment));
    roles->assignment[roles->assignment_count++] = assignment;
    return ST_OK;
}

/* A misspelt member would silently take rights away. */
static enum status check_members(struct op *op, struct json file)
{
    struct json_iter member = json_iter(file);

    if (json_kind(file) != JSON_OBJECT)
        return op_fail(op, ST_BAD_REQUEST, "it is no JSON object");
    while (json_next(&member))
        if ((!slice_is(member.name, "definitions") && !slice_is(member.name, "assignments")) ||
            json_kind(member.value) != JSON_ARRAY)
            return op_fail(op, ST_BAD_REQUEST,
                           "it has '%.*s': there may be arrays of \"definitions\" and \"assignments\"",
                           SHOWN(member.name));
    return ST_OK;
}

enum status roles_parse(struct op *op, struct slice text, struct roles **roles)
{
    struct roles *made = heap_allocate(sizeof(*made));
    struct json_iter definition, assignment;
    struct json file;
    enum status st;

    arena_init(&made->memory, SIZE_MAX);
    TRY(json_parse(op, text, &file));
    TRY(check_members(op, file));
    definition = json_iter(json_get(file, "definitions"));
    while (json_next(&definition))
        TRY(read_definition(op, definition.value, made));
    assignment = json_iter(json_get(file, "assignments"));
    while (json_next(&assignment))
        TRY(read_assignment(op, assignment.value, made));
    *roles = made;
    made = NULL;
out:
    roles_free(made);
    return st;
}

void roles_free(struct roles *roles)
{
    if (!roles)
        return;
    arena_free(&roles->memory);
    free(roles->definition);
    free(roles->assignment);
    free(roles);
}

/* --- asking --- */

struct slice principal_name(const struct principal *principal)
{
    if (principal->oid.data)
        return principal->oid;
    return principal->sub.data ? principal->sub : principal->appid;
}

static bool is_member(struct json groups, struct slice group)
{
    struct json_iter member = json_iter(groups);

    while (json_next(&member))
        if (json_kind(member.value) == JSON_STRING && slice_equal(json_string(member.value), group))
            return true;
    return false;
}

static bool is_of(const struct assignment *assignment, const struct principal *principal)
{
    const struct slice single[CLAIMS] = {
        [CLAIM_OID] = principal->oid, [CLAIM_SUB] = principal->sub, [CLAIM_APPID] = principal->appid
    };

    assert(assignment->value.size > 0); /* so that what a token does not have is not equal */
    if (assignment->claim == CLAIM_GROUP)
        return is_member(principal->groups, assignment->value);
    return slice_equal(single[assignment->claim], assignment->value);
}

/* Whether what is asked for lies in the assignment's place. */
static bool covers(const struct scope_names *scope, const struct scope_names *asked)
{
    if (!scope->database.data)
        return true;
    if (!asked->database.data || !slice_equal(scope->database, asked->database))
        return false;
    return !scope->container.data ||
           (asked->container.data && slice_equal(scope->container, asked->container));
}

/* The least of the bits. */
static unsigned first_of(unsigned actions)
{
    return actions & -actions;
}

unsigned roles_missing(const struct roles *roles, const struct principal *principal, unsigned actions,
                       const struct scope_names *scope)
{
    assert(actions != 0); /* what needs no action is not asked for here */
    if (principal->is_contributor)
        return 0;
    for (size_t i = 0; roles && i < roles->assignment_count && actions; i++)
        if (is_of(&roles->assignment[i], principal) && covers(&roles->assignment[i].scope, scope))
            actions &= ~roles->assignment[i].actions;
    return first_of(actions);
}

bool roles_allow_somewhere(const struct roles *roles, const struct principal *principal, unsigned action)
{
    if (principal->is_contributor)
        return true;
    for (size_t i = 0; roles && i < roles->assignment_count; i++)
        if (roles->assignment[i].actions & action && is_of(&roles->assignment[i], principal))
            return true;
    return false;
}
