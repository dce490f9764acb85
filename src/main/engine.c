/* src/main/engine.c - a database is opened and closed: directory, store, catalog, scripts, housekeeping. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/reserve.h"
#include "main/backup.h"
#include "main/engine_private.h"
#include "main/memory.h"
#include "script/script.h"

static enum status open_directory(struct op *op, struct engine *engine)
{
    engine->has_directory = settings_has_directory(engine->settings);
    return engine->has_directory ? directory_open(op, engine->settings->data, false, &engine->directory)
                                 : ST_OK;
}

/* A store without a directory has no caches. What it keeps there is the data itself, and is not on the account. */
static void open_account(struct engine *engine)
{
    const struct settings *settings = engine->settings;
    struct claim fixed = { .account = &engine->account, .holder = HOLDER_STORE };

    account_init(&engine->account, (size_t)settings->memory_mb << 20);
    claim_anyway(&fixed, memory_fixed_bytes(engine->has_directory ? settings->cache_mb : 0));
}

/*
 * The program that runs scripts lies beside this one, or in libexec, where packages put programs that users do not
 * call.
 */
static void find_script_program(struct engine *engine)
{
    static const char *const places[] = { "%s/orrery-js", "%s/../libexec/orrery/orrery-js" };
    char folder[PATH_MAX - 64] = "";
    ssize_t size = readlink("/proc/self/exe", folder, sizeof(folder) - 1);

    if (engine->settings->script_program) {
        snprintf(engine->script_program, PATH_MAX, "%s", engine->settings->script_program);
        return;
    }
    folder[size > 0 ? size : 0] = '\0';
    *(strrchr(folder, '/') ? strrchr(folder, '/') : folder) = '\0';
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(engine->script_program, PATH_MAX, places[i], folder);
        if (access(engine->script_program, X_OK) == 0)
            return;
    }
}

static enum status open_scripts(struct op *op, struct engine *engine)
{
    const struct settings *settings = engine->settings;

    find_script_program(engine);
    engine->scripts = scripts_open(&(struct script_options){
        .env = env_system(),
        .program = engine->script_program,
        .run_ms = settings->script_seconds * 1000,
        .memory_bytes = (size_t)settings->script_mb << 20,
        .children_max = (size_t)settings->script_children,
        .cores = (size_t)sysconf(_SC_NPROCESSORS_ONLN),
    });
    return engine->scripts ? ST_OK : op_fail(op, ST_UNAVAILABLE, "out of memory");
}

/* Prints the token of a permission. resource/ may not call auth/ itself, so it gets this function. */
static void print_token(void *context, const struct grant *grant, struct buf *out)
{
    auth_print_token(context, grant, out);
}

/* The endpoint without a slash at its end, which the account's answer adds. */
static struct slice public_endpoint(const struct settings *settings)
{
    struct slice url = settings->public_endpoint ? slice_of(settings->public_endpoint) : (struct slice){ 0 };

    if (url.size && url.data[url.size - 1] == '/')
        url.size--;
    return url;
}

void engine_describe(const struct engine *engine, const struct opened *opened, struct service *service)
{
    const struct settings *settings = engine->settings;
    bool is_level;

    *service = (struct service){
        .env = env_system(),
        .store = opened->store,
        .catalog = opened->catalog,
        .ledger = opened->ledger,
        .locks = opened->locks,
        .hints = opened->hints,
        .scripts = engine->scripts,
        .workload = engine->recorded.workload,
        .range_units = (uint64_t)settings->range_units,
        .enforces_throughput = settings->enforce_throughput,
        .print_token = print_token,
        .token_context = engine->auth,
        .account = slice_of("orrery"), /* SDKs treat an account named localhost differently */
        .public_endpoint = public_endpoint(settings),
        .direct_endpoint =
            settings->direct_endpoint ? slice_of(settings->direct_endpoint) : (struct slice){ 0 },
        .serves_direct = !settings->no_direct,
        .plans_from_us = engine->heat ? observer_from_us(settings) : 0,
        .heat = engine->heat,
    };
    is_level = consistency_parse(slice_of(settings->consistency), &service->consistency);
    assert(is_level); /* settings_read() has compared it with the same names */
}

/* What requests work on. */
static void describe_service(struct engine *engine)
{
    engine_describe(engine, &engine->opened, &engine->service);
    engine->service.trials = &engine->trials;
}

void engine_use(struct engine *engine, const struct opened *opened)
{
    engine->opened = *opened;
    describe_service(engine);
    if (engine->service.direct_endpoint.size)
        store_announce(opened->store, engine->service.direct_endpoint);
}

