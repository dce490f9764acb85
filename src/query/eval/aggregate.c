/* src/query/eval/aggregate.c - one value from many rows. */
#include <assert.h>

#include "query/eval/aggregate.h"
#include "query/eval/operator.h"

enum { AVG, COUNT, COUNTIF, MAKELIST, MAKESET, MAX, MIN, SUM, SUMPARTS };

#define AGGREGATE_ROW(name) name, 1, 1, NULL, NULL, AGGREGATE
#define LIST .feature = "ListAndSetAggregate", .keeps_order = true

static const struct builtin rows[] = {
    [AVG] = { AGGREGATE_ROW("AVG"), .aggregate = { "Average", SHAPE_AVERAGE } },
    [COUNT] = { AGGREGATE_ROW("COUNT"), .aggregate = { "Count", .counts = true } },
    [COUNTIF] = { AGGREGATE_ROW("COUNTIF"),
                  .aggregate = { "CountIf", .feature = "CountIf", .counts_true = true } },
    [MAKELIST] = { AGGREGATE_ROW("MAKELIST"), .aggregate = { "MakeList", LIST } },
    [MAKESET] = { AGGREGATE_ROW("MAKESET"), .aggregate = { "MakeSet", LIST } },
    [MAX] = { AGGREGATE_ROW("MAX"), .aggregate = { "Max", SHAPE_EXTREME, "max" } },
    [MIN] = { AGGREGATE_ROW("MIN"), .aggregate = { "Min", SHAPE_EXTREME, "min" } },
    [SUM] = { AGGREGATE_ROW("SUM"), .aggregate = { "Sum", .sums = true } },
    /* in texts that plans write for the client library: what SUM rounds, in doubles that it need not */
    [SUMPARTS] = { AGGREGATE_ROW("_SUMPARTS"),
                   .aggregate = { "MakeList", .feature = "ListAndSetAggregate" } },
};
const struct builtin_family builtins_aggregate = { rows, sizeof(rows) / sizeof(rows[0]) };

static void add_number(struct eval *eval, struct aggregate *state, struct value value, uint64_t times)
{
    if (value.kind != JSON_NUMBER)
        state->spoiled = true;
    else if (!exact_sum_add(&state->sum, state->memory, value, times))
        eval_fail(eval, ST_QUERY_MEMORY);
    state->count += times;
}

/* The best so far outlives its row, so its bytes are copied. */
static void keep_best(struct eval *eval, struct aggregate *state, struct value value)
{
    state->best = value;
    if (value.kind != JSON_STRING || value.string.size == 0)
        return;
    if (value.string.size > state->room_bytes) {
        state->room_bytes = 2 * value.string.size;
        state->room = arena_try_alloc(state->memory, state->room_bytes);
    }
    if (!state->room) {
        state->room_bytes = 0;
        eval_fail(eval, ST_QUERY_MEMORY);
        return;
    }
    memcpy(state->room, value.string.data, value.string.size);
    state->best.string.data = state->room;
}

static void add_extreme(struct eval *eval, struct aggregate *state, struct value value, int sign)
{
    if (value.kind >= JSON_ARRAY)
        state->spoiled = true;
    else if (state->count == 0 || sign * value_compare(value, state->best) > 0)
        keep_best(eval, state, value);
    state->count++;
}

static void add_to_list(struct eval *eval, struct aggregate *state, struct value value, bool once)
{
    struct json json = value_to_json(eval->op, value);

    if (json_kind(json) == JSON_UNDEFINED) {
        eval_fail(eval, ST_QUERY_MEMORY);
        return;
    }
    if (once) {
        int added;

        state->seen.memory = state->memory;
        added = hashes_add(&state->seen, json_hash_seeded(eval->op->seed, json));
        if (added < 0)
            eval_fail(eval, ST_QUERY_MEMORY);
        if (added <= 0)
            return;
    }
    if (!state->list.arena)
        buf_init(&state->list, state->memory);
    buf_slice(&state->list, json_bytes(json));
    if (state->list.failed)
        eval_fail(eval, ST_QUERY_MEMORY);
    state->count++;
}

void aggregate_add(struct eval *eval, struct aggregate *state, const struct builtin *function,
                   struct value value, uint64_t times)
{
    assert(function->flags & AGGREGATE);
    assert(state->memory); /* what is kept outlives the row */
    if (value.kind == JSON_UNDEFINED)
        return;
    switch (function - rows) {
    case COUNT:
        state->count += times;
        break;
    case COUNTIF:
        state->count += value.kind == JSON_TRUE ? times : 0;
        break;
    case SUM:
    case SUMPARTS:
    case AVG:
        add_number(eval, state, value, times);
        break;
    case MIN:
        add_extreme(eval, state, value, -1);
        break;
    case MAX:
        add_extreme(eval, state, value, 1);
        break;
    default:
        add_to_list(eval, state, value, function - rows == MAKESET);
    }
}

void aggregate_reset(struct aggregate *state)
{
    struct aggregate used = *state;

    *state = (struct aggregate){ .memory = used.memory,
                                 .room = used.room,
                                 .room_bytes = used.room_bytes,
                                 .list = used.list,
                                 .seen = used.seen };
    state->list.size = 0;
    state->seen.count = 0;
    if (state->seen.table)
        memset(state->seen.table, 0, state->seen.capacity * sizeof(*state->seen.table));
}

static struct value list_result(struct eval *eval, const struct aggregate *state)
{
    struct slice left = buf_as_slice(&state->list);
    struct json_builder out;

    json_builder_init(&out, &eval->op->arena);
    json_begin_array(&out);
    while (left.size) {
        struct json value = json_from_bytes(left);

        json_add(&out, value);
        left = slice_after(left, json_size(value));
    }
    json_end(&out);
    return eval_built(eval, &out);
}

static struct value parts_result(struct eval *eval, const struct aggregate *state)
{
    double part[EXACT_SUM_PARTS_MAX];
    size_t count = exact_sum_parts(&state->sum, part);
    struct json_builder out;

    json_builder_init(&out, &eval->op->arena);
    json_begin_array(&out);
    for (size_t i = 0; i < count; i++)
        json_add_double(&out, part[i]);
    json_end(&out);
    return eval_built(eval, &out);
}

struct value aggregate_result(struct eval *eval, const struct aggregate *state,
                              const struct builtin *function)
{
    assert(function->flags & AGGREGATE);
    if (state->spoiled)
        return value_undefined;
    switch (function - rows) {
    case COUNT:
    case COUNTIF:
        return value_int((int64_t)state->count);
    case SUM:
        return exact_sum_result(&state->sum);
    case SUMPARTS:
        return parts_result(eval, state);
    case AVG:
        return state->count ? operator_binary(OPERATOR_DIVIDE, exact_sum_result(&state->sum),
                                              value_int((int64_t)state->count))
                            : value_undefined;
    case MIN:
    case MAX:
        return state->count ? state->best : value_undefined;
    default:
        return list_result(eval, state);
    }
}
