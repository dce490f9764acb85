/* src/packed/piece_stream.c - positions count in the walk's order, so that both directions are one code. */
#include <assert.h>

#include "packed/piece_stream.h"

enum { ENTRIES_OF_A_STEP = 8, COUNTED_IN_A_STEP = 32 }; /* of an operation (base/op.h) */

static struct piece_stream *stream_of(struct stream *stream)
{
    return (struct piece_stream *)stream;
}

static const struct delta_entry *entry_at(const struct piece_stream *s, uint32_t at)
{
    return delta_at(s->path, s->piece->index[s->stream.bounds.reverse ? s->piece->count - 1 - at : at]);
}

static void stand(struct piece_stream *s)
{
    s->stream.value = s->at < s->end ? delta_value(entry_at(s, s->at)) : (struct slice){ 0 };
    marks_clear(&s->stream.marks);
}

static bool is_before(const struct piece_stream *s, uint32_t at, struct slice value, uint64_t number)
{
    int order = piece_compare(entry_at(s, at), value, number);

    return s->stream.bounds.reverse ? order > 0 : order < 0;
}

/* The first position from `at` on that is not before (value, number): mostly a near one, so the steps begin small. */
static uint32_t gallop(const struct piece_stream *s, uint32_t at, struct slice value, uint64_t number)
{
    uint32_t low = at, high = at, step = 1;

    while (high < s->end && is_before(s, high, value, number)) {
        low = high + 1;
        high = s->end - high > step ? high + step : s->end;
        step *= 2;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (is_before(s, middle, value, number))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum status piece_seek(struct op *op, struct stream *stream, struct slice value, uint64_t number)
{
    struct piece_stream *s = stream_of(stream);
    int order = stream->value.data ? order_values(stream->value, value, stream->bounds.reverse) : 1;

    (void)op;
    if (order > 0)
        return ST_OK;
    if (order == 0)
        marks_skip(&stream->marks, number, stream->bounds.reverse);
    if (order == 0 && stream->marks.at < stream->marks.count)
        return ST_OK;
    s->at = gallop(s, s->at, value, number);
    stand(s);
    return ST_OK;
}

/* Of all entries for one number the last that is visible counts. */
struct verdict {
    bool seen, gone;
};

static void consider(const struct piece_stream *s, const struct delta_entry *entry, struct verdict *verdict)
{
    uint64_t mark = atomic_load_explicit(&entry->mark, memory_order_relaxed);

    if (!delta_is_visible(mark, s->lsn) || (verdict->seen && s->stream.bounds.reverse))
        return; /* in reverse the last one is met first */
    *verdict = (struct verdict){ true, !(mark & 1) };
}

static bool is_same_term(const struct piece_stream *s, uint32_t at)
{
    return at < s->end && slice_equal(delta_value(entry_at(s, at)), s->stream.value);
}

static struct verdict judge_number(struct piece_stream *s)
{
    const struct delta_entry *entry = entry_at(s, s->at);
    uint64_t number = entry->number;
    struct verdict verdict = { 0 };

    do {
        consider(s, entry, &verdict);
        s->at++;
    } while (is_same_term(s, s->at) && (entry = entry_at(s, s->at))->number == number);
    return verdict;
}

/* False past the numbers that are asked for; passes over those before them. */
static bool enter_bounds(struct piece_stream *s)
{
    const struct bounds *bounds = &s->stream.bounds;
    uint64_t begin = bounds->reverse ? bounds->last : bounds->first;
    uint64_t end = bounds->reverse ? bounds->first : bounds->last;

    if (comes_before(entry_at(s, s->at)->number, begin, bounds->reverse))
        s->at = gallop(s, s->at, s->stream.value, begin);
    return is_same_term(s, s->at) && !comes_before(end, entry_at(s, s->at)->number, bounds->reverse);
}

static enum status piece_fill(struct op *op, struct stream *stream)
{
    struct piece_stream *s = stream_of(stream);
    uint32_t begin = s->at;

    marks_clear(&stream->marks);
    while (stream->marks.count < MARKS_MAX && is_same_term(s, s->at) && enter_bounds(s)) {
        uint64_t number = entry_at(s, s->at)->number;
        struct verdict verdict = judge_number(s);

        if (verdict.seen)
            marks_put(&stream->marks, number, verdict.gone);
    }
    return op_spend_often(op, (s->at - begin) / ENTRIES_OF_A_STEP);
}

static enum status piece_advance(struct op *op, struct stream *stream)
{
    struct piece_stream *s = stream_of(stream);
    uint32_t begin;

    if (is_same_term(s, s->at)) /* beyond the bounds */
        s->at = gallop(s, s->at, stream->value, stream->bounds.reverse ? 0 : UINT64_MAX);
    for (begin = s->at; is_same_term(s, s->at);)
        s->at++;
    stand(s);
    return op_spend_often(op, (s->at - begin) / ENTRIES_OF_A_STEP);
}

static void piece_close(struct stream *stream)
{
    piece_release(stream_of(stream)->piece);
}

static const struct stream_ops piece_ops = {
    .seek = piece_seek,
    .fill = piece_fill,
    .advance = piece_advance,
    .close = piece_close,
};

static uint32_t range_begin(const struct delta_path *path, const struct piece *piece,
                            const struct value_range *range)
{
    return piece_find(path, piece, range->from, 0);
}

static uint32_t range_end(const struct delta_path *path, const struct piece *piece,
                          const struct value_range *range, uint32_t begin)
{
    return range->to.data ? piece_find_behind(path, piece, begin, range->to, 0) : piece->count;
}

void piece_stream_open(struct piece_stream *s, const struct delta_path *path, struct piece *piece,
                       const struct value_range *range, struct bounds bounds, uint64_t lsn)
{
    uint32_t begin = range_begin(path, piece, range), end = range_end(path, piece, range, begin);

    assert(piece);
    assert(path->delta); /* which the pin holds: entries outlive the stream */
    s->stream.ops = &piece_ops;
    s->stream.bounds = bounds;
    s->path = path;
    s->piece = piece;
    s->lsn = lsn;
    s->at = bounds.reverse ? piece->count - end : begin;
    s->end = bounds.reverse ? piece->count - begin : end;
    stand(s);
}

static int64_t count_one_by_one(const struct delta_path *path, const struct piece *piece, uint32_t begin,
                                uint32_t end, uint64_t lsn)
{
    int64_t count = 0;

    for (uint32_t at = begin; at < end; at++) {
        uint64_t mark = atomic_load_explicit(&delta_at(path, piece->index[at])->mark, memory_order_relaxed);

        if (delta_is_visible(mark, lsn))
            count += mark & 1 ? 1 : -1;
    }
    return count;
}

static int64_t count_before(const struct delta_path *path, const struct piece *piece, uint32_t at,
                            uint64_t lsn)
{
    uint32_t begin = at / PIECE_STRIDE * PIECE_STRIDE;

    assert(at <= piece->count); /* the sums go so far */
    return piece->sum[at / PIECE_STRIDE] + count_one_by_one(path, piece, begin, at, lsn);
}

/* The sums are those of a reader who sees all of the piece. */
static bool has_sums(const struct delta_path *path, const struct piece *piece, uint64_t lsn)
{
    return piece->newest_lsn <= lsn && piece->dead == atomic_load(&path->dead);
}

enum status piece_count(struct op *op, const struct delta_path *path, const struct piece *piece,
                        const struct value_range *range, uint64_t lsn, int64_t *count)
{
    uint32_t begin = range_begin(path, piece, range), end = range_end(path, piece, range, begin);
    enum status st = ST_OK;

    *count = 0;
    if (begin == end)
        goto out;
    if (has_sums(path, piece, lsn)) {
        *count = count_before(path, piece, end, lsn) - count_before(path, piece, begin, lsn);
        goto out;
    }
    TRY(op_spend_often(op, (end - begin) / COUNTED_IN_A_STEP));
    *count = count_one_by_one(path, piece, begin, end, lsn);
out:
    return st;
}
