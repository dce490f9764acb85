/* src/resource/search.c - queries over anything that is listed. */
#include <assert.h>

#include "base/encode.h"
#include "base/limits.h"
#include "reply/feed.h"
#include "resource/search.h"
#include "workload/noted.h"

static enum query_way way_of(const struct call *call)
{
    struct slice header = call_header(call, HEADER_INDEX_WAY);

    if (header.data && slice_is_nocase(slice_trim(header), "off"))
        return QUERY_BY_SCAN;
    return header.data && slice_is_nocase(slice_trim(header), "always") ? QUERY_BY_INDEX : QUERY_BY_COST;
}

static bool is_true(struct slice header)
{
    return header.data && slice_is_nocase(slice_trim(header), "true");
}

static unsigned explain_of(const struct call *call)
{
    bool is_wanted =
        is_true(call_header(call, HEADER_EXPLAIN)) || call->service->plans_from_us == PLANS_OF_ALL_US;
    unsigned wanted = is_wanted ? EXPLAIN_PLAN : 0;

    if (is_true(call_header(call, HEADER_INDEX_METRICS_V2)))
        return wanted | EXPLAIN_INDEXES_V2;
    return is_true(call_header(call, HEADER_INDEX_METRICS)) ? wanted | EXPLAIN_INDEXES : wanted;
}

/* Of a request that will turn out to be slow a part is over by then. */
static int64_t plan_after_us(const struct call *call)
{
    int64_t slow_us = call->service->plans_from_us;

    return slow_us ? call->began_us + slow_us / 4 : 0;
}

struct query_options search_options(const struct call *call)
{
    const struct container *container = call->container;
    struct json type = json_get(json_get(container->definition, "geospatialConfig"), "type");

    assert(json_kind(container->definition) == JSON_OBJECT);
    return (struct query_options){
        .computed = json_get(container->definition, "computedProperties"),
        .indexing = json_get(container->definition, "indexingPolicy"),
        .vectors = json_get(container->definition, "vectorEmbeddingPolicy"),
        .full_text = json_get(container->definition, "fullTextPolicy"),
        .way = way_of(call),
        .explain = explain_of(call),
        .plan_after_us = plan_after_us(call),
        .planar = json_kind(type) == JSON_STRING && slice_is(json_string(type), "Geometry"),
    };
}

/* Old clients send the bare text. */
static bool is_bare_text(const struct call *call)
{
    struct slice type = call_header(call, HEADER_CONTENT_TYPE);

    return type.data &&
           slice_is_nocase(slice_make(type.data, type.size < 15 ? type.size : 15), "application/sql");
}

/* SDKs send these of their own. The level says what the client can do by itself, and changes nothing here. */
static const char *const members[] = { "query", "parameters", "resumeFilter", "clientQLCompatibilityLevel" };

static bool is_known(struct slice name)
{
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        if (slice_is(name, members[i]))
            return true;
    return false;
}

/* What a query asks for is never left out in silence: rows would be wrong, and nobody told. */
static enum status check_members(struct op *op, struct json body)
{
    for (struct json_iter i = json_iter(body); json_next(&i);)
        if (!is_known(i.name))
            return op_fail(op, ST_BAD_REQUEST, "The query has a property that is not known: '%.*s'.",
                           (int)(i.name.size < 64 ? i.name.size : 64), i.name.data);
    return ST_OK;
}

enum status search_read(struct op *op, const struct call *call, struct search *search)
{
    struct json body, text;
    enum status st = ST_OK;

    *search = (struct search){ .text = call->request->body };
    op->spent.is_measured = is_true(call_header(call, HEADER_QUERY_METRICS));
    if (is_bare_text(call))
        return ST_OK;
    TRY(call_body(op, call, HTTP_BODY_BYTES_MAX, &body));
    text = json_get(body, "query");
    search->parameters = json_get(body, "parameters");
    if (json_kind(text) != JSON_STRING)
        TRY(op_fail(
            op, ST_BAD_REQUEST,
            "The input content is invalid because the required properties - 'query; ' - are missing"));
    if (json_kind(search->parameters) != JSON_UNDEFINED && json_kind(search->parameters) != JSON_NULL &&
        json_kind(search->parameters) != JSON_ARRAY)
        TRY(op_fail_as(op, ST_BAD_REQUEST));
    TRY(check_members(op, body));
    search->resume = json_get(body, "resumeFilter");
    search->text = json_string(text);
out:
    return st;
}

