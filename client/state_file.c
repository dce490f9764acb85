/* client/state_file.c - a resolver's state in a file: written beside its place, then put there at once. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state.h"

static bool write_all(int file, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t written = write(file, text, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        text += written;
        size -= (size_t)written;
    }
    return fsync(file) == 0;
}

/* Makes the new name survive a power cut. A file system that cannot do that has not promised it. */
static void sync_folder(char *path)
{
    int folder = open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (folder < 0)
        return;
    (void)fsync(folder);
    close(folder);
}

static orrery_status put_in_place(char *draft, const char *path, const char *json)
{
    int file = mkostemp(draft, O_CLOEXEC);
    bool is_good;

    if (file < 0)
        return ORRERY_EIO;
    is_good = write_all(file, json, strlen(json));
    is_good = close(file) == 0 && is_good;
    if (is_good && rename(draft, path) == 0)
        return ORRERY_OK;
    unlink(draft);
    return ORRERY_EIO;
}

orrery_status orrery_resolver_save_file(orrery_resolver *resolver, const char *path)
{
    char *json = NULL, *draft;
    orrery_status status;
    size_t size;

    if (!path || !*path)
        return ORRERY_EINVAL;
    status = orrery_resolver_save(resolver, &json);
    if (status != ORRERY_OK)
        return status;
    size = strlen(path) + sizeof(".XXXXXX");
    draft = allocator_get(size);
    if (draft) {
        snprintf(draft, size, "%s.XXXXXX", path);
        status = put_in_place(draft, path, json);
        if (status == ORRERY_OK)
            sync_folder(draft);
    }
    allocator_free(json);
    allocator_free(draft);
    return draft ? status : ORRERY_ENOMEM;
}

static orrery_status read_all(int file, struct arena *arena, struct slice *text)
{
    struct buf out;
    ssize_t count;

    buf_init(&out, arena);
    do {
        char *room = buf_reserve(&out, 16 * 1024);

        if (!room)
            return ORRERY_ENOMEM;
        count = read(file, room, 16 * 1024);
        if (count < 0 && errno != EINTR)
            return ORRERY_EIO;
        out.size += count > 0 ? (size_t)count : 0;
        if (out.size > STATE_BYTES_MAX)
            return ORRERY_ESTATE;
    } while (count != 0);
    *text = buf_as_slice(&out);
    return ORRERY_OK;
}

orrery_status orrery_resolver_load_file(const char *path, const orrery_load_options *options,
                                        orrery_resolver **resolver)
{
    struct arena arena;
    struct slice text;
    orrery_status status;
    int file;

    if (!resolver)
        return ORRERY_EINVAL;
    *resolver = NULL;
    if (!path)
        return ORRERY_EINVAL;
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno == ENOENT ? ORRERY_ENOTFOUND : ORRERY_EIO;
    arena_init(&arena, SCRATCH_BYTES_MAX);
    status = read_all(file, &arena, &text);
    if (status == ORRERY_OK)
        status = orrery_resolver_load(text.data, text.size, options, resolver);
    arena_free(&arena);
    close(file);
    return status;
}
