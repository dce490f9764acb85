/* src/query/run/near.c - the nearest items: candidates by codes, the best first, until there are enough. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/limits.h"
#include "query/bind/fold.h"
#include "query/eval/builtin.h"
#include "query/plan/cost.h"
#include "query/plan/numbers.h"
#include "query/run/near.h"

enum {
    WANTED_MAX = 10000,
    GRAPH_FROM = 20000, /* vectors; fewer are scanned */
    EXACT_BELOW =
        1000, /* so few vectors are always searched exactly, as on the service; and so few that can pass */
    BATCH = 64,
    GATHERED_MIN = 16384,
    LIST_DEFAULT = 10, /* searchListSizeMultiplier: a tenth of the list */
    READ_MIN = 1000,
    READ_SHARE = 10, /* more than a tenth of the scope's items are not read one by one */
};

/* ---- which calls ---- */

bool near_reads_items(const struct select *select)
{
    const struct source *from = select->source_count == 1 ? &select->source[0] : NULL;

    return from && from->kind == SOURCE_PATH && from->path->kind == EXPR_NAME && !select->distinct &&
           !select->group_count && !select->aggregate_count && !select->whole;
}

/* A path of members, as the document has it. */
static bool find_path(struct near *near, const struct select *select, const struct expr *expr)
{
    struct alias alias = { .source = select->source };
    const struct path_traits *traits = &near->found_path.traits;

    item_path_begin(&near->found_path);
    if (!item_path_of(&alias, expr, &near->found_path) || near->found_path.count == 0 || traits->has_place ||
        traits->computed || traits->has_elements)
        return false;
    for (size_t i = 0; i < near->found_path.count; i++)
        if (near->found_path.step[i].element)
            return false;
    near->steps = (struct index_path){ near->found_path.step, near->found_path.count };
    near->path = expr;
    return true;
}

/* A path on one side and a vector that no row decides on the other. */
static bool find_sides(struct near *near, const struct select *select, const struct expr *call)
{
    for (size_t i = 0; i < 2; i++) {
        struct value given;

        if (find_path(near, select, call->kid[i]) && fold_constant(call->kid[1 - i], &given) &&
            given.kind == JSON_ARRAY && !given.is_row) {
            near->vector = given.json;
            return true;
        }
    }
    return false;
}

static uint32_t build_list_of(struct json index)
{
    struct json size = json_get(index, "indexingSearchListSize");

    return json_kind(size) == JSON_NUMBER ? (uint32_t)json_double(size) : SEARCH_LIST_DEFAULT;
}

static bool find_kind(struct near *near, struct json indexing)
{
    static const char *const names[] = {
        [NEAR_FLAT] = "flat", [NEAR_QUANTIZED] = "quantizedFlat", [NEAR_GRAPH] = "diskANN"
    };
    struct json index = vector_index_of(near->path, indexing), type = json_get(index, "type");

    for (size_t i = 0; json_kind(type) == JSON_STRING && i < sizeof(names) / sizeof(names[0]); i++)
        if (slice_is_nocase(json_string(type), names[i])) {
            near->kind = (enum near_kind)i;
            near->build_list = near->kind == NEAR_GRAPH ? build_list_of(index) : 0;
            return true;
        }
    return false;
}

static double number_option(const struct expr *call, const char *name, double otherwise)
{
    struct value value = vector_option(call, name);

    return value.kind == JSON_NUMBER ? value.number : otherwise;
}

/* How much is looked at. What passes the filter is walked to more directly where it has priority. */
static void read_options(struct near *near)
{
    const struct expr *call = near->call;
    double lists = number_option(call, "searchListSizeMultiplier", LIST_DEFAULT) / LIST_DEFAULT;
    double less = 1 - number_option(call, "filterPriority", 0) / 2;
    size_t list = 2 * near->wanted > VECTOR_LIST_MIN ? 2 * near->wanted : VECTOR_LIST_MIN;
    struct value exact;

    near->enough =
        (size_t)((double)(2 * near->wanted) * number_option(call, "quantizedVectorListMultiplier", 1));
    near->list = (size_t)((double)list * lists * (near->has_filter ? less : 1)) + 1;
    near->is_exact = near->kind == NEAR_FLAT ||
                     (call->kid_count > 2 && fold_constant(call->kid[2], &exact) && exact.kind == JSON_TRUE);
}

