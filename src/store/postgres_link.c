/* src/store/postgres_link.c - libpq: connections, statements in a pipeline, answers in binary form. */
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/log.h"
#include "keys/bytes.h"
#include "store/postgres_link.h"

/* How long a single answer may take. What takes longer is taken for a lost connection. */
enum { ANSWER_MS_MAX = 30 * 1000, PARAMS_MAX = 260, ERROR_BYTES = 512 };

/* What the server will answer next: one for each message that was sent. */
enum expected { EXPECT_PREPARED, EXPECT_ANSWER, EXPECT_SYNC };

struct expectation_of_link {
    enum expected kind;
    enum sql sql;
};

struct link {
    PGconn *connection;
    _Atomic int64_t *heard_ms;
    bool lost;
    bool prepared[SQL_COUNT];
    struct expectation_of_link *expected; /* those from `first` on are to come */
    size_t first, count, capacity;
    size_t left_syncs; /* so many round trips are passed over before the next answer is taken */
    char state[6], error[ERROR_BYTES];
};

/* ---- the library ---- */

#define PQ_FUNCTIONS(F)     \
    F(PQclear)              \
    F(PQcmdTuples)          \
    F(PQconnectdbParams)    \
    F(PQconninfoFree)       \
    F(PQconninfoParse)      \
    F(PQconsumeInput)       \
    F(PQenterPipelineMode)  \
    F(PQerrorMessage)       \
    F(PQexitPipelineMode)   \
    F(PQfformat)            \
    F(PQfinish)             \
    F(PQflush)              \
    F(PQgetResult)          \
    F(PQgetlength)          \
    F(PQgetvalue)           \
    F(PQisBusy)             \
    F(PQntuples)            \
    F(PQpipelineSync)       \
    F(PQresultErrorField)   \
    F(PQresultErrorMessage) \
    F(PQresultStatus)       \
    F(PQsendPrepare)        \
    F(PQsendQuery)          \
    F(PQsendQueryPrepared)  \
    F(PQsetnonblocking)     \
    F(PQsocket)             \
    F(PQstatus)

/* Opened by whoever opens a store in PostgreSQL: no other server loads it, nor the many libraries that it brings. */
static struct {
#define MEMBER(name) typeof(name) *name;
    PQ_FUNCTIONS(MEMBER)
#undef MEMBER
    bool ready;
    char failure[ERROR_BYTES];
} pq;

static void load_library(void)
{
    static const char *const names[] = { "libpq.so.5", "libpq.5.dylib" };
    void *library = NULL;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !library; i++) {
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (!library && i == 0)
            snprintf(pq.failure, sizeof(pq.failure), "%s", dlerror());
    }
    pq.ready = library != NULL;
#define LOAD(name)                                                                             \
    if (pq.ready && !(pq.name = (typeof(pq.name))dlsym(library, #name))) {                     \
        snprintf(pq.failure, sizeof(pq.failure), "it has no " #name ": version 14 is needed"); \
        pq.ready = false;                                                                      \
    }
    PQ_FUNCTIONS(LOAD)
#undef LOAD
}

enum status link_library(struct op *op)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load_library);
    if (pq.ready)
        return ST_OK;
    return op_fail(op, ST_NOT_BUILT, "A store in PostgreSQL needs the library libpq: %s", pq.failure);
}

/* ---- a connection ---- */

static void note_error(struct link *link, const char *state, const char *text)
{
    snprintf(link->state, sizeof(link->state), "%s", state ? state : "");
    snprintf(link->error, sizeof(link->error), "%s", text && text[0] ? text : "no reason given");
    link->error[strcspn(link->error, "\n")] = '\0';
}

static void note_lost(struct link *link)
{
    if (!link->lost)
        note_error(link, "", pq.PQerrorMessage(link->connection));
    link->lost = true;
}

/* ---- several hosts ---- */

/* The lists that a text may have, a place for each host. */
enum { LISTS = 3, LIST_BYTES = 2048 };
static const char *const list_names[LISTS] = { "host", "hostaddr", "port" };

struct hosts {
    char list[LISTS][LIST_BYTES]; /* empty: the text says nothing */
    size_t count;
};

static size_t places_in(const char *list)
{
    size_t count = list[0] != '\0';

    for (; *list; list++)
        count += *list == ',';
    return count;
}

