/* src/route/table.h - the routes: which operation a method and a path mean. */
#pragma once
#include "auth/roles.h"
#include "resource/call.h"

/* What the headers of a POST say it is. One request may carry several: the first here wins. */
enum marker { MARK_NONE, MARK_PLAN, MARK_BATCH, MARK_QUERY, MARK_UPSERT, MARK_READ };

enum route_flags {
    RUN_INLINE = 1,   /* needs no disk, or only what the cache has and a commit: a loop thread may try */
    OF_ITEMS = 2,     /* replies carry a session token even when they fail */
    READS = 4,        /* a POST that changes nothing: keys for reading may send it */
    TELLS_TOKENS = 8, /* the answer has tokens, which may allow writes: keys for reading may not ask */
    SCANS = 16,       /* reads whatever there is, as queries do */
    RUNS_SCRIPTS = 32,
    FOR_EVERYBODY =
        64, /* clients ask before they can ask for anything: every token and role that is good for something */
    IN_PARTS = 128, /* the body has operations on several containers: rights are looked at for each of them */
};

struct route {
    const char *name; /* for metrics and logs */
    enum method method;
    enum marker marker;
    const char *shape; /* ids are x: dbs/x/colls/x/docs */
    size_t shape_size;
    operation *run;
    unsigned actions; /* of enum data_action, which roles must allow all; 0: no role does */
    unsigned flags;
};

extern const struct route routes[];
extern const size_t route_count;

/* A route that is not known to read counts as one that writes. */
bool route_writes(const struct route *route);

/* Whether it changes databases, containers, scripts, users, permissions, keys or offers, and no items. */
bool route_changes_definitions(const struct route *route);

/* Queries, plans and lists that scan may take long, and so may scripts: they get a part of the pool only. */
enum exchange_class route_class(const struct route *route, const struct request *request);

/* Whether keys for reading are refused. */
bool route_wants_full_key(const struct route *route);

/* NULL when there is none; `known_path` then tells whether another method would have one. */
const struct route *route_find(enum method method, enum marker marker, struct slice shape, bool *known_path);

/* What the resource of a shape lies in, or is: looked up before the operation runs. */
enum route_owners { OWNER_DATABASE = 1, OWNER_CONTAINER = 2, OWNER_USER = 4 };
unsigned route_owners(const struct route *route);

/* Asserts what operations rely on: all of route_owners() are in the call. */
void route_assert_owners(const struct route *route, const struct call *call);
