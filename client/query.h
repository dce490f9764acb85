/*
 * client/query.h - a cursor from the inside: sources of pages, a plan that says how to merge them, a pipeline.
 *     query.c      opens, steps, tells where to go on
 *     source.c     one source: pages of one collection, or of one range of it
 *     plan.c       the server's plan and the collections' ranges
 *     continuation.c  where it stopped, as a text
 *     merge.c      rows of all sources in one order; DISTINCT, OFFSET, LIMIT, TOP
 *     aggregate.c  COUNT and its like, GROUP BY
 *     compose.c    expressions that have aggregates in them
 *     hybrid.c     ranks: ORDER BY RANK, and orders by a vector's distance
 * Functions that may have to wait say ORRERY_WAIT and are called again when something has come.
 */
#pragma once
#include "client.h"

enum cursor_kind { CURSOR_QUERY, CURSOR_LIST, CURSOR_CHANGES };

enum query_phase { PHASE_PLAN, PHASE_RANGES, PHASE_RUN };

/* A collection that a cursor goes to. Each has its own partition key, and so its own part of the keys that matter. */
struct place {
    char *link;
    struct call *plan, *ranges; /* under way */
    struct json wanted;         /* the plan's ranges of keys; no array: all */
    struct json list;           /* the collection's ranges; undefined: not known yet */
    char *rid;                  /* of the collection that they are of; NULL: the server did not say */
    bool is_planned,
        is_remembered; /* is_remembered: some of it was not asked now, and may be of another collection */
};

/* Where rows come from. */
struct source {
    char *link, *range; /* range: NULL, the whole collection, or the key within it */
    char *min, *max;    /* which part of it: effective partition keys; NULL: all */
    bool part_of_range; /* the range has more than that */
    char *token;        /* where the next page begins */
    char *page_token;   /* where this one began */
    struct call *call;
    bool is_following;  /* the call asks which ranges took the place of its own */
    struct arena arena; /* of the page */
    struct json *rows;
    size_t row_count, next_row;
    uint64_t *told; /* hashes of rows that another cursor had told of the page that comes next */
    size_t told_count;
    int64_t from_lsn; /* of changes: those before it were told; 0: none were */
    bool ended, idle; /* idle: a change feed had nothing new */
    bool is_divided;  /* its range is gone: those behind it go on where it stopped */
};

enum aggregate_kind {
    AGGREGATE_NONE, /* the value of the group's first row */
    AGGREGATE_COUNT,
    AGGREGATE_SUM,
    AGGREGATE_AVERAGE,
    AGGREGATE_MIN,
    AGGREGATE_MAX,
    AGGREGATE_LIST,
    AGGREGATE_SET,
};

struct column {
    struct slice alias; /* empty: of SELECT VALUE */
    enum aggregate_kind kind;
};

struct plan {
    struct json info;
    size_t order_count;
    bool descending[16];
    bool distinct, counts_distinct; /* counts_distinct: only how many there are */
    bool groups;                    /* GROUP BY, or aggregates */
    bool has_value;                 /* SELECT VALUE */
    struct column *columns;
    size_t column_count;
    int64_t offset, limit; /* left; limit -1: none */
};

struct metric {
    struct slice name; /* in the cursor's arena */
    double sum;
};

struct seen;   /* hashes of rows */
struct groups; /* what GROUP BY has gathered */
struct composition;
struct hybrid;

struct orrery_query {
    orrery_client *client;
    struct arena arena; /* of what lives as long as the cursor */
    enum cursor_kind kind;
    enum query_phase phase;
    orrery_options options; /* texts are copies */
    struct place *places;
    size_t place_count;
    struct slice body; /* the query; rewritten by the plan */
    struct slice original;
    char *key; /* its header; NULL: none */
    orrery_start start;
    char start_date[32];
    bool may_plan;

