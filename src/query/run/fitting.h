/*
 * src/query/run/fitting.h - ORDER BY _FullTextScore(...), as plans have it, by an index of words: which items come
 * first, without looking at the texts of the others. Scores fall, or rise where a weight is negative.
 *     fitting_find(&fitting, op, query, select, call, wanted)    whether the call is one that an index may serve
 *     fitting_is_worth(&fitting, way)                            false: fewer items pass the filter
 *     fitting_open(&fitting, cursor, way, by_creation)           fitting.is_open: the index has the texts
 * and then it leads: lead.h. Items come in the order of the page itself, equal scores included, so that as many as are
 * wanted suffice; rows are sorted by what their texts score, as ever.
 *
 * Ownership. What it holds lies in the op's memory and in the cursor's.
 */
#pragma once
#include "query/plan/way.h"
#include "query/run/lead.h"
#include "query/run/ranking.h"

struct fitting {
    struct lead lead; /* first */
    struct ranking_part part;
    struct cursor *cursor;
    const struct query_index *index;
    bool by_creation, is_open;
    size_t wanted, passed; /* rows */
    size_t read, read_max; /* items */
    struct words_best best;
    size_t next; /* of the best */
    uint64_t *number;
};

/* Of a statement whose rows are items. */
enum status fitting_find(struct fitting *fitting, struct op *op, const struct query *query,
                         const struct select *select, uint64_t wanted, bool *found);
enum status fitting_open(struct fitting *fitting, struct cursor *cursor, struct way *way, bool by_creation);

bool fitting_is_worth(const struct fitting *fitting, const struct way *way);

/* How many hits its keywords have, by the statement. */
double fitting_hits(const struct fitting *fitting);
