/*
 * script-host/engine.c - JavaScriptCore behind one file.
 * Each run has a context of its own, so that nothing of one is seen by the next; a context is made while the child is
 * idle, and the engine's own cache of compiled sources, which belongs to the group, makes it cheap. A UDF keeps its
 * context from call to call of one query, which calls it for every row, and no longer.
 */
#include <stdlib.h>
#include <string.h>

#include <JavaScriptCore/JavaScript.h>
#include <jsc/jsc.h>

#include "engine.h"
#include "prelude.h"
#include "text.h"

/* The collector sizes its heap by the machine's memory; as if there were little, a large run is forgotten soon after. */
#define ASSUMED_MEMORY_BYTES (64 * 1024 * 1024)

/* What went wrong inside the prelude: a script that broke the objects it works with. */
#define BROKEN_EXCEPTION "Error: The script has changed objects that its own context needs."
#define BROKEN_ERROR                                                       \
    "\"exception\":\"" BROKEN_EXCEPTION "\",\"stack\":\"" BROKEN_EXCEPTION \
    "\",\"from\":\"throw\",\"number\":400"
#define BROKEN_PAYLOAD "{\"message\":\"" BROKEN_EXCEPTION "\"," BROKEN_ERROR "}"

/* A context and the prelude in it. */
struct realm {
    JSGlobalContextRef context;
    JSObjectRef run, deliver, step, take, call;
};

struct script {
    JSStringRef source, name; /* name is NULL where LOAD had none */
    struct engine *engine;
    struct realm udf; /* from a query's first call to its end */
};

struct engine {
    JSContextGroupRef group;
    JSGlobalContextRef plain; /* reads LOAD: no script ever runs in it */
    JSStringRef prelude, prelude_url;
    struct realm running, next;
    struct text_room room;
};

static JSStringRef string_of(const char *text)
{
    return JSStringCreateWithUTF8CString(text);
}

/* evaluate(source, url): what the source is worth, in the context that asks. */
static JSValueRef evaluate(JSContextRef context, JSObjectRef function, JSObjectRef self, size_t count,
                           const JSValueRef arguments[], JSValueRef *exception)
{
    JSStringRef source, url;
    JSValueRef value;

    (void)function, (void)self, (void)count; /* only the prelude has it, and gives both */
    source = JSValueToStringCopy(context, arguments[0], exception);
    url = JSValueToStringCopy(context, arguments[1], exception);
    value = JSEvaluateScript(context, source, NULL, url, 1, exception);
    JSStringRelease(source);
    JSStringRelease(url);
    return value;
}

static JSValueRef member(JSContextRef context, JSValueRef object, const char *name)
{
    JSStringRef text = string_of(name);
    JSValueRef value = JSObjectGetProperty(context, JSValueToObject(context, object, NULL), text, NULL);

    JSStringRelease(text);
    return value;
}

/* Protected, because the struct is nowhere the collector looks. */
static JSObjectRef function_of(JSContextRef context, JSValueRef object, const char *name)
{
    JSObjectRef function = (JSObjectRef)member(context, object, name);

    JSValueProtect(context, function);
    return function;
}

static bool realm_open(struct engine *engine, struct realm *realm)
{
    JSGlobalContextRef context = JSGlobalContextCreateInGroup(engine->group, NULL);
    JSValueRef arguments[2], made, object;

    arguments[0] = JSObjectMakeFunctionWithCallback(context, NULL, evaluate);
    arguments[1] = JSValueMakeNumber(context, FRAME_BYTES_MAX - 1);
    made = JSEvaluateScript(context, engine->prelude, NULL, engine->prelude_url, 1, NULL);
    object = made ? JSObjectCallAsFunction(context, (JSObjectRef)made, NULL, 2, arguments, NULL) : NULL;
    if (!object)
        return false;
    *realm = (struct realm){
        .context = context,
        .run = function_of(context, object, "run"),
        .deliver = function_of(context, object, "deliver"),
        .step = function_of(context, object, "step"),
        .take = function_of(context, object, "take"),
        .call = function_of(context, object, "call"),
    };
    return true;
}

static void realm_close(struct realm *realm)
{
    JSObjectRef functions[] = { realm->run, realm->deliver, realm->step, realm->take, realm->call };

    if (!realm->context)
        return;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        JSValueUnprotect(realm->context, functions[i]);
    JSGlobalContextRelease(realm->context);
    realm->context = NULL;
}

/* A script that breaks the engine's own files cannot be helped; ours are in the program and do not fail. */
static void realm_need(struct engine *engine, struct realm *realm)
{
    if (!realm->context && !realm_open(engine, realm))
        abort();
}

/* The context that lies ready, if there is one: a query's first call is then as quick as its second. */
static void realm_take(struct engine *engine, struct realm *realm)
{
    realm_need(engine, &engine->next);
    *realm = engine->next;
    engine->next.context = NULL;
}

void engine_prepare(struct engine *engine)
{
    realm_close(&engine->running);
    realm_need(engine, &engine->next);
}

/* Loaded now: time zones, locales, the tables of Unicode, the compiler's and the collector's threads. */
static void warm_up(struct engine *engine)
{
    static const char text[] =
        "new Date().toString(); new Date(0).toLocaleString('de-DE', { timeZone: 'Europe/Berlin' });"
        "'a'.localeCompare('\\u00e4', 'sv'); '\\u00e4'.normalize('NFD'); /\\p{L}/u.test('a');"
        "new Intl.NumberFormat('en-US', { style: 'currency', currency: 'EUR' }).format(1.5);"
        "var sum = 0; for (var i = 0; i < 20000; i++) sum = (sum * 31 + i) % 1000003; sum;";
    JSStringRef source = string_of(text);

    JSEvaluateScript(engine->plain, source, NULL, NULL, 1, NULL);
    JSStringRelease(source);
    JSGarbageCollect(engine->plain);
}

