/* test/store/fixture.c - the stores that the contract is tested on. */
#include <stdlib.h>
#include <unistd.h>

#include "fixture.h"
#include "packed/packed.h"

/* Every commit becomes a run, or some of them together. */
enum { AT_ONCE = 1, NOW_AND_THEN = 90000 }; /* bytes of the delta */

/* A new kind of store is one more row: what it is opened with, and whether a restart keeps what was written. */
static const struct maker {
    const char *name;
    enum store_kind kind;
    bool durable;
    bool faulty;        /* a backend of the local store that fails when told to */
    size_t delta_bytes; /* of the packed index; 0: entries are plain keys */
} makers[] = {
    { "memory", STORE_MEMORY, false, false, 0 },
    { "memory-faulty", STORE_MEMORY, false, true, 0 },
    { "memory-packed", STORE_MEMORY, false, false, NOW_AND_THEN },
    { "memory-packed-faulty", STORE_MEMORY, false, true, AT_ONCE },
#ifdef ORRERY_ROCKSDB
    { "rocksdb", STORE_ROCKSDB, true, false, 0 },
    { "rocksdb-faulty", STORE_ROCKSDB, true, true, 0 },
    { "rocksdb-packed", STORE_ROCKSDB, true, false, AT_ONCE },
    { "rocksdb-packed-faulty", STORE_ROCKSDB, true, true, NOW_AND_THEN },
#endif
#ifdef ORRERY_POSTGRES
    { "postgres", STORE_POSTGRES, true, false, 0 },
#endif
};

/* ---- PostgreSQL: one server for the run (test/postgres/with), and a schema for each store ---- */

#ifdef ORRERY_POSTGRES
#include <libpq-fe.h>

/* How many rows it gave. */
static int run_sql(const char *text)
{
    PGconn *connection = PQconnectdb(getenv("ORRERY_TEST_POSTGRES"));
    PGresult *result = PQexec(connection, text);
    int rows = PQntuples(result);

    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK)
        test_failed(__FILE__, __LINE__, PQerrorMessage(connection));
    PQclear(result);
    PQfinish(connection);
    return rows;
}

static void begin_schema(struct fixture *f)
{
    static unsigned made;

    const char *where = getenv("ORRERY_TEST_POSTGRES");
    char text[200];

    snprintf(f->schema, sizeof(f->schema), "test_%u_%u", (unsigned)getpid(), ++made);
    snprintf(text, sizeof(text), "CREATE SCHEMA %s", f->schema);
    run_sql(text);
    snprintf(f->directory, sizeof(f->directory), "%s%s-csearch_path%%3D%s", where,
             strstr(where, "options=") ? "%20" : "&options=", f->schema);
}

static void end_schema(struct fixture *f)
{
    char text[200];

    snprintf(text, sizeof(text), "SET client_min_messages = error; DROP SCHEMA %s CASCADE", f->schema);
    run_sql(text);
}

bool fixture_moves_bucket(struct fixture *f)
{
    char text[1000];

    if (!f->remote || run_sql("SELECT 1 FROM pg_extension WHERE extname = 'citus'") == 0)
        return false;
    snprintf(text, sizeof(text),
             "SELECT citus_move_shard_placement(p.shardid, p.nodename, p.nodeport, n.nodename, n.nodeport,"
             " 'block_writes') FROM pg_dist_shard_placement AS p, pg_dist_node AS n WHERE p.shardid ="
             " get_shard_id_for_distribution_column('%s.orrery_kv', %d) AND n.shouldhaveshards AND n.isactive"
             " AND (n.nodename, n.nodeport) <> (p.nodename, p.nodeport) LIMIT 1",
             f->schema, TEST_BUCKET);
    CHECK(run_sql(text) == 1);
    return true;
}
#else
static void begin_schema(struct fixture *f)
{
    (void)f;
}

static void end_schema(struct fixture *f)
{
    (void)f;
}

bool fixture_moves_bucket(struct fixture *f)
{
    (void)f;
    return false;
}
#endif

static bool is_there(const struct maker *maker)
{
    return maker->kind != STORE_POSTGRES || getenv("ORRERY_TEST_POSTGRES");
}

