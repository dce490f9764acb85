/* src/resource/system.c - the system properties that every resource carries. */
#include <assert.h>

#include "resource/system.h"
#include "token/token.h"

void print_etag(struct buf *body, uint64_t etag, int64_t ts_ms)
{
    size_t start;

    buf_text(body, "\"\\");
    start = body->size;
    etag_print(body, etag, ts_ms); /* ends in a quote, which JSON wants escaped */
    if (body->failed || body->size == start)
        return;
    assert(body->data[body->size - 1] == '"');
    body->size--;
    buf_text(body, "\\\"\"");
}

void print_etag_member(struct buf *body, uint64_t etag, int64_t ts_ms)
{
    buf_text(body, "\"_etag\":");
    print_etag(body, etag, ts_ms);
}

void print_ts_member(struct buf *body, int64_t ts_ms)
{
    buf_text(body, "\"_ts\":");
    buf_u64(body, (uint64_t)(ts_ms / 1000));
}
