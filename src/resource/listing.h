/* src/resource/listing.h - a container's items, as a query reads them. */
#pragma once
#include "partition/key.h"
#include "partition/scan.h"
#include "query/query.h"
#include "resource/call.h"

/* Which part of the container the client means: a key, a part of one, a range, or everything; the reply is about it. */
enum status listing_scope(struct op *op, const struct call *call, struct reply *reply,
                          struct partition_scope *scope, struct partition_key *key);

struct item_index {
    struct query_index base;
    const struct container *container;
    bool lacks_time; /* some items' _ts is not known yet, nor in the index what it says */
};

struct item_source {
    struct query_source base;
    struct partition_scan scan; /* opened and closed by whoever asks */
    struct record record;
    struct item_index index; /* when it is offered */
};

void item_source_init(struct item_source *items);

/* Once the scan is open. `key` is the scope's, and may be NULL. */
enum status item_source_offer_index(struct op *op, struct item_source *items,
                                    const struct partition_key *key);
