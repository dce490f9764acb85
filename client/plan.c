/* client/plan.c - the server's plan for a query, and the ranges of the collections that it goes to. */
#include <assert.h>
#include <stdlib.h>

#include "query.h"
#include "resolver.h"

/* What merge.c, aggregate.c and hybrid.c can do. */
static const char features[] =
    "NonValueAggregate, Aggregate, Distinct, MultipleOrderBy, OffsetAndLimit, OrderBy, Top, "
    "CompositeAggregate, GroupBy, MultipleAggregates, ListAndSetAggregate, CountIf, DCount, "
    "NonStreamingOrderBy, HybridSearch, WeightedRankFusion";

/* ---- asking: the plans and the ranges of all collections, side by side */

/* Sends a call on its way; one that could not be built is given back. */
static orrery_status start(struct call **place, struct call *call, orrery_status status)
{
    if (status == ORRERY_OK)
        status = call_start(call);
    if (status == ORRERY_OK)
        *place = call;
    else
        call_free(call);
    return status;
}

static orrery_status start_plan(orrery_query *query, struct place *place)
{
    struct call *call = call_new(query->client, METHOD_POST, &query->options);
    orrery_status status;

    if (!call)
        return ORRERY_ENOMEM;
    status = call_child(call, place->link, "docs", NULL);
    call->repeatable = true;
    call_header(call, "x-ms-cosmos-is-query-plan-request", "True");
    call_header(call, "x-ms-cosmos-supported-query-features", features);
    call_header(call, "x-ms-cosmos-query-version", "1.4");
    call_header(call, "x-ms-documentdb-isquery", "true");
    if (query->place_count > 1)
        call_header(call, "x-orrery-whole",
                    "false"); /* others are merged with it, if it has one range or more */
    call_body(call, "application/query+json", query->original);
    return start(&place->plan, call, status);
}

/* Of the cursor's options, what concerns a request that is not about items. */
static orrery_status start_ranges(const orrery_query *query, const char *link, struct call **place)
{
    orrery_options options = { .size = sizeof(options), .timeout_ms = query->options.timeout_ms };
    struct call *call = call_new(query->client, METHOD_GET, &options);

    if (!call)
        return ORRERY_ENOMEM;
    call_header(call, "x-ms-max-item-count", "-1");
    return start(place, call, call_child(call, link, "pkranges", NULL));
}

/* An answer of GET .../pkranges, which is in the cursor's arena. */
static orrery_status hold_ranges(orrery_query *query, struct place *place, struct json body)
{
    struct json list = json_get(body, "PartitionKeyRanges"), rid = json_get(body, "_rid");

    if (json_kind(list) != JSON_ARRAY)
        return client_fail(query->client, ORRERY_EJSON, "the collection's ranges make no sense");
    place->rid = json_kind(rid) == JSON_STRING ? memory_text_in(&query->arena, json_string(rid)) : NULL;
    if (json_kind(rid) == JSON_STRING && !place->rid)
        return client_no_memory(query->client);
    place->list = list;
    return ORRERY_OK;
}

/* What the client knows already need not be asked. */
static orrery_status know_ranges(orrery_query *query, struct place *place)
{
    struct slice known = ranges_known(query->client, link_trim(place->link), &query->arena);
    struct json body = json_undefined;

    if (!known.data)
        return ORRERY_OK;
    if (parse_json(&query->arena, known, &body) != ORRERY_OK)
        return client_no_memory(query->client);
    place->is_remembered = true;
    return hold_ranges(query, place, body);
}

/* The answer as JSON in the cursor's own arena. ORRERY_WAIT: not yet. */
static orrery_status take_answer(orrery_query *query, struct call **of, struct json *body,
                                 orrery_response **response)
{
    struct call *call = *of;
    orrery_status status;

    if (call->state != CALL_ENDED)
        return ORRERY_WAIT;
    *of = NULL;
    client_begin(query->client);
    status = call_take(call, response);
    if (status == ORRERY_OK) {
        query->charge += orrery_response_charge(*response);
        status = parse_json(&query->arena,
                            slice_make(orrery_response_body(*response, NULL), (*response)->body_bytes), body);
        if (status != ORRERY_OK)
            client_fail(query->client, status, "the answer is no JSON");
    }
    return status;
}

