/* client/query.c - cursors: opened, stepped, told where to go on, closed. */
#include <stdlib.h>

#include "base/encode.h"
#include "query.h"

/* ---- opening */

static char *keep_text(orrery_query *query, const char *text, bool *good)
{
    char *copy = text ? memory_text_in(&query->arena, slice_of(text)) : NULL;

    *good = *good && (!text || copy);
    return copy;
}

static bool keep_headers(orrery_query *query, const char *const *headers)
{
    const char **kept;
    size_t count = 0;
    bool good = true;

    while (headers && headers[count])
        count++;
    kept = memory_list(&query->arena, count + 1, sizeof(*kept));
    for (size_t i = 0; kept && i < count; i++)
        kept[i] = keep_text(query, headers[i], &good);
    if (kept)
        kept[count] = NULL;
    query->options.headers = kept;
    return kept && good;
}

/* Of options what concerns a cursor, with texts of our own. */
static bool keep_options(orrery_query *query, const orrery_options *options)
{
    orrery_options *kept = &query->options;
    bool good = true;

    *kept = (orrery_options){ .size = sizeof(*kept),
                              .timeout_ms = OPTION(options, timeout_ms),
                              .page_items = OPTION(options, page_items),
                              .parallel = OPTION(options, parallel),
                              .no_wait = OPTION(options, no_wait),
                              .enable_scan = OPTION(options, enable_scan),
                              .metrics = OPTION(options, metrics),
                              .diagnostics = OPTION(options, diagnostics),
                              .all_versions = OPTION(options, all_versions) };
    kept->session_token = keep_text(query, OPTION(options, session_token), &good);
    kept->consistency = keep_text(query, OPTION(options, consistency), &good);
    kept->continuation = keep_text(query, OPTION(options, continuation), &good);
    return good && keep_headers(query, OPTION(options, headers));
}

static orrery_status keep_key(orrery_query *query, const orrery_key *key)
{
    struct buf text;

    if (!key)
        return ORRERY_OK;
    buf_init(&text, &query->arena);
    if (!key_print(&text, key))
        return ORRERY_EINVAL;
    buf_byte(&text, '\0');
    query->key = text.data;
    return text.failed ? ORRERY_ENOMEM : ORRERY_OK;
}

static bool keep_links(orrery_query *query, const char *const *links, size_t count)
{
    bool good = true;

    query->places = memory_list(&query->arena, count, sizeof(*query->places));
    for (size_t i = 0; query->places && i < count; i++)
        query->places[i] = (struct place){ .link = keep_text(query, links[i], &good) };
    query->place_count = query->places ? count : 0;
    return query->places && good;
}

static orrery_status keep_arguments(orrery_query *query, const struct question *question)
{
    arena_init(&query->arena, SIZE_MAX);
    if (question->options && !struct_is_sized(question->options))
        return ORRERY_EINVAL;
    if (!keep_links(query, question->links, question->link_count) || !keep_options(query, question->options))
        return ORRERY_ENOMEM;
    return keep_key(query, question->key);
}

static orrery_query *query_new(orrery_client *client, enum cursor_kind kind, const struct question *question,
                               orrery_status *status)
{
    orrery_query *query = allocator_zeroed(1, sizeof(*query));

    *status = query ? keep_arguments(query, question) : ORRERY_ENOMEM;
    client_begin(client); /* only now: an option may be of the last failed answer, a session token for one */
    if (*status == ORRERY_OK) {
        query->client = client;
        query->kind = kind;
        query->plan.limit = -1;
        return query;
    }
    orrery_query_close(query);
    if (*status == ORRERY_ENOMEM)
        client_no_memory(client);
    else
        client_fail(client, *status, "%s",
                    question->options && !struct_is_sized(question->options)
                        ? options_unsized
                        : "a partition key has no ranges, and finite numbers");
    return NULL;
}

/* {"query":"...","parameters":[...]} */
static orrery_status write_body(orrery_query *query, const char *sql, const orrery_parameter *parameters,
                                size_t count)
{
    struct buf body;

    buf_init(&body, &query->arena);
    buf_text(&body, "{\"query\":");
    json_print_string(&body, slice_of(sql));
    if (count > 0)
        buf_text(&body, ",\"parameters\":[");
    for (size_t i = 0; i < count; i++) {
        struct json value = json_undefined;

        if (!parameters[i].name || !parameters[i].value ||
            parse_json(&query->arena, slice_of(parameters[i].value), &value) == ORRERY_EJSON)
            return client_fail(query->client, ORRERY_EJSON,
                               "parameter %zu has no name, or its value is no JSON", i + 1);
        buf_text(&body, i > 0 ? ",{\"name\":" : "{\"name\":");
        json_print_string(&body, slice_of(parameters[i].name));
        buf_text(&body, ",\"value\":");
        buf_text(&body, parameters[i].value);
        buf_byte(&body, '}');
    }
    buf_text(&body, count > 0 ? "]}" : "}");
    query->original = query->body = buf_as_slice(&body);
    return body.failed ? client_no_memory(query->client) : ORRERY_OK;
}

