/* src/query/bind/bind.h - names to sources, calls to functions, parameters to values; and what the language forbids. */
#pragma once
#include "query/query.h"
#include "query/value/tree.h"

/* How much memory a bound statement's evaluation needs. */
struct bound {
    int slots;    /* sources */
    int results;  /* aggregates and group keys */
    size_t nodes; /* expressions */
    bool scans;   /* it reads items; otherwise it is one row of constants */
    bool calls_udfs;
};

enum { SLOT_ROOT = 0 }; /* the item itself */

struct parameter {
    struct slice name; /* with its @ */
    struct value value;
};

/* Sorted by name, so that a query with thousands of them is bound quickly. */
struct parameters {
    struct parameter *parameter;
    size_t count;
};

/* What is wrong with their names is told before anything is said of the text. */
enum status query_read_parameters(struct op *op, struct json list, struct parameters *read);

enum status query_bind(struct op *op, struct select *select, const struct parameters *parameters,
                       const struct query_options *options, struct slice text, struct bound *bound);
