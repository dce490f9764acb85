/* src/packed/survey.c - from bucket to bucket by one lookup each. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "keys/keys.h"
#include "packed/run_stream.h"
#include "packed/survey.h"

enum status survey_is_dropped(struct op *op, struct run_space *space, uint64_t bucket, bool *dropped)
{
    struct arena_mark mark = arena_mark(&op->arena);
    struct slice key = key_settled(&op->arena, bucket), value;
    enum status st;

    TRY(space->ops->get(op, space, key, &value));
    *dropped = !value.data;
    arena_rewind(&op->arena, mark);
out:
    return st;
}

struct survey {
    struct run_reader reader;
    struct run_stream stream;
};

static struct survey *begin(struct run_space *space, const struct run *run)
{
    struct survey *survey = heap_allocate_unset(sizeof(*survey));

    survey->reader = (struct run_reader){ .space = space };
    run_stream_open(&survey->stream, &survey->reader, run_facts(run)->id, slice_of(""), slice_of(""), 0,
                    (struct bounds){ 0 });
    return survey;
}

static void end(struct survey *survey)
{
    survey->stream.stream.ops->close(&survey->stream.stream);
    run_reader_close(&survey->reader);
    free(survey);
}

/* The next bucket from one on that has pages, how many, and how many are before it. */
static enum status look(struct op *op, struct survey *survey, const struct run_facts *facts, uint64_t from,
                        uint64_t *bucket, uint64_t *pages)
{
    uint64_t begin_pages, end_pages, after;
    enum status st;

    *pages = 0;
    TRY(run_bucket(op, &survey->stream, facts, from, bucket, &begin_pages));
    if (*bucket == RUN_FILTER_BUCKET)
        goto out;
    TRY(run_bucket(op, &survey->stream, facts, *bucket + 1, &after, &end_pages));
    *pages = end_pages - begin_pages;
out:
    return st;
}

enum status survey_bucket(struct op *op, struct run_space *space, struct run *run, uint64_t bucket)
{
    struct survey *survey = begin(space, run);
    uint64_t found, pages;
    enum status st;

    assert(bucket < RUN_FILTER_BUCKET);
    TRY(look(op, survey, run_facts(run), bucket, &found, &pages));
    if (found == bucket)
        run_adds_dropped_pages(run, pages);
out:
    end(survey);
    return st;
}

enum status survey_run(struct op *op, struct run_space *space, struct run *run)
{
    struct survey *survey = begin(space, run);
    uint64_t bucket = 0, pages;
    bool dropped;
    enum status st;

    for (;; bucket++) {
        TRY(look(op, survey, run_facts(run), bucket, &bucket, &pages));
        if (bucket == RUN_FILTER_BUCKET)
            goto out;
        TRY(survey_is_dropped(op, space, bucket, &dropped));
        if (dropped)
            run_adds_dropped_pages(run, pages);
    }
out:
    end(survey);
    return st;
}
