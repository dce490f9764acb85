/*
 * src/resource/address.c - where clients in Direct mode find the replicas of a partition key range.
 * Every range has four, as on the service, and all are this process at the port that the client came by. With fewer, or
 * with a larger quorum than the account tells (account.c), clients ask again and again, or ask two replicas for each read.
 */
#include <assert.h>

#include "catalog/ranges.h"
#include "resource/resource.h"

enum { REPLICAS = 4 };

/* Where the client came to, or where the operator says; with a port. Clients know no IPv6 addresses here. */
static void print_authority(struct buf *body, const struct call *call)
{
    struct slice endpoint = call->service->public_endpoint, host;
    bool tls = endpoint.data ? slice_starts_with(endpoint, "https://") : call->request->tls;
    const char *bracket;

    host = endpoint.data ? slice_after(endpoint, strlen(tls ? "https://" : "http://"))
                         : slice_trim(call_header(call, HEADER_HOST));
    if (slice_starts_with(host, "[::1]")) {
        buf_text(body, "localhost");
        host = slice_after(host, strlen("[::1]"));
    }
    buf_slice(body, host);
    bracket = memrchr(host.data, ']', host.size);
    if (!memchr(bracket ? bracket : host.data, ':',
                host.size - (bracket ? (size_t)(bracket - host.data) : 0)))
        buf_text(body, tls ? ":443" : ":80");
}

static void print_replicas(struct buf *body, const struct call *call, struct slice range, size_t *count)
{
    for (int i = 0; i < REPLICAS; i++) {
        buf_printf(body,
                   "%s{\"isPrimary\":%s,\"protocol\":\"rntbd\",\"partitionKeyRangeId\":\"%.*s\","
                   "\"partitionIndex\":\"0@0\",\"logicalUri\":\"\",\"physcialUri\":\"rntbd://",
                   (*count)++ ? "," : "", i == 0 ? "true" : "false", SLICE_ARGS(range));
        print_authority(body, call);
        buf_printf(body, "/c/%.*s/%d%c/\"}", SLICE_ARGS(range), i, i == 0 ? 'p' : 's');
    }
}

static bool has_range(const struct container *container, struct slice id)
{
    uint64_t number;

    if (!slice_to_u64(id, &number))
        return false;
    for (uint32_t i = 0; i < container->ranges.count; i++)
        if (container->ranges.range[i].id == number)
            return true;
    return false;
}

static struct slice take_id(struct slice *ids)
{
    const char *comma = memchr(ids->data, ',', ids->size);
    struct slice id = slice_make(ids->data, comma ? (size_t)(comma - ids->data) : ids->size);

    *ids = slice_after(*ids, comma ? id.size + 1 : id.size);
    return slice_trim(id);
}

/* Those that were asked for and are there. A client takes what it gets for what it asked. */
static void print_ranges(struct buf *body, const struct call *call, size_t *count)
{
    struct slice ids = call->id;

    while (ids.size) {
        struct slice id = take_id(&ids);

        if (has_range(call->container, id))
            print_replicas(body, call, id, count);
    }
}

/* The definitions are no container's: their range is M, the master's. */
enum status address_list(struct op *op, struct call *call, struct reply *reply)
{
    struct buf *body = reply_body(reply);
    size_t count = 0;

    (void)op;
    buf_text(body, "{\"_rid\":\"\",\"Addresss\":[");
    if (call->container)
        print_ranges(body, call, &count);
    else
        print_replicas(body, call, slice_of("M"), &count);
    buf_printf(body, "],\"_count\":%zu}", count);
    return ST_OK;
}
