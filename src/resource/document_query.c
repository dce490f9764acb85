/* src/resource/document_query.c - queries over items, and the plans of them that SDKs ask for. */
#include "catalog/ranges.h"
#include "resource/as_of.h"
#include "resource/function.h"
#include "resource/resource.h"
#include "resource/scope.h"
#include "resource/search.h"
#include "resource/trial.h"
#include "resource/usage.h"
#include "source/items.h"
#include "source/narrow.h"
#include "query/outline.h"
#include "workload/noted.h"

static bool is_of_one_part(const struct partition_scope *scope)
{
    return scope->key.epk.size || scope->min.size || scope->max.size ||
           (scope->points && scope->point_count <= 1);
}

/* The first and the last range in which the scope's keys lie. */
static void ranges_of_scope(const struct container *container, const struct partition_scope *scope,
                            uint32_t *first, uint32_t *last)
{
    *first = 0;
    *last = container->ranges.count - 1;
    if (!scope->points)
        return;
    for (size_t i = 0; i < scope->point_count; i++) {
        struct range_ids ids = ranges_of_prefix(container, &scope->points[i]);

        if (i == 0)
            *first = (uint32_t)(ids.id - container->ranges.id);
        *last = (uint32_t)(ids.id - container->ranges.id) + ids.count - 1;
    }
    if (scope->point_count == 0)
        *last = 0;
}

/* Neither a key nor a range nor bounds: the request is about whatever the filter leaves. */
static bool is_of_all(const struct call *call, const struct partition_scope *scope)
{
    return !call_header(call, HEADER_PARTITION_KEY_RANGE_ID).data && !scope->key.epk.size &&
           !scope->min.size && !scope->max.size && !call->container->system_key;
}

/* Whether rows of several ranges come together in the answer. */
static bool is_spread(const struct call *call, const struct partition_scope *scope)
{
    uint32_t first, last;

    ranges_of_scope(call->container, scope, &first, &last);
    return first < last;
}

/*
 * Clients join what ranges answer, by a plan: the service's gateway does not. It tells those that have not asked for the
 * plan, with the plan, and those that want to ask the ranges side by side.
 */
static enum status check_servable(struct op *op, const struct call *call, const struct search *search)
{
    struct query_key key = narrow_key(call->container);
    struct buf plan;
    bool needed;
    enum status st;

    buf_init(&plan, &op->arena);
    TRY(query_plan_unasked(op, query_select(search->query), &key, &needed, &plan));
    if (!needed && !header_is_true(call->request, HEADER_PARALLELIZE))
        goto out;
    op->error_info = buf_as_slice(&plan);
    TRY(op_fail_as(op, ST_QUERY_NEEDS_PLAN));
out:
    return st;
}

/* Programs that know this server may ask for whole answers of all ranges. */
static enum status route_query(struct op *op, const struct call *call, struct reply *reply,
                               struct partition_scope *scope, struct search *search)
{
    enum status st = ST_OK;

    if (!is_of_all(call, scope) || header_is_true(call->request, HEADER_WHOLE))
        return ST_OK;
    if (is_spread(call, scope))
        TRY(check_servable(op, call, search));
    TRY(walk_begin(op, call, reply, scope, &search->walk));
out:
    return st;
}

/*
 * Of what a subquery in FROM gathers no range has a part. The first of those that the query is about answers for all of
 * them, the others have nothing.
 */
static void gather_in_first_range(const struct call *call, const struct search *search,
                                  struct partition_scope *scope)
{
    uint32_t first, last;

    if (!query_gathers(search->query) || scope->key.epk.size ||
        !call_header(call, HEADER_PARTITION_KEY_RANGE_ID).data)
        return;
    ranges_of_scope(call->container, scope, &first, &last);
    if (range_of_epk(call->container, &scope->min) == first)
        scope->min.size = scope->max.size = 0;
    else
        query_gathers_elsewhere(search->query);
}

/* ORDER BY RANK: what is rare in the container is rare, whatever part of it is asked for. */
static enum status count_words(struct op *op, const struct call *call, const struct search *search,
                               const struct query_source *rows)
{
    struct partition_scope all = { 0 };
    struct item_source *items = NULL;
    bool counted;
    enum status st;

    TRY(query_count_by_index(op, search->query, rows, &counted));
    if (counted)
        goto out;
    TRY(item_source_open(op, call->container, &all, &items));
    TRY(query_count_words(op, search->query, item_source_rows(items)));
out:
    item_source_close(items);
    return st;
}

/* A query of several ranges comes once for each of them: it counts when it comes to the first. */
static bool is_of_first_range(const struct call *call, const struct reply *reply)
{
    return reply->about.ranges.id[0] == call->container->ranges.id[0] ||
           !call_header(call, HEADER_PARTITION_KEY_RANGE_ID).data;
}

