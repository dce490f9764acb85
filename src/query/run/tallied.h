/*
 * src/query/run/tallied.h - statistics of texts by an index of words, without the texts: what plans of ORDER BY RANK ask
 * each range for.
 *     SELECT COUNT(1), SUM(_FullTextWordCount(c.t)), COUNTIF(FullTextContains(c.t, "red")) ... FROM c
 *     tallied_find(&tallied, op, select, index, &found)      whether there is an index for all that it counts
 *     tallied_open(&tallied, op, index)                      tallied.is_open: it was counted
 * What an aggregate is to add is in `value`, so many `times`: the numbers of a scan, to the bit.
 *
 * Ownership. Everything lies in the op's memory.
 */
#pragma once
#include "query/query.h"
#include "query/value/tree.h"

/* One text, and what is looked for in it. */
struct tallied_text {
    struct index_path path;
    struct index_text text;
    struct text_search search;
    struct query_tally tally;
};

struct tallied_value {
    const struct tallied_text *text; /* NULL: items are counted */
    size_t keyword;                  /* or NO_KEYWORD: its words are */
    struct value value;
    uint64_t times;
};

struct tallied {
    struct tallied_text *text;
    size_t text_count;
    struct tallied_value *value; /* of each aggregate of the statement */
    size_t value_count;
    bool is_open;
    double hits; /* of all keywords */
};

enum status tallied_find(struct tallied *tallied, struct op *op, const struct select *select,
                         const struct query_index *index, bool *found);
enum status tallied_open(struct tallied *tallied, struct op *op, const struct query_index *index);
