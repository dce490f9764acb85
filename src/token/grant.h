/*
 * src/token/grant.h - what a resource token says: one version of a permission, for one resource, until a time.
 * auth/ signs it, and checks the signature when it comes back; route/ asks the catalog whether the permission is there.
 *
 * As bytes: version 1, permission's rid 16, its etag 8, issued and expires in ms 8 each, size of the resource's
 * rid 1, that rid. Numbers are big-endian.
 */
#pragma once
#include "keys/rid.h"

struct grant {
    struct rid permission; /* of size 0: no grant, but a master key */
    uint64_t etag;
    int64_t issued_ms, expires_ms;
    struct rid resource; /* the database or container that it is about or in */
};

enum { GRANT_BYTES_MAX = 1 + RID_CHILD_BYTES + 3 * 8 + 1 + RID_CONTAINER_BYTES };

size_t grant_encode(const struct grant *grant, uint8_t bytes[GRANT_BYTES_MAX]);
bool grant_decode(struct slice bytes, struct grant *grant); /* false when malformed */