/* For the record of the workload. A header or a filter that names the key leads to its logical partitions. */
static enum status note(struct op *op, const struct call *call, const struct reply *reply,
                        const struct search *search, const struct partition_scope *scope)
{
    struct query_outline *outline;
    bool names_key = scope->key.epk.size || scope->points;
    enum status st = ST_OK;

    if (!op->noted)
        return ST_OK;
    outline = arena_alloc(&op->arena, sizeof(*outline));
    TRY(query_outline(op, query_select(search->query), outline));
    noted_ask(op, &(struct noted_query){ .outline = outline,
                                         .text = search->text,
                                         .parameters = search->parameters,
                                         .names_key = names_key,
                                         .is_first = !call_header(call, HEADER_CONTINUATION).size &&
                                                     (names_key || is_of_first_range(call, reply)) });
out:
    return st;
}

/* The rows that the query reads: of now, or of the moment that the request names. Those who close them accept NULL. */
struct query_rows {
    struct item_source *items;
    struct past_source *past;
    struct query_source *source;
};

static enum status open_rows(struct op *op, const struct call *call, struct reply *reply,
                             const struct search *search, const struct partition_scope *scope,
                             struct query_rows *rows)
{
    enum status st;

    if (as_of_is_asked(call)) {
        TRY(as_of_open(op, call, reply, scope, &rows->past));
        rows->source = past_source_rows(rows->past);
        if (query_ranks(search->query))
            TRY(op_fail(op, ST_BAD_REQUEST,
                        "A query that ranks texts is not answered as of an earlier moment."));
        goto out;
    }
    TRY(item_source_open(op, call->container, scope, &rows->items));
    rows->source = item_source_rows(rows->items);
    TRY(count_words(op, call, search, rows->source));
out:
    return st;
}

enum status document_query(struct op *op, struct call *call, struct reply *reply)
{
    uint64_t lsn;
    struct query_options options = search_options(call);
    struct functions functions = functions_of(call, NULL);
    struct query_rows rows = { 0 };
    struct partition_scope scope;
    struct search search;
    struct trial trial;
    enum status st;

    functions_offer(&functions, &options);
    options.rows_as_values = form_of_answer(call) == FORM_BINARY;
    scope_all(reply, call);
    TRY(trial_begin(op, call, &trial));
    TRY(scope_read(op, call, reply, &scope));
    TRY(scope_check_session(op, call, reply));
    lsn = scope_lsn(call, reply); /* before the read, which sees at least this */
    TRY(search_read(op, call, &search));
    TRY(trial_text(op, call, search.text, &trial));
    TRY(search_compile(op, &search, &options));
    TRY(narrow_scope(op, call->container, search.query, &scope));
    if (!is_of_one_part(&scope))
        TRY(scope_check_crossing(op, call));
    TRY(route_query(op, call, reply, &scope, &search));
    TRY(note(op, call, reply, &search, &scope));
    gather_in_first_range(call, &search, &scope);
    TRY(open_rows(op, call, reply, &search, &scope, &rows));
    TRY(search_run(op, call, reply, &search, rows.source, &call->container->rid, "Documents"));
    reply_session(reply, lsn);
    usage_of_items(reply, call);
out:
    item_source_close(rows.items);
    past_source_close(rows.past);
    functions_end(&functions);
    trial_end(op, &trial, st);
    return st;
}

/* A client of several containers says so: what ranks in one of them is not the answer, however few ranges it has. */
static bool is_merged_with_others(const struct call *call)
{
    struct slice whole = call->request->header[HEADER_WHOLE];

    return whole.data && slice_is(whole, "false");
}

enum status document_plan(struct op *op, struct call *call, struct reply *reply)
{
    struct query_options options = search_options(call);
    struct functions functions = functions_of(call, NULL);
    struct query_key key = narrow_key(call->container);
    struct search search;
    struct trial trial;
    enum status st;

    functions_offer(&functions, &options); /* a plan calls none */
    scope_all(reply, call);
    TRY(trial_begin(op, call, &trial));
    TRY(search_read(op, call, &search));
    TRY(trial_text(op, call, search.text, &trial));
    TRY(search_compile(op, &search, &options));
    if (query_ranks(search.query) && call->container->ranges.count == 1 && !is_merged_with_others(call))
        TRY(query_plan_whole(op, query_select(search.query), &key, reply_body(reply)));
    else
        TRY(query_plan(op, query_select(search.query), &key, call_header(call, HEADER_QUERY_FEATURES),
                       reply_body(reply)));
out:
    trial_end(op, &trial, st);
    return st;
}