static enum status open_over_faulty(struct fixture *f, const struct store_options *options)
{
    struct backend *backend = NULL;
    enum status st;

    TRY(backend_open(f->op, options, &backend));
    TRY(store_open_over(f->op, faulty_backend(backend, &f->controls), options, &f->store));
out:
    return st;
}

static bool open_store(struct fixture *f, const struct maker *maker)
{
    struct packed_options packed = {
        .delta_bytes = maker->delta_bytes, .filter_bytes = 4096, .page_bytes = 1 << 18, .merge_runs = 3
    };
    struct store_options options = { .kind = maker->kind,
                                     .directory = f->directory,
                                     .sync = true,
                                     .cache_bytes = 8 << 20,
                                     .threads = f->threads,
                                     .entries = maker->delta_bytes ? ENTRIES_PACKED : ENTRIES_PLAIN,
                                     .packed = &packed };
    enum status st = maker->faulty ? open_over_faulty(f, &options) : store_open(f->op, &options, &f->store);

    return st == ST_OK && store_bucket(f->op, f->store, TEST_BUCKET, &f->bucket) == ST_OK;
}

static const struct maker *maker_named(const char *name)
{
    for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
        if (strcmp(makers[i].name, name) == 0)
            return &makers[i];
    abort();
}

void fixture_reopen(struct fixture *f)
{
    store_close(f->store);
    if (!open_store(f, maker_named(f->store_name)))
        abort();
}

static void over_one(const struct maker *maker, void (*body)(struct fixture *f), bool threads)
{
    struct fixture f = { .store_name = maker->name,
                         .durable = maker->durable,
                         .faulty = maker->faulty,
                         .threads = threads,
                         .remote = maker->kind == STORE_POSTGRES,
                         .op = test_op() };

    snprintf(f.directory, sizeof(f.directory), "%s/%s", test_directory(), maker->name);
    if (f.remote)
        begin_schema(&f);
    op_begin(f.op, INT64_MAX / 2);
    f.op->may_block = true;
    if (open_store(&f, maker))
        body(&f);
    else
        test_failed(__FILE__, __LINE__, f.op->error ? f.op->error : "the store cannot be opened");
    store_close(f.store);
    if (f.remote)
        end_schema(&f);
}

void over_each_store(void (*body)(struct fixture *f), bool threads, bool packed)
{
    const char *only = getenv("ORRERY_TEST_STORE");

    for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
        if (is_there(&makers[i]) && (packed || !makers[i].delta_bytes) &&
            (!only || strstr(makers[i].name, only)))
            over_one(&makers[i], body, threads);
}

struct slice key_of(struct fixture *f, uint64_t number)
{
    return key_document(&f->op->arena, TEST_BUCKET, number);
}

struct range range_of(struct fixture *f, uint64_t from, uint64_t to, bool reverse)
{
    return (struct range){ key_of(f, from), key_of(f, to), reverse };
}

struct batch *batch_putting(struct fixture *f, uint64_t number, const char *text)
{
    struct batch *batch = batch_new(f->op, TEST_BUCKET);

    batch_put(batch, key_of(f, number), arena_copy(&f->op->arena, slice_of(text)));
    return batch;
}

enum status put(struct fixture *f, uint64_t number, const char *text, struct commit_stamp *stamp)
{
    struct commit_stamp unused;

    return store_commit(f->op, f->bucket, batch_putting(f, number, text), stamp ? stamp : &unused);
}

struct slice get(struct fixture *f, uint64_t number)
{
    struct slice key = key_of(f, number), value = { 0 };
    struct snapshot *snapshot = NULL;
    enum status st;

    TRY(store_snapshot(f->op, f->bucket, &snapshot));
    TRY(store_get_many(f->op, snapshot, &key, 1, &value));
out:
    CHECK(st == ST_OK);
    store_release(snapshot);
    return value;
}

uint8_t *stampable(struct fixture *f, size_t *size)
{
    struct change change = { .kind = CHANGE_CREATE, .number = 1, .old_record = slice_of("") };

    return change_encode(f->op, &change, size);
}
