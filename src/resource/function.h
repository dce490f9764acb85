/*
 * src/resource/function.h - user-defined functions, for the queries that call them.
 *     struct functions functions = functions_of(call, NULL);
 *     functions_offer(&functions, &options);         before the query is compiled
 *     functions_end(&functions);                     after its last page
 *
 * A child process is taken when the first function is called, and not before. The query of a script uses the script's
 * own. A query may announce the calls of a block of rows: they go to the child together, and equal calls go once.
 */
#pragma once
#include "base/limits.h"
#include "query/query.h"
#include "resource/call.h"
#include "script/script.h"

struct function {
    struct child *child; /* a reference */
    struct script script;
};

struct functions {
    const struct call *call;
    struct script_session *session;
    bool shares_session;
    struct arena sources; /* of those that are known: a query gives back what a row took of its own memory */
    struct function known[QUERY_UDFS_MAX];
    size_t count;
    struct told *told; /* calls that the query has announced, and their values */
};

/* `session` is the session of the script that asks the query; NULL when a client asks. */
struct functions functions_of(const struct call *call, struct script_session *session);
void functions_offer(struct functions *functions, struct query_options *options);
void functions_end(struct functions *functions);

/* The catalog's script in the form in which script/ runs it. It is valid as long as the child and its body are. */
struct script script_of(const char *kind, const struct child *child, struct json body);
