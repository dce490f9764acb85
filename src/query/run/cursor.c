/* src/query/run/cursor.c - walking the rows of a statement, item by item. */
#include <assert.h>

#include "base/limits.h"
#include "query/run/cursor.h"

/* A page that takes long ends with what it has, where it can. */
enum { PAGE_MS_MAX = 2000, ITEMS_BETWEEN_LOOKS = 256 };

/* So many times as fast as functions look at their arguments, where they are slow. */
enum { LOOKED_AT_TIMES = 16 };

void cursor_memory(const struct cursor *cursor, struct arena *memory)
{
    op_arena(cursor->eval.op, memory, OP_MEMORY_BYTES_MAX);
}

/* What is kept lies in the cursor: it stays where it is until it is closed. */
void cursor_open(struct cursor *cursor, struct op *op, struct query *query, const struct select *select)
{
    *cursor = (struct cursor){ .select = select };
    cursor->eval = query_eval(op, query);
    cursor_memory(cursor, &cursor->kept);
    cursor_memory(cursor, &cursor->item_memory);
    cursor->eval.kept = &cursor->kept;
    cursor->eval.item = &cursor->item_memory;
}

void cursor_close(struct cursor *cursor)
{
    arena_free(&cursor->kept);
    arena_free(&cursor->item_memory);
}

enum status cursor_seek(struct cursor *cursor, uint64_t after)
{
    return cursor->source->seek(cursor->eval.op, cursor->source, after);
}

enum status cursor_pick(struct cursor *cursor, const uint64_t *number, size_t count)
{
    assert(cursor->source->pick);
    return cursor->source->pick(cursor->eval.op, cursor->source, number, count);
}

enum status cursor_fail(struct cursor *cursor, enum status why)
{
    assert(why != ST_OK);
    eval_fail(&cursor->eval, why);
    return cursor_status(cursor);
}

static enum status next_item(struct cursor *cursor, bool *found)
{
    arena_reset(&cursor->item_memory);
    cursor->item = (struct query_row){ .source = cursor->source, .weight = 1 };
    cursor->index = 0;
    return cursor->source->next(cursor->eval.op, cursor->source, &cursor->item, found);
}

struct value cursor_item(const struct query_source *source, struct query_row *item)
{
    if (!source->system)
        return value_from_json(item->body);
    return (struct value){ .kind = JSON_OBJECT, .is_row = true, .row = item };
}

static bool is_long(const struct cursor *cursor, int64_t began_ms)
{
    return env_monotonic_ms(cursor->eval.op->env) - began_ms > PAGE_MS_MAX;
}

/* Each expression may look at all of the item, at some GB a second. */
static size_t bytes_looked_at(const struct cursor *cursor)
{
    const struct eval *eval = &cursor->eval;

    return eval->op->may_block ? 0 : json_size(cursor->item.body) / LOOKED_AT_TIMES * eval->nodes;
}

/* The rows that an item makes. Of what is gathered an item is a row of the first source, or an array of them. */
static bool walk_item(struct cursor *cursor, row_sink *sink, void *context)
{
    const struct select *select = cursor->select;
    struct eval *eval = &cursor->eval;
    struct value item = cursor_item(cursor->source, &cursor->item);
    int slot = select->whole ? select->source[0].slot : SLOT_ROOT;

    eval->row_bytes = bytes_looked_at(cursor);
    if (!select->whole || select->source[0].kind != SOURCE_ITERATE) {
        eval->slot[slot] = item;
        return rows_walk(eval, select, select->whole ? 1 : 0, sink, context);
    }
    if (item.kind != JSON_ARRAY)
        return true;
    for (struct json_iter element = json_iter(item.json); json_next(&element);) {
        eval->slot[slot] = value_from_json(element.value);
        if (!eval_spend(eval, 0) || !rows_walk(eval, select, 1, sink, context))
            return false;
    }
    return true;
}

enum status cursor_walk(struct cursor *cursor, size_t scanned_max, row_sink *sink, void *context, bool *ended)
{
    struct eval *eval = &cursor->eval;
    int64_t began_ms = env_monotonic_ms(eval->op->env);
    bool found = true;

    assert(cursor_status(cursor) == ST_OK);
    *ended = false;
    for (size_t scanned = 0; scanned_max == 0 || scanned < scanned_max; scanned++) {
        struct arena_mark mark = arena_mark(&eval->op->arena);
        enum status st = next_item(cursor, &found);

        if (st != ST_OK)
            return cursor_fail(cursor, st);
        *ended = !found;
        if (!found)
            break;
        if (!walk_item(cursor, sink, context))
            break;
        arena_rewind(&eval->op->arena, mark);
        if (scanned_max && scanned % ITEMS_BETWEEN_LOOKS == 0 && is_long(cursor, began_ms))
            break;
    }
    return cursor_status(cursor);
}