static void read_hosts(const char *where, struct hosts *hosts)
{
    PQconninfoOption *options = pq.PQconninfoParse(where, NULL);

    *hosts = (struct hosts){ .count = 1 };
    for (const PQconninfoOption *each = options; each && each->keyword; each++)
        for (size_t i = 0; i < LISTS; i++)
            if (strcmp(each->keyword, list_names[i]) == 0 && each->val && strlen(each->val) < LIST_BYTES)
                snprintf(hosts->list[i], LIST_BYTES, "%s", each->val);
    if (places_in(hosts->list[0]) > 1)
        hosts->count = places_in(hosts->list[0]);
    else if (places_in(hosts->list[1]) > 1)
        hosts->count = places_in(hosts->list[1]);
    pq.PQconninfoFree(options);
}

size_t link_hosts(const char *where)
{
    struct hosts hosts;

    read_hosts(where, &hosts);
    return hosts.count;
}

/* "a,b,c" becomes "b,c,a". A list with one place is for all hosts, and stays. */
static void turn(char list[LIST_BYTES])
{
    const char *rest = strchr(list, ',');
    char turned[LIST_BYTES];

    if (!rest)
        return;
    snprintf(turned, sizeof(turned), "%s,%.*s", rest + 1, (int)(rest - list), list);
    snprintf(list, LIST_BYTES, "%s", turned);
}

/* What the user's own text says goes before these, and after it only with which of its hosts to begin. */
static PGconn *connect_to(const char *where, size_t first_host)
{
    const char *names[] = { "connect_timeout",
                            "target_session_attrs",
                            "keepalives_idle",
                            "keepalives_interval",
                            "keepalives_count",
                            "tcp_user_timeout",
                            "fallback_application_name",
                            "dbname",
                            NULL,
                            NULL,
                            NULL,
                            NULL };
    const char *values[] = { "5",      "read-write", "10", "5",  "3",  "20000",
                             "orrery", where,        NULL, NULL, NULL, NULL };
    enum { GIVEN = 8 };
    struct hosts hosts;
    size_t count = GIVEN;

    read_hosts(where, &hosts);
    for (size_t i = 0; first_host > 0 && i < LISTS; i++) {
        for (size_t turns = 0; turns < first_host; turns++)
            turn(hosts.list[i]);
        if (hosts.list[i][0]) {
            names[count] = list_names[i];
            values[count++] = hosts.list[i];
        }
    }
    return pq.PQconnectdbParams(names, values, 1);
}

static enum link_end run_text(struct link *link, const char *text, struct answer **answer);

/* A commit is acknowledged when it is durable, whatever the role's setting: a stronger one is kept. */
static const char sync_setting[] =
    "set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') IN ('off', 'local')"
    " THEN 'on' ELSE current_setting('synchronous_commit') END, false)";

/* Plans are made once, but for Citus, which finds the shard of some statements only by their parameters. */
static const char plan_setting[] =
    "set_config('plan_cache_mode', CASE WHEN EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')"
    " THEN 'auto' ELSE 'force_generic_plan' END, false)";

/*
 * The server, too, finds out about a network that is gone, and ends what we have begun. Of a connection by a socket it
 * takes no notice of that.
 */
static bool set_session(struct link *link, const struct link_options *options)
{
    char text[1536];

    snprintf(
        text, sizeof(text),
        "SELECT set_config('enable_bitmapscan', 'off', false), set_config('enable_seqscan', 'off', false),"
        " set_config('jit', 'off', false), %s,"
        " set_config('lock_timeout', '20s', false), set_config('bytea_output', 'hex', false),"
        " set_config('client_min_messages', 'error', false),"
        " set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false),"
        " set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '20000', false),"
        " set_config('idle_in_transaction_session_timeout', '%lld', false), %s",
        plan_setting, (long long)options->idle_ms,
        options->sync ? sync_setting : "set_config('synchronous_commit', 'off', false)");
    return pq.PQsetnonblocking(link->connection, 1) == 0 && run_text(link, text, NULL) == LINK_OK &&
           pq.PQenterPipelineMode(link->connection) == 1;
}

struct link *link_open(const struct link_options *options, size_t first_host)
{
    struct link *link = heap_allocate(sizeof(*link));

    assert(pq.ready); /* whoever has a store has called link_library() */
    link->heard_ms = options->heard_ms;
    link->connection = connect_to(options->where, first_host);
    if (pq.PQstatus(link->connection) == CONNECTION_OK && set_session(link, options))
        return link;
    note_lost(link);
    log_line(LOG_WARN, "store: no connection to the database: %s", link->error);
    link_close(link);
    return NULL;
}

void link_close(struct link *link)
{
    if (!link)
        return;
    pq.PQfinish(link->connection);
    free(link->expected);
    free(link);
}

bool link_is_sound(const struct link *link)
{
    return !link->lost && pq.PQstatus(link->connection) == CONNECTION_OK;
}

const char *link_state(const struct link *link)
{
    return link->state;
}

const char *link_error(const struct link *link)
{
    return link->error;
}

