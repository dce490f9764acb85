/*
 * client/hybrid.c - rows that are ranked over several ranges or collections: ORDER BY RANK, and orders by a vector's distance.
 * A query of the first kind becomes several, by the plan: one for the statistics of all items, then one for each score. Each is
 * a round: it goes to all sources, and its rows are gathered. At the end rows are united, each has a place by each score,
 * and the sum of weight / (60 + place) is its rank, as the official SDKs compute it. With one score its order is the rank;
 * so it is for an order by a vector's distance, which is one round.
 */
#include <stdlib.h>

#include "base/encode.h"
#include "query.h"

enum { FUSION_OFFSET = 60, RID_BYTES = 16 };

#define HOLE "{documentdb-formattablehybridsearchquery-"

struct ranked_row {
    struct json row; /* the cursor's own copy */
    size_t order;    /* in which it came: the first of two that are one stays */
    uint8_t rid[RID_BYTES];
    double *score; /* by component */
    double rank;   /* the larger, the nearer to the front */
};

struct hybrid {
    struct json info, components;
    size_t component_count, round; /* round 0: the statistics; n: the n-th component */
    bool is_plain;                 /* an order by distance: its rows are told as they are */
    int64_t documents;
    struct json *texts; /* the ranges' fullTextStatistics */
    size_t text_count, text_capacity;
    struct ranked_row *rows; /* of all rounds; those of this one begin at `first` */
    size_t row_count, row_capacity, first;
    bool is_ranked;
    int64_t skip, take; /* left; take -1: all */
    size_t next_row;
};

/* ---- opening */

static int64_t count_or(struct json value, int64_t otherwise)
{
    return json_kind(value) == JSON_NUMBER ? (int64_t)json_double(value) : otherwise;
}

static struct json component(const struct hybrid *hybrid)
{
    return hybrid->is_plain ? hybrid->info : json_element(hybrid->components, hybrid->round - 1);
}

/* How many texts are searched, and how often each keyword of a text was found, over all ranges. */
static size_t searched_texts(const struct hybrid *hybrid)
{
    return hybrid->text_count ? json_count(hybrid->texts[0]) : 0;
}

static double sum_of(const struct hybrid *hybrid, size_t text, const char *name, size_t hit)
{
    double sum = 0;

    for (size_t i = 0; i < hybrid->text_count; i++) {
        struct json value = json_get(json_element(hybrid->texts[i], text), name);

        if (json_kind(value) == JSON_ARRAY)
            value = json_element(value, hit);
        sum += json_kind(value) == JSON_NUMBER ? json_double(value) : 0;
    }
    return sum;
}

static void print_hits(struct buf *out, const struct hybrid *hybrid, size_t text)
{
    size_t count = json_count(json_get(json_element(hybrid->texts[0], text), "hitCounts"));

    buf_byte(out, '[');
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "%s%.0f", i ? "," : "", sum_of(hybrid, text, "hitCounts", i));
    buf_byte(out, ']');
}

/* The place of a text among those that the query names: planners number them by component, or one after another. */
static size_t text_of(struct slice query, size_t number)
{
    size_t before = 0;
    char hole[128];

    for (size_t i = 0; i < number; i++) {
        int size = snprintf(hole, sizeof(hole), HOLE "totalwordcount-%zu}", i);

        before += memmem(query.data, query.size, hole, (size_t)size) != NULL;
    }
    return before;
}

/* What stands in the place of a hole. False: nobody knows. */
static bool print_figure(struct buf *out, const struct hybrid *hybrid, struct slice query, struct slice hole)
{
    static const char words[] = "totalwordcount-", hits[] = "hitcountsarray-";
    bool is_words = slice_starts_with(hole, words);
    size_t text;

    if (slice_is(hole, "totaldocumentcount")) {
        buf_printf(out, "%lld", (long long)hybrid->documents);
        return true;
    }
    if (!is_words && !slice_starts_with(hole, hits))
        return false;
    text = text_of(query, strtoul(hole.data + (is_words ? sizeof(words) : sizeof(hits)) - 1, NULL, 10));
    if (text >= searched_texts(hybrid))
        return false;
    if (is_words)
        buf_printf(out, "%.0f", sum_of(hybrid, text, "totalWordCount", 0));
    else
        print_hits(out, hybrid, text);
    return true;
}

