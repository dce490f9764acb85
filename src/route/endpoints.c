/* src/route/endpoints.c - readiness, metrics, and the certificate for clients that want to trust it. */
#include <stdio.h>

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
    if (!store_is_writable(options->service->store))
        return op_fail(&exchange->op, ST_UNAVAILABLE, "The store takes no writes at the moment.");
    buf_text(&exchange->answer.body, "{\"ready\":true}");
    answer_text(exchange, "application/json");
    return ST_OK;
}

static enum status metrics_text(const struct route_options *options, const struct route_metrics *metrics,
                                struct exchange *exchange)
{
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

static const struct endpoint endpoints[] = {
    { "/_orrery/ready", false, ready },
    { "/_orrery/metrics", true, metrics_text },
    { "/_explorer/emulator.pem", true, certificate },
};

const struct endpoint *endpoint_find(const struct request *request)
{
    if (request->method != METHOD_GET && request->method != METHOD_HEAD)
        return NULL;
    for (size_t i = 0; i < sizeof(endpoints) / sizeof(endpoints[0]); i++)
        if (slice_is(request->target, endpoints[i].path))
            return &endpoints[i];
    return NULL;
}
