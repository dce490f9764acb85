/* src/main/recorded.c - reads and writes the file of the record. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "main/recorded.h"

#define FILE_NAME "workload.json"

/* What it says of itself grows to a few times its memory, as text. */
enum { FILE_BYTES_MAX = 4 * WORKLOAD_BYTES_MAX };

/* Without data: there is no file. */
static enum status read_file(struct op *op, const char *path, struct slice *text)
{
    FILE *file = fopen(path, "re");
    struct stat info;
    char *bytes = NULL;
    bool is_read;

    *text = (struct slice){ 0 };
    if (!file)
        return errno == ENOENT ? ST_OK : op_fail(op, ST_UNAVAILABLE, "%s", strerror(errno));
    if (fstat(fileno(file), &info) == 0 && info.st_size >= 0 && info.st_size <= FILE_BYTES_MAX)
        bytes = arena_try_alloc(&op->arena, (size_t)info.st_size + 1);
    is_read = bytes && fread(bytes, 1, (size_t)info.st_size, file) == (size_t)info.st_size;
    fclose(file);
    if (!is_read)
        return op_fail(op, ST_UNAVAILABLE, "it cannot be read, or is too large");
    *text = slice_make(bytes, (size_t)info.st_size);
    return ST_OK;
}

/* Reading takes memory of the op's, and gives it back. */
static void read_record(struct op *op, struct recorded *recorded, const struct slice *text)
{
    enum status st = workload_read(op, recorded->workload, *text);

    if (st != ST_OK)
        log_line(LOG_WARN, "the record of the workload begins anew: %s: %s", FILE_NAME, op->error);
}

void recorded_open(struct op *op, const struct settings *settings, struct account *account,
                   const struct directory *directory, struct recorded *recorded)
{
    struct op_mark mark = op_mark(op);
    struct slice text = { 0 };

    *recorded = (struct recorded){ .path = directory ? directory->path : NULL,
                                   .saved_ms = env_monotonic_ms(op->env) };
    if (directory && read_file(op, directory_inside(op, directory->path, FILE_NAME), &text) != ST_OK)
        log_line(LOG_WARN, "the record of the workload begins anew: %s: %s", FILE_NAME, op->error);
    if (settings->record || text.data)
        recorded->workload = workload_open(
            &(struct workload_options){ .env = op->env, .account = account, .records = settings->record });
    if (text.data)
        read_record(op, recorded, &text);
    op_rewind(op, mark);
}

/* All of it or nothing, and safe from a power cut. */
static bool write_file(struct op *op, const char *path, struct slice text)
{
    const char *fresh = directory_inside(op, path, FILE_NAME ".new");
    int file = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool is_written = file >= 0;

    for (size_t at = 0; is_written && at < text.size;) {
        ssize_t size = write(file, text.data + at, text.size - at);

        is_written = size > 0;
        at += size > 0 ? (size_t)size : 0;
    }
    is_written = is_written && fsync(file) == 0;
    if (file >= 0)
        is_written &= close(file) == 0;
    return is_written && rename(fresh, directory_inside(op, path, FILE_NAME)) == 0 && directory_sync(path);
}

static void save(struct op *op, struct recorded *recorded)
{
    struct op_mark mark = op_mark(op);
    uint64_t forgotten = workload_times_forgotten(recorded->workload);
    struct buf text;

    recorded->saved_ms = env_monotonic_ms(op->env);
    if (!workload_has_changed(recorded->workload))
        return;
    buf_init(&text, &op->arena);
    text.moves = true;
    workload_print(recorded->workload, &text, WORKLOAD_KEPT);
    if (text.failed || !write_file(op, recorded->path, buf_as_slice(&text)))
        log_line(LOG_WARN, "the record of the workload cannot be written: %s/%s: %s", recorded->path,
                 FILE_NAME, text.failed ? "it is too large" : strerror(errno));
    else
        recorded->forgotten = forgotten;
    op_rewind(op, mark);
}

void recorded_save(struct op *op, struct recorded *recorded)
{
    if (!recorded->workload || !recorded->path)
        return;
    if (env_monotonic_ms(op->env) - recorded->saved_ms >= RECORDED_SAVE_MS ||
        workload_times_forgotten(recorded->workload) != recorded->forgotten)
        save(op, recorded);
}

void recorded_close(struct op *op, struct recorded *recorded)
{
    if (recorded->workload && recorded->path)
        save(op, recorded);
    workload_close(recorded->workload);
    recorded->workload = NULL;
}