/* ---- sending ---- */

static void expect(struct link *link, enum expected kind, enum sql sql)
{
    if (link->first == link->count)
        link->first = link->count = 0;
    heap_list_reserve(&link->expected, &link->capacity, link->count + 1, sizeof(*link->expected));
    link->expected[link->count++] = (struct expectation_of_link){ kind, sql };
}

static bool prepare(struct link *link, enum sql sql)
{
    if (link->prepared[sql])
        return true;
    if (pq.PQsendPrepare(link->connection, sql_name(sql), sql_text(sql), 0, NULL) != 1)
        return false;
    link->prepared[sql] = true;
    expect(link, EXPECT_PREPARED, sql);
    return true;
}

void link_send(struct link *link, enum sql sql, const struct sql_param *params, size_t count)
{
    const char *values[PARAMS_MAX];
    int sizes[PARAMS_MAX], formats[PARAMS_MAX];

    assert(count <= PARAMS_MAX);
    for (size_t i = 0; i < count; i++) {
        values[i] = params[i].data ? params[i].data : "";
        sizes[i] = (int)params[i].size;
        formats[i] = 1;
    }
    if (link->lost || !prepare(link, sql) ||
        pq.PQsendQueryPrepared(link->connection, sql_name(sql), (int)count, values, sizes, formats, 1) != 1)
        note_lost(link);
    expect(link, EXPECT_ANSWER, sql);
}

void link_sync(struct link *link)
{
    if (link->lost || pq.PQpipelineSync(link->connection) != 1)
        note_lost(link);
    expect(link, EXPECT_SYNC, SQL_COUNT);
}

/* ---- waiting ---- */

/* A slow answer, or the wait for a lock, is told from a database that is away by what comes on the other links. */
static bool is_away(struct link *link, int64_t began_ms)
{
    int64_t now_ms = env_monotonic_ms(env_system());
    int64_t heard_ms = link->heard_ms ? atomic_load(link->heard_ms) : now_ms;
    int64_t silent_ms = now_ms - (heard_ms > began_ms ? heard_ms : began_ms);

    if (silent_ms <= SILENT_MS && now_ms - began_ms <= ANSWER_MS_MAX)
        return false;
    note_error(link, "", "it does not answer");
    link->lost = true;
    return true;
}

static bool wait_for_socket(struct link *link, bool also_to_write, int64_t began_ms)
{
    enum { LOOK_EVERY_MS = 500 };
    struct pollfd poll_for = { .fd = pq.PQsocket(link->connection),
                               .events = (short)(POLLIN | (also_to_write ? POLLOUT : 0)) };
    int ready = poll(&poll_for, 1, LOOK_EVERY_MS);

    if (ready == 0 || (ready < 0 && errno == EINTR))
        return !is_away(link, began_ms);
    if (ready < 0)
        return false;
    if (poll_for.revents & POLLIN && link->heard_ms)
        atomic_store(link->heard_ms, env_monotonic_ms(env_system()));
    return !(poll_for.revents & (POLLIN | POLLERR | POLLHUP)) || pq.PQconsumeInput(link->connection) == 1;
}

/* True when the next result can be had without waiting. */
static bool pump(struct link *link)
{
    int64_t began_ms = env_monotonic_ms(env_system());
    int unsent = pq.PQflush(link->connection);

    while (unsent >= 0 && (unsent == 1 || pq.PQisBusy(link->connection))) {
        if (!wait_for_socket(link, unsent == 1, began_ms))
            return false;
        unsent = pq.PQflush(link->connection);
    }
    return unsent >= 0;
}

/* NULL between the answers of two messages, as libpq has it. */
static bool next_result(struct link *link, PGresult **result)
{
    *result = NULL;
    if (link->lost || !pump(link)) {
        note_lost(link);
        return false;
    }
    *result = pq.PQgetResult(link->connection);
    return true;
}

static enum link_end judge(struct link *link, const PGresult *result)
{
    switch (pq.PQresultStatus(result)) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
    case PGRES_PIPELINE_SYNC:
        return LINK_OK;
    case PGRES_PIPELINE_ABORTED:
        return LINK_SKIPPED;
    default:
        note_error(link, pq.PQresultErrorField(result, PG_DIAG_SQLSTATE), pq.PQresultErrorMessage(result));
        if (pq.PQstatus(link->connection) == CONNECTION_OK)
            return LINK_REFUSED;
        link->lost = true;
        return LINK_LOST;
    }
}

/* The answer to the next message, whichever it is. */
static enum link_end take_next(struct link *link, PGresult **result)
{
    struct expectation_of_link next = link->expected[link->first];
    PGresult *behind = NULL;
    enum link_end end;

