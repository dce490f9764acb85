/*
 * src/query/plan/sdk_plan.c - what a client of several ranges has to do itself, as the service's planner says it.
 * Where a filter names one key there is nothing to merge: OFFSET LIMIT stays with the server. ORDER BY, aggregates,
 * GROUP BY and DISTINCT are joined by the client even then. Where nothing can match nothing is left to it.
 */
#include "base/encode.h"
#include "json/json.h"
#include "query/bind/bind_private.h"
#include "query/text/mistake.h"
#include "query/text/parse.h"
#include "query/plan/hybrid.h"

/* What a plan can ask of a client, in the order in which the service names them. */
enum feature {
    AGGREGATES = 1 << 0,
    DISTINCT = 1 << 1,
    GROUP_BY = 1 << 2,
    MULTIPLE_AGGREGATES = 1 << 3,
    MULTIPLE_ORDER_BY = 1 << 4,
    OFFSET_AND_LIMIT = 1 << 5,
    ORDER_BY = 1 << 6,
    TOP = 1 << 7,
    NON_VALUE_AGGREGATE = 1 << 8,
    DISTINCT_COUNT = 1 << 9,
    NON_STREAMING_ORDER_BY = 1 << 10,
    LIST_AND_SET_AGGREGATE = 1 << 11,
    COUNT_IF = 1 << 12,
    HYBRID_SEARCH = 1 << 13,
    WEIGHTED_RANK_FUSION = 1 << 14,
    SKIPS_ORDER = 1 << 15, /* asked of nobody: the client ranks without the order of rows */
    EXACT_SUMS = 1 << 16,  /* asked of nobody: the client library joins sums without rounding */
};

static const struct {
    enum feature feature;
    const char *name;
} features_by_name[] = {
    { AGGREGATES, "Aggregate" },
    { DISTINCT, "Distinct" },
    { GROUP_BY, "GroupBy" },
    { MULTIPLE_AGGREGATES, "MultipleAggregates" },
    { MULTIPLE_ORDER_BY, "MultipleOrderBy" },
    { OFFSET_AND_LIMIT, "OffsetAndLimit" },
    { ORDER_BY, "OrderBy" },
    { TOP, "Top" },
    { NON_VALUE_AGGREGATE, "NonValueAggregate" },
    { DISTINCT_COUNT, "DCount" },
    { NON_STREAMING_ORDER_BY, "NonStreamingOrderBy" },
    { LIST_AND_SET_AGGREGATE, "ListAndSetAggregate" },
    { COUNT_IF, "CountIf" },
    { HYBRID_SEARCH, "HybridSearch" },
    { WEIGHTED_RANK_FUSION, "WeightedRankFusion" },
    { SKIPS_ORDER, "HybridSearchSkipOrderByRewrite" },
    { EXACT_SUMS, "OrreryExactSums" },
};
enum { FEATURE_COUNT = sizeof(features_by_name) / sizeof(features_by_name[0]) };

/* 0 for what is not known here. */
static unsigned feature_named(struct slice name)
{
    for (size_t i = 0; i < FEATURE_COUNT; i++)
        if (slice_is_nocase(name, features_by_name[i].name))
            return features_by_name[i].feature;
    return 0;
}

static bool holds_aggregate(const struct expr *expr)
{
    if (plan_is_aggregate(expr))
        return true;
    for (size_t i = 0; i < expr->kid_count; i++)
        if (holds_aggregate(expr->kid[i]))
            return true;
    return false;
}

/* Clients join aggregates, and not what is computed from them. */
static enum status check_aggregates(struct op *op, const struct select *select)
{
    if (!select)
        return ST_OK;
    for (size_t i = 0; i < select->item_count && select->aggregate_count; i++)
        if (!plan_is_aggregate(select->item[i].expr) && holds_aggregate(select->item[i].expr))
            return mistake_bare(op, "Compositions of aggregates and other expressions are not allowed.");
    return ST_OK;
}

