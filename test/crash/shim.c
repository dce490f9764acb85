/*
 * test/crash/shim.c - preloaded into a server: remembers what each file's last sync covered, and makes disks fail.
 *
 *     LD_PRELOAD=shim.so ORRERY_SHIM_DIR=/data ORRERY_SHIM_STATE=/elsewhere/state orrery serve --data /data
 *
 * The state is a mapped file, made by the harness (power.py has the same layout), so it outlives
 * kill -9 and both sides see it at once. A record belongs to an inode, not to a name: it follows a
 * renamed file without any work here. An inode that is used again begins as an empty file that
 * is opened, and an empty file's record begins anew.
 *
 * What is not counted as a sync: sync_file_range, which promises nothing, and close. After a sync
 * that failed the kernel forgets what it could not write, so a later sync that succeeds proves
 * nothing about those bytes: the record never grows past the place where it stood.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FILES_MAX = 16384, FDS_MAX = 65536, PATH_SIZE = 4096 };

struct file {
    uint64_t inode;
    uint64_t synced_bytes; /* what the last completed sync covered */
    uint64_t lost_from;    /* where it stood when a sync failed; UINT64_MAX: none did */
    uint64_t is_synced;    /* at least once */
};

struct state {
    char magic[8];
    _Atomic int64_t fail_sync_in; /* n: the n-th sync from now fails; 0: none */
    _Atomic int64_t kill_sync_in; /* n: the process is killed before the n-th sync from now; 0: it is not */
    _Atomic int64_t space_bytes;  /* what still fits on the disk; -1: everything */
    _Atomic uint64_t syncs, failed_syncs, refused_writes;
    uint64_t file_count;
    struct file files[FILES_MAX];
};

static struct state *state;
static char directory[PATH_SIZE];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards the records */
static struct file *_Atomic opened[FDS_MAX];              /* by descriptor; NULL for what is not ours */

static void die(const char *what)
{
    fprintf(stderr, "shim: %s\n", what);
    abort();
}

/* Without its variables it does nothing, so that it may be preloaded into anything. */
__attribute__((constructor)) static void attach(void)
{
    const char *path = getenv("ORRERY_SHIM_STATE"), *below = getenv("ORRERY_SHIM_DIR");
    void *memory;
    int fd;

    if (!path || !below)
        return;
    snprintf(directory, sizeof(directory), "%s/", below);
    fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    memory = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED || memcmp(memory, "ORRSHIM1", sizeof(state->magic)) != 0)
        die("no state to attach to");
    syscall(SYS_close, fd);
    state = memory;
}

/* ---- records ---- */

static struct file *find_record(uint64_t inode)
{
    for (uint64_t i = 0; i < state->file_count; i++)
        if (state->files[i].inode == inode)
            return &state->files[i];
    return NULL;
}

/* What a file holds that was there before us counts as safe. */
static struct file *record_of(const struct stat *info)
{
    struct file fresh = { info->st_ino, (uint64_t)info->st_size, UINT64_MAX, info->st_size > 0 };
    struct file *record;

    pthread_mutex_lock(&mutex);
    record = find_record(info->st_ino);
    if (!record && state->file_count == FILES_MAX)
        die("too many files");
    if (!record || info->st_size == 0) {
        record = record ? record : &state->files[state->file_count];
        *record = fresh;
        if (record == &state->files[state->file_count])
            state->file_count++; /* last: a kill in between leaves no half record */
    }
    pthread_mutex_unlock(&mutex);
    return record;
}

static bool is_below(int fd)
{
    char link[64], path[PATH_SIZE];
    ssize_t size;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    size = readlink(link, path, sizeof(path));
    return size > 0 && (size_t)size > strlen(directory) && strncmp(path, directory, strlen(directory)) == 0;
}

