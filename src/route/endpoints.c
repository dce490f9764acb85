/* src/route/endpoints.c - readiness, metrics, the certificate for clients that want to trust it, backups, ranges, advice. */
#include <assert.h>
#include <stdio.h>

#include "json/binary_read.h"
#include "resource/advice.h"
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

/* Has an operator's command of resource/ do what the body asks for. */
static enum status run_command(const struct route_options *options, struct exchange *exchange,
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

static const struct endpoint endpoints[] = {
    { "/_orrery/ready", METHOD_GET, false, FOR_ALL, ready },
    { "/_orrery/metrics", METHOD_GET, true, FOR_METRICS, metrics_text },
    { "/_explorer/emulator.pem", METHOD_GET, true, FOR_ALL, certificate },
    { "/_orrery/backup", METHOD_POST, true, FOR_KEYS, backup },
    { "/_orrery/split", METHOD_POST, true, FOR_KEYS, split },
    { "/_orrery/merge", METHOD_POST, true, FOR_KEYS, merge },
    { "/_orrery/advise", METHOD_POST, true, FOR_KEYS, advise },
};

const struct endpoint *endpoint_find(const struct request *request)
{
    enum method method = request->method == METHOD_HEAD ? METHOD_GET : request->method;

    for (size_t i = 0; i < sizeof(endpoints) / sizeof(endpoints[0]); i++)
        if (endpoints[i].method == method && slice_is(request->target, endpoints[i].path))
            return &endpoints[i];
    return NULL;
}
