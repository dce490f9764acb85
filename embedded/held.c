/*
 * embedded/held.c - the databases that are open in this process, each with the clients that hold it counted.
 * The list of them is the only state that this library keeps for a whole process: two clients that open one directory know
 * nothing of each other, and must get one database.
 */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/encode.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/reserve.h"
#include "base/thread.h"
#include "embedded/errand.h"
#include "embedded/held.h"
#include "embedded/place.h"
#include "main/keyfile.h"
#include "main/listener.h"
#include "main/memory.h"
#include "main/snapshots.h"

struct held {
    struct held *next;
    size_t holds;
    struct settings settings;
    char directory[PATH_MAX], script_program[PATH_MAX];
    dev_t device; /* which directory it is, however it is spelled */
    ino_t inode;
    struct op op; /* what opening allocated; the engine's paths lie there */
    struct auth *auth;
    struct engine *engine;
    struct router *router;

    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t wake;
    bool stopping, has_keeper;
    pthread_t keeper;
    struct pool *pool; /* NULL until somebody needs it */

    pthread_mutex_t listener_mutex; /* guards what follows, and is held as long as it takes */
    struct listener *listener;
    struct settings listening; /* the listener's, and the op that opened it */
    struct op listener_op;
};

static pthread_mutex_t list_mutex =
    PTHREAD_MUTEX_INITIALIZER; /* also held while a database is opened or closed */
static struct held *list;
static pthread_once_t log_once = PTHREAD_ONCE_INIT;

/* --- small things --- */

static void log_nothing(void)
{
    log_set_sink(NULL, NULL);
}

void held_log_to(held_log *log, void *context, int level)
{
    static_assert(sizeof(enum log_level) == sizeof(int));
    pthread_once(&log_once, log_nothing); /* not later, over this one */
    log_set_level((enum log_level)(level < LOG_ERROR ? LOG_ERROR : level > LOG_DEBUG ? LOG_DEBUG : level));
    log_set_sink((log_sink *)(void *)log, context);
}

void held_block_signals(sigset_t *before)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

void held_unblock_signals(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

static void say(char why[HELD_WHY_SIZE], const char *words)
{
    snprintf(why, HELD_WHY_SIZE, "%s", words);
}

static void say_of(char why[HELD_WHY_SIZE], const struct op *op, enum status st)
{
    say(why, op->error ? op->error : error_row(st)->code);
}

struct router *held_router(struct held *held)
{
    return held->router;
}

struct account *held_account(struct held *held)
{
    return engine_account(held->engine);
}

/* --- housekeeping --- */

/* True when it is time to end. */
static bool pause_between(struct held *held)
{
    struct timespec until;
    bool stopping;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ENGINE_PAUSE_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&held->mutex);
    while (!held->stopping && pthread_cond_timedwait(&held->wake, &held->mutex, &until) != ETIMEDOUT)
        ;
    stopping = held->stopping;
    pthread_mutex_unlock(&held->mutex);
    return stopping;
}

static void *keep_house(void *context)
{
    struct held *held = context;
    struct op op;

    op_init(&op, env_system(), OP_MEMORY_BYTES_MAX);
    while (!pause_between(held))
        engine_keep_house(&op, held->engine);
    op_free(&op);
    return NULL;
}

static void stop_keeper(struct held *held)
{
    if (!held->has_keeper)
        return;
    pthread_mutex_lock(&held->mutex);
    held->stopping = true;
    pthread_cond_signal(&held->wake);
    pthread_mutex_unlock(&held->mutex);
    pthread_join(held->keeper, NULL);
}

/* --- opening --- */

/* Nobody signs inside the program. Whoever listens later gives the account's own key. */
static enum status open_auth(struct op *op, struct held *held)
{
    uint8_t secret[AUTH_KEY_BYTES];
    struct buf text;
    const char *keys[AUTH_KEYS_MAX] = { NULL };
    enum status st;

    env_secret(env_system(), secret, sizeof(secret));
    buf_init(&text, &op->arena);
    base64_encode(&text, slice_make(secret, sizeof(secret)));
    buf_byte(&text, '\0');
    explicit_bzero(secret, sizeof(secret));
    if (text.failed)
        return op_fail(op, ST_UNAVAILABLE, "out of memory");
    keys[AUTH_PRIMARY] = text.data;
    st = auth_open(op, keys, AUTH_KEYS_MAX, &held->auth);
    explicit_bzero(text.data, text.size);
    return st;
}

static enum status start_keeper(struct op *op, struct held *held)
{
    held->has_keeper = pthread_create(&held->keeper, NULL, keep_house, held) == 0;
    return held->has_keeper ? ST_OK : op_fail(op, ST_UNAVAILABLE, "no thread can be started");
}

static enum status open_parts(struct held *held)
{
    struct op *op = &held->op;
    enum status st;

