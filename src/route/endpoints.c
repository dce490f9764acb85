/* src/route/endpoints.c - readiness, metrics, the certificate for clients that want to trust it, backups, ranges,
 * snapshots. */
#include <assert.h>
#include <stdio.h>

#include "json/binary_read.h"
#include "resource/split.h"
#include "route/endpoints.h"

enum { CERTIFICATE_BYTES_MAX = 64 * 1024 };

static void answer_text(struct exchange *exchange, const char *type)
{
    exchange->answer.status = 200;
    buf_printf(&exchange->answer.head, "content-type: %s\r\n", type);
}

static enum status ready(const struct route_options *options, const struct route_metrics *metrics,
                         struct exchange *exchange)
{
    (void)metrics;
    if (!catalog_is_writable(options->service->catalog))
        return op_fail(&exchange->op, ST_UNAVAILABLE, "The store takes no writes at the moment.");
    buf_text(&exchange->answer.body, "{\"ready\":true}");
    answer_text(exchange, "application/json");
    return ST_OK;
}

static enum status metrics_text(const struct route_options *options, const struct route_metrics *metrics,
                                struct exchange *exchange)
{
    assert(options->print_metrics);
    metrics_print(&exchange->answer.body, metrics);
    options->print_metrics(options->metrics_context, &exchange->answer.body);
    answer_text(exchange, "text/plain; version=0.0.4");
    return ST_OK;
}

static enum status certificate(const struct route_options *options, const struct route_metrics *metrics,
                               struct exchange *exchange)
{
    FILE *file = options->certificate_file ? fopen(options->certificate_file, "r") : NULL;
    char *room = buf_reserve(&exchange->answer.body, CERTIFICATE_BYTES_MAX);

    (void)metrics;
    if (!file || !room) {
        if (file)
            fclose(file);
        return op_fail(&exchange->op, ST_NOT_FOUND, "This server has no certificate.");
    }
    exchange->answer.body.size = fread(room, 1, CERTIFICATE_BYTES_MAX, file);
    fclose(file);
    answer_text(exchange, "application/x-pem-file");
    return ST_OK;
}

/* {"directory":"monday"}: a path below the server's directory of copies. The answer tells it from the root on. */
static enum status backup(const struct route_options *options, const struct route_metrics *metrics,
                          struct exchange *exchange)
{
    struct op *op = &exchange->op;
    struct slice path = { 0 }, made;
    struct json body;
    enum status st;

    (void)metrics;
    TRY(json_parse_body(op, exchange->request.body, &body));
    if (json_kind(json_get(body, "directory")) == JSON_STRING)
        path = json_string(json_get(body, "directory"));
    if (path.size == 0 || memchr(path.data, '\0', path.size))
        TRY(op_fail(op, ST_BAD_DIRECTORY, "\"directory\" must be a path."));
    if (!options->backup)
        TRY(op_fail(op, ST_NOT_BUILT, "This server keeps its data in memory: there is nothing to copy."));
    TRY(options->backup(options->backup_context, op, path, &made));
    exchange->answer.status = 201;
    buf_text(&exchange->answer.body, "{\"directory\":");
    json_print_string(&exchange->answer.body, made);
    buf_text(&exchange->answer.body, "}");
    buf_text(&exchange->answer.head, "content-type: application/json\r\n");
out:
    return st;
}

/* Has resource/split.h do what the body asks for. */
static enum status change_ranges(const struct route_options *options, struct exchange *exchange,
                                 enum status (*run)(struct op *, struct service *, struct json, struct buf *))
{
    struct op *op = &exchange->op;
    struct json body;
    enum status st;

    TRY(json_parse_body(op, exchange->request.body, &body));
    TRY(run(op, options->service, body, &exchange->answer.body));
    answer_text(exchange, "application/json");
out:
    return st;
}

