/*
 * src/reply/feed.h - the envelope of a list: {"_rid":"...","Documents":[...],"_count":2}
 *     feed_begin(&feed, reply, &rid, "Documents");
 *     for each: feed_next(&feed), then print the element
 *     feed_end(&feed)
 */
#pragma once
#include "reply/reply.h"

struct feed {
    struct reply *reply;
    size_t count;
};

/* `owner` is NULL for the lists of the account, whose _rid is empty. */
void feed_begin(struct feed *feed, struct reply *reply, const struct rid *owner, const char *collective);
void feed_next(struct feed *feed);
void feed_end(struct feed *feed);
