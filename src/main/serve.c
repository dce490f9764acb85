/* src/main/serve.c - start, wait for a signal, stop. */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "auth/auth.h"
#include "base/limits.h"
#include "base/log.h"
#include "catalog/catalog.h"
#include "catalog/child.h"
#include "housekeeping/housekeeping.h"
#include "http/certificate.h"
#include "http/http.h"
#include "main/backup.h"
#include "main/identity.h"
#include "main/keyfile.h"
#include "main/memory.h"
#include "main/serve.h"
#include "main/statistics.h"
#include "partition/recover.h"
#include "query/computed.h"
#include "reply/reply.h"
#include "rntbd/rntbd.h"
#include "route/route.h"
#include "script/script.h"
#include "store/store.h"

enum { PAUSE_MS = 400, HOST_NAME_SIZE = 256 }; /* a new key file takes two rounds: less than a second */

struct server {
    const struct settings *settings;
    struct account account; /* of all memory that clients can make grow */
    struct directory directory;
    struct store *store;
    struct catalog *catalog;
    struct locks *locks;
    struct hints *hints;
    struct scripts *scripts;
    char script_program[PATH_MAX];
    struct auth *auth;
    struct file_watch key_watch;
    struct identity identity;
    struct audit *audit;
    struct service service;
    struct housekeeping *housekeeping;
    struct router *router;
    struct http_server *http;
    char host_name[HOST_NAME_SIZE], public_name[HOST_NAME_SIZE];
    const char
        *names[SETTING_LIST_MAX + 2]; /* the machine's own, those of --host-name, that of --public-endpoint */
    size_t name_count;
    bool has_directory;
};

/* Adds the figures of the server's parts to the router's own, which are about requests. */
static void print_metrics(void *context, struct buf *out)
{
    const struct server *server = context;

    statistics_print(out, &(struct statistics){
                              .store = server->store,
                              .catalog = server->catalog,
                              .http = server->http,
                              .scripts = server->scripts,
                              .housekeeping = server->housekeeping,
                              .account = &server->account,
                          });
}

/* --- the steps of starting --- */

/* Clients that are sent to a name come by it, too. */
static void read_public_name(struct server *server)
{
    const char *name = strstr(server->settings->public_endpoint, "://") + 3;
    size_t size = strcspn(name, ":/");

    if (size > 0 && size < sizeof(server->public_name)) {
        memcpy(server->public_name, name, size);
        server->names[server->name_count++] = server->public_name;
    }
}

static void read_names(struct server *server)
{
    const struct setting_list *given = &server->settings->host_names;

    assert(server->name_count == 0);
    assert(given->count + 1 < sizeof(server->names) / sizeof(server->names[0])); /* and the machine's own */
    if (gethostname(server->host_name, sizeof(server->host_name) - 1) == 0 && server->host_name[0])
        server->names[server->name_count++] = server->host_name;
    for (size_t i = 0; i < given->count; i++)
        server->names[server->name_count++] = given->item[i];
    if (server->settings->public_endpoint)
        read_public_name(server);
}

/* The endpoint without a slash at its end, which the account's answer adds. */
static struct slice public_endpoint(const struct settings *settings)
{
    struct slice url = settings->public_endpoint ? slice_of(settings->public_endpoint) : (struct slice){ 0 };

    if (url.size && url.data[url.size - 1] == '/')
        url.size--;
    return url;
}

static enum status open_directory(struct op *op, struct server *server)
{
    const struct settings *settings = server->settings;
    enum status st = ST_OK;

    server->has_directory = strcmp(settings->store, "memory") != 0;
    if (server->has_directory)
        TRY(directory_open(op, settings->data, false, &server->directory));
    if (settings->tls_cert || settings->no_tls || !server->has_directory)
        goto out;
    TRY(certificate_ensure(op, server->directory.tls_cert, server->directory.tls_key, server->names,
                           server->name_count));
out:
    return st;
}

