/* test/sim/disk.c - what is not synced is lost in a power cut. */
#include <stdlib.h>

#include "disk.h"

struct old_row {
    struct slice key, value; /* value.data is NULL when there was none; both are the row's own copies */
};

/* How it was before a write that is not synced. */
struct undo {
    struct undo *older;
    struct old_row *row;
    size_t count;
};

struct disk {
    struct backend backend;
    struct run_space runs;
    struct backend *memory;
    uint64_t writes_left; /* until the cut, that one included; 0: no cut is planned */
    bool happens, off;
    struct undo *unsynced; /* newest first */
    size_t unsynced_count;
    uint64_t reopens;
};

static struct disk *disk_of(struct backend *backend)
{
    return (struct disk *)backend; /* its first member */
}

static struct slice copy_of(struct slice bytes)
{
    char *copy = bytes.data ? malloc(bytes.size + 1) : NULL;

    if (bytes.data && !copy)
        abort();
    if (bytes.size)
        memcpy(copy, bytes.data, bytes.size);
    return slice_make(copy, bytes.size);
}

static void free_undo(struct undo *undo)
{
    for (size_t i = 0; i < undo->count; i++) {
        free((char *)undo->row[i].key.data);
        free((char *)undo->row[i].value.data);
    }
    free(undo->row);
    free(undo);
}

static void forget_undo(struct disk *disk)
{
    struct undo *undo = disk->unsynced;

    disk->unsynced = undo->older;
    disk->unsynced_count--;
    free_undo(undo);
}

static enum status remember(struct op *op, struct disk *disk, const struct mutation *mutations, size_t count)
{
    struct undo *undo = calloc(1, sizeof(*undo));
    enum status st = ST_OK;

    if (!undo || !(undo->row = calloc(count + 1, sizeof(*undo->row))))
        abort();
    undo->older = disk->unsynced;
    disk->unsynced = undo;
    disk->unsynced_count++;
    for (size_t i = 0; i < count; i++) {
        struct slice old;

        TRY(disk->memory->ops->get_many(op, disk->memory, NULL, &mutations[i].key, 1, &old));
        undo->row[undo->count++] = (struct old_row){ copy_of(mutations[i].key), copy_of(old) };
    }
out:
    return st;
}

/* Takes the newest back. A key that was written twice has its older value last. */
static void take_back(struct disk *disk)
{
    const struct undo *undo = disk->unsynced;
    struct mutation *back = calloc(undo->count + 1, sizeof(*back));

    if (!back)
        abort();
    for (size_t i = 0; i < undo->count; i++)
        back[i] =
            (struct mutation){ undo->row[undo->count - 1 - i].key, undo->row[undo->count - 1 - i].value };
    if (disk->memory->ops->write(NULL, disk->memory, back, undo->count, true) != ST_OK)
        abort();
    free(back);
    forget_undo(disk);
}

static enum status no_power(struct op *op)
{
    return op_fail(op, ST_UNAVAILABLE, "there is no power");
}

static bool is_cut(struct disk *disk)
{
    if (disk->writes_left == 0 || --disk->writes_left > 0)
        return false;
    return disk->off = true;
}

static enum status disk_write(struct op *op, struct backend *backend, const struct mutation *mutations,
                              size_t count, bool sync)
{
    struct disk *disk = disk_of(backend);
    bool cut;
    enum status st = ST_OK;

    if (disk->off)
        return no_power(op);
    cut = is_cut(disk);
    if (!cut || disk->happens) {
        TRY(remember(op, disk, mutations, count));
        TRY(disk->memory->ops->write(op, disk->memory, mutations, count, sync));
    }
    while (sync && !cut && disk->unsynced)
        forget_undo(disk);
    if (cut)
        TRY(no_power(op));
out:
    return st;
}

/* Synced by itself, as the store on disk does it. */
static enum status disk_remove_range(struct op *op, struct backend *backend, struct slice from,
                                     struct slice to)
{
    struct disk *disk = disk_of(backend);
    bool cut;
    enum status st = ST_OK;

