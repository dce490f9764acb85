/*
 * src/main/statistics.h - what the parts of the server count, for /_orrery/metrics.
 * Those of requests are the router's own (route/metrics.h). Any thread may ask, at any time.
 */
#pragma once
#include "base/buf.h"
#include "catalog/catalog.h"
#include "housekeeping/housekeeping.h"
#include "http/http.h"
#include "main/observer.h"
#include "script/script.h"
#include "store/store.h"
#include "vector/columns.h"
#include "words/lists.h"

/* Whom to ask. */
struct statistics {
    struct store *store;
    struct catalog *catalog;
    const struct ledger *ledger;
    struct http_server *http;
    struct scripts *scripts;
    struct housekeeping *housekeeping;
    const struct account *account;
    const struct observer *observer;
};

/* The figures that are one number each: as they are, how many, and what they are called. */
enum { STATISTICS_MAX = 56 };
size_t statistics_read(const struct statistics *of, uint64_t value[STATISTICS_MAX]);
const char *statistics_name(size_t index);

/* As Prometheus reads it; of single containers the hundred that matter most (docs/compat.md, "Our own"). */
void statistics_print(struct buf *out, const struct statistics *of);
