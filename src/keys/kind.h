/*
 * src/keys/kind.h - the kinds of small resources: users, permissions, scripts, client encryption keys.
 * kinds.def has a row for each. Here is what rids, the catalog and the routes read of it; resource/child_kind.h
 * has the properties.
 */
#pragma once
#include "keys/rid.h"

enum kind_flags {
    KIND_OF_RIGHTS = 1,    /* whoever has a resource token may not ask for it */
    KIND_TELLS_TOKENS = 2, /* with which one could write: keys for reading may not ask for it */
};

struct kind {
    enum rid_type type;
    const char *path; /* the type in paths: sprocs */
    const char *name; /* of its routes begins so: procedure */
    enum rid_type below;
    int mark; /* in its rid, or RID_UNMARKED */
    const char *collective;
    const char *adds; /* _permissions, for "_permissions":"permissions/"; or empty */
    unsigned flags;
};

extern const struct kind kinds[];
extern const size_t kind_count;

/* NULL when there is none. */
const struct kind *kind_of_type(enum rid_type type);
const struct kind *kind_of_path(struct slice path);
const struct kind *kind_of_mark(enum rid_type below, int64_t mark);
