/* test/store/faulty.c - fails the n-th call, before or after it happened. */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "faulty.h"

struct faulty {
    struct backend backend;
    struct run_space runs;
    struct backend *under;
    struct faulty_controls *controls;
    pthread_mutex_t mutex; /* guards the controls */
};

static struct faulty *faulty_of(struct backend *backend)
{
    return (struct faulty *)backend;
}

void faulty_fail(struct faulty_controls *controls, unsigned kinds, uint64_t call)
{
    controls->kinds = kinds;
    controls->fail_call = call;
    controls->calls = 0;
    controls->failed = false;
}

/* Counts the call; true when it is the one to fail. */
static bool strikes(struct faulty *faulty, enum faulty_kind kind)
{
    struct faulty_controls *controls = faulty->controls;
    bool hit = false;

    pthread_mutex_lock(&faulty->mutex);
    if (controls->kinds & kind)
        hit = ++controls->calls == controls->fail_call;
    if (controls->failed && controls->fail_again > 0)
        hit = --controls->fail_again == 0;
    controls->failed = controls->failed || hit;
    if (controls->clock && kind != FAULTY_SNAPSHOT && kind != FAULTY_REOPEN)
        env_advance_ms(controls->clock, 1);
    pthread_mutex_unlock(&faulty->mutex);
    if (hit && controls->instead) {
        controls->instead(controls->context);
        return false;
    }
    return hit;
}

static enum status broken(struct op *op, const char *what)
{
    return op_fail(op, ST_UNAVAILABLE, "made to fail: %s", what);
}

static enum status faulty_snapshot(struct op *op, struct backend *backend, struct backend_snapshot **snapshot)
{
    struct faulty *faulty = faulty_of(backend);

    if (strikes(faulty, FAULTY_SNAPSHOT))
        return broken(op, "snapshot");
    return faulty->under->ops->snapshot(op, faulty->under, snapshot);
}

static void faulty_release(struct backend *backend, struct backend_snapshot *snapshot)
{
    struct faulty *faulty = faulty_of(backend);

    faulty->under->ops->release(faulty->under, snapshot);
}

static enum status faulty_get_many(struct op *op, struct backend *backend, struct backend_snapshot *snapshot,
                                   const struct slice *keys, size_t count, struct slice *values)
{
    struct faulty *faulty = faulty_of(backend);

    if (strikes(faulty, FAULTY_GET))
        return broken(op, "get_many");
    return faulty->under->ops->get_many(op, faulty->under, snapshot, keys, count, values);
}

static enum status faulty_scan(struct op *op, struct backend *backend, struct backend_snapshot *snapshot,
                               struct range range, struct scan_limit limit, struct rows *rows)
{
    struct faulty *faulty = faulty_of(backend);

    if (strikes(faulty, FAULTY_SCAN))
        return broken(op, "scan");
    return faulty->under->ops->scan(op, faulty->under, snapshot, range, limit, rows);
}

static enum status faulty_write(struct op *op, struct backend *backend, const struct mutation *mutations,
                                size_t count, bool sync)
{
    struct faulty *faulty = faulty_of(backend);
    bool hit = strikes(faulty, FAULTY_WRITE);
    enum status st = ST_OK;

    if (!hit || faulty->controls->fail_after)
        st = faulty->under->ops->write(op, faulty->under, mutations, count, sync);
    return hit ? broken(op, "write") : st;
}

static enum status faulty_remove_range(struct op *op, struct backend *backend, struct slice from,
                                       struct slice to)
{
    struct faulty *faulty = faulty_of(backend);
    bool hit = strikes(faulty, FAULTY_REMOVE);
    enum status st = ST_OK;

    if (!hit || faulty->controls->fail_after)
        st = faulty->under->ops->remove_range(op, faulty->under, from, to);
    return hit ? broken(op, "remove_range") : st;
}

static enum status faulty_reopen(struct op *op, struct backend *backend)
{
    struct faulty *faulty = faulty_of(backend);

    if (strikes(faulty, FAULTY_REOPEN))
        return broken(op, "reopen");
    if (faulty->controls->reopen_failures > 0) {
        faulty->controls->reopen_failures--;
        return broken(op, "reopen");
    }
    return faulty->under->ops->reopen(op, faulty->under);
}

static uint64_t faulty_disk_bytes(struct backend *backend)
{
    struct faulty *faulty = faulty_of(backend);

    return faulty->under->ops->disk_bytes(faulty->under);
}

static void faulty_memory(struct backend *backend, struct backend_memory *memory)
{
    struct faulty *faulty = faulty_of(backend);

    if (faulty->under->ops->memory)
        faulty->under->ops->memory(faulty->under, memory);
}

static enum status faulty_rest(struct op *op, struct backend *backend, bool rests)
{
    struct faulty *faulty = faulty_of(backend);

    return faulty->under->ops->rest ? faulty->under->ops->rest(op, faulty->under, rests) : ST_OK;
}

static enum status faulty_backup(struct op *op, struct backend *backend, const char *directory)
{
    struct faulty *faulty = faulty_of(backend);

    return faulty->under->ops->backup(op, faulty->under, directory);
}

/* ---- runs ---- */

static struct faulty *faulty_of_runs(struct run_space *space)
{
    return (struct faulty *)((char *)space - offsetof(struct faulty, runs));
}