/* A store in memory has no caches. What it keeps there is the data itself, and is not on the account. */
static void open_account(struct server *server)
{
    const struct settings *settings = server->settings;
    struct claim fixed = { .account = &server->account, .holder = HOLDER_STORE };

    account_init(&server->account, (size_t)settings->memory_mb << 20);
    claim_anyway(&fixed, memory_fixed_bytes(server->has_directory ? settings->cache_mb : 0));
}

static enum status open_store(struct op *op, struct server *server)
{
    const struct settings *settings = server->settings;
    struct store_options options = {
        .kind = server->has_directory ? STORE_ROCKSDB : STORE_MEMORY,
        .directory = server->has_directory ? server->directory.store : NULL,
        .sync = strcmp(settings->durability, "sync") == 0,
        .cache_bytes = server->has_directory ? (size_t)settings->cache_mb << 20 : 0,
        .threads = true,
        .entries = server->has_directory ? ENTRIES_PACKED : ENTRIES_PLAIN,
    };
    enum status st;

    TRY(store_open(op, &options, &server->store));
    TRY(catalog_open_with(op, server->store, computed_value, &server->catalog));
    catalog_join_account(server->catalog, &server->account);
    TRY(recover_index(op, server->catalog));
    server->locks = locks_open();
    server->hints = hints_open();
out:
    return st;
}

/*
 * The program that runs scripts lies beside this one, or in libexec, where packages put programs that users do not
 * call.
 */
static void find_script_program(struct server *server)
{
    static const char *const places[] = { "%s/orrery-js", "%s/../libexec/orrery/orrery-js" };
    char folder[PATH_MAX - 64] = "";
    ssize_t size = readlink("/proc/self/exe", folder, sizeof(folder) - 1);

    if (server->settings->script_program) {
        snprintf(server->script_program, PATH_MAX, "%s", server->settings->script_program);
        return;
    }
    folder[size > 0 ? size : 0] = '\0';
    *(strrchr(folder, '/') ? strrchr(folder, '/') : folder) = '\0';
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(server->script_program, PATH_MAX, places[i], folder);
        if (access(server->script_program, X_OK) == 0)
            return;
    }
}

static enum status open_scripts(struct op *op, struct server *server)
{
    const struct settings *settings = server->settings;

    find_script_program(server);
    server->scripts = scripts_open(&(struct script_options){
        .env = env_system(),
        .program = server->script_program,
        .run_ms = settings->script_seconds * 1000,
        .memory_bytes = (size_t)settings->script_mb << 20,
        .children_max = (size_t)settings->script_children,
        .cores = (size_t)sysconf(_SC_NPROCESSORS_ONLN),
    });
    return server->scripts ? ST_OK : op_fail(op, ST_UNAVAILABLE, "out of memory");
}

static enum status open_auth(struct op *op, struct server *server)
{
    const struct settings *settings = server->settings;
    const char *list[AUTH_KEYS_MAX];
    struct key_texts keys;
    enum status st;

    TRY(keys_read(op, settings, &keys, &server->key_watch.used));
    if (keys_are_well_known(&keys) && !settings_only_loopback(&settings->listen))
        log_line(LOG_WARN,
                 "the well-known emulator key is in use: whoever reaches this address can do anything");
    keys_list(&keys, list);
    TRY(auth_open(op, list, AUTH_KEYS_MAX, &server->auth));
    TRY(identity_open(op, settings, server->auth, &server->identity));
out:
    explicit_bzero(&keys, sizeof(keys));
    return st;
}

/* Prints the token of a permission. resource/ may not call auth/ itself, so it gets this function. */
static void print_token(void *context, const struct grant *grant, struct buf *out)
{
    auth_print_token(context, grant, out);
}

static enum status make_backup(void *context, struct op *op, struct slice name, struct slice *made)
{
    struct server *server = context;
    struct buf target;
    const char *path;
    enum status st;

    assert(server->has_directory); /* otherwise the router has no way here */
    buf_init(&target, &op->arena);
    buf_slice(&target, name);
    buf_byte(&target, '\0');
    if (target.failed)
        TRY(op_fail(op, ST_TOO_LARGE, "The path is too long."));
    TRY(backup_make(op, &server->directory, server->store, server->settings->backup_dir, target.data, &path));
    *made = slice_of(path);
out:
    return st;
}

