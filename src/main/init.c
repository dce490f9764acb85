/* src/main/init.c - files of definitions and items, as requests to a router of its own. */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/encode.h"
#include "base/limits.h"
#include "base/log.h"
#include "main/init.h"

enum { PLACE_SIZE = 512, ITEMS_AT_ONCE = 100, ITEMS_BYTES = 1024 * 1024 };

struct loader {
    struct op *op; /* has the files; what one request needs is the exchange's own */
    struct router *router;
    struct exchange exchange;
    const char *file;
    char place[PLACE_SIZE]; /* in the file, such as databases[0].containers[2] */
    size_t made, there;
};

/* ---- requests ---- */

struct asked {
    enum method method;
    struct slice target, body;
    struct slice throughput, autopilot; /* headers; no data: none */
    bool is_batch;
};

static void reset_answer(struct loader *loader)
{
    struct exchange *exchange = &loader->exchange;

    exchange->answer.status = 0;
    buf_init(&exchange->answer.head, &exchange->op.arena);
    buf_init(&exchange->answer.body, &exchange->op.arena);
    exchange->answer.body.moves = true;
}

/* The answer is in the exchange, until the next question. */
static int ask(struct loader *loader, const struct asked *asked)
{
    struct exchange *exchange = &loader->exchange;
    struct request *request = &exchange->request;
    enum status st;

    op_begin(&exchange->op, OP_TIMEOUT_MS);
    exchange->op.may_block = false;
    exchange->class = CLASS_QUICK;
    *request = (struct request){ .method = asked->method, .target = asked->target, .body = asked->body };
    request->header[HEADER_OFFER_THROUGHPUT] = asked->throughput;
    request->header[HEADER_OFFER_AUTOPILOT] = asked->autopilot;
    if (asked->is_batch)
        request->header[HEADER_IS_BATCH] = request->header[HEADER_BATCH_CONTINUE] = slice_of("true");
    reset_answer(loader);
    st = route_handle(loader->router, exchange);
    if (st == ST_WOULD_BLOCK) {
        reset_answer(loader);
        exchange->op.may_block = true;
        st = route_handle(loader->router, exchange);
    }
    assert(st == ST_OK); /* nobody resumes it, so it has waited */
    return exchange->answer.status;
}

/* ---- places and failures ---- */

/* Goes on behind the place that was there, which comes back when the size is given to leave(). */
__attribute__((format(printf, 2, 3))) static size_t enter(struct loader *loader, const char *format, ...)
{
    size_t before = strlen(loader->place);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(loader->place + before, PLACE_SIZE - before, format, arguments);
    va_end(arguments);
    return before;
}

static void leave(struct loader *loader, size_t before)
{
    loader->place[before] = '\0';
}

static enum status wrong(struct loader *loader, const char *what)
{
    return op_fail(loader->op, ST_BAD_REQUEST, "%s: %s%s%s", loader->file, loader->place,
                   loader->place[0] ? ": " : "", what);
}

/* The message of an error's body, up to the end of its first line. */
static enum status refused(struct loader *loader, struct slice body)
{
    struct json parsed;
    struct slice text = body;
    const char *end;
    struct buf told;

    if (json_parse(loader->op, body, &parsed) == ST_OK &&
        json_kind(json_get(parsed, "message")) == JSON_STRING)
        text = json_string(json_get(parsed, "message"));
    end = memchr(text.data, '\r', text.size);
    text.size = end ? (size_t)(end - text.data) : text.size;
    buf_init(&told, &loader->op->arena);
    buf_slice(&told, text);
    buf_byte(&told, '\0');
    return wrong(loader, told.data);
}

/* ---- small things ---- */

static struct slice text_of(struct json value)
{
    return json_kind(value) == JSON_STRING ? json_string(value) : (struct slice){ 0 };
}

/* <above>/<type>/<id>, or <above>/<type> without an id */
static struct slice path_below(struct loader *loader, struct slice above, const char *type, struct slice id)
{
    struct buf out;

    buf_init(&out, &loader->op->arena);
    buf_slice(&out, above);
    buf_printf(&out, "/%s", type);
    if (id.data) {
        buf_byte(&out, '/');
        percent_encode(&out, id);
    }
    return buf_as_slice(&out);
}

static bool is_among(struct slice name, const char *const *names)
{
    for (; *names; names++)
        if (slice_is(name, *names))
            return true;
    return false;
}