static bool fill_holes(struct buf *out, const struct hybrid *hybrid, struct slice query)
{
    struct slice left = query;
    const char *hole, *end;

    while ((hole = memmem(left.data, left.size, HOLE, sizeof(HOLE) - 1))) {
        buf_append(out, left.data, (size_t)(hole - left.data));
        left = slice_after(left, (size_t)(hole - left.data) + sizeof(HOLE) - 1);
        end = memchr(left.data, '}', left.size);
        if (!end || !print_figure(out, hybrid, query, slice_make(left.data, (size_t)(end - left.data))))
            return false;
        left = slice_after(left, (size_t)(end - left.data) + 1);
    }
    buf_slice(out, left);
    return true;
}

static orrery_status no_sense(orrery_query *query)
{
    return client_fail(query->client, ORRERY_EJSON, "the plan or the rows of a ranked query make no sense");
}

/* What is sent in this round. */
static orrery_status begin_round(orrery_query *query)
{
    struct hybrid *hybrid = query->hybrid;
    struct json text = hybrid->round == 0 ? json_get(hybrid->info, "globalStatisticsQuery")
                                          : json_get(component(hybrid), "rewrittenQuery");
    struct buf out;

    hybrid->first = hybrid->row_count;
    if (json_kind(text) != JSON_STRING)
        return no_sense(query);
    buf_init(&out, &query->arena);
    if (!fill_holes(&out, hybrid, json_string(text)))
        return no_sense(query);
    return out.failed ? client_no_memory(query->client) : plan_rewrite(query, buf_as_slice(&out));
}

static orrery_status begin(orrery_query *query, struct hybrid hybrid)
{
    if (query->options.continuation)
        return client_fail(query->client, ORRERY_EUNSUPPORTED, "a ranked query has no continuation");
    query->hybrid = memory_list(&query->arena, 1, sizeof(*query->hybrid));
    if (!query->hybrid)
        return client_no_memory(query->client);
    *query->hybrid = hybrid;
    return begin_round(query);
}

orrery_status hybrid_begin(orrery_query *query, struct json info)
{
    struct json components = json_get(info, "componentQueryInfos");
    bool counts = json_kind(json_get(info, "requiresGlobalStatistics")) == JSON_TRUE;

    if (json_kind(components) != JSON_ARRAY || json_count(components) == 0)
        return no_sense(query);
    return begin(query, (struct hybrid){ .info = info,
                                         .components = components,
                                         .component_count = json_count(components),
                                         .round = counts ? 0 : 1,
                                         .skip = count_or(json_get(info, "skip"), 0),
                                         .take = count_or(json_get(info, "take"), -1) });
}

orrery_status hybrid_begin_plain(orrery_query *query)
{
    struct plan *plan = &query->plan;
    int64_t skip = plan->offset, take = plan->limit;

    plan->offset = 0;
    plan->limit = -1;
    return begin(query, (struct hybrid){ .info = plan->info,
                                         .component_count = 1,
                                         .round = 1,
                                         .is_plain = true,
                                         .skip = skip,
                                         .take = take });
}

bool hybrid_counts(const orrery_query *query)
{
    return query->hybrid && query->hybrid->round == 0;
}

/* ---- rows as they come */

static struct json copy_of(orrery_query *query, struct json value)
{
    struct slice bytes = json_bytes(value);
    char *copy = arena_try_alloc(&query->arena, bytes.size);

    if (copy)
        memcpy(copy, bytes.data, bytes.size);
    return (struct json){ (const uint8_t *)copy };
}

static orrery_status add_statistics(orrery_query *query, struct json row)
{
    struct hybrid *hybrid = query->hybrid;
    struct json texts = json_get(row, "fullTextStatistics");

    if (json_kind(texts) != JSON_ARRAY)
        return no_sense(query);
    if (!memory_grow_in(&query->arena, &hybrid->texts, &hybrid->text_capacity, hybrid->text_count + 1,
                        sizeof(*hybrid->texts)))
        return client_no_memory(query->client);
    texts = copy_of(query, texts);
    if (!texts.at)
        return client_no_memory(query->client);
    hybrid->documents += count_or(json_get(row, "documentCount"), 0);
    hybrid->texts[hybrid->text_count++] = texts;
    return ORRERY_OK;
}