bool near_find(struct near *near, const struct query *query, const struct select *select,
               const struct expr *call, uint64_t wanted)
{
    const struct vector_policy *policy = call->memo;

    if (call->kind != EXPR_CALL || !(call->builtin->flags & (RANKS | ORDERS)) || call->kid_count < 2 ||
        call->builtin->bind != vector_bind || !policy)
        return false;
    if (!near_reads_items(select) || query->bound.calls_udfs || wanted == 0 || wanted > WANTED_MAX)
        return false;
    if (!find_sides(near, select, call) || !find_kind(near, query->options.indexing))
        return false;
    near->call = call;
    near->function = vector_function_of(call, policy);
    near->type = vector_type_of(call, policy);
    near->dimensions = policy->dimensions;
    near->wanted = (size_t)wanted;
    near->has_filter = select->where != NULL;
    read_options(near);
    return near->dimensions && json_count(near->vector) == near->dimensions;
}

/* A score of ranges is the greater, the nearer. */
bool near_descends(const struct near *near)
{
    return near->call->builtin->flags & ORDERS || near->function != VECTOR_EUCLIDEAN;
}

/* ---- what it costs ---- */

/* What part of the items passes the filter: by those that were read, before that by the index. */
static double passing(const struct near *near, const struct way *way)
{
    static const double guess = 0.25;
    double share;

    if (!near->has_filter)
        return 1;
    if (near->read)
        return (double)(near->passed + 1) / (double)(near->read + 1);
    if (way->access->kind == ACCESS_ANY)
        return guess;
    share = (way->access_items + 1) / (way->scope_items + 1);
    return share < 1 ? share : 1;
}

/* Gathering first the numbers that can pass, or reading items until enough have. */
static double cost_gathered(const struct near *near, const struct way *way)
{
    if (way->access->kind == ACCESS_ANY || !near->has_filter)
        return INFINITY;
    return way->pick - way->access_items * cost_of_fetch + way->access_items * cost_of_entry +
           (double)near->enough * cost_of_fetch;
}

static double cost_read(const struct near *near, const struct way *way)
{
    return (double)near->enough / passing(near, way) * cost_of_fetch;
}

bool near_is_worth(const struct near *near, const struct way *way)
{
    double cost = fmin(cost_gathered(near, way), cost_read(near, way)) + cost_of_lookup;

    return way->allowed == QUERY_BY_INDEX || cost < fmin(way->scan, way->pick);
}

/* ---- opening ---- */

static void *take(struct near *near, size_t bytes)
{
    void *memory = arena_try_alloc(&near->cursor->kept, bytes + 1);

    if (memory)
        memset(memory, 0, bytes + 1);
    return memory;
}

static bool encode_query(struct near *near)
{
    double *x = take(near, near->dimensions * sizeof(*x));
    int8_t *code = take(near, vector_code_bytes(near->dimensions));
    size_t count = 0;

    for (struct json_iter i = json_iter(near->vector); x && code && json_next(&i);) {
        if (json_kind(i.value) != JSON_NUMBER)
            return false;
        x[count++] = json_double(i.value);
    }
    near->search.code = code;
    return x && code && vector_hold(near->type, x, count) &&
           vector_encode(x, near->dimensions, code, &near->search.measure);
}

static bool make_room(struct near *near)
{
    const struct query_index *index = near->index;
    struct vector_span *span = take(near, index->span_count * sizeof(*span));

    near->seen = take(near, vector_column_mark_bytes(near->vectors.column));
    near->search.marks = take(near, vector_column_mark_bytes(near->vectors.column));
    near->best = take(near, near->wanted * sizeof(*near->best));
    near->number = take(near, BATCH * sizeof(*near->number));
    if (!span || !near->seen || !near->search.marks || !near->best || !near->number)
        return false;
    for (size_t i = 0; i < index->span_count; i++)
        span[i] = (struct vector_span){ index->span[i].from, index->span[i].to };
    near->search.span = span;
    near->search.span_count = index->span_count;
    return true;
}