/* The object without its system properties and without the members that are ours. */
static struct slice print_without(struct loader *loader, struct json object, const char *const *ours)
{
    struct buf out;
    bool any = false;

    buf_init(&out, &loader->op->arena);
    buf_byte(&out, '{');
    for (struct json_iter i = json_iter(object); json_next(&i);) {
        if ((i.name.size && i.name.data[0] == '_') || is_among(i.name, ours))
            continue;
        buf_text(&out, any ? "," : "");
        any = true;
        json_print_string(&out, i.name);
        buf_byte(&out, ':');
        if (slice_is(i.name, "partitionKey") &&
            json_kind(i.value) == JSON_STRING) { /* "/pk" is short for it */
            buf_text(&out, "{\"kind\":\"Hash\",\"version\":2,\"paths\":[");
            json_print(&out, i.value);
            buf_text(&out, "]}");
        } else {
            json_print(&out, i.value);
        }
    }
    buf_byte(&out, '}');
    return buf_as_slice(&out);
}

static struct slice printed(struct loader *loader, const char *before, struct json value, const char *after)
{
    struct buf out;

    buf_init(&out, &loader->op->arena);
    buf_text(&out, before);
    json_print(&out, value);
    buf_text(&out, after);
    return buf_as_slice(&out);
}

/* ---- one resource ---- */

static const char *const ours[] = { "throughput",
                                    "autoscaleMaxThroughput",
                                    "containers",
                                    "collections",
                                    "users",
                                    "items",
                                    "documents",
                                    "storedProcedures",
                                    "sprocs",
                                    "triggers",
                                    "userDefinedFunctions",
                                    "udfs",
                                    "permissions",
                                    NULL };

/* What is there stays. `target` is the path of the list that it goes into. */
static enum status make(struct loader *loader, struct slice target, struct json definition)
{
    struct asked asked = { .method = METHOD_POST, .target = target };
    int status;

    if (json_kind(definition) != JSON_OBJECT || !text_of(json_get(definition, "id")).size)
        return wrong(loader, "must be an object with an \"id\"");
    asked.body = print_without(loader, definition, ours);
    if (json_kind(json_get(definition, "throughput")) != JSON_UNDEFINED)
        asked.throughput = printed(loader, "", json_get(definition, "throughput"), "");
    if (json_kind(json_get(definition, "autoscaleMaxThroughput")) != JSON_UNDEFINED)
        asked.autopilot =
            printed(loader, "{\"maxThroughput\":", json_get(definition, "autoscaleMaxThroughput"), "}");
    status = ask(loader, &asked);
    loader->made += status == 201;
    loader->there += status == 409;
    return status == 201 || status == 409 ? ST_OK
                                          : refused(loader, buf_as_slice(&loader->exchange.answer.body));
}

/* Each of a list, or of an object whose names nobody needs: its values have ids of their own. */
static enum status make_each(struct loader *loader, struct slice above, const char *type, struct json list)
{
    struct slice target = path_below(loader, above, type, (struct slice){ 0 });
    enum status st = ST_OK;
    size_t index = 0;

    for (struct json_iter i = json_iter(list); json_next(&i); index++) {
        size_t before =
            i.name.data ? enter(loader, ".%.*s", SLICE_ARGS(i.name)) : enter(loader, "[%zu]", index);

        TRY(make(loader, target, i.value));
        leave(loader, before);
    }
out:
    return st;
}

/* ---- items ---- */

/* As many items as go into one request, and where the first of them is. */
struct load {
    struct slice target;
    struct json paths; /* of the partition key */
    struct buf body;
    size_t first, count;
};

/* The value at /a/b of the document; undefined where it has none. */
static struct json value_at(struct json document, struct slice path)
{
    while (path.size && json_kind(document) == JSON_OBJECT) {
        struct slice rest = slice_after(path, 1), name = rest;
        const char *slash;

        if (rest.size && rest.data[0] == '"') {
            name = slice_after(rest, 1);
            slash = memchr(name.data, '"', name.size);
            name.size = slash ? (size_t)(slash - name.data) : name.size;
            path = slice_after(rest, name.size + 2 < rest.size ? name.size + 2 : rest.size);
        } else {
            slash = memchr(rest.data, '/', rest.size);
            name.size = slash ? (size_t)(slash - rest.data) : rest.size;
            path = slice_after(rest, name.size);
        }
        document = json_member(document, name);
    }
    return path.size ? json_undefined : document;
}

