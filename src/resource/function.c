/* src/resource/function.c - user-defined functions: found by name, called in a child, many at a time. */
#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "resource/function.h"

enum { CALLS_MAX = 1024, CALL_SLOTS = 2 * CALLS_MAX }; /* that a query may announce */

struct told_call {
    size_t function;   /* among those known */
    struct slice text; /* its arguments */
    struct json value; /* as it came from the child; undefined before the call, and where the call failed */
};

struct told {
    struct arena memory; /* of texts and values */
    bool settled;
    size_t count;
    struct told_call call[CALLS_MAX];
    uint16_t slot[CALL_SLOTS]; /* by hash: 1 and the call's index; 0 where there is none */
};

struct script script_of(const char *kind, const struct child *child, struct json body)
{
    struct script script = { .kind = kind, .name = child->id, .source = json_string(json_get(body, "body")) };
    size_t size = 0;

    for (size_t i = 0; i < child->rid.size; i++)
        size += (size_t)snprintf(script.key + size, sizeof(script.key) - size, "%02x", child->rid.bytes[i]);
    assert(size < SCRIPT_KEY_BYTES_MAX - 16); /* the etag has its room: two scripts never share a key */
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
    arena_free(&functions->sources);
    if (functions->told)
        arena_free(&functions->told->memory);
    free(functions->told);
    if (functions->shares_session)
        script_forget(functions->session);
    else
        script_end(functions->session);
}

/* The body lies in the memory of the functions. */
static enum status read_keeping(struct op *op, struct functions *functions, struct child **child,
                                struct json *body)
{
    struct arena kept = op->arena;
    enum status st;

    if (functions->sources.limit_bytes == 0) /* the first one */
        op_arena(op, &functions->sources, OP_MEMORY_BYTES_MAX);
    op->arena = functions->sources;
    st = child_read_body(op, functions->call->service->catalog, child, body);
    functions->sources = op->arena;
    op->arena = kept;
    if (st != ST_OK)
        op->error = arena_text(&op->arena, slice_of(op->error));
    return st;
}

static enum status find(struct op *op, struct functions *functions, struct slice name, size_t *which)
{
    const struct call *call = functions->call;
    struct child *child;
    struct json body;
    enum status st;

    for (size_t i = 0; i < functions->count; i++)
        if (slice_equal(functions->known[i].script.name, name)) {
            *which = i;
            return ST_OK;
        }
    st =
        catalog_look_for_child(op, call->service->catalog, RID_TYPE_UDF, &call->container->rid, name, &child);
    if (st == ST_OK)
        st = ST_NOT_FOUND;
    if (child && slice_equal(child->id, name)) /* no other name than its own: none by its rid */
        st = read_keeping(op, functions, &child, &body);
    if (st == ST_NOT_FOUND)
        st = op_fail(op, ST_BAD_REQUEST, "The user-defined function 'udf.%.*s' was not found.",
                     name.size > 200 ? 200 : (int)name.size, name.data);
    if (st != ST_OK) {
        child_release(child);
        return st;
    }
    assert(functions->count < QUERY_UDFS_MAX); /* no query is compiled that names more */
    *which = functions->count++;
    functions->known[*which] = (struct function){ .child = child, .script = script_of("udf", child, body) };
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

static enum status begin(struct op *op, struct functions *functions)
{
    if (functions->session)
        return ST_OK;
    return script_begin(op, functions->call->service->scripts, rid_owner(&functions->call->container->rid),
                        &functions->session);
}

/* ---- calls that a query announces ---- */

/* The slot where the call is, or where it would be put. */
static uint16_t *slot_of(struct told *told, size_t function, struct slice text)
{
    size_t at;

    assert(told->count < CALL_SLOTS); /* so that there is an empty slot to end at */
    at = (murmur3_128(text.data, text.size).h1 + function) % CALL_SLOTS;

    for (; told->slot[at]; at = (at + 1) % CALL_SLOTS) {
        const struct told_call *call = &told->call[told->slot[at] - 1];

        if (call->function == function && slice_equal(call->text, text))
            break;
    }
    return &told->slot[at];
}

/* NULL when there is no memory: then each call is made when the query needs its value. */
static struct told *told_of(struct op *op, struct functions *functions)
{
    struct told *told = functions->told;

