/* src/resource/function.c - user-defined functions: found by name, called in a child. */
#include "resource/function.h"

struct script script_of(const char *kind, const struct child *child)
{
    struct script script = { .kind = kind,
                             .name = child->id,
                             .source = json_string(json_get(child->body, "body")) };
    size_t size = 0;

    for (size_t i = 0; i < child->rid.size; i++)
        size += (size_t)snprintf(script.key + size, sizeof(script.key) - size, "%02x", child->rid.bytes[i]);
    snprintf(script.key + size, sizeof(script.key) - size, "-%llx", (unsigned long long)child->etag);
    return script;
}

struct functions functions_of(const struct call *call, struct script_session *session)
{
    return (struct functions){ .call = call, .session = session, .shares_session = session != NULL };
}

void functions_end(struct functions *functions)
{
    for (size_t i = 0; i < functions->count; i++)
        child_release(functions->known[i].child);
    if (!functions->shares_session)
        script_end(functions->session);
}

static enum status find(struct op *op, struct functions *functions, struct slice name,
                        const struct script **script)
{
    const struct call *call = functions->call;
    struct function *made;
    struct child *child;

    for (size_t i = 0; i < functions->count; i++)
        if (slice_equal(functions->known[i].script.name, name)) {
            *script = &functions->known[i].script;
            return ST_OK;
        }
    child = catalog_find_child(call->service->catalog, RID_TYPE_UDF, &call->container->rid, name);
    if (!child || !slice_equal(child->id, name)) { /* no other name than its own: none by its rid */
        child_release(child);
        return op_fail(op, ST_BAD_REQUEST, "The user-defined function 'udf.%.*s' was not found.",
                       name.size > 200 ? 200 : (int)name.size, name.data);
    }
    made = &functions->known[functions->count++];
    *made = (struct function){ .child = child, .script = script_of("udf", child) };
    *script = &made->script;
    return ST_OK;
}

/* [arg, ...], or where some are undefined {"args":[...],"undefined":[position, ...]} */
static void print_call(struct buf *out, const struct value *arg, int count)
{
    bool any = false;

    for (int i = 0; i < count; i++)
        any |= arg[i].kind == JSON_UNDEFINED;
    buf_text(out, any ? "{\"args\":[" : "[");
    for (int i = 0; i < count; i++) {
        buf_text(out, i ? "," : "");
        if (arg[i].kind == JSON_UNDEFINED)
            buf_text(out, "null");
        else
            value_print(out, arg[i]);
    }
    buf_byte(out, ']');
    if (!any)
        return;
    buf_text(out, ",\"undefined\":[");
    for (int i = 0, seen = 0; i < count; i++)
        if (arg[i].kind == JSON_UNDEFINED)
            buf_printf(out, "%s%d", seen++ ? "," : "", i);
    buf_text(out, "]}");
}

static enum status call_function(struct op *op, void *context, struct slice name, const struct value *arg,
                                 int count, struct value *result)
{
    struct functions *functions = context;
    const struct script *script;
    struct json values, value;
    struct buf calls;
    enum status st;

    TRY(find(op, functions, name, &script));
    if (!functions->session)
        TRY(script_begin(op, functions->call->service->scripts, &functions->session));
    buf_init(&calls, &op->arena);
    buf_byte(&calls, '[');
    print_call(&calls, arg, count);
    buf_byte(&calls, ']');
    if (calls.failed)
        TRY(op_fail(op, ST_QUERY_MEMORY, "The arguments of a function are too large."));
    TRY(script_call(op, functions->session, script, buf_as_slice(&calls), 1, &values));
    value = json_element(values, 0);
    if (json_kind(json_get(value, "error")) != JSON_UNDEFINED)
        TRY(script_failed(op, value));
    *result = value_from_json(json_get(value, "value"));
out:
    return st;
}

void functions_offer(struct functions *functions, struct query_options *options)
{
    options->udf = call_function;
    options->udf_context = functions;
}