/*
 * Equal rows follow one another when what is ordered by is all that is selected: the client then looks only at the
 * last row it has seen. The service sees it of SELECT VALUE alone.
 */
static enum distinct_type distinct_type(const struct select *select)
{
    if (!select->distinct)
        return DISTINCT_NONE;
    if (!select->value || select->order_count != 1 ||
        !expr_equal(select->order[0].expr, select->item[0].expr))
        return DISTINCT_UNORDERED;
    return DISTINCT_ORDERED;
}

/* SELECT COUNT(1) FROM (SELECT DISTINCT ...): rows that are equal may come from several ranges. */
static bool counts_distinct(const struct select *select)
{
    const struct select *rows = select->source_count == 1 ? select->source[0].select : NULL;
    const struct expr *count = select->item_count == 1 ? select->item[0].expr : NULL;

    if (!rows || !rows->distinct || rows->source_count == 0 || rows->group_count || rows->aggregate_count)
        return false;
    if (select->where || select->group_count || select->order_count || select->limit)
        return false;
    return count && plan_is_aggregate(count) && count->builtin->aggregate.counts &&
           count->kid[0]->kind == EXPR_LITERAL && count->kid[0]->value.kind != JSON_UNDEFINED;
}

/* One key, or none, so that one range has all of the answer. */
static bool is_one_key(const struct query_key *key, const struct query_ranges *ranges)
{
    if (ranges->all || ranges->count > 1)
        return false;
    return ranges->count == 0 || !query_point_is_prefix(key, &ranges->point[0]);
}

static bool is_step(const struct expr *expr)
{
    return expr->kind == EXPR_NAME || expr->kind == EXPR_MEMBER || expr->kind == EXPR_INDEX;
}

/* By what no index has: each range sorts all that it has, before it gives the first row. */
static bool sorts_all(const struct select *select)
{
    const struct expr *first = select->order_count ? select->order[0].expr : NULL;

    if (first && first->kind == EXPR_CALL && first->builtin->flags & (RANKS | ORDERS))
        return true;
    return first && select->aggregate_count && !select->group_count && !is_step(first);
}

/* Aggregates of the select list, which a client joins; one in ORDER BY alone is none. */
static bool joins_aggregates(const struct select *select)
{
    for (size_t i = 0; i < select->item_count && select->aggregate_count; i++)
        if (holds_aggregate(select->item[i].expr))
            return true;
    return false;
}

/* SELECT VALUE of an aggregate. The columns of SELECT SUM(c.a) are one row, of which the service counts as of others. */
static bool joins_value(const struct select *select)
{
    return select->value && joins_aggregates(select);
}

static void make_plan(const struct select *select, bool is_one_place, struct plan *plan)
{
    *plan = (struct plan){ .select = select, .has_value = select->value, .is_whole = select->whole };
    if (counts_distinct(select)) {
        plan->distinct_count = &select->item[0];
        plan->select = select = select->source[0].select;
        plan->is_whole = false;
    }
    plan->distinct = distinct_type(select);
    plan->is_grouped = select->group_count || joins_aggregates(select);
    plan->is_ordered = select->order_count && !joins_aggregates(select);
    plan->sorts_all = sorts_all(select);
    plan->drops_rows = plan->distinct != DISTINCT_NONE || select->group_count || joins_value(select);
    plan->top = select->top;
    if (!is_one_place || plan->drops_rows || plan->sorts_all) {
        plan->offset = select->offset;
        plan->limit = select->limit;
    }
}

static unsigned aggregate_features(const struct select *select)
{
    unsigned needed = select->aggregate_count ? AGGREGATES : 0;

    if (select->aggregate_count && !select->value)
        needed |= NON_VALUE_AGGREGATE;
    if (select->aggregate_count > 1)
        needed |= MULTIPLE_AGGREGATES;
    for (size_t i = 0; i < select->aggregate_count; i++) {
        const char *feature = select->aggregate[i]->builtin->aggregate.feature;

        needed |= feature ? feature_named(slice_of(feature)) : 0;
    }
    return needed;
}

