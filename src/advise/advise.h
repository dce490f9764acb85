/*
 * src/advise/advise.h - looks at the data of a database or of a container, and says which rules of modelling it breaks.
 * docs/modelling/rules.md has the rules. Nothing is changed. A report
 * tells counts, paths and ids, queries without their values, and no other values of items unless that is wished. It tells
 * what it could not see.
 */
#pragma once
#include "base/op.h"
#include "catalog/catalog.h"
#include "workload/workload.h"

struct advise_options {
    struct container **container; /* to be looked at; the references are the caller's */
    size_t count;
    struct workload *workload; /* what was recorded; NULL: nothing */
    bool values;               /* a partition key may be told */
};

/* {"containers":[...],"findings":[...],"notSeen":[...]}, into `out`. */
enum status advise(struct op *op, const struct advise_options *options, struct buf *out);