    assert(link->first < link->count);
    link->first++;
    if (!next_result(link, result))
        return LINK_LOST;
    if (!*result) {
        note_lost(link); /* the server and we no longer agree on what was asked */
        return LINK_LOST;
    }
    end = judge(link, *result);
    if (next.kind == EXPECT_PREPARED && end != LINK_OK)
        link->prepared[next.sql] = false;
    if (next.kind != EXPECT_SYNC && (!next_result(link, &behind) || behind)) {
        pq.PQclear(behind);
        note_lost(link);
        return LINK_LOST;
    }
    return end;
}

/* What nobody waited for. */
static void pass_over_left(struct link *link)
{
    while (link->left_syncs > 0) {
        bool is_sync = link->expected[link->first].kind == EXPECT_SYNC;
        PGresult *result = NULL;

        if (take_next(link, &result) == LINK_LOST)
            link->lost = true;
        pq.PQclear(result);
        link->left_syncs -= is_sync;
    }
}

enum link_end link_take(struct link *link, struct answer **answer)
{
    enum link_end prepared = LINK_OK, end;
    PGresult *result = NULL;

    pass_over_left(link);
    if (answer)
        *answer = NULL;
    if (link->expected[link->first].kind == EXPECT_PREPARED) {
        prepared = take_next(link, &result);
        pq.PQclear(result);
        result = NULL;
    }
    assert(link->expected[link->first].kind == EXPECT_ANSWER);
    end = take_next(link, &result);
    if (prepared != LINK_OK)
        end = prepared;
    if (answer && end == LINK_OK)
        *answer = (struct answer *)result;
    else
        pq.PQclear(result);
    return end;
}

enum link_end link_end(struct link *link)
{
    PGresult *result = NULL;
    enum link_end end;

    pass_over_left(link);
    assert(link->expected[link->first].kind == EXPECT_SYNC);
    end = take_next(link, &result);
    pq.PQclear(result);
    return end;
}

void link_leave(struct link *link)
{
    size_t syncs = 0;

    for (size_t i = link->first; i < link->count; i++)
        syncs += link->expected[i].kind == EXPECT_SYNC;
    assert(link->first == link->count || link->expected[link->count - 1].kind == EXPECT_SYNC);
    link->left_syncs = syncs;
    if (!link->lost && pq.PQflush(link->connection) < 0)
        note_lost(link);
}

/* ---- text ---- */

/* Outside of the pipeline, which takes statements with parameters only. */
static enum link_end run_text(struct link *link, const char *text, struct answer **answer)
{
    PGresult *result = NULL, *last = NULL;
    enum link_end end = LINK_LOST;

    if (pq.PQsendQuery(link->connection, text) != 1)
        note_lost(link);
    while (next_result(link, &result) && result) {
        pq.PQclear(last);
        last = result;
    }
    if (!link->lost && last)
        end = judge(link, last);
    if (answer && end == LINK_OK)
        *answer = (struct answer *)last;
    else
        pq.PQclear(last);
    return end;
}

enum link_end link_run(struct link *link, const char *text, struct answer **answer)
{
    enum link_end end;

    if (answer)
        *answer = NULL;
    pass_over_left(link);
    if (link->lost || pq.PQexitPipelineMode(link->connection) != 1) {
        note_lost(link);
        return LINK_LOST;
    }
    end = run_text(link, text, answer);
    if (!link->lost && pq.PQenterPipelineMode(link->connection) != 1)
        note_lost(link);
    return end;
}

/* ---- answers ---- */

static const PGresult *result_of(const struct answer *answer)
{
    return (const PGresult *)answer;
}

size_t answer_rows(const struct answer *answer)
{
    return (size_t)pq.PQntuples(result_of(answer));
}

struct slice answer_bytes(const struct answer *answer, size_t row, size_t column)
{
    return slice_make(pq.PQgetvalue(result_of(answer), (int)row, (int)column),
                      (size_t)pq.PQgetlength(result_of(answer), (int)row, (int)column));
}

/* Answers to text come as text. */
int64_t answer_number(const struct answer *answer, size_t row, size_t column)
{
    struct slice bytes = answer_bytes(answer, row, column);

    if (pq.PQfformat(result_of(answer), (int)column) == 0)
        return bytes.size && bytes.data[0] == 't' ? 1 : strtoll(bytes.data, NULL, 10);
    return (int64_t)get_be(bytes.data, bytes.size);
}

size_t answer_changed(const struct answer *answer)
{
    return (size_t)strtoull(pq.PQcmdTuples((PGresult *)answer), NULL, 10);
}

void answer_free(struct answer *answer)
{
    pq.PQclear((PGresult *)answer);
}