static unsigned needed_features(const struct plan *plan)
{
    unsigned needed;

    if (!plan->select)
        return 0;
    needed = aggregate_features(plan->select);
    if (plan->distinct != DISTINCT_NONE)
        needed |= DISTINCT;
    if (plan->distinct_count)
        needed |= DISTINCT_COUNT;
    if (plan->select->group_count)
        needed |= GROUP_BY;
    if (plan->is_ordered)
        needed |= plan->select->order_count > 1 ? MULTIPLE_ORDER_BY : ORDER_BY;
    if (plan->is_ordered && plan->sorts_all)
        needed |= NON_STREAMING_ORDER_BY;
    if (plan->top)
        needed |= TOP;
    if (plan->limit)
        needed |= OFFSET_AND_LIMIT;
    return needed;
}

/* "Distinct, GroupBy": what is not known here is ignored. */
static unsigned read_features(struct slice list)
{
    unsigned features = 0;

    while (list.size) {
        const char *comma = memchr(list.data, ',', list.size);
        size_t size = comma ? (size_t)(comma - list.data) : list.size;
        struct slice name = slice_trim(slice_make(list.data, size));

        features |= feature_named(name);
        list = slice_after(list, comma ? size + 1 : size);
    }
    return features;
}

/* The service begins its list with None, and ends each name with a blank. The SDK for Rust looks for the first sentence. */
static enum status check_features(struct op *op, unsigned missing)
{
    struct buf names;

    if (!missing)
        return ST_OK;
    buf_init(&names, &op->arena);
    for (size_t i = 0; i < FEATURE_COUNT; i++)
        if (missing & features_by_name[i].feature)
            buf_printf(&names, "%s ", features_by_name[i].name);
    return op_fail(op, ST_BAD_HEADER,
                   "Query contains 1 or more unsupported features. Upgrade your SDK to a version that does "
                   "support the requested features:\n"
                   "Query contains the following features, which the calling client does not support:\n"
                   "None %.*s",
                   SLICE_ARGS(buf_as_slice(&names)));
}

static void print_count(struct buf *out, const char *name, const struct expr *count)
{
    if (count)
        buf_printf(out, ",\"%s\":%lld", name, (long long)count->value.integer);
    else
        buf_printf(out, ",\"%s\":null", name);
}

/* An expression's text as a JSON string. */
static void print_text(struct op *op, struct buf *out, const struct expr *expr)
{
    struct buf text;

    buf_init(&text, &op->arena);
    query_print_expr(&text, expr);
    out->failed |= text.failed;
    json_print_string(out, buf_as_slice(&text));
}

static void print_orders(struct op *op, const struct plan *plan, struct buf *out)
{
    size_t count = plan->is_ordered ? plan->select->order_count : 0;

    buf_text(out, ",\"orderBy\":[");
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "%s\"%s\"", i ? "," : "",
                   plan->select->order[i].descending ? "Descending" : "Ascending");
    buf_text(out, "],\"orderByExpressions\":[");
    for (size_t i = 0; i < count; i++) {
        buf_text(out, i ? "," : "");
        print_text(op, out, plan->select->order[i].expr);
    }
    buf_text(out, "]");
}

/* The columns of a row that the client puts together; SELECT VALUE has none. */
static size_t column_count(const struct plan *plan)
{
    return plan->select && plan->is_grouped && !plan->select->value ? plan->select->item_count : 0;
}

