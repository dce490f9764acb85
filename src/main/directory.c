/* src/main/directory.c - taking hold of the data directory. */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "main/directory.h"
#include "store/folder.h"

const char *directory_inside(struct op *op, const char *directory, const char *name)
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

/*
 * The kernel releases the lock however the process ends. The address of an earlier process is removed from the file.
 */
enum status directory_lock(struct op *op, const char *path, int *lock)
{
    *lock = open(directory_inside(op, path, "LOCK"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (*lock < 0)
        return op_fail(op, ST_UNAVAILABLE, "cannot use %s: %s", path, strerror(errno));
    if (flock(*lock, LOCK_EX | LOCK_NB) != 0)
        return op_fail(op, ST_UNAVAILABLE,
                       "another server is using %s: stop it first, or give this one another --data", path);
    if (ftruncate(*lock, 0) != 0)
        return op_fail(op, ST_UNAVAILABLE, "cannot use %s: %s", path, strerror(errno));
    return ST_OK;
}

void directory_announce(const struct directory *directory, const char *address)
{
    assert(directory->lock >= 0);
    assert(strlen(address) < DIRECTORY_ADDRESS_SIZE); /* directory_is_held() reads no more */
    if (pwrite(directory->lock, address, strlen(address), 0) < 0)
        log_line(LOG_WARN, "cannot write the address into %s/LOCK: %s", directory->path, strerror(errno));
}

bool directory_is_held(struct op *op, const char *path, char address[DIRECTORY_ADDRESS_SIZE])
{
    int lock = open(directory_inside(op, path, "LOCK"), O_RDONLY | O_CLOEXEC);
    bool is_held = lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) != 0;
    ssize_t size = is_held ? pread(lock, address, DIRECTORY_ADDRESS_SIZE - 1, 0) : 0;

    address[size > 0 ? size : 0] = '\0';
    if (lock >= 0)
        close(lock);
    return is_held;
}

/* Itself and its parent, what a server that was just stopped may have left, what the file system has there. */
static bool is_nothing(const char *name)
{
    static const char *const names[] = { ".", "..", "LOCK", "FORMAT.new", "lost+found" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/*
 * A folder with other files, hidden ones among them, is refused: a user who named it by mistake would later delete them
 * with the data.
 */
bool directory_is_empty(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    bool empty = true;

    while (directory && (entry = readdir(directory)))
        empty &= is_nothing(entry->d_name);
    if (directory)
        closedir(directory);
    return empty;
}

bool directory_sync(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool synced = folder >= 0 && fsync(folder) == 0;

    if (folder >= 0)
        close(folder);
    return synced;
}

bool directory_sync_parent(const char *path)
{
    const char *slash = strrchr(path, '/');
    char parent[PATH_MAX];

    snprintf(parent, sizeof(parent), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return directory_sync(parent);
}

enum status directory_write_format(struct op *op, const char *path, int format)
{
    const char *file = directory_inside(op, path, "FORMAT"),
               *fresh = directory_inside(op, path, "FORMAT.new");
    FILE *out = fopen(fresh, "w");
    bool written = out && fprintf(out, "orrery data format %d\n", format) > 0 && fflush(out) == 0 &&
                   fsync(fileno(out)) == 0;

    assert(format >= 1); /* read_format() takes no other */
    if (out)
        written &= fclose(out) == 0;
    if (!written || rename(fresh, file) != 0 || !directory_sync(path))
        return op_fail(op, ST_UNAVAILABLE, "cannot write %s: %s", file, strerror(errno));
    return ST_OK;
}

/* ---- which folder has the store ---- */

static bool is_store_name(const char *name)
{
    return strcmp(name, "store") == 0 ||
           (strncmp(name, "store.", 6) == 0 && name[6] && strspn(name + 6, "0123456789") == strlen(name + 6));
}

/* What STORE names, "store" where there is none. */
static enum status read_store_name(struct op *op, const char *path, const char **name)
{
    const char *file = directory_inside(op, path, "STORE");
    FILE *in = fopen(file, "r");
    char line[64] = "";

    *name = "store";
    if (!in)
        return errno == ENOENT ? ST_OK
                               : op_fail(op, ST_UNAVAILABLE, "cannot read %s: %s", file, strerror(errno));
    if (!fgets(line, sizeof(line), in))
        line[0] = '\0';
    fclose(in);
    line[strcspn(line, "\n")] = '\0';
    if (!is_store_name(line))
        return op_fail(op, ST_CORRUPT, "%s is damaged", file);
    *name = arena_text(&op->arena, slice_of(line));
    return ST_OK;
}

/* What RocksDB makes first when it makes a copy there counts, too: store.3.tmp */
static bool is_of_a_restore(const char *name)
{
    return is_store_name(name) || (strncmp(name, "store.", 6) == 0 && name[6] >= '0' && name[6] <= '9');
}

/* The stores that a restore was making, or had left, when the server ended. */
static void remove_other_stores(struct op *op, const char *path, const char *name)
{
    DIR *folder = opendir(path);
    struct dirent *entry;

    while (folder && (entry = readdir(folder)))
        if (is_of_a_restore(entry->d_name) && strcmp(entry->d_name, name) != 0)
            folder_remove(directory_inside(op, path, entry->d_name));
    if (folder)
        closedir(folder);
}

/*
 * The store gets its usual name, which older programs look for. Cut off anywhere it is repeated by the next start: STORE
 * names a folder that is there, or one that has been renamed.
 */
enum status directory_settle(struct op *op, struct directory *directory)
{
    const char *usual = directory_inside(op, directory->path, "store"), *name, *named;
    enum status st;

    TRY(read_store_name(op, directory->path, &name));
    named = directory_inside(op, directory->path, name);
    if (access(named, F_OK) != 0)
        name = "store";
    remove_other_stores(op, directory->path, name);
    directory->store = usual;
    if (strcmp(name, "store") != 0 && (rename(named, usual) != 0 || !directory_sync(directory->path)))
        TRY(op_fail(op, ST_UNAVAILABLE, "cannot rename %s: %s", named, strerror(errno)));
    if (unlink(directory_inside(op, directory->path, "STORE")) != 0 && errno != ENOENT)
        TRY(op_fail(op, ST_UNAVAILABLE, "cannot remove %s/STORE: %s", directory->path, strerror(errno)));
out:
    return st;
}

/* For those who change nothing. */
static enum status find_store(struct op *op, struct directory *directory)
{
    const char *name;
    enum status st;

    TRY(read_store_name(op, directory->path, &name));
    if (access(directory_inside(op, directory->path, name), F_OK) == 0)
        directory->store = directory_inside(op, directory->path, name);
out:
    return st;
}

enum status directory_switch(struct op *op, struct directory *directory, const char *store)
{
    const char *file = directory_inside(op, directory->path, "STORE"),
               *fresh = directory_inside(op, directory->path, "STORE.new");
    const char *name = strrchr(store, '/') + 1;
    FILE *out = fopen(fresh, "w");
    bool written = out && fprintf(out, "%s\n", name) > 0 && fflush(out) == 0 && fsync(fileno(out)) == 0;

    assert(is_store_name(name));
    if (out)
        written &= fclose(out) == 0;
    if (!written || !directory_sync(directory->path) || rename(fresh, file) != 0)
        return op_fail(op, ST_UNAVAILABLE, "cannot write %s: %s", file, strerror(errno));
    if (!directory_sync(directory->path))
        log_line(LOG_ERROR, "%s is not safe from a power cut: %s", file, strerror(errno));
    directory->store = store;
    return ST_OK;
}

/* The one line that directory_write_format() writes, and nothing else. */
static bool parse_format(const char *line, size_t size, int *format)
{
    static const char before[] = "orrery data format ";
    size_t prefix = sizeof(before) - 1;
    uint64_t number;

    if (size <= prefix || memcmp(line, before, prefix) != 0 || line[size - 1] != '\n' ||
        !slice_to_u64(slice_make(line + prefix, size - prefix - 1), &number) || number < 1 ||
        number > INT_MAX)
        return false;
    *format = (int)number;
    return true;
}

/* The directory's format; 0 when it has none yet. */
static enum status read_format(struct op *op, const char *path, bool read_only, int *format)
{
    const char *file = directory_inside(op, path, "FORMAT");
    FILE *in = fopen(file, "r");
    char line[64];
    size_t size;

    *format = 0;
    if (!in && errno == ENOENT && !read_only)
        return directory_is_empty(path)
                   ? ST_OK
                   : op_fail(op, ST_UNAVAILABLE, "%s is not empty, and no data directory", path);
    if (!in)
        return op_fail(op, ST_UNAVAILABLE, "%s is no data directory: %s: %s", path, file, strerror(errno));
    size = fread(line, 1, sizeof(line), in);
    fclose(in);
    return parse_format(line, size, format) ? ST_OK : op_fail(op, ST_CORRUPT, "%s is damaged", file);
}

static enum status check_format(struct op *op, const struct formats *formats, const char *path, int format)
{
    if (format > formats->present)
        return op_fail(op, ST_UNAVAILABLE,
                       "%s has data of format %d, and this program knows formats up to %d: use a newer one",
                       path, format, formats->present);
    return ST_OK;
}

/* Reading makes nothing in a folder that is no data directory, and changes nothing in one that is. */
static enum status open_to_read(struct op *op, const struct formats *formats, struct directory *directory)
{
    const char *path = directory->path;
    int format;
    enum status st;

    TRY(read_format(op, path, true, &format));
    TRY(check_format(op, formats, path, format));
    if (format < formats->present)
        TRY(op_fail(op, ST_UNAVAILABLE,
                    "%s has data of format %d: start the server on it once, which brings it to format %d",
                    path, format, formats->present));
    TRY(directory_lock(op, path, &directory->lock));
    TRY(find_store(op, directory));
out:
    return st;
}

/* Others may read nothing of it and its group may write nothing; PostgreSQL wants the same of its directory. */
enum { MODE_OF_OTHERS = S_IRWXO | S_IWGRP };

/* What holds data already may have been open to others for long, which is for its owner to judge. */
static enum status check_mode(struct op *op, const char *path, int format)
{
    struct stat info;

    if (stat(path, &info) != 0)
        return op_fail(op, ST_UNAVAILABLE, "cannot use %s: %s", path, strerror(errno));
    if (!(info.st_mode & MODE_OF_OTHERS) || (format == 0 && chmod(path, 0700) == 0))
        return ST_OK;
    return op_fail(op, ST_UNAVAILABLE,
                   "%s is open to other users (mode %03o): the data directory must be its owner's alone: "
                   "chmod 700 it",
                   path, (unsigned)info.st_mode & 0777);
}

static enum status open_to_write(struct op *op, const struct formats *formats, struct directory *directory)
{
    const char *path = directory->path;
    int format;
    enum status st;

    TRY(make_directory(op, path));
    TRY(directory_lock(op, path, &directory->lock));
    TRY(read_format(op, path, false, &format));
    TRY(check_format(op, formats, path, format));
    TRY(check_mode(op, path, format));
    TRY(directory_settle(op, directory));
    if (format == 0)
        TRY(directory_write_format(op, path, formats->present));
    else
        TRY(migrate(op, formats, directory, format));
    TRY(make_directory(op, directory->tls));
out:
    return st;
}

enum status directory_open_as(struct op *op, const struct formats *formats, const char *path, bool read_only,
                              struct directory *directory)
{
    enum status st;

    *directory = (struct directory){
        .path = path,
        .store = directory_inside(op, path, "store"),
        .tls = directory_inside(op, path, "tls"),
        .tls_cert = directory_inside(op, path, "tls/cert.pem"),
        .tls_key = directory_inside(op, path, "tls/key.pem"),
        .lock = -1,
    };
    st = read_only ? open_to_read(op, formats, directory) : open_to_write(op, formats, directory);
    if (st != ST_OK)
        directory_close(directory);
    return st;
}

enum status directory_open(struct op *op, const char *path, bool read_only, struct directory *directory)
{
    return directory_open_as(op, &formats_known, path, read_only, directory);
}

void directory_close(struct directory *directory)
{
    if (directory->lock >= 0)
        close(directory->lock);
    directory->lock = -1;
}
