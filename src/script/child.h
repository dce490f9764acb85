/*
 * src/script/child.h - one process that runs JavaScript: started, spoken to, ended.
 * A script may have taken it over: what it sends may be wrong or late, or it may send nothing. The caller then ends it.
 *
 * Ownership. A child is the caller's from child_start() to child_end(). Frames lie in the arena they were received into.
 * Threads. One at a time. A child ends by itself when its socket's other end is closed: none outlives the server.
 */
#pragma once
#include "base/op.h"
#include "base/turns.h"
#include "script/frames.h"

struct child_limits {
    int64_t until_ms;    /* on the monotonic clock of the op's env */
    size_t memory_bytes; /* resident */
};

/* Why a frame was not received. */
enum child_end { CHILD_ALIVE, CHILD_LATE, CHILD_LARGE, CHILD_GONE };

struct frame {
    enum frame_kind kind;
    struct slice payload;
};

struct script_child;

/* NULL when it cannot be started, or does not say hello in time; `killed` tells whether a signal ended it meanwhile. */
struct script_child *child_start(struct env *env, const char *program, bool *killed);

/* Kills it. NULL is welcome. */
void child_end(struct script_child *child);

/* Frames are gathered, and leave with the next child_receive(). */
void child_send(struct script_child *child, enum frame_kind kind, struct slice payload);

/* Sends what was gathered, if the child takes it at once: false when it does not. */
bool child_flush(struct script_child *child, struct env *env);

/* Waits for the next frame. CHILD_ALIVE: `frame` has it; otherwise the reason why there is none. */
enum child_end child_receive(struct script_child *child, struct env *env, struct child_limits limits,
                             struct arena *memory, struct frame *frame);

/* Whether the script of that key was sent before; notes that it is sent now. The child may have forgotten it. */
bool child_loads(struct script_child *child, struct slice key);
void child_forgot(struct script_child *child, struct slice key);

/* For how long it has computed; 0 once it is gone. */
int64_t child_cpu_ms(const struct script_child *child);

/* Resident memory, as the kernel counts it. */
size_t child_memory_bytes(const struct script_child *child);

struct script_child **child_next(struct script_child *child); /* for lists of the caller's */
struct turn *child_place(struct script_child *child);         /* likewise */
int64_t *child_idle_since_ms(struct script_child *child);     /* the caller's too */
