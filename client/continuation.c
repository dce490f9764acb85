/*
 * client/continuation.c - where a cursor goes on, as a text. A cursor with one source, whose page was read to its end,
 * goes on by the server's own continuation. Every other one has a JSON text of ours, behind a mark:
 *
 *     orrery1:{"offset":0,"limit":-1,"sources":[{"from":0,"ended":false,"link":..,"min":"","max":"1F","token":"..","told":".."}]}
 *
 * A source names the part of the keys it stands for, and no range: ranges may have been divided when it is used.
 */
#include <stdlib.h>

#include "query.h"

static const char mark[] = "orrery1:";

/* ---- writing */

static void add_text(struct buf *out, const char *name, const char *text)
{
    if (!text)
        return;
    buf_printf(out, ",\"%s\":", name);
    json_print_string(out, slice_of(text));
}

/* Hashes of the rows that were told, 16 digits each. */
static void print_told(struct buf *out, const struct source *source, size_t rows)
{
    if (rows + source->told_count == 0)
        return;
    buf_text(out, ",\"told\":\"");
    for (size_t i = 0; i < rows; i++)
        buf_printf(out, "%016llx", (unsigned long long)json_hash(source->rows[i]).h1);
    for (size_t i = 0; i < source->told_count; i++)
        buf_printf(out, "%016llx", (unsigned long long)source->told[i]);
    buf_byte(out, '"');
}

/*
 * In the middle of a page the text names the page, and the rows of it that were told; for changes, the change that
 * comes next.
 */
static void print_source(struct buf *out, const struct source *source, bool is_changes)
{
    bool within = source->next_row < source->row_count;
    int64_t from = within && is_changes ? change_lsn(source->rows[source->next_row]) : source->from_lsn;

    buf_printf(out, "{\"from\":%lld,\"ended\":%s", (long long)from,
               source->ended && !within ? "true" : "false");
    add_text(out, "link", source->link);
    add_text(out, "min", source->min);
    add_text(out, "max", source->max);
    add_text(out, "token", within ? source->page_token : source->token);
    print_told(out, source, within && !is_changes ? source->next_row : 0);
    buf_byte(out, '}');
}

static void print_all(struct buf *out, const orrery_query *query)
{
    buf_printf(out, "%s{\"offset\":%lld,\"limit\":%lld,\"sources\":[", mark, (long long)query->plan.offset,
               (long long)query->plan.limit);
    for (size_t i = 0, printed = 0; i < query->source_count; i++) {
        if (query->sources[i].is_divided)
            continue;
        if (printed++ > 0)
            buf_byte(out, ',');
        print_source(out, &query->sources[i], query->kind == CURSOR_CHANGES);
    }
    buf_text(out, "]}");
}

/* Nothing needs to be added to what the server said. */
static bool is_plain(const orrery_query *query)
{
    const struct source *only = query->sources;

    return query->source_count == 1 && !only->range && only->next_row == only->row_count &&
           !only->told_count && !only->from_lsn && only->token;
}

static bool is_over(const orrery_query *query)
{
    if (query->kind == CURSOR_CHANGES || query->phase != PHASE_RUN)
        return false;
    if (query->plan.limit == 0 || query->over)
        return true;
    if (query->plan.groups || query->hybrid) /* they are told when the sources have ended */
        return false;
    for (size_t i = 0; i < query->source_count; i++)
        if (!query->sources[i].ended || query->sources[i].next_row < query->sources[i].row_count)
            return false;
    return true;
}

