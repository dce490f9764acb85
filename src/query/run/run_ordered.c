/*
 * src/query/run/run_ordered.c - ORDER BY from an index: its terms are walked from where the last page ended, and items
 * picked a few at a time. The order is that of run_sorted.c, which goes on where the terms do not tell it:
 * at strings that are cut, at arrays and objects, and for items that lack the path when they come last.
 *
 * Within a term an index has items by number. Where equal rows come by creation, a term's numbers are gathered first: the
 * least of them that a page can want, and those behind them by reading the term again.
 */
#include <assert.h>
#include <stdlib.h>

#include "index/set.h"
#include "keys/epk.h"
#include "query/plan/cost.h"
#include "query/plan/order.h"
#include "query/run/run_private.h"

/* Items to be picked at a time: as many as rows are wanted, then more, because a filter may let few pass. */
enum { BATCH_LEAST = 4, BATCH_FIRST_MAX = 128, BATCH_MAX = 1024 };

/* Numbers of one term that are turned round; of more, sorting takes over. */
enum { TIES_MAX = 64 * 1024 };

/* Numbers of one term that are gathered at a time, before and after the rest is let go. */
enum { GROUP_KEPT = 4096, GROUP_ROOM = 2 * GROUP_KEPT };

enum { TERM_BYTES_MAX = TERM_PATH_BYTES + INDEX_PARTS_MAX * ORDERED_BYTES_MAX };

/* The items of one term, in the order of ties: each as order_of() has it. */
struct ties {
    bool gathers; /* or else numbers come as the walk has them */
    bool falls;   /* the last that was made comes first */
    char bytes[TERM_BYTES_MAX];
    struct slice term;
    uint64_t *list;
    size_t count, capacity, done;
    uint64_t from; /* nothing before it is wanted: it was given already */
    bool more;     /* there are more behind those of the list */
};

struct ordered {
    struct fill *fill;
    const struct query_index *index;
    const struct order_walk *walk;
    struct index_cursor *cursor;
    struct slice resume; /* the term of the last page's last row; empty when it has none */
    uint64_t *number;    /* the batch */
    size_t count, capacity, batch;
    size_t done; /* numbers of the block that are in a batch */
    struct index_block block;
    struct ties ties;
    bool begun, ended, stuck, full;
    uint64_t last_number; /* of the last row given or passed over; 0: there is none yet */
    uint32_t last_index;
    uint64_t resumed; /* the item that the last page ended in, if it is still there */
};

/* ---- where to begin ---- */

/* The position's keys as they stand in a term. */
static bool resume_term(struct ordered *ordered)
{
    const struct position *at = &ordered->fill->at;
    struct op *op = ordered->fill->cursor->eval.op;
    const struct order_walk *walk = ordered->walk;
    uint8_t value[ORDERED_BYTES_MAX];
    struct buf term;

    buf_init(&term, &op->arena);
    buf_slice(&term, walk->prefix);
    for (size_t i = 0; i < at->key_count; i++) {
        bool descending = walk->joined && walk->joined->descending[walk->fixed + i];
        const struct value *key = &at->key[i];

        if (at->cut[i] || key->kind >= JSON_ARRAY)
            return false;
        buf_append(&term, value, term_put_value(value, value_to_json(op, *key), descending));
    }
    ordered->resume = buf_as_slice(&term);
    return !term.failed && !order_term_is_cut(walk, ordered->resume);
}

static enum status open_cursor_at(struct ordered *ordered, struct slice term)
{
    struct op *op = ordered->fill->cursor->eval.op;
    const struct query_index *index = ordered->index;
    const struct query_span *last = &index->span[index->span_count - 1];
    struct index_walk walk = { ordered->walk->from, ordered->walk->to, index->span[0].from, last->to - 1,
                               ordered->walk->reverse };
    bool whole = ordered->walk->ties_turned || ordered->ties.gathers;
    uint64_t at = whole ? (walk.reverse ? UINT64_MAX : 0) : ordered->fill->at.number;
    enum status st;

    TRY(index_cursor_open(op, index->view, &walk, &ordered->cursor));
    if (term.size)
        TRY(index_cursor_seek(op, ordered->cursor, term, at));
out:
    return st;
}

