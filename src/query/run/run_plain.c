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
    struct run *run;
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

static bool grow(struct plain *plain)
{
    size_t capacity = plain->capacity ? 2 * plain->capacity : 64;
    struct plain_row *list = run_alloc(plain->run, capacity * sizeof(*list));

    if (!list)
        return false;
    if (plain->count)
        memcpy(list, plain->list, plain->count * sizeof(*list));
    plain->list = list;
    plain->capacity = capacity;
    return true;
}

static bool keep(struct plain *plain)
{
    struct run *run = plain->run;

    if (plain->count == plain->capacity && !grow(plain))
        return false;
    plain->list[plain->count++] =
        (struct plain_row){ run->item.number, run->item.counter, run->index,
                            run_copy(run, slice_make(run->text.data, run->text.size)) };
    plain->bytes += run->text.size;
    return run->eval.status == ST_OK;
}

static bool take_row(struct eval *eval, void *context)
{
    struct plain *plain = context;
    struct run *run = plain->run;
    struct arena_mark mark = arena_mark(&eval->op->arena);
    bool printed;

    run->index++;
    if (run->item.number == run->at.number && run->index <= run->at.index)
        return true; /* on the last page already */
    printed = run_print(run);
    arena_rewind(&eval->op->arena, mark);
    if (!printed || (!plain->whole && run_skips(run)))
        return eval->status == ST_OK;
    plain->full =
        plain->count >= plain->rows_max || (plain->count && plain->bytes + run->text.size > plain->bytes_max);
    return !plain->full && keep(plain);
}

static size_t at_least(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t at_most(size_t a, uint64_t b)
{
    return a < b ? a : (size_t)b;
}

/* Gives what was gathered; the number of rows given or passed over. */
static size_t give_all(struct plain *plain)
{
    struct run *run = plain->run;
    size_t i;

    for (i = 0; i < plain->count && run->at.take; i++) {
        const struct plain_row *row = &plain->list[i];

        if (plain->whole && run_skips(run))
            continue;
        if (!run_give(run, row->row))
            break;
    }
    return i;
}

/* So that the row comes first on the next page. */
static struct position before_row(uint64_t number, uint32_t index)
{
    if (index == 1)
        return (struct position){ .order = ORDER_NUMBER, .number = number - 1 };
    return (struct position){ .order = ORDER_NUMBER, .number = number, .index = index - 1 };
}

static void go_on(struct plain *plain, size_t given, bool ended, bool by_counter)
{
    struct run *run = plain->run;
    struct position next;

    if (run->at.take == 0 || run->eval.status != ST_OK || (ended && given == plain->count))
        return;
    if (given < plain->count && by_counter)
        next = (struct position){ .order = ORDER_CREATION,
                                  .number = plain->list[given].counter,
                                  .index = plain->list[given].index - 1 };
    else if (given < plain->count)
        next = before_row(plain->list[given].number, plain->list[given].index);
    else if (plain->full)
        next = before_row(run->item.number, run->index);
    else
        next = (struct position){ .order = ORDER_NUMBER, .number = run->item.number };
    run_goes_on(run, &next);
}

void run_plain(struct run *run)
{
    const struct query_limits *limits = run->limits;
    struct plain plain = { .run = run };
    bool ended, by_counter;

    plain.whole = run->first && !run->nested && run->at.skip <= SMALL_ROWS;
    plain.rows_max = at_most(limits->rows, run->at.take);
    plain.bytes_max = limits->bytes;
    if (plain.whole) {
        plain.rows_max = at_least(SMALL_ROWS, plain.rows_max + (size_t)run->at.skip);
        plain.bytes_max = at_least(SMALL_BYTES, plain.bytes_max);
    }
    ended = run_items(run, limits->scanned_rows, take_row, &plain);
    if (run->eval.status != ST_OK)
        return;
    by_counter = ended && plain.whole;
    if (by_counter && plain.count > 1)
        qsort(plain.list, plain.count, sizeof(*plain.list), by_creation);
    go_on(&plain, give_all(&plain), ended, by_counter);
}
