/* client/source.c - one source of rows: asks for a page, takes it apart, remembers where the next one begins. */
#include <stdlib.h>

#include "query.h"

static char *copy_slice(struct slice text, bool *good)
{
    char *copy = text.data ? memory_text(text) : NULL;

    if (text.data && !copy)
        *good = false;
    return copy;
}

orrery_status source_add(orrery_query *query, const char *link, struct slice range, struct slice min,
                         struct slice max, bool part_of_range)
{
    struct source *source;
    bool good = true;

    if (!memory_grow(&query->sources, &query->source_capacity, query->source_count + 1, sizeof(*source)))
        return client_no_memory(query->client);
    source = &query->sources[query->source_count++];
    *source = (struct source){ .part_of_range = part_of_range };
    arena_init(&source->arena, SIZE_MAX);
    source->link = copy_slice(slice_of(link), &good);
    source->range = copy_slice(range, &good);
    source->min = copy_slice(min, &good);
    source->max = copy_slice(max, &good);
    return good ? ORRERY_OK : client_no_memory(query->client);
}

void source_free(struct source *source)
{
    call_free(source->call);
    arena_free(&source->arena);
    allocator_free(source->link);
    allocator_free(source->range);
    allocator_free(source->min);
    allocator_free(source->max);
    allocator_free(source->token);
    allocator_free(source->page_token);
    allocator_free(source->told);
}

bool source_wants_page(const struct source *source)
{
    return !source->ended && !source->idle && !source->call && source->next_row == source->row_count;
}

static void query_headers(const orrery_query *query, const struct source *source, struct call *call)
{
    int page_items = OPTION(&query->options, page_items);

    call->repeatable = true;
    if (page_items)
        call_header_int(call, "x-ms-max-item-count", page_items);
    call_header(call, "x-ms-documentdb-partitionkey", query->key);
    call_header(call, "x-ms-documentdb-partitionkeyrangeid", query->key ? NULL : source->range);
    call->follows_ranges = source->range != NULL;
    call_header(call, "x-ms-cosmos-intended-collection-rid", place_intended(query, source->link));
    if (source->part_of_range) {
        call_header(call, "x-ms-start-epk", source->min);
        call_header(call, "x-ms-end-epk", source->max);
        call_header(call, "x-ms-read-key-type", "EffectivePartitionKeyRange");
    }
    if (query->kind != CURSOR_CHANGES)
        call_header(call, "x-ms-continuation", source->token);
    if (query->kind != CURSOR_QUERY)
        return;
    call_header(call, "x-ms-documentdb-isquery", "true");
    if (!query->key && !source->range)
        call_header(call, "x-orrery-whole", "true"); /* a server of ours joins ranges itself */
    if (OPTION(&query->options, metrics)) {
        call_header(call, "x-ms-documentdb-populatequerymetrics", "True");
        call_header(call, "x-ms-cosmos-populateindexmetrics", "True");
    }
    if (OPTION(&query->options, enable_scan))
        call_header(call, "x-ms-documentdb-query-enable-scan", "true");
    if (OPTION(&query->options, parallel) > 1)
        call_header(call, "x-ms-documentdb-query-parallelizecrosspartitionquery", "true");
    call_body(call, "application/query+json", query->body);
}

static void change_headers(const orrery_query *query, const struct source *source, struct call *call)
{
    if (query->kind != CURSOR_CHANGES)
        return;
    call_header(call, "A-IM", query->options.all_versions ? "Full-Fidelity Feed" : "Incremental Feed");
    if (query->options.all_versions)
        call_header(call, "x-ms-cosmos-changefeed-wire-format-version", "2021-09-15");
    if (source->token)
        call_header(call, "If-None-Match", source->token);
    else if (query->start == ORRERY_FROM_NOW)
        call_header(call, "If-None-Match", "*");
    else if (query->start == ORRERY_FROM_TIME)
        call_header(call, "If-Modified-Since", query->start_date);
}

/* A container's link means its items; any other is a feed's already. */
static orrery_status feed_target(struct call *call, const char *link)
{
    orrery_status status = call_target(call, link);

    if (status == ORRERY_OK && strcmp(call->target.type, "colls") == 0 && call->target.container.size > 0)
        status = call_child(call, link, "docs", NULL);
    return status;
}