static enum status split(const struct route_options *options, const struct route_metrics *metrics,
                         struct exchange *exchange)
{
    (void)metrics;
    return change_ranges(options, exchange, split_run);
}

static enum status merge(const struct route_options *options, const struct route_metrics *metrics,
                         struct exchange *exchange)
{
    (void)metrics;
    return change_ranges(options, exchange, merge_run);
}

/* ---- snapshots ---- */

static enum status check_snapshots(struct op *op, const struct route_options *options)
{
    return options->snapshots ? ST_OK : op_fail(op, ST_NOT_BUILT, "There are no snapshots here.");
}

/* The name in /_orrery/snapshots/NAME and in /_orrery/snapshots/NAME/restore. */
static struct slice snapshot_name(const struct request *request)
{
    struct slice rest = slice_after(request->target, strlen("/_orrery/snapshots/"));
    const char *slash = memchr(rest.data, '/', rest.size);

    return slice_make(rest.data, slash ? (size_t)(slash - rest.data) : rest.size);
}

/* {"name":"clean"} or {"name":"clean","database":"shop"} */
static enum status snapshot_create(const struct route_options *options, const struct route_metrics *metrics,
                                   struct exchange *exchange)
{
    struct op *op = &exchange->op;
    struct slice database = { 0 };
    struct json body, of;
    enum status st;

    (void)metrics;
    TRY(check_snapshots(op, options));
    TRY(json_parse_body(op, exchange->request.body, &body));
    if (json_kind(json_get(body, "name")) != JSON_STRING)
        TRY(op_fail(op, ST_BAD_REQUEST, "\"name\" must be a text."));
    of = json_get(body, "database");
    if (json_kind(of) == JSON_STRING)
        database = json_string(of);
    else if (json_kind(of) != JSON_UNDEFINED)
        TRY(op_fail(op, ST_BAD_REQUEST, "\"database\" must be a database's id."));
    TRY(options->snapshots->create(options->snapshots_context, op, json_string(json_get(body, "name")),
                                   database, &exchange->answer.body));
    answer_text(exchange, "application/json");
    exchange->answer.status = 201;
out:
    return st;
}

static enum status snapshot_list(const struct route_options *options, const struct route_metrics *metrics,
                                 struct exchange *exchange)
{
    enum status st;

    (void)metrics;
    TRY(check_snapshots(&exchange->op, options));
    TRY(options->snapshots->list(options->snapshots_context, &exchange->op, &exchange->answer.body));
    answer_text(exchange, "application/json");
out:
    return st;
}

static enum status snapshot_drop(const struct route_options *options, const struct route_metrics *metrics,
                                 struct exchange *exchange)
{
    enum status st;

    (void)metrics;
    TRY(check_snapshots(&exchange->op, options));
    TRY(options->snapshots->drop(options->snapshots_context, &exchange->op,
                                 snapshot_name(&exchange->request)));
    exchange->answer.status = 204;
out:
    return st;
}

static enum status snapshot_restore(const struct route_options *options, const struct route_metrics *metrics,
                                    struct exchange *exchange)
{
    enum status st;

    (void)metrics;
    TRY(check_snapshots(&exchange->op, options));
    TRY(options->snapshots->restore(options->snapshots_context, &exchange->op,
                                    snapshot_name(&exchange->request)));
    exchange->answer.status = 204;
out:
    return st;
}

static bool read_text(struct json body, const char *name, struct slice *text)
{
    struct json value = json_get(body, name);

    if (json_kind(value) != JSON_STRING || !json_string(value).size)
        return false;
    *text = json_string(value);
    return true;
}

/* {"from":"dbs/shop","to":"dbs/copy"} */
static enum status copy(const struct route_options *options, const struct route_metrics *metrics,
                        struct exchange *exchange)
{
    struct op *op = &exchange->op;
    struct slice from, to;
    struct json body;
    enum status st;

