/* src/query/run/covered.c - which statements look at one path only, and rows made from its terms. */
#include "index/set.h"
#include "query/bind/fold.h"
#include "query/eval/aggregate.h"
#include "query/plan/composite.h"
#include "query/plan/cost.h"
#include "query/run/run_private.h"

/* ---- what a statement looks at ---- */

struct looking {
    struct alias alias;
    struct item_path path;
    bool has_path;
};

static bool same_path(const struct item_path *a, const struct item_path *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!slice_equal(a->step[i].name, b->step[i].name))
            return false;
    return true;
}

/* A path of members, the same as before. */
static bool is_the_path(struct looking *looking, const struct item_path *path)
{
    if (path->count == 0 || path->traits.has_place || path->traits.has_elements || path->traits.computed)
        return false;
    if (looking->has_path)
        return same_path(&looking->path, path);
    looking->path = *path;
    looking->has_path = true;
    return true;
}

/* Whether the expression needs nothing of an item but its value at the path. */
static bool looks_at_path(struct looking *looking, const struct expr *expr)
{
    static const unsigned flags = NOT_CONSTANT | TAKES_ROW;
    struct item_path path = { .count = 0 };

    if (expr->instead)
        return expr->instead->kind == EXPR_LITERAL || expr->instead->kind == EXPR_RESULT;
    if (item_path_of(&looking->alias, expr, &path))
        return is_the_path(looking, &path);
    if (expr->kind == EXPR_NAME || expr->kind == EXPR_UDF || expr->select ||
        (expr->kind == EXPR_CALL && expr->builtin->flags & flags))
        return false;
    for (size_t i = 0; i < expr->kid_count; i++)
        if (!looks_at_path(looking, expr->kid[i]))
            return false;
    return true;
}

static bool select_looks_at_path(struct looking *looking, const struct select *select)
{
    if (select->where && !looks_at_path(looking, select->where))
        return false;
    for (size_t i = 0; i < select->group_count; i++)
        if (!looks_at_path(looking, select->group[i]))
            return false;
    for (size_t i = 0; i < select->item_count; i++)
        if (!looks_at_path(looking, select->item[i].expr))
            return false;
    for (size_t i = 0; i < select->aggregate_count; i++)
        if (select->aggregate[i]->builtin->aggregate.keeps_order)
            return false;
    return !select->star;
}

/* FROM c, and rows that are gathered. */
static bool is_simple(const struct select *select)
{
    const struct source *first = select->source;

    return select->source_count == 1 && first->kind == SOURCE_PATH && first->path->kind == EXPR_NAME &&
           first->path->slot == SLOT_ROOT && select->order_count == 0 &&
           (select->aggregate_count || select->group_count || select->distinct);
}

/* ---- COUNT alone ---- */

static bool only_counts(const struct select *select)
{
    struct value value;

    for (size_t i = 0; i < select->aggregate_count; i++)
        if (!select->aggregate[i]->builtin->aggregate.counts ||
            !fold_constant(select->aggregate[i]->kid[0], &value) || value.kind == JSON_UNDEFINED)
            return false;
    return select->aggregate_count && select->group_count == 0;
}

/* The items that are counted: those of the filter, of the scope's own key. NULL: all there are. */
static bool count_is_exact(struct run *run, struct access **counted)
{
    struct planner *planner = &run->planner;
    struct access *access = run->select->where ? run->access : NULL;

    if (access && (access->kind == ACCESS_ANY || !access->exact))
        return false;
    *counted = access ? run->picks : NULL;
    if (planner->index->is_whole)
        return !*counted || (*counted)->exact;
    if (!planner->index->key_is_scope || planner->key->kind == ACCESS_ANY || !planner->key->exact)
        return false;
    *counted = access ? access_and(planner, planner->key, access) : planner->key;
    *counted = access_with_composites(planner, *counted);
    return (*counted)->exact;
}

static void use_all(struct access *access)
{
    access->kid_used = access->kid_count;
    for (size_t i = 0; i < access->kid_count; i++)
        use_all(access->kid[i]);
}

/* One entry an item: a term has each once, and a path without elements one term an item. */
static bool counts_items(const struct access *access)
{
    bool has_elements = false;

    for (size_t i = 0; i < access->path.count; i++)
        has_elements |= access->path.step[i].element;
    return access->kind == ACCESS_RANGE && (access->one_term || !has_elements);
}

static enum status count_gathered(struct run *run, const struct access *access, uint64_t *count)
{
    enum { ROOM = 64 * 1024 };
    struct numbers numbers = { 0 };
    struct arena memory;
    enum status st;

