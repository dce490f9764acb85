/* src/resource/listing.h - a container's items, as a query reads them. */
#pragma once
#include "partition/scan.h"
#include "query/query.h"

struct item_index {
    struct query_index base;
    const struct container *container;
};

struct item_source {
    struct query_source base;
    struct partition_scan scan; /* opened and closed by whoever asks */
    struct record record;
    struct item_index index; /* when it is offered */
};

void item_source_init(struct item_source *items);
