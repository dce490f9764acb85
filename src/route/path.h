/*
 * src/route/path.h - a request's target taken apart: /dbs/a/colls/b/docs/c
 * Types and ids alternate. A path that ends in a type means the list of such resources. Of an operation on
 * a container, type, link and rid are the container's: they are what clients sign.
 * Only ids are decoded. A type in any other spelling than its own is no type, so nothing that was decoded can change
 * how many segments a path has or what they are.
 */
#pragma once
#include "base/op.h"

enum { PATH_SEGMENTS = 10 };

struct path {
    size_t count;
    struct slice segment[PATH_SEGMENTS]; /* types as they came, ids percent-decoded */
    struct slice shape;       /* dbs/x/colls/x/docs: ids blanked out, to look up in the route table */
    struct slice type;        /* docs; empty for the account */
    struct slice link;        /* of the resource, or of the list's owner: dbs/a/colls/b */
    struct slice resolve_for; /* whose addresses are asked for: dbs/{rid}/colls/{rid}/docs, or dbs; decoded */
    struct slice range_ids;   /* ... and of which ranges */
    struct slice
        rid; /* the link's last id, if all its ids are rids, each below the one before; else absent */
};

/* ST_BAD_HEADER when the target is malformed, too deep, or longer than any path of ours. */
enum status path_parse(struct op *op, struct slice target, struct path *path);
