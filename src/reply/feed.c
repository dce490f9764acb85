/* src/reply/feed.c - lists. */
#include <assert.h>

#include "reply/feed.h"

void feed_begin(struct feed *feed, struct reply *reply, const struct rid *owner, const char *collective)
{
    struct buf *body = reply_body(reply);

    assert(body->size == 0); /* a list is the whole body */
    *feed = (struct feed){ .reply = reply };
    buf_text(body, "{\"_rid\":\"");
    if (owner)
        rid_print(body, owner);
    buf_printf(body, "\",\"%s\":[", collective);
}

void feed_next(struct feed *feed)
{
    assert(feed->reply); /* feed_begin() came first */
    if (feed->count++ > 0)
        buf_byte(reply_body(feed->reply), ',');
}

void feed_end(struct feed *feed)
{
    struct buf *body = reply_body(feed->reply);

    buf_text(body, "],\"_count\":");
    buf_u64(body, feed->count);
    buf_byte(body, '}');
    reply_header_u64(feed->reply, "x-ms-item-count", feed->count);
    reply_status(feed->reply, 200);
}
