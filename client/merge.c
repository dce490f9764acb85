/* client/merge.c - rows of all sources as one: in order, once each, and only as many as are asked for. */
#include <assert.h>
#include <stdlib.h>

#include "query.h"

/* ---- rows that were there already, in an open table: a hash only places them, since others may know how to make two of one */

struct seen_row {
    uint64_t hash;
    struct json row; /* the cursor's own copy; without `at`: free */
};

struct seen {
    struct seen_row *slots;
    size_t count, size;
};

void seen_free(struct seen *seen)
{
    if (!seen)
        return;
    allocator_free(seen->slots);
    allocator_free(seen);
}

/* Where the row is, or where it would be put. */
static struct seen_row *find_seen(struct seen_row *slots, size_t size, struct seen_row row)
{
    size_t at = row.hash & (size - 1);

    while (slots[at].row.at && !(slots[at].hash == row.hash && json_equal(slots[at].row, row.row)))
        at = (at + 1) & (size - 1);
    return &slots[at];
}

static bool grow(struct seen *seen)
{
    size_t size = seen->size ? 2 * seen->size : 64;
    struct seen_row *slots;

    if (2 * seen->count < seen->size)
        return true;
    slots = allocator_zeroed(size, sizeof(*slots));
    if (!slots)
        return false;
    for (size_t i = 0; i < seen->size; i++)
        if (seen->slots[i].row.at)
            *find_seen(slots, size, seen->slots[i]) = seen->slots[i];
    allocator_free(seen->slots);
    seen->slots = slots;
    seen->size = size;
    return true;
}

/* ORRERY_ROW: a new one. ORRERY_DONE: it was there. */
static orrery_status note_row(orrery_query *query, struct json row)
{
    struct seen_row seen = { json_hash(row).h1, row };
    struct slice bytes = json_bytes(row);
    struct seen_row *slot;
    char *copy;

    if (!query->seen)
        query->seen = allocator_zeroed(1, sizeof(*query->seen));
    if (!query->seen || !grow(query->seen))
        return client_no_memory(query->client);
    slot = find_seen(query->seen->slots, query->seen->size, seen);
    if (slot->row.at)
        return ORRERY_DONE;
    copy = arena_try_alloc(&query->arena, bytes.size);
    if (!copy)
        return client_no_memory(query->client);
    memcpy(copy, bytes.data, bytes.size);
    seen.row.at = (const uint8_t *)copy;
    *slot = seen;
    query->seen->count++;
    return ORRERY_ROW;
}

/* ---- the next row of any source */

static int count_under_way(const orrery_query *query)
{
    int count = 0;

    for (size_t i = 0; i < query->source_count; i++)
        count += query->sources[i].call != NULL;
    return count;
}

/*
 * Begins as many requests as the caller allows, for the sources that are read next. If the caller allows only one,
 * a source is asked when the one in front of it has ended: a document that moves to a collection further behind is
 * then met there at the latest.
 */
static orrery_status start_more(orrery_query *query)
{
    int parallel = OPTION(&query->options, parallel), under_way = count_under_way(query);
    orrery_status status = ORRERY_OK;

    if (parallel <= 1)
        return ORRERY_OK;
    for (size_t i = query->source_at; i < query->source_count && status == ORRERY_OK; i++) {
        if (under_way >= parallel)
            break;
        if (!source_wants_page(&query->sources[i]) || query->sources[i].row_count > 0)
            continue;
        status = source_start(query, &query->sources[i]);
        under_way++;
    }
    return status;
}

static orrery_status take_row(orrery_query *query, struct source *source, struct json *row)
{
    assert(source->next_row < source->row_count);
    query->from = source;
    *row = source->rows[source->next_row++];
    return ORRERY_ROW;
}

/* A change feed has an end only until there are changes again. */
static orrery_status all_read(orrery_query *query)
{
    if (query->kind != CURSOR_CHANGES)
        return ORRERY_DONE;
    query->source_at = 0;
    for (size_t i = 0; i < query->source_count; i++)
        query->sources[i].idle = false;
    return ORRERY_DONE;
}

/* One source after another. */
static orrery_status next_joined(orrery_query *query, struct json *row)
{
    orrery_status status = ORRERY_OK;

    while (query->source_at < query->source_count) {
        status = start_more(query);
        if (status == ORRERY_OK)
            status = source_fill(query, &query->sources[query->source_at]);
        if (status == ORRERY_ROW)
            return take_row(query, &query->sources[query->source_at], row);
        if (status == ORRERY_OK && query->phase != PHASE_RUN)
            return ORRERY_OK; /* the server wants a plan, or the collections are asked for again */
        if (status == ORRERY_DONE)
            query->source_at++;
        else if (status != ORRERY_OK)
            return status;
    }
    return all_read(query);
}