    if (disk->off)
        return no_power(op);
    cut = is_cut(disk);
    if (!cut || disk->happens)
        TRY(disk->memory->ops->remove_range(op, disk->memory, from, to));
    if (cut)
        TRY(no_power(op));
out:
    return st;
}

static enum status disk_snapshot(struct op *op, struct backend *backend, struct backend_snapshot **snapshot)
{
    struct disk *disk = disk_of(backend);

    return disk->off ? no_power(op) : disk->memory->ops->snapshot(op, disk->memory, snapshot);
}

static void disk_release(struct backend *backend, struct backend_snapshot *snapshot)
{
    struct disk *disk = disk_of(backend);

    disk->memory->ops->release(disk->memory, snapshot);
}

static enum status disk_get_many(struct op *op, struct backend *backend, struct backend_snapshot *snapshot,
                                 const struct slice *keys, size_t count, struct slice *values)
{
    struct disk *disk = disk_of(backend);

    return disk->off ? no_power(op)
                     : disk->memory->ops->get_many(op, disk->memory, snapshot, keys, count, values);
}

static enum status disk_scan(struct op *op, struct backend *backend, struct backend_snapshot *snapshot,
                             struct range range, struct scan_limit limit, struct rows *rows)
{
    struct disk *disk = disk_of(backend);

    return disk->off ? no_power(op) : disk->memory->ops->scan(op, disk->memory, snapshot, range, limit, rows);
}

/* Back to what is durable. */
static enum status disk_reopen(struct op *op, struct backend *backend)
{
    struct disk *disk = disk_of(backend);

    if (disk->off)
        return no_power(op);
    disk->reopens++;
    while (disk->unsynced)
        take_back(disk);
    return ST_OK;
}

static uint64_t disk_bytes(struct backend *backend)
{
    struct disk *disk = disk_of(backend);

    return disk->memory->ops->disk_bytes(disk->memory);
}

static enum status disk_backup(struct op *op, struct backend *backend, const char *directory)
{
    struct disk *disk = disk_of(backend);

    return disk->memory->ops->backup(op, disk->memory, directory);
}

/* ---- runs: durable once they are finished ---- */

static struct disk *disk_of_runs(struct run_space *space)
{
    return (struct disk *)((char *)space - offsetof(struct disk, runs));
}

static enum status disk_run_begin(struct op *op, struct run_space *space, struct run_writer **writer)
{
    struct disk *disk = disk_of_runs(space);

    return disk->off ? no_power(op) : disk->memory->runs->ops->begin(op, disk->memory->runs, writer);
}

static enum status disk_run_add(struct op *op, struct run_space *space, struct run_writer *writer,
                                struct slice key, struct slice value)
{
    struct disk *disk = disk_of_runs(space);

    return disk->off ? no_power(op)
                     : disk->memory->runs->ops->add(op, disk->memory->runs, writer, key, value);
}

static void disk_run_abort(struct run_space *space, struct run_writer *writer)
{
    struct disk *disk = disk_of_runs(space);

    disk->memory->runs->ops->abort(disk->memory->runs, writer);
}

static enum status disk_run_finish(struct op *op, struct run_space *space, struct run_writer *writer)
{
    struct disk *disk = disk_of_runs(space);
    bool off = disk->off, cut = !off && is_cut(disk);

    if (!off && (!cut || disk->happens)) {
        enum status st = disk->memory->runs->ops->finish(op, disk->memory->runs, writer);

        return cut ? no_power(op) : st;
    }
    disk->memory->runs->ops->abort(disk->memory->runs, writer);
    return no_power(op);
}

static enum status disk_run_remove(struct op *op, struct run_space *space, struct slice from, struct slice to)
{
    struct disk *disk = disk_of_runs(space);

    return disk->off ? no_power(op) : disk->memory->runs->ops->remove(op, disk->memory->runs, from, to);
}