/* Whatever memory a query took, there is some for the answer: for a page, twice while it grows, or for an error. */
static void leave_room(struct op *op)
{
    op->arena.limit_bytes = op->arena.used_bytes + 4 * (size_t)PAGE_BYTES_MAX;
}

enum status search_compile(struct op *op, struct search *search, const struct query_options *options)
{
    int64_t began_us = op_clock_us(op);
    enum status st;

    search->form = options->rows_as_values ? FORM_BINARY : FORM_TEXT;
    TRY(query_compile(op, search->text, search->parameters, options, &search->query));
    TRY(query_resume(op, search->query, search->resume));
out:
    if (st != ST_OK)
        leave_room(op);
    search->compile_us = op_clock_us(op) - began_us;
    return st;
}

enum status search_bind(struct op *op, const struct search *search, const struct rid *owner,
                        struct continuation *at)
{
    uint64_t hash = query_hash(search->query);

    assert(at->kind == CONTINUATION_QUERY);
    if (at->position.size && at->query != hash)
        return continuation_malformed(op);
    at->container = *owner;
    at->query = hash;
    return ST_OK;
}

/* Rows are text, or values that become binary JSON. */
static size_t print_rows(struct reply *reply, const struct query_page *page, enum form form,
                         const struct rid *owner, const char *collective)
{
    struct feed feed;
    size_t bytes = 0;

    if (form == FORM_BINARY)
        feed_begin_binary(&feed, reply, owner, collective);
    else
        feed_begin(&feed, reply, owner, collective);
    for (size_t i = 0; i < page->count; i++) {
        feed_next(&feed);
        if (form == FORM_BINARY)
            binary_value(feed.writer, json_from_bytes(page->row[i]));
        else
            buf_slice(reply_body(reply), page->row[i]);
        bytes += page->row[i].size;
    }
    feed_end(&feed);
    return bytes;
}

struct timing {
    int64_t began_us, ran_us, printed_us;
    uint64_t bytes_before, documents_before;
    size_t row_count, row_bytes;
};

static void add_ms(struct buf *out, const char *name, int64_t us)
{
    buf_printf(out, "%s=%lld.%02lld;", name, (long long)(us / 1000), (long long)(us % 1000 / 10));
}

/*
 * SDKs compute with these figures: what is left of the run without its parts is a time, too, and none is zero. The
 * header has hundredths of a millisecond.
 */
enum { METRIC_US_MIN = 10 };

static int64_t at_least(int64_t us, int64_t least)
{
    return us > least ? us : least;
}

/* The header that SDKs take apart: every part is name=value, and nothing follows the last. */
static void reply_metrics(struct reply *reply, const struct search *search, const struct timing *timing)
{
    const struct work *work = &reply->op->work;
    const struct spent *spent = &reply->op->spent;
    uint64_t documents = work->documents_scanned - timing->documents_before;
    int64_t compile_us = at_least(search->compile_us, METRIC_US_MIN);
    int64_t write_us = timing->printed_us - timing->ran_us;
    int64_t run_us = at_least(timing->printed_us - timing->began_us,
                              spent->index_us + spent->load_us + write_us + METRIC_US_MIN);
    double ratio = documents == 0 ? 1 : (double)timing->row_count / (double)documents;
    struct buf out;

    buf_init(&out, &reply->op->arena);
    add_ms(&out, "totalExecutionTimeInMs", compile_us + run_us);
    add_ms(&out, "queryCompileTimeInMs", compile_us);
    add_ms(&out, "queryLogicalPlanBuildTimeInMs", 0);
    add_ms(&out, "queryPhysicalPlanBuildTimeInMs", 0);
    add_ms(&out, "queryOptimizationTimeInMs", 0);
    add_ms(&out, "VMExecutionTimeInMs", run_us);
    add_ms(&out, "indexLookupTimeInMs", spent->index_us);
    add_ms(&out, "documentLoadTimeInMs", spent->load_us);
    add_ms(&out, "systemFunctionExecuteTimeInMs", 0);
    add_ms(&out, "userFunctionExecuteTimeInMs", 0);
    buf_printf(&out, "retrievedDocumentCount=%llu;retrievedDocumentSize=%llu;", (unsigned long long)documents,
               (unsigned long long)(work->bytes_read - timing->bytes_before));
    buf_printf(&out, "outputDocumentCount=%zu;outputDocumentSize=%zu;", timing->row_count, timing->row_bytes);
    add_ms(&out, "writeOutputTimeInMs", write_us);
    buf_printf(&out, "indexUtilizationRatio=%.2f", ratio < 1 ? ratio : 1);
    reply_header(reply, "x-ms-documentdb-query-metrics", buf_as_slice(&out));
}

