/* src/resource/child_kind.c - the kinds of small resources: their properties, and the code that some have. */
#include <assert.h>

#include "catalog/definition.h"
#include "resource/child_kind.h"
#include "resource/permission.h"

/* clang-format off */
#define REQUIRED(name, form) { name, true, PROPERTY_##form, NULL },
#define OPTIONAL(name, form) { name, false, PROPERTY_##form, NULL },
#define ONE_OF(name, ...)    { name, true, PROPERTY_ONE_OF, (const char *const[]){ __VA_ARGS__, NULL } },

/* A row for each of kinds[]. */
static const struct child_property properties_of[][CHILD_PROPERTIES_MAX + 1] = {
#define KIND(type, path, name, below, mark, collective, adds, flags, properties) { properties { 0 } },
#include "keys/kinds.def"
#undef KIND
};
/* clang-format on */

/* Code of a kind, for what a row of the table cannot say. Each may be NULL. */
static const struct child_code {
    enum rid_type type;
    enum status (*check)(struct op *op, const struct call *call, struct json body);
    void (*print)(struct buf *out, const struct child_printing *printing);
} codes[] = {
    { RID_TYPE_PERMISSION, permission_check, permission_print_token },
};

/* The server writes these itself, whatever a client sends. What kinds add comes on top. */
static const char *const system_properties[] = { "_rid", "_self", "_etag", "_ts", "_cts", "_token" };

static const struct child_code *code_of(const struct kind *kind)
{
    static const struct child_code none = { 0 };

    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if (codes[i].type == kind->type)
            return &codes[i];
    return &none;
}

const struct child_property *child_properties(const struct kind *kind)
{
    assert(kind >= kinds && kind < kinds + sizeof(properties_of) / sizeof(properties_of[0]));
    return properties_of[kind - kinds];
}

static bool is_system(struct slice name)
{
    for (size_t i = 0; i < sizeof(system_properties) / sizeof(system_properties[0]); i++)
        if (slice_is(name, system_properties[i]))
            return true;
    for (size_t i = 0; i < kind_count; i++)
        if (kinds[i].adds[0] && slice_is(name, kinds[i].adds))
            return true;
    return false;
}

static const struct child_property *property_of(const struct kind *kind, struct slice name)
{
    for (const struct child_property *at = child_properties(kind); at->name; at++)
        if (slice_is(name, at->name))
            return at;
    return NULL;
}

static bool is_one_of(const struct child_property *property, struct json value)
{
    assert(property->values); /* a row of the table that has this form has its list */
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

static enum status check_properties(struct op *op, const struct kind *kind, struct json body)
{
    for (const struct child_property *property = child_properties(kind); property->name; property++) {
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

enum status child_define(struct op *op, const struct call *call, const struct kind *kind, struct json body,
                         struct json *defined)
{
    const struct child_code *code = code_of(kind);
    struct json_builder out;
    enum status st;

    assert(json_kind(body) == JSON_OBJECT); /* call_body() refuses others */
    TRY(resource_id_check(op, json_get(body, "id")));
    TRY(check_properties(op, kind, body));
    if (code->check)
        TRY(code->check(op, call, body));
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

void child_print_added(struct buf *out, const struct kind *kind, const struct child_printing *printing)
{
    const struct child_code *code = code_of(kind);

    assert(printing->child->type == kind->type);
    if (kind->adds[0])
        buf_printf(out, ",\"%s\":\"%s/\"", kind->adds, kind->adds + 1);
    if (code->print)
        code->print(out, printing);
}