    run_memory(run, &memory);
    *count = 0;
    do {
        arena_reset(&memory);
        TRY(numbers_gather(&run->planner, &memory, access, numbers.end, ROOM, &numbers));
        *count += numbers.count;
    } while (numbers.end != numbers_end);
out:
    arena_free(&memory);
    return st;
}

static enum status count_items(struct run *run, struct access *access, uint64_t *count)
{
    const struct query_index *index = run->planner.index;

    *count = index->documents;
    if (!access)
        return ST_OK;
    if (counts_items(access))
        return index_count(run->eval.op, index->view, access->from, access->to, count);
    use_all(access);
    return count_gathered(run, access, count);
}

/* ---- rows from terms ---- */

/* Items without the path are one row more, in which it is undefined. Of a group it is not known when that was first made. */
static bool wants_missing(struct run *run, bool *harmful)
{
    const struct select *select = run->select;
    struct json_builder empty;
    bool passes, shows;

    json_builder_init(&empty, &run->eval.op->arena);
    json_begin_object(&empty);
    json_end(&empty);
    run->eval.slot[SLOT_ROOT] = run->eval.slot[select->source[0].slot] = value_from_json(json_built(&empty));
    passes = !select->where || eval_expr(&run->eval, select->where).kind == JSON_TRUE;
    shows = select->group_count ||
            (select->aggregate_count == 0 && rows_project(&run->eval, select).kind != JSON_UNDEFINED);
    *harmful = passes && shows;
    return passes && select->aggregate_count && !select->group_count;
}

static enum status find_missing(struct covered_source *covered)
{
    struct run *run = covered->run;
    struct order_walk *walk = &covered->walk;
    struct slice end = index_prefix_end(&run->eval.op->arena, walk->prefix);
    uint64_t entries;
    bool harmful, wanted;
    enum status st = ST_OK;

    if (!walk->needs_value)
        return ST_OK;
    TRY(index_count(run->eval.op, run->planner.index->view, walk->prefix, end, &entries));
    wanted = wants_missing(run, &harmful);
    if (entries < run->planner.index->documents && harmful)
        covered->kind = COVERED_NOT;
    else if (wanted)
        covered->missing = run->planner.index->documents - entries;
out:
    return st;
}

/* MIN and MAX of the path itself: what lies between its first and its last value does not matter. */
static bool only_ends(const struct select *select, const struct looking *looking)
{
    for (size_t i = 0; i < select->aggregate_count; i++) {
        const struct expr *call = select->aggregate[i];
        struct item_path path = { .count = 0 };

        if (call->builtin->aggregate.shape != SHAPE_EXTREME ||
            !item_path_of(&looking->alias, call->kid[0], &path))
            return false;
    }
    return select->aggregate_count && select->group_count == 0;
}

static enum status choose_terms(struct run *run, struct covered_source *covered)
{
    const struct source *first = run->select->source;
    struct looking looking = { .alias = { .slot = first->slot, .path = first->path } };
    enum status st = ST_OK;

    if (!run->planner.index->is_whole || !select_looks_at_path(&looking, run->select) || !looking.has_path ||
        !order_path_walk(&run->planner, &looking.path, run->access, &covered->walk))
        return ST_OK;
    covered->path = looking.path;
    covered->kind = only_ends(run->select, &looking) ? COVERED_ENDS : COVERED_TERMS;
    TRY(find_missing(covered));
out:
    return st;
}

enum status covered_choose(struct run *run, struct covered_source *covered)
{
    *covered = (struct covered_source){ .run = run, .items = run->source };
    if (run->planner.index->hides || !is_simple(run->select))
        return ST_OK;
    if (only_counts(run->select) && count_is_exact(run, &covered->counted)) {
        covered->kind = COVERED_COUNT;
        return ST_OK;
    }
    return choose_terms(run, covered);
}

enum status covered_cost(struct covered_source *covered, double *cost)
{
    struct run *run = covered->run;
    struct access *access = covered->counted;
    struct cost reading;
    uint64_t entries;
    enum status st = ST_OK;

    *cost = 2 * cost_of_lookup;
    if (covered->kind == COVERED_TERMS) {
        TRY(index_estimate(run->eval.op, run->planner.index->view, covered->walk.from, covered->walk.to,
                           &entries));
        *cost += (double)entries * cost_of_covered;
    } else if (covered->kind == COVERED_COUNT && access && !counts_items(access)) {
        TRY(cost_access(&run->planner, access, (double)run->planner.index->documents, &reading));
        *cost += reading.work;
    }
out:
    return st;
}

