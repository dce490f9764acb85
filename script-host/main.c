/*
 * script-host/main.c - orrery-js: runs the scripts of a database for the server that started it.
 * One frame in, one frame out, over fd 3; see src/script/frames.h. Run by hand it has nobody to speak to, and ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sandbox.h"
#include "sources.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>

/* What was freed is kept for a while, but less than usual: the server measures this process by its size. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=4";
}

/* What the sanitizer finds must be seen. */
static void end_log(int log)
{
    __sanitizer_set_report_fd((void *)(intptr_t)log);
}
#else
static void end_log(int log)
{
    close(log);
}
#endif

enum { NICE = 10 }; /* a tenth of what the server's own threads get of a core that both want */

static struct engine *engine;
static struct sources sources;
static struct frame frame;
static struct outgoing out;
static bool is_waiting; /* for the answers to what a run asked */

static void key_of(const struct frame *in, char key[KEY_BYTES_MAX + 1])
{
    if (!source_key(in->payload, key))
        frame_broken();
}

static void load(void)
{
    char key[KEY_BYTES_MAX + 1];
    struct script *script;

    key_of(&frame, key);
    if (sources_find(&sources, key))
        return;
    script = script_new(engine, frame.payload);
    if (!script)
        frame_broken();
    sources_add(&sources, key, script, frame.payload_bytes);
}

static void unknown(const char *key)
{
    char payload[KEY_BYTES_MAX + 16];

    snprintf(payload, sizeof(payload), "{\"key\":\"%s\"}", key);
    outgoing_set(&out, FRAME_UNKNOWN, payload);
    frame_write(FRAME_FD, &out);
}

/* The run's frame; when it was its last, the next run's context is made while the parent is busy with it. */
static void answer_run(void)
{
    is_waiting = out.buffer[FRAME_HEADER_BYTES] == FRAME_OPERATIONS;
    frame_write(FRAME_FD, &out);
    if (!is_waiting)
        engine_prepare(engine);
}

static void run(void)
{
    char key[KEY_BYTES_MAX + 1];
    struct script *script;

    key_of(&frame, key);
    if (is_waiting)
        frame_broken();
    script = sources_find(&sources, key);
    if (!script) {
        unknown(key);
        return;
    }
    engine_run(engine, script, frame.payload, &out);
    answer_run();
}

static void deliver(void)
{
    if (!is_waiting)
        frame_broken();
    engine_deliver(engine, frame.payload, &out);
    answer_run();
}

static void call(void)
{
    char key[KEY_BYTES_MAX + 1];
    struct script *script;

    key_of(&frame, key);
    script = sources_find(&sources, key);
    if (!script) {
        unknown(key);
        return;
    }
    engine_call(engine, script, frame.payload, &out);
    frame_write(FRAME_FD, &out);
}

/* A query has ended: the next one's context is made while nobody waits. A run that waits has the one that was ready. */
static void forget(void)
{
    sources_forget(&sources);
    if (!is_waiting)
        engine_prepare(engine);
}

static void handle(void)
{
    switch (frame.kind) {
    case FRAME_LOAD:
        load();
        return;
    case FRAME_RUN:
        run();
        return;
    case FRAME_ANSWERS:
        deliver();
        return;
    case FRAME_CALL:
        call();
        return;
    case FRAME_FORGET:
        forget();
        return;
    default:
        frame_broken();
    }
}

static void say_hello(void)
{
    char payload[64];

    snprintf(payload, sizeof(payload), "{\"frames\":%d,\"engine\":\"JavaScriptCore\"}", FRAME_VERSION);
    outgoing_set(&out, FRAME_HELLO, payload);
    frame_write(FRAME_FD, &out);
}

/*
 * Ends the process when the parent is gone: a script without an end would outlive it. (A signal at the parent's death
 * comes already when the thread ends that started this process.)
 */
static void *watch_parent(void *unused)
{
    struct pollfd parent = { .fd = FRAME_FD, .events = POLLRDHUP };

    (void)unused;
    while (poll(&parent, 1, -1) < 0 && errno == EINTR)
        ;
    _exit(EXIT_SUCCESS);
}

static bool start_watching(void)
{
    pthread_t thread;

    return pthread_create(&thread, NULL, watch_parent, NULL) == 0;
}

/* A crash leaves no copy of what scripts have read. */
static bool forbid_dumps(void)
{
    struct rlimit none = { 0, 0 };

    return setrlimit(RLIMIT_CORE, &none) == 0;
}

/*
 * The engine reserves gigabytes of addresses and uses few of them. So a bound on the server's addresses, if it may be
 * lifted, is not for this process, whose size the server measures.
 */
static void lift_bound(void)
{
    struct rlimit bound;

    if (getrlimit(RLIMIT_AS, &bound) != 0)
        return;
    bound.rlim_cur = bound.rlim_max;
    (void)!setrlimit(RLIMIT_AS, &bound);
}

/* Requests that need no script come first. Threads have the priority of the one that starts them. */
static void step_back(void)
{
    (void)!nice(NICE); /* on top of what the server has; lower is always allowed */
}

/*
 * The server's log is its own: whoever takes this process over must not write lines into it. What is told before the
 * first script runs still goes there.
 */
static bool leave_log(int *log)
{
    *log = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, FRAME_FD + 1);
    return *log >= 0 && dup2(STDOUT_FILENO, STDERR_FILENO) == STDERR_FILENO;
}

int main(void)
{
    int log = STDERR_FILENO;

    setenv("TZ", "UTC", 1); /* as on the service, and the same on every machine */
    step_back();
    lift_bound();
    engine = engine_new();
    if (!engine || !forbid_dumps() || !start_watching() || !leave_log(&log) || !sandbox_close()) {
        dprintf(log, "orrery-js: the sandbox could not be closed, so no script is run\n");
        return EXIT_FAILURE;
    }
    end_log(log);
    say_hello();
    for (;;) {
        frame_read(FRAME_FD, &frame);
        handle();
    }
}
