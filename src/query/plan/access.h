/*
 * src/query/plan/access.h - which items a filter can be true for, as ranges of index terms joined by AND and OR.
 *     access_of_select(&planner, select)     predicate.c: from a bound and folded statement
 *     access_print(out, access)              as text, for people and for tests
 *
 * An access is never too small: every item that passes the filter is in it. It is `exact` when no other item is in
 * it. A condition that the index cannot serve becomes ACCESS_ANY; the filter, which is evaluated anyway, decides it.
 *
 * Ownership. Everything lies in the op's arena. Past its limit an access is ACCESS_ANY, which is no failure.
 */
#pragma once
#include "query/plan/interval.h"
#include "query/plan/item_path.h"
#include "query/query.h"

enum access_kind {
    ACCESS_ANY,   /* every item: no use */
    ACCESS_NONE,  /* no item at all */
    ACCESS_RANGE, /* items with a term in [from, to) */
    ACCESS_AND,
    ACCESS_OR,
};

struct access {
    enum access_kind kind;
    bool exact;
    bool of_element;  /* it speaks of some element of an array: joined by AND it need not be the same one */
    bool one_term;    /* numbers come in order */
    bool is_left_out; /* items that the index does not know: the filter has to look at them */
    bool is_cells;    /* terms are where geometries lie, and no values */
    bool is_words;    /* terms are words of texts, and no values */
    struct index_path path;
    struct interval interval;
    struct slice stem;                 /* of words */
    const struct index_joined *joined; /* of a composite index, and then of no single path */
    size_t joined_used;                /* so many of its parts */
    struct slice from, to;
    struct access **kid;
    size_t kid_count, kid_capacity;

    /* Set by cost.c. */
    size_t kid_used;  /* of an AND: so many of its kids are worth reading */
    uint64_t entries; /* of a range, about */
};

/* What is known of a computed property. */
struct computed_path {
    struct slice name;
    path_id id;
    bool usable;
};

enum { MISSING_MAX = 8 };

struct planner {
    struct op *op;
    const struct query_index *index;
    bool planar;
    enum status status;            /* what went wrong on the way: nothing that was found counts then */
    struct computed_path computed; /* the last that was asked for */
    struct access *key;            /* the scope's own partition key; ANY when it has none */
    struct index_path missing[MISSING_MAX]; /* that the filter asks for, and no index has */
    size_t missing_count;
};

/* Where the path's terms lie; false when some items with a value there have none. */
bool access_path_id(struct planner *planner, const struct index_path *steps, bool computed, path_id *id);

/* The same for a computed property. */
bool access_computes(struct planner *planner, struct slice name, path_id *id);

struct access *access_any(void);
struct access *access_new(struct planner *planner, struct access from);
struct access *access_none(struct planner *planner);

/* The path must outlive the access. */
struct access *access_range(struct planner *planner, const struct kept_path *path,
                            const struct interval *interval);
struct access *access_and(struct planner *planner, struct access *a, struct access *b);
struct access *access_or(struct planner *planner, struct access *a, struct access *b);

bool access_same_path(const struct index_path *a, const struct index_path *b);

/* Whether it is a range of this path's values. */
bool access_is_of_path(const struct access *range, const struct index_path *path);

/* The items of the scope's partition key. */
struct access *access_of_key(struct planner *planner);

/* The access's items, and those that were left out of the index, if there are any. */
struct access *access_with_left_out(struct planner *planner, struct access *access);

/* The items that the statement's filter lets pass; ACCESS_ANY without one. */
struct access *access_of_select(struct planner *planner, const struct select *select);

void access_print(struct buf *out, const struct access *access);
void access_print_path(struct buf *out, const struct index_path *path);
