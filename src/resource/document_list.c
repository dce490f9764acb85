/* src/resource/document_list.c - items by the page. */
#include <assert.h>

#include "base/limits.h"
#include "reply/feed.h"
#include "resource/as_of.h"
#include "resource/feed.h"
#include "resource/item.h"
#include "resource/resource.h"
#include "resource/scope.h"
#include "resource/usage.h"

static void print_page(struct reply *reply, const struct call *call, const struct partition_page *page)
{
    struct feed feed;

    if (form_of_list(call) == FORM_BINARY)
        feed_begin_binary(&feed, reply, &call->container->rid, "Documents");
    else
        feed_begin(&feed, reply, &call->container->rid, "Documents");
    for (size_t i = 0; i < page->count; i++) {
        feed_next(&feed);
        if (feed.writer)
            item_write(feed.writer, call->container, &page->item[i]);
        else
            item_print(reply_body(reply), call->container, &page->item[i]);
    }
    feed_end(&feed);
}

/* The same of an earlier moment, in number order. An item's bytes do not outlive the next one, so each is printed at once. */
static enum status list_past(struct op *op, struct call *call, struct reply *reply,
                             const struct partition_scope *scope, struct continuation *at, size_t limit)
{
    struct past_source *items = NULL;
    struct record item;
    struct feed feed;
    size_t count = 0;
    bool found = true;
    enum status st;

    TRY(as_of_open(op, call, reply, scope, &items));
    past_source_seek(items, at->after_number);
    feed_begin(&feed, reply, &call->container->rid, "Documents");
    while (found && count < limit && reply_body(reply)->size < PAGE_BYTES_MAX) {
        TRY(past_source_next(op, items, &item, &found));
        if (!found)
            break;
        feed_next(&feed);
        item_print(reply_body(reply), call->container, &item);
        at->after_number = item.number;
        count++;
    }
    feed_end(&feed);
    if (found) {
        at->container = call->container->rid;
        reply_continuation(reply, at);
    }
out:
    past_source_close(items);
    return st;
}

enum status document_list(struct op *op, struct call *call, struct reply *reply)
{
    uint64_t lsn;
    struct continuation at;
    struct partition_scope scope;
    struct partition_page page;
    size_t limit;
    enum status st;

    if (call_header(call, HEADER_A_IM).data)
        return feed_read(op, call, reply);
    scope_all(reply, call);
    TRY(call_page_size(op, call, &limit));
    TRY(scope_read(op, call, reply, &scope));
    TRY(scope_check_session(op, call, reply));
    lsn = scope_lsn(call, reply); /* before the read, which sees at least this */
    TRY(call_continuation(op, call, CONTINUATION_DOCUMENTS, &call->container->rid, &at));
    if (as_of_is_asked(call)) {
        TRY(list_past(op, call, reply, &scope, &at, limit));
        reply_session(reply, lsn);
        goto out;
    }
    TRY(partition_list_by_creation(op, call->container, &scope, at.after_number, limit, &page));
    assert(page.count <= limit);
    print_page(reply, call, &page);
    if (page.more || page.count == limit) { /* as on the service: it has not looked further */
        at.container = call->container->rid;
        at.after_number = page.last;
        reply_continuation(reply, &at);
    }
    reply_session(reply, lsn);
    usage_of_items(reply, call);
out:
    return st;
}
