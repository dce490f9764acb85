/*
 * src/resource/feed.h - the change feed: a GET of items with the header A-IM.
 * It begins where the client says: at the beginning, now (If-None-Match: *), at a time (If-Modified-Since), or behind
 * the etag of the answer before (If-None-Match). An etag is the container's LSN up to which everything was looked at, so
 * that it stays good over restarts, splits and merges, and moves on over changes that are none of the reader's.
 */
#pragma once
#include "resource/call.h"

enum status feed_read(struct op *op, struct call *call, struct reply *reply);