static void print_groups(struct op *op, const struct plan *plan, struct buf *out)
{
    const struct select *select = plan->select;

    buf_text(out, ",\"groupByExpressions\":[");
    for (size_t i = 0; select && i < select->group_count; i++) {
        buf_text(out, i ? "," : "");
        print_text(op, out, select->group[i]);
    }
    buf_text(out, "],\"groupByAliases\":[");
    for (size_t i = 0; i < column_count(plan); i++) {
        buf_text(out, i ? "," : "");
        json_print_string(out, select->item[i].name);
    }
    buf_text(out, "]");
}

static void print_aggregates(const struct plan *plan, struct buf *out)
{
    const struct select *select = plan->select;

    buf_text(out, ",\"aggregates\":[");
    if (select && select->value && plan_is_aggregate(select->item[0].expr))
        buf_printf(out, "\"%s\"", select->item[0].expr->builtin->aggregate.type);
    buf_text(out, "],\"groupByAliasToAggregateType\":{");
    for (size_t i = 0; i < column_count(plan); i++) {
        const struct expr *expr = select->item[i].expr;

        buf_text(out, i ? "," : "");
        json_print_string(out, select->item[i].name);
        if (plan_is_aggregate(expr))
            buf_printf(out, ":\"%s\"", expr->builtin->aggregate.type);
        else
            buf_text(out, ":null");
    }
    buf_text(out, "}");
}

static void print_rewritten(struct op *op, const struct plan *plan, struct buf *out)
{
    struct buf text;

    buf_init(&text, &op->arena);
    plan_rewrite(plan, &text);
    out->failed |= text.failed;
    buf_text(out, ",\"rewrittenQuery\":");
    json_print_string(out, buf_as_slice(&text));
}

static void print_distinct_count(const struct plan *plan, struct buf *out)
{
    if (!plan->distinct_count) {
        buf_text(out, ",\"dCountInfo\":null");
        return;
    }
    buf_text(out, ",\"dCountInfo\":{\"dCountAlias\":");
    json_print_string(out, plan->has_value ? slice_of("") : plan->distinct_count->name);
    buf_text(out, "}");
}

static void print_info(struct op *op, const struct plan *plan, struct buf *out)
{
    static const char *const types[] = { "None", "Ordered", "Unordered" };

    buf_printf(out, "{\"distinctType\":\"%s\"", types[plan->distinct]);
    print_count(out, "top", plan->top);
    print_count(out, "offset", plan->offset);
    print_count(out, "limit", plan->limit);
    print_orders(op, plan, out);
    print_groups(op, plan, out);
    print_aggregates(plan, out);
    print_rewritten(op, plan, out);
    buf_printf(out, ",\"hasSelectValue\":%s", plan->has_value ? "true" : "false");
    print_distinct_count(plan, out);
    if (plan->is_whole)
        buf_text(out, ",\"requiresExtendedQueryPlan\":true");
    buf_printf(out, ",\"hasNonStreamingOrderBy\":%s}", plan->sorts_all ? "true" : "false");
}

/* The upper end of a hierarchical key's prefix is the prefix and FF. */
static void print_range(struct buf *out, struct slice min, struct slice max, const char *max_tail)
{
    buf_text(out, "{\"min\":\"");
    hex_encode_upper(out, min);
    buf_text(out, "\",\"max\":\"");
    hex_encode_upper(out, max);
    buf_printf(out, "%s\",\"isMinInclusive\":true,\"isMaxInclusive\":%s}", max_tail,
               *max_tail ? "false" : "true");
}

static void print_ranges(const struct query_key *key, const struct query_ranges *ranges, struct buf *out)
{
    struct slice empty = slice_of("");

    buf_text(out, ",\"queryRanges\":[");
    if (ranges->all)
        print_range(out, empty, empty, "FF");
    else if (ranges->count == 0)
        print_range(out, empty, empty, "");
    for (size_t i = 0; i < ranges->count; i++) {
        struct slice point = epk_slice(&ranges->point[i]);

        buf_text(out, i ? "," : "");
        print_range(out, point, point, query_point_is_prefix(key, &ranges->point[i]) ? "FF" : "");
    }
    buf_text(out, "]");
}

