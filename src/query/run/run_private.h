/*
 * src/query/run/run_private.h - the ways to make a page from a cursor's rows; run.c chooses one. How they fail: cursor.h.
 */
#pragma once
#include "query/plan/way.h"
#include "query/run/fill.h"
#include "query/run/lead.h"
#include "query/run/near.h"
#include "query/run/ranking.h"
#include "query/run/tallied.h"

/* Rows as they come. */
enum status run_plain(struct fill *fill);

/* Of all rows behind the last page's, the least. */
enum status run_sorted(struct fill *fill);

/* The same from the items that the lead names. `unfinished`: all have to be looked at after all. */
enum status run_led(struct fill *fill, struct lead *lead, bool *unfinished);

/* Rows gathered: GROUP BY, aggregates, DISTINCT. */
enum status run_groups(struct fill *fill);

/* The one row of aggregates whose values were counted elsewhere. */
enum status run_tallied(struct fill *fill, const struct tallied *tallied);

/*
 * ORDER BY by walking an index. `unfinished`: the rest of the page has to be sorted, from where `fill` now begins.
 */
enum status run_ordered(struct fill *fill, const struct way *way, bool *unfinished);

/* What is known of the statement's items: fewer pass the filter than have a hit; how items are found. */
struct ranked_by {
    const struct query *query;
    struct way *way;
    bool passing_are_few;
};

/* ORDER BY RANK. The cursor's source has what passes the filter; `items` has all, and gives those of the page again. */
enum status run_ranked(struct fill *fill, const struct ranking *ranking, struct query_source *items,
                       const struct ranked_by *by);

/* The page ends behind the row in the slots, in the order of ORDER BY. */
enum status run_goes_on_sorted(struct fill *fill);
