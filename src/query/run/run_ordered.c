/*
 * src/query/run/run_ordered.c - ORDER BY from an index: its terms are walked from where the last page ended, and items
 * picked a few at a time. The order is that of run_sorted.c, which goes on where the terms do not tell it:
 * at strings that are cut, and for items that lack the path when they come last.
 */
#include "index/set.h"
#include "query/plan/order.h"
#include "query/run/run_private.h"

/* Items to be picked at a time: as many as rows are wanted, then more, because a filter may let few pass. */
enum { BATCH_LEAST = 4, BATCH_FIRST_MAX = 128, BATCH_MAX = 1024 };

/* Numbers of one term that are turned round; of more, sorting takes over. */
enum { TIES_MAX = 64 * 1024 };

enum { TERM_BYTES_MAX = TERM_PATH_BYTES + INDEX_PARTS_MAX * ORDERED_BYTES_MAX };

struct ordered {
    struct run *run;
    const struct order_walk *walk;
    struct index_cursor *cursor;
    struct slice resume; /* the term of the last page's last row; empty when it has none */
    uint64_t *number;    /* the batch */
    size_t count, capacity, batch;
    size_t done; /* numbers of the block that are in a batch */
    struct index_block block;
    bool ended, stuck, full;
    uint64_t last_number; /* of the last row given or passed over; 0: there is none yet */
    uint32_t last_index;
    uint64_t resumed; /* the item that the last page ended in, if it is still there */
};

/* ---- where to begin ---- */

/* The position's keys as they stand in a term. */
static bool resume_term(struct ordered *ordered)
{
    struct run *run = ordered->run;
    const struct order_walk *walk = ordered->walk;
    uint8_t value[ORDERED_BYTES_MAX];
    struct buf term;

    buf_init(&term, &run->eval.op->arena);
    buf_slice(&term, walk->prefix);
    for (size_t i = 0; i < run->at.key_count; i++) {
        bool descending = walk->joined && walk->joined->descending[walk->fixed + i];
        const struct value *key = &run->at.key[i];
        size_t size = key->kind >= JSON_ARRAY
                          ? term_put_hashed(value, key->kind, position_key_hash(&run->at, i), descending)
                          : term_put_value(value, value_to_json(run->eval.op, *key), descending);

        if (run->at.cut[i])
            return false;
        buf_append(&term, value, size);
    }
    ordered->resume = buf_as_slice(&term);
    return !term.failed && !order_term_is_cut(walk, ordered->resume);
}

static enum status open_cursor(struct ordered *ordered)
{
    struct run *run = ordered->run;
    const struct query_index *index = run->planner.index;
    const struct query_span *last = &index->span[index->span_count - 1];
    struct index_walk walk = { ordered->walk->from, ordered->walk->to, index->span[0].from, last->to - 1,
                               ordered->walk->reverse };
    uint64_t at = ordered->walk->ties_turned ? (walk.reverse ? UINT64_MAX : 0) : run->at.number;
    enum status st;

    TRY(index_cursor_open(run->eval.op, index->view, &walk, &ordered->cursor));
    if (ordered->resume.size)
        TRY(index_cursor_seek(run->eval.op, ordered->cursor, ordered->resume, at));
out:
    return st;
}

/* ---- numbers in the order of the clause ---- */

static bool add_number(struct ordered *ordered, uint64_t number)
{
    if (ordered->count == ordered->capacity) {
        size_t capacity = ordered->capacity ? 2 * ordered->capacity : BATCH_LEAST;
        uint64_t *more = run_alloc(ordered->run, capacity * sizeof(*more));

        if (!more)
            return false;
        if (ordered->count)
            memcpy(more, ordered->number, ordered->count * sizeof(*more));
        ordered->number = more;
        ordered->capacity = capacity;
    }
    ordered->number[ordered->count++] = number;
    return true;
}

static enum status next_block(struct ordered *ordered)
{
    enum status st;

    TRY(index_cursor_next(ordered->run->eval.op, ordered->cursor, &ordered->block));
    TRY(op_check(ordered->run->eval.op));
    ordered->done = 0;
    ordered->ended = ordered->block.count == 0;
    if (!ordered->ended && order_term_is_cut(ordered->walk, ordered->block.term))
        ordered->stuck = true;
out:
    return st;
}

static bool at_resume(const struct ordered *ordered, struct slice term)
{
    return ordered->resume.size && slice_equal(term, ordered->resume);
}

/* The blocks of one term, as the walk has them. */
static enum status take_term(struct ordered *ordered, struct slice term, size_t first)
{
    enum status st = ST_OK;

    while (!ordered->ended && slice_equal(ordered->block.term, term)) {
        for (size_t i = 0; i < ordered->block.count; i++)
            if (!add_number(ordered, ordered->block.number[i]))
                return ST_OK;
        ordered->stuck = ordered->count - first > TIES_MAX;
        if (ordered->stuck)
            break;
        TRY(next_block(ordered));
    }
out:
    return st;
}

static void turn_round(uint64_t *number, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        uint64_t swap = number[i];

        number[i] = number[count - 1 - i];
        number[count - 1 - i] = swap;
    }
}

/* Leaves out what was on earlier pages. */
static void resume_in(struct ordered *ordered, size_t first)
{
    uint64_t at = ordered->run->at.number;
    bool falls = !ordered->walk->reverse;
    size_t kept = first;

    for (size_t i = first; i < ordered->count; i++) {
        uint64_t number = ordered->number[i];

        if (falls ? number <= at : number >= at)
            ordered->number[kept++] = number;
    }
    ordered->count = kept;
    if (kept > first && ordered->number[first] == at)
        ordered->resumed = at;
}

