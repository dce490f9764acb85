/*
 * src/script/script.h - stored procedures, triggers and functions, run by child processes.
 *     script_begin(op, scripts, owner, &session);             a child, for this operation alone
 *     script_run(op, session, &run, &done);                   once or more: the operations that it asks for are `run`'s
 *     script_call(op, session, &script, calls, &values);      functions, also while a run waits for its operations
 *     script_forget(session);                                 between two queries: their functions share no globals
 *     script_end(session);                                    the child is kept, or buried
 *
 * Only the children know JavaScript, and only the caller knows what an operation does.
 *
 * Ownership. A session is the caller's until script_end(). `done` lies in the session, values in the op's arena.
 * Threads. Scripts may be shared; a session is used by one thread at a time, which waits: never a loop thread.
 *
 * Promises
 * 1. A script has its time and its memory, and no more: past them its child is killed, and the session tells why.
 * 2. Whatever a child does, others are served: none is used by two sessions at a time, and a killed one is replaced.
 * 3. No child outlives the server.
 */
#pragma once
#include "json/json.h"

struct scripts;
struct script_session;

struct script_options {
    struct env *env;
    const char *program; /* orrery-js */
    int64_t run_ms;      /* that a session may take from its first run on, and each call of functions */
    size_t memory_bytes; /* that a child may have */
    size_t children_max; /* how many scripts may run at a time; one at least */
    size_t cores;        /* of the machine: more that compute at a time gain nothing */
};

/* NULL when there is no memory for it. Nothing is started before somebody asks for it. */
struct scripts *scripts_open(const struct script_options *options);
void scripts_close(struct scripts *scripts); /* NULL is welcome */

struct script_stats {
    uint64_t children, waiting, runs, calls, killed; /* waiting: for a child */
};
void scripts_stats(struct scripts *scripts, struct script_stats *stats);

/* A script as it stands in the catalog. The key names one version of it for good. */
enum { SCRIPT_KEY_BYTES_MAX = 64 };

struct script {
    const char *kind; /* sproc, trigger, udf */
    struct slice name, source;
    char key[SCRIPT_KEY_BYTES_MAX + 1];
};

/*
 * Owners (containers) take turns when children are lacking, and some children are not for one that has all others.
 * ST_NOT_BUILT when no child can be started; ST_TOO_MANY_REQUESTS when all are busy for too long.
 */
enum status script_begin(struct op *op, struct scripts *scripts, uint64_t owner,
                         struct script_session **session);
void script_end(struct script_session *session); /* NULL is welcome */

/* Does all `operations` that a script asks for, and appends an answer for each: JSON objects with commas between. */
typedef enum status script_operate(struct op *op, void *context, struct json operations, struct buf *answers,
                                   bool *accept);

struct script_run {
    const struct script *script;
    struct slice args;    /* JSON text: an array; empty: none */
    struct slice context; /* JSON text: an object, as frames.h has it, but for `quota` */
    script_operate *operate;
    void *operate_context;
};

/*
 * ST_OK: it ended well, and `done` is what it left. ST_SCRIPT_FAILED: it threw, or could not be finished;
 * ST_SCRIPT_TIMEOUT: its time was over. Whatever `operate` fails with ends the run, too.
 */
enum status script_run(struct op *op, struct script_session *session, const struct script_run *run,
                       struct json *done);

/*
 * Before what has run already is run anew, because another writer came first. ST_RETRY_WITH when less time is left than
 * it took: nothing has run then, and the client may begin again.
 */
enum status script_again(struct op *op, struct script_session *session);

/* `calls` is the JSON text of frames.h; `values` the array that comes back, of `count` elements. */
enum status script_call(struct op *op, struct script_session *session, const struct script *script,
                        struct slice calls, size_t count, struct json *values);

/* A query has ended: what its functions left in their globals is not there for the next one's. script_end() does it, too. */
void script_forget(struct script_session *session);

/* "Encountered exception while executing function. ..." of a FAILED frame, or of one of the values. */
enum status script_failed(struct op *op, struct json failure);
