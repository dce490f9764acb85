/*
 * src/packed/stream.h - one layer of entries in order: a piece of the delta, or a run.
 * It stands at a term and gives that term's marks, block by block; packed/join.h lays several over one another.
 * In a reverse walk everything is the other way round: terms and numbers fall, and "next" is the one before.
 *
 * Threads. Used by one thread.
 */
#pragma once
#include "base/op.h"

enum { MARKS_MAX = 512 };

/* What a layer says of numbers of one term: it is there, or it is gone. */
struct marks {
    size_t at, count; /* [at, count) are to be looked at */
    bool any_gone;    /* among all */
    uint64_t number[MARKS_MAX];
    bool gone[MARKS_MAX]; /* only where any_gone */
};

struct bounds {
    uint64_t first, last; /* numbers: [first, last] */
    bool reverse;
};

struct stream;

struct stream_ops {
    /* Forward to what is not before (value, number) in the walk's order; stays where it is beyond that. */
    enum status (*seek)(struct op *op, struct stream *stream, struct slice value, uint64_t number);

    /* The next marks of the term it stands at; none when there are no more of it. */
    enum status (*fill)(struct op *op, struct stream *stream);

    /* To the next term. */
    enum status (*advance)(struct op *op, struct stream *stream);
    void (*close)(struct stream *stream);
};

struct stream {
    const struct stream_ops *ops;
    struct bounds bounds;
    struct slice value; /* of the term it stands at; data is NULL at the end */
    struct marks marks;
};

static inline void marks_clear(struct marks *marks)
{
    marks->at = marks->count = 0;
    marks->any_gone = false;
}

static inline void marks_put(struct marks *marks, uint64_t number, bool gone)
{
    if (gone && !marks->any_gone) {
        memset(marks->gone, 0, marks->count * sizeof(marks->gone[0]));
        marks->any_gone = true;
    }
    if (marks->any_gone)
        marks->gone[marks->count] = gone;
    marks->number[marks->count++] = number;
}

static inline bool marks_is_gone(const struct marks *marks, size_t at)
{
    return marks->any_gone && marks->gone[at];
}

/* Whether a number comes before another in the walk. */
static inline bool comes_before(uint64_t number, uint64_t other, bool reverse)
{
    return reverse ? number > other : number < other;
}

/* Passes over the numbers before this one that are in the block. */
static inline void marks_skip(struct marks *marks, uint64_t number, bool reverse)
{
    while (marks->at < marks->count && comes_before(marks->number[marks->at], number, reverse))
        marks->at++;
}

static inline int order_values(struct slice a, struct slice b, bool reverse)
{
    int order = slice_compare(a, b);

    return reverse ? -order : order;
}