/* The numbers of a whole term, the other way round than the walk has them. */
static enum status take_turned(struct ordered *ordered)
{
    char bytes[TERM_BYTES_MAX];
    size_t first = ordered->count;
    struct slice term;
    enum status st;

    memcpy(bytes, ordered->block.term.data, ordered->block.term.size);
    term = slice_make(bytes, ordered->block.term.size);
    TRY(take_term(ordered, term, first));
    if (ordered->count - first > TIES_MAX) {
        ordered->count = first;
        goto out;
    }
    turn_round(ordered->number + first, ordered->count - first);
    if (at_resume(ordered, term))
        resume_in(ordered, first);
out:
    return st;
}

static void take_block(struct ordered *ordered)
{
    const struct index_block *block = &ordered->block;

    if (ordered->done == 0 && at_resume(ordered, block->term) && block->number[0] == ordered->run->at.number)
        ordered->resumed = block->number[0];
    while (ordered->done < block->count && ordered->count < ordered->batch)
        if (!add_number(ordered, block->number[ordered->done++]))
            break;
}

static enum status fill_batch(struct ordered *ordered)
{
    enum status st = ST_OK;

    ordered->count = 0;
    while (ordered->count < ordered->batch && ordered->run->eval.status == ST_OK) {
        if (ordered->done == ordered->block.count)
            TRY(next_block(ordered));
        if (ordered->ended || ordered->stuck)
            break;
        if (!ordered->walk->ties_turned)
            take_block(ordered);
        else
            TRY(take_turned(ordered));
        if (ordered->stuck)
            break;
    }
    if (ordered->batch < BATCH_MAX)
        ordered->batch *= 2;
out:
    return st;
}

/* ---- rows ---- */

static bool take_row(struct eval *eval, void *context)
{
    struct ordered *ordered = context;
    struct run *run = ordered->run;
    struct arena_mark mark = arena_mark(&eval->op->arena);
    bool printed;

    run->index++;
    if (run->item.number == ordered->resumed && run->index <= run->at.index)
        return true; /* on an earlier page already */
    printed = run_print(run);
    arena_rewind(&eval->op->arena, mark);
    if (!printed)
        return eval->status == ST_OK;
    if (!run_skips(run) && !run_give(run, run_copy(run, slice_make(run->text.data, run->text.size)))) {
        ordered->full = true;
        return false;
    }
    ordered->last_number = run->item.number;
    ordered->last_index = run->index;
    return run->at.take > 0 && eval->status == ST_OK;
}

/* The last row again, for its keys. */
static bool read_last(struct eval *eval, void *context)
{
    struct ordered *ordered = context;
    struct run *run = ordered->run;

    (void)eval;
    if (++run->index < ordered->last_index)
        return true;
    run_goes_on_sorted(run);
    return false;
}

static enum status go_on_after_last(struct ordered *ordered)
{
    struct run *run = ordered->run;
    enum status st;

    TRY(run->source->pick(run->eval.op, run->source, &ordered->last_number, 1));
    run_items(run, 0, read_last, ordered);
    st = run->eval.status;
out:
    return st;
}

static enum status give_rows(struct ordered *ordered)
{
    struct run *run = ordered->run;
    enum status st;

    do {
        TRY(fill_batch(ordered));
        if (ordered->count == 0)
            break;
        TRY(run->source->pick(run->eval.op, run->source, ordered->number, ordered->count));
        run_items(run, 0, take_row, ordered);
        TRY(run->eval.status);
    } while (!ordered->full && run->at.take && !ordered->ended && !ordered->stuck);
out:
    return st;
}

/* The rest of the page is sorted, from behind the last row that was walked to. */
static enum status sort_the_rest(struct ordered *ordered)
{
    struct run *run = ordered->run;
    enum status st = ST_OK;

    if (ordered->last_number) {
        TRY(go_on_after_last(ordered));
        run->begun = run->page->next;
        run->page->next = (struct slice){ 0 };
        run->first = false;
        if (!position_parse(run->begun, &run->at))
            TRY(op_fail_as(run->eval.op, ST_QUERY_MEMORY));
    }
    TRY(run_sort_instead(run));
out:
    return st;
}

/* One more than the page holds tells whether there is another page. */
static size_t first_batch(const struct run *run)
{
    uint64_t take = run->at.take, rows = run->limits->rows < UINT32_MAX ? run->limits->rows + 1 : UINT32_MAX;
    uint64_t wanted = (take < rows ? take : rows) + run->at.skip;

    if (wanted > BATCH_FIRST_MAX)
        return BATCH_FIRST_MAX;
    return wanted < BATCH_LEAST ? BATCH_LEAST : (size_t)wanted;
}

enum status run_ordered(struct run *run, const struct order_walk *walk, bool misses)
{
    struct ordered ordered = { .run = run, .walk = walk, .batch = first_batch(run) };
    enum status st = ST_OK;

    if (!run->first && !resume_term(&ordered))
        return run_sort_instead(run);
    TRY(open_cursor(&ordered));
    TRY(give_rows(&ordered));
    if (run->at.take == 0)
        goto out;
    if (ordered.full)
        TRY(go_on_after_last(&ordered));
    else if (ordered.stuck || misses)
        TRY(sort_the_rest(&ordered));
out:
    index_cursor_close(ordered.cursor);
    return st;
}