/* Whether it leads anywhere, and whether to a container. */
static orrery_status look_at_link(const char *link, bool *is_container)
{
    struct target target = { .type = "" };
    struct arena arena;
    orrery_status status;

    arena_init(&arena, SIZE_MAX);
    status = link_target(&arena, link, link ? strlen(link) : 0, &target);
    *is_container = status == ORRERY_OK && strcmp(target.type, "colls") == 0 && target.container.size > 0;
    arena_free(&arena);
    return status == ORRERY_OK && !*target.type ? ORRERY_EINVAL : status;
}

static bool is_container(const char *link)
{
    bool is;

    return look_at_link(link, &is) == ORRERY_OK && is;
}

static orrery_status check_links(orrery_query *query)
{
    orrery_status status = ORRERY_OK;
    bool is_container;

    for (size_t i = 0; i < query->place_count && status == ORRERY_OK; i++) {
        status = look_at_link(query->places[i].link, &is_container);
        if (status == ORRERY_EINVAL)
            client_fail(query->client, status, "\"%s\" is no link", query->places[i].link);
    }
    return status == ORRERY_ENOMEM ? client_no_memory(query->client) : status;
}

/* The whole of each link is a source, until a plan says otherwise. */
static orrery_status begin_whole(orrery_query *query)
{
    orrery_status status = ORRERY_OK;

    for (size_t i = 0; i < query->place_count && status == ORRERY_OK; i++)
        status = source_add(query, query->places[i].link, slice_make(NULL, 0), slice_make(NULL, 0),
                            slice_make(NULL, 0), false);
    query->phase = PHASE_RUN;
    return status;
}

static orrery_status begin(orrery_query *query)
{
    bool plannable =
        query->kind == CURSOR_QUERY && !query->key && query->place_count > 0 &&
        is_container(query->places[0].link); /* a resolver may find that no collection has the key */
    orrery_status status = ORRERY_OK;

    query->may_plan = plannable;
    if (plannable && (query->place_count > 1 || OPTION(&query->options, parallel) > 0 ||
                      continuation_names_ranges(query->options.continuation)))
        query->phase = PHASE_PLAN;
    else if (query->kind == CURSOR_CHANGES && !query->key)
        query->phase = PHASE_RANGES;
    else
        status = begin_whole(query);
    if (status == ORRERY_OK && query->options.continuation)
        status = continuation_read(query, query->options.continuation);
    return status;
}

static orrery_status finish_open(orrery_query *query, orrery_status status, orrery_query **out)
{
    if (status == ORRERY_OK)
        status = check_links(query);
    if (status == ORRERY_OK)
        status = begin(query);
    if (status == ORRERY_OK)
        *out = query;
    else
        orrery_query_close(query);
    return status;
}

orrery_status query_open_links(orrery_client *client, const struct question *question, orrery_query **out)
{
    const char *sql = question->sql;
    orrery_status status;
    orrery_query *query = query_new(client, sql ? CURSOR_QUERY : CURSOR_LIST, question, &status);

    if (!query)
        return status;
    if (sql)
        status = write_body(query, sql, question->parameters, question->parameter_count);
    return finish_open(query, status, out);
}

orrery_status orrery_query_open(orrery_client *client, const char *link, const char *sql,
                                const orrery_parameter *parameters, size_t count, const orrery_key *key,
                                const orrery_options *options, orrery_query **query)
{
    struct question question = { &link, 1, sql, parameters, count, key, options };

    if (!client || !query)
        return ORRERY_EINVAL;
    *query = NULL;
    if (!link || !sql || (count > 0 && !parameters))
        return client_refuse(client, ORRERY_EINVAL, "a query has a link and a text");
    return resolver_open(client, &question, query);
}

orrery_status orrery_list_open(orrery_client *client, const char *link, const orrery_key *key,
                               const orrery_options *options, orrery_query **query)
{
    struct question question = { .links = &link, .link_count = 1, .key = key, .options = options };

    if (!client || !query)
        return ORRERY_EINVAL;
    *query = NULL;
    if (!link)
        return client_refuse(client, ORRERY_EINVAL, "a list has a link");
    return resolver_open(client, &question, query);
}

