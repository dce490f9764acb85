/* src/resource/system.h - the system properties that every resource carries. */
#pragma once
#include "base/buf.h"

/* "\"...\"" : the header's quoted text, as a JSON string. */
void print_etag(struct buf *body, uint64_t etag, int64_t ts_ms);

/* "_etag":"\"...\"" */
void print_etag_member(struct buf *body, uint64_t etag, int64_t ts_ms);

/* "_ts":1700000000 */
void print_ts_member(struct buf *body, int64_t ts_ms);