static void open_housekeeping(struct server *server)
{
    const struct settings *settings = server->settings;

    server->housekeeping = housekeeping_open(&(struct housekeeping_options){
        .catalog = server->catalog,
        .retention_ms = 3600 * 1000 * (int64_t)settings->change_retention_hours,
        .range_bytes_max = (uint64_t)settings->range_mb << 20,
    });
}

static void open_router(struct server *server)
{
    const struct settings *settings = server->settings;
    bool is_level;

    server->service = (struct service){
        .env = env_system(),
        .store = server->store,
        .catalog = server->catalog,
        .locks = server->locks,
        .hints = server->hints,
        .scripts = server->scripts,
        .range_units = (uint64_t)settings->range_units,
        .enforces_throughput = settings->enforce_throughput,
        .print_token = print_token,
        .token_context = server->auth,
        .account = slice_of("orrery"), /* SDKs treat an account named localhost differently */
        .public_endpoint = public_endpoint(settings),
        .serves_direct = !settings->no_direct,
    };
    is_level = consistency_parse(slice_of(settings->consistency), &server->service.consistency);
    assert(is_level); /* settings_read() has compared it with the same names */
    server->router = route_open(&(struct route_options){
        .service = &server->service,
        .auth = server->auth,
        .audit = server->audit,
        .guards_metrics = !settings_only_loopback(&settings->listen),
        .host_names = server->names,
        .host_name_count = server->name_count,
        .cors_origins = settings->cors_origins.item,
        .cors_origin_count = settings->cors_origins.count,
        .certificate_file = settings->no_tls     ? NULL
                            : settings->tls_cert ? settings->tls_cert
                                                 : server->directory.tls_cert,
        .print_metrics = print_metrics,
        .metrics_context = server,
        .backup = server->has_directory ? make_backup : NULL,
        .backup_context = server,
    });
}

/* Each may hold a small request without having shown a key: all together three quarters of the bodies' part. */
static size_t connections_max(const struct account *account)
{
    size_t room = account_share(account, HOLDER_BODIES) / 4 * 3 / HTTP_SMALL_BODY_BYTES;

    return room < HTTP_CONNECTIONS_MAX ? room : HTTP_CONNECTIONS_MAX;
}

static enum status open_http(struct op *op, struct server *server)
{
    const struct settings *settings = server->settings;
    bool tls = !settings->no_tls && (settings->tls_cert || server->has_directory);
    struct http_options options = {
        .listen = settings->listen.item,
        .listen_count = settings->listen.count,
        .tls_cert_file = !tls                 ? NULL
                         : settings->tls_cert ? settings->tls_cert
                                              : server->directory.tls_cert,
        .tls_key_file = !tls                ? NULL
                        : settings->tls_key ? settings->tls_key
                                            : server->directory.tls_key,
        .tls_only = tls && settings_tls_only(settings),
        .connections_max = connections_max(&server->account),
        .head_bytes_max = HTTP_HEAD_BYTES_MAX,
        .body_bytes_max = HTTP_BODY_BYTES_MAX,
        .account = &server->account,
        .idle_ms = HTTP_IDLE_MS,
        .request_ms = HTTP_REQUEST_MS,
        .env = env_system(),
        .direct = settings->no_direct ? NULL : &session_rntbd,
        .handler = route_handle,
        .admit = route_admit,
        .context = server->router,
        .write_error = reply_write_error,
    };

    return http_open(op, &options, &server->http);
}

static void print_addresses(const struct server *server, bool tls)
{
    const char *address;

    for (size_t i = 0; (address = http_address(server->http, i)); i++)
        if (tls) /* where plain http is refused, this machine's own is not */
            printf("listening on http://%s and https://%s\n", address, address);
        else
            printf("listening on http://%s\n", address);
    fflush(stdout);
}

static enum status start(struct op *op, struct server *server)
{
    enum status st;

