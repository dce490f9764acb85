/* src/resource/conflict.c - the conflicts feed: one region writes, so there never is one. */
#include "reply/feed.h"
#include "resource/resource.h"
#include "resource/scope.h"
#include "resource/search.h"

enum status conflict_list(struct op *op, struct call *call, struct reply *reply)
{
    struct feed feed;
    size_t limit;
    enum status st;

    TRY(call_page_size(op, call, &limit));
    feed_begin(&feed, reply, &call->container->rid, "Conflicts");
    feed_end(&feed);
out:
    return st;
}

enum status conflict_query(struct op *op, struct call *call, struct reply *reply)
{
    static const struct search_list none = { 0 };
    enum status st = ST_OK;

    if (!call_header(call, HEADER_PARTITION_KEY).data)
        TRY(scope_check_crossing(op, call));
    TRY(search_list_run(op, call, reply, &none, &call->container->rid, "Conflicts"));
out:
    return st;
}

/* Also what a delete is answered with. */
enum status conflict_read(struct op *op, struct call *call, struct reply *reply)
{
    (void)call, (void)reply;
    return op_fail_as(op, ST_NOT_FOUND);
}
