/* src/route/endpoints.c - readiness, metrics, the certificate, the explorer, backups, ranges, snapshots,
 * advice. */
#include <assert.h>
#include <stdio.h>

#include "json/binary_read.h"
#include "resource/advice.h"
#include "resource/reshape.h"
#include "resource/split.h"
#include "route/assets.h"
#include "route/endpoints.h"
#include "workload/workload.h"

enum { CERTIFICATE_BYTES_MAX = 64 * 1024 };

#define OPENMETRICS "application/openmetrics-text"

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
    struct slice accept = exchange->request.header[HEADER_ACCEPT];
    bool is_open = accept.data && memmem(accept.data, accept.size, OPENMETRICS, sizeof(OPENMETRICS) - 1);
    struct buf text;

    assert(options->print_metrics);
    buf_init(&text, &exchange->op.arena);
    metrics_print(&text, metrics, is_open);
    options->print_metrics(options->metrics_context, &text);
    if (is_open)
        metrics_as_openmetrics(&exchange->answer.body, buf_as_slice(&text));
    else
        exchange->answer.body = text;
    exchange->answer.body.failed |= text.failed;
    answer_text(exchange,
                is_open ? OPENMETRICS "; version=1.0.0; charset=utf-8" : "text/plain; version=0.0.4");
    return ST_OK;
}

/* {"operations":[...],"samples":[...],...}: what the explorer draws, from sample N on where the path ends in a number. */
static enum status now(const struct route_options *options, const struct route_metrics *metrics,
                       struct exchange *exchange)
{
    struct slice number = slice_after(exchange->request.target, strlen("/_orrery/now"));
    struct buf *body = &exchange->answer.body;
    uint64_t since = 0;

    if (!options->print_now)
        return op_fail(&exchange->op, ST_NOT_BUILT, "No figures of the past are kept here.");
    if (number.size && !slice_to_u64(slice_after(number, 1), &since))
        return op_fail(&exchange->op, ST_BAD_REQUEST, "The number of a sample is a number.");
    buf_text(body, "{\"operations\":");
    metrics_print_routes(body, metrics);
    buf_byte(body, ',');
    options->print_now(options->now_context, &exchange->op, since, body);
    buf_byte(body, '}');
    answer_text(exchange, "application/json");
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

/* Has an operator's command of resource/ do what the body asks for. */
static enum status run_command(const struct route_options *options, struct exchange *exchange,
                               route_command *run)
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
    return run_command(options, exchange, split_run);
}

static enum status merge(const struct route_options *options, const struct route_metrics *metrics,
                         struct exchange *exchange)
{
    (void)metrics;
    return run_command(options, exchange, merge_run);
}

static enum status advise(const struct route_options *options, const struct route_metrics *metrics,
                          struct exchange *exchange)
{
    (void)metrics;
    return run_command(options, exchange, advice_run);
}

static enum status map(const struct route_options *options, const struct route_metrics *metrics,
                       struct exchange *exchange)
{
    (void)metrics;
    return run_command(options, exchange, map_run);
}

static enum status hold(const struct route_options *options, const struct route_metrics *metrics,
                        struct exchange *exchange)
{
    (void)metrics;
    return run_command(options, exchange, hold_run);
}

/* Whoever has found a container by its name has ended with it before the name is another one's. */
static enum status swap(const struct route_options *options, const struct route_metrics *metrics,
                        struct exchange *exchange)
{
    struct op *op = &exchange->op;
    struct json body;
    enum status st;

    (void)metrics;
    TRY(json_parse_body(op, exchange->request.body, &body));
    if (!options->run_alone)
        TRY(op_fail(op, ST_NOT_BUILT, "No container is renamed here."));
    TRY(options->run_alone(options->alone_context, op, swap_run, body, &exchange->answer.body));
    answer_text(exchange, "application/json");
out:
    return st;
}

/* --- the record of the workload --- */

static enum status check_recorded(struct op *op, const struct route_options *options)
{
    return options->service->workload
               ? ST_OK
               : op_fail(op, ST_NOT_BUILT, "Nothing was recorded: start the server with --record.");
}