/* ---- the plan */

struct kind_row {
    const char *name;
    enum aggregate_kind kind;
};

static const struct kind_row kind_rows[] = {
    { "Count", AGGREGATE_COUNT },     { "CountIf", AGGREGATE_COUNT }, { "Sum", AGGREGATE_SUM },
    { "Average", AGGREGATE_AVERAGE }, { "Min", AGGREGATE_MIN },       { "Max", AGGREGATE_MAX },
    { "MakeList", AGGREGATE_LIST },   { "MakeSet", AGGREGATE_SET },
};

static bool kind_of(struct json name, enum aggregate_kind *kind)
{
    *kind = AGGREGATE_NONE;
    if (json_kind(name) != JSON_STRING)
        return true;
    for (size_t i = 0; i < sizeof(kind_rows) / sizeof(kind_rows[0]); i++)
        if (slice_is(json_string(name), kind_rows[i].name)) {
            *kind = kind_rows[i].kind;
            return true;
        }
    return false;
}

static int64_t number_or(struct json value, int64_t otherwise)
{
    return json_kind(value) == JSON_NUMBER ? (int64_t)json_double(value) : otherwise;
}

static bool is_list(struct json value)
{
    return json_kind(value) == JSON_ARRAY && json_count(value) > 0;
}

static bool read_order(struct plan *plan)
{
    for (struct json_iter i = json_iter(json_get(plan->info, "orderBy")); json_next(&i);) {
        if (json_kind(i.value) != JSON_STRING || plan->order_count == sizeof(plan->descending))
            return false;
        plan->descending[plan->order_count++] = slice_is(json_string(i.value), "Descending");
    }
    return true;
}

/* One column for each alias; SELECT VALUE has one without. */
static bool read_columns(struct arena *arena, struct plan *plan)
{
    struct json kinds = json_get(plan->info, "groupByAliasToAggregateType"),
                aliases = json_get(plan->info, "groupByAliases"), list = json_get(plan->info, "aggregates");
    bool by_alias = is_list(aliases);
    size_t count = by_alias ? json_count(aliases) : 1;

    plan->columns = memory_list(arena, count, sizeof(*plan->columns));
    if (!plan->columns)
        return false;
    plan->column_count = count;
    plan->columns[0] = (struct column){ .alias = slice_of("") };
    if (!by_alias)
        return kind_of(json_element(list, 0), &plan->columns[0].kind);
    for (size_t i = 0; i < count; i++) {
        struct json alias = json_element(aliases, i);

        if (json_kind(alias) != JSON_STRING)
            return false;
        plan->columns[i].alias = json_string(alias);
        if (!kind_of(json_member(kinds, json_string(alias)), &plan->columns[i].kind))
            return false;
    }
    return true;
}

static void read_limits(struct plan *plan)
{
    int64_t top = number_or(json_get(plan->info, "top"), -1);

    plan->offset = number_or(json_get(plan->info, "offset"), 0);
    plan->limit = number_or(json_get(plan->info, "limit"), top);
}

static bool read_info(struct arena *arena, struct plan *plan)
{
    struct json distinct = json_get(plan->info, "distinctType");

    plan->distinct = json_kind(distinct) == JSON_STRING && !slice_is(json_string(distinct), "None");
    plan->counts_distinct = json_kind(json_get(plan->info, "dCountInfo")) == JSON_OBJECT;
    plan->has_value = json_kind(json_get(plan->info, "hasSelectValue")) == JSON_TRUE;
    plan->groups = is_list(json_get(plan->info, "aggregates")) ||
                   is_list(json_get(plan->info, "groupByExpressions")) ||
                   is_list(json_get(plan->info, "groupByAliases"));
    read_limits(plan);
    return read_order(plan) && (!plan->groups || read_columns(arena, plan));
}

