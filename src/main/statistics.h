/*
 * src/main/statistics.h - what the parts of the server count, for /_orrery/metrics.
 * Those of requests are the router's own (route/metrics.h). Any thread may ask, at any time.
 */
#pragma once
#include "base/buf.h"
#include "catalog/catalog.h"
#include "http/http.h"
#include "script/script.h"
#include "store/store.h"

/* Whom to ask, and what housekeeping has done so far. */
struct statistics {
    struct store *store;
    struct catalog *catalog;
    struct http_server *http;
    struct scripts *scripts;
    uint64_t items_expired, ranges_split;
};

/* As Prometheus reads it; of single containers the hundred that matter most (docs/compat.md, "Our own"). */
void statistics_print(struct buf *out, const struct statistics *of);
