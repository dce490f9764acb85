/*
 * src/query/run/run_plain.c - rows as they come: no ORDER BY, nothing gathered.
 * Items come in the order in which they lie. People who come from the service's emulator expect the
 * order in which they were made: an answer that needs little memory is given in that order.
 */
#include <stdlib.h>

#include "query/run/run_private.h"

/* What is little. */
enum { SMALL_ROWS = 1000, SMALL_BYTES = 1024 * 1024 };

struct plain_row {
    uint64_t number, counter;
    uint32_t index;
    struct slice row;
};

struct plain {
    struct fill *fill;
    bool whole; /* the first page: look whether all of the answer is little */
    size_t rows_max, bytes_max;
    struct plain_row *list;
    size_t count, capacity, bytes;
    bool full;
};

static int by_creation(const void *a, const void *b)
{
    const struct plain_row *x = a, *y = b;

    if (x->counter != y->counter)
        return x->counter < y->counter ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static enum status grow(struct plain *plain)
{
    size_t capacity = plain->capacity ? 2 * plain->capacity : 64;
    struct plain_row *list;
    enum status st;

    TRY(fill_alloc(plain->fill, capacity * sizeof(*list), &list));
    if (plain->count)
        memcpy(list, plain->list, plain->count * sizeof(*list));
    plain->list = list;
    plain->capacity = capacity;
out:
    return st;
}

static enum status keep(struct plain *plain)
{
    const struct cursor *cursor = plain->fill->cursor;
    struct plain_row row = { cursor->item.number, cursor->item.counter, cursor->index, { 0 } };
    enum status st = ST_OK;

    if (plain->count == plain->capacity)
        TRY(grow(plain));
    TRY(fill_copy(plain->fill, buf_as_slice(&plain->fill->text), &row.row));
    plain->list[plain->count++] = row;
    plain->bytes += row.row.size;
out:
    return st;
}

static bool take_row(struct eval *eval, void *context)
{
    struct plain *plain = context;
    struct fill *fill = plain->fill;
    struct cursor *cursor = fill->cursor;
    struct arena_mark mark = arena_mark(&eval->op->arena);
    enum status st;
    bool defined;

    cursor->index++;
    if (cursor->item.number == fill->at.number && cursor->index <= fill->at.index)
        return true; /* on the last page already */
    st = fill_print(fill, &defined);
    arena_rewind(&eval->op->arena, mark);
    if (st != ST_OK || !defined || (!plain->whole && fill_skips(fill)))
        return cursor_goes_on(cursor, st);
    plain->full = plain->count >= plain->rows_max ||
                  (plain->count && plain->bytes + fill->text.size > plain->bytes_max);
    return !plain->full && cursor_goes_on(cursor, keep(plain));
}

static size_t at_least(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t at_most(size_t a, uint64_t b)
{
    return a < b ? a : (size_t)b;
}

/* Gives what was gathered; `count` is that of rows given or passed over. */
static enum status give_all(struct plain *plain, size_t *count)
{
    struct fill *fill = plain->fill;
    bool given = true;
    enum status st = ST_OK;
    size_t i;

    for (i = 0; i < plain->count && fill->at.take; i++) {
        if (plain->whole && fill_skips(fill))
            continue;
        TRY(fill_give(fill, plain->list[i].row, &given));
        if (!given)
            break;
    }
    *count = i;
out:
    return st;
}

/* So that the row comes first on the next page. */
static struct position before_row(const struct cursor *cursor, uint64_t number, uint32_t index)
{
    if (index == 1)
        return (struct position){ .order = ORDER_NUMBER, .number = cursor_before(cursor, number) };
    return (struct position){ .order = ORDER_NUMBER, .number = number, .index = index - 1 };
}

static void go_on(struct plain *plain, size_t given, bool ended, bool by_counter)
{
    const struct cursor *cursor = plain->fill->cursor;
    struct position next;

    if (plain->fill->at.take == 0)
        return;
    if (ended && given == plain->count) {
        const struct plain_row *last;

        if (!plain->count || !fill_ends_full(plain->fill))
            return;
        last = &plain->list[plain->count - 1];
        next = (struct position){ .order = by_counter ? ORDER_CREATION : ORDER_NUMBER,
                                  .number = by_counter ? last->counter : last->number,
                                  .index = last->index };
    } else if (given < plain->count && by_counter)
        next = (struct position){ .order = ORDER_CREATION,
                                  .number = plain->list[given].counter,
                                  .index = plain->list[given].index - 1 };
    else if (given < plain->count)
        next = before_row(cursor, plain->list[given].number, plain->list[given].index);
    else if (plain->full)
        next = before_row(cursor, cursor->item.number, cursor->index);
    else
        next = (struct position){ .order = ORDER_NUMBER, .number = cursor->item.number };
    fill_goes_on(plain->fill, &next);
}

enum status run_plain(struct fill *fill)
{
    const struct query_limits *limits = fill->limits;
    struct plain plain = { .fill = fill };
    bool ended, by_counter;
    size_t given;
    enum status st;

    plain.whole = fill->first && !fill->nested && fill->at.skip <= SMALL_ROWS;
    plain.rows_max = at_most(limits->rows, fill->at.take);
    plain.bytes_max = limits->bytes;
    if (plain.whole) {
        plain.rows_max = at_least(SMALL_ROWS, plain.rows_max + (size_t)fill->at.skip);
        plain.bytes_max = at_least(SMALL_BYTES, plain.bytes_max);
    }
    TRY(cursor_walk(fill->cursor, limits->scanned_rows, take_row, &plain, &ended));
    by_counter = ended && plain.whole;
    if (by_counter && plain.count > 1)
        qsort(plain.list, plain.count, sizeof(*plain.list), by_creation);
    TRY(give_all(&plain, &given));
    go_on(&plain, given, ended, by_counter);
out:
    return st;
}
