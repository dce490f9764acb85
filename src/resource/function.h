/*
 * src/resource/function.h - user-defined functions, for the queries that call them.
 *     struct functions functions = functions_of(call, NULL);
 *     functions_offer(&functions, &options);         before the query is compiled
 *     functions_end(&functions);                     after its last page
 *
 * A child is taken when the first function is called, not before; a query of a script uses the script's own.
 * Calls that are told in advance go to the child together, and the same call of a block of rows goes once.
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
    struct function known[QUERY_UDFS_MAX];
    size_t count;
    struct told *told; /* calls that were told in advance, and their values */
};

/* `session` is that of the script whose queries they are; NULL where there is none. */
struct functions functions_of(const struct call *call, struct script_session *session);
void functions_offer(struct functions *functions, struct query_options *options);
void functions_end(struct functions *functions);

/* A script of the catalog as it is run: valid as long as the child is. */
struct script script_of(const char *kind, const struct child *child);
