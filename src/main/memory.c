/* src/main/memory.c - limits of machine and control group, and the settings that follow from them. */
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "main/memory.h"

/* Of a thread. The deepest query and the deepest JSON take a part of it; sanitizers' frames are many times as large. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STACK_BYTES = 8 * 1024 * 1024 };
#else
enum { STACK_BYTES = 1024 * 1024 };
#endif

enum {
    CACHE_MB_MAX = 1024, /* unless somebody asks for more */
    CACHE_PART = 16,     /* of all memory, one in so many */
    PROGRAM_MB = 128,    /* write buffers, code, threads, and what an idle server has of everything */

    ARENAS_PER_CORE = 2, /* of the allocator's own, each of which keeps what it was given back */

    SPARE_BYTES_MIN = 16 * 1024 * 1024, /* less is soon wanted again */
    SPARE_PART = 8,                     /* and so is one in so many of what is held */
    GIVE_BACK_MS = 10 * 1000,           /* each page that is wanted again costs the system a fault */
    GIVE_BACK_IN_VAIN_MS = 60 * 1000,   /* what is left lies in pages that others use */
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* A file with one number in it. SIZE_MAX when there is none: "max", or no such file. */
static size_t read_number(const char *path)
{
    FILE *file = fopen(path, "r");
    unsigned long long number = ULLONG_MAX;

    if (!file)
        return SIZE_MAX;
    if (fscanf(file, "%llu", &number) != 1)
        number = ULLONG_MAX;
    fclose(file);
    return (size_t)number;
}

/* A line of /proc/self/cgroup: 0::/path of the newer kind, or N:memory:/path of the older. */
static size_t limit_of_group(char *line)
{
    char path[PATH_MAX], *name = strchr(line, ':'), *group = name ? strchr(name + 1, ':') : NULL;

    line[strcspn(line, "\n")] = '\0';
    if (!group)
        return SIZE_MAX;
    *group++ = '\0';
    if (name[1] == '\0')
        snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.max", group);
    else if (strcmp(name + 1, "memory") == 0)
        snprintf(path, sizeof(path), "/sys/fs/cgroup/memory%s/memory.limit_in_bytes", group);
    else
        return SIZE_MAX;
    return read_number(path);
}

/* In a container its own group often looks like the root. */
static size_t limit_of_groups(void)
{
    size_t limit = least(read_number("/sys/fs/cgroup/memory.max"),
                         read_number("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
    FILE *file = fopen("/proc/self/cgroup", "r");
    char line[PATH_MAX];

    while (file && fgets(line, sizeof(line), file))
        limit = least(limit, limit_of_group(line));
    if (file)
        fclose(file);
    return limit;
}

size_t memory_available_mb(void)
{
    size_t machine = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    struct rlimit limit;

    machine = least(machine, limit_of_groups());
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        machine = least(machine, limit.rlim_cur);
    return machine >> 20;
}

static void spare_stacks(void)
{
    pthread_attr_t how;

    if (pthread_attr_init(&how) != 0)
        return;
    if (pthread_attr_setstacksize(&how, STACK_BYTES) == 0)
        pthread_setattr_default_np(&how);
    pthread_attr_destroy(&how);
}

void memory_spare(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    mallopt(M_ARENA_MAX, ARENAS_PER_CORE * (int)(cores > 1 ? cores : 2));
    spare_stacks();
}

/* The cache, documents in it once more, what is new in the index, its filters and unpacked pages. */
size_t memory_fixed_bytes(long cache_mb)
{
    size_t cache = (size_t)cache_mb << 20;

    return cache + cache / 8 + cache / 2 + cache + cache / 8 + ((size_t)PROGRAM_MB << 20);
}

const char *memory_settle(struct settings *settings, size_t available_mb)
{
    size_t half_mb = available_mb / 2 > MEMORY_MB_MIN ? available_mb / 2 : MEMORY_MB_MIN;

    if (settings->memory_mb == 0)
        settings->memory_mb = (long)least(half_mb, SETTING_NUMBER_MAX);
    if (settings->memory_mb < MEMORY_MB_MIN)
        return "less than the server needs (256): --memory";
    if (settings->cache_mb == 0)
        settings->cache_mb = (long)least((size_t)settings->memory_mb / CACHE_PART, CACHE_MB_MAX);
    if (memory_fixed_bytes(settings->cache_mb) > ((size_t)settings->memory_mb << 20) / 4 * 3)
        return "more than --memory has room for: --cache-mb";
    return NULL;
}

/* ---- what is not needed any more ---- */

static void read_resident(struct memory_use *use)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long long resident, shared;

    if (!file)
        return;
    if (fscanf(file, "%*u %llu %llu", &resident, &shared) == 2 && shared <= resident) {
        use->resident_bytes = resident * (uint64_t)sysconf(_SC_PAGESIZE);
        use->own_bytes = (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
    }
    fclose(file);
}

void memory_use(struct memory_use *use)
{
    struct mallinfo2 heap = mallinfo2();

    *use = (struct memory_use){ .heap_bytes = heap.uordblks + heap.hblkhd };
    read_resident(use);
}

bool memory_is_spare(const struct memory_use *use)
{
    if (use->heap_bytes == 0) /* another allocator, which has ways of its own */
        return false;
    return use->own_bytes > use->heap_bytes + use->heap_bytes / SPARE_PART + SPARE_BYTES_MIN;
}

void memory_give_back(int64_t now_ms, int64_t *due_ms)
{
    struct memory_use before, after;

    if (now_ms < *due_ms)
        return;
    *due_ms = now_ms + GIVE_BACK_MS;
    memory_use(&before);
    if (!memory_is_spare(&before))
        return;
    malloc_trim(0);
    memory_use(&after);
    if (after.own_bytes + SPARE_BYTES_MIN / 2 > before.own_bytes)
        *due_ms = now_ms + GIVE_BACK_IN_VAIN_MS;
}
