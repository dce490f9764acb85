/* src/script/child.c - a process over a socket pair: spawn, frames, deadline, memory. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/thread.h"
#include "script/child.h"

enum {
    HELLO_MS = 10 * 1000, /* a machine that is busy takes its time to load a library of 30 MB */
    ENDING_MS = 100,
    MEMORY_LOOK_MS = 10,     /* between two looks at a child's memory: it grows by some megabytes meanwhile */
    INPUT_BYTES = 64 * 1024, /* of what is read at a time */
};

struct script_child {
    struct script_child *next;
    struct turn place;
    int64_t idle_since_ms, looked_ms;
    pid_t pid;
    int socket, statm;
    long page_bytes;
    struct arena memory; /* of what is to be sent */
    struct buf output;
    uint64_t loaded[FRAME_SOURCES_MAX]; /* hashes of keys, in the order in which they were sent */
    size_t loaded_next;
    char input[INPUT_BYTES]; /* received, and not yet taken */
    size_t input_from, input_to;
};

struct script_child **child_next(struct script_child *child)
{
    return &child->next;
}

struct turn *child_place(struct script_child *child)
{
    return &child->place;
}

int64_t *child_idle_since_ms(struct script_child *child)
{
    return &child->idle_since_ms;
}

/* ---- starting and ending ---- */

/* The child gets its socket, our log until its sandbox is closed, and nothing else: no file, no environment, no blocked
   signals. */
static bool spawn(const char *program, int socket, pid_t *pid)
{
    char *const argv[] = { "orrery-js", NULL }, *const envp[] = { NULL };
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, all;
    int failed;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&how, 0);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, socket, FRAME_FD);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&files, 0, 1);
    posix_spawn_file_actions_addclosefrom_np(&files, FRAME_FD + 1);
    failed = posix_spawn(pid, program, &files, &how, argv, envp);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    return failed == 0;
}

/* Moves a descriptor above those that the child gets, so that it is none of them. */
static int above(int descriptor)
{
    int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, FRAME_FD + 1);

    close(descriptor);
    return moved;
}

static int open_statm(pid_t pid)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static bool connect_pair(const char *program, struct script_child *child)
{
    int pair[2];
    bool started;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return false;
    pair[0] = above(pair[0]);
    pair[1] = above(pair[1]);
    started = pair[0] >= 0 && pair[1] >= 0 && spawn(program, pair[1], &child->pid);
    if (pair[1] >= 0)
        close(pair[1]);
    child->socket = pair[0];
    if (started)
        child->statm = open_statm(child->pid);
    return started;
}

static bool says_hello(struct script_child *child, struct env *env)
{
    struct child_limits limits = { .until_ms = env_monotonic_ms(env) + HELLO_MS, .memory_bytes = SIZE_MAX };
    struct arena memory;
    struct frame frame;
    bool hello;

    arena_init(&memory, FRAME_BYTES_MAX);
    hello = child_receive(child, env, limits, &memory, &frame) == CHILD_ALIVE && frame.kind == FRAME_HELLO;
    arena_free(&memory);
    return hello;
}

/* Whether a signal ended the child before we do. Its socket is closed a moment before the kernel knows how it ended. */
static bool was_killed(const struct script_child *child)
{
    siginfo_t how = { 0 };

    if (child->pid <= 0)
        return false;
    for (int ms = 0; ms < ENDING_MS && how.si_pid == 0; ms++) {
        if (waitid(P_PID, (id_t)child->pid, &how, WEXITED | WNOHANG | WNOWAIT) != 0)
            return false;
        if (how.si_pid == 0)
            poll(NULL, 0, 1);
    }
    return how.si_pid == child->pid && how.si_code != CLD_EXITED;
}

struct script_child *child_start(struct env *env, const char *program, bool *killed)
{
    struct script_child *child = calloc(1, sizeof(*child));

    thread_assert_may_block();
    *killed = false;
    if (!child)
        return NULL;
    child->socket = child->statm = -1;
    child->page_bytes = sysconf(_SC_PAGESIZE);
    arena_init(&child->memory, 2 * (size_t)FRAME_BYTES_MAX);
    buf_init(&child->output, &child->memory);
    if (connect_pair(program, child) && says_hello(child, env))
        return child;
    *killed = was_killed(child);
    child_end(child);
    return NULL;
}

