/*
 * src/query/query.h - the query language: text in, pages of rows out.
 *     query_compile(op, text, parameters, &options, &query);     parse, bind: 400 in the service's words
 *     query_resume(op, query, filter);                           where rows begin, if the request says so
 *     query_run(op, query, &source, from, &limits, &page);       one page; page.next is where to go on
 *     query_page_free(&page);
 *
 * A query reads items through a source that it is handed, so that items, databases and containers
 * are queried by the same engine, and an index changes nothing but speed.
 *
 * Ownership. A query lies in the op's arena. A page owns its rows until query_page_free().
 * Threads. A query and its source are used by one thread at a time, which may wait on the store.
 *
 * Promises
 * 1. Pages joined are the whole answer: a query read page by page gives the rows of the query read at once.
 * 2. What a position holds suffices to go on after a restart, and fits in a continuation of 1 KB.
 * 3. Memory and time are bounded, whatever the query: past them it fails, by itself.
 */
#pragma once
#include "index/policy.h"
#include "json/json.h"
#include "query/value.h"
#include "store/view.h"
#include "text/match.h"
#include "vector/column.h"
#include "words/list.h"

struct query;
struct query_source;
struct select;

/* One item. `number` rises from row to row and names the item for good. */
struct query_row {
    struct query_source *source;
    uint64_t number;
    uint64_t counter;   /* rises with the time of creation */
    uint64_t weight;    /* how many items it stands for: 1, but for rows made from index entries */
    struct json body;   /* what the user wrote */
    uint16_t behind;    /* so many of its last members stand behind the system's */
    struct json system; /* the members that follow it; undefined until asked for */
    const void *item;   /* the source's own */
};

struct query_span {
    uint64_t from, to; /* numbers: [from, to) */
};

/* The vectors of a path, by their codes (vector/column.h). */
struct query_vectors {
    struct vector_column *column; /* held for reading; NULL: there are none, or not now */
    const uint64_t *doubtful;     /* rising: items of which the column does not say what the snapshot has */
    size_t doubtful_count;
};

/* Which texts, and what is looked for in them. */
struct words_question {
    const struct index_path *path;
    const struct index_text *text; /* what the index has there */
    const struct text_search *search;
    bool with_items; /* all items are wanted, too, with a text or without, if the index tells them */
};

/* Which texts of a path have which keywords (words/list.h), of all of the container's items. */
struct query_words {
    bool is_told;                  /* false: the texts themselves have to be looked at */
    const struct word_list **list; /* of each keyword */
    double *hits;                  /* of each: in how many texts it is */
    double words;                  /* of all texts */
    const struct word_list *texts; /* all of them, whatever their words */
    const struct word_list
        *items;         /* all of them, with a text or without; NULL: nobody asked, or it is not told */
    uint64_t *doubtful; /* rising: items of which the lists do not say what the snapshot has */
    struct query_text {
        bool is_there; /* false: it is gone, or has expired */
        bool is_text;  /* false: that, or there is no string at the path */
        struct text_hits hits;
    } * text; /* of each doubtful one */
    size_t doubtful_count;
    uint64_t expired; /* items that count in query_index.documents, and should not */
};

/* The same in numbers, of the scope's items alone. */
struct query_tally {
    bool is_told;              /* false: the texts themselves have to be looked at */
    uint64_t documents, words; /* items, with a text or without; words of all texts */
    uint64_t *hits;            /* of each keyword: in how many texts it is */
};

/* What an index offers of a source's items, all of it as of one snapshot. */
struct query_index {
    const struct view *view;
    const struct index_policy
        *policy; /* of today; items may have been indexed by others: ask what all have */
    bool (*has)(const struct query_index *index, const struct index_path *path);
    bool (*computes)(const struct query_index *index, struct slice name, path_id *id); /* a property */
    bool (*has_composite)(const struct query_index *index, path_id id);
    bool (*has_tuple)(const struct query_index *index, path_id id);
    bool (*has_spatial)(const struct query_index *index, const struct index_path *path);
    bool (*has_text)(const struct query_index *index, const struct index_path *path, struct index_text *text);

    /* Vectors with so many dimensions at a path of members, until they are given back; the query reads nothing else so. */
    enum status (*vectors)(struct op *op, const struct query_index *index, const struct index_path *path,
                           const struct vector_key *key, struct query_vectors *vectors);
    void (*vectors_end)(struct query_vectors *vectors); /* welcome on what never was */

    /* Fuzzy keywords only where the text has forms. Lists live as long as the source. */
    enum status (*words)(struct op *op, const struct query_index *index,
                         const struct words_question *question, struct query_words *words);
    enum status (*tally)(struct op *op, const struct query_index *index,
                         const struct words_question *question, struct query_tally *tally);
    struct slice
        left_out;       /* the term of items that have no other; data is NULL when every item has entries */
    uint64_t documents; /* of the container, expired ones too */
    const struct query_span *span; /* where the scope's numbers lie, in order; others may lie there too */
    size_t span_count;
    struct index_path key[PARTITION_KEY_PATHS_MAX]; /* the partition key's paths */
    size_t key_count;
    struct json
        key_value[PARTITION_KEY_PATHS_MAX]; /* the scope's items have these; undefined: it is not known */
    size_t key_value_count;                 /* 0: it is not about a key */
    bool key_is_scope;                      /* every item that has these values is in the scope */
    bool is_whole; /* only the filter tells which of the container's items are wanted */
    bool hides;    /* items may have expired: entries alone prove nothing */
};

struct query_source {
    /* The item after the last one given; its bytes live until the next call. */
    enum status (*next)(struct op *op, struct query_source *source, struct query_row *row, bool *found);

    /* Goes on after that number; 0 is the beginning. */
    enum status (*seek)(struct op *op, struct query_source *source, uint64_t after);