static struct json order_item(struct json row, size_t index)
{
    return json_get(json_element(json_get(row, "orderByItems"), index), "item");
}

static int compare_rows(const struct plan *plan, struct json a, struct json b)
{
    for (size_t i = 0; i < plan->order_count; i++) {
        int order = json_compare(order_item(a, i), order_item(b, i));

        if (order != 0)
            return plan->descending[i] ? -order : order;
    }
    return 0;
}

/* Every source must have shown its next row, or its end, before the least row is known. */
static orrery_status fill_all(orrery_query *query)
{
    int parallel = OPTION(&query->options, parallel), under_way = count_under_way(query);
    orrery_status status = ORRERY_DONE, outcome = ORRERY_DONE;

    for (size_t i = 0; i < query->source_count && !orrery_failed(status); i += status != ORRERY_OK) {
        bool starts = source_wants_page(&query->sources[i]);

        if (starts && under_way >= (parallel > 1 ? parallel : 1)) {
            status = outcome = ORRERY_WAIT; /* its turn comes when another's page has */
            continue;
        }
        status = source_fill(query, &query->sources[i]);
        under_way += (starts && status == ORRERY_WAIT) - (status == ORRERY_OK);
        if (status == ORRERY_WAIT)
            outcome = ORRERY_WAIT;
    }
    if (query->phase != PHASE_RUN)
        return ORRERY_OK; /* the collections are asked for again */
    return orrery_failed(status) ? status : outcome;
}

static orrery_status next_ordered(orrery_query *query, struct json *row)
{
    orrery_status status = fill_all(query);
    struct source *least = NULL;

    if (status != ORRERY_DONE)
        return status;
    for (size_t i = 0; i < query->source_count; i++) {
        struct source *other = &query->sources[i];

        if (other->next_row < other->row_count &&
            (!least ||
             compare_rows(&query->plan, other->rows[other->next_row], least->rows[least->next_row]) < 0))
            least = other;
    }
    if (!least)
        return ORRERY_DONE;
    take_row(query, least, row);
    *row = json_get(*row, "payload");
    return ORRERY_ROW;
}

/* Rows that come in order make groups in order: a group is where its first row was. */
static orrery_status next_grouped(orrery_query *query, struct json *row)
{
    orrery_status status;

    while (!query->grouped) {
        status = query->plan.order_count ? next_ordered(query, row) : next_joined(query, row);
        if (status == ORRERY_ROW)
            status = groups_add(query, *row);
        if (status == ORRERY_DONE)
            query->grouped = true;
        else if (status != ORRERY_OK || query->phase != PHASE_RUN)
            return status;
    }
    query->from = query->place_count == 1 && query->source_count ? &query->sources[0] : NULL;
    return groups_next(query, row);
}

static orrery_status next_row(orrery_query *query, struct json *row)
{
    if (query->hybrid)
        return hybrid_next(query, next_joined, row);
    if (query->plan.groups)
        return next_grouped(query, row);
    return query->plan.order_count ? next_ordered(query, row) : next_joined(query, row);
}

/* COUNT over DISTINCT: nothing but the number of rows is told. */
static orrery_status count_distinct(orrery_query *query, struct json *row)
{
    struct json alias = json_get(json_get(query->plan.info, "dCountInfo"), "dCountAlias");
    bool named = json_kind(alias) == JSON_STRING && json_string(alias).size > 0;
    struct json_builder builder;

    json_builder_init(&builder, &query->arena);
    if (named) {
        json_begin_object(&builder);
        json_add_name(&builder, json_string(alias));
    }
    json_add_int(&builder, query->seen ? (int64_t)query->seen->count : 0);
    if (named)
        json_end(&builder);
    *row = json_built(&builder);
    query->counted = true;
    return row->at ? ORRERY_ROW : client_no_memory(query->client);
}

/* The next row that is neither a repetition (DISTINCT) nor passed over (OFFSET). */
static orrery_status next_kept(orrery_query *query, struct json *row)
{
    struct plan *plan = &query->plan;
    orrery_status status;

    while ((status = next_row(query, row)) == ORRERY_ROW) {
        if (!row->at)
            continue;
        if (plan->distinct)
            status = note_row(query, *row);
        if (orrery_failed(status))
            return status;
        if (status == ORRERY_DONE || plan->counts_distinct)
            continue;
        if (plan->offset == 0)
            return ORRERY_ROW;
        plan->offset--;
    }
    return status;
}

orrery_status merge_next(orrery_query *query, struct json *row)
{
    orrery_status status;

    if (query->plan.limit == 0 || query->counted)
        return ORRERY_DONE;
    status = query->composed ? compose_next(query, next_kept, row) : next_kept(query, row);
    if (status == ORRERY_DONE && query->plan.counts_distinct)
        status = count_distinct(query, row);
    if (status == ORRERY_ROW && query->plan.limit > 0)
        query->plan.limit--;
    return status;
}
