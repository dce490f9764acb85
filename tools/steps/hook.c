/*
 * tools/steps/hook.c - notes every function that the server enters, between two signals, and writes them to a file.
 * tools/steps/run builds the server with -finstrument-functions and this file. SIGUSR2 begins, and makes an empty STEPS_FILE
 * to say so. The next SIGUSR2 ends, and puts a whole one in its place: a line for each call, "thread function caller", in
 * hexadecimal, in the order of each thread.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CALLS_MAX = 1 << 22, DEPTH_MAX = 4096 };

struct noted {
    int thread;
    uintptr_t function, caller;
};

static struct noted *noted;
static atomic_size_t noted_count;
static atomic_bool is_noting;
static _Thread_local uintptr_t stack[DEPTH_MAX];
static _Thread_local int depth;

#define NOT_NOTED __attribute__((no_instrument_function))

NOT_NOTED static void write_file(const char *path, size_t count)
{
    char unfinished[4096];
    FILE *file;

    snprintf(unfinished, sizeof(unfinished), "%s.unfinished", path);
    file = fopen(unfinished, "w");
    if (!file)
        abort();
    for (size_t i = 0; i < count && i < CALLS_MAX; i++)
        fprintf(file, "%d %lx %lx\n", noted[i].thread, (unsigned long)noted[i].function,
                (unsigned long)noted[i].caller);
    fclose(file);
    if (rename(unfinished, path) != 0)
        abort();
}

/* Writing a file is nothing for a handler; but nothing else than measuring happens here, and the server idles. */
NOT_NOTED static void turn(int signal)
{
    bool was_noting = atomic_load(&is_noting);

    (void)signal;
    atomic_store(&is_noting, false);
    write_file(getenv("STEPS_FILE"), was_noting ? atomic_load(&noted_count) : 0);
    atomic_store(&noted_count, 0);
    atomic_store(&is_noting, !was_noting);
}

NOT_NOTED __attribute__((constructor)) static void begin(void)
{
    noted = calloc(CALLS_MAX, sizeof(*noted));
    if (!noted || !getenv("STEPS_FILE"))
        abort();
    signal(SIGUSR2, turn);
}

void __cyg_profile_func_enter(void *function, void *site) NOT_NOTED;
void __cyg_profile_func_exit(void *function, void *site) NOT_NOTED;

void __cyg_profile_func_enter(void *function, void *site)
{
    uintptr_t caller = depth > 0 && depth <= DEPTH_MAX ? stack[depth - 1] : 0;

    (void)site;
    if (depth < DEPTH_MAX)
        stack[depth] = (uintptr_t)function;
    depth++;
    if (atomic_load_explicit(&is_noting, memory_order_relaxed)) {
        size_t at = atomic_fetch_add(&noted_count, 1);

        if (at < CALLS_MAX)
            noted[at] = (struct noted){ gettid(), (uintptr_t)function, caller };
    }
}

void __cyg_profile_func_exit(void *function, void *site)
{
    (void)function, (void)site;
    depth--;
}