static enum status plan_of(struct op *op, const struct select *select, const struct query_key *key,
                           struct query_ranges *ranges, struct plan *plan)
{
    enum status st;

    TRY(query_ranges(op, select, key, ranges));
    if (!ranges->all && ranges->count == 0 && !(select->distinct && select->source_count))
        *plan = (struct plan){ .has_value = select->value };
    else
        make_plan(select, is_one_key(key, ranges), plan);
    TRY(check_aggregates(op, plan->select));
out:
    return st;
}

/* The statistics count, too; but a client that says nothing of that ranks all the same. */
static unsigned hybrid_features(const struct select *select)
{
    struct hybrid_needs needs = hybrid_needs(select);

    return HYBRID_SEARCH | (needs.weights ? WEIGHTED_RANK_FUSION : 0) |
           (needs.vectors ? NON_STREAMING_ORDER_BY : 0);
}

/* Clients refuse a plan that has both kinds of information. */
static enum status plan_hybrid(struct op *op, const struct select *select, const struct query_key *key,
                               unsigned features, struct buf *out)
{
    struct query_ranges ranges;
    enum status st;

    TRY(query_ranges(op, select, key, &ranges));
    TRY(check_features(op, hybrid_features(select) & ~features));
    buf_text(out, "{\"partitionedQueryExecutionInfoVersion\":2,\"queryInfo\":null");
    print_ranges(key, &ranges, out);
    buf_text(out, ",\"hybridSearchQueryInfo\":");
    hybrid_print(op, select, features & SKIPS_ORDER, out);
    buf_text(out, "}");
    if (out->failed)
        TRY(op_fail(op, ST_TOO_LARGE, "The plan of the query is too large."));
out:
    return st;
}

static enum status print_plan(struct op *op, const struct plan *plan, const struct query_key *key,
                              const struct query_ranges *ranges, struct buf *out)
{
    buf_text(out, "{\"partitionedQueryExecutionInfoVersion\":2,\"queryInfo\":");
    print_info(op, plan, out);
    print_ranges(key, ranges, out);
    buf_text(out, ",\"hybridSearchQueryInfo\":null}");
    return out->failed ? op_fail(op, ST_TOO_LARGE, "The plan of the query is too large.") : ST_OK;
}

enum status query_plan(struct op *op, const struct select *select, const struct query_key *key,
                       struct slice features, struct buf *out)
{
    struct query_ranges ranges;
    struct plan plan;
    enum status st;

    if (hybrid_is(select))
        return plan_hybrid(op, select, key, read_features(features), out);
    TRY(plan_of(op, select, key, &ranges, &plan));
    TRY(check_features(op, needed_features(&plan) & ~read_features(features)));
    plan.sums_exactly = read_features(features) & EXACT_SUMS;
    TRY(print_plan(op, &plan, key, &ranges, out));
out:
    return st;
}

enum status query_plan_whole(struct op *op, const struct select *select, const struct query_key *key,
                             struct buf *out)
{
    struct plan plan = { .has_value = select->value };
    struct query_ranges ranges;
    enum status st;

    TRY(query_ranges(op, select, key, &ranges));
    TRY(print_plan(op, &plan, key, &ranges, out));
out:
    return st;
}

enum status query_plan_unasked(struct op *op, const struct select *select, const struct query_key *key,
                               bool *needed, struct buf *out)
{
    struct query_ranges ranges;
    struct plan plan;
    enum status st = ST_OK;

    *needed = true;
    if (hybrid_is(select))
        return plan_hybrid(op, select, key, ~0u & ~SKIPS_ORDER, out);
    TRY(plan_of(op, select, key, &ranges, &plan));
    *needed = needed_features(&plan) || plan.is_whole;
    TRY(print_plan(op, &plan, key, &ranges, out));
out:
    return st;
}
