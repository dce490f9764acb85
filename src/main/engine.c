/* src/main/engine.c - a database is opened and closed: directory, store, catalog, scripts, housekeeping. */
#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/reserve.h"
#include "catalog/child.h"
#include "main/backup.h"
#include "main/engine.h"
#include "main/memory.h"
#include "partition/recover.h"
#include "query/computed.h"
#include "script/script.h"
#include "store/store.h"

struct engine {
    const struct settings *settings;
    struct account account; /* of all memory that clients can make grow */
    struct directory directory;
    struct store *store;
    struct catalog *catalog;
    struct ledger *ledger;
    struct locks *locks;
    struct hints *hints;
    struct scripts *scripts;
    char script_program[PATH_MAX];
    struct auth *auth;
    struct service service;
    struct housekeeping *housekeeping;
    bool has_directory;
};

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

static enum store_kind kind_of(const struct settings *settings)
{
    if (settings_in_postgres(settings))
        return STORE_POSTGRES;
    return settings_has_directory(settings) ? STORE_ROCKSDB : STORE_MEMORY;
}

static const char *place_of(const struct engine *engine)
{
    if (settings_in_postgres(engine->settings))
        return engine->settings->store;
    return engine->has_directory ? engine->directory.store : NULL;
}

static enum status open_store(struct op *op, struct engine *engine)
{
    const struct settings *settings = engine->settings;
    struct store_options options = {
        .kind = kind_of(settings),
        .directory = place_of(engine),
        .sync = strcmp(settings->durability, "sync") == 0,
        .cache_bytes = engine->has_directory ? (size_t)settings->cache_mb << 20 : 0,
        .threads = true,
        .entries = engine->has_directory ? ENTRIES_PACKED : ENTRIES_PLAIN,
    };
    enum status st;

    TRY(store_open(op, &options, &engine->store));
    TRY(catalog_open_with(op, engine->store, computed_value, &engine->catalog));
    catalog_join_account(engine->catalog, &engine->account);
    TRY(recover_index(op, engine->catalog));
    TRY(ledger_open(op, engine->store, &engine->ledger));
    engine->locks = locks_open();
    engine->hints = hints_open();
out:
    return st;
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

static void open_housekeeping(struct engine *engine)
{
    const struct settings *settings = engine->settings;

    engine->housekeeping = housekeeping_open(&(struct housekeeping_options){
        .catalog = engine->catalog,
        .ledger = engine->ledger,
        .transactions_kept_ms = 3600 * 1000 * (int64_t)settings->transaction_hours,
        .retention_ms = 3600 * 1000 * (int64_t)settings->change_retention_hours,
        .range_bytes_max = (uint64_t)settings->range_mb << 20,
    });
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

static void fill_service(struct engine *engine)
{
    const struct settings *settings = engine->settings;
    bool is_level;

    engine->service = (struct service){
        .env = env_system(),
        .store = engine->store,
        .catalog = engine->catalog,
        .ledger = engine->ledger,
        .locks = engine->locks,
        .hints = engine->hints,
        .scripts = engine->scripts,
        .range_units = (uint64_t)settings->range_units,
        .enforces_throughput = settings->enforce_throughput,
        .print_token = print_token,
        .token_context = engine->auth,
        .account = slice_of("orrery"), /* SDKs treat an account named localhost differently */
        .public_endpoint = public_endpoint(settings),
        .serves_direct = !settings->no_direct,
    };
    is_level = consistency_parse(slice_of(settings->consistency), &engine->service.consistency);
    assert(is_level); /* settings_read() has compared it with the same names */
}

static enum status open_parts(struct op *op, struct engine *engine)
{
    enum status st;

    TRY(open_directory(op, engine));
    open_account(engine);
    TRY(open_store(op, engine));
    TRY(open_scripts(op, engine));
    open_housekeeping(engine);
    fill_service(engine);
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
    st = open_parts(op, made);
    if (st == ST_OK)
        *engine = made;
    else
        engine_close(made);
    return st;
}

void engine_close(struct engine *engine)
{
    if (!engine)
        return;
    scripts_close(engine->scripts);
    housekeeping_close(engine->housekeeping);
    ledger_close(engine->ledger);
    catalog_close(engine->catalog);
    hints_close(engine->hints);
    locks_close(engine->locks);
    store_close(engine->store);
    if (engine->has_directory)
        directory_close(&engine->directory);
    free(engine);
    reserve_close();
}

void engine_keep_house(struct op *op, struct engine *engine)
{
    op_begin(op, OP_TIMEOUT_MS);
    housekeeping_run(op, engine->housekeeping);
}

struct service *engine_service(struct engine *engine)
{
    return &engine->service;
}

struct account *engine_account(struct engine *engine)
{
    return &engine->account;
}

const struct directory *engine_directory(const struct engine *engine)
{
    return engine->has_directory ? &engine->directory : NULL;
}

void engine_statistics(const struct engine *engine, struct statistics *statistics)
{
    statistics->store = engine->store;
    statistics->catalog = engine->catalog;
    statistics->ledger = engine->ledger;
    statistics->scripts = engine->scripts;
    statistics->housekeeping = engine->housekeeping;
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
    TRY(backup_make(op, &engine->directory, engine->store, engine->settings->backup_dir, target.data, &path));
    *made = slice_of(path);
out:
    return st;
}
