/* src/main/serve.c - start, wait for a signal, stop. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/limits.h"
#include "base/log.h"
#include "main/emulator.h"
#include "main/endpoint_file.h"
#include "main/ephemeral.h"
#include "main/identity.h"
#include "main/init.h"
#include "main/keyfile.h"
#include "main/listener.h"
#include "main/memory.h"
#include "main/serve.h"

struct server {
    const struct settings *settings;
    const char *ephemeral; /* the directory to remove at the end; NULL: none */
    struct auth *auth;
    struct file_watch key_watch;
    struct identity identity;
    struct audit *audit;
    struct observer *observer;
    struct now *now;
    struct engine *engine;
    struct listener *listener;
    int64_t give_back_ms; /* when memory is looked for that nobody needs */
};

/* --- the steps of starting --- */

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

static void print_addresses(const struct listener *listener)
{
    const char *address;

    for (size_t i = 0; (address = listener_address(listener, i)); i++)
        if (listener_has_tls(listener)) /* where plain http is refused, this machine's own is not */
            printf("listening on http://%s and https://%s\n", address, address);
        else
            printf("listening on http://%s\n", address);
    fflush(stdout);
}

/* After everything else that is said at the start. */
static void announce(const struct server *server)
{
    print_addresses(server->listener);
    if (!server->settings->emulator)
        return;
    emulator_leave_certificate(listener_certificate(server->listener));
    emulator_announce(listener_address(server->listener, 0));
}

/* A store in memory leaves nothing anyway, and one in PostgreSQL has no directory. */
static enum status make_directory(struct op *op, struct server *server, struct settings *settings)
{
    enum status st = ST_OK;

    if (!settings->ephemeral || !settings_has_directory(settings))
        goto out;
    TRY(ephemeral_make(op, &server->ephemeral));
    settings->data = server->ephemeral;
    log_line(LOG_INFO, "the data is in %s, until the server ends", server->ephemeral);
out:
    return st;
}

/* Of several the one with the plainest name: not every client can read an IPv6 address in a URL. */
static const char *plain_address(const struct listener *listener)
{
    const char *address;

    for (size_t i = 0; (address = listener_address(listener, i)); i++)
        if (address[0] != '[')
            return address;
    return listener_address(listener, 0);
}

static enum status open_now(struct op *op, struct server *server)
{
    server->now = now_open(env_system(), engine_account(server->engine));
    if (!server->now)
        return op_fail(op, ST_UNAVAILABLE, "out of memory");
    engine_watch(server->engine, now_heat(server->now));
    return ST_OK;
}

static enum status start(struct op *op, struct server *server, struct settings *settings)
{
    enum status st;

    if (settings->audit)
        TRY(audit_open(op, settings->audit, &server->audit));
    TRY(observer_open(op, settings, &server->observer));
    if (settings->write_endpoint)
        TRY(endpoint_file_clear(op, settings->write_endpoint));
    TRY(open_auth(op, server)); /* before anything is made on disk for a server that will not run */
    TRY(make_directory(op, server, settings));
    TRY(engine_open(op, server->settings, server->auth, &server->engine));
    TRY(open_now(op, server));
    if (settings->init)
        TRY(init_load(op, server->engine, settings->init));
    TRY(listener_open(op,
                      &(struct listener_options){ .settings = server->settings,
                                                  .engine = server->engine,
                                                  .auth = server->auth,
                                                  .audit = server->audit,
                                                  .observer = server->observer,
                                                  .now = server->now },
                      &server->listener));
    if (settings->write_endpoint)
        TRY(endpoint_file_write(op, settings->write_endpoint, plain_address(server->listener)));
    announce(server);
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
    op_begin(op, OP_TIMEOUT_MS);
    take_up_keys(op, server);
    if (identity_look(op, server->settings, server->auth, &server->identity))
        audit_note(server->audit, op, "roles", server->settings->jwks);
    audit_look(server->audit);
    engine_keep_house(op, server->engine);
    memory_give_back(env_monotonic_ms(op->env), &server->give_back_ms);
    listener_sample(server->listener);
}

/* Waits for SIGTERM or SIGINT, and does housekeeping meanwhile. */
static void wait_for_signal(struct op *op, struct server *server, const sigset_t *signals)
{
    const struct timespec pause = { .tv_nsec = ENGINE_PAUSE_MS * 1000000L };

    while (sigtimedwait(signals, NULL, &pause) < 0)
        keep_house(op, server);
}

static void stop(struct server *server)
{
    if (server->settings->write_endpoint && server->listener)
        endpoint_file_remove(server->settings->write_endpoint, plain_address(server->listener));
    listener_close(server->listener);
    now_close(server->now); /* before the account, which is the engine's */
    engine_close(server->engine);
    if (server->ephemeral)
        ephemeral_remove(server->ephemeral);
    auth_close(server->auth);
    audit_close(server->audit);
    observer_close(server->observer);
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

int serve(struct settings *settings)
{
    struct server server = { .settings = settings };
    struct op startup, housekeeping;
    sigset_t signals;
    enum status st;

    set_log_level(settings->log);
    log_set_json(strcmp(settings->log_format, "json") == 0);
    if (settings->emulator)
        emulator_log();
    signal(SIGPIPE, SIG_IGN);
    raise_file_limit();
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* threads inherit it: only this one waits for signals */
    op_init(&startup, env_system(), SIZE_MAX);
    op_init(&housekeeping, env_system(), OP_MEMORY_BYTES_MAX);
    st = start(&startup, &server, settings);
    if (st == ST_OK)
        wait_for_signal(&housekeeping, &server, &signals);
    else
        fprintf(stderr, "orrery: %s\n", startup.error ? startup.error : error_row(st)->code);
    stop(&server);
    op_free(&housekeeping);
    op_free(&startup);
    return st == ST_OK ? 0 : 1;
}
