/* src/store/folder.c - folders of files. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/folder.h"

uint64_t folder_bytes(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    uint64_t bytes = 0;
    struct stat info;

    if (!folder)
        return 0;
    while ((entry = readdir(folder)))
        if (fstatat(dirfd(folder), entry->d_name, &info, 0) == 0 && S_ISREG(info.st_mode))
            bytes += (uint64_t)info.st_blocks * 512;
    closedir(folder);
    return bytes;
}

static bool copy_bytes(int from, int to)
{
    ssize_t moved;

    while ((moved = sendfile(to, from, NULL, 1024 * 1024)) > 0)
        ;
    return moved == 0 && fsync(to) == 0;
}

static bool copy_file(int from_folder, int to_folder, const char *name)
{
    int from = openat(from_folder, name, O_RDONLY | O_CLOEXEC);
    int to = openat(to_folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool copied = from >= 0 && to >= 0 && copy_bytes(from, to);

    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    return copied;
}

static bool ends_with(const char *name, const char *ending)
{
    size_t size = strlen(name), tail = strlen(ending);

    return size >= tail && strcmp(name + size - tail, ending) == 0;
}

bool folder_copy(const char *from, const char *to, const char *ending)
{
    DIR *source = opendir(from), *target = mkdir(to, 0700) == 0 ? opendir(to) : NULL;
    bool copied = source && target;
    struct dirent *entry;

    while (copied && (entry = readdir(source)))
        if (entry->d_name[0] != '.' && ends_with(entry->d_name, ending))
            copied = copy_file(dirfd(source), dirfd(target), entry->d_name);
    copied = copied && fsync(dirfd(target)) == 0;
    if (source)
        closedir(source);
    if (target)
        closedir(target);
    return copied;
}

static bool is_made_anew(const char *name)
{
    return strcmp(name, "LOCK") == 0 || strncmp(name, "LOG", 3) == 0 || strncmp(name, "OPTIONS", 7) == 0;
}

bool folder_link(const char *from, const char *to, const char *ending)
{
    DIR *source = opendir(from), *target = mkdir(to, 0700) == 0 ? opendir(to) : NULL;
    bool made = source && target;
    struct dirent *entry;

    while (made && (entry = readdir(source))) {
        const char *name = entry->d_name;

        if (name[0] == '.' || is_made_anew(name))
            continue;
        made = ends_with(name, ending) ? linkat(dirfd(source), name, dirfd(target), name, 0) == 0
                                       : copy_file(dirfd(source), dirfd(target), name);
    }
    made = made && fsync(dirfd(target)) == 0;
    if (source)
        closedir(source);
    if (target)
        closedir(target);
    return made;
}

void folder_clear(const char *path, const char *ending)
{
    DIR *folder = opendir(path);
    struct dirent *entry;

    while (folder && (entry = readdir(folder)))
        if (ends_with(entry->d_name, ending))
            unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
}

void folder_remove(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;

    while (folder && (entry = readdir(folder)))
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
    rmdir(path);
}
