/* src/resource/child_feed.c - children by the page, and queries over them. */
#include <assert.h>

#include "resource/child_feed.h"
#include "base/limits.h"
#include "reply/feed.h"
#include "resource/search.h"
#include "resource/usage.h"

/* The owner that an answer names; what belongs to the account has none. */
static const struct rid *owner_of(const struct child_feed *feed)
{
    return feed->parent->size ? feed->parent : NULL;
}

static enum status read_continuation(struct op *op, const struct call *call, const struct child_feed *feed,
                                     struct continuation *at)
{
    enum status st;

    TRY(call_continuation(op, call, CONTINUATION_CATALOG, feed->parent, at));
    if (at->after.size && rid_type(&at->after) != feed->type)
        TRY(continuation_malformed(op));
out:
    return st;
}

static void release_all(struct child **list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        child_release(list[i]);
}

/* Prints as many as the page has room for. What was dropped since it was listed is passed over. */
static enum status print_page(struct op *op, const struct call *call, struct reply *reply,
                              const struct child_feed *feed, struct child **list, size_t count,
                              struct feed *page, size_t *next)
{
    struct json body;
    enum status st = ST_OK;

    for (*next = 0; *next < count && reply_body(reply)->size < PAGE_BYTES_MAX; ++*next) {
        struct child **child = &list[*next];

        st = child_read_body(op, call->service->catalog, child, &body);
        if (st == ST_NOT_FOUND)
            continue;
        TRY(st);
        feed_next(page);
        feed->print(reply_body(reply), *child, body, feed->context);
    }
    st = ST_OK;
out:
    return st;
}

enum status child_feed_list(struct op *op, const struct call *call, struct reply *reply,
                            const struct child_feed *feed)
{
    struct continuation at;
    struct child **list = NULL;
    size_t limit, next, count = 0;
    struct feed page;
    enum status st;

    TRY(call_page_size(op, call, &limit));
    TRY(read_continuation(op, call, feed, &at));
    list = arena_alloc(&op->arena, (limit + 1) * sizeof(struct child *));
    count =
        catalog_list_children(call->service->catalog, feed->type, feed->parent, &at.after, list, limit + 1);
    assert(count <= limit + 1);
    feed_begin(&page, reply, owner_of(feed), feed->collective);
    TRY(print_page(op, call, reply, feed, list, count < limit ? count : limit, &page, &next));
    feed_end(&page);
    if (next < count) {
        assert(next > 0); /* the first is printed however large it is */
        at.after = list[next - 1]->rid;
        reply_continuation(reply, &at);
    }
    if (call->container)
        usage_of_items(reply, call);
out:
    release_all(list, count);
    return st;
}

/* What prints rows of a query. */
struct rows_context {
    const struct call *call;
    const struct child_feed *feed;
};

static enum status print_row(struct op *op, struct buf *out, void **row, const void *context)
{
    const struct rows_context *of = context;
    struct child *child = *row;
    struct json body;
    enum status st;

    TRY(child_read_body(op, of->call->service->catalog, &child, &body));
    of->feed->print(out, child, body, of->feed->context);
out:
    *row = child;
    return st;
}

static uint64_t number_of(const void *child)
{
    return rid_number(&((const struct child *)child)->rid);
}

static void release(void *child)
{
    child_release(child);
}

enum status child_feed_query(struct op *op, const struct call *call, struct reply *reply,
                             const struct child_feed *feed, size_t most)
{
    static const struct rid beginning = { 0 };
    static const struct search_kind kind = { print_row, number_of, release };
    const struct rows_context context = { call, feed };
    struct search_list rows = { .kind = &kind, .context = &context };

    rows.resource = arena_alloc(&op->arena, (most + 1) * sizeof(void *));
    rows.count = catalog_list_children(call->service->catalog, feed->type, feed->parent, &beginning,
                                       (struct child **)rows.resource, most);
    assert(rows.count <= most);
    return search_list_run(op, call, reply, &rows, owner_of(feed), feed->collective);
}
