/* src/query/eval/rows.c - the rows of one SELECT. */
#include <assert.h>

#include "base/limits.h"
#include "query/eval/rows.h"
#include "query/eval/hashes.h"
#include "query/eval/truth.h"

struct walk {
    const struct select *select;
    row_sink *sink;
    void *context;
};

static bool walk_source(struct eval *eval, const struct walk *walk, size_t i);

/* All sources have their values: the filter decides, then the sink. What a refused row allocated is given back. */
static bool finish_row(struct eval *eval, const struct walk *walk)
{
    struct arena_mark mark = arena_mark(&eval->op->arena);
    const struct expr *where = walk->select->where;
    bool passed;

    if (!eval_spend(eval, eval->row_bytes))
        return false;
    passed = !where || eval_truth(eval, where) == JSON_TRUE;
    if (eval->status != ST_OK)
        return false;
    if (!passed) {
        arena_rewind(&eval->op->arena, mark);
        return true;
    }
    return walk->sink(eval, walk->context);
}

static bool walk_elements(struct eval *eval, const struct walk *walk, size_t i)
{
    const struct source *source = &walk->select->source[i];
    struct value array = eval_expr(eval, source->path);

    if (array.kind != JSON_ARRAY)
        return eval->status == ST_OK;
    for (struct json_iter element = json_iter(array.json); json_next(&element);) {
        eval->slot[source->slot] = value_from_json(element.value);
        if (!eval_spend(eval, 0) || !walk_source(eval, walk, i + 1))
            return false;
    }
    return true;
}

struct subwalk {
    const struct walk *walk;
    size_t source;
};

static bool walk_subquery_row(struct eval *eval, struct value value, void *context)
{
    const struct subwalk *sub = context;

    eval->slot[sub->walk->select->source[sub->source].slot] = value;
    return walk_source(eval, sub->walk, sub->source + 1);
}

static bool walk_source(struct eval *eval, const struct walk *walk, size_t i)
{
    const struct source *source = &walk->select->source[i];
    struct subwalk sub = { walk, i };

    if (i == walk->select->source_count)
        return finish_row(eval, walk);
    switch (source->kind) {
    case SOURCE_PATH:
        eval->slot[source->slot] = eval_expr(eval, source->path);
        if (eval->slot[source->slot].kind == JSON_UNDEFINED)
            return eval->status == ST_OK;
        return walk_source(eval, walk, i + 1);
    case SOURCE_ITERATE:
        return walk_elements(eval, walk, i);
    default:
        return rows_each(eval, source->select, walk_subquery_row, &sub);
    }
}

bool rows_walk(struct eval *eval, const struct select *select, size_t first, row_sink *sink, void *context)
{
    struct walk walk = { select, sink, context };

    assert(first <= select->source_count);
    return walk_source(eval, &walk, first);
}

static struct value project_list(struct eval *eval, const struct select *select)
{
    struct json_builder out;

    json_builder_init(&out, &eval->op->arena);
    json_begin_object(&out);
    for (size_t i = 0; i < select->item_count; i++) {
        struct value value = eval_plain(eval, eval_expr(eval, select->item[i].expr));

        if (value.kind == JSON_UNDEFINED)
            continue;
        json_add_name(&out, select->item[i].name);
        if (!eval_add(eval, &out, value))
            return value_undefined;
    }
    json_end(&out);
    return eval_built(eval, &out);
}

struct value rows_project(struct eval *eval, const struct select *select)
{
    assert(!select->star || select->source_count <= 1);
    assert(!select->value || select->item_count == 1);
    if (select->star && select->source_count) /* EXISTS(SELECT *) needs none, and has an empty row */
        return eval->slot[select->source[0].slot];
    if (select->value)
        return eval_expr(eval, select->item[0].expr);
    return project_list(eval, select);
}

struct each {
    const struct select *select;
    value_sink *sink;
    void *context;
    struct hashes seen;
    struct groups groups;
};

/* A projected value goes on to the sink when it is defined and, under DISTINCT, new. */
static bool give(struct eval *eval, struct each *each, struct value value)
{
    if (eval->status != ST_OK)
        return false;
    if (value.kind == JSON_UNDEFINED)
        return true;
    if (each->select->distinct) {
        int added;

        value = eval_plain(eval, value);
        added = hashes_add(&each->seen, value_hash(eval->op, value));
        if (added < 0)
            eval_fail(eval, ST_QUERY_MEMORY);
        if (added <= 0)
            return added == 0;
    }
    return each->sink(eval, value, each->context);
}

static bool project_row(struct eval *eval, void *context)
{
    struct each *each = context;

    return give(eval, each, rows_project(eval, each->select));
}

static bool group_row(struct eval *eval, void *context)
{
    struct each *each = context;
    struct arena_mark mark = arena_mark(&eval->op->arena);

    groups_add(eval, &each->groups, each->select, 0, 0, 1);
    arena_rewind(&eval->op->arena, mark);
    return eval->status == ST_OK;
}

/* Groups have memory of their own, which ends with them: what goes on to the sink is a copy. */
static bool give_groups(struct eval *eval, struct each *each)
{
    for (size_t i = 0; i < each->groups.count; i++) {
        groups_show(eval, each->groups.list[i], each->select);
        if (!give(eval, each, eval_copy(eval, rows_project(eval, each->select))))
            return false;
    }
    return true;
}

static bool each_group(struct eval *eval, struct each *each)
{
    struct arena memory;
    bool done;

    op_arena(eval->op, &memory, OP_MEMORY_BYTES_MAX);
    groups_init(eval, &each->groups, each->select, &memory);
    done =
        eval->status == ST_OK && rows_walk(eval, each->select, 0, group_row, each) && give_groups(eval, each);
    arena_free(&memory);
    return done;
}

bool rows_each(struct eval *eval, const struct select *select, value_sink *sink, void *context)
{
    struct each each = { select, sink, context, .seen = { .memory = &eval->op->arena } };

    if (select->group_count || select->aggregate_count)
        return each_group(eval, &each);
    return rows_walk(eval, select, 0, project_row, &each);
}
