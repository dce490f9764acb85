/* src/query/run/ahead.c - blocks of items, and the function calls that they will make. */
#include "query/run/ahead.h"

/* One item at first, because many queries end soon. */
enum { BLOCK_ITEMS_MAX = 256, BLOCK_GROWTH = 8, BLOCK_BYTES = 1024 * 1024 };

struct ahead {
    struct query_source base;
    struct query_source *inner;
    struct cursor *cursor;
    const struct query_options *options;
    bool projects;       /* the select list is about rows, not groups: its calls can be told, too */
    struct arena memory; /* of the block */
    struct query_row item[BLOCK_ITEMS_MAX];
    size_t count, at, wanted;
};

/* ---- telling ---- */

static bool pass_over(struct eval *eval, void *context)
{
    const struct ahead *ahead = context;

    if (ahead->projects)
        (void)rows_project(eval, ahead->cursor->select);
    return eval->status == ST_OK;
}

/* What goes wrong here goes wrong again when it counts. */
static void tell_calls(struct ahead *ahead, struct query_row *item)
{
    struct eval *eval = &ahead->cursor->eval;
    struct arena_mark mark = arena_mark(&eval->op->arena);

    eval->slot[SLOT_ROOT] = cursor_item(&ahead->base, item);
    eval->tells = true;
    rows_walk(eval, ahead->cursor->select, 0, pass_over, ahead);
    eval->tells = false;
    eval->status = ST_OK;
    arena_rewind(&eval->op->arena, mark);
}

/* ---- the block ---- */

static enum status keep(struct ahead *ahead, const struct query_row *found)
{
    struct slice body = json_bytes(found->body);
    char *copy = arena_try_alloc(&ahead->memory, body.size);
    struct query_row *item = &ahead->item[ahead->count];

    if (!copy)
        return op_fail_as(ahead->cursor->eval.op, ST_QUERY_MEMORY);
    memcpy(copy, body.data, body.size);
    *item = *found;
    item->source = &ahead->base;
    item->item = NULL;
    item->body = json_from_bytes(slice_make(copy, body.size));
    if (ahead->inner->system) {
        item->system = ahead->inner->system(ahead->inner, found, &ahead->memory);
        if (json_kind(item->system) == JSON_UNDEFINED)
            return op_fail_as(ahead->cursor->eval.op, ST_QUERY_MEMORY);
    }
    ahead->count++;
    return ST_OK;
}

/* `blank` is a row as its reader has prepared it. */
static enum status fill(struct op *op, struct ahead *ahead, const struct query_row *blank)
{
    const struct query_options *options = ahead->options;
    bool found = true;
    enum status st = ST_OK;

    arena_reset(&ahead->memory);
    ahead->count = ahead->at = 0;
    while (ahead->count < ahead->wanted && ahead->memory.used_bytes < BLOCK_BYTES) {
        struct query_row item = *blank;

        item.source = ahead->inner;
        TRY(ahead->inner->next(op, ahead->inner, &item, &found));
        if (!found)
            break;
        TRY(keep(ahead, &item));
    }
    if (ahead->wanted < BLOCK_ITEMS_MAX)
        ahead->wanted =
            ahead->wanted * BLOCK_GROWTH < BLOCK_ITEMS_MAX ? ahead->wanted * BLOCK_GROWTH : BLOCK_ITEMS_MAX;
    for (size_t i = 0; i < ahead->count && ahead->count > 1; i++)
        tell_calls(ahead, &ahead->item[i]);
    if (ahead->count > 1)
        TRY(options->udf_settle(op, options->udf_context));
out:
    return st;
}

static enum status next(struct op *op, struct query_source *source, struct query_row *item, bool *found)
{
    struct ahead *ahead = (struct ahead *)source;
    enum status st = ST_OK;

    if (ahead->at == ahead->count)
        TRY(fill(op, ahead, item));
    *found = ahead->at < ahead->count;
    if (*found)
        *item = ahead->item[ahead->at++];
out:
    return st;
}

static enum status seek(struct op *op, struct query_source *source, uint64_t after)
{
    struct ahead *ahead = (struct ahead *)source;

    ahead->count = ahead->at = 0;
    return ahead->inner->seek(op, ahead->inner, after);
}

static struct json system_of(struct query_source *source, const struct query_row *item, struct arena *memory)
{
    (void)source, (void)memory;
    return item->system;
}

struct query_source *ahead_open(struct cursor *cursor, const struct query_options *options,
                                struct ahead **ahead)
{
    struct query_source *inner = cursor->source;
    struct ahead *made = arena_alloc(&cursor->eval.op->arena, sizeof(*made));

    *made = (struct ahead){
        .base = { .next = next,
                  .seek = seek,
                  .system = inner->system ? system_of : NULL,
                  .apart = inner->apart },
        .inner = inner,
        .cursor = cursor,
        .options = options,
        .projects = cursor->select->group_count == 0 && cursor->select->aggregate_count == 0,
        .wanted = 1,
    };
    cursor_memory(cursor, &made->memory);
    *ahead = made;
    return &made->base;
}

void ahead_close(struct ahead *ahead)
{
    if (ahead)
        arena_free(&ahead->memory);
}