orrery_status orrery_query_continuation(orrery_query *query, char **continuation)
{
    struct arena arena;
    struct buf out;

    if (!query || !continuation)
        return ORRERY_EINVAL;
    *continuation = NULL;
    client_begin(query->client);
    if (is_over(query))
        return ORRERY_OK;
    if (query->plan.groups || query->plan.distinct || query->hybrid)
        return client_fail(query->client, ORRERY_EUNSUPPORTED,
                           "a merged query with DISTINCT, aggregates, GROUP BY or ranks has no continuation");
    arena_init(&arena, SIZE_MAX);
    buf_init(&out, &arena);
    if (is_plain(query))
        buf_text(&out, query->sources[0].token);
    else if (query->phase != PHASE_RUN || query->source_count == 0)
        buf_text(&out, query->options.continuation ? query->options.continuation : mark);
    else
        print_all(&out, query);
    *continuation = out.failed ? NULL : memory_text(buf_as_slice(&out));
    arena_free(&arena);
    return *continuation ? ORRERY_OK : client_no_memory(query->client);
}

/* ---- reading */

static struct slice text_of(struct json value)
{
    return json_kind(value) == JSON_STRING ? json_string(value) : slice_make(NULL, 0);
}

static orrery_status refuse(orrery_query *query)
{
    return client_fail(query->client, ORRERY_EINVAL, "the continuation is of another query, or of none");
}

static bool set_token(struct source *source, struct slice token)
{
    allocator_free(source->token);
    source->token = token.data ? memory_text(token) : NULL;
    return !token.data || source->token;
}

static int64_t count_of(struct json value)
{
    return json_kind(value) == JSON_NUMBER && json_is_int(value) && json_int(value) > 0 ? json_int(value) : 0;
}

static bool read_told(struct source *source, struct slice digits)
{
    size_t count = digits.size / 16;
    char one[17] = "";

    source->told = count ? allocator_get(count * sizeof(*source->told)) : NULL;
    for (size_t i = 0; source->told && i < count; i++) {
        memcpy(one, digits.data + 16 * i, 16);
        source->told[source->told_count++] = strtoull(one, NULL, 16);
    }
    return source->told_count == count;
}

static orrery_status apply_to(orrery_query *query, struct source *source, struct json saved)
{
    source->from_lsn = count_of(json_get(saved, "from"));
    if (!read_told(source, text_of(json_get(saved, "told"))) ||
        !set_token(source, text_of(json_get(saved, "token"))))
        return client_no_memory(query->client);
    source->ended = json_kind(json_get(saved, "ended")) == JSON_TRUE;
    return ORRERY_OK;
}

/*
 * Each saved part of a range becomes a source of its own. A range that was divided has less than the part; a range
 * that was put together has several parts, each read up to another place.
 */
static orrery_status add_part(orrery_query *query, const struct source *range, struct json saved)
{
    struct slice low = slice_of(range->min), high = slice_of(range->max),
                 from = range_later(low, text_of(json_get(saved, "min"))),
                 to = range_earlier(high, text_of(json_get(saved, "max")));
    orrery_status status;

    if (slice_compare(from, to) >= 0)
        return ORRERY_OK;
    status = source_add(query, range->link, slice_of(range->range), from, to,
                        range->part_of_range || !slice_equal(from, low) || !slice_equal(to, high));
    return status == ORRERY_OK ? apply_to(query, &query->sources[query->source_count - 1], saved) : status;
}

/* Whether the saved parts, which lie in order, have every key of the range that the query is about. */
static bool covers(const orrery_query *query, size_t first, struct source range)
{
    struct slice at = slice_of(range.min);

    for (size_t i = first; i < query->source_count; i++) {
        if (ranges_want(query, range.link, at, slice_of(query->sources[i].min)))
            return false;
        at = slice_of(query->sources[i].max);
    }
    return !ranges_want(query, range.link, at, slice_of(range.max));
}

/* A copy stays where it is while the list of sources grows. */
static orrery_status divide(orrery_query *query, struct source range, struct json list)
{
    size_t first = query->source_count;
    orrery_status status = ORRERY_OK;

    for (struct json_iter i = json_iter(list); json_next(&i) && status == ORRERY_OK;)
        if (slice_is(text_of(json_get(i.value, "link")), range.link) &&
            text_of(json_get(i.value, "max")).data)
            status = add_part(query, &range, i.value);
    return status == ORRERY_OK && !covers(query, first, range) ? refuse(query) : status;
}

