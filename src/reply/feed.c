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

void feed_begin_binary(struct feed *feed, struct reply *reply, const struct rid *owner,
                       const char *collective)
{
    struct binary_writer *writer = arena_alloc(&reply->op->arena, sizeof(*writer));
    size_t text;

    assert(reply_body(reply)->size == 0);
    *feed = (struct feed){ .reply = reply, .writer = writer };
    binary_begin(writer, reply_body(reply));
    feed->whole = binary_open_object(writer, UINT32_MAX);
    binary_known(writer, KNOWN_RID);
    text = binary_begin_text(writer);
    if (owner)
        rid_print(reply_body(reply), owner);
    binary_end_text(writer, text);
    binary_name(writer, collective);
    feed->elements = binary_open_array(writer, UINT32_MAX);
}

void feed_next(struct feed *feed)
{
    assert(feed->reply); /* feed_begin() came first */
    if (feed->count++ > 0 && !feed->writer)
        buf_byte(reply_body(feed->reply), ',');
}

static void end_binary(struct feed *feed)
{
    binary_close(feed->writer, feed->elements);
    binary_name(feed->writer, "_count");
    binary_int(feed->writer, (int64_t)feed->count);
    binary_close(feed->writer, feed->whole);
}

static void end_text(struct feed *feed)
{
    struct buf *body = reply_body(feed->reply);

    buf_text(body, "],\"_count\":");
    buf_u64(body, feed->count);
    buf_byte(body, '}');
}

void feed_end(struct feed *feed)
{
    if (feed->writer)
        end_binary(feed);
    else
        end_text(feed);
    reply_header_u64(feed->reply, "x-ms-item-count", feed->count);
    reply_status(feed->reply, 200);
}
