/* src/main/listener.c - an engine is put on the network: names, certificate, router, HTTP. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "http/certificate.h"
#include "http/http.h"
#include "main/listener.h"
#include "main/snapshots.h"
#include "reply/reply.h"
#include "rntbd/rntbd.h"

enum { HOST_NAME_SIZE = 256 };

struct listener {
    struct listener_options options;
    struct router *router;
    struct http_server *http;
    char host_name[HOST_NAME_SIZE], public_name[HOST_NAME_SIZE];
    const char
        *names[SETTING_LIST_MAX + 2]; /* the machine's own, those of --host-name, that of --public-endpoint */
    size_t name_count;
    const char *tls_cert, *tls_key; /* NULL: http only */
};

/* Adds the figures of the engine's parts to the router's own, which are about requests. */
static void print_metrics(void *context, struct buf *out)
{
    const struct listener *listener = context;
    struct statistics statistics = { .http = listener->http, .observer = listener->options.observer };

    engine_statistics(listener->options.engine, &statistics);
    statistics_print(out, &statistics);
}

static struct now_sources now_sources(const struct listener *listener)
{
    struct now_sources sources = { .statistics = { .http = listener->http,
                                                   .observer = listener->options.observer },
                                   .router = listener->router,
                                   .slow = observer_slow(listener->options.observer) };

    engine_statistics(listener->options.engine, &sources.statistics);
    return sources;
}

static void print_now(void *context, struct op *op, uint64_t since, struct buf *out)
{
    const struct listener *listener = context;
    struct now_sources sources = now_sources(listener);

    now_print(listener->options.now, op, &sources, since, out);
}

void listener_sample(struct listener *listener)
{
    struct gate *gate = engine_gate(listener->options.engine);
    struct now_sources sources;

    if (!gate_try_enter(gate))
        return; /* next time */
    sources = now_sources(listener);
    now_sample(listener->options.now, &sources);
    gate_leave(gate);
}

/* Clients that are sent to a name come by it, too. */
static void read_public_name(struct listener *listener)
{
    const char *name = strstr(listener->options.settings->public_endpoint, "://") + 3;
    size_t size = strcspn(name, ":/");

    if (size > 0 && size < sizeof(listener->public_name)) {
        memcpy(listener->public_name, name, size);
        listener->names[listener->name_count++] = listener->public_name;
    }
}

static void read_names(struct listener *listener)
{
    const struct setting_list *given = &listener->options.settings->host_names;

    assert(listener->name_count == 0);
    assert(given->count + 1 <
           sizeof(listener->names) / sizeof(listener->names[0])); /* and the machine's own */
    if (gethostname(listener->host_name, sizeof(listener->host_name) - 1) == 0 && listener->host_name[0])
        listener->names[listener->name_count++] = listener->host_name;
    for (size_t i = 0; i < given->count; i++)
        listener->names[listener->name_count++] = given->item[i];
    if (listener->options.settings->public_endpoint)
        read_public_name(listener);
}

/* For all names but the one that stands for any: a certificate for that would be one for every server. */
static enum status make_certificate(struct op *op, const struct listener *listener)
{
    const char *names[sizeof(listener->names) / sizeof(listener->names[0])];
    size_t count = 0;

    for (size_t i = 0; i < listener->name_count; i++)
        if (strcmp(listener->names[i], "*") != 0)
            names[count++] = listener->names[i];
    return certificate_ensure(op, listener->tls_cert, listener->tls_key, names, count);
}

/* The certificate that was given, or the one in the directory, which is made at its first start. */
static enum status find_certificate(struct op *op, struct listener *listener)
{
    const struct settings *settings = listener->options.settings;
    const struct directory *directory = engine_directory(listener->options.engine);
    enum status st = ST_OK;

    if (settings->no_tls || (!settings->tls_cert && !directory))
        goto out;
    listener->tls_cert = settings->tls_cert ? settings->tls_cert : directory->tls_cert;
    listener->tls_key = settings->tls_key ? settings->tls_key : directory->tls_key;
    if (!settings->tls_cert)
        TRY(make_certificate(op, listener));
out:
    return st;
}