/* "[\"a\",1]", as a text inside the operation. */
static void print_key(struct loader *loader, struct buf *out, struct json paths, struct json item)
{
    struct buf key;
    bool any = false;

    buf_init(&key, &loader->op->arena);
    buf_byte(&key, '[');
    for (struct json_iter i = json_iter(paths); json_next(&i); any = true) {
        struct json value = value_at(item, text_of(i.value));

        buf_text(&key, any ? "," : "");
        if (json_kind(value) == JSON_UNDEFINED)
            buf_text(&key, "{}");
        else
            json_print(&key, value);
    }
    buf_byte(&key, ']');
    json_print_string(out, buf_as_slice(&key));
}

static enum status judge(struct loader *loader, size_t index, struct json result)
{
    double status = json_kind(json_get(result, "statusCode")) == JSON_NUMBER
                        ? json_double(json_get(result, "statusCode"))
                        : 0;
    char told[64];

    loader->made += status == 201;
    loader->there += status == 409;
    if (status == 201 || status == 409)
        return ST_OK;
    enter(loader, "[%zu]", index);
    if (json_kind(json_get(result, "resourceBody")) == JSON_OBJECT)
        return refused(loader, printed(loader, "", json_get(result, "resourceBody"), ""));
    snprintf(told, sizeof(told), "the item was refused with %d", (int)status);
    return wrong(loader, told);
}

static enum status send(struct loader *loader, struct load *load)
{
    struct asked asked = { .method = METHOD_POST, .target = load->target, .is_batch = true };
    struct json results;
    size_t index = load->first;
    enum status st = ST_OK;

    if (load->count == 0)
        goto out;
    buf_byte(&load->body, ']');
    asked.body = buf_as_slice(&load->body);
    if (ask(loader, &asked) >= 300)
        TRY(refused(loader, buf_as_slice(&loader->exchange.answer.body)));
    TRY(json_parse(loader->op, buf_as_slice(&loader->exchange.answer.body), &results));
    for (struct json_iter i = json_iter(results); json_next(&i); index++)
        TRY(judge(loader, index, i.value));
out:
    load->first += load->count;
    load->count = 0;
    buf_init(&load->body, &loader->op->arena);
    return st;
}

static void add(struct loader *loader, struct load *load, struct json item)
{
    static const char *const nothing[] = { NULL };

    buf_text(&load->body, load->count ? "," : "[");
    load->count++;
    buf_text(&load->body, "{\"operationType\":\"Create\",\"partitionKey\":");
    print_key(loader, &load->body, load->paths, item);
    buf_text(&load->body, ",\"resourceBody\":");
    buf_slice(&load->body, print_without(loader, item, nothing));
    buf_byte(&load->body, '}');
}

/* The partition key's paths, as the container has them, which may have been there before. */
static enum status find_paths(struct loader *loader, struct slice container, struct json *paths)
{
    struct json definition;
    enum status st;

    if (ask(loader, &(struct asked){ .method = METHOD_GET, .target = container, .body = slice_of("") }) !=
        200)
        return refused(loader, buf_as_slice(&loader->exchange.answer.body));
    TRY(json_parse(loader->op, buf_as_slice(&loader->exchange.answer.body), &definition));
    *paths = json_get(json_get(definition, "partitionKey"), "paths");
out:
    return st;
}

static enum status make_items(struct loader *loader, struct slice container, struct json list)
{
    struct load load = { .target = path_below(loader, container, "docs", (struct slice){ 0 }) };
    enum status st = ST_OK;
    size_t index = 0;

    if (json_kind(list) == JSON_UNDEFINED)
        return ST_OK;
    TRY(find_paths(loader, container, &load.paths));
    buf_init(&load.body, &loader->op->arena);
    for (struct json_iter i = json_iter(list); json_next(&i); index++) {
        if (json_kind(i.value) != JSON_OBJECT) {
            enter(loader, "[%zu]", index);
            TRY(wrong(loader, "must be an object"));
        }
        add(loader, &load, i.value);
        if (load.count == ITEMS_AT_ONCE || load.body.size > ITEMS_BYTES)
            TRY(send(loader, &load));
    }
    TRY(send(loader, &load));
out:
    return st;
}

