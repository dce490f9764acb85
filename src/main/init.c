/* src/main/init.c - files of definitions and items, as requests to a router of its own. */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "main/init.h"
#include "main/inside.h"

enum { PLACE_SIZE = 512 };

struct loader {
    struct op *op; /* has the files */
    struct inside inside;
    const char *file;
    char place[PLACE_SIZE]; /* in the file, such as databases[0].containers[2] */
    size_t made, there;
};

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

static enum status refused(struct loader *loader, struct slice body)
{
    return wrong(loader, inside_message(loader->op, body));
}

static struct slice text_of(struct json value)
{
    return json_kind(value) == JSON_STRING ? json_string(value) : (struct slice){ 0 };
}

static struct slice path_below(struct loader *loader, struct slice above, const char *type, struct slice id)
{
    return inside_path(loader->op, above, type, id);
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

/* Members that are no part of a definition. Of all, "partitionKey" is the first: one that is a text stands for one path. */
static const char *const all_ours[] = { "partitionKey", "throughput",  "autoscaleMaxThroughput",
                                        "containers",   "collections", "users",
                                        "items",        "documents",   "storedProcedures",
                                        "sprocs",       "triggers",    "userDefinedFunctions",
                                        "udfs",         "permissions", NULL };

static struct slice defined(struct loader *loader, struct json definition)
{
    bool is_short = json_kind(json_get(definition, "partitionKey")) == JSON_STRING;
    struct buf out;

    buf_init(&out, &loader->op->arena);
    inside_print_without(&out, definition, all_ours + !is_short);
    if (is_short) {
        out.size--; /* the brace */
        buf_text(&out, ",\"partitionKey\":{\"kind\":\"Hash\",\"version\":2,\"paths\":[");
        json_print(&out, json_get(definition, "partitionKey"));
        buf_text(&out, "]}}");
    }
    return buf_as_slice(&out);
}

/* What is there stays. `target` is the path of the list that it goes into. */
static enum status make(struct loader *loader, struct slice target, struct json definition)
{
    struct asked asked = { .method = METHOD_POST, .target = target };
    int status;

    if (json_kind(definition) != JSON_OBJECT || !text_of(json_get(definition, "id")).size)
        return wrong(loader, "must be an object with an \"id\"");
    asked.body = defined(loader, definition);
    if (json_kind(json_get(definition, "throughput")) != JSON_UNDEFINED)
        asked.throughput = printed(loader, "", json_get(definition, "throughput"), "");
    if (json_kind(json_get(definition, "autoscaleMaxThroughput")) != JSON_UNDEFINED)
        asked.autopilot =
            printed(loader, "{\"maxThroughput\":", json_get(definition, "autoscaleMaxThroughput"), "}");
    status = inside_ask(&loader->inside, &asked);
    loader->made += status == 201;
    loader->there += status == 409;
    return status == 201 || status == 409 ? ST_OK : refused(loader, inside_body(&loader->inside));
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

static enum status judge(struct op *op, void *context, size_t index, int status, struct json body)
{
    struct loader *loader = context;
    char told[64];

    loader->made += status == 201;
    loader->there += status == 409;
    if (status == 201 || status == 409)
        return ST_OK;
    enter(loader, "[%zu]", index);
    if (json_kind(body) == JSON_OBJECT)
        return refused(loader, printed(loader, "", body, ""));
    snprintf(told, sizeof(told), "the item was refused with %d", status);
    (void)op;
    return wrong(loader, told);
}

static enum status make_items(struct loader *loader, struct slice container, struct json list)
{
    struct bulk bulk = { .inside = &loader->inside, .judge = judge, .context = loader };
    enum status st = ST_OK;
    size_t index = 0;

    if (json_kind(list) == JSON_UNDEFINED)
        return ST_OK;
    TRY(bulk_open(loader->op, &bulk, container));
    for (struct json_iter i = json_iter(list); json_next(&i); index++) {
        if (json_kind(i.value) != JSON_OBJECT) {
            enter(loader, "[%zu]", index);
            TRY(wrong(loader, "must be an object"));
        }
        TRY(bulk_add(loader->op, &bulk, i.value));
    }
    TRY(bulk_send(loader->op, &bulk));
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
    inside_open(&loader->inside, engine_service(engine), engine_account(engine));
    st = S_ISDIR(info.st_mode) ? load_directory(loader, path) : load_file(loader, path);
    inside_close(&loader->inside);
    log_line(LOG_INFO, "%s: %zu made, %zu were there", path, loader->made, loader->there);
    return st;
}
