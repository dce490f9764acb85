/* src/token/grant.c - writing and reading what a resource token says. */
#include <assert.h>

#include "keys/bytes.h"
#include "token/grant.h"

enum {
    GRANT_VERSION = 1,
    AT_PERMISSION = 1,
    AT_ETAG = AT_PERMISSION + RID_CHILD_BYTES,
    AT_ISSUED = AT_ETAG + 8,
    AT_EXPIRES = AT_ISSUED + 8,
    AT_RESOURCE_SIZE = AT_EXPIRES + 8,
    AT_RESOURCE = AT_RESOURCE_SIZE + 1,
};

size_t grant_encode(const struct grant *grant, uint8_t bytes[GRANT_BYTES_MAX])
{
    assert(grant->permission.size == RID_CHILD_BYTES);
    assert(grant->resource.size <= RID_CONTAINER_BYTES);
    bytes[0] = GRANT_VERSION;
    memcpy(bytes + AT_PERMISSION, grant->permission.bytes, RID_CHILD_BYTES);
    put_be(bytes + AT_ETAG, grant->etag, 8);
    put_be(bytes + AT_ISSUED, (uint64_t)grant->issued_ms, 8);
    put_be(bytes + AT_EXPIRES, (uint64_t)grant->expires_ms, 8);
    bytes[AT_RESOURCE_SIZE] = grant->resource.size;
    memcpy(bytes + AT_RESOURCE, grant->resource.bytes, grant->resource.size);
    return (size_t)AT_RESOURCE + grant->resource.size;
}

bool grant_decode(struct slice bytes, struct grant *grant)
{
    const uint8_t *at = (const uint8_t *)bytes.data;

    if (bytes.size < AT_RESOURCE || bytes.size > GRANT_BYTES_MAX || at[0] != GRANT_VERSION ||
        bytes.size != (size_t)AT_RESOURCE + at[AT_RESOURCE_SIZE])
        return false;
    *grant = (struct grant){ .permission.size = RID_CHILD_BYTES,
                             .etag = get_be(at + AT_ETAG, 8),
                             .issued_ms = (int64_t)get_be(at + AT_ISSUED, 8),
                             .expires_ms = (int64_t)get_be(at + AT_EXPIRES, 8),
                             .resource.size = at[AT_RESOURCE_SIZE] };
    memcpy(grant->permission.bytes, at + AT_PERMISSION, RID_CHILD_BYTES);
    memcpy(grant->resource.bytes, at + AT_RESOURCE, at[AT_RESOURCE_SIZE]);
    return true;
}