/* ---- the two forms ---- */

/* The first of two names that the object has. */
static struct json either(struct json object, const char *a, const char *b, const char **name)
{
    *name = json_kind(json_get(object, a)) != JSON_UNDEFINED ? a : b;
    return json_get(object, *name);
}

static const struct script_kind {
    const char *name, *other, *type;
} script_kinds[] = {
    { "storedProcedures", "sprocs", "sprocs" },
    { "triggers", "triggers", "triggers" },
    { "userDefinedFunctions", "udfs", "udfs" },
};

static enum status make_inside(struct loader *loader, struct slice container, struct json definition)
{
    size_t before = strlen(loader->place);
    const char *name;
    struct json list;
    enum status st = ST_OK;

    for (size_t i = 0; i < sizeof(script_kinds) / sizeof(script_kinds[0]); i++) {
        list = either(definition, script_kinds[i].name, script_kinds[i].other, &name);
        enter(loader, ".%s", name);
        TRY(make_each(loader, container, script_kinds[i].type, list));
        leave(loader, before);
    }
    list = either(definition, "items", "documents", &name);
    enter(loader, ".%s", name);
    TRY(make_items(loader, container, list));
    leave(loader, before);
out:
    return st;
}

static enum status make_containers(struct loader *loader, struct slice database, struct json list)
{
    struct slice target = path_below(loader, database, "colls", (struct slice){ 0 });
    enum status st = ST_OK;
    size_t index = 0;

    for (struct json_iter i = json_iter(list); json_next(&i); index++) {
        size_t before = enter(loader, "[%zu]", index);

        TRY(make(loader, target, i.value));
        TRY(make_inside(loader, path_below(loader, database, "colls", text_of(json_get(i.value, "id"))),
                        i.value));
        leave(loader, before);
    }
out:
    return st;
}

static enum status make_users(struct loader *loader, struct slice database, struct json list)
{
    struct slice target = path_below(loader, database, "users", (struct slice){ 0 });
    enum status st = ST_OK;
    size_t index = 0;

    for (struct json_iter i = json_iter(list); json_next(&i); index++) {
        size_t before = enter(loader, "[%zu]", index);

        TRY(make(loader, target, i.value));
        enter(loader, ".permissions");
        TRY(make_each(loader, path_below(loader, database, "users", text_of(json_get(i.value, "id"))),
                      "permissions", json_get(i.value, "permissions")));
        leave(loader, before);
    }
out:
    return st;
}

/* {"databases":[{"id":"shop","containers":[{"id":"orders","partitionKey":"/pk","items":[...]}]}]} */
static enum status load_list(struct loader *loader, struct json databases)
{
    enum status st = ST_OK;
    size_t index = 0;

    for (struct json_iter i = json_iter(databases); json_next(&i); index++) {
        size_t before = enter(loader, "databases[%zu]", index), inside;
        struct slice database = path_below(loader, slice_of(""), "dbs", text_of(json_get(i.value, "id")));
        const char *name;
        struct json containers;

        TRY(make(loader, slice_of("/dbs"), i.value));
        containers = either(i.value, "containers", "collections", &name);
        inside = enter(loader, ".%s", name);
        TRY(make_containers(loader, database, containers));
        leave(loader, inside);
        enter(loader, ".users");
        TRY(make_users(loader, database, json_get(i.value, "users")));
        leave(loader, before);
    }
out:
    return st;
}

/* One container of the form below, whose scripts and items stand elsewhere in the file. */
static enum status load_spread(struct loader *loader, struct json file, struct slice database,
                               struct slice id)
{
    static const char *const kinds[] = { "sprocs", "triggers", "udfs", "documents" };
    struct slice above = path_below(loader, slice_of(""), "dbs", database);
    struct slice container = path_below(loader, above, "colls", id);
    enum status st = ST_OK;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct json list = json_member(json_member(json_get(file, kinds[i]), database), id);

        loader->place[0] = '\0';
        enter(loader, "%s.%.*s.%.*s", kinds[i], SLICE_ARGS(database), SLICE_ARGS(id));
        if (strcmp(kinds[i], "documents") == 0)
            TRY(make_items(loader, container, list));
        else
            TRY(make_each(loader, container, kinds[i], list));
    }