/* Clients take 64 KB of headers in all. What is cut in two is no JSON any more, but the answer arrives. */
static struct slice cut_metrics(struct slice text)
{
    if (text.size > INDEX_METRICS_BYTES_MAX) {
        text.size = INDEX_METRICS_CUT_BYTES;
        for (size_t i = 1; i <= 2; i++) /* of an escape no part is left */
            if (text.data[text.size - i] == '%')
                text.size -= i;
    }
    return text;
}

/* SDKs of today read the second form, which is percent-encoded. Older ones read the first, in base64. */
static void reply_explained(struct reply *reply, const struct call *call, const struct query_page *page)
{
    struct buf text;

    buf_init(&text, &reply->op->arena);
    if (page->plan.data && is_true(call_header(call, HEADER_EXPLAIN)))
        reply_header_link(reply, "x-orrery-plan", page->plan);
    if (page->plan.data && call->service->plans_from_us)
        reply->plan = slice_make(arena_text(&reply->op->arena, page->plan), page->plan.size);
    if (!page->indexes.data)
        return;
    if (is_true(call_header(call, HEADER_INDEX_METRICS_V2)))
        percent_encode(&text, page->indexes);
    else
        base64_encode(&text, page->indexes);
    reply_header(reply, "x-ms-cosmos-index-utilization", cut_metrics(buf_as_slice(&text)));
}

/* How long a continuation the client takes; INT64_MAX when it does not say. */
static enum status read_limit(struct op *op, const struct call *call, int64_t *limit_kb)
{
    struct slice header = slice_trim(call_header(call, HEADER_CONTINUATION_LIMIT));

    *limit_kb = INT64_MAX;
    if (header.data && (!slice_to_i64(header, limit_kb) || *limit_kb < 0))
        return op_fail(
            op, ST_BAD_REQUEST,
            "The continuation token size limit %.*s is invalid. Please pass in a valid continuation "
            "token size limit which must be a positive integer.",
            SLICE_ARGS(header));
    return ST_OK;
}

static enum status check_token_size(struct op *op, int64_t limit_kb, const struct continuation *at)
{
    struct buf token;

    buf_init(&token, &op->arena);
    continuation_print(&token, at);
    if (limit_kb >= (int64_t)(token.size + 1023) / 1024)
        return ST_OK;
    return op_fail(
        op, ST_BAD_REQUEST,
        "The response continuation token limit specified is not large enough: the token has %zu bytes.",
        token.size);
}

/* A client that sends a query to one range without a plan is told whether it has to ask for one to go on. */
static void reply_distribution(struct reply *reply, const struct call *call, const struct search *search)
{
    if (is_true(call_header(call, HEADER_DIRECT_EXECUTION)))
        reply_header(reply, "x-ms-cosmos-query-requiresdistribution",
                     slice_of(query_joins(search->query) ? "True" : "False"));
}

/* SDKs that take no rows ask for pages without any. */
static enum status read_page_size(struct op *op, const struct call *call, const struct search *search,
                                  size_t *rows)
{
    *rows = 1;
    if (query_takes_nothing(search->query) &&
        slice_is(slice_trim(call_header(call, HEADER_MAX_ITEM_COUNT)), "0"))
        return ST_OK;
    return call_page_size(op, call, rows);
}

enum status search_run(struct op *op, const struct call *call, struct reply *reply, struct search *search,
                       struct query_source *source, const struct rid *owner, const char *collective)
{
    static const struct rid account = { 0 };
    struct timing timing = { .began_us = op_clock_us(op),
                             .bytes_before = op->work.bytes_read,
                             .documents_before = op->work.documents_scanned };
    struct query_limits limits = { .bytes = PAGE_BYTES_MAX,
                                   .scanned_rows = SEARCH_SCANNED_MAX,
                                   .full_goes_on = search->walk.is_on };
    struct query_page page = { 0 };
    struct continuation at;
    int64_t limit_kb;
    enum status st;

