/*
 * src/reply/feed.h - the envelope of a list: {"_rid":"...","Documents":[...],"_count":2}
 *     feed_begin(&feed, reply, &rid, "Documents");
 *     for each: feed_next(&feed), then print the element
 *     feed_end(&feed)
 * As binary JSON: feed_begin_binary(), and elements go to feed.writer. The whole list is one value of that form.
 */
#pragma once
#include "json/binary_write.h"
#include "reply/reply.h"

struct feed {
    struct reply *reply;
    size_t count;
    struct binary_writer *writer; /* NULL: it is text */
    struct binary_frame whole, elements;
};

/* `owner` is NULL for the lists of the account, whose _rid is empty. */
void feed_begin(struct feed *feed, struct reply *reply, const struct rid *owner, const char *collective);
void feed_begin_binary(struct feed *feed, struct reply *reply, const struct rid *owner,
                       const char *collective);
void feed_next(struct feed *feed);
void feed_end(struct feed *feed);
