/* src/query/bind/bind.h - names to sources, calls to functions, parameters to values; and what the language forbids. */
#pragma once
#include "query/query.h"
#include "query/value/tree.h"

/* How much memory a bound statement's evaluation needs. */
struct bound {
    int slots;   /* sources */
    int results; /* aggregates and group keys */
    bool scans;  /* it reads items; otherwise it is one row of constants */
    bool calls_udfs;
};

enum { SLOT_ROOT = 0 }; /* the item itself */

enum status query_bind(struct op *op, struct select *select, struct json parameters,
                       const struct query_options *options, struct slice text, struct bound *bound);