static enum status workload_read_all(const struct route_options *options, const struct route_metrics *metrics,
                                     struct exchange *exchange)
{
    enum status st;

    (void)metrics;
    TRY(check_recorded(&exchange->op, options));
    workload_print(options->service->workload, &exchange->answer.body, WORKLOAD_SHOWN);
    answer_text(exchange, "application/json");
out:
    return st;
}

/* {"examples":true}: the same with queries as they came, to be asked again. */
static enum status workload_examples(const struct route_options *options, const struct route_metrics *metrics,
                                     struct exchange *exchange)
{
    struct op *op = &exchange->op;
    struct json body;
    enum status st;

    (void)metrics;
    TRY(check_recorded(op, options));
    TRY(json_parse_body(op, exchange->request.body, &body));
    if (json_kind(json_get(body, "examples")) != JSON_TRUE)
        TRY(op_fail(op, ST_BAD_REQUEST,
                    "\"examples\" must be true: the record without them is read by GET."));
    workload_print(options->service->workload, &exchange->answer.body, WORKLOAD_EXAMPLES);
    answer_text(exchange, "application/json");
out:
    return st;
}

static enum status workload_delete(const struct route_options *options, const struct route_metrics *metrics,
                                   struct exchange *exchange)
{
    enum status st;

    (void)metrics;
    TRY(check_recorded(&exchange->op, options));
    workload_forget(options->service->workload);
    exchange->answer.status = 204;
out:
    return st;
}

/* --- of the emulators --- */

static enum status alive(const struct route_options *options, const struct route_metrics *metrics,
                         struct exchange *exchange)
{
    (void)options, (void)metrics;
    buf_text(&exchange->answer.body, "{\"alive\":true}");
    answer_text(exchange, "application/json");
    return ST_OK;
}

/* Unlike readiness it is 200 whatever it tells. */
static enum status status(const struct route_options *options, const struct route_metrics *metrics,
                          struct exchange *exchange)
{
    (void)metrics;
    buf_printf(&exchange->answer.body, "{\"alive\":true,\"ready\":%s,\"version\":\"%s\"}",
               catalog_is_writable(options->service->catalog) ? "true" : "false", ORRERY_VERSION);
    answer_text(exchange, "application/json");
    return ST_OK;
}

/* People open the explorer's port in a browser. */
static enum status to_explorer(const struct route_options *options, const struct route_metrics *metrics,
                               struct exchange *exchange)
{
    (void)options, (void)metrics;
    exchange->answer.status = 302;
    buf_text(&exchange->answer.head, "location: /_explorer/index.html\r\n");
    return ST_OK;
}

static const struct endpoint of_emulators[] = {
    { "/alive", METHOD_GET, false, false, FOR_ALL, alive },
    { "/ready", METHOD_GET, false, false, FOR_ALL, ready },
    { "/status", METHOD_GET, false, false, FOR_ALL, status },
};

static const struct endpoint browser_door = { "/", METHOD_GET, false, false, FOR_ALL, to_explorer };

/* The root is the account's, which SDKs ask for with a signature, and programs that look whether it is up without. */
static bool is_browser(const struct request *request)
{
    struct slice accept = request->header[HEADER_ACCEPT];

    return !request->header[HEADER_AUTHORIZATION].data && accept.data &&
           memmem(accept.data, accept.size, "text/html", 9);
}

static const struct endpoint *find_of_emulators(const struct request *request, enum method method)
{
    if (method != METHOD_GET)
        return NULL;
    for (size_t i = 0; i < sizeof(of_emulators) / sizeof(of_emulators[0]); i++)
        if (slice_is(request->target, of_emulators[i].path))
            return &of_emulators[i];
    return slice_is(request->target, "/") && is_browser(request) ? &browser_door : NULL;
}

/*
 * What browsers are told of every file of the explorer: it runs no script but its own, speaks to no other server, and
 * no other page frames, opens or loads it. A browser asks each time whether a file has changed, and mostly has it.
 */