/* Each range of today is replaced by the parts of it that were saved. */
static orrery_status apply_to_ranges(orrery_query *query, struct json list)
{
    size_t ranges = query->source_count;
    orrery_status status = ORRERY_OK;

    for (size_t i = 0; i < ranges && status == ORRERY_OK; i++)
        status = divide(query, query->sources[i], list);
    for (size_t i = 0; i < ranges; i++)
        source_free(&query->sources[i]);
    query->source_count -= ranges;
    memmove(query->sources, query->sources + ranges, query->source_count * sizeof(*query->sources));
    return status;
}

/* Collections as a whole, in the order of the resolver's links. */
static orrery_status apply_to_wholes(orrery_query *query, struct json list)
{
    orrery_status status = ORRERY_OK;

    for (size_t i = 0; i < query->source_count && status == ORRERY_OK; i++) {
        struct source *source = &query->sources[i];
        bool found = false;

        for (struct json_iter at = json_iter(list); !found && json_next(&at);)
            if ((found = slice_is(text_of(json_get(at.value, "link")), source->link) &&
                         !json_get(at.value, "min").at))
                status = apply_to(query, source, at.value);
        if (!found)
            return refuse(query);
    }
    return status;
}

/* The documents of a collection that is gone have gone elsewhere, perhaps to a place that was read already. */
static bool has_links(const orrery_query *query, struct json list)
{
    for (struct json_iter i = json_iter(list); json_next(&i);) {
        struct slice link = text_of(json_get(i.value, "link"));
        size_t at = 0;

        while (at < query->place_count && !slice_is(link, query->places[at].link))
            at++;
        if (at == query->place_count)
            return false;
    }
    return true;
}

static orrery_status apply(orrery_query *query, struct json saved)
{
    struct json offset = json_get(saved, "offset"), limit = json_get(saved, "limit"),
                list = json_get(saved, "sources");

    if (json_kind(offset) != JSON_NUMBER || json_kind(limit) != JSON_NUMBER ||
        json_kind(list) != JSON_ARRAY || !has_links(query, list))
        return refuse(query);
    query->plan.offset = json_double(offset) > 0 ? (int64_t)json_double(offset) : 0;
    query->plan.limit = json_double(limit) < 0 ? -1 : (int64_t)json_double(limit);
    return query->source_count && query->sources[0].range ? apply_to_ranges(query, list)
                                                          : apply_to_wholes(query, list);
}

static orrery_status apply_ours(orrery_query *query, struct slice text)
{
    struct json saved = json_undefined;
    orrery_status status;

    if (text.size == 0) /* of a cursor that had not begun */
        return ORRERY_OK;
    status = parse_json(&query->arena, text, &saved);
    if (status == ORRERY_EJSON)
        return refuse(query);
    return status == ORRERY_OK ? apply(query, saved) : client_no_memory(query->client);
}

orrery_status continuation_apply(orrery_query *query)
{
    const char *text = query->options.continuation;
    orrery_status status =
        text ? apply_ours(query, slice_after(slice_of(text), sizeof(mark) - 1)) : ORRERY_OK;

    if (status == ORRERY_OK)
        query->options.continuation = NULL;
    return status;
}

/* Within a text of ours every other quotation mark of this kind has a backslash. */
bool continuation_names_ranges(const char *text)
{
    return text && slice_starts_with(slice_of(text), mark) && strstr(text, ",\"min\":");
}

orrery_status continuation_read(orrery_query *query, const char *text)
{
    bool ours = slice_starts_with(slice_of(text), mark);

    if (ours && query->phase == PHASE_RUN)
        return continuation_apply(query);
    if (ours)
        return ORRERY_OK; /* once the ranges are known */
    if (query->phase != PHASE_RUN || query->source_count != 1)
        return refuse(query);
    query->options.continuation = NULL;
    return set_token(&query->sources[0], slice_of(text)) ? ORRERY_OK : client_no_memory(query->client);
}