static const char filter_mark[] = "{documentdb-formattableorderbyquery-filter}";

/* The rewritten text, with "true" for the filter that resuming would use. */
/* Pages of a range are in no order: all of them must have come before the first row is known. */
static bool sorts_all(const struct plan *plan)
{
    return json_kind(json_get(plan->info, "hasNonStreamingOrderBy")) == JSON_TRUE;
}

static void print_rewritten(struct buf *out, struct arena *arena, struct slice text)
{
    struct buf plain;
    const char *mark;

    buf_init(&plain, arena);
    while ((mark = memmem(text.data, text.size, filter_mark, sizeof(filter_mark) - 1))) {
        buf_append(&plain, text.data, (size_t)(mark - text.data));
        buf_text(&plain, "true");
        text = slice_after(text, (size_t)(mark - text.data) + sizeof(filter_mark) - 1);
    }
    buf_slice(&plain, text);
    json_print_string(out, buf_as_slice(&plain));
    out->failed = out->failed || plain.failed;
}

orrery_status plan_rewrite(orrery_query *query, struct slice text)
{
    struct json body = json_undefined, parameters;
    struct buf out;

    if (parse_json(&query->arena, query->original, &body) != ORRERY_OK)
        return client_no_memory(query->client);
    parameters = json_get(body, "parameters");
    buf_init(&out, &query->arena);
    buf_text(&out, "{\"query\":");
    print_rewritten(&out, &query->arena, text);
    if (parameters.at) {
        buf_text(&out, ",\"parameters\":");
        json_print(&out, parameters);
    }
    buf_byte(&out, '}');
    query->body = buf_as_slice(&out);
    return out.failed ? client_no_memory(query->client) : ORRERY_OK;
}

/* A plan without a text leaves the query as it was asked. */
static orrery_status rewrite_body(orrery_query *query)
{
    struct json rewritten = json_get(query->plan.info, "rewrittenQuery");

    query->body = query->original;
    if (json_kind(rewritten) != JSON_STRING || json_string(rewritten).size == 0)
        return ORRERY_OK;
    return plan_rewrite(query, json_string(rewritten));
}

/* Of the first collection: how to merge is the same for all. */
static orrery_status read_plan(orrery_query *query, struct json body)
{
    struct plan *plan = &query->plan;
    struct json hybrid = json_get(body, "hybridSearchQueryInfo");

    *plan = (struct plan){ .info = json_get(body, "queryInfo"), .limit = -1 };
    query->hybrid = NULL;
    if (json_kind(hybrid) == JSON_OBJECT)
        return hybrid_begin(query, hybrid);
    if (json_kind(plan->info) != JSON_OBJECT)
        return client_fail(query->client, ORRERY_EUNSUPPORTED,
                           "the query has a plan of a kind unknown to this library");
    if (!read_info(&query->arena, plan) || (sorts_all(plan) && (plan->groups || plan->distinct)))
        return client_fail(query->client, ORRERY_EUNSUPPORTED,
                           "the query's plan asks for what this library cannot merge");
    return sorts_all(plan) ? hybrid_begin_plain(query) : rewrite_body(query);
}

/* An answer to start_plan(), which is in the cursor's arena. */
static orrery_status hold_plan(orrery_query *query, struct place *place, struct json body)
{
    orrery_status status = place == query->places ? read_plan(query, body) : ORRERY_OK;

    place->wanted = json_get(body, "queryRanges");
    place->is_planned = status == ORRERY_OK;
    return status;
}

/* What a plan is remembered by: the query, without its last bracket where its plan is one of several collections. */
static struct slice plan_name(const orrery_query *query)
{
    struct slice name = query->original;

    name.size -= query->place_count > 1 && name.size > 0;
    return name;
}

static orrery_status know_plan(orrery_query *query, struct place *place)
{
    struct slice known = plan_known(query->client, link_trim(place->link), plan_name(query), &query->arena);
    struct json body = json_undefined;

    if (!known.data)
        return ORRERY_OK;
    if (parse_json(&query->arena, known, &body) != ORRERY_OK)
        return client_no_memory(query->client);
    place->is_remembered = true;
    return hold_plan(query, place, body);
}

