/*
 * src/packed/run_stream.h - a run as a layer: its pages one after the other, either way, and counted.
 *
 * Threads. Streams that share a reader are used by one thread.
 */
#pragma once
#include "packed/run_reader.h"

struct run_stream {
    struct stream stream; /* first, so that one is the other */
    struct run_reader *reader;
    uint64_t id;
    size_t
        value_at; /* where a place becomes the stream's value: behind bucket and path, or at 0 in a merge */
    struct slice low, high; /* places: [low, high) */
    struct run_page *here;  /* NULL: it is at its end */
    size_t record;          /* where it stands */
    bool is_filled;         /* the record's marks were given */
    bool is_ahead;          /* it stands at the next term already, and has not said so */
    bool is_passed;         /* what is left of the term is beyond the numbers that are asked for */
    bool has_jumped;        /* within the term */
    bool has_floor;         /* a seek went into the middle of the term: */
    uint64_t floor;         /* numbers before this one are passed over */
};

/* Both ends, which the caller keeps, are places: bucket and what terms begin with. It stands nowhere before run_stream_start(). */
void run_stream_open(struct run_stream *stream, struct run_reader *reader, uint64_t id, struct slice low,
                     struct slice high, size_t value_at, struct bounds bounds);

enum status run_stream_start(struct op *op, struct run_stream *stream);

/* The first bucket from this one on that has a page, and how many pages are before it; at the end RUN_FILTER_BUCKET and all. */
enum status run_bucket(struct op *op, struct run_stream *stream, const struct run_facts *facts, uint64_t from,
                       uint64_t *bucket, uint64_t *pages_before);

/* Adds less removes in all of the run before the place. */
enum status run_rank(struct op *op, struct run_stream *stream, const struct run_facts *facts,
                     struct slice place, int64_t *rank);
