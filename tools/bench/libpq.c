/*
 * tools/bench/libpq.c - the rows of Orrery's items, written and read by nothing but libpq in pipeline mode: what the store in
 * PostgreSQL is compared with (cluster.py). Each thread has a connection and a shard of its own, and tables are made in the
 * schema that the connection's search_path names.
 *     bench-libpq create WHERE SECONDS THREADS GROUP    items a second; a transaction has GROUP of them, in one round trip
 *     bench-libpq get WHERE SECONDS THREADS DEPTH       gets a second, DEPTH of them in a round trip
 * An item is a row of 1 KB, the row of its id, 20 entries of the index, the row in the log of changes, and one of the commit.
 */
#include <libpq-fe.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROWS = 23, ENTRIES = 20, ITEMS = 10000, KEY = 64, VALUE = 1100, GROUP_MAX = 16, TEXT = 1 << 16 };

static const char schema[] =
    "CREATE TABLE kv (shard bigint NOT NULL, key bytea NOT NULL, value bytea NOT NULL, PRIMARY KEY (shard, "
    "key));"
    "CREATE TABLE head (shard bigint PRIMARY KEY, lsn bigint NOT NULL) WITH (fillfactor = 30);"
    "CREATE TABLE commits (shard bigint NOT NULL, lsn bigint NOT NULL, token bigint NOT NULL, ts bigint NOT "
    "NULL,"
    " scopes bytea NOT NULL, PRIMARY KEY (shard, lsn));"
    "INSERT INTO head SELECT n, 0 FROM generate_series(0, 63) AS n";

struct worker {
    const char *where;
    int number, size;
    double seconds;
    void (*work)(struct worker *worker, PGconn *connection);
    uint64_t done;
    pthread_t thread;
};

/* A row of parameters that are sent in binary form. */
struct params {
    const char *value[3 * ROWS * GROUP_MAX];
    int size[3 * ROWS * GROUP_MAX], format[3 * ROWS * GROUP_MAX];
    int count;
};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void fail(PGconn *connection, const char *what)
{
    fprintf(stderr, "%s: %s\n", what, PQerrorMessage(connection));
    exit(1);
}

static void add(struct params *params, const void *value, size_t size)
{
    params->value[params->count] = value;
    params->size[params->count] = (int)size;
    params->format[params->count++] = 1;
}

static void send_one(PGconn *connection, const char *name, const struct params *params)
{
    if (PQsendQueryPrepared(connection, name, params->count, params->value, params->size, params->format,
                            1) != 1)
        fail(connection, name);
}

/* The answers up to the end of a round trip; all must be well. */
static void take_all(PGconn *connection)
{
    for (;;) {
        PGresult *result = PQgetResult(connection);
        ExecStatusType status = result ? PQresultStatus(result) : PGRES_COMMAND_OK;

        PQclear(result);
        if (status == PGRES_PIPELINE_SYNC)
            return;
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
            fail(connection, "an answer");
    }
}

static void prepare(PGconn *connection, const char *name, const char *text)
{
    if (PQsendPrepare(connection, name, text, 0, NULL) != 1)
        fail(connection, name);
}

/* INSERT of so many rows. */
static void prepare_rows(PGconn *connection, int rows)
{
    static _Thread_local char text[TEXT];
    int used = snprintf(text, sizeof(text), "INSERT INTO kv (shard, key, value) VALUES ");

    for (int i = 0; i < rows; i++)
        used += snprintf(text + used, sizeof(text) - (size_t)used, "%s($1, $%d, $%d)", i ? ", " : "",
                         2 * i + 2, 2 * i + 3);
    prepare(connection, "rows", text);
}

static uint64_t mixed(uint64_t number)
{
    number = (number ^ number >> 31) * 0x9e3779b97f4a7c15u;
    return number ^ number >> 29;
}

/* As the wire has it. */
static uint64_t swapped(uint64_t number)
{
    return __builtin_bswap64(number);
}

/* ---- creates ---- */

struct item {
    char key[ROWS][KEY], value[VALUE];
    int key_size[ROWS];
};

static void make_item(struct item *item, uint64_t number)
{
    uint64_t draw = mixed(number + 1);

    item->key_size[0] = snprintf(item->key[0], KEY, "D%016llx", (unsigned long long)number);
    item->key_size[1] = snprintf(item->key[1], KEY, "I%016llx-doc-%llu", (unsigned long long)draw,
                                 (unsigned long long)number);
    item->key_size[2] = snprintf(item->key[2], KEY, "L%016llx", (unsigned long long)number);
    for (int i = 0; i < ENTRIES; i++) {
        draw = mixed(draw);
        item->key_size[3 + i] = snprintf(item->key[3 + i], KEY, "X-path-%02d-%016llx-%016llx", i,
                                         (unsigned long long)(draw >> 20), (unsigned long long)number);
    }
    for (size_t i = 0; i + 8 <= sizeof(item->value); i += 8, draw = mixed(draw))
        memcpy(item->value + i, &draw, 8);
}

