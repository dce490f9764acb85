/*
 * src/query/run/near.h - which items may be the nearest to a vector, by the codes of all: fewer are read than there are.
 *     near_find(&near, query, select, call, wanted)     whether the call is one that an index serves
 *     near_open(&near, cursor, way)                     near.is_open: the codes are there, as of the cursor's snapshot
 *     while (near_next(&near, &number, &count) == ST_OK && count)
 *         of these items, for each row that passes the filter: near_saw(&near, distance)
 *     near_suffices(&near)                              false: too few have a distance; all items are to be looked at
 *     near_close(&near)                                 welcome on one that was never found
 * docs/internals/vectors.md says why that is enough.
 *
 * Ownership. What it holds lies in the cursor's memory. Between open and close nobody else opens one in this thread.
 */
#pragma once
#include "query/function/vector.h"
#include "query/plan/way.h"
#include "query/run/cursor.h"
#include "query/run/lead.h"

enum near_kind { NEAR_FLAT, NEAR_QUANTIZED, NEAR_GRAPH };

struct near {
    struct lead lead; /* first; once it is open */
    const struct expr *call;
    const struct expr *path; /* the argument that is one */
    struct json vector;      /* the other */
    struct index_path steps;
    struct item_path found_path;
    enum near_kind kind;
    enum vector_function function;
    enum vector_type type;
    uint32_t dimensions, build_list;
    bool is_exact;   /* nothing is left out that could be among the wanted */
    bool has_filter; /* items may not pass */
    size_t wanted;   /* rows */
    size_t enough;   /* rows that passed the filter, where it is not exact */
    size_t list;     /* of a walk */

    bool is_open;
    struct cursor *cursor;
    struct way *way;
    const struct query_index *index;
    bool gathered; /* the numbers that can pass, or it was tried */
    struct query_vectors vectors;
    struct vector_search search;
    uint8_t *seen; /* by places of the column: was given already */
    double *best;  /* the wanted scores, the worst on top */
    size_t best_count;
    size_t passed;         /* candidates that are rows with a distance */
    size_t next;           /* of the search's candidates */
    size_t read, read_max; /* items */
    uint64_t *number;
    bool doubtful_given, is_exhausted;
    bool walked;
};

/* Whether its rows are items, one each. */
bool near_reads_items(const struct select *select);

/* Of a statement whose rows are items. */
bool near_find(struct near *near, const struct query *query, const struct select *select,
               const struct expr *call, uint64_t wanted);

/* Which way the nearest come first. */
bool near_descends(const struct near *near);

/* Whether it is worth it, beside what `way` has found. */
bool near_is_worth(const struct near *near, const struct way *way);

enum status near_open(struct near *near, struct cursor *cursor, struct way *way);
enum status near_next(struct near *near, const uint64_t **number, size_t *count);

/* What the call gave for a row that passed the filter. */
void near_saw(struct near *near, struct value distance);
bool near_suffices(const struct near *near);
void near_close(struct near *near);