static const struct run_space_ops *runs_of(const struct faulty *faulty)
{
    return faulty->under->runs->ops;
}

static enum status faulty_run_begin(struct op *op, struct run_space *space, struct run_writer **writer)
{
    struct faulty *faulty = faulty_of_runs(space);

    if (strikes(faulty, FAULTY_RUN))
        return broken(op, "run begin");
    return runs_of(faulty)->begin(op, faulty->under->runs, writer);
}

static enum status faulty_run_add(struct op *op, struct run_space *space, struct run_writer *writer,
                                  struct slice key, struct slice value)
{
    struct faulty *faulty = faulty_of_runs(space);

    if (strikes(faulty, FAULTY_RUN))
        return broken(op, "run add");
    return runs_of(faulty)->add(op, faulty->under->runs, writer, key, value);
}

static void faulty_run_abort(struct run_space *space, struct run_writer *writer)
{
    struct faulty *faulty = faulty_of_runs(space);

    runs_of(faulty)->abort(faulty->under->runs, writer);
}

static enum status faulty_run_finish(struct op *op, struct run_space *space, struct run_writer *writer)
{
    struct faulty *faulty = faulty_of_runs(space);

    if (!strikes(faulty, FAULTY_RUN))
        return runs_of(faulty)->finish(op, faulty->under->runs, writer);
    runs_of(faulty)->abort(faulty->under->runs, writer);
    return broken(op, "run finish");
}

static enum status faulty_run_remove(struct op *op, struct run_space *space, struct slice from,
                                     struct slice to)
{
    struct faulty *faulty = faulty_of_runs(space);

    if (strikes(faulty, FAULTY_RUN))
        return broken(op, "run remove");
    return runs_of(faulty)->remove(op, faulty->under->runs, from, to);
}

static enum status faulty_run_open(struct op *op, struct run_space *space, bool once,
                                   struct run_cursor **cursor)
{
    struct faulty *faulty = faulty_of_runs(space);

    if (strikes(faulty, FAULTY_RUN_READ))
        return broken(op, "run open");
    return runs_of(faulty)->open(op, faulty->under->runs, once, cursor);
}

static enum status faulty_run_read(struct op *op, struct run_space *space, struct run_cursor *cursor,
                                   enum run_move move, struct slice key, struct run_row *row)
{
    struct faulty *faulty = faulty_of_runs(space);

    if (strikes(faulty, FAULTY_RUN_READ))
        return broken(op, "run read");
    return runs_of(faulty)->read(op, faulty->under->runs, cursor, move, key, row);
}

static void faulty_run_close(struct run_space *space, struct run_cursor *cursor)
{
    struct faulty *faulty = faulty_of_runs(space);

    runs_of(faulty)->close(faulty->under->runs, cursor);
}

static enum status faulty_run_get(struct op *op, struct run_space *space, struct slice key,
                                  struct slice *value)
{
    struct faulty *faulty = faulty_of_runs(space);

    if (strikes(faulty, FAULTY_GET))
        return broken(op, "get");
    return runs_of(faulty)->get(op, faulty->under->runs, key, value);
}

static uint64_t faulty_reopens(struct run_space *space)
{
    struct faulty *faulty = faulty_of_runs(space);

    return runs_of(faulty)->reopens(faulty->under->runs);
}

static enum status faulty_settle(struct op *op, struct run_space *space, uint64_t reopens,
                                 const struct settled_row *rows, size_t count)
{
    struct faulty *faulty = faulty_of_runs(space);
    bool hit = strikes(faulty, FAULTY_RUN);
    enum status st = ST_OK;

    if (!hit || faulty->controls->fail_after)
        st = runs_of(faulty)->settle(op, faulty->under->runs, reopens, rows, count);
    return hit ? broken(op, "settle") : st;
}

static const struct run_space_ops faulty_runs = {
    .begin = faulty_run_begin,
    .add = faulty_run_add,
    .finish = faulty_run_finish,
    .abort = faulty_run_abort,
    .remove = faulty_run_remove,
    .open = faulty_run_open,
    .read = faulty_run_read,
    .close = faulty_run_close,
    .get = faulty_run_get,
    .reopens = faulty_reopens,
    .settle = faulty_settle,
};

static void faulty_close(struct backend *backend)
{
    struct faulty *faulty = faulty_of(backend);

    faulty->under->ops->close(faulty->under);
    pthread_mutex_destroy(&faulty->mutex);
    free(faulty);
}

static const struct backend_ops faulty_ops = {
    .snapshot = faulty_snapshot,
    .release = faulty_release,
    .get_many = faulty_get_many,
    .scan = faulty_scan,
    .write = faulty_write,
    .remove_range = faulty_remove_range,
    .reopen = faulty_reopen,
    .disk_bytes = faulty_disk_bytes,
    .memory = faulty_memory,
    .rest = faulty_rest,
    .backup = faulty_backup,
    .close = faulty_close,
};

struct backend *faulty_backend(struct backend *under, struct faulty_controls *controls)
{
    struct faulty *faulty = malloc(sizeof(*faulty));

    if (!faulty)
        abort();
    *faulty = (struct faulty){ .backend = { .ops = &faulty_ops, .runs = &faulty->runs },
                               .runs = { .ops = &faulty_runs },
                               .under = under,
                               .controls = controls };
    pthread_mutex_init(&faulty->mutex, NULL);
    return &faulty->backend;
}