/* The collection in front whose plan holds for this one too, because both are known to be partitioned in the same way. */
static const struct place *same_as(const orrery_query *query, const struct place *place)
{
    for (const struct place *other = query->places; other < place; other++)
        if (definition_is_same(query->client, link_trim(other->link), link_trim(place->link)))
            return other;
    return NULL;
}

static bool wants_plan(const orrery_query *query, const struct place *place)
{
    return query->phase == PHASE_PLAN && !place->is_planned && !place->plan && !same_as(query, place);
}

static orrery_status start_place(orrery_query *query, struct place *place)
{
    orrery_status status = ORRERY_OK;

    if (wants_plan(query, place))
        status = know_plan(query, place);
    if (status == ORRERY_OK && wants_plan(query, place))
        status = start_plan(query, place);
    if (status == ORRERY_OK && !place->list.at && !place->ranges)
        status = know_ranges(query, place);
    if (status == ORRERY_OK && !place->list.at && !place->ranges)
        status = start_ranges(query, place->link, &place->ranges);
    return status;
}

/* ---- ranges */

static struct slice text_or(struct json value, const char *otherwise)
{
    return json_kind(value) == JSON_STRING ? json_string(value) : slice_of(otherwise);
}

static const struct place *place_of(const orrery_query *query, const char *link)
{
    const struct place *place = query->places;

    while (place < query->places + query->place_count && strcmp(place->link, link) != 0)
        place++;
    assert(place < query->places + query->place_count); /* sources are made of places */
    return place;
}

bool ranges_want(const orrery_query *query, const char *link, struct slice min, struct slice max)
{
    struct json ranges = place_of(query, link)->wanted;

    if (slice_compare(min, max) >= 0)
        return false;
    if (json_kind(ranges) != JSON_ARRAY || hybrid_counts(query))
        return true;
    for (struct json_iter i = json_iter(ranges); json_next(&i);) {
        struct slice low = text_or(json_get(i.value, "min"), ""),
                     high = text_or(json_get(i.value, "max"), "FF");
        bool point = json_kind(json_get(i.value, "isMaxInclusive")) == JSON_TRUE;

        if (slice_compare(low, max) < 0 && slice_compare(high, min) >= (point ? 0 : 1))
            return true;
    }
    return false;
}

static bool is_gone(struct json list, struct json id)
{
    for (struct json_iter i = json_iter(list); json_next(&i);)
        for (struct json_iter parent = json_iter(json_get(i.value, "parents")); json_next(&parent);)
            if (json_equal(parent.value, id))
                return true;
    return false;
}

struct slice range_later(struct slice a, struct slice b)
{
    return slice_compare(a, b) < 0 ? b : a;
}

struct slice range_earlier(struct slice a, struct slice b)
{
    return slice_compare(a, b) < 0 ? a : b;
}

/* Sources for the part of a link's ranges that lies within [min, max). */
static orrery_status add_ranges(orrery_query *query, const char *link, struct json list, struct slice min,
                                struct slice max)
{
    if (json_kind(list) != JSON_ARRAY)
        return client_fail(query->client, ORRERY_EJSON, "the collection's ranges make no sense");
    for (struct json_iter i = json_iter(list); json_next(&i);) {
        struct slice low = text_or(json_get(i.value, "minInclusive"), ""),
                     high = text_or(json_get(i.value, "maxExclusive"), "FF"), from = range_later(low, min),
                     to = range_earlier(high, max);
        orrery_status status;

        if (slice_compare(from, to) >= 0 || is_gone(list, json_get(i.value, "id")) ||
            !ranges_want(query, link, from, to))
            continue;
        status = source_add(query, link, text_or(json_get(i.value, "id"), "0"), from, to,
                            !slice_equal(from, low) || !slice_equal(to, high));
        if (status != ORRERY_OK)
            return status;
    }
    return ORRERY_OK;
}

/* ---- all that must be known before the first page is asked for */