    (void)metrics;
    TRY(check_snapshots(op, options));
    TRY(json_parse_body(op, exchange->request.body, &body));
    if (!read_text(body, "from", &from) || !read_text(body, "to", &to))
        TRY(op_fail(op, ST_BAD_REQUEST, "\"from\" and \"to\" must be databases, such as dbs/shop."));
    TRY(options->snapshots->copy(options->snapshots_context, op, from, to, &exchange->answer.body));
    answer_text(exchange, "application/json");
    exchange->answer.status = 201;
out:
    return st;
}

/* {"container":"dbs/shop/colls/orders","at":"2026-11-17T02:42:00Z","to":"dbs/shop/colls/yesterday"} */
static enum status restore_at(const struct route_options *options, const struct route_metrics *metrics,
                              struct exchange *exchange)
{
    struct op *op = &exchange->op;
    struct slice from, moment, to;
    struct json body;
    enum status st;

    (void)metrics;
    TRY(check_snapshots(op, options));
    TRY(json_parse_body(op, exchange->request.body, &body));
    if (!read_text(body, "container", &from) || !read_text(body, "to", &to) ||
        !read_text(body, "at", &moment))
        TRY(op_fail(op, ST_BAD_REQUEST,
                    "\"container\" and \"to\" must be containers, such as dbs/D/colls/C, and \"at\" an LSN "
                    "or a time."));
    TRY(options->snapshots->restore_at(options->snapshots_context, op, from, moment, to,
                                       &exchange->answer.body));
    answer_text(exchange, "application/json");
    exchange->answer.status = 201;
out:
    return st;
}

/* clang-format off */
static const struct endpoint endpoints[] = {
    /* path                           method         waits  outside guard        code */
    { "/_orrery/ready",               METHOD_GET,    false, false,  FOR_ALL,     ready },
    { "/_orrery/metrics",             METHOD_GET,    true,  false,  FOR_METRICS, metrics_text },
    { "/_explorer/emulator.pem",      METHOD_GET,    true,  false,  FOR_ALL,     certificate },
    { "/_orrery/backup",              METHOD_POST,   true,  false,  FOR_KEYS,    backup },
    { "/_orrery/split",               METHOD_POST,   true,  false,  FOR_KEYS,    split },
    { "/_orrery/merge",               METHOD_POST,   true,  false,  FOR_KEYS,    merge },
    { "/_orrery/snapshots",           METHOD_POST,   true,  true,   FOR_KEYS,    snapshot_create },
    { "/_orrery/snapshots",           METHOD_GET,    true,  true,   FOR_KEYS,    snapshot_list },
    { "/_orrery/snapshots/*",         METHOD_DELETE, true,  true,   FOR_KEYS,    snapshot_drop },
    { "/_orrery/copy",                METHOD_POST,   true,  true,   FOR_KEYS,    copy },
    { "/_orrery/restore",             METHOD_POST,   true,  true,   FOR_KEYS,    restore_at },
    { "/_orrery/snapshots/*/restore", METHOD_POST,   true,  true,   FOR_KEYS,    snapshot_restore },
};
/* clang-format on */

/* A * in the pattern is one segment of the path, which is not empty. */
static bool matches(struct slice target, const char *pattern)
{
    size_t at = 0;

    for (; *pattern; pattern++) {
        size_t before = at;

        if (*pattern != '*') {
            if (at == target.size || target.data[at++] != *pattern)
                return false;
            continue;
        }
        while (at < target.size && target.data[at] != '/')
            at++;
        if (at == before)
            return false;
    }
    return at == target.size;
}

const struct endpoint *endpoint_find(const struct request *request)
{
    enum method method = request->method == METHOD_HEAD ? METHOD_GET : request->method;

    for (size_t i = 0; i < sizeof(endpoints) / sizeof(endpoints[0]); i++)
        if (endpoints[i].method == method && matches(request->target, endpoints[i].path))
            return &endpoints[i];
    return NULL;
}
