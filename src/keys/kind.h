/*
 * src/keys/kind.h - the kinds of small resources: users, permissions, scripts, client encryption keys.
 * kinds.def has a row for each. struct kind is what rids, the catalog and the routes read of a row; the properties
 * are in resource/child_kind.h.
 */
#pragma once
#include "keys/rid.h"

enum kind_flags {
    KIND_OF_RIGHTS = 1,      /* a client with a resource token may not ask for it */
    KIND_TELLS_TOKENS = 2,   /* it shows tokens that allow writing: keys for reading may not ask for it */
    KIND_IN_MEMORY = 4,      /* its bodies are asked for where nobody may wait, and never leave memory */
    KIND_TELLS_CREATION = 8, /* it says when it was made (_cts), which replacing it does not change */
};

struct kind {
    enum rid_type type;
    const char *path; /* the type in paths: sprocs */
    const char *name; /* the names of its routes begin with it: procedure */
    enum rid_type below;
    int mark; /* in its rid, or RID_UNMARKED */
    const char *collective;
    const char *adds; /* _permissions, for "_permissions":"permissions/"; or empty */
    unsigned flags;
};

extern const struct kind kinds[];
extern const size_t kind_count;

/* Each gives NULL when there is no such kind. */
const struct kind *kind_of_type(enum rid_type type);
const struct kind *kind_of_path(struct slice path);
const struct kind *kind_of_mark(enum rid_type below, int64_t mark);