/* ---- numbers in the order of the clause ---- */

static enum status add_number(struct ordered *ordered, uint64_t number)
{
    enum status st = ST_OK;

    if (ordered->count == ordered->capacity) {
        size_t capacity = ordered->capacity ? 2 * ordered->capacity : BATCH_LEAST;
        uint64_t *more;

        TRY(fill_alloc(ordered->fill, capacity * sizeof(*more), &more));
        if (ordered->count)
            memcpy(more, ordered->number, ordered->count * sizeof(*more));
        ordered->number = more;
        ordered->capacity = capacity;
    }
    ordered->number[ordered->count++] = number;
out:
    return st;
}

static enum status next_block(struct ordered *ordered)
{
    struct op *op = ordered->fill->cursor->eval.op;
    enum status st;

    TRY(index_cursor_next(op, ordered->cursor, &ordered->block));
    TRY(op_spend(op, 1 + ordered->block.count / ENTRIES_OF_A_STEP));
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
            TRY(add_number(ordered, ordered->block.number[i]));
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
    uint64_t at = ordered->fill->at.number;
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

static enum status take_block(struct ordered *ordered)
{
    const struct index_block *block = &ordered->block;
    enum status st = ST_OK;

    if (ordered->done == 0 && at_resume(ordered, block->term) && block->number[0] == ordered->fill->at.number)
        ordered->resumed = block->number[0];
    while (ordered->done < block->count && ordered->count < ordered->batch)
        TRY(add_number(ordered, block->number[ordered->done++]));
out:
    return st;
}

/* ---- ties by creation ---- */

/* Rising, whichever way the ties go. */
static uint64_t order_of(const struct ties *ties, uint64_t number)
{
    uint64_t tie = number_by_creation(number);

    return ties->falls ? ~tie : tie;
}

static uint64_t number_at(const struct ties *ties, uint64_t order)
{
    return number_from_creation(ties->falls ? ~order : order);
}

static int by_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void cut_group(struct ties *ties)
{
    if (ties->count > 1)
        qsort(ties->list, ties->count, sizeof(*ties->list), by_order);
    if (ties->count <= GROUP_KEPT)
        return;
    ties->count = GROUP_KEPT;
    ties->more = true;
}

static enum status grow_group(struct ordered *ordered)
{
    struct ties *ties = &ordered->ties;
    size_t capacity = ties->capacity ? 2 * ties->capacity : 16;
    uint64_t *list;
    enum status st;

    assert(capacity <= GROUP_ROOM);
    TRY(fill_alloc(ordered->fill, capacity * sizeof(*list), &list));
    if (ties->count)
        memcpy(list, ties->list, ties->count * sizeof(*list));
    ties->list = list;
    ties->capacity = capacity;
out:
    return st;
}

/* Once there are more, what lies behind the last that is kept is not wanted. */
static enum status add_to_group(struct ordered *ordered, uint64_t number)
{
    struct ties *ties = &ordered->ties;
    uint64_t order = order_of(ties, number);

    enum status st = ST_OK;

    if (order < ties->from || (ties->more && order > ties->list[GROUP_KEPT - 1]))
        return ST_OK;
    if (ties->count == GROUP_ROOM)
        cut_group(ties);
    if (ties->count == ties->capacity)
        TRY(grow_group(ordered));
    ties->list[ties->count++] = order;
out:
    return st;
}

/* All blocks of the group's term; the walk then stands at the next term. */
static enum status gather_group(struct ordered *ordered)
{
    struct ties *ties = &ordered->ties;
    enum status st = ST_OK;