out:
    return st;
}

/* {"databases":{"shop":{...}},"collections":{"shop":{"orders":{...}}},"documents":{"shop":{"orders":{"1":{...}}}}} */
static enum status load_maps(struct loader *loader, struct json file)
{
    enum status st = ST_OK;

    for (struct json_iter i = json_iter(json_get(file, "databases")); json_next(&i);) {
        struct slice database = text_of(json_get(i.value, "id"));

        loader->place[0] = '\0';
        enter(loader, "databases.%.*s", SLICE_ARGS(i.name));
        TRY(make(loader, slice_of("/dbs"), i.value));
        for (struct json_iter c = json_iter(json_member(json_get(file, "collections"), i.name));
             json_next(&c);) {
            loader->place[0] = '\0';
            enter(loader, "collections.%.*s.%.*s", SLICE_ARGS(i.name), SLICE_ARGS(c.name));
            TRY(make(loader,
                     path_below(loader, path_below(loader, slice_of(""), "dbs", database), "colls",
                                (struct slice){ 0 }),
                     c.value));
            TRY(load_spread(loader, file, i.name, c.name));
        }
    }
out:
    return st;
}

/* ---- files ---- */

static enum status read_whole(struct loader *loader, struct slice *text)
{
    FILE *in = fopen(loader->file, "r");
    struct buf whole;
    size_t got;
    char *room;

    if (!in)
        return op_fail(loader->op, ST_UNAVAILABLE, "cannot read %s: %s", loader->file, strerror(errno));
    buf_init(&whole, &loader->op->arena);
    do {
        room = buf_reserve(&whole, 65536);
        got = room ? fread(room, 1, 65536, in) : 0;
        whole.size += got;
    } while (got);
    fclose(in);
    *text = buf_as_slice(&whole);
    return ST_OK;
}

static enum status load_file(struct loader *loader, const char *file)
{
    struct json parsed, databases;
    struct slice text;
    enum status st;

    loader->file = file;
    loader->place[0] = '\0';
    TRY(read_whole(loader, &text));
    if (json_parse(loader->op, text, &parsed) != ST_OK)
        TRY(wrong(loader, arena_text(&loader->op->arena,
                                     slice_of(loader->op->error ? loader->op->error : "no JSON"))));
    databases = json_get(parsed, "databases");
    if (json_kind(databases) == JSON_ARRAY)
        TRY(load_list(loader, databases));
    else if (json_kind(databases) == JSON_OBJECT)
        TRY(load_maps(loader, parsed));
    else
        TRY(wrong(loader, "there is no \"databases\", a list or an object"));
out:
    return st;
}

static int is_json(const struct dirent *entry)
{
    size_t size = strlen(entry->d_name);

    return entry->d_name[0] != '.' && size > 5 && strcmp(entry->d_name + size - 5, ".json") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static enum status load_directory(struct loader *loader, const char *path)
{
    struct dirent **list;
    int count = scandir(path, &list, is_json, by_name);
    enum status st = ST_OK;

    if (count < 0)
        return op_fail(loader->op, ST_UNAVAILABLE, "cannot read %s: %s", path, strerror(errno));
    for (int i = 0; i < count; i++) {
        if (st == ST_OK)
            st = load_file(loader, directory_inside(loader->op, path, list[i]->d_name));
        free(list[i]);
    }
    free(list);
    return st;
}

enum status init_load(struct op *op, struct engine *engine, const char *path)
{
    struct loader *loader = arena_alloc(&op->arena, sizeof(*loader));
    struct stat info;
    enum status st;

    memset(loader, 0, sizeof(*loader));
    loader->op = op;
    if (stat(path, &info) != 0)
        return op_fail(op, ST_UNAVAILABLE, "cannot read %s: %s", path, strerror(errno));
    op_init(&loader->exchange.op, op->env, OP_MEMORY_BYTES_MAX);
    op_join_account(&loader->exchange.op, engine_account(engine));
    loader->router =
        route_open(&(struct route_options){ .service = engine_service(engine), .trusts_all = true });
    st = S_ISDIR(info.st_mode) ? load_directory(loader, path) : load_file(loader, path);
    route_close(loader->router);
    op_free(&loader->exchange.op);
    log_line(LOG_INFO, "%s: %zu made, %zu were there", path, loader->made, loader->there);
    return st;
}
