/*
 * src/route/path.h - a request's target taken apart: /dbs/a/colls/b/docs/c
 * Types and ids alternate. A path that ends in a type means the list of such resources. Of an operation on
 * a container, type, link and last are the container's: they are what clients sign.
 */
#pragma once
#include "base/op.h"

enum { PATH_SEGMENTS = 10 };

struct path {
    size_t count;
    struct slice segment[PATH_SEGMENTS]; /* percent-decoded */
    struct slice shape;    /* dbs/x/colls/x/docs: ids blanked out, to look up in the route table */
    struct slice type;     /* docs; empty for the account */
    struct slice link;     /* of the resource, or of the list's owner: dbs/a/colls/b */
    struct slice raw_link; /* the same, as it came */
    struct slice last;     /* the link's last segment */
};

/* ST_BAD_HEADER when the target is malformed or too deep. */
enum status path_parse(struct op *op, struct slice target, struct path *path);