orrery_status orrery_changes_open(orrery_client *client, const char *container_link, const orrery_key *key,
                                  orrery_start start, int64_t unix_seconds, const orrery_options *options,
                                  orrery_query **out)
{
    struct question question = { .links = &container_link, .link_count = 1, .key = key, .options = options };
    orrery_query *query;
    orrery_status status;

    if (!client || !out)
        return ORRERY_EINVAL;
    *out = NULL;
    if (!is_container(container_link))
        return client_refuse(client, ORRERY_EINVAL, "a container has changes, and nothing else has");
    query = query_new(client, CURSOR_CHANGES, &question, &status);
    if (!query)
        return status;
    query->start = start;
    http_date_format(unix_seconds * 1000, query->start_date);
    return finish_open(query, status, out);
}

void orrery_query_close(orrery_query *query)
{
    if (!query)
        return;
    while (query->source_count > 0)
        source_free(&query->sources[--query->source_count]);
    allocator_free(query->sources);
    for (size_t i = 0; i < query->place_count; i++) {
        call_free(query->places[i].plan);
        call_free(query->places[i].ranges);
    }
    seen_free(query->seen);
    groups_free(query->groups);
    compose_free(query->composed);
    orrery_json_free(query->row_json);
    orrery_response_free(query->last);
    arena_free(&query->arena);
    allocator_free(query->row);
    allocator_free(query);
}

/* ---- stepping */

static orrery_status print_row(orrery_query *query, struct json row)
{
    struct arena arena;
    struct buf out;

    arena_init(&arena, SIZE_MAX);
    buf_init(&out, &arena);
    json_print(&out, row);
    query->has_row = !out.failed && memory_grow(&query->row, &query->row_capacity, out.size + 1, 1);
    if (query->has_row) {
        memcpy(query->row, out.data, out.size);
        query->row[out.size] = '\0';
        query->row_bytes = out.size;
    }
    arena_free(&arena);
    return query->has_row ? ORRERY_ROW : client_no_memory(query->client);
}

static orrery_status advance(orrery_query *query)
{
    struct json row = json_undefined;
    orrery_status status = ORRERY_OK;

    while (status == ORRERY_OK) {
        switch (query->phase) {
        case PHASE_PLAN:
            status = plan_step(query);
            break;
        case PHASE_RANGES:
            status = ranges_step(query);
            if (status == ORRERY_OK && query->phase == PHASE_RUN)
                status = continuation_apply(query);
            if (status != ORRERY_OK && query->phase == PHASE_RUN)
                ranges_again(query);
            break;
        case PHASE_RUN:
            status = merge_next(query, &row);
            break;
        }
    }
    return status == ORRERY_ROW ? print_row(query, row) : status;
}

static orrery_status step(orrery_query *query)
{
    orrery_status status;

    orrery_json_free(query->row_json);
    query->row_json = NULL;
    query->has_row = false;
    while ((status = advance(query)) == ORRERY_WAIT && !query->options.no_wait)
        if (transport_turn(query->client, -1) != ORRERY_OK)
            return client_fail(query->client, ORRERY_EIO, "the query cannot go on");
    query->over = status == ORRERY_DONE;
    return status;
}

orrery_status orrery_query_step(orrery_query *query)
{
    orrery_status status;

    if (!query)
        return ORRERY_EINVAL;
    client_enter(query->client);
    status = step(query);
    client_leave(query->client);
    return status;
}

const char *orrery_query_row(const orrery_query *query, size_t *size)
{
    bool has = query && query->has_row;

    if (size)
        *size = has ? query->row_bytes : 0;
    return has ? query->row : NULL;
}

orrery_value orrery_query_value(orrery_query *query)
{
    if (!query || !query->has_row)
        return (orrery_value){ NULL };
    if (!query->row_json && orrery_json_parse(query->row, query->row_bytes, &query->row_json) != ORRERY_OK)
        query->row_json = NULL;
    return orrery_json_root(query->row_json);
}

const char *orrery_query_link(const orrery_query *query)
{
    return query && query->has_row && query->from ? query->from->link : NULL;
}

double orrery_query_charge(const orrery_query *query)
{
    return query ? query->charge : 0;
}

const orrery_response *orrery_query_response(const orrery_query *query)
{
    return query ? query->last : NULL;
}

double orrery_query_metric(const orrery_query *query, const char *name)
{
    for (size_t i = 0; query && name && i < query->metric_count; i++)
        if (slice_is(query->metrics[i].name, name))
            return query->metrics[i].sum;
    return 0;
}