/*
 * The numbers that can pass the filter, where that spares more than it costs. Before each search: when fewer of the items
 * that were read have passed than the index foretold, it may be worth it after all.
 */
static enum status gather(struct near *near)
{
    struct way *way = near->way;
    size_t room = (size_t)way->access_items * 2 + GATHERED_MIN; /* how many they are is known about */
    struct numbers numbers = { 0 };
    enum status st = ST_OK;

    if (near->gathered || cost_gathered(near, way) >= cost_read(near, way))
        return ST_OK;
    near->gathered = true;
    TRY(numbers_gather(&way->planner, &near->cursor->kept, way->picks, 0, room, &numbers));
    if (numbers.end != numbers_end)
        goto out;
    near->search.among = numbers.number ? numbers.number : near->number;
    near->search.among_count = numbers.count;
    near->is_exact |= numbers.count < EXACT_BELOW;
out:
    return st;
}

static void find_limits(struct near *near, const struct way *way)
{
    size_t share = (size_t)(way->scope_items / READ_SHARE), least = 4 * near->enough;

    near->read_max = share > READ_MIN ? share : READ_MIN;
    near->read_max = near->read_max > least ? near->read_max : least;
    near->is_exact |= vector_column_count(near->vectors.column) < EXACT_BELOW;
}

static enum status search_more(struct near *near);

static enum status lead_next(struct lead *lead, const uint64_t **number, size_t *count)
{
    return near_next((struct near *)lead, number, count);
}

static void lead_saw(struct lead *lead, struct value distance)
{
    near_saw((struct near *)lead, distance);
}

static bool lead_suffices(const struct lead *lead)
{
    return near_suffices((const struct near *)lead);
}

enum status near_open(struct near *near, struct cursor *cursor, struct way *way)
{
    struct vector_key key = { .dimensions = near->dimensions,
                              .type = near->type,
                              .function = near->function,
                              .graph_from = near->kind == NEAR_GRAPH ? GRAPH_FROM : 0,
                              .build_list = near->build_list };
    enum status st = ST_OK;

    near->lead = (struct lead){ lead_next, lead_saw, lead_suffices };
    near->cursor = cursor;
    near->way = way;
    near->index = way->planner.index;
    near->search = (struct vector_search){ .function = near->function };
    if (!near->index->vectors || !cursor->source->pick || !encode_query(near))
        goto out;
    TRY(near->index->vectors(cursor->eval.op, near->index, &near->steps, &key, &near->vectors));
    if (!near->vectors.column)
        goto out;
    near->search.doubtful = near->vectors.doubtful;
    near->search.doubtful_count = near->vectors.doubtful_count;
    find_limits(near, way);
    if (!make_room(near))
        TRY(op_fail_as(cursor->eval.op, ST_QUERY_MEMORY));
    TRY(search_more(near));
    near->is_open = true;
out:
    if (!near->is_open)
        near_close(near);
    return st;
}

void near_close(struct near *near)
{
    if (near->vectors.column)
        near->index->vectors_end(&near->vectors);
    near->is_open = false;
}

/* ---- candidates ---- */

/* Four times as many as before: what was given already is passed over. */
static enum status search_more(struct near *near)
{
    struct vector_search *search = &near->search;
    size_t before = search->wanted, first = (near->has_filter ? 4 : 1) * near->enough + BATCH;
    size_t places = vector_column_count(near->vectors.column), list;
    struct op *op = near->cursor->eval.op;
    uint64_t codes = search->codes;
    enum status st;

    TRY(gather(near));
    search->by_most = near->is_exact;
    search->wanted = before ? 4 * before : first;
    if (search->wanted > places)
        search->wanted = places ? places : 1;
    search->found = arena_try_alloc(&near->cursor->kept, search->wanted * sizeof(*search->found));
    if (!search->found)
        TRY(op_fail_as(op, ST_QUERY_MEMORY));
    near->next = 0;
    list = near->list > search->wanted || !before ? near->list : search->wanted;
    near->walked = near->kind == NEAR_GRAPH && vector_column_walk(near->vectors.column, search, list);
    if (!near->walked)
        vector_column_scan(near->vectors.column, search);
    op->work.codes_read += search->codes - codes;
    st = op_check(op);
out:
    return st;
}

