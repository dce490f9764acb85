/* src/packed/merge.c - the runs as layers, joined (packed/join.h), into a builder. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "keys/bytes.h"
#include "packed/join.h"
#include "packed/merge.h"
#include "packed/run_builder.h"
#include "packed/run_stream.h"
#include "packed/survey.h"

enum { BLOCKS_BETWEEN_PAUSES = 256 };

struct merging {
    struct run_space *space;
    const struct merge *merge;
    struct run_reader *reader; /* one each: they go through their runs side by side */
    struct run_stream *run_stream;
    struct stream **stream;
    struct join join;
    struct run_builder *builder;
    bool has_bucket;
    uint64_t bucket;
    struct marks left; /* of a block, without what is gone */
};

static const char lowest[1], highest[PAGE_BUCKET_BYTES] = { -1, -1, -1, -1, -1, -1 };

static void *allocate(size_t count, size_t bytes)
{
    return heap_allocate((count + 1) * bytes);
}

static enum status open_streams(struct op *op, struct merging *merging)
{
    const struct bounds all = { 0, UINT64_MAX, false };
    enum status st = ST_OK;

    for (size_t i = 0; i < merging->merge->count; i++) {
        struct run_stream *stream = &merging->run_stream[i];

        merging->reader[i] = (struct run_reader){ .space = merging->space, .once = true };
        run_stream_open(stream, &merging->reader[i], run_facts(merging->merge->run[i])->id,
                        slice_make(lowest, 0), slice_make(highest, sizeof(highest)), 0, all);
        merging->stream[i] = &stream->stream;
    }
    for (size_t i = 0; i < merging->merge->count; i++)
        TRY(run_stream_start(op, &merging->run_stream[i]));
    join_lay(&merging->join, merging->stream, merging->merge->count);
out:
    return st;
}

static struct merging *merging_new(struct run_space *space, const struct merge *merge)
{
    struct merging *merging = allocate(1, sizeof(*merging));

    merging->space = space;
    merging->merge = merge;
    join_init(&merging->join, false, true);
    merging->reader = allocate(merge->count, sizeof(*merging->reader));
    merging->run_stream = allocate(merge->count, sizeof(*merging->run_stream));
    merging->stream = allocate(merge->count, sizeof(*merging->stream));
    return merging;
}

static void merging_free(struct merging *merging)
{
    for (size_t i = 0; i < merging->merge->count; i++) {
        if (merging->stream[i])
            merging->stream[i]->ops->close(merging->stream[i]);
        run_reader_close(&merging->reader[i]);
    }
    run_builder_abort(merging->builder);
    join_free(&merging->join);
    free(merging->stream);
    free(merging->run_stream);
    free(merging->reader);
    free(merging);
}

/*
 * A bucket that was just dropped still has its settled LSN for a moment, so the list of dropped buckets is asked
 * first.
 */
static enum status is_dropped(struct op *op, const struct merging *merging, bool *dropped)
{
    const struct merge *merge = merging->merge;

    *dropped = merge->is_dropped(merge->context, merging->bucket);
    return *dropped ? ST_OK : survey_is_dropped(op, merging->space, merging->bucket, dropped);
}

/* Looks at a bucket when it begins; `skip`: the block is not to be written. */
static enum status enter_bucket(struct op *op, struct merging *merging, struct slice place, bool *skip)
{
    uint64_t bucket = get_be(place.data, PAGE_BUCKET_BYTES);
    uint8_t next[PAGE_BUCKET_BYTES];
    enum status st = ST_OK;

    assert(place.size >= PAGE_TERM_AT); /* page_read() has refused shorter ones */
    *skip = false;
    if (merging->has_bucket && merging->bucket == bucket)
        goto out;
    merging->has_bucket = true;
    merging->bucket = bucket;
    TRY(is_dropped(op, merging, skip));
    if (!*skip)
        goto out;
    put_be(next, bucket + 1, PAGE_BUCKET_BYTES);
    TRY(join_seek(op, &merging->join, slice_make(next, sizeof(next)), 0));
out:
    return st;
}

static void leave_out_gone(struct marks *left, const struct join_block *block)
{
    assert(block->gone);
    assert(block->count <= MARKS_MAX);
    marks_clear(left);
    for (size_t i = 0; i < block->count; i++)
        if (!block->gone[i])
            marks_put(left, block->number[i], false);
}

static enum status put_block(struct op *op, struct merging *merging, const struct join_block *block)
{
    if (!merging->merge->whole || !block->gone)
        return run_builder_add(op, merging->builder, block->value, block->number, block->gone, block->count);
    leave_out_gone(&merging->left, block);
    if (merging->left.count == 0)
        return ST_OK;
    return run_builder_add(op, merging->builder, block->value, merging->left.number, NULL,
                           merging->left.count);
}

static enum status merge_blocks(struct op *op, struct merging *merging)
{
    const struct merge *merge = merging->merge;
    struct join_block block;
    enum status st = ST_OK;

    for (size_t blocks = 1;; blocks++) {
        bool skip;

        TRY(join_next(op, &merging->join, &block));
        if (block.count == 0)
            goto out;
        TRY(enter_bucket(op, merging, block.value, &skip));
        if (!skip)
            TRY(put_block(op, merging, &block));
        if (blocks % BLOCKS_BETWEEN_PAUSES == 0)
            TRY(merge->pause(merge->context));
    }
out:
    return st;
}

static uint64_t terms_max(const struct merge *merge)
{
    uint64_t terms = 0;

    for (size_t i = 0; i < merge->count; i++)
        terms += run_facts(merge->run[i])->terms;
    return terms;
}

enum status merge_runs(struct op *op, struct run_space *space, const struct merge *merge,
                       struct run_facts *facts, struct filter **filter)
{
    struct merging *merging = merging_new(space, merge);
    struct run_builder *finished;
    enum status st;

    assert(merge->count > 0);
    TRY(run_builder_begin(op, space, merge->id, terms_max(merge), &merging->builder));
    TRY(open_streams(op, merging));
    TRY(merge_blocks(op, merging));
    finished = merging->builder;
    merging->builder = NULL;
    TRY(run_builder_finish(op, finished, facts, filter));
out:
    merging_free(merging);
    return st;
}