    assert(search->query); /* search_compile() came first */
    assert(source);
    op->work.queries++;
    if (call->service->plans_from_us)
        reply->query = search->text;
    TRY(read_page_size(op, call, search, &limits.rows));
    TRY(read_limit(op, call, &limit_kb));
    TRY(call_continuation(op, call, CONTINUATION_QUERY, owner ? owner : &account, &at));
    TRY(search_bind(op, search, owner ? owner : &account, &at));
    st = query_run(op, search->query, source, at.position, &limits, &page);
    leave_room(op);
    TRY(st);
    timing.ran_us = op_clock_us(op);
    timing.row_count = page.count;
    noted_rows(op, page.count);
    timing.row_bytes = print_rows(reply, &page, search->form, owner, collective);
    timing.printed_us = op_clock_us(op);
    at.position = page.next;
    if (page.next.size)
        TRY(check_token_size(op, limit_kb, &at));
    if (search->walk.is_on)
        walk_reply(reply, &search->walk, page.next.size ? &at : NULL);
    else if (page.next.size)
        reply_continuation(reply, &at);
    reply_distribution(reply, call, search);
    if (op->spent.is_measured)
        reply_metrics(reply, search, &timing);
    reply_explained(reply, call, &page);
out:
    query_page_free(&page);
    return st;
}

/* ---- resources of the catalog ---- */

/* A resource becomes JSON when the query looks at it, in memory of its own: definitions may be large, and many. */
static enum status read_row(struct op *op, struct search_rows *rows, struct query_row *row)
{
    const struct search_list *list = rows->list;
    void **resource = &list->resource[rows->next++];
    struct arena readers = op->arena;
    struct buf text;
    enum status st;

    assert(rows->next <= list->count);
    arena_reset(&rows->memory);
    op->arena = rows->memory;
    buf_init(&text, &op->arena);
    st = list->kind->print(op, &text, resource, list->context);
    if (st == ST_OK)
        st = text.failed ? ST_QUERY_MEMORY : json_parse(op, buf_as_slice(&text), &row->body);
    rows->memory = op->arena;
    op->arena = readers;
    if (st != ST_OK && st != ST_NOT_FOUND)
        op_set_error(op, "A resource cannot be read for the query.");
    row->number = row->counter = list->kind->number(*resource);
    return st;
}

static enum status rows_next(struct op *op, struct query_source *source, struct query_row *row, bool *found)
{
    struct search_rows *rows = (struct search_rows *)source;
    enum status st = ST_NOT_FOUND;

    while (st == ST_NOT_FOUND && rows->next < rows->list->count)
        st = read_row(op, rows, row);
    *found = st == ST_OK;
    op->work.documents_scanned += *found;
    return st == ST_NOT_FOUND ? ST_OK : st;
}

static enum status rows_seek(struct op *op, struct query_source *source, uint64_t after)
{
    struct search_rows *rows = (struct search_rows *)source;
    const struct search_list *list = rows->list;

    (void)op;
    for (rows->next = 0; rows->next < list->count && list->kind->number(list->resource[rows->next]) <= after;)
        rows->next++;
    return ST_OK;
}

void search_rows_init(struct op *op, struct search_rows *rows, const struct search_list *list)
{
    *rows = (struct search_rows){ .base = { .next = rows_next, .seek = rows_seek }, .list = list };
    op_arena(op, &rows->memory, OP_MEMORY_BYTES_MAX);
}

void search_rows_free(struct search_rows *rows)
{
    arena_free(&rows->memory);
}

enum status search_list_run(struct op *op, const struct call *call, struct reply *reply,
                            const struct search_list *rows, const struct rid *owner, const char *collective)
{
    struct query_options options = { .explain = explain_of(call) };
    struct search_rows source;
    struct search search;
    enum status st;

    search_rows_init(op, &source, rows);
    TRY(search_read(op, call, &search));
    TRY(search_compile(op, &search, &options));
    TRY(search_run(op, call, reply, &search, &source.base, owner, collective));
out:
    search_rows_free(&source);
    for (size_t i = 0; i < rows->count && rows->kind->release; i++)
        rows->kind->release(rows->resource[i]);
    return st;
}
