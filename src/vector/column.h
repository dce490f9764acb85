/*
 * src/vector/column.h - the codes of the vectors of one path, each with its item's number, as of an LSN.
 *     vector_column_add(), vector_column_remove(), vector_column_note(), vector_column_reach()     writing
 *     vector_search_begin(), vector_column_scan() or vector_column_walk()                          reading
 * Which column there is, and who may have it, is columns.h.
 *
 * Ownership. A column's memory is on the account that it was made with. A search points into what its caller owns.
 * Threads. Whoever reads holds vector_column_lock(), whoever writes vector_column_lock_to_write(). Before it is published
 *     a column belongs to the one who makes it. Nobody who reads begins to read once more.
 *
 * Promises
 * 1. A scan by the most that each can be leaves out no vector that doubles put before the last one it gives.
 * 2. What was removed, or is doubtful, or lies outside the spans, is no candidate.
 * 3. Equal scores come in the order of numbers, so that an answer is the same each time.
 */
#pragma once
#include "base/account.h"
#include "base/slice.h"
#include "vector/code.h"

struct vector_column;

/* What a walk keeps on its way at least; recall is measured with it, and where it is too little for a graph, more is kept. */
enum { VECTOR_LIST_MIN = 40 };

/* What a column is of. */
struct vector_key {
    struct slice path; /* any bytes that name it; a column keeps its own */
    uint32_t dimensions;
    enum vector_type type;         /* as its items' numbers are held: whoever adds a vector has seen to it */
    enum vector_function function; /* by which its graph is made */
    uint32_t graph_from;           /* so many vectors have a graph, fewer are scanned; 0: it never has one */
    uint32_t build_list;           /* how many candidates are kept on the way to a new vector's edges */
};

struct vector_column *vector_column_new(const struct vector_key *key, struct account *account);
void vector_column_free(struct vector_column *column); /* NULL is welcome */

/* ---- locks ---- */

void vector_column_lock(struct vector_column *column);
void vector_column_lock_to_write(struct vector_column *column);
bool vector_column_try_to_write(struct vector_column *column);
void vector_column_unlock(struct vector_column *column);

/* ---- writing ---- */

/* The item's vector from now on; what it had before is gone. False: there is no memory for it. */
bool vector_column_add(struct vector_column *column, uint64_t number, const double *x);
void vector_column_remove(struct vector_column *column, uint64_t number);

/* That an item was written at that LSN; LSNs rise. */
void vector_column_note(struct vector_column *column, uint64_t lsn, uint64_t number);

/* It holds what was committed up to here. */
void vector_column_reach(struct vector_column *column, uint64_t lsn);

/* It was left half changed: nobody is to use it any more. vector_column_odd() tells. */
void vector_column_spoil(struct vector_column *column);

/* What was removed takes no room any more. Numbers are in order again, and the graph is built anew. */
void vector_column_compact(struct vector_column *column);
bool vector_column_wants_compacting(const struct vector_column *column);

/* ---- reading ---- */

uint64_t vector_column_lsn(const struct vector_column *column);
size_t vector_column_count(const struct vector_column *column); /* vectors that are there */

/* Items whose vectors have no code, and are doubtful always; false: they are too many, or it was spoiled. */
bool vector_column_odd(const struct vector_column *column, const uint64_t **number, size_t *count);

struct vector_change {
    uint64_t lsn, number;
};

/* The changes that are remembered above that LSN, the last ones of a list; false: not all of them are. */
bool vector_column_since(const struct vector_column *column, uint64_t lsn,
                         const struct vector_change **change, size_t *count);

struct vector_span {
    uint64_t from, to; /* numbers: [from, to) */
};

struct vector_candidate {
    float score;
    uint32_t at; /* its place in the column */
    uint64_t number;
};

struct vector_search {
    const int8_t *code; /* of the query, vector_code_bytes() of it */
    struct vector_measure measure;
    enum vector_function function;
    bool by_most;                   /* by the most that each can be; else by what it is about */
    const struct vector_span *span; /* rising; what lies outside is no candidate */
    size_t span_count;
    const uint64_t *among; /* rising: only these are candidates; NULL: all */
    size_t among_count;
    const uint64_t *doubtful; /* rising: these are none */
    size_t doubtful_count;
    uint8_t *marks;                 /* of a walk: room for vector_column_mark_bytes() */
    struct vector_candidate *found; /* room for `wanted` */
    size_t wanted;

    /* What comes out. */
    size_t count;   /* of `found`, best first */
    uint64_t codes; /* looked at */
};

void vector_column_scan(const struct vector_column *column, struct vector_search *search);

/*
 * By the graph, keeping the best `list` on the way, and what is not in it yet by scan. False, and nothing was done: there
 * is no graph, or it does not find what it should.
 */
bool vector_column_walk(const struct vector_column *column, struct vector_search *search, size_t list);
size_t vector_column_mark_bytes(const struct vector_column *column);

/* The most that a candidate by what it is about is likely to be. */
float vector_column_likely(const struct vector_column *column, const struct vector_search *search,
                           const struct vector_candidate *candidate);

struct vector_column_stats {
    uint64_t vectors, bytes, graph; /* vectors that are in the graph */
    bool is_walked;                 /* its graph was measured, and found good enough */
    uint64_t recall_percent;        /* of the graph, as it was measured last */
};

/* Any thread, at any time, with the column's lock or without. */
void vector_column_stats(const struct vector_column *column, struct vector_column_stats *stats);

/*
 * For the thread that builds graphs: takes in the next vectors, or measures. It reads, and is alone in this. False:
 * there is nothing to do. `random` is any number.
 */
bool vector_column_build(struct vector_column *column, uint64_t random);
