/*
 * src/main/engine.h - a database that is open: its directory or its memory, its store, and all that works on them.
 * It knows no sockets. A listener (listener.h) brings it requests from outside, and embedded/ those of the program
 * that it is inside of.
 *
 * Ownership. The caller owns it from engine_open() to engine_close(). Settings, auth and the op that opened it outlive
 *     it: its paths lie in the op's arena.
 * Threads. One opens and closes it. engine_keep_house() is called by one thread at a time. What it is made of may be
 *     used by any number of threads.
 */
#pragma once
#include "auth/auth.h"
#include "housekeeping/housekeeping.h"
#include "main/directory.h"
#include "main/settings.h"
#include "main/statistics.h"
#include "resource/call.h"
#include "route/route.h"

enum { ENGINE_PAUSE_MS = 400 }; /* between two rounds of housekeeping */

struct engine;

/* `auth` signs the tokens of permissions. After a failure there is nothing to close. */
enum status engine_open(struct op *op, const struct settings *settings, struct auth *auth,
                        struct engine **engine);
void engine_close(struct engine *engine); /* NULL is welcome */

/* One round, which takes a second at most unless the disk is slow. The op is begun anew. */
void engine_keep_house(struct op *op, struct engine *engine);

/* What a router works on. */
struct service *engine_service(struct engine *engine);

/* What every request passes, and stays inside of until it is answered: route_options.gate. */
struct gate *engine_gate(struct engine *engine);

/* What route_options.run_alone wants; the context is the engine. */
enum status engine_run_alone(void *engine, struct op *op, route_command *command, struct json wanted,
                             struct buf *answer);

/* What all memory is counted on that clients can make grow. */
struct account *engine_account(struct engine *engine);

/* From here on requests note where they go, and slow queries their plans. Called before there are requests. */
void engine_watch(struct engine *engine, struct heat *heat);

/* Its directory; NULL: it is in memory. */
const struct directory *engine_directory(const struct engine *engine);

/* Fills in whom to ask for figures, but for a listener's. */
void engine_statistics(const struct engine *engine, struct statistics *statistics);

/* A copy of the directory below --backup-dir, as route_options.backup has it; the context is the engine. */
enum status engine_backup(void *engine, struct op *op, struct slice name, struct slice *made);