    ties->count = ties->done = 0;
    ties->more = false;
    while (!ordered->ended && slice_equal(ordered->block.term, ties->term)) {
        for (size_t i = 0; i < ordered->block.count; i++)
            TRY(add_to_group(ordered, ordered->block.number[i]));
        TRY(next_block(ordered));
    }
    cut_group(ties);
out:
    return st;
}

/* The position may be before or behind all of the term's items, and of an item all rows may have been given. */
static uint64_t order_at_resume(const struct ordered *ordered)
{
    uint64_t number = ordered->fill->at.number;

    if (number == 0 || number == UINT64_MAX)
        return (number == 0) != ordered->ties.falls ? 0 : UINT64_MAX;
    return order_of(&ordered->ties, number);
}

static enum status begin_group(struct ordered *ordered)
{
    struct ties *ties = &ordered->ties;
    struct slice term = ordered->block.term;
    bool resumes = at_resume(ordered, term);
    enum status st = ST_OK;

    memcpy(ties->bytes, term.data, term.size);
    ties->term = slice_make(ties->bytes, term.size);
    ties->from = resumes ? order_at_resume(ordered) : 0;
    TRY(gather_group(ordered));
    if (resumes && ties->count && number_at(ties, ties->list[0]) == ordered->fill->at.number)
        ordered->resumed = ordered->fill->at.number;
out:
    return st;
}

/* The same term again, for what lies behind those that were given. */
static enum status gather_again(struct ordered *ordered)
{
    struct ties *ties = &ordered->ties;
    enum status st;

    ties->from = ties->list[ties->count - 1] + 1;
    index_cursor_close(ordered->cursor);
    ordered->cursor = NULL;
    ordered->stuck = false;
    TRY(open_cursor_at(ordered, ties->term));
    TRY(next_block(ordered));
    TRY(gather_group(ordered));
out:
    return st;
}

static enum status take_group(struct ordered *ordered)
{
    struct ties *ties = &ordered->ties;
    enum status st = ST_OK;

    while (ties->done < ties->count && ordered->count < ordered->batch)
        TRY(add_number(ordered, number_at(ties, ties->list[ties->done++])));
out:
    return st;
}

/* More numbers for the batch, or the end. */
static enum status fill_from_groups(struct ordered *ordered)
{
    struct ties *ties = &ordered->ties;
    enum status st = ST_OK;

    if (!ordered->begun)
        TRY(next_block(ordered));
    ordered->begun = true;
    while (ordered->count < ordered->batch) {
        if (ties->done < ties->count)
            TRY(take_group(ordered));
        else if (ties->more)
            TRY(gather_again(ordered));
        else if (ordered->ended || ordered->stuck)
            break;
        else
            TRY(begin_group(ordered));
    }
out:
    return st;
}

static bool is_over(const struct ordered *ordered)
{
    const struct ties *ties = &ordered->ties;

    return (ordered->ended || ordered->stuck) && ties->done == ties->count && !ties->more;
}

static enum status fill_from_blocks(struct ordered *ordered)
{
    enum status st = ST_OK;

    while (ordered->count < ordered->batch) {
        if (ordered->done == ordered->block.count)
            TRY(next_block(ordered));
        if (ordered->ended || ordered->stuck)
            break;
        TRY(ordered->walk->ties_turned ? take_turned(ordered) : take_block(ordered));
        if (ordered->stuck)
            break;
    }
out:
    return st;
}

static enum status fill_batch(struct ordered *ordered)
{
    enum status st;

    ordered->count = 0;
    TRY(ordered->ties.gathers ? fill_from_groups(ordered) : fill_from_blocks(ordered));
    if (ordered->batch < BATCH_MAX)
        ordered->batch *= 2;
out:
    return st;
}

/* ---- rows ---- */

/* The row in the slots, onto the page or passed over. */
static enum status give_row(struct ordered *ordered)
{
    struct fill *fill = ordered->fill;
    struct slice row;
    bool given = true;
    enum status st = ST_OK;

