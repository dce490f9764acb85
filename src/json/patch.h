/*
 * src/json/patch.h - changes to parts of a document: six operations, each at a JSON pointer (RFC 6901).
 *     patch_parse(op, operations, &patch);              400 when it is no list of operations
 *     patch_apply(op, &patch, document, &patched);      all of them in order, or a 400 and none
 *
 *     add        a member: new or exchanged; an element: put in front of the one there, "-" is behind the last
 *     set        as add, but an element that is there is exchanged
 *     replace    what is there, and something must be
 *     remove     what is there, and something must be
 *     incr       adds to a number; where nothing is, the number itself is put
 *     move       from one place to another, as add puts it; both pointers mean the document before it
 *
 * Ownership. A patch points into the value it was parsed from. What comes out lies in the op's arena.
 */
#pragma once
#include "json/json.h"

enum patch_kind {
    PATCH_ADD,
    PATCH_SET,
    PATCH_REPLACE,
    PATCH_REMOVE,
    PATCH_INCREMENT,
    PATCH_MOVE,
};

/* "/a/b~1c" taken apart: a, b/c. At least one segment. */
struct pointer {
    struct slice text;
    struct slice *segment;
    size_t count;
};

struct patch_operation {
    enum patch_kind kind;
    size_t number; /* counted from 1, as clients are told */
    struct pointer path;
    struct pointer from; /* PATCH_MOVE only */
    struct json value;   /* undefined for PATCH_REMOVE and PATCH_MOVE */
};

struct patch {
    struct patch_operation operation[PATCH_OPERATIONS_MAX];
    size_t count;
};

/* `operations` is the array a client sent. */
enum status patch_parse(struct op *op, struct json operations, struct patch *patch);

/* Whether `within` names the same place as `pointer`, or one below it. */
bool pointer_covers(const struct pointer *pointer, const struct slice *within, size_t count);

/* ST_BAD_REQUEST with the service's words where they are known; ST_TOO_LARGE past the arena's limit. */
enum status patch_apply(struct op *op, const struct patch *patch, struct json document, struct json *patched);
