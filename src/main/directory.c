/* src/main/directory.c - taking hold of the data directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "main/directory.h"

static const char *inside(struct op *op, const char *directory, const char *name)
{
    struct buf path;

    buf_init(&path, &op->arena);
    buf_printf(&path, "%s/%s", directory, name);
    buf_byte(&path, '\0');
    return path.data;
}

static enum status make_directory(struct op *op, const char *path)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST)
        return ST_OK;
    return op_fail(op, ST_UNAVAILABLE, "cannot make %s: %s", path, strerror(errno));
}

/* The kernel lets go of the lock however the process ends. */
static enum status take_lock(struct op *op, const char *path, int *lock)
{
    *lock = open(inside(op, path, "LOCK"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (*lock < 0)
        return op_fail(op, ST_UNAVAILABLE, "cannot use %s: %s", path, strerror(errno));
    if (flock(*lock, LOCK_EX | LOCK_NB) == 0)
        return ST_OK;
    return op_fail(op, ST_UNAVAILABLE,
                   "another server is using %s: stop it first, or give this one another --data", path);
}

/* Whoever names a folder of something else by mistake would delete that with the data. */
static bool is_empty(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    bool empty = true;

    while (directory && (entry = readdir(directory)))
        empty &= entry->d_name[0] == '.' || strcmp(entry->d_name, "LOCK") == 0 ||
                 strcmp(entry->d_name, "FORMAT.new") == 0 || strcmp(entry->d_name, "lost+found") == 0;
    if (directory)
        closedir(directory);
    return empty;
}

static enum status write_format(struct op *op, const char *path, const char *file)
{
    const char *fresh = inside(op, path, "FORMAT.new");
    FILE *out = fopen(fresh, "w");
    bool written = out && fprintf(out, "orrery data format %d\n", DIRECTORY_FORMAT) > 0 && fflush(out) == 0 &&
                   fsync(fileno(out)) == 0;

    if (out)
        written &= fclose(out) == 0;
    if (!written || rename(fresh, file) != 0)
        return op_fail(op, ST_UNAVAILABLE, "cannot write %s: %s", file, strerror(errno));
    return ST_OK;
}

static enum status check_format(struct op *op, const char *path, bool read_only)
{
    const char *file = inside(op, path, "FORMAT");
    FILE *in = fopen(file, "r");
    int format = 0, read;

    if (!in && errno == ENOENT && !read_only)
        return is_empty(path) ? write_format(op, path, file)
                              : op_fail(op, ST_UNAVAILABLE, "%s is not empty, and no data directory", path);
    if (!in)
        return op_fail(op, ST_UNAVAILABLE, "%s is no data directory: %s: %s", path, file, strerror(errno));
    read = fscanf(in, "orrery data format %d", &format);
    fclose(in);
    if (read != 1 || format < 1)
        return op_fail(op, ST_CORRUPT, "%s is damaged", file);
    if (format > DIRECTORY_FORMAT)
        return op_fail(op, ST_UNAVAILABLE,
                       "%s has data of format %d, and this program knows formats up to %d: use a newer one",
                       path, format, DIRECTORY_FORMAT);
    return ST_OK;
}

enum status directory_open(struct op *op, const char *path, bool read_only, struct directory *directory)
{
    enum status st;

    *directory = (struct directory){
        .path = path,
        .store = inside(op, path, "store"),
        .tls_cert = inside(op, path, "tls/cert.pem"),
        .tls_key = inside(op, path, "tls/key.pem"),
        .lock = -1,
    };
    if (read_only)
        TRY(check_format(op, path, true)); /* first: nothing is made in what is no data directory */
    else
        TRY(make_directory(op, path));
    TRY(take_lock(op, path, &directory->lock));
    if (!read_only) {
        TRY(check_format(op, path, false));
        TRY(make_directory(op, inside(op, path, "tls")));
    }
out:
    if (st != ST_OK)
        directory_close(directory);
    return st;
}

void directory_close(struct directory *directory)
{
    if (directory->lock >= 0)
        close(directory->lock);
    directory->lock = -1;
}