    if (!fill_skips(fill)) {
        TRY(fill_copy(fill, buf_as_slice(&fill->text), &row));
        TRY(fill_give(fill, row, &given));
    }
    ordered->full = !given;
    if (given) {
        ordered->last_number = fill->cursor->item.number;
        ordered->last_index = fill->cursor->index;
    }
out:
    return st;
}

static bool take_row(struct eval *eval, void *context)
{
    struct ordered *ordered = context;
    struct fill *fill = ordered->fill;
    struct cursor *cursor = fill->cursor;
    struct arena_mark mark = arena_mark(&eval->op->arena);
    enum status st;
    bool defined;

    cursor->index++;
    if (cursor->item.number == ordered->resumed && cursor->index <= fill->at.index)
        return true; /* on an earlier page already */
    st = fill_print(fill, &defined);
    arena_rewind(&eval->op->arena, mark);
    if (st == ST_OK && defined)
        st = give_row(ordered);
    return cursor_goes_on(cursor, st) && !ordered->full && fill->at.take > 0;
}

/* The last row again, for its keys. */
static bool read_last(struct eval *eval, void *context)
{
    struct ordered *ordered = context;
    struct cursor *cursor = ordered->fill->cursor;

    (void)eval;
    if (++cursor->index < ordered->last_index)
        return true;
    (void)cursor_goes_on(cursor, run_goes_on_sorted(ordered->fill));
    return false;
}

static enum status go_on_after_last(struct ordered *ordered)
{
    struct cursor *cursor = ordered->fill->cursor;
    bool ended;
    enum status st;

    TRY(cursor_pick(cursor, &ordered->last_number, 1));
    TRY(cursor_walk(cursor, 0, read_last, ordered, &ended));
out:
    return st;
}

static enum status give_rows(struct ordered *ordered)
{
    struct cursor *cursor = ordered->fill->cursor;
    bool ended;
    enum status st;

    do {
        TRY(fill_batch(ordered));
        if (ordered->count == 0)
            break;
        TRY(cursor_pick(cursor, ordered->number, ordered->count));
        TRY(cursor_walk(cursor, 0, take_row, ordered, &ended));
    } while (!ordered->full && ordered->fill->at.take && !is_over(ordered));
out:
    return st;
}

/* The rest of the page is sorted, from behind the last row that was walked to. */
static enum status leave_the_rest(struct ordered *ordered)
{
    struct fill *fill = ordered->fill;
    enum status st = ST_OK;

    if (ordered->last_number == 0)
        return ST_OK;
    TRY(go_on_after_last(ordered));
    fill->begun = fill->page->next;
    fill->page->next = (struct slice){ 0 };
    fill->first = false;
    if (!position_parse(fill->begun, &fill->at))
        TRY(op_fail_as(fill->cursor->eval.op, ST_QUERY_MEMORY));
out:
    return st;
}

/* Numbers of one key rise as the items were made. */
static bool has_several_keys(const struct query_index *index)
{
    const struct query_span *first = &index->span[0], *last = &index->span[index->span_count - 1];

    return number_epk_bits(first->from) != number_epk_bits(last->to - 1);
}

/* One more than the page holds tells whether there is another page. */
static size_t first_batch(const struct fill *fill)
{
    uint64_t take = fill->at.take;
    uint64_t rows = fill->limits->rows < UINT32_MAX ? fill->limits->rows + 1 : UINT32_MAX;
    uint64_t wanted = (take < rows ? take : rows) + fill->at.skip;

    if (wanted > BATCH_FIRST_MAX)
        return BATCH_FIRST_MAX;
    return wanted < BATCH_LEAST ? BATCH_LEAST : (size_t)wanted;
}

enum status run_ordered(struct fill *fill, const struct way *way, bool *unfinished)
{
    struct ordered ordered = {
        .fill = fill, .index = way->planner.index, .walk = &way->walk, .batch = first_batch(fill)
    };
    enum status st = ST_OK;

    ordered.ties.gathers = fill->by_creation && has_several_keys(ordered.index);
    ordered.ties.falls = ordered.walk->reverse != ordered.walk->ties_turned;
    *unfinished = !fill->first && !resume_term(&ordered);
    if (*unfinished)
        return ST_OK;
    TRY(open_cursor_at(&ordered, ordered.resume));
    TRY(give_rows(&ordered));
    if (fill->at.take == 0)
        goto out;
    if (ordered.full)
        TRY(go_on_after_last(&ordered));
    *unfinished = !ordered.full && (ordered.stuck || way->misses);
    if (*unfinished)
        TRY(leave_the_rest(&ordered));
out:
    index_cursor_close(ordered.cursor);
    return st;
}
