/* src/main/engine_private.h - what an engine is made of, for engine.c and snapshots.c only. */
#pragma once
#include <limits.h>

#include "base/gate.h"
#include "main/engine.h"
#include "main/opened.h"
#include "main/recorded.h"
#include "main/snapshots.h"

struct engine {
    const struct settings *settings;
    struct account account; /* of all memory that clients can make grow */
    struct directory directory;
    struct gate gate;         /* who is inside uses `opened`, and the service */
    pthread_mutex_t changing; /* held by who is about to replace `opened`, or needs it to stay */
    struct opened opened;
    struct snapshots snapshots;
    struct recorded recorded;
    struct scripts *scripts;
    struct heat *heat; /* NULL: nobody watches */
    char script_program[PATH_MAX];
    struct auth *auth;
    struct service service;
    struct trials trials;
    bool has_directory;
};

/* The service that such an engine would have. */
void engine_describe(const struct engine *engine, const struct opened *opened, struct service *service);

/* Into the service, which requests work on. The gate is closed, or nobody has asked for the service yet. */
void engine_use(struct engine *engine, const struct opened *opened);
