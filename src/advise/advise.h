/*
 * src/advise/advise.h - looks at the data of a database or of a container, and says which rules of modelling it breaks.
 * docs/modelling/rules.md has the rules. Nothing is changed. A report
 * tells counts, paths and ids, and no other values of items. It tells what it could not see.
 */
#pragma once
#include "base/op.h"
#include "catalog/catalog.h"

struct advise_options {
    struct container **container; /* to be looked at; the references are the caller's */
    size_t count;
};

/* {"containers":[...],"findings":[...],"notSeen":[...]}, into `out`. */
enum status advise(struct op *op, const struct advise_options *options, struct buf *out);