static enum status open_parts(struct op *op, struct engine *engine)
{
    struct opened opened;
    enum status st;

    TRY(open_directory(op, engine));
    open_account(engine);
    recorded_open(op, engine->settings, &engine->account, engine->has_directory ? &engine->directory : NULL,
                  &engine->recorded);
    TRY(open_scripts(op, engine));
    TRY(opened_open(op,
                    &(struct opened_with){ .settings = engine->settings,
                                           .account = &engine->account,
                                           .folder = engine->has_directory ? engine->directory.store : NULL },
                    &opened));
    engine_use(engine, &opened);
    if (engine->has_directory)
        snapshots_clear(op, engine);
out:
    return st;
}

enum status engine_open(struct op *op, const struct settings *settings, struct auth *auth,
                        struct engine **engine)
{
    struct engine *made = calloc(1, sizeof(*made));
    enum status st;

    *engine = NULL;
    if (!made)
        return op_fail(op, ST_UNAVAILABLE, "out of memory");
    made->settings = settings;
    made->auth = auth;
    made->directory.lock = -1;
    if (!reserve_open()) {
        free(made);
        return op_fail_as(op, ST_NO_MEMORY);
    }
    gate_init(&made->gate);
    pthread_mutex_init(&made->changing, NULL);
    st = open_parts(op, made);
    if (st == ST_OK)
        *engine = made;
    else
        engine_close(made);
    return st;
}

static void close_record(struct engine *engine)
{
    struct op op;

    op_init(&op, env_system(), OP_MEMORY_BYTES_MAX);
    recorded_close(&op, &engine->recorded);
    op_free(&op);
}

void engine_close(struct engine *engine)
{
    if (!engine)
        return;
    close_record(engine);
    scripts_close(engine->scripts);
    snapshots_close(engine);
    opened_close(&engine->opened);
    snapshots_settle(engine);
    if (engine->has_directory)
        directory_close(&engine->directory);
    pthread_mutex_destroy(&engine->changing);
    gate_free(&engine->gate);
    free(engine);
    reserve_close();
}

void engine_keep_house(struct op *op, struct engine *engine)
{
    op_begin(op, OP_TIMEOUT_MS);
    if (!gate_try_enter(&engine->gate))
        return; /* it has other things to do */
    housekeeping_run(op, engine->opened.housekeeping);
    op_begin(op, OP_TIMEOUT_MS);
    recorded_save(op, &engine->recorded);
    gate_leave(&engine->gate);
}

enum status engine_run_alone(void *context, struct op *op, route_command *command, struct json wanted,
                             struct buf *answer)
{
    struct engine *engine = context;
    enum status st;

    pthread_mutex_lock(&engine->changing);
    gate_close(&engine->gate);
    st = command(op, &engine->service, wanted, answer);
    gate_open(&engine->gate);
    pthread_mutex_unlock(&engine->changing);
    return st;
}

struct gate *engine_gate(struct engine *engine)
{
    return &engine->gate;
}

struct service *engine_service(struct engine *engine)
{
    return &engine->service;
}

struct account *engine_account(struct engine *engine)
{
    return &engine->account;
}

void engine_watch(struct engine *engine, struct heat *heat)
{
    engine->heat = heat;
    describe_service(engine);
}

const struct directory *engine_directory(const struct engine *engine)
{
    return engine->has_directory ? &engine->directory : NULL;
}

void engine_statistics(const struct engine *engine, struct statistics *statistics)
{
    statistics->store = engine->opened.store;
    statistics->catalog = engine->opened.catalog;
    statistics->ledger = engine->opened.ledger;
    statistics->scripts = engine->scripts;
    statistics->housekeeping = engine->opened.housekeeping;
    statistics->account = &engine->account;
}

enum status engine_backup(void *context, struct op *op, struct slice name, struct slice *made)
{
    struct engine *engine = context;
    struct buf target;
    const char *path;
    enum status st;

    assert(engine->has_directory); /* otherwise no router has a way here */
    buf_init(&target, &op->arena);
    buf_slice(&target, name);
    buf_byte(&target, '\0');
    if (target.failed)
        TRY(op_fail(op, ST_TOO_LARGE, "The path is too long."));
    TRY(backup_make(op, &engine->directory, engine->opened.store, engine->settings->backup_dir, target.data,
                    &path));
    *made = slice_of(path);
out:
    return st;
}
