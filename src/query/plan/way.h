/*
 * src/query/plan/way.h - which way a page takes to its items, chosen by what each would cost, and the numbers behind
 * it.
 *     way_choose(&way, eval, select, &page)     once, before anything is read
 *     way_choose_items(&way, &page)             again, for a page that began as WAY_WALK and is sorted after all
 * Rows, their order and pages are the same whichever way is taken. run/ goes the way; run/explain.c reports it.
 *
 * Ownership. Everything lies in the op's arena, and lives as long as the execution.
 */
#pragma once
#include "query/plan/covered.h"

enum way_kind {
    WAY_SCAN,    /* every item of the scope, as they lie */
    WAY_PICK,    /* those that the index names, as they lie */
    WAY_WALK,    /* by the terms of an index, in the order of ORDER BY */
    WAY_ENTRIES, /* rows made from index entries, without items */
};

/* What a page asks for. */
struct way_page {
    double rows;      /* that are enough for it, those of OFFSET included */
    bool ends_early;  /* rows go out as they come; sorted and gathered ones need all items */
    bool needs_items; /* entries alone do not make its rows */
    bool is_sorted;   /* by ORDER BY, and it may be walked */
    bool is_first;
    bool from_undefined; /* not the first, and it begins among items without ORDER BY's value */
};

struct way {
    enum query_way allowed;
    bool explains; /* look at the index even where it is not worth it */
    struct planner planner;
    enum way_kind kind;
    struct access *access;            /* NULL: the index was not looked at */
    struct access *picks;             /* the same items, with what composite indexes have of the filter */
    bool picked;                      /* items are picked: as the way, or where a walk could not go on */
    double scope_items, access_items; /* about */
    double scan, pick;      /* what it costs to look at all of them, or at those that the access gives */
    double cost;            /* of the way that was chosen; 0 where nothing was weighed */
    struct order_walk walk; /* WAY_WALK */
    bool misses;            /* WAY_WALK: items that the index does not have come behind it */
    struct covered covered;
    bool ranks; /* ORDER BY RANK by an index of words; `hits` texts have one */
    double hits;
    bool nears, walks; /* the nearest by codes of vectors, so many; by a graph over them */
    uint64_t codes;
};

/* `allowed`, `explains` and planner.planar are set; `index` may be NULL. */
enum status way_choose(struct way *way, struct eval *eval, const struct query_index *index,
                       const struct select *select, const struct way_page *page);

/* Whether fewer items are picked than are looked at, in an order that is not the filter's, until so many have passed it. */
bool way_picks_fewer(const struct way *way, double rows);

/* Picking or not, for what is left of the page. */
enum status way_choose_items(struct way *way, const struct way_page *page);
