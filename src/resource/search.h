/*
 * src/resource/search.h - queries over anything that is listed: the text, the page, the headers.
 *     search_read(op, call, &search);                        the request's text and parameters
 *     search_compile(op, &search, &options);
 *     search_run(op, call, reply, &search, &source, ...);    one page, as a feed
 */
#pragma once
#include "query/query.h"
#include "resource/form.h"
#include "resource/walk.h"

struct search {
    struct slice text;
    struct json parameters;
    struct json resume; /* resumeFilter: where rows begin; undefined when nothing is said */
    struct query *query;
    enum form form;     /* of the page */
    struct walk walk;   /* over ranges, where the request names none */
    int64_t compile_us; /* for the metrics */
};

/* What a query over the call's container may use. */
struct query_options search_options(const struct call *call);

enum status search_read(struct op *op, const struct call *call, struct search *search);
enum status search_compile(struct op *op, struct search *search, const struct query_options *options);

/* A page that finds little ends after as many rows, and the next request goes on. */
enum { SEARCH_SCANNED_MAX = 500 * 1000 };

/*
 * Binds a continuation to its query and to the owner of what is queried. ST_BAD_REQUEST when the client brought it
 * from another query.
 */
enum status search_bind(struct op *op, const struct search *search, const struct rid *owner,
                        struct continuation *at);

/* `owner` is what the continuation is bound to, and the feed's _rid; NULL for the account's. */
enum status search_run(struct op *op, const struct call *call, struct reply *reply, struct search *search,
                       struct query_source *source, const struct rid *owner, const char *collective);

/* How a query reads resources of the catalog as rows. */
struct search_kind {
    /* `*resource` may become a later version of it. ST_NOT_FOUND: it is gone, and is no row. */
    enum status (*print)(struct op *op, struct buf *out, void **resource, const void *context);
    uint64_t (*number)(const void *resource); /* which one it is among its siblings */
    void (*release)(void *resource);          /* NULL: there is nothing to give back */
};

struct search_list {
    const struct search_kind *kind;
    const void *context; /* for print */
    void **resource;     /* references, in the order of their numbers */
    size_t count;
};

/* A list as the source of a query. The list must outlive it. Init and free do not touch the list's references. */
struct search_rows {
    struct query_source base;
    const struct search_list *list;
    size_t next;
    struct arena memory; /* of the row */
};

void search_rows_init(struct op *op, struct search_rows *rows, const struct search_list *list);
void search_rows_free(struct search_rows *rows);

/* Reads, compiles and runs the request's query over the list, and then releases the list's references. */
enum status search_list_run(struct op *op, const struct call *call, struct reply *reply,
                            const struct search_list *rows, const struct rid *owner, const char *collective);
