/* src/packed/paths.c - the nearest path of each layer, and of those the nearest. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "keys/bytes.h"
#include "packed/paths.h"
#include "packed/piece_stream.h"

enum { PATH_BYTES = 8 };

struct search {
    uint64_t bucket;
    const uint64_t *path;
    bool reverse;
    bool found;
    uint64_t next;
};

static void consider(struct search *search, uint64_t path)
{
    if (search->path && (search->reverse ? path >= *search->path : path <= *search->path))
        return;
    if (search->found && (search->reverse ? path <= search->next : path >= search->next))
        return;
    search->found = true;
    search->next = path;
}

static void look_into_delta(struct search *search, struct delta *delta)
{
    struct delta_path *path = NULL;

    while ((path = delta_next_path(delta, search->bucket, path)))
        consider(search, path->path);
}

/* All of the bucket's places that are beyond the path: [low, high). */
static void bounds_of(const struct search *search, uint8_t low[PAGE_TERM_AT], struct slice *from,
                      uint8_t high[PAGE_TERM_AT], struct slice *to)
{
    uint64_t above = search->path && !search->reverse ? *search->path + 1 : 0;

    assert(search->bucket < RUN_FILTER_BUCKET); /* there is a number after it */
    put_be(low, search->bucket, PAGE_BUCKET_BYTES);
    put_be(low + PAGE_BUCKET_BYTES, above, PATH_BYTES);
    *from = slice_make(low, PAGE_TERM_AT);
    put_be(high, search->bucket + 1, PAGE_BUCKET_BYTES);
    *to = slice_make(high, PAGE_BUCKET_BYTES);
    if (!search->path || !search->reverse)
        return;
    put_be(high, search->bucket, PAGE_BUCKET_BYTES);
    put_be(high + PAGE_BUCKET_BYTES, *search->path, PATH_BYTES);
    *to = slice_make(high, PAGE_TERM_AT);
}

static enum status look_into_run(struct op *op, struct search *search, struct run_reader *reader,
                                 const struct run *run)
{
    struct run_stream *stream = heap_allocate_unset(sizeof(*stream));
    uint8_t low[PAGE_TERM_AT], high[PAGE_TERM_AT];
    struct slice from, to;
    enum status st;

    bounds_of(search, low, &from, high, &to);
    run_stream_open(stream, reader, run_facts(run)->id, from, to, PAGE_BUCKET_BYTES,
                    (struct bounds){ 0, UINT64_MAX, search->reverse });
    TRY(run_stream_start(op, stream));
    if (stream->stream.value.data)
        consider(search, get_be(stream->stream.value.data, PATH_BYTES));
out:
    stream->stream.ops->close(&stream->stream);
    free(stream);
    return st;
}

enum status paths_next(struct op *op, const struct packed_pin *pin, struct run_reader *reader,
                       uint64_t bucket, const uint64_t *path, bool reverse, bool *found, uint64_t *next)
{
    struct search search = { .bucket = bucket, .path = path, .reverse = reverse };
    bool ends = path && *path == (reverse ? 0 : UINT64_MAX);
    enum status st = ST_OK;

    for (size_t i = 0; i < pin->run_count && !ends; i++)
        TRY(look_into_run(op, &search, reader, pin->run[i]));
    if (pin->sealed)
        look_into_delta(&search, pin->sealed);
    look_into_delta(&search, pin->active);
    *found = search.found;
    *next = search.next;
out:
    return st;
}

enum status paths_count(struct op *op, struct delta *delta, uint64_t bucket, uint64_t lsn, int64_t *count)
{
    const struct value_range all = { .from = slice_of("") };
    struct delta_path *path = NULL;
    enum status st = ST_OK;

    while (st == ST_OK && (path = delta_next_path(delta, bucket, path))) {
        struct piece *piece[PIECES_MAX];
        size_t pieces = piece_list(path, piece);

        for (size_t i = 0; i < pieces; i++) {
            int64_t found = 0;

            if (st == ST_OK)
                st = piece_count(op, path, piece[i], &all, lsn, &found);
            *count += found;
            piece_release(piece[i]);
        }
    }
    return st;
}
