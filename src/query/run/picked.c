/* src/query/run/picked.c - items picked by the numbers that an access gives. */
#include "base/limits.h"
#include "query/run/picked.h"

/* Few numbers at first, because many pages end soon; then many, because gathering has its price. */
enum { ROOM_FIRST = 2048, ROOM_MAX = 64 * 1024 };

/* Until there are some, or there are no more. */
static enum status gather_more(struct op *op, struct picked_source *picked)
{
    enum status st = ST_OK;

    do {
        arena_reset(&picked->memory);
        TRY(numbers_gather(picked->planner, &picked->memory, picked->access, picked->next, picked->room,
                           &picked->numbers));
        picked->next = picked->numbers.end;
        picked->room = ROOM_MAX;
    } while (picked->numbers.count == 0 && picked->next != numbers_end);
    TRY(picked->items->pick(op, picked->items, picked->numbers.number, picked->numbers.count));
out:
    return st;
}

static enum status picked_next(struct op *op, struct query_source *source, struct query_row *row, bool *found)
{
    struct picked_source *picked = (struct picked_source *)source;
    enum status st = ST_OK;

    for (;;) {
        *found = false;
        if (picked->numbers.count)
            TRY(picked->items->next(op, picked->items, row, found));
        if (*found || picked->next == numbers_end)
            break;
        TRY(gather_more(op, picked));
    }
    row->source = source;
out:
    return st;
}

static enum status picked_seek(struct op *op, struct query_source *source, uint64_t after)
{
    struct picked_source *picked = (struct picked_source *)source;

    (void)op;
    picked->numbers = (struct numbers){ 0 };
    picked->next = after ? after + 1 : 0;
    picked->room = ROOM_FIRST;
    return ST_OK;
}

static struct json picked_system(struct query_source *source, const struct query_row *row,
                                 struct arena *memory)
{
    struct picked_source *picked = (struct picked_source *)source;

    return picked->items->system(picked->items, row, memory);
}

static bool picked_system_one(struct query_source *source, const struct query_row *row, struct slice name,
                              struct arena *memory, struct json *value)
{
    struct picked_source *picked = (struct picked_source *)source;

    return picked->items->system_one(picked->items, row, name, memory, value);
}

static void picked_print_system(struct query_source *source, const struct query_row *row, struct buf *out)
{
    struct picked_source *picked = (struct picked_source *)source;

    picked->items->print_system(picked->items, row, out);
}

void picked_open(struct op *op, struct picked_source *picked, struct planner *planner,
                 struct query_source *items, const struct access *access)
{
    *picked = (struct picked_source){ .base = { .next = picked_next, .seek = picked_seek },
                                      .items = items,
                                      .planner = planner,
                                      .access = access,
                                      .room = ROOM_FIRST };
    if (items->system)
        picked->base.system = picked_system;
    if (items->system_one)
        picked->base.system_one = picked_system_one;
    if (items->print_system)
        picked->base.print_system = picked_print_system;
    op_arena(op, &picked->memory, OP_MEMORY_BYTES_MAX);
}

void picked_close(struct picked_source *picked)
{
    arena_free(&picked->memory);
}
