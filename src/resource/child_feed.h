/* src/resource/child_feed.h - lists and queries of what the catalog keeps as children, offers among them. */
#pragma once
#include "resource/call.h"

struct child_feed {
    enum rid_type type;
    const struct rid *parent; /* whose children they are; of size 0 for offers */
    const char *collective;
    void (*print)(struct buf *out, const struct child *child, struct json body, const void *context);
    const void *context; /* for print */
};

/* One page of them, in the order in which they were created. */
enum status child_feed_list(struct op *op, const struct call *call, struct reply *reply,
                            const struct child_feed *feed);

/* Runs the request's query over them. There are at most `most` of them. */
enum status child_feed_query(struct op *op, const struct call *call, struct reply *reply,
                             const struct child_feed *feed, size_t most);