static void create(struct worker *worker, PGconn *connection)
{
    static _Thread_local struct item items[GROUP_MAX];
    uint64_t shard = swapped((uint64_t)worker->number), added = swapped((uint64_t)worker->size);
    double end;

    prepare(connection, "begin", "BEGIN");
    prepare(connection, "head", "UPDATE head SET lsn = lsn + $2 WHERE shard = $1 RETURNING lsn");
    prepare(connection, "commit_row", "INSERT INTO commits VALUES ($1, $2, 1, 1, $3)");
    prepare(connection, "commit", "COMMIT");
    prepare_rows(connection, ROWS * worker->size);
    PQpipelineSync(connection);
    take_all(connection);
    for (end = now() + worker->seconds; now() < end; worker->done += (uint64_t)worker->size) {
        struct params none = { .count = 0 }, head = { .count = 0 }, rows = { .count = 0 };

        send_one(connection, "begin", &none);
        add(&head, &shard, 8);
        add(&head, &added, 8);
        send_one(connection, "head", &head);
        add(&rows, &shard, 8);
        for (int i = 0; i < worker->size; i++) {
            uint64_t lsn = swapped(worker->done + (uint64_t)i + 1);
            struct params commit = { .count = 0 };

            make_item(&items[i], worker->done + (uint64_t)i);
            for (int row = 0; row < ROWS; row++) {
                add(&rows, items[i].key[row], (size_t)items[i].key_size[row]);
                add(&rows, items[i].value, row == 0 ? 1024 : row == 1 ? 16 : row == 2 ? 100 : 0);
            }
            add(&commit, &shard, 8);
            add(&commit, &lsn, 8);
            add(&commit, items[i].value, 16);
            send_one(connection, "commit_row", &commit);
        }
        send_one(connection, "rows", &rows);
        send_one(connection, "commit", &none);
        PQpipelineSync(connection);
        take_all(connection);
    }
}

/* ---- gets ---- */

static void get(struct worker *worker, PGconn *connection)
{
    uint64_t shard = swapped(0), draw = (uint64_t)worker->number + 1;
    double end;

    prepare(connection, "get",
            "SELECT lsn, value FROM head LEFT JOIN kv ON kv.shard = head.shard AND key = $2 WHERE head.shard "
            "= $1");
    PQpipelineSync(connection);
    take_all(connection);
    for (end = now() + worker->seconds; now() < end; worker->done += (uint64_t)worker->size) {
        char key[GROUP_MAX * 4][KEY];

        for (int i = 0; i < worker->size; i++) {
            struct params params = { .count = 0 };
            int size;

            draw = mixed(draw + 1);
            size = snprintf(key[i], KEY, "D%016llx", (unsigned long long)(draw % ITEMS));
            add(&params, &shard, 8);
            add(&params, key[i], (size_t)size);
            send_one(connection, "get", &params);
        }
        PQpipelineSync(connection);
        take_all(connection);
    }
}

/* ---- the run ---- */

static PGconn *open_connection(const char *where)
{
    PGconn *connection = PQconnectdb(where);

    if (PQstatus(connection) != CONNECTION_OK)
        fail(connection, "no connection");
    PQclear(PQexec(connection, "SET enable_bitmapscan = off; SET enable_seqscan = off; SET jit = off; SET "
                               "plan_cache_mode = force_generic_plan"));
    return connection;
}

static void *run(void *argument)
{
    struct worker *worker = argument;
    PGconn *connection = open_connection(worker->where);

    PQenterPipelineMode(connection);
    worker->work(worker, connection);
    PQfinish(connection);
    return NULL;
}

static void prepare_tables(const char *where, int gets)
{
    static const char fill[] =
        "INSERT INTO kv SELECT 0, ('D' || lpad(to_hex(n), 16, '0'))::bytea, (SELECT string_agg(sha256((n * "
        "64 + m)::text::bytea), '')"
        " FROM generate_series(1, 32) AS m) FROM generate_series(0, 9999) AS n; ANALYZE kv";
    PGconn *connection = open_connection(where);

    PQclear(PQexec(connection, "SET client_min_messages = error; DROP TABLE IF EXISTS kv, head, commits"));
    PQclear(PQexec(connection, schema));
    PQclear(PQexec(connection, gets ? fill : "SELECT 1"));
    if (PQerrorMessage(connection)[0])
        fail(connection, "the tables");
    PQfinish(connection);
}

int main(int argc, char **argv)
{
    struct worker workers[64];
    int count = argc == 6 ? atoi(argv[4]) : 0, size = argc == 6 ? atoi(argv[5]) : 0;
    int gets = argc > 1 && strcmp(argv[1], "get") == 0;
    uint64_t done = 0;
    double began;

    if (count < 1 || count > 64 || size < 1 || size > (gets ? 4 * GROUP_MAX : GROUP_MAX))
        return fprintf(stderr, "usage: bench-libpq create|get WHERE SECONDS THREADS GROUP\n"), 2;
    prepare_tables(argv[2], gets);
    began = now();
    for (int i = 0; i < count; i++) {
        workers[i] = (struct worker){
            .where = argv[2], .number = i, .size = size, .seconds = atof(argv[3]), .work = gets ? get : create
        };
        pthread_create(&workers[i].thread, NULL, run, &workers[i]);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(workers[i].thread, NULL);
        done += workers[i].done;
    }
    printf("%.0f/s\n", (double)done / (now() - began));
    return 0;
}
