/*
 * src/resource/feed.h - the change feed: a GET of items with the header A-IM.
 * It begins where the client says: at the beginning, now (If-None-Match: *), at a time (If-Modified-Since), or
 * behind the etag of the answer before (If-None-Match). An etag is an LSN of the container: everything up to it was
 * looked at. So it stays good over restarts, splits and merges, and it moves on over changes that lie outside the
 * reader's range.
 */
#pragma once
#include "resource/call.h"

enum status feed_read(struct op *op, struct call *call, struct reply *reply);
