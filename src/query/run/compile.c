/* src/query/run/compile.c - a query: parsed, bound, folded; and its value for one document. */
#include "query/bind/fold.h"
#include "query/run/compile.h"
#include "query/text/parse.h"

/*
 * Of everything but the filter: clients that merge ranges go on with a continuation of ours and a filter
 * that leaves out what they have had.
 */
static uint64_t hash_of(struct op *op, struct select *select, struct json parameters)
{
    struct arena_mark mark = arena_mark(&op->arena);
    struct expr *where = select->where;
    struct hash128 parts[2];
    struct buf text;

    select->where = NULL;
    buf_init(&text, &op->arena);
    query_print(&text, select);
    select->where = where;
    parts[0] = murmur3_128(text.data, text.size);
    parts[1] = json_hash(parameters);
    arena_rewind(&op->arena, mark);
    return murmur3_128(parts, sizeof(parts)).h1;
}

struct eval query_eval(struct op *op, struct query *query)
{
    struct value *values =
        arena_alloc(&op->arena, (size_t)(query->bound.slots + query->bound.results) * sizeof(struct value));

    for (int i = 0; i < query->bound.slots + query->bound.results; i++)
        values[i] = value_undefined;
    return (struct eval){ .op = op,
                          .run = ++query->runs,
                          .kept = &op->arena,
                          .nodes = query->bound.nodes,
                          .static_ticks = op->now_ms * 10000,
                          .planar = query->options.planar,
                          .udf = query->options.udf,
                          .udf_told = query->options.udf_told,
                          .udf_context = query->options.udf_context,
                          .slot = values,
                          .result = values + query->bound.slots };
}

enum status query_compile(struct op *op, struct slice text, struct json parameters,
                          const struct query_options *options, struct query **query)
{
    struct query *made = arena_alloc(&op->arena, sizeof(*made));
    struct parameters given;
    struct eval eval;
    enum status st;

    *made = (struct query){ .options = *options };
    TRY(query_read_parameters(op, parameters, &given));
    TRY(options->is_condition ? query_parse_condition(op, text, &made->select)
                              : query_parse(op, text, &made->select));
    made->hash = hash_of(op, made->select, parameters);
    TRY(query_bind(op, made->select, &given, &made->options, text, &made->bound));
    eval = query_eval(op, made);
    fold_select(&eval, made->select);
    TRY(eval.status);
    *query = made;
out:
    return st;
}

enum status query_value(struct op *op, struct query *query, struct json document, struct value *value)
{
    const struct select *select = query->select;
    struct eval eval = query_eval(op, query);

    eval.item = &op->arena;
    eval.slot[SLOT_ROOT] = eval.slot[select->source[0].slot] = value_from_json(document);
    *value = eval_expr(&eval, select->item[0].expr);
    return eval.status;
}

const struct select *query_select(const struct query *query)
{
    return query->select;
}

bool query_takes_nothing(const struct query *query)
{
    const struct expr *top = query->select->top;

    return top && top->value.integer == 0;
}

bool query_gathers(const struct query *query)
{
    return query->select->whole;
}

void query_gathers_elsewhere(struct query *query)
{
    query->gathers_elsewhere = true;
}

bool query_joins(const struct query *query)
{
    const struct select *select = query->select;

    return select->distinct || select->group_count || select->aggregate_count;
}

bool query_is_of_each(const struct query *query)
{
    const struct select *select = query->select;

    return !query_joins(query) && !query_gathers(query) && !select->order_count && !select->top &&
           !select->offset && !select->limit && select->source_count > 0;
}

uint64_t query_hash(const struct query *query)
{
    return query->hash;
}