    if (!told) {
        told = functions->told = calloc(1, sizeof(*told));
        if (!told)
            return NULL;
        op_arena(op, &told->memory, OP_MEMORY_BYTES_MAX);
    }
    if (told->settled) { /* another block begins */
        arena_reset(&told->memory);
        memset(told->slot, 0, sizeof(told->slot));
        told->settled = false;
        told->count = 0;
    }
    return told;
}

static void note_call(struct op *op, void *context, struct slice name, const struct value *arg, int count)
{
    struct functions *functions = context;
    struct told *told = told_of(op, functions);
    uint16_t *slot;
    size_t which;
    struct buf text;

    if (!told || told->count == CALLS_MAX || find(op, functions, name, &which) != ST_OK)
        return;
    buf_init(&text, &told->memory);
    print_call(&text, arg, count);
    slot = slot_of(told, which, buf_as_slice(&text));
    if (text.failed || *slot)
        return;
    told->call[told->count] = (struct told_call){ .function = which, .text = buf_as_slice(&text) };
    *slot = (uint16_t)++told->count;
}

/* [call, ...] of one function. */
static size_t print_calls(struct buf *out, const struct told *told, size_t which)
{
    size_t count = 0;

    for (size_t i = 0; i < told->count; i++)
        if (told->call[i].function == which) {
            buf_byte(out, count++ ? ',' : '[');
            buf_slice(out, told->call[i].text);
        }
    buf_byte(out, ']');
    return count;
}

/* Makes the calls. Their values lie in the memory of the announced calls, and are kept as long as these. */
static enum status call_keeping(struct op *op, struct functions *functions, size_t which, struct slice calls,
                                size_t count, struct json *values)
{
    struct arena kept = op->arena;
    enum status st;

    assert(functions->session); /* begin() came first */
    assert(count > 0);
    op->arena = functions->told->memory;
    st = script_call(op, functions->session, &functions->known[which].script, calls, count, values);
    functions->told->memory = op->arena;
    op->arena = kept;
    if (st != ST_OK)
        op->error = arena_text(&op->arena, slice_of(op->error));
    return st;
}

static enum status make_calls(struct op *op, struct functions *functions, size_t which)
{
    struct told *told = functions->told;
    struct json_iter value;
    struct json values;
    struct buf calls;
    size_t count;
    enum status st = ST_OK;

    buf_init(&calls, &op->arena);
    count = print_calls(&calls, told, which);
    if (count == 0 || calls.failed)
        goto out;
    TRY(begin(op, functions));
    TRY(call_keeping(op, functions, which, buf_as_slice(&calls), count, &values));
    value = json_iter(values);
    for (size_t i = 0; i < told->count; i++)
        if (told->call[i].function == which && json_next(&value))
            told->call[i].value = value.value;
out:
    return st;
}

static enum status settle(struct op *op, void *context)
{
    struct functions *functions = context;
    enum status st = ST_OK;

    if (!functions->told)
        return ST_OK;
    functions->told->settled = true;
    for (size_t i = 0; i < functions->count; i++)
        TRY(make_calls(op, functions, i));
out:
    return st;
}

/* Undefined when the call was not announced, or has failed: then it is made for its row, and may fail there. */
static struct json known_value(struct functions *functions, size_t which, struct slice text)
{
    const struct told *told = functions->told;
    uint16_t slot = told && told->settled ? *slot_of(functions->told, which, text) : 0;

    assert(!slot || slot <= told->count);
    if (!slot || json_kind(json_get(told->call[slot - 1].value, "error")) != JSON_UNDEFINED)
        return json_undefined;
    return told->call[slot - 1].value;
}

/* ---- calls that are made at once ---- */

static enum status make_call(struct op *op, struct functions *functions, size_t which, struct slice text,
                             struct json *value)
{
    struct json values;
    struct buf calls;
    enum status st;

    buf_init(&calls, &op->arena);
    buf_byte(&calls, '[');
    buf_slice(&calls, text);
    buf_byte(&calls, ']');
    if (calls.failed)
        TRY(op_fail(op, ST_QUERY_MEMORY, "The arguments of a function are too large."));
    TRY(begin(op, functions));
    TRY(script_call(op, functions->session, &functions->known[which].script, buf_as_slice(&calls), 1,
                    &values));
    *value = json_element(values, 0);
    if (json_kind(json_get(*value, "error")) != JSON_UNDEFINED)
        TRY(script_failed(op, *value));
out:
    return st;
}

static enum status call_function(struct op *op, void *context, struct slice name, const struct value *arg,
                                 int count, struct value *result)
{
    struct functions *functions = context;
    struct json value;
    struct buf text;
    size_t which;
    enum status st;

    TRY(find(op, functions, name, &which));
    buf_init(&text, &op->arena);
    print_call(&text, arg, count);
    if (text.failed)
        TRY(op_fail(op, ST_QUERY_MEMORY, "The arguments of a function are too large."));
    value = known_value(functions, which, buf_as_slice(&text));
    if (json_kind(value) == JSON_UNDEFINED)
        TRY(make_call(op, functions, which, buf_as_slice(&text), &value));
    *result = value_from_json(json_get(value, "value"));
out:
    return st;
}

void functions_offer(struct functions *functions, struct query_options *options)
{
    options->udf = call_function;
    options->udf_told = note_call;
    options->udf_settle = settle;
    options->udf_context = functions;
}