/* So much is made between two collections, each of which takes a millisecond: more saves little, and a child grows by it. */
#define HEAP_BYTES_FIRST (8 * 1024 * 1024)

/* How often a function must have been called, times 15, or a loop gone round: a run of a hundred items is no reason yet. */
#define OPTIMIZE_AFTER 10000

/*
 * One thread to collect with, since there may be many children; no second language. What a context has compiled ends with
 * it, so that the compiler that optimizes is for scripts that compute, and for functions, which are called on and on.
 */
static void set_options(void)
{
    jsc_options_set_size("forceRAMSize", ASSUMED_MEMORY_BYTES);
    jsc_options_set_uint("smallHeapSize", HEAP_BYTES_FIRST);
    jsc_options_set_int("thresholdForOptimizeAfterWarmUp", OPTIMIZE_AFTER);
    jsc_options_set_int("thresholdForOptimizeSoon", OPTIMIZE_AFTER);
    jsc_options_set_uint("numberOfGCMarkers", 1);
    jsc_options_set_boolean("useWasm", FALSE);
}

struct engine *engine_new(void)
{
    struct engine *engine = calloc(1, sizeof(*engine));

    if (!engine)
        return NULL;
    set_options();
    engine->group = JSContextGroupCreate();
    engine->plain = JSGlobalContextCreateInGroup(engine->group, NULL);
    engine->prelude = string_of((const char *)prelude_text);
    engine->prelude_url = string_of("orrery:prelude");
    warm_up(engine);
    engine_prepare(engine);
    return engine;
}

static JSValueRef parsed(struct engine *engine, JSContextRef context, const char *payload)
{
    JSStringRef text = text_read(&engine->room, payload);
    JSValueRef value = JSValueMakeFromJSONString(context, text);

    JSStringRelease(text);
    if (!value || !JSValueIsObject(context, value))
        frame_broken();
    return value;
}

static JSStringRef text_member(JSContextRef context, JSValueRef object, const char *name)
{
    JSValueRef value = member(context, object, name);

    return JSValueIsString(context, value) ? JSValueToStringCopy(context, value, NULL) : NULL;
}

struct script *script_new(struct engine *engine, const char *payload)
{
    JSValueRef object = parsed(engine, engine->plain, payload);
    struct script *script = calloc(1, sizeof(*script));

    if (!script)
        return NULL;
    script->engine = engine;
    script->source = text_member(engine->plain, object, "source");
    script->name = text_member(engine->plain, object, "name");
    if (script->source)
        return script;
    script_free(script);
    return NULL;
}

void script_free(struct script *script)
{
    if (!script)
        return;
    realm_close(&script->udf);
    if (script->source)
        JSStringRelease(script->source);
    if (script->name)
        JSStringRelease(script->name);
    free(script);
}

/* The value, a string that begins with the frame's kind, as the frame. */
static void give(JSContextRef context, JSValueRef value, struct outgoing *out)
{
    JSStringRef text =
        value && JSValueIsString(context, value) ? JSValueToStringCopy(context, value, NULL) : NULL;
    size_t bytes_max = text ? text_bytes_max(text) : 0;
    char *at = text ? outgoing_reserve(out, bytes_max) : NULL;

    if (at)
        out->used = text_write(text, at, bytes_max);
    if (!at || out->used == 0)
        outgoing_set(out, FRAME_FAILED, BROKEN_PAYLOAD);
    if (text)
        JSStringRelease(text);
}

static JSValueRef call(struct realm *realm, JSObjectRef function, size_t count, const JSValueRef arguments[])
{
    return JSObjectCallAsFunction(realm->context, function, NULL, count, arguments, NULL);
}

/* run and call take the same: source, name, and what the frame said. */
static JSValueRef call_script(struct realm *realm, JSObjectRef function, struct script *script,
                              const char *payload)
{
    JSContextRef context = realm->context;
    JSValueRef arguments[] = {
        JSValueMakeString(context, script->source),
        script->name ? JSValueMakeString(context, script->name) : JSValueMakeUndefined(context),
        parsed(script->engine, context, payload),
    };

    return call(realm, function, 3, arguments);
}

void engine_run(struct engine *engine, struct script *script, const char *payload, struct outgoing *out)
{
    struct realm *realm = &engine->running;

    realm_close(realm);
    realm_take(engine, realm);
    call_script(realm, realm->run, script, payload);
    give(realm->context, call(realm, realm->take, 0, NULL), out);
}

/* One callback a call: the promise jobs of each run before the next. */
void engine_deliver(struct engine *engine, const char *payload, struct outgoing *out)
{
    struct realm *realm = &engine->running;
    JSValueRef answers, more;

    if (!realm->context)
        frame_broken();
    answers = parsed(engine, realm->context, payload);
    more = call(realm, realm->deliver, 1, &answers);
    if (!more || !JSValueIsBoolean(realm->context, more))
        frame_broken();
    while (more && JSValueToBoolean(realm->context, more))
        more = call(realm, realm->step, 0, NULL);
    give(realm->context, call(realm, realm->take, 0, NULL), out);
}

void script_forget(struct script *script)
{
    realm_close(&script->udf);
}

void engine_call(struct engine *engine, struct script *script, const char *payload, struct outgoing *out)
{
    if (!script->udf.context)
        realm_take(engine, &script->udf);
    give(script->udf.context, call_script(&script->udf, script->udf.call, script, payload), out);
}