    struct plan plan;
    struct source *sources;
    size_t source_count, source_capacity, source_at;
    struct source *from; /* of the current row */
    struct seen *seen;
    struct groups *groups;
    struct composition *composed; /* NULL: the plan is of the query as it was asked */
    struct hybrid *hybrid;        /* NULL: rows are not ranked */
    bool grouped;                 /* all rows are in the groups */
    bool counted;                 /* the only row of such a query was told */

    double charge;
    orrery_response *last;  /* of the last page; its body is empty */
    struct metric *metrics; /* summed over the pages */
    size_t metric_count, metric_capacity;
    char *row;
    size_t row_bytes, row_capacity;
    bool has_row, over;
    orrery_json *row_json;
};

/* ---- source.c */
orrery_status source_add(orrery_query *query, const char *link, struct slice range, struct slice min,
                         struct slice max, bool part_of_range);
void source_free(struct source *source);

/*
 * ORRERY_ROW: there is a row at next_row. ORRERY_DONE: there are no more. ORRERY_WAIT: a page is under way.
 * ORRERY_OK: something has come; look again at query->sources, which may have moved, and at query->phase.
 */
orrery_status source_fill(orrery_query *query, struct source *source);
bool source_wants_page(const struct source *source);
orrery_status source_start(orrery_query *query, struct source *source);
int64_t change_lsn(struct json row); /* 0: it does not say */

/* ---- plan.c */
orrery_status plan_rewrite(orrery_query *query, struct slice text); /* what pages are asked by from here on */
orrery_status plan_step(orrery_query *query);
orrery_status ranges_step(orrery_query *query);
void ranges_again(orrery_query *query); /* from the first on */

/* Whether [min, max) of the collection has anything that the plan asks for. */
bool ranges_want(const orrery_query *query, const char *link, struct slice min, struct slice max);
struct slice range_later(struct slice a, struct slice b); /* ends of ranges */
struct slice range_earlier(struct slice a, struct slice b);

/* A source's range is gone: it becomes the ranges that took its place, once the server has told them. */
orrery_status ranges_ask(orrery_query *query, struct source *source);
orrery_status ranges_follow(orrery_query *query, struct source *source);

/* The collection that the cursor's sources of this link are meant for; NULL: whichever has the name, it was asked just now. */
const char *place_intended(const orrery_query *query, const char *link);

/* A collection is not the one that was remembered: all is asked again. False: pages of it have been told already. */
bool places_again(orrery_query *query);

/* ---- merge.c */
orrery_status merge_next(orrery_query *query, struct json *row);
void seen_free(struct seen *seen);

/* ---- continuation.c */
orrery_status continuation_read(orrery_query *query, const char *text); /* when a cursor is opened */
orrery_status continuation_apply(orrery_query *query);                  /* when its sources are known */
bool continuation_names_ranges(const char *text);                       /* text: may be NULL */

/* ---- aggregate.c */
orrery_status groups_add(orrery_query *query, struct json row);
orrery_status groups_next(orrery_query *query, struct json *row); /* ORRERY_ROW, ORRERY_DONE */
void groups_free(struct groups *groups);

/* ---- compose.c */
bool compose_begin(
    orrery_query *query); /* false: it is no such query, or there is no memory: the refusal stands */

/* The rows of the query as it was asked, from those of the first of its two, which `next` gives. */
typedef orrery_status merge_rows(orrery_query *query, struct json *row);
orrery_status compose_next(orrery_query *query, merge_rows *next, struct json *row);
void compose_free(struct composition *composed);

/* ---- hybrid.c */
orrery_status hybrid_begin(orrery_query *query, struct json info); /* the plan's hybridSearchQueryInfo */
orrery_status hybrid_begin_plain(orrery_query *query);             /* of an order that is no range's own */
bool hybrid_counts(const orrery_query *query); /* it is at the statistics, which are of all ranges */
orrery_status hybrid_next(orrery_query *query, merge_rows *next, struct json *row);
