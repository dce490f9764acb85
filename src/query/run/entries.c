/* src/query/run/entries.c - rows made from the terms of one path. */
#include <assert.h>

#include "index/set.h"
#include "query/plan/cost.h"
#include "query/plan/numbers.h"
#include "query/run/entries.h"

/* ---- COUNT alone ---- */

static void use_all(struct access *access)
{
    access->kid_used = access->kid_count;
    for (size_t i = 0; i < access->kid_count; i++)
        use_all(access->kid[i]);
}

static enum status count_gathered(struct entries_source *entries, const struct access *access)
{
    enum { ROOM = 64 * 1024 };
    struct numbers numbers = { 0 };
    struct arena memory;
    enum status st;

    cursor_memory(entries->rows, &memory);
    entries->missing = 0;
    do {
        arena_reset(&memory);
        TRY(numbers_gather(entries->planner, &memory, access, numbers.end, ROOM, &numbers));
        entries->missing += numbers.count;
    } while (numbers.end != numbers_end);
out:
    arena_free(&memory);
    return st;
}

/* How many items there are, or the access gives: one row stands for all of them, and has nothing of theirs. */
static enum status count_items(struct entries_source *entries, struct access *access)
{
    const struct query_index *index = entries->planner->index;

    entries->missing = index->documents;
    if (!access)
        return ST_OK;
    if (covered_is_counted(access))
        return index_count(entries->planner->op, index->view, access->from, access->to, &entries->missing);
    use_all(access);
    return count_gathered(entries, access);
}

/* ---- the source ---- */

static enum status open_cursor(struct entries_source *entries, bool reverse)
{
    struct index_walk walk = { entries->plan->walk.from, entries->plan->walk.to, 0, UINT64_MAX, reverse };

    index_cursor_close(entries->cursor);
    entries->cursor = NULL;
    entries->picking = false; /* the numbers of its last block are gone */
    entries->turned = reverse;
    entries->passed_before = entries->rows->passed;
    return index_cursor_open(entries->rows->eval.op, entries->planner->index->view, &walk, &entries->cursor);
}

/* {"a":{"b":value}}, or {} without a value. */
static struct json make_body(struct op *op, const struct item_path *path, struct json value)
{
    struct json_builder body;
    size_t depth = value.at ? path->count : 0;

    json_builder_init(&body, &op->arena);
    json_begin_object(&body);
    for (size_t i = 0; i < depth; i++) {
        json_add_name(&body, path->step[i].name);
        if (i + 1 < depth)
            json_begin_object(&body);
        else
            json_add(&body, value);
    }
    for (size_t i = 1; i < depth; i++)
        json_end(&body);
    json_end(&body);
    return json_built(&body);
}

static uint64_t least_counter(const struct index_block *block)
{
    uint64_t least = UINT64_MAX;

    for (size_t i = 0; i < block->count; i++)
        if (number_counter(block->number[i]) < least)
            least = number_counter(block->number[i]);
    return least;
}

/* Items without the path, once, at the end. */
static enum status give_missing(struct op *op, struct entries_source *entries, struct query_row *row,
                                bool *found)
{
    *found = entries->missing > 0;
    row->weight = entries->missing;
    entries->missing = 0;
    row->body = make_body(op, &entries->plan->path, json_undefined);
    return ST_OK;
}

static enum status give_term(struct op *op, struct entries_source *entries, const struct index_block *block,
                             struct query_row *row, bool *found)
{
    struct slice value = slice_after(block->term, TERM_PATH_BYTES);
    enum status st = ST_OK;

    entries->is_cut = ordered_is_hashed(value) && value.data[0] == JSON_STRING + 1;
    if (ordered_is_hashed(value)) {
        entries->picking = true;
        TRY(entries->items->pick(op, entries->items, block->number, block->count));
        goto out;
    }
    row->weight = block->count;
    row->counter = least_counter(block);
    row->number = block->number[0];
    row->body = make_body(op, &entries->plan->path, ordered_decode(op, value));
    *found = true;
out:
    return st;
}

/* From one end something has passed: then from the other. Strings that are cut lie in no order, so they do not end it. */
static enum status turn(struct entries_source *entries, bool *ended)
{
    *ended = false;
    if (entries->is_cut)
        entries->passed_before = entries->rows->passed;
    if (entries->plan->kind != COVERED_ENDS || entries->rows->passed == entries->passed_before)
        return ST_OK;
    *ended = entries->turned;
    return *ended ? ST_OK : open_cursor(entries, true);
}

static enum status terms_next(struct op *op, struct query_source *source, struct query_row *row, bool *found)
{
    struct entries_source *entries = (struct entries_source *)source;
    struct index_block block;
    bool ended;
    enum status st = ST_OK;

    for (*found = false; !*found;) {
        TRY(turn(entries, &ended));
        if (ended)
            break;
        entries->is_real = entries->picking;
        if (entries->picking) {
            TRY(entries->items->next(op, entries->items, row, found));
            entries->picking = *found;
            continue;
        }
        TRY(index_cursor_next(op, entries->cursor, &block));
        TRY(op_spend(op, 1 + block.count / ENTRIES_OF_A_STEP));
        if (block.count == 0) {
            st = give_missing(op, entries, row, found);
            break;
        }
        TRY(give_term(op, entries, &block, row, found));
    }
    row->source = source;
out:
    return st;
}

/* One row that stands for all that are counted. */
static enum status count_next(struct op *op, struct query_source *source, struct query_row *row, bool *found)
{
    struct entries_source *entries = (struct entries_source *)source;

    return give_missing(op, entries, row, found);
}

static enum status entries_seek(struct op *op, struct query_source *source, uint64_t after)
{
    (void)op, (void)source, (void)after; /* gathered rows are read whole, from the beginning, once */
    return ST_OK;
}

static struct json entries_system(struct query_source *source, const struct query_row *row,
                                  struct arena *memory)
{
    struct entries_source *entries = (struct entries_source *)source;
    struct json_builder none;

    if (entries->is_real && entries->items->system)
        return entries->items->system(entries->items, row, memory);
    json_builder_init(&none, memory);
    json_begin_object(&none);
    json_end(&none);
    return json_built(&none);
}

enum status entries_open(struct entries_source *entries, const struct covered *plan, struct planner *planner,
                         const struct cursor *rows, struct query_source *items)
{
    assert(plan->kind != COVERED_NOT);
    *entries = (struct entries_source){
        .base = { .next = terms_next, .seek = entries_seek, .system = entries_system },
        .plan = plan,
        .planner = planner,
        .rows = rows,
        .items = items,
        .missing = plan->missing
    };
    if (plan->kind != COVERED_COUNT)
        return open_cursor(entries, false);
    entries->base.next = count_next;
    return count_items(entries, plan->counted);
}

void entries_close(struct entries_source *entries)
{
    index_cursor_close(entries->cursor);
}
