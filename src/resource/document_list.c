/* src/resource/document_list.c - items by the page. */
#include <assert.h>

#include "reply/feed.h"
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

enum status document_list(struct op *op, struct call *call, struct reply *reply)
{
    uint64_t lsn = container_lsn(call->container);
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
    TRY(scope_check_session(op, call, reply, lsn));
    TRY(call_continuation(op, call, CONTINUATION_DOCUMENTS, &call->container->rid, &at));
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