/* ---- the source ---- */

static enum status open_cursor(struct covered_source *covered, bool reverse)
{
    struct index_walk walk = { covered->walk.from, covered->walk.to, 0, UINT64_MAX, reverse };

    index_cursor_close(covered->cursor);
    covered->cursor = NULL;
    covered->picking = false; /* the numbers of its last block are gone */
    covered->turned = reverse;
    covered->passed_before = covered->run->passed;
    return index_cursor_open(covered->run->eval.op, covered->run->planner.index->view, &walk,
                             &covered->cursor);
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
static enum status give_missing(struct op *op, struct covered_source *covered, struct query_row *row,
                                bool *found)
{
    *found = covered->missing > 0;
    row->weight = covered->missing;
    covered->missing = 0;
    row->body = make_body(op, &covered->path, json_undefined);
    return ST_OK;
}

static enum status give_term(struct op *op, struct covered_source *covered, const struct index_block *block,
                             struct query_row *row, bool *found)
{
    struct slice value = slice_after(block->term, TERM_PATH_BYTES);
    enum status st = ST_OK;

    covered->is_cut = ordered_is_hashed(value) && value.data[0] == JSON_STRING + 1;
    if (ordered_is_hashed(value)) {
        covered->picking = true;
        TRY(covered->items->pick(op, covered->items, block->number, block->count));
        goto out;
    }
    row->weight = block->count;
    row->counter = least_counter(block);
    row->number = block->number[0];
    row->body = make_body(op, &covered->path, ordered_decode(op, value));
    *found = true;
out:
    return st;
}

/* From one end something has passed: then from the other. Strings that are cut lie in no order, so they do not end it. */
static enum status turn(struct covered_source *covered, bool *ended)
{
    *ended = false;
    if (covered->is_cut)
        covered->passed_before = covered->run->passed;
    if (covered->kind != COVERED_ENDS || covered->run->passed == covered->passed_before)
        return ST_OK;
    *ended = covered->turned;
    return *ended ? ST_OK : open_cursor(covered, true);
}

static enum status terms_next(struct op *op, struct query_source *source, struct query_row *row, bool *found)
{
    struct covered_source *covered = (struct covered_source *)source;
    struct index_block block;
    bool ended;
    enum status st = ST_OK;

    for (*found = false; !*found;) {
        TRY(turn(covered, &ended));
        if (ended)
            break;
        covered->is_real = covered->picking;
        if (covered->picking) {
            TRY(covered->items->next(op, covered->items, row, found));
            covered->picking = *found;
            continue;
        }
        TRY(index_cursor_next(op, covered->cursor, &block));
        TRY(op_check(op));
        if (block.count == 0) {
            st = give_missing(op, covered, row, found);
            break;
        }
        TRY(give_term(op, covered, &block, row, found));
    }
    row->source = source;
out:
    return st;
}

/* One row that stands for all that are counted. */
static enum status count_next(struct op *op, struct query_source *source, struct query_row *row, bool *found)
{
    struct covered_source *covered = (struct covered_source *)source;

    return give_missing(op, covered, row, found);
}

static enum status covered_seek(struct op *op, struct query_source *source, uint64_t after)
{
    (void)op, (void)source, (void)after; /* gathered rows are read whole, from the beginning, once */
    return ST_OK;
}

static struct json covered_system(struct query_source *source, const struct query_row *row,
                                  struct arena *memory)
{
    struct covered_source *covered = (struct covered_source *)source;
    struct json_builder none;

    if (covered->is_real && covered->items->system)
        return covered->items->system(covered->items, row, memory);
    json_builder_init(&none, memory);
    json_begin_object(&none);
    json_end(&none);
    return json_built(&none);
}

enum status covered_open(struct covered_source *covered)
{
    struct run *run = covered->run;
    enum status st;

    covered->base =
        (struct query_source){ .next = terms_next, .seek = covered_seek, .system = covered_system };
    if (covered->kind != COVERED_COUNT)
        return open_cursor(covered, false);
    covered->base.next = count_next;
    TRY(count_items(run, covered->counted, &covered->missing));
    run->unfiltered = *run->select;
    run->unfiltered.where = NULL; /* it has been counted in */
    run->select = &run->unfiltered;
out:
    return st;
}

void covered_close(struct covered_source *covered)
{
    index_cursor_close(covered->cursor);
}
