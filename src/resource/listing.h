/* src/resource/listing.h - a container's items, as a query reads them. */
#pragma once
#include "partition/scan.h"
#include "query/query.h"

struct item_source {
    struct query_source base;
    struct partition_scan scan; /* opened and closed by whoever asks */
    struct record record;
};

void item_source_init(struct item_source *items);
