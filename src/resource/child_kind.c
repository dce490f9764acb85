/*
 * src/resource/child_kind.c - the kinds of small resources.
 * To add one: its row here, its rows in route/table.c, its rid in keys/rid.h. Nothing else.
 */
#include "catalog/definition.h"
#include "resource/child_kind.h"
#include "resource/permission.h"

static const char *const permission_modes[] = { "All", "Read", NULL };
static const char *const trigger_types[] = { "Pre", "Post", NULL };
static const char *const trigger_operations[] = { "All", "Create", "Replace", "Delete", "Update", NULL };

/* clang-format off */
static const struct child_kind kinds[] = {
    { "users", RID_TYPE_USER, "Users", ",\"_permissions\":\"permissions/\"", { { 0 } }, NULL, NULL },
    { "permissions", RID_TYPE_PERMISSION, "Permissions", "", {
        { "permissionMode", true, PROPERTY_ONE_OF, permission_modes },
        { "resource", true, PROPERTY_STRING, NULL },
        { "resourcePartitionKey", false, PROPERTY_ARRAY, NULL } }, permission_check, permission_print_token },
    { "sprocs", RID_TYPE_PROCEDURE, "StoredProcedures", "", {
        { "body", true, PROPERTY_STRING, NULL } }, NULL, NULL },
    { "udfs", RID_TYPE_UDF, "UserDefinedFunctions", "", {
        { "body", true, PROPERTY_STRING, NULL } }, NULL, NULL },
    { "triggers", RID_TYPE_TRIGGER, "Triggers", "", {
        { "body", true, PROPERTY_STRING, NULL },
        { "triggerType", true, PROPERTY_ONE_OF, trigger_types },
        { "triggerOperation", true, PROPERTY_ONE_OF, trigger_operations } }, NULL, NULL },
    { "clientencryptionkeys", RID_TYPE_CLIENT_KEY, "ClientEncryptionKeys", "", {
        { "encryptionAlgorithm", true, PROPERTY_STRING, NULL },
        { "wrappedDataEncryptionKey", true, PROPERTY_STRING, NULL },
        { "keyWrapMetadata", true, PROPERTY_OBJECT, NULL } }, NULL, NULL },
};
/* clang-format on */

/* What the service writes itself, whatever a client sends. */
static const char *const system_properties[] = { "_rid", "_self", "_etag", "_ts", "_permissions", "_token" };

const struct child_kind *child_kind_find(struct slice type)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (slice_is(type, kinds[i].type))
            return &kinds[i];
    return NULL;
}

static bool is_system(struct slice name)
{
    for (size_t i = 0; i < sizeof(system_properties) / sizeof(system_properties[0]); i++)
        if (slice_is(name, system_properties[i]))
            return true;
    return false;
}

static const struct child_property *property_of(const struct child_kind *kind, struct slice name)
{
    for (size_t i = 0; i < CHILD_PROPERTIES_MAX && kind->property[i].name; i++)
        if (slice_is(name, kind->property[i].name))
            return &kind->property[i];
    return NULL;
}

static bool is_one_of(const struct child_property *property, struct json value)
{
    for (const char *const *at = property->values; json_kind(value) == JSON_STRING && *at; at++)
        if (slice_is_nocase(json_string(value), *at))
            return true;
    return false;
}

static bool has_form(const struct child_property *property, struct json value)
{
    switch (property->form) {
    case PROPERTY_STRING:
        return json_kind(value) == JSON_STRING;
    case PROPERTY_ONE_OF:
        return is_one_of(property, value);
    case PROPERTY_OBJECT:
        return json_kind(value) == JSON_OBJECT;
    case PROPERTY_ARRAY:
        return json_kind(value) == JSON_ARRAY;
    }
    return false;
}

static bool is_absent(struct json value)
{
    return json_kind(value) == JSON_UNDEFINED || json_kind(value) == JSON_NULL;
}

static enum status check_properties(struct op *op, const struct child_kind *kind, struct json body)
{
    for (size_t i = 0; i < CHILD_PROPERTIES_MAX && kind->property[i].name; i++) {
        const struct child_property *property = &kind->property[i];
        struct json value = json_get(body, property->name);

        if (is_absent(value) && property->required)
            return op_fail(
                op, ST_BAD_REQUEST,
                "The input content is invalid because the required properties - '%s; ' - are missing",
                property->name);
        if (!is_absent(value) && !has_form(property, value))
            return op_fail_as(op, ST_BAD_REQUEST);
    }
    return ST_OK;
}

static void add_member(struct json_builder *out, const struct child_property *property, struct slice name,
                       struct json value)
{
    if (is_system(name) || (property && is_absent(value)))
        return;
    json_add_name(out, name);
    json_add(out, value);
}

enum status child_define(struct op *op, const struct call *call, const struct child_kind *kind,
                         struct json body, struct json *defined)
{
    struct json_builder out;
    enum status st;

    TRY(resource_id_check(op, json_get(body, "id")));
    TRY(check_properties(op, kind, body));
    if (kind->check)
        TRY(kind->check(op, call, body));
    json_builder_init(&out, &op->arena);
    json_begin_object(&out);
    for (struct json_iter i = json_iter(body); json_next(&i);)
        add_member(&out, property_of(kind, i.name), i.name, i.value);
    json_end(&out);
    *defined = json_built(&out);
    if (json_kind(*defined) == JSON_UNDEFINED)
        TRY(op_fail_as(op, ST_TOO_LARGE));
out:
    return st;
}