/* Called with what an open gave back. */
static int watch(int fd, int flags)
{
    struct stat info;

    if (!state || fd < 0 || fd >= FDS_MAX || (flags & O_ACCMODE) == O_RDONLY)
        return fd;
    if (is_below(fd) && fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
        atomic_store(&opened[fd], record_of(&info));
    return fd;
}

static struct file *file_of(int fd)
{
    return fd >= 0 && fd < FDS_MAX ? atomic_load_explicit(&opened[fd], memory_order_relaxed) : NULL;
}

static void forget(int fd)
{
    if (fd >= 0 && fd < FDS_MAX)
        atomic_store(&opened[fd], NULL);
}

static void cut_record(struct file *file, uint64_t bytes)
{
    pthread_mutex_lock(&mutex);
    if (file->synced_bytes > bytes)
        file->synced_bytes = bytes;
    pthread_mutex_unlock(&mutex);
}

/* ---- open and close ---- */

static int open_watched(int at, const char *path, int flags, mode_t mode)
{
    return watch((int)syscall(SYS_openat, at, path, flags, mode), flags);
}

static mode_t mode_of(int flags, va_list args)
{
    return flags & O_CREAT ? va_arg(args, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = mode_of(flags, args);
    va_end(args);
    return open_watched(AT_FDCWD, path, flags, mode);
}

int openat(int at, const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = mode_of(flags, args);
    va_end(args);
    return open_watched(at, path, flags, mode);
}

int creat(const char *path, mode_t mode)
{
    return open_watched(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

FILE *fopen(const char *path, const char *how)
{
    FILE *(*real)(const char *, const char *) = dlsym(RTLD_NEXT, "fopen");
    FILE *stream = real(path, how);

    if (stream && (how[0] != 'r' || strchr(how, '+')))
        watch(fileno(stream), O_RDWR);
    return stream;
}

/* Before the descriptor is free: another thread may get it at once. */
int close(int fd)
{
    forget(fd);
    return (int)syscall(SYS_close, fd);
}

int fclose(FILE *stream)
{
    int (*real)(FILE *) = dlsym(RTLD_NEXT, "fclose");

    forget(fileno(stream));
    return real(stream);
}

/* ---- writing ---- */

/* How much of a write fits on the disk. */
static size_t admit(const struct file *file, size_t wanted)
{
    int64_t space = file ? atomic_load(&state->space_bytes) : -1;
    size_t fits;

    do {
        if (space < 0 || wanted == 0)
            return wanted;
        fits = (uint64_t)space < wanted ? (size_t)space : wanted;
    } while (!atomic_compare_exchange_weak(&state->space_bytes, &space, space - (int64_t)fits));
    if (fits < wanted)
        atomic_fetch_add(&state->refused_writes, 1);
    return fits;
}

static ssize_t no_space(void)
{
    errno = ENOSPC;
    return -1;
}

ssize_t write(int fd, const void *data, size_t size)
{
    size_t fits = admit(file_of(fd), size);

    return fits || !size ? syscall(SYS_write, fd, data, fits) : no_space();
}

/* Bytes below the synced length are safe no more when they are written again. */
ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    struct file *file = file_of(fd);
    size_t fits = admit(file, size);

    if (file)
        cut_record(file, (uint64_t)at);
    return fits || !size ? syscall(SYS_pwrite64, fd, data, fits, at) : no_space();
}

static size_t total(const struct iovec *parts, int count)
{
    size_t bytes = 0;

    for (int i = 0; i < count; i++)
        bytes += parts[i].iov_len;
    return bytes;
}

/* All or nothing: one kind of short write is enough. */
static bool admit_all(const struct file *file, const struct iovec *parts, int count)
{
    return !file || admit(file, total(parts, count)) == total(parts, count);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    return admit_all(file_of(fd), parts, count) ? syscall(SYS_writev, fd, parts, count) : no_space();
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at)
{
    struct file *file = file_of(fd);

    if (file)
        cut_record(file, (uint64_t)at);
    return admit_all(file, parts, count) ? syscall(SYS_pwritev, fd, parts, count, at, 0) : no_space();
}

int ftruncate(int fd, off_t size)
{
    if (file_of(fd))
        cut_record(file_of(fd), (uint64_t)size);
    return (int)syscall(SYS_ftruncate, fd, size);
}

int fallocate(int fd, int how, off_t from, off_t size)
{
    if (file_of(fd) && atomic_load(&state->space_bytes) >= 0)
        return (int)no_space();
    return (int)syscall(SYS_fallocate, fd, how, from, size);
}

/* ---- syncing ---- */

static bool is_due(_Atomic int64_t *countdown)
{
    int64_t left = atomic_load(countdown);

    while (left > 0)
        if (atomic_compare_exchange_weak(countdown, &left, left - 1))
            return left == 1;
    return false;
}

static void record_failure(struct file *file)
{
    pthread_mutex_lock(&mutex);
    if (file->lost_from > file->synced_bytes)
        file->lost_from = file->synced_bytes;
    pthread_mutex_unlock(&mutex);
    atomic_fetch_add(&state->failed_syncs, 1);
}

static void record_sync(struct file *file, uint64_t bytes)
{
    pthread_mutex_lock(&mutex);
    if (bytes > file->lost_from)
        bytes = file->lost_from;
    if (bytes > file->synced_bytes)
        file->synced_bytes = bytes;
    file->is_synced = 1;
    pthread_mutex_unlock(&mutex);
    atomic_fetch_add(&state->syncs, 1);
}

/* The length is taken first: what others append during the sync may not be covered. */
static int sync_watched(int fd, long call)
{
    struct file *file = file_of(fd);
    struct stat info;

    if (!file)
        return (int)syscall(call, fd);
    if (is_due(&state->kill_sync_in))
        kill(getpid(), SIGKILL);
    if (is_due(&state->fail_sync_in)) {
        record_failure(file);
        errno = EIO;
        return -1;
    }
    if (fstat(fd, &info) != 0 || syscall(call, fd) != 0)
        return -1;
    record_sync(file, (uint64_t)info.st_size);
    return 0;
}

int fsync(int fd)
{
    return sync_watched(fd, SYS_fsync);
}

int fdatasync(int fd)
{
    return sync_watched(fd, SYS_fdatasync);
}

/* ---- the names for files of 64-bit size, which all files are here ---- */

_Static_assert(sizeof(off_t) == sizeof(off64_t), "the 64-bit names are the same functions");

#define ALSO(name, other) extern typeof(other) name __attribute__((alias(#other)))
ALSO(open64, open);
ALSO(openat64, openat);
ALSO(creat64, creat);
ALSO(fopen64, fopen);
ALSO(pwrite64, pwrite);
ALSO(pwritev64, pwritev);
ALSO(ftruncate64, ftruncate);
ALSO(fallocate64, fallocate);