/* There are no more candidates than these. */
static bool is_all(const struct near *near)
{
    return !near->walked && near->search.count < near->search.wanted;
}

static bool is_full(const struct near *near)
{
    return near->best_count == near->wanted;
}

/* Whether the next candidate, and so those behind it, cannot be among the wanted; or, by estimate, is not likely to. */
static bool is_next_worse(const struct near *near)
{
    const struct vector_candidate *next = &near->search.found[near->next];

    if (!is_full(near) || near->next >= near->search.count)
        return false;
    return (near->is_exact ? next->score : vector_column_likely(near->vectors.column, &near->search, next)) <
           near->best[0];
}

/* Whether nothing that is left is needed. */
static bool is_enough(const struct near *near)
{
    return is_next_worse(near) || (!near->is_exact && near->passed >= near->enough);
}

static bool see(struct near *near, uint32_t at)
{
    uint8_t bit = (uint8_t)(1u << at % 8);
    bool was = near->seen[at / 8] & bit;

    near->seen[at / 8] |= bit;
    return !was;
}

static size_t batch_size(const struct near *near)
{
    size_t left = near->enough > near->passed ? near->enough - near->passed : 1;

    if (near->is_exact || near->passed < near->wanted)
        left = near->wanted;
    return left < BATCH ? left : BATCH;
}

static size_t take_candidates(struct near *near)
{
    size_t most = batch_size(near), count = 0;

    while (count < most && near->next < near->search.count && !is_next_worse(near)) {
        const struct vector_candidate *candidate = &near->search.found[near->next++];

        if (see(near, candidate->at))
            near->number[count++] = candidate->number;
    }
    return count;
}

static int by_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Until there is one more to look at, or enough were looked at. */
static enum status find_candidates(struct near *near, size_t *count)
{
    enum status st = ST_OK;

    *count = 0;
    while (!is_enough(near)) {
        *count = take_candidates(near);
        if (*count)
            break;
        near->is_exhausted = is_all(near) || near->search.wanted >= vector_column_count(near->vectors.column);
        if (is_enough(near) || near->is_exhausted)
            break;
        TRY(search_more(near));
    }
out:
    return st;
}

enum status near_next(struct near *near, const uint64_t **number, size_t *count)
{
    enum status st = ST_OK;

    if (!near->doubtful_given) {
        near->doubtful_given = true;
        *number = near->vectors.doubtful;
        *count = near->vectors.doubtful_count;
        if (*count)
            return ST_OK;
    }
    *count = 0;
    if (near->read > near->read_max)
        return ST_OK;
    TRY(find_candidates(near, count));
    qsort(near->number, *count, sizeof(*near->number), by_u64);
    *number = near->number;
    near->read += *count;
out:
    return st;
}

/* ---- what came of them ---- */

static void sink(double *heap, size_t count)
{
    double moved = heap[0];
    size_t at = 0;

    for (size_t kid; (kid = 2 * at + 1) < count; at = kid) {
        kid += kid + 1 < count && heap[kid + 1] < heap[kid];
        if (heap[kid] >= moved)
            break;
        heap[at] = heap[kid];
    }
    heap[at] = moved;
}

void near_saw(struct near *near, struct value distance)
{
    double score;
    size_t at;

    if (distance.kind != JSON_NUMBER)
        return;
    /* Doubtful items come first, and were not chosen: that they pass says nothing of how near others are. */
    if (near->read)
        near->passed++;
    score = vector_score_of(near->function, distance.number);
    if (is_full(near)) {
        if (score > near->best[0]) {
            near->best[0] = score;
            sink(near->best, near->best_count);
        }
        return;
    }
    at = near->best_count++;
    for (size_t parent; at && near->best[parent = (at - 1) / 2] > score; at = parent)
        near->best[at] = near->best[parent];
    near->best[at] = score;
}

/* Not when it stopped because too much was read. */
bool near_suffices(const struct near *near)
{
    if (!is_full(near))
        return false;
    return near->is_exact ? near->is_exhausted || is_enough(near)
                          : near->is_exhausted || near->read <= near->read_max;
}