/* The plan was refused because aggregates are parts of expressions; whether two other queries answer it. */
static bool becomes_two(orrery_query *query)
{
    const orrery_response *failed = query->client->failed;

    if (!failed || failed->http != 400 ||
        !strstr(orrery_response_body(failed, NULL), "Compositions of aggregates") || !compose_begin(query))
        return false;
    for (size_t i = 0; i < query->place_count;
         i++) { /* of the query as it was, the plans are not waited for */
        call_free(query->places[i].plan);
        query->places[i].plan = NULL;
        query->places[i].is_planned = false;
    }
    client_begin(query->client);
    return true;
}

static orrery_status take_plan(orrery_query *query, struct place *place)
{
    orrery_response *response = NULL;
    struct json body = json_undefined;
    orrery_status status = take_answer(query, &place->plan, &body, &response);

    if (status == ORRERY_EBADREQUEST && becomes_two(query))
        return ORRERY_OK;
    if (status == ORRERY_OK)
        status = hold_plan(query, place, body);
    if (status == ORRERY_OK)
        plan_note(query->client, link_trim(place->link), plan_name(query),
                  slice_make(orrery_response_body(response, NULL), response->body_bytes));
    orrery_response_free(response);
    return status;
}

static orrery_status take_ranges(orrery_query *query, struct place *place)
{
    orrery_response *response = NULL;
    struct json body = json_undefined;
    orrery_status status = take_answer(query, &place->ranges, &body, &response);

    if (status == ORRERY_OK)
        status = hold_ranges(query, place, body);
    if (status == ORRERY_OK)
        ranges_note(query->client, link_trim(place->link),
                    slice_make(orrery_response_body(response, NULL), response->body_bytes));
    orrery_response_free(response);
    return status;
}

/* ORRERY_OK: all of it is known; ORRERY_WAIT: not yet. */
static orrery_status ask_places(orrery_query *query)
{
    orrery_status status = ORRERY_OK;
    bool waits = false;

    for (size_t i = 0; i < query->place_count && status == ORRERY_OK; i++)
        status = start_place(query, &query->places[i]);
    for (size_t i = 0; i < query->place_count && status == ORRERY_OK; i++) {
        struct place *place = &query->places[i];

        if (place->plan)
            status = take_plan(query, place);
        waits = waits || status == ORRERY_WAIT;
        if ((status == ORRERY_OK || status == ORRERY_WAIT) && place->ranges)
            status = take_ranges(query, place);
        waits = waits || status == ORRERY_WAIT;
        if (status == ORRERY_WAIT)
            status = ORRERY_OK;
    }
    return status == ORRERY_OK && waits ? ORRERY_WAIT : status;
}

static void drop_sources(orrery_query *query, size_t first)
{
    while (query->source_count > first)
        source_free(&query->sources[--query->source_count]);
}

void ranges_again(orrery_query *query)
{
    drop_sources(query, 0);
    query->source_at = 0;
    query->phase = PHASE_RANGES;
}

orrery_status plan_step(orrery_query *query)
{
    orrery_status status = ask_places(query);

    if (status != ORRERY_OK)
        return status;
    for (size_t i = 0; i < query->place_count; i++) {
        const struct place *same = query->places[i].is_planned ? NULL : same_as(query, &query->places[i]);

        if (!query->places[i].is_planned &&
            !same) /* what was known of one of them is not any more: it is asked */
            return ORRERY_OK;
        if (same)
            query->places[i].wanted = same->wanted;
    }
    query->may_plan = false;
    ranges_again(query);
    return ORRERY_OK;
}

orrery_status ranges_step(orrery_query *query)
{
    orrery_status status = ask_places(query);

    for (size_t i = 0; i < query->place_count && status == ORRERY_OK; i++)
        status =
            add_ranges(query, query->places[i].link, query->places[i].list, slice_of(""), slice_of("FF"));
    if (status != ORRERY_OK) /* the step may be tried again: none must be there twice */
        drop_sources(query, 0);
    else
        query->phase = PHASE_RUN;
    return status;
}

/* ---- what was remembered of a collection of another time */

