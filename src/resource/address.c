/*
 * src/resource/address.c - where clients in Direct mode find the replicas of a partition key range.
 * Every range has four, as on the service. All are this process, at the port that the client came by; where several processes
 * share a store, those that were told their direct endpoints take turns. With fewer than four, or with a larger quorum than the
 * account tells (account.c), clients ask again and again, or ask two replicas for each read.
 */
#include <assert.h>

#include "catalog/ranges.h"
#include "resource/resource.h"

enum { REPLICAS = 4 };

/* The host of an endpoint, or the one that the client came to, with a port. Clients know no IPv6 addresses here. */
static void print_authority(struct buf *out, struct slice host, bool tls)
{
    const char *bracket;

    if (slice_starts_with(host, "[::1]")) {
        buf_text(out, "localhost");
        host = slice_after(host, strlen("[::1]"));
    }
    buf_slice(out, host);
    bracket = memrchr(host.data, ']', host.size);
    if (!memchr(bracket ? bracket : host.data, ':',
                host.size - (bracket ? (size_t)(bracket - host.data) : 0)))
        buf_text(out, tls ? ":443" : ":80");
}

static void print_own_authority(struct buf *out, const struct call *call)
{
    struct slice url = call->service->public_endpoint;
    bool tls = url.data ? slice_starts_with(url, "https://") : call->request->tls;

    print_authority(out,
                    url.data ? slice_after(url, strlen(tls ? "https://" : "http://"))
                             : slice_trim(call_header(call, HEADER_HOST)),
                    tls);
}

enum { PLACES_MAX = 64 };

/* The processes that serve the ranges. */
struct places {
    size_t count;
    struct slice place[PLACES_MAX];
};

static void take_places(struct slice list, struct places *places)
{
    while (list.size && places->count < PLACES_MAX) {
        const char *blank = memchr(list.data, ' ', list.size);
        size_t size = blank ? (size_t)(blank - list.data) : list.size;

        if (size)
            places->place[places->count++] = slice_make(list.data, size);
        list = slice_after(list, blank ? size + 1 : size);
    }
}

/* Those that share the data, if the operator has said where they are, or else this one. */
static void find_places(struct op *op, const struct call *call, struct places *places)
{
    struct buf own;

    places->count = 0;
    take_places(catalog_endpoints(op, call->service->catalog), places);
    if (places->count)
        return;
    buf_init(&own, &op->arena);
    if (call->service->direct_endpoint.data)
        buf_slice(&own, call->service->direct_endpoint);
    else
        print_own_authority(&own, call);
    places->place[places->count++] = buf_as_slice(&own);
}

/* Ranges begin with different processes, which so have the writes of different ranges. */
static void print_replicas(struct buf *body, const struct places *places, struct slice range, size_t *count)
{
    uint64_t first = 0;

    slice_to_u64(range, &first);
    for (uint64_t i = 0; i < REPLICAS; i++)
        buf_printf(
            body,
            "%s{\"isPrimary\":%s,\"protocol\":\"rntbd\",\"partitionKeyRangeId\":\"%.*s\","
            "\"partitionIndex\":\"0@0\",\"logicalUri\":\"\",\"physcialUri\":\"rntbd://%.*s/c/%.*s/%d%c/\"}",
            (*count)++ ? "," : "", i == 0 ? "true" : "false", SLICE_ARGS(range),
            SLICE_ARGS(places->place[(first + i) % places->count]), SLICE_ARGS(range), (int)i,
            i == 0 ? 'p' : 's');
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
static void print_ranges(struct buf *body, const struct call *call, const struct places *places,
                         size_t *count)
{
    struct slice ids = call->id;

    while (ids.size) {
        struct slice id = take_id(&ids);

        if (has_range(call->container, id))
            print_replicas(body, places, id, count);
    }
}

/* The definitions are no container's: their range is M, the master's. */
enum status address_list(struct op *op, struct call *call, struct reply *reply)
{
    struct buf *body = reply_body(reply);
    struct places places;
    size_t count = 0;

    find_places(op, call, &places);
    buf_text(body, "{\"_rid\":\"\",\"Addresss\":[");
    if (call->container)
        print_ranges(body, call, &places, &count);
    else
        print_replicas(body, &places, slice_of("M"), &count);
    buf_printf(body, "],\"_count\":%zu}", count);
    return ST_OK;
}