/* Beyond loopback they need a token. It would protect nothing where everybody knows the key that it is made of. */
static bool guards_metrics(const struct listener *listener)
{
    const struct settings *settings = listener->options.settings;
    bool has_own_key = settings->key || settings->key_file;

    return !settings_only_loopback(&settings->listen) && !(settings->emulator && !has_own_key);
}

static void open_router(struct listener *listener)
{
    const struct settings *settings = listener->options.settings;
    struct engine *engine = listener->options.engine;

    listener->router = route_open(&(struct route_options){
        .service = engine_service(engine),
        .auth = listener->options.auth,
        .audit = listener->options.audit,
        .observe = listener->options.observer ? observer_see : NULL,
        .observe_context = listener->options.observer,
        .observe_after_us = observer_from_us(settings),
        .guards_metrics = guards_metrics(listener),
        .host_names = listener->names,
        .host_name_count = listener->name_count,
        .cors_origins = settings->cors_origins.item,
        .cors_origin_count = settings->cors_origins.count,
        .certificate_file = listener->tls_cert,
        .emulator = settings->emulator,
        .serves_explorer = !settings->no_explorer,
        .print_metrics = print_metrics,
        .metrics_context = listener,
        .print_now = listener->options.now ? print_now : NULL,
        .now_context = listener,
        .backup = engine_directory(engine) ? engine_backup : NULL,
        .backup_context = engine,
        .gate = engine_gate(engine),
        .run_alone = engine_run_alone,
        .alone_context = engine,
        .snapshots = &engine_snapshots,
        .snapshots_context = engine,
    });
}

/* Each may hold a small request without having shown a key: all together three quarters of the bodies' part. */
static size_t connections_max(const struct account *account)
{
    size_t room = account_share(account, HOLDER_BODIES) / 4 * 3 / HTTP_SMALL_BODY_BYTES;

    return room < HTTP_CONNECTIONS_MAX ? room : HTTP_CONNECTIONS_MAX;
}

static enum status open_http(struct op *op, struct listener *listener)
{
    const struct settings *settings = listener->options.settings;
    struct account *account = engine_account(listener->options.engine);
    struct http_options options = {
        .listen = settings->listen.item,
        .listen_count = settings->listen.count,
        .optional = settings->optional_listen.item,
        .optional_count = settings->optional_listen.count,
        .tls_cert_file = listener->tls_cert,
        .tls_key_file = listener->tls_key,
        .tls_only = listener->tls_cert && settings_tls_only(settings),
        .connections_max = connections_max(account),
        .head_bytes_max = HTTP_HEAD_BYTES_MAX,
        .body_bytes_max = HTTP_BODY_BYTES_MAX,
        .account = account,
        .idle_ms = HTTP_IDLE_MS,
        .request_ms = HTTP_REQUEST_MS,
        .env = env_system(),
        .direct = settings->no_direct ? NULL : &session_rntbd,
        .handler = route_handle,
        .admit = route_admit,
        .context = listener->router,
        .write_error = reply_write_error,
    };

    return http_open(op, &options, &listener->http);
}

static enum status open_parts(struct op *op, struct listener *listener)
{
    const struct directory *directory = engine_directory(listener->options.engine);
    enum status st;

    read_names(listener);
    TRY(find_certificate(op, listener));
    open_router(listener);
    TRY(open_http(op, listener));
    TRY(http_start(op, listener->http));
    if (directory)
        directory_announce(directory, http_address(listener->http, 0));
out:
    return st;
}

enum status listener_open(struct op *op, const struct listener_options *options, struct listener **listener)
{
    struct listener *made = calloc(1, sizeof(*made));
    enum status st;

    *listener = NULL;
    if (!made)
        return op_fail(op, ST_UNAVAILABLE, "out of memory");
    made->options = *options;
    st = open_parts(op, made);
    if (st == ST_OK)
        *listener = made;
    else
        listener_close(made);
    return st;
}

void listener_close(struct listener *listener)
{
    if (!listener)
        return;
    if (listener->http)
        http_stop(listener->http, HTTP_DRAIN_MS);
    http_free(listener->http);
    route_close(listener->router);
    free(listener);
}

const char *listener_address(const struct listener *listener, size_t index)
{
    return http_address(listener->http, index);
}

const char *listener_certificate(const struct listener *listener)
{
    return listener->tls_cert;
}

bool listener_has_tls(const struct listener *listener)
{
    return listener->tls_cert;
}