static const char explorer_head[] =
    "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'\r\n"
    "x-content-type-options: nosniff\r\n"
    "x-frame-options: DENY\r\n"
    "referrer-policy: no-referrer\r\n"
    "cross-origin-opener-policy: same-origin\r\n"
    "cross-origin-resource-policy: same-origin\r\n"
    "cache-control: no-cache\r\n";

/* A file of the page. They are kept packed, and every browser unpacks. */
static enum status explorer(const struct route_options *options, const struct route_metrics *metrics,
                            struct exchange *exchange)
{
    const struct asset *asset = options->serves_explorer ? asset_find(exchange->request.target) : NULL;
    struct answer *answer = &exchange->answer;

    (void)metrics;
    if (!asset)
        return op_fail(&exchange->op, ST_NOT_FOUND,
                       options->serves_explorer
                           ? "The explorer has no such file."
                           : "This server was started without the explorer (--no-explorer).");
    buf_text(&answer->head, explorer_head);
    buf_printf(&answer->head, "etag: %s\r\n", asset->etag);
    if (slice_is(slice_trim(exchange->request.header[HEADER_IF_NONE_MATCH]), asset->etag)) {
        answer->status = 304;
        return ST_OK;
    }
    answer_text(exchange, asset->type);
    buf_text(&answer->head, "content-encoding: gzip\r\n");
    buf_append(&answer->body, asset->bytes, asset->size);
    return ST_OK;
}

/* People type the path without its last slash, by which the page finds its files. */
static enum status explorer_door(const struct route_options *options, const struct route_metrics *metrics,
                                 struct exchange *exchange)
{
    if (!options->serves_explorer)
        return explorer(options, metrics, exchange);
    exchange->answer.status = 308;
    buf_text(&exchange->answer.head, "location: /_explorer/\r\n");
    return ST_OK;
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
    { "/_orrery/now",                 METHOD_GET,    true,  false,  FOR_READERS, now },
    { "/_orrery/now/*",               METHOD_GET,    true,  false,  FOR_READERS, now },
    { "/_explorer/emulator.pem",      METHOD_GET,    true,  false,  FOR_ALL,     certificate },
    { "/_explorer",                   METHOD_GET,    false, false,  FOR_ALL,     explorer_door },
    { "/_orrery/backup",              METHOD_POST,   true,  false,  FOR_KEYS,    backup },
    { "/_orrery/split",               METHOD_POST,   true,  false,  FOR_KEYS,    split },
    { "/_orrery/merge",               METHOD_POST,   true,  false,  FOR_KEYS,    merge },
    { "/_orrery/advise",              METHOD_POST,   true,  false,  FOR_KEYS,    advise },
    { "/_orrery/map",                 METHOD_POST,   true,  false,  FOR_KEYS,    map },
    { "/_orrery/hold",                METHOD_POST,   true,  false,  FOR_KEYS,    hold },
    { "/_orrery/swap",                METHOD_POST,   true,  true,   FOR_KEYS,    swap },
    { "/_orrery/workload",            METHOD_GET,    true,  false,  FOR_KEYS,    workload_read_all },
    { "/_orrery/workload",            METHOD_POST,   true,  false,  FOR_KEYS,    workload_examples },
    { "/_orrery/workload",            METHOD_DELETE, true,  false,  FOR_KEYS,    workload_delete },
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

static const struct endpoint explorer_files = { ASSET_FOLDER, METHOD_GET, false, false, FOR_ALL, explorer };

const struct endpoint *endpoint_find(const struct route_options *options, const struct request *request)
{
    enum method method = request->method == METHOD_HEAD ? METHOD_GET : request->method;
    bool is_own =
        slice_starts_with(request->target, "/_"); /* as all of the table's are, and hardly any other */

    for (size_t i = 0; is_own && i < sizeof(endpoints) / sizeof(endpoints[0]); i++)
        if (endpoints[i].method == method && matches(request->target, endpoints[i].path))
            return &endpoints[i];
    if (method == METHOD_GET && slice_starts_with(request->target, ASSET_FOLDER))
        return &explorer_files;
    return options->emulator ? find_of_emulators(request, method) : NULL;
}
