/*
 * script-host/engine.h - JavaScript: sources, contexts, and one run at a time. engine.c alone knows JavaScriptCore.
 * What scripts see is in run.js; this only brings it text and takes text away.
 *
 * Ownership. The engine lives as long as the process. A script belongs to who made it, until script_free().
 * Threads. One calls; JavaScriptCore has more of its own.
 */
#pragma once
#include "frames.h"

struct engine;
struct script;

/* Loads all that scripts may need of libraries and data: afterwards files can be out of reach. NULL: out of memory. */
struct engine *engine_new(void);

/* A context for the next run, made while nobody waits. */
void engine_prepare(struct engine *engine);

/* From LOAD's payload. NULL when it is none. */
struct script *script_new(struct engine *engine, const char *payload);

/* NULL is welcome. */
void script_free(struct script *script);

/* Ends the context in which it was called as a UDF. */
void script_forget(struct script *script);

/* Each leaves the frame that is due in `out`. A payload that is none ends the process. */
void engine_run(struct engine *engine, struct script *script, const char *payload, struct outgoing *out);
void engine_deliver(struct engine *engine, const char *payload, struct outgoing *out);
void engine_call(struct engine *engine, struct script *script, const char *payload, struct outgoing *out);
