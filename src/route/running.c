/* src/route/running.c - where a request's operation is run: on the loop thread that read it, or on one of the pool. */
#include <assert.h>

#include "base/limits.h"
#include "route/record.h"
#include "route/routed.h"
#include "route/table.h"

/* Whether a loop thread may try: what takes long, or waits for a script, would delay other connections. */
static bool may_run_inline(const struct exchange *exchange, const struct route *route)
{
    size_t bytes_max = route->flags & READS ? INLINE_QUERY_BYTES_MAX : INLINE_ITEM_BYTES_MAX;

    return route->flags & RUN_INLINE && exchange->class != CLASS_SCRIPTS &&
           exchange->request.body.size <= bytes_max;
}

/* Nothing is left of what a thread may have begun in vain: it is not charged, not told of, and takes no memory. */
static void begin_operation(struct op *op)
{
    op->work = (struct work){ 0 };
    op->spent = (struct spent){ 0 };
    op->error = NULL;
    op->error_info = (struct slice){ 0 };
    op->sub_status = 0;
    op->retry_after_ms = 0;
    record_again(op);
}

static enum status run_operation(struct op *op, struct routed *routed)
{
    struct op_mark mark = op_mark(op);
    bool was_refused = op->claim.refused;
    enum status st;

    begin_operation(op);
    st = routed->route->run(op, &routed->call, &routed->reply);
    if (st == ST_WOULD_BLOCK) {
        op_rewind(op, mark);
        op->claim.refused = was_refused;
        begin_operation(op);
    }
    return st;
}

enum status routed_run(struct exchange *exchange, struct routed *routed)
{
    assert(routed->is_prepared);
    assert(routed->route);
    assert(routed->route->run);
    if (routed->call.resume)
        return routed->call.resume(&exchange->op, &routed->call, &routed->reply);
    if (!exchange->op.may_block && !may_run_inline(exchange, routed->route))
        return ST_WOULD_BLOCK;
    route_assert_owners(routed->route, &routed->call);
    return run_operation(&exchange->op, routed);
}
