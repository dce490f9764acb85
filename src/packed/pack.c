/* src/packed/pack.c - walks the delta in the order of a run. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "keys/bytes.h"
#include "packed/pack.h"
#include "packed/page.h"
#include "packed/piece.h"
#include "packed/run_builder.h"

/* ---- the paths in order ---- */

struct path_list {
    struct delta_path **path;
    size_t count;
};

static int by_place(const void *left, const void *right)
{
    const struct delta_path *a = *(struct delta_path *const *)left, *b = *(struct delta_path *const *)right;

    if (a->bucket != b->bucket)
        return a->bucket < b->bucket ? -1 : 1;
    return a->path < b->path ? -1 : a->path > b->path;
}

static size_t count_paths(struct delta *delta)
{
    size_t count = 0;

    for (struct delta_bucket *bucket = delta_buckets(delta); bucket; bucket = bucket->next)
        for (struct delta_path *path = bucket->paths; path; path = path->next_in_bucket)
            count++;
    return count;
}

static struct path_list list_paths(struct delta *delta)
{
    struct path_list list = { heap_allocate_unset((count_paths(delta) + 1) * sizeof(*list.path)), 0 };

    for (struct delta_bucket *bucket = delta_buckets(delta); bucket; bucket = bucket->next)
        for (struct delta_path *path = bucket->paths; path; path = path->next_in_bucket)
            list.path[list.count++] = path;
    qsort(list.path, list.count, sizeof(*list.path), by_place);
    return list;
}

/* ---- one path ---- */

struct packing {
    struct run_builder *builder;
    const struct delta_path *path;
    const struct piece *piece;
    uint32_t at;
    struct marks marks; /* of one term */
    char place[PAGE_BUCKET_BYTES + PAGE_TERM_BYTES_MAX];
};

static const struct delta_entry *entry_at(const struct packing *packing, uint32_t at)
{
    return delta_at(packing->path, packing->piece->index[at]);
}

static bool is_same_term(const struct packing *packing, struct slice value)
{
    return packing->at < packing->piece->count &&
           slice_equal(delta_value(entry_at(packing, packing->at)), value);
}

/*
 * Entries are exact. A number that is added first and removed last was not there before and is not there now; removed
 * first and added last, it was there and still is. Either way the run says nothing of it.
 */
static void net_number(struct packing *packing, struct slice value)
{
    uint64_t number = entry_at(packing, packing->at)->number;
    bool seen = false, first = false, last = false;

    while (is_same_term(packing, value) && entry_at(packing, packing->at)->number == number) {
        uint64_t mark = atomic_load(&entry_at(packing, packing->at++)->mark);

        if (mark == DELTA_DEAD)
            continue;
        last = mark & 1;
        first = seen ? first : last;
        seen = true;
    }
    if (seen && first == last)
        marks_put(&packing->marks, number, !last);
}

static enum status put_marks(struct op *op, struct packing *packing, struct slice value)
{
    struct marks *marks = &packing->marks;
    enum status st = ST_OK;

    if (marks->count == 0)
        goto out;
    assert(PAGE_TERM_AT + value.size <= sizeof(packing->place)); /* packed_append() takes no longer terms */
    memcpy(packing->place + PAGE_TERM_AT, value.data, value.size);
    TRY(run_builder_add(op, packing->builder, slice_make(packing->place, PAGE_TERM_AT + value.size),
                        marks->number, marks->any_gone ? marks->gone : NULL, marks->count));
    marks_clear(marks);
out:
    return st;
}

static enum status pack_term(struct op *op, struct packing *packing)
{
    struct slice value = delta_value(entry_at(packing, packing->at));
    enum status st = ST_OK;

    marks_clear(&packing->marks);
    while (is_same_term(packing, value)) {
        net_number(packing, value);
        if (packing->marks.count == MARKS_MAX)
            TRY(put_marks(op, packing, value));
    }
    TRY(put_marks(op, packing, value));
out:
    return st;
}

static enum status pack_path(struct op *op, struct packing *packing, struct delta_path *path)
{
    struct piece *piece = piece_whole(path);
    enum status st = ST_OK;

    assert(path->bucket < RUN_FILTER_BUCKET);
    packing->path = path;
    packing->piece = piece;
    packing->at = 0;
    put_be((uint8_t *)packing->place, path->bucket, PAGE_BUCKET_BYTES);
    put_be((uint8_t *)packing->place + PAGE_BUCKET_BYTES, path->path, 8);
    while (piece && packing->at < piece->count)
        TRY(pack_term(op, packing));
out:
    piece_release(piece);
    return st;
}

enum status pack_delta(struct op *op, struct run_space *space, struct delta *delta, uint64_t id,
                       struct run_facts *facts, struct filter **filter)
{
    struct path_list list = list_paths(delta);
    struct packing *packing = heap_allocate_unset(sizeof(*packing));
    struct run_builder *finished;
    enum status st;

    packing->builder = NULL;
    TRY(run_builder_begin(op, space, id, delta_entries(delta), &packing->builder));
    for (size_t i = 0; i < list.count; i++)
        TRY(pack_path(op, packing, list.path[i]));
    finished = packing->builder;
    packing->builder = NULL;
    TRY(run_builder_finish(op, finished, facts, filter));
out:
    run_builder_abort(packing->builder);
    free(packing);
    free(list.path);
    return st;
}