const char *place_intended(const orrery_query *query, const char *link)
{
    const struct place *place =
        query->phase == PHASE_RUN && query->place_count ? place_of(query, link) : NULL;

    return place && place->is_remembered ? place->rid : NULL;
}

bool places_again(orrery_query *query)
{
    if (query->last)
        return false;
    for (size_t i = 0; i < query->place_count; i++) {
        call_free(query->places[i].plan);
        call_free(query->places[i].ranges);
        query->places[i] = (struct place){ .link = query->places[i].link };
    }
    drop_sources(query, 0);
    query->source_at = 0;
    query->may_plan = query->kind == CURSOR_QUERY;
    query->phase = query->may_plan ? PHASE_PLAN : PHASE_RANGES;
    return true;
}

/* ---- ranges that are gone */

orrery_status ranges_ask(orrery_query *query, struct source *source)
{
    orrery_status status = start_ranges(query, source->link, &source->call);

    source->is_following = status == ORRERY_OK;
    return status == ORRERY_OK ? ORRERY_WAIT : status;
}

/* What the server said of the ranges of a source's collection. */
static orrery_status take_new_ranges(orrery_query *query, struct source *source, struct json *list)
{
    orrery_response *response = NULL;
    struct json body = json_undefined;
    orrery_status status = take_answer(query, &source->call, &body, &response);

    source->is_following = false;
    *list = json_get(body, "PartitionKeyRanges");
    if (status == ORRERY_OK && json_kind(*list) == JSON_ARRAY)
        ranges_note(query->client, link_trim(source->link),
                    slice_make(orrery_response_body(response, NULL), response->body_bytes));
    orrery_response_free(response);
    return status;
}

static bool told_copy(struct source *to, const uint64_t *told, size_t count)
{
    to->told = count ? allocator_get(count * sizeof(*told)) : NULL;
    to->told_count = to->told ? count : 0;
    if (to->told)
        memcpy(to->told, told, count * sizeof(*told));
    return to->told_count == count;
}

static orrery_status inherit(orrery_query *query, size_t first, const struct source *parent)
{
    for (size_t i = first; i < query->source_count; i++) {
        struct source *child = &query->sources[i];

        if (!told_copy(child, parent->told, parent->told_count))
            return client_no_memory(query->client);
        child->from_lsn = parent->from_lsn;
        child->token = parent->token ? memory_text(slice_of(parent->token)) : NULL;
        if (parent->token && !child->token)
            return client_no_memory(query->client);
    }
    return ORRERY_OK;
}

/*
 * The children were added at the end. They are moved to where their parent stands, so that the order of ranges
 * stays.
 */
static void put_in_place(orrery_query *query, size_t at, size_t first)
{
    for (size_t i = first; i < query->source_count; i++) {
        struct source child = query->sources[i];
        size_t to = at + 1 + (i - first);

        memmove(&query->sources[to + 1], &query->sources[to], (i - to) * sizeof(child));
        query->sources[to] = child;
    }
}

orrery_status ranges_follow(orrery_query *query, struct source *source)
{
    size_t at = (size_t)(source - query->sources), first = query->source_count;
    struct json list = json_undefined;
    orrery_status status = take_new_ranges(query, source, &list);
    struct source parent = *source;

    assert(at < query->source_count);
    if (status == ORRERY_OK)
        status = add_ranges(query, parent.link, list, slice_of(parent.min ? parent.min : ""),
                            slice_of(parent.max ? parent.max : "FF"));
    if (status == ORRERY_OK && query->source_count == first + 1 && parent.range &&
        strcmp(query->sources[first].range, parent.range) == 0)
        status =
            client_fail(query->client, ORRERY_EGONE, "range %s is gone, and still told of", parent.range);
    if (status == ORRERY_OK)
        status = inherit(query, first, &parent);
    if (status != ORRERY_OK) {
        drop_sources(query, first);
        return status;
    }
    put_in_place(query, at, first);
    query->sources[at].ended = query->sources[at].is_divided = true; /* what it had was read */
    return ORRERY_OK;
}