/* Bytes that sort as the items were made: the number behind the container's bytes has its lowest byte first. */
static bool read_rid(struct json rid, uint8_t bytes[RID_BYTES])
{
    struct slice text = json_kind(rid) == JSON_STRING ? json_string(rid) : slice_of("");
    char plain[2 * RID_BYTES];
    uint8_t decoded[2 * RID_BYTES];
    size_t size;

    if (text.size == 0 || text.size >= sizeof(plain))
        return false;
    for (size_t i = 0; i < text.size; i++)
        plain[i] = text.data[i] == '-' ? '/' : text.data[i];
    if (!base64_decode(slice_make(plain, text.size), decoded, sizeof(decoded), &size) || size != RID_BYTES)
        return false;
    memcpy(bytes, decoded, RID_BYTES / 2);
    for (size_t i = RID_BYTES / 2; i < RID_BYTES; i++)
        bytes[i] = decoded[RID_BYTES + RID_BYTES / 2 - 1 - i];
    return true;
}

/* Where there is one score, its order is the rank, and nobody needs the score itself. */
static bool read_scores(const struct hybrid *hybrid, struct ranked_row *row)
{
    struct json scores = json_get(json_get(row->row, "payload"), "componentScores");

    if (hybrid->component_count == 1)
        return true;
    if (json_kind(scores) != JSON_ARRAY || json_count(scores) != hybrid->component_count)
        return false;
    for (size_t i = 0; i < hybrid->component_count; i++) {
        struct json score = json_element(scores, i);

        if (json_kind(score) != JSON_NUMBER)
            return false;
        row->score[i] = json_double(score);
    }
    return true;
}

static orrery_status add_row(orrery_query *query, struct json row)
{
    struct hybrid *hybrid = query->hybrid;
    struct ranked_row *added;

    if (!memory_grow_in(&query->arena, &hybrid->rows, &hybrid->row_capacity, hybrid->row_count + 1,
                        sizeof(*hybrid->rows)))
        return client_no_memory(query->client);
    added = &hybrid->rows[hybrid->row_count];
    *added = (struct ranked_row){ .row = copy_of(query, row), .order = hybrid->row_count };
    added->score = memory_list(&query->arena, hybrid->component_count, sizeof(*added->score));
    if (!added->row.at || !added->score)
        return client_no_memory(query->client);
    if (!read_rid(json_get(row, "_rid"), added->rid) || !read_scores(hybrid, added))
        return no_sense(query);
    hybrid->row_count++;
    return ORRERY_OK;
}

/* ---- the end of a round */

static int by_rid(const struct ranked_row *a, const struct ranked_row *b)
{
    int order = memcmp(a->rid, b->rid, RID_BYTES);

    return order != 0 ? order : (a->order > b->order) - (a->order < b->order);
}

static struct json order_item(const struct ranked_row *row, size_t index)
{
    return json_get(json_element(json_get(row->row, "orderByItems"), index), "item");
}

static bool is_descending(struct json component, size_t index)
{
    struct json order = json_element(json_get(component, "orderBy"), index);

    return json_kind(order) == JSON_STRING && slice_is(json_string(order), "Descending");
}

static int by_items(const void *a, const void *b, void *context)
{
    struct json component = *(const struct json *)context;
    size_t count = json_count(json_get(component, "orderBy"));

    for (size_t i = 0; i < count; i++) {
        int order = json_compare(order_item(a, i), order_item(b, i));

        if (order != 0)
            return is_descending(component, i) ? -order : order;
    }
    return by_rid(a, b);
}

/* Each range has told its best: of all together only as many count as one would have told. */
static void end_component(struct hybrid *hybrid)
{
    struct json of = component(hybrid);
    int64_t most = count_or(json_get(of, "limit"), count_or(json_get(of, "top"), -1));
    size_t count = hybrid->row_count - hybrid->first;

    if (count > 0)
        qsort_r(hybrid->rows + hybrid->first, count, sizeof(*hybrid->rows), by_items, &of);
    if (!hybrid->is_plain && most >= 0 && count > (size_t)most)
        hybrid->row_count = hybrid->first + (size_t)most;
    for (size_t i = hybrid->first; i < hybrid->row_count; i++)
        hybrid->rows[i].order = i;
}

static int by_rid_of_rows(const void *a, const void *b)
{
    return by_rid(a, b);
}