    TRY(open_auth(op, held));
    TRY(engine_open(op, &held->settings, held->auth, &held->engine));
    held->router = route_open(&(struct route_options){ .service = engine_service(held->engine),
                                                       .auth = held->auth,
                                                       .trusts_all = true,
                                                       .backup = held->settings.data ? engine_backup : NULL,
                                                       .backup_context = held->engine,
                                                       .gate = engine_gate(held->engine),
                                                       .run_alone = engine_run_alone,
                                                       .alone_context = held->engine,
                                                       .snapshots = &engine_snapshots,
                                                       .snapshots_context = held->engine });
    TRY(start_keeper(op, held));
out:
    return st;
}

static void close_parts(struct held *held)
{
    held_listen_end(held);
    stop_keeper(held);
    pool_close(held->pool);
    route_close(held->router);
    engine_close(held->engine);
    auth_close(held->auth);
    op_free(&held->op);
    pthread_cond_destroy(&held->wake);
    pthread_mutex_destroy(&held->listener_mutex);
    pthread_mutex_destroy(&held->mutex);
    free(held);
    reserve_close();
}

static struct held *new_held(void)
{
    struct held *held = calloc(1, sizeof(*held));
    pthread_condattr_t monotonic;

    if (!held)
        return NULL;
    if (!reserve_open()) {
        free(held);
        return NULL;
    }
    op_init(&held->op, env_system(), SIZE_MAX);
    pthread_mutex_init(&held->mutex, NULL);
    pthread_mutex_init(&held->listener_mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&held->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return held;
}

/* What the server would be told by flags. NULL, or what is wrong with it. */
static const char *fill_settings(struct held *held, const struct held_settings *given)
{
    struct settings *settings = &held->settings;

    if (given->cache_mb < 0 || given->memory_mb < 0 || given->cache_mb > SETTING_NUMBER_MAX ||
        given->memory_mb > SETTING_NUMBER_MAX)
        return "cache_mb and memory_mb are numbers from 1 to 1,000,000, or 0";
    settings_default(settings);
    settings->store = given->directory ? "rocksdb" : "memory";
    settings->data = given->directory ? held->directory : NULL;
    settings->durability = given->async ? "async" : "sync";
    settings->cache_mb = given->cache_mb;
    settings->memory_mb = given->memory_mb;
    if (place_script_program(given->script_program, held->script_program, PATH_MAX))
        settings->script_program = held->script_program;
    return memory_settle(settings, memory_available_mb());
}

/* The directory as it is from the root on: the program may go elsewhere, and its data may not. */
static bool find_directory(struct held *held, const char *path, char why[HELD_WHY_SIZE])
{
    struct stat info;

    if ((mkdir(path, 0700) != 0 && errno != EEXIST) || !realpath(path, held->directory) ||
        stat(held->directory, &info) != 0) {
        snprintf(why, HELD_WHY_SIZE, "cannot use %s: %s", path, strerror(errno));
        return false;
    }
    held->device = info.st_dev;
    held->inode = info.st_ino;
    return true;
}

static enum held_outcome outcome_of(struct held *held, enum status st, char why[HELD_WHY_SIZE])
{
    char address[DIRECTORY_ADDRESS_SIZE];
    const char *path = held->settings.data;

    if (st == ST_OK)
        return HELD_OK;
    if (st == ST_NO_MEMORY)
        return HELD_NO_MEMORY;
    say_of(why, &held->op, st);
    if (!path || !directory_is_held(&held->op, path, address))
        return HELD_FAILED;
    snprintf(why, HELD_WHY_SIZE, "another process has %s open%s%s", path, *address ? ": it listens on " : "",
             address);
    return HELD_BUSY;
}

static enum held_outcome open_held(const struct held_settings *settings, struct held *held,
                                   char why[HELD_WHY_SIZE])
{
    const char *wrong = fill_settings(held, settings);
    enum held_outcome outcome;
    sigset_t before;

    if (wrong) {
        say(why, wrong);
        return HELD_WRONG;
    }
    held_block_signals(&before);
    outcome = outcome_of(held, open_parts(held), why);
    held_unblock_signals(&before);
    return outcome;
}

static struct held *find_held(const char *directory)
{
    struct held *held = list;
    struct stat info;

    if (!directory || stat(directory, &info) != 0)
        return NULL;
    while (held && !(held->settings.data && held->device == info.st_dev && held->inode == info.st_ino))
        held = held->next;
    return held;
}

static enum held_outcome take(const struct held_settings *settings, struct held **taken,
                              char why[HELD_WHY_SIZE])
{
    struct held *held = find_held(settings->directory);
    enum held_outcome outcome = HELD_OK;

    if (held) {
        held->holds++;
        *taken = held;
        return HELD_OK;
    }
    held = new_held();
    if (!held)
        return HELD_NO_MEMORY;
    outcome = settings->directory && !find_directory(held, settings->directory, why)
                  ? HELD_FAILED
                  : open_held(settings, held, why);
    if (outcome != HELD_OK) {
        close_parts(held);
        return outcome;
    }
    held->holds = 1;
    held->next = list;
    list = *taken = held;
    return HELD_OK;
}

enum held_outcome held_take(const struct held_settings *settings, struct held **held, char why[HELD_WHY_SIZE])
{
    enum held_outcome outcome;