void child_end(struct script_child *child)
{
    if (!child)
        return;
    if (child->pid > 0) {
        kill(-child->pid, SIGKILL);
        while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (child->socket >= 0)
        close(child->socket);
    if (child->statm >= 0)
        close(child->statm);
    arena_free(&child->memory);
    free(child);
}

/* ---- what it has ---- */

static uint64_t *find_loaded(struct script_child *child, struct slice key)
{
    uint64_t hash = murmur3_128(key.data, key.size).h1;

    for (size_t i = 0; i < FRAME_SOURCES_MAX; i++)
        if (child->loaded[i] == hash)
            return &child->loaded[i];
    return NULL;
}

bool child_loads(struct script_child *child, struct slice key)
{
    if (find_loaded(child, key))
        return true;
    child->loaded[child->loaded_next++ % FRAME_SOURCES_MAX] = murmur3_128(key.data, key.size).h1;
    return false;
}

void child_forgot(struct script_child *child, struct slice key)
{
    uint64_t *loaded = find_loaded(child, key);

    if (loaded)
        *loaded = 0;
}

size_t child_memory_bytes(const struct script_child *child)
{
    char text[128];
    unsigned long total, resident;
    ssize_t size = pread(child->statm, text, sizeof(text) - 1, 0);

    if (size <= 0)
        return 0;
    text[size] = '\0';
    return sscanf(text, "%lu %lu", &total, &resident) == 2 ? resident * (size_t)child->page_bytes : 0;
}

int64_t child_cpu_ms(const struct script_child *child)
{
    struct timespec used;
    clockid_t clock;

    if (clock_getcpuclockid(child->pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return 0;
    return (int64_t)used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

/* ---- frames ---- */

void child_send(struct script_child *child, enum frame_kind kind, struct slice payload)
{
    uint32_t size = (uint32_t)payload.size + 1;
    uint8_t head[FRAME_HEADER_BYTES + 1] = { (uint8_t)size, (uint8_t)(size >> 8), (uint8_t)(size >> 16),
                                             (uint8_t)(size >> 24), (uint8_t)kind };

    buf_append(&child->output, head, sizeof(head));
    buf_slice(&child->output, payload);
}

/* Waits until the socket is ready. At least every MEMORY_LOOK_MS it looks at the child's memory. */
static enum child_end wait_for(struct script_child *child, struct env *env, struct child_limits limits,
                               short events)
{
    struct pollfd socket = { .fd = child->socket, .events = events };

    thread_assert_may_block();
    for (;;) {
        int64_t now_ms = env_monotonic_ms(env), left_ms = limits.until_ms - now_ms;
        int ready;

        if (now_ms - child->looked_ms >= MEMORY_LOOK_MS) {
            child->looked_ms = now_ms;
            if (child_memory_bytes(child) > limits.memory_bytes)
                return CHILD_LARGE;
        }
        if (left_ms <= 0)
            return CHILD_LATE;
        ready = poll(&socket, 1, left_ms < MEMORY_LOOK_MS ? (int)left_ms : MEMORY_LOOK_MS);
        if (ready > 0)
            return CHILD_ALIVE;
        if (ready < 0 && errno != EINTR)
            return CHILD_GONE;
    }
}

static enum child_end send_all(struct script_child *child, struct env *env, struct child_limits limits)
{
    enum child_end end = child->output.failed ? CHILD_GONE : CHILD_ALIVE;
    size_t sent = 0;

    while (end == CHILD_ALIVE && sent < child->output.size) {
        ssize_t size = send(child->socket, child->output.data + sent, child->output.size - sent,
                            MSG_NOSIGNAL | MSG_DONTWAIT);

        if (size >= 0)
            sent += (size_t)size;
        else if (errno == EAGAIN)
            end = wait_for(child, env, limits, POLLOUT);
        else if (errno != EINTR)
            end = CHILD_GONE;
    }
    assert(sent <= child->output.size);
    arena_reset(&child->memory);
    buf_init(&child->output, &child->memory);
    return end;
}

bool child_flush(struct script_child *child, struct env *env)
{
    struct child_limits at_once = { .until_ms = env_monotonic_ms(env), .memory_bytes = SIZE_MAX };

    return send_all(child, env, at_once) == CHILD_ALIVE;
}

static enum child_end read_some(struct script_child *child, struct env *env, struct child_limits limits,
                                void *to, size_t capacity, size_t *size)
{
    for (;;) {
        ssize_t got = recv(child->socket, to, capacity, MSG_DONTWAIT);
        enum child_end end;

        *size = got > 0 ? (size_t)got : 0;
        if (got > 0)
            return CHILD_ALIVE;
        if (got == 0 || (errno != EAGAIN && errno != EINTR))
            return CHILD_GONE;
        end = wait_for(child, env, limits, POLLIN);
        if (end != CHILD_ALIVE)
            return end;
    }
}

/* Takes `size` bytes: first those that are here already; a long rest is read straight to its place. */
static enum child_end take(struct script_child *child, struct env *env, struct child_limits limits, char *to,
                           size_t size)
{
    enum child_end end = CHILD_ALIVE;

    while (size && end == CHILD_ALIVE) {
        size_t here = child->input_to - child->input_from, got;

        assert(child->input_from <= child->input_to);
        assert(child->input_to <= INPUT_BYTES);
        if (here > 0) {
            got = here < size ? here : size;
            memcpy(to, child->input + child->input_from, got);
            child->input_from += got;
            to += got;
            size -= got;
        } else if (size >= INPUT_BYTES) {
            end = read_some(child, env, limits, to, size, &got);
            to += got;
            size -= got;
        } else {
            child->input_from = 0;
            end = read_some(child, env, limits, child->input, INPUT_BYTES, &child->input_to);
        }
    }
    return end;
}

enum child_end child_receive(struct script_child *child, struct env *env, struct child_limits limits,
                             struct arena *memory, struct frame *frame)
{
    uint8_t head[FRAME_HEADER_BYTES];
    enum child_end end = send_all(child, env, limits);
    uint32_t size;
    char *content;

    if (end == CHILD_ALIVE)
        end = take(child, env, limits, (char *)head, sizeof(head));
    if (end != CHILD_ALIVE)
        return end;
    size = head[0] | (uint32_t)head[1] << 8 | (uint32_t)head[2] << 16 | (uint32_t)head[3] << 24;
    if (size < 1 || size > FRAME_BYTES_MAX)
        return CHILD_GONE;
    content = arena_try_alloc(memory, size);
    if (!content)
        return CHILD_LARGE;
    end = take(child, env, limits, content, size);
    if (end == CHILD_ALIVE)
        *frame = (struct frame){ (enum frame_kind)content[0], slice_make(content + 1, size - 1) };
    return end;
}