    /* The members that follow the body, in that memory. NULL when items have nothing but their bodies. */
    struct json (*system)(struct query_source *source, const struct query_row *row, struct arena *memory);

    /* One of these by its name, undefined where there is none; false without memory. NULL: they are had together only. */
    bool (*system_one)(struct query_source *source, const struct query_row *row, struct slice name,
                       struct arena *memory, struct json *value);

    /* All of them as text, from the first name to the last value. NULL: it is printed from what `system` gives. */
    void (*print_system)(struct query_source *source, const struct query_row *row, struct buf *out);

    /* From here to the next seek: of these items those that are there, in that order. The numbers outlive it. */
    enum status (*pick)(struct op *op, struct query_source *source, const uint64_t *number, size_t count);
    const struct query_index *index; /* NULL: there is none */

    /* A number may say in which of several parts its item lies: those of one part are so far apart. 0: there is one part. */
    uint32_t apart;

    /* Rows that ORDER BY does not tell apart come by number_by_creation(), as _rids then do; else by number. */
    bool ties_by_creation;

    /* Of the hashes by which rows are told apart. A secret, and always the same, because positions hold such hashes. */
    struct hash_seed seed;
};

/* Called for udf.name(...); made by whoever can run JavaScript. Failure is the query's failure. */
typedef enum status query_udf(struct op *op, void *context, struct slice name, const struct value *arg,
                              int count, struct value *result);

/* Told of a call that will probably come, so that many can be made together. */
typedef void query_udf_told(struct op *op, void *context, struct slice name, const struct value *arg,
                            int count);

/* Makes the calls that it was told of. Failure is the query's failure; that of one call waits until the call comes. */
typedef enum status query_udf_settle(struct op *op, void *context);

/* For tests, which compare the two: answers are the same. */
enum query_way { QUERY_BY_COST, QUERY_BY_SCAN, QUERY_BY_INDEX };

enum query_explain { EXPLAIN_PLAN = 1, EXPLAIN_INDEXES = 2, EXPLAIN_INDEXES_V2 = 4 };

struct query_options {
    struct json computed;  /* the container's computedProperties; undefined when it has none */
    struct json indexing;  /* its indexingPolicy: which ORDER BY it allows; undefined allows all */
    struct json vectors;   /* its vectorEmbeddingPolicy */
    struct json full_text; /* its fullTextPolicy: which language a text is in */
    bool planar;           /* geospatialConfig.type is Geometry */
    query_udf *udf;
    query_udf_told *udf_told;     /* NULL: calls are made one by one */
    query_udf_settle *udf_settle; /* likewise */
    void *udf_context;
    enum query_way way;
    unsigned explain; /* enum query_explain: what a page says of itself */
    int64_t
        plan_after_us; /* on the monotonic clock: a page that ends later tells its plan unasked; 0: none does */
    bool is_condition;   /* the text is FROM c WHERE ..., as a patch writes its condition */
    bool rows_as_values; /* a page's rows are bytes of json.h, each a value, and not text */
};

/* `parameters` is the request's array, or undefined. */
enum status query_compile(struct op *op, struct slice text, struct json parameters,
                          const struct query_options *options, struct query **query);

/* The statement as it was bound. */
const struct select *query_select(const struct query *query);

/* TOP 0. */
bool query_takes_nothing(const struct query *query);

/* Of the text but for its filter, and of the parameters: a continuation of another query is refused by it. */
uint64_t query_hash(const struct query *query);

/*
 * Where the rows of a query with ORDER BY begin, as SDKs that merge ranges say it: a request's resumeFilter, whose bytes
 * outlive the query. Undefined and null say nothing. Rows before that are not there, as if by a filter; a later page's
 * position counts as ever. ST_BAD_REQUEST when it is none of this query.
 */
enum status query_resume(struct op *op, struct query *query, struct json filter);

/*
 * Whether a subquery in FROM gathers rows of many items. Nobody can join what ranges would answer: one of them answers
 * for all, and in the others the subquery has no rows.
 */
bool query_gathers(const struct query *query);
void query_gathers_elsewhere(struct query *query);

/*
 * ORDER BY RANK weighs keywords by how rare they are among all of a container's items, whatever part of them is queried.
 * query_count_by_index() counts them where an index of the source tells. Where it does not, whoever can gives a source of
 * all items to query_count_words() before query_run(); otherwise the rows of the query's own source are counted.
 */
bool query_ranks(const struct query *query);
enum status query_count_by_index(struct op *op, struct query *query, const struct query_source *source,
                                 bool *counted);
enum status query_count_words(struct op *op, struct query *query, struct query_source *all);

/* Whether what one range answers page by page has to be joined: DISTINCT, GROUP BY, aggregates. */
bool query_joins(const struct query *query);

/* Whether the rows of an item are the same whatever other items there are: no sum, no order, no limit goes over several. */
bool query_is_of_each(const struct query *query);

enum { QUERY_POSITION_BYTES_MAX = 640 };

struct query_limits {
    size_t rows, bytes;  /* of one page */
    size_t scanned_rows; /* a page that finds little stops after looking at so many items */
    bool
        full_goes_on; /* rows as they come: a full page has a next one, which may be empty, as on the service */
};

struct query_page {
    struct slice *row; /* JSON text each, unless the options say otherwise */
    size_t count;
    struct slice next;          /* where to go on; data is NULL at the end */
    struct slice plan, indexes; /* JSON, when the options ask for it */
    struct arena memory;
};

/* `from` is a page's `next`, or empty for the first. ST_BAD_REQUEST when it is no position of this query. */
enum status query_run(struct op *op, struct query *query, struct query_source *source, struct slice from,
                      const struct query_limits *limits, struct query_page *page);
void query_page_free(struct query_page *page);