    why[0] = '\0';
    pthread_once(&log_once, log_nothing);
    pthread_mutex_lock(&list_mutex);
    outcome = take(settings, held, why);
    pthread_mutex_unlock(&list_mutex);
    return outcome;
}

struct held *held_share(struct held *held)
{
    pthread_mutex_lock(&list_mutex);
    assert(held->holds > 0);
    held->holds++;
    pthread_mutex_unlock(&list_mutex);
    return held;
}

void held_release(struct held *held)
{
    struct held **at = &list;

    if (!held)
        return;
    pthread_mutex_lock(&list_mutex);
    assert(held->holds > 0);
    held->holds--;
    if (held->holds == 0) {
        while (*at != held)
            at = &(*at)->next;
        *at = held->next;
        close_parts(held); /* under the lock: whoever opens the directory next finds it closed */
    }
    pthread_mutex_unlock(&list_mutex);
}

/* --- work that may wait, and that nobody waits for --- */

static struct pool *open_pool(void)
{
    return pool_open(&(struct pool_limits){
        .threads = POOL_THREADS_MAX,
        .class = { [CLASS_QUICK] = { POOL_THREADS_MAX, POOL_QUEUE_MAX },
                   [CLASS_SCANS] = { POOL_SLOW_THREADS_MIN, POOL_SLOW_QUEUE_MAX },
                   [CLASS_SCRIPTS] = { POOL_SCRIPT_THREADS_MAX, POOL_SCRIPT_QUEUE_MAX } },
        .kept = POOL_THREADS_KEPT,
        .idle_ms = POOL_IDLE_MS,
        .slow_ms = POOL_SLOW_MS,
        .slow_nice = POOL_SLOW_NICE });
}

bool held_submit(struct held *held, struct pool_task *task)
{
    sigset_t before;
    bool taken;

    pthread_mutex_lock(&held->mutex);
    if (!held->pool)
        held->pool = open_pool();
    pthread_mutex_unlock(&held->mutex);
    if (!held->pool)
        return false;
    held_block_signals(&before);
    taken = pool_submit(held->pool, task);
    held_unblock_signals(&before);
    return taken;
}

/* --- listening --- */

static const char *keep(struct op *op, const char *text)
{
    return text ? arena_text(&op->arena, slice_of(text)) : NULL;
}

static void fill_listening(struct held *held, const struct held_listen *given)
{
    struct settings *settings = &held->listening;
    struct op *op = &held->listener_op;

    *settings = held->settings;
    settings->listen = (struct setting_list){ .item = { keep(op, given->address) }, .count = 1 };
    settings->key = keep(op, given->key);
    settings->tls_cert = keep(op, given->tls_cert);
    settings->tls_key = keep(op, given->tls_key);
    settings->no_tls = given->no_tls;
}

/* The account's key takes the place of the one that nobody knows. */
static enum status take_up_key(struct op *op, struct held *held)
{
    const char *keys[AUTH_KEYS_MAX];
    struct file_stamp stamp;
    struct key_texts texts;
    enum status st;

    TRY(keys_read(op, &held->listening, &texts, &stamp));
    keys_list(&texts, keys);
    TRY(auth_replace(op, held->auth, keys, AUTH_KEYS_MAX));
out:
    explicit_bzero(&texts, sizeof(texts));
    return st;
}

static enum status open_listener(struct op *op, struct held *held)
{
    struct listener_options options = { .settings = &held->listening,
                                        .engine = held->engine,
                                        .auth = held->auth };
    enum status st;

    TRY(take_up_key(op, held));
    TRY(listener_open(op, &options, &held->listener));
out:
    return st;
}

static enum held_outcome listen_to(struct held *held, const struct held_listen *settings,
                                   char why[HELD_WHY_SIZE])
{
    struct op *op = &held->listener_op;
    sigset_t before;
    enum status st;

    if (held->listener) {
        say(why, "it listens already");
        return HELD_BUSY;
    }
    op_init(op, env_system(), SIZE_MAX);
    fill_listening(held, settings);
    held_block_signals(&before);
    st = open_listener(op, held);
    held_unblock_signals(&before);
    if (st == ST_OK)
        return HELD_OK;
    say_of(why, op, st);
    op_free(op);
    return HELD_FAILED;
}

enum held_outcome held_listen(struct held *held, const struct held_listen *settings, const char **address,
                              char why[HELD_WHY_SIZE])
{
    enum held_outcome outcome;

    why[0] = '\0';
    pthread_mutex_lock(&held->listener_mutex);
    outcome = listen_to(held, settings, why);
    *address = held->listener ? listener_address(held->listener, 0) : NULL;
    pthread_mutex_unlock(&held->listener_mutex);
    return outcome;
}

void held_listen_end(struct held *held)
{
    struct listener *listener;

    pthread_mutex_lock(&held->listener_mutex);
    listener = held->listener;
    held->listener = NULL;
    listener_close(listener);
    if (listener)
        op_free(&held->listener_op);
    pthread_mutex_unlock(&held->listener_mutex);
}
