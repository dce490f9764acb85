/* src/packed/run.c - a run as the program knows it: its facts, its filter, who holds it. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "keys/bytes.h"
#include "packed/run.h"

struct run {
    atomic_uint refs;
    atomic_bool retired;
    struct run_facts facts;
    struct filter *filter;
    uint64_t dropped_pages;
    run_gone *gone;
    void *context;
};

struct run *run_new(const struct run_facts *facts, struct filter *filter, run_gone *gone, void *context)
{
    struct run *run = heap_allocate(sizeof(*run));

    atomic_init(&run->refs, 1);
    run->facts = *facts;
    run->filter = filter;
    run->gone = gone;
    run->context = context;
    return run;
}

const struct run_facts *run_facts(const struct run *run)
{
    return &run->facts;
}

const struct filter *run_filter(const struct run *run)
{
    return run->filter;
}

uint64_t run_dropped_pages(const struct run *run)
{
    return run->dropped_pages;
}

void run_adds_dropped_pages(struct run *run, uint64_t pages)
{
    run->dropped_pages += pages;
}

struct run *run_hold(struct run *run)
{
    unsigned before = atomic_fetch_add(&run->refs, 1);

    assert(before > 0); /* whoever holds it once more has a reference, or layers that do */
    return run;
}

void run_release(struct run *run)
{
    unsigned before = atomic_fetch_sub(&run->refs, 1);

    assert(before > 0);
    if (before != 1)
        return;
    if (atomic_load(&run->retired))
        run->gone(run->context, run->facts.id);
    filter_free(run->filter);
    free(run);
}

void run_retire(struct run *run)
{
    assert(!atomic_load(&run->retired)); /* a run is replaced once */
    atomic_store(&run->retired, true);
}

void run_key(uint8_t out[RUN_ID_BYTES], uint64_t id)
{
    put_be(out, id, RUN_ID_BYTES);
}

/* ---- the filter's rows ---- */

static bool is_filter_row(const struct run_row *row, uint64_t id)
{
    return row->key.data && row->key.size >= RUN_PREFIX_BYTES && get_be(row->key.data, RUN_ID_BYTES) == id &&
           get_be(row->key.data + RUN_ID_BYTES, 6) == RUN_FILTER_BUCKET;
}

static enum status gather(struct op *op, struct run_space *space, struct run_cursor *cursor,
                          const struct run_facts *facts, char *bytes)
{
    const struct run_space_ops *runs = space->ops;
    struct run_row row = { 0 };
    uint8_t from[RUN_PREFIX_BYTES];
    uint64_t filled = 0;
    enum status st;

    run_key(from, facts->id);
    put_be(from + RUN_ID_BYTES, RUN_FILTER_BUCKET, 6);
    TRY(runs->read(op, space, cursor, RUN_AT_OR_AFTER, slice_make(from, sizeof(from)), &row));
    while (is_filter_row(&row, facts->id) && row.value.size <= facts->filter_bytes - filled) {
        memcpy(bytes + filled, row.value.data, row.value.size);
        filled += row.value.size;
        TRY(runs->read(op, space, cursor, RUN_NEXT, (struct slice){ 0 }, &row));
    }
    if (filled != facts->filter_bytes)
        st = op_fail(op, ST_CORRUPT, "A run of the index has lost its filter.");
out:
    free(row.memory);
    return st;
}

enum status run_read_filter(struct op *op, struct run_space *space, const struct run_facts *facts,
                            struct filter **filter)
{
    struct run_cursor *cursor = NULL;
    char *bytes = NULL;
    enum status st = ST_OK;

    *filter = NULL;
    if (facts->filter_bytes == 0)
        return ST_OK;
    bytes = malloc(facts->filter_bytes);
    if (!bytes)
        return op_fail(op, ST_UNAVAILABLE, "There is no memory for a filter of the index.");
    TRY(space->ops->open(op, space, true, &cursor));
    TRY(gather(op, space, cursor, facts, bytes));
    *filter = filter_from(slice_make(bytes, facts->filter_bytes));
out:
    if (cursor)
        space->ops->close(space, cursor);
    free(bytes);
    return st;
}