/* What was found by several scores is one row. */
static void unite(struct hybrid *hybrid)
{
    size_t kept = 0;

    if (hybrid->row_count > 0)
        qsort(hybrid->rows, hybrid->row_count, sizeof(*hybrid->rows), by_rid_of_rows);
    for (size_t i = 0; i < hybrid->row_count; i++)
        if (i == 0 || memcmp(hybrid->rows[kept - 1].rid, hybrid->rows[i].rid, RID_BYTES) != 0)
            hybrid->rows[kept++] = hybrid->rows[i];
    hybrid->row_count = kept;
}

static int by_rank(const void *a, const void *b)
{
    const struct ranked_row *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    return by_rid(x, y);
}

static double weight_of(const struct hybrid *hybrid, size_t index)
{
    struct json weight = json_element(json_get(hybrid->info, "componentWeights"), index);

    return json_kind(weight) == JSON_NUMBER ? json_double(weight) : 1;
}

static void sort_by_rank(struct hybrid *hybrid)
{
    if (hybrid->row_count > 0)
        qsort(hybrid->rows, hybrid->row_count, sizeof(*hybrid->rows), by_rank);
}

/* Places by one score, from 1 on; rows with equal scores share one. The score becomes its part of the sum. */
static void place_rows(struct hybrid *hybrid, size_t index)
{
    double sign = is_descending(json_element(hybrid->components, index), 0) ? 1 : -1, last = 0;
    size_t place = 0;

    for (size_t i = 0; i < hybrid->row_count; i++)
        hybrid->rows[i].rank = sign * hybrid->rows[i].score[index];
    sort_by_rank(hybrid);
    for (size_t i = 0; i < hybrid->row_count; i++) {
        place += i == 0 || hybrid->rows[i].rank != last;
        last = hybrid->rows[i].rank;
        hybrid->rows[i].score[index] = weight_of(hybrid, index) / (double)(FUSION_OFFSET + place);
    }
}

static void fuse(struct hybrid *hybrid)
{
    unite(hybrid);
    for (size_t i = 0; i < hybrid->component_count; i++)
        place_rows(hybrid, i);
    for (size_t i = 0; i < hybrid->row_count; i++) {
        hybrid->rows[i].rank = 0;
        for (size_t k = 0; k < hybrid->component_count; k++)
            hybrid->rows[i].rank += hybrid->rows[i].score[k];
    }
    sort_by_rank(hybrid);
}

static orrery_status end_round(orrery_query *query)
{
    struct hybrid *hybrid = query->hybrid;
    orrery_status status;

    if (hybrid->round > 0)
        end_component(hybrid);
    if (hybrid->round == hybrid->component_count) {
        hybrid->is_ranked = true;
        if (hybrid->component_count > 1)
            fuse(hybrid);
        return ORRERY_OK;
    }
    hybrid->round++;
    status = begin_round(query);
    if (status == ORRERY_OK)
        ranges_again(query);
    return status;
}

/* ---- rows as they are told */

static orrery_status tell(orrery_query *query, struct json *row)
{
    struct hybrid *hybrid = query->hybrid;

    for (; hybrid->skip > 0 && hybrid->next_row < hybrid->row_count; hybrid->skip--)
        hybrid->next_row++;
    while (hybrid->next_row < hybrid->row_count && hybrid->take != 0) {
        *row = json_get(hybrid->rows[hybrid->next_row++].row, "payload");
        if (!hybrid->is_plain)
            *row = json_get(*row, "payload");
        hybrid->take -= hybrid->take > 0;
        if (row->at)
            return ORRERY_ROW;
    }
    return ORRERY_DONE;
}

orrery_status hybrid_next(orrery_query *query, merge_rows *next, struct json *row)
{
    struct hybrid *hybrid = query->hybrid;
    orrery_status status = ORRERY_OK;

    while (status == ORRERY_OK && query->phase == PHASE_RUN && !hybrid->is_ranked) {
        status = next(query, row);
        if (status == ORRERY_ROW)
            status = hybrid->round == 0 ? add_statistics(query, *row) : add_row(query, *row);
        else if (status == ORRERY_DONE)
            status = end_round(query);
    }
    if (status != ORRERY_OK || query->phase != PHASE_RUN)
        return status;
    query->from = query->place_count == 1 && query->source_count ? &query->sources[0] : NULL;
    return tell(query, row);
}