orrery_status source_start(orrery_query *query, struct source *source)
{
    struct call *call =
        call_new(query->client, query->kind == CURSOR_QUERY ? METHOD_POST : METHOD_GET, &query->options);
    orrery_status status;

    if (!call)
        return ORRERY_ENOMEM;
    status = feed_target(call, source->link);
    if (status == ORRERY_OK) {
        query_headers(query, source, call);
        change_headers(query, source, call);
        status = call_start(call);
    }
    if (status == ORRERY_OK)
        source->call = call;
    else
        call_free(call);
    return status;
}

int64_t change_lsn(struct json row)
{
    struct json lsn = json_get(row, "_lsn");

    if (!lsn.at) /* of all versions */
        lsn = json_get(json_get(row, "metadata"), "lsn");

    return json_kind(lsn) == JSON_NUMBER && json_is_int(lsn) ? json_int(lsn) : 0;
}

static bool was_told(struct source *source, struct json row)
{
    uint64_t hash = source->told_count ? json_hash(row).h1 : 0;

    for (size_t i = 0; i < source->told_count; i++)
        if (source->told[i] == hash) {
            source->told_count--;
            memmove(&source->told[i], &source->told[i + 1], (source->told_count - i) * sizeof(hash));
            return true;
        }
    return false;
}

/*
 * Rows that were told before go to the front, and are passed over. Rows are known by their contents: meanwhile
 * others may have gone, or come, or moved to another page. Changes are known by their numbers: what has changed
 * again stands further behind.
 */
static void pass_over(struct source *source)
{
    bool is_told = false;

    for (size_t i = 0; i < source->row_count && source->told_count; i++) {
        struct json row = source->rows[i];

        is_told = was_told(source, row);
        if (!is_told)
            continue;
        memmove(&source->rows[source->next_row + 1], &source->rows[source->next_row],
                (i - source->next_row) * sizeof(row));
        source->rows[source->next_row++] = row;
    }
    if (source->row_count > 0 && !is_told)
        source->told_count = 0; /* the page goes beyond them: what is left of them was deleted */
    while (source->next_row < source->row_count &&
           change_lsn(source->rows[source->next_row]) < source->from_lsn)
        source->next_row++;
    if (source->next_row < source->row_count)
        source->from_lsn = 0;
}

/* The rows are the one list that a feed's body has. */
static struct json rows_of(struct json body)
{
    for (struct json_iter i = json_iter(body); json_next(&i);)
        if (json_kind(i.value) == JSON_ARRAY)
            return i.value;
    return json_undefined;
}

static orrery_status take_rows(struct source *source, struct slice body)
{
    struct json root = json_undefined, rows;
    orrery_status status = parse_json(&source->arena, body, &root);

    if (status != ORRERY_OK)
        return status;
    rows = rows_of(root);
    if (!rows.at)
        return ORRERY_EJSON;
    source->rows = memory_list(&source->arena, json_count(rows), sizeof(*source->rows));
    if (!source->rows)
        return ORRERY_ENOMEM;
    for (struct json_iter i = json_iter(rows); json_next(&i);)
        source->rows[source->row_count++] = i.value;
    pass_over(source);
    return ORRERY_OK;
}

static void move_token(struct source *source, char *next)
{
    allocator_free(source->page_token);
    source->page_token = source->token;
    source->token = next;
}

static void drop_page(struct source *source)
{
    arena_reset(&source->arena);
    source->rows = NULL;
    source->row_count = source->next_row = 0;
}

static orrery_status take_page(orrery_query *query, struct source *source, const orrery_response *response,
                               orrery_status status)
{
    bool changes = query->kind == CURSOR_CHANGES;
    const char *next = changes ? orrery_response_etag(response) : orrery_response_continuation(response);
    char *token = next ? memory_text(slice_of(next)) : NULL;

    query->charge += orrery_response_charge(response);
    drop_page(source);
    if (next && !token)
        status = ORRERY_ENOMEM;
    else if (status == ORRERY_OK)
        status = take_rows(source, slice_make(orrery_response_body(response, NULL), response->body_bytes));
    else
        source->idle = true;
    if (status == ORRERY_NOT_MODIFIED)
        status = ORRERY_OK;
    if (status != ORRERY_OK) {
        allocator_free(token);
        return client_fail(query->client, status, "a page of rows: %s", orrery_status_text(status));
    }
    if (!changes || next)
        move_token(source, token);
    source->ended = !next && !source->idle; /* a change feed that cannot say where to go on has ended, too */
    return ORRERY_OK;
}