static enum status disk_run_open(struct op *op, struct run_space *space, bool once,
                                 struct run_cursor **cursor)
{
    struct disk *disk = disk_of_runs(space);

    return disk->off ? no_power(op) : disk->memory->runs->ops->open(op, disk->memory->runs, once, cursor);
}

static enum status disk_run_read(struct op *op, struct run_space *space, struct run_cursor *cursor,
                                 enum run_move move, struct slice key, struct run_row *row)
{
    struct disk *disk = disk_of_runs(space);

    return disk->off ? no_power(op)
                     : disk->memory->runs->ops->read(op, disk->memory->runs, cursor, move, key, row);
}

static void disk_run_close(struct run_space *space, struct run_cursor *cursor)
{
    struct disk *disk = disk_of_runs(space);

    disk->memory->runs->ops->close(disk->memory->runs, cursor);
}

static uint64_t disk_reopens(struct run_space *space)
{
    return disk_of_runs(space)->reopens;
}

static enum status disk_settle(struct op *op, struct run_space *space, uint64_t reopens,
                               const struct settled_row *rows, size_t count)
{
    struct disk *disk = disk_of_runs(space);
    struct mutation *mutations = arena_alloc(&op->arena, count * sizeof(*mutations));

    if (disk->reopens != reopens)
        return op_fail(op, ST_WRITE_CONFLICT, "the disk was opened again meanwhile");
    for (size_t i = 0; i < count; i++)
        mutations[i] = (struct mutation){ rows[i].key, rows[i].value };
    return disk_write(op, &disk->backend, mutations, count, true);
}

static enum status disk_run_get(struct op *op, struct run_space *space, struct slice key, struct slice *value)
{
    return disk_get_many(op, &disk_of_runs(space)->backend, NULL, &key, 1, value);
}

static const struct run_space_ops disk_runs = {
    .begin = disk_run_begin,
    .add = disk_run_add,
    .finish = disk_run_finish,
    .abort = disk_run_abort,
    .remove = disk_run_remove,
    .open = disk_run_open,
    .read = disk_run_read,
    .close = disk_run_close,
    .get = disk_run_get,
    .reopens = disk_reopens,
    .settle = disk_settle,
};

static void disk_close(struct backend *backend)
{
    (void)backend; /* the bytes stay for the next store */
}

static const struct backend_ops disk_ops = {
    .snapshot = disk_snapshot,
    .release = disk_release,
    .get_many = disk_get_many,
    .scan = disk_scan,
    .write = disk_write,
    .remove_range = disk_remove_range,
    .reopen = disk_reopen,
    .disk_bytes = disk_bytes,
    .backup = disk_backup,
    .close = disk_close,
};

struct disk *disk_new(void)
{
    struct disk *disk = calloc(1, sizeof(*disk));

    if (!disk)
        abort();
    disk->backend = (struct backend){ .ops = &disk_ops, .runs = &disk->runs };
    disk->runs.ops = &disk_runs;
    disk->memory = memory_backend();
    return disk;
}

void disk_free(struct disk *disk)
{
    while (disk->unsynced)
        forget_undo(disk);
    disk->memory->ops->close(disk->memory);
    free(disk);
}

struct backend *disk_backend(struct disk *disk)
{
    return &disk->backend;
}

void disk_cut_at(struct disk *disk, uint64_t write, bool happens)
{
    disk->writes_left = write;
    disk->happens = happens;
}

bool disk_is_off(const struct disk *disk)
{
    return disk->off;
}

/* A write that was cut in the middle is no less whole for it: it is one batch of the log. */
void disk_power_on(struct disk *disk, uint64_t luck)
{
    size_t kept = (size_t)(luck % (disk->unsynced_count + 1));

    while (disk->unsynced_count > kept)
        take_back(disk);
    while (disk->unsynced)
        forget_undo(disk);
    disk->off = false;
    disk->writes_left = 0;
}