    read_names(server);
    if (server->settings->audit)
        TRY(audit_open(op, server->settings->audit, &server->audit));
    TRY(open_auth(op, server)); /* before anything is made on disk for a server that will not run */
    TRY(open_directory(op, server));
    open_account(server);
    TRY(open_store(op, server));
    TRY(open_scripts(op, server));
    open_housekeeping(server);
    open_router(server);
    TRY(open_http(op, server));
    TRY(http_start(op, server->http));
    if (server->has_directory)
        directory_announce(&server->directory, http_address(server->http, 0));
    print_addresses(server,
                    !server->settings->no_tls && (server->settings->tls_cert || server->has_directory));
out:
    return st;
}

/* --- running and stopping --- */

/*
 * Reads a changed key file. When the file is no good, the keys stay as they are, and the log tells it once. No
 * request waits for this, and none that was let in is affected.
 */
static void take_up_keys(struct op *op, struct server *server)
{
    const struct settings *settings = server->settings;
    const char *list[AUTH_KEYS_MAX];
    struct key_texts keys;
    enum status st;

    if (!settings->key_file || !watched_look(settings->key_file, &server->key_watch))
        return;
    TRY(keys_read(op, settings, &keys, &server->key_watch.used));
    keys_list(&keys, list);
    TRY(auth_replace(op, server->auth, list, AUTH_KEYS_MAX));
    log_line(LOG_INFO, "the keys of %s are in use", settings->key_file);
    audit_note(server->audit, op, "keys", settings->key_file);
out:
    if (st != ST_OK)
        log_line(LOG_ERROR, "the keys stay as they are: %s", op->error);
    explicit_bzero(&keys, sizeof(keys));
}

static void keep_house(struct op *op, struct server *server)
{
    assert(server->auth);
    assert(server->housekeeping);
    op_begin(op, OP_TIMEOUT_MS);
    take_up_keys(op, server);
    if (identity_look(op, server->settings, server->auth, &server->identity))
        audit_note(server->audit, op, "roles", server->settings->jwks);
    audit_look(server->audit);
    housekeeping_run(op, server->housekeeping);
}

/* Waits for SIGTERM or SIGINT, and does housekeeping meanwhile. */
static void wait_for_signal(struct op *op, struct server *server, const sigset_t *signals)
{
    const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };

    while (sigtimedwait(signals, NULL, &pause) < 0)
        keep_house(op, server);
}

static void stop(struct server *server)
{
    if (server->http)
        http_stop(server->http, HTTP_DRAIN_MS);
    http_free(server->http);
    route_close(server->router);
    scripts_close(server->scripts);
    housekeeping_close(server->housekeeping);
    auth_close(server->auth);
    audit_close(server->audit);
    catalog_close(server->catalog);
    hints_close(server->hints);
    locks_close(server->locks);
    store_close(server->store);
    if (server->has_directory)
        directory_close(&server->directory);
}

static void set_log_level(const char *name)
{
    static const char *const names[] = { "error", "warn", "info", "debug" };

    for (int level = LOG_ERROR; level <= LOG_DEBUG; level++)
        if (strcmp(name, names[level]) == 0)
            log_set_level((enum log_level)level);
}

/* A connection is a descriptor, and so is a file of the store: the usual 1,024 are soon used up. */
static void raise_file_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        log_line(LOG_WARN, "cannot raise the limit of open files: %s", strerror(errno));
}

int serve(const struct settings *settings)
{
    struct server server = { .settings = settings, .directory.lock = -1 };
    struct op startup, housekeeping;
    sigset_t signals;
    enum status st;

    set_log_level(settings->log);
    signal(SIGPIPE, SIG_IGN);
    raise_file_limit();
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* threads inherit it: only this one waits for signals */
    op_init(&startup, env_system(), SIZE_MAX);
    op_init(&housekeeping, env_system(), OP_MEMORY_BYTES_MAX);
    st = start(&startup, &server);
    if (st == ST_OK)
        wait_for_signal(&housekeeping, &server, &signals);
    else
        fprintf(stderr, "orrery: %s\n", startup.error ? startup.error : error_row(st)->code);
    stop(&server);
    op_free(&housekeeping);
    op_free(&startup);
    return st == ST_OK ? 0 : 1;
}