static orrery_status add_metric(orrery_query *query, struct slice name, double figure)
{
    for (size_t i = 0; i < query->metric_count; i++)
        if (slice_equal(query->metrics[i].name, name)) {
            query->metrics[i].sum += figure;
            return ORRERY_OK;
        }
    if (!memory_grow_in(&query->arena, &query->metrics, &query->metric_capacity, query->metric_count + 1,
                        sizeof(*query->metrics)))
        return client_no_memory(query->client);
    name.data = memory_text_in(&query->arena, name);
    if (!name.data)
        return client_no_memory(query->client);
    query->metrics[query->metric_count++] = (struct metric){ name, figure };
    return ORRERY_OK;
}

/* "totalExecutionTimeInMs=0.07;retrievedDocumentCount=3;..." */
static orrery_status add_metrics(orrery_query *query, const char *list)
{
    orrery_status status = ORRERY_OK;

    while (list && *list && status == ORRERY_OK) {
        size_t size = strcspn(list, ";"), name = strcspn(list, "=;");

        if (name < size)
            status = add_metric(query, slice_make(list, name), strtod(list + name + 1, NULL));
        list += size + (list[size] == ';');
    }
    return status;
}

/* The page's rows are parsed: of its answer what is not in them is kept. */
static orrery_status keep_last(orrery_query *query, orrery_response *response)
{
    orrery_response_free(query->last);
    query->last = response;
    allocator_free(response->body);
    response->body = NULL;
    response->body_bytes = response->body_capacity = 0;
    return add_metrics(query, orrery_response_header(response, "x-ms-documentdb-query-metrics"));
}

/* The service asks for a plan where it does not merge by itself. */
static bool wants_plan(const orrery_query *query)
{
    const orrery_response *failed = query->client->failed;

    return query->may_plan && failed && failed->http == 400 &&
           (failed->sub_status == 1004 || strstr(orrery_response_body(failed, NULL), "additionalErrorInfo") ||
            strstr(orrery_response_body(failed, NULL), "Cross partition query only supports"));
}

/* The collection that was asked has the name of the one that was meant. */
static bool is_of_another(const orrery_query *query)
{
    return query->client->failed && query->client->failed->sub_status == SUB_STATUS_OTHER_CONTAINER;
}

static orrery_status take_call(orrery_query *query, struct source *source)
{
    orrery_response *response = NULL;
    struct call *call = source->call;
    orrery_status status;
    bool has_page = false;

    source->call = NULL;
    client_begin(query->client);
    status = call_take(call, &response);
    if (status == ORRERY_OK || (status == ORRERY_NOT_MODIFIED && query->kind == CURSOR_CHANGES))
        status = take_page(query, source, response, status), has_page = status == ORRERY_OK;
    else if (status == ORRERY_EBADREQUEST && wants_plan(query))
        query->phase = PHASE_PLAN, status = ORRERY_OK;
    else if (status == ORRERY_EGONE && source->range && query->client->failed->sub_status == 1002)
        return ranges_ask(query, source);
    else if (status == ORRERY_EBADREQUEST && is_of_another(query) && places_again(query))
        return ORRERY_OK;
    if (has_page)
        return keep_last(query, response);
    orrery_response_free(response);
    return status;
}

orrery_status source_fill(orrery_query *query, struct source *source)
{
    orrery_status status;

    if (source->next_row < source->row_count)
        return ORRERY_ROW;
    if (source->call && source->call->state == CALL_ENDED)
        return source->is_following ? ranges_follow(query, source) : take_call(query, source);
    if (source->call)
        return ORRERY_WAIT;
    if (source->ended || source->idle)
        return ORRERY_DONE;
    status = source_start(query, source);
    return status == ORRERY_OK ? ORRERY_WAIT : status;
}
