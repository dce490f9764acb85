/* src/packed/run_stream.c - from page to page, and from record to record within it. */
#include <assert.h>

#include "keys/bytes.h"
#include "packed/run_stream.h"

static struct run_stream *stream_of(struct stream *stream)
{
    return (struct run_stream *)stream;
}

/* ---- pages ---- */

/* In place of the page where it was. */
static void turn_to(struct run_stream *s, struct run_page *page)
{
    run_page_release(s->here);
    s->here = page;
    s->is_filled = false;
}

static bool has_page(const struct run_stream *s)
{
    return s->here != NULL;
}

static enum status load_at_or_after(struct op *op, struct run_stream *s, struct slice place, uint64_t number)
{
    struct run_page *page;
    enum status st;

    TRY(run_page_at(op, s->reader, s->id, place, number, &page));
    turn_to(s, page);
out:
    return st;
}

static enum status load_last(struct op *op, struct run_stream *s)
{
    struct run_page *page;
    enum status st;

    TRY(run_page_last(op, s->reader, s->id, &page));
    turn_to(s, page);
out:
    return st;
}

/* The neighbour in the walk's order. */
static enum status load_neighbour(struct op *op, struct run_stream *s)
{
    struct run_page *page;
    enum status st;

    assert(has_page(s)); /* at the end there is no neighbour to ask for */
    TRY(run_page_neighbour(op, s->reader, s->here, s->stream.bounds.reverse, &page));
    turn_to(s, page);
out:
    return st;
}

/* ---- places ---- */

static struct slice place_here(const struct run_stream *s)
{
    return page_place(&s->here->page, s->record);
}

/* The records that stand at a place are [*begin, *end); the same where there are none. */
static void records_of(const struct run_stream *s, struct slice place, size_t *begin, size_t *end)
{
    *begin = page_find(&s->here->page, place);
    *end = *begin;
    while (*end < s->here->page.count && slice_equal(page_place(&s->here->page, *end), place))
        ++*end;
}

/* What the stream stands at, once page and record are set. */
static void stand(struct run_stream *s)
{
    bool outside = !has_page(s);

    assert(outside || s->record < s->here->page.count);
    if (!outside)
        outside = s->stream.bounds.reverse ? slice_compare(place_here(s), s->low) < 0
                                           : slice_compare(place_here(s), s->high) >= 0;
    s->stream.value = outside ? (struct slice){ 0 } : slice_after(place_here(s), s->value_at);
    s->is_ahead = s->is_passed = s->has_jumped = s->has_floor = false;
    marks_clear(&s->stream.marks);
}

static bool covers(const struct run_stream *s, struct slice place, uint64_t number)
{
    int order;

    if (!has_page(s))
        return false;
    if (s->stream.bounds.reverse)
        return slice_compare(page_place(&s->here->page, 0), place) <= 0;
    order = slice_compare(run_page_last_place(s->here), place);
    return order > 0 || (order == 0 && run_page_last_number(s->here) >= number);
}

static enum status position_forward(struct op *op, struct run_stream *s, struct slice place, uint64_t number)
{
    size_t begin, end;
    enum status st = ST_OK;

    if (!covers(s, place, number))
        TRY(load_at_or_after(op, s, place, number));
    if (!has_page(s))
        goto out;
    records_of(s, place, &begin, &end);
    s->record = begin < s->here->page.count
                    ? begin
                    : s->here->page.count - 1; /* only where the key does not fit the page */
out:
    return st;
}

static enum status position_reverse(struct op *op, struct run_stream *s, struct slice place, uint64_t number)
{
    size_t begin, end;
    enum status st = ST_OK;

    if (!covers(s, place, number)) {
        TRY(load_at_or_after(op, s, place, number));
        if (!has_page(s))
            TRY(load_last(op, s));
    }
    if (!has_page(s))
        goto out;
    records_of(s, place, &begin, &end);
    if (number == 0) /* no document has that number: what is not after it is before the term */
        end = begin;
    if (end == 0) {
        TRY(load_neighbour(op, s));
        end = has_page(s) ? s->here->page.count : 1;
    }
    s->record = end - 1;
out:
    return st;
}

/* To the first record in the walk's order that may have what is not before (place, number). */
static enum status position(struct op *op, struct run_stream *s, struct slice place, uint64_t number)
{
    s->is_filled = false;
    return s->stream.bounds.reverse ? position_reverse(op, s, place, number)
                                    : position_forward(op, s, place, number);
}

/* ---- records ---- */

static void turn_round(struct marks *marks)
{
    for (size_t i = 0, j = marks->count; i + 1 < j--; i++) {
        uint64_t number = marks->number[i];

        marks->number[i] = marks->number[j];
        marks->number[j] = number;
    }
    for (size_t i = 0, j = marks->any_gone ? marks->count : 0; i + 1 < j--; i++) {
        bool gone = marks->gone[i];

        marks->gone[i] = marks->gone[j];
        marks->gone[j] = gone;
    }
}

/* Where the numbers that are asked for begin and end, in the walk's order. */
static uint64_t bounds_begin(const struct run_stream *s)
{
    const struct bounds *bounds = &s->stream.bounds;
    uint64_t begin = bounds->reverse ? bounds->last : bounds->first;

    return s->has_floor && comes_before(begin, s->floor, bounds->reverse) ? s->floor : begin;
}

static uint64_t bounds_end(const struct run_stream *s)
{
    return s->stream.bounds.reverse ? s->stream.bounds.first : s->stream.bounds.last;
}

static void cut_end(struct marks *marks, uint64_t end, bool reverse)
{
    while (marks->at < marks->count && comes_before(end, marks->number[marks->count - 1], reverse))
        marks->count--;
}

/* The record's marks, without those that nobody asks for. */
static enum status read_record(struct op *op, struct run_stream *s)
{
    struct marks *marks = &s->stream.marks;
    bool reverse = s->stream.bounds.reverse;
    enum status st;

    assert(has_page(s));
    s->is_filled = true;
    TRY(page_marks(op, &s->here->page, s->record, marks));
    if (reverse)
        turn_round(marks);
    s->is_passed = comes_before(bounds_end(s), marks->number[marks->count - 1], reverse);
    marks_skip(marks, bounds_begin(s), reverse);
    cut_end(marks, bounds_end(s), reverse);
out:
    return st;
}

/* A copy of the place where the stream stands, which the next page would overwrite. */
struct place_copy {
    struct slice place;
    char bytes[PAGE_BUCKET_BYTES + PAGE_TERM_BYTES_MAX];
};

static void copy_place(const struct run_stream *s, struct place_copy *copy)
{
    struct slice place = place_here(s);

    assert(place.size <= sizeof(copy->bytes)); /* page_read() has refused longer terms */
    memcpy(copy->bytes, place.data, place.size);
    copy->place = slice_make(copy->bytes, place.size);
}

static bool is_at(const struct run_stream *s, struct slice place)
{
    return has_page(s) && slice_equal(place_here(s), place);
}

/* Whether it is still the same term; the place lies elsewhere then. */
static void stay_or_be_ahead(struct run_stream *s, struct slice place)
{
    s->is_ahead = !is_at(s, place);
    if (!s->is_ahead)
        s->stream.value = slice_after(place_here(s), s->value_at);
}

static bool is_at_edge(const struct run_stream *s)
{
    return s->record == (s->stream.bounds.reverse ? 0 : s->here->page.count - 1);
}

/* The next record of the same term; is_ahead when there is none. */
static enum status step_within_term(struct op *op, struct run_stream *s)
{
    bool reverse = s->stream.bounds.reverse;
    struct place_copy here;
    enum status st = ST_OK;

    if (!is_at_edge(s)) {
        struct slice place = place_here(s);

        s->record += reverse ? -1 : 1;
        s->is_filled = false;
        stay_or_be_ahead(s, place);
        goto out;
    }
    copy_place(s, &here);
    TRY(load_neighbour(op, s));
    s->record = reverse && has_page(s) ? s->here->page.count - 1 : 0;
    stay_or_be_ahead(s, here.place);
out:
    return st;
}

/* A term of many pages is not read up to the numbers that are asked for: they are looked up, once. */
static enum status jump_within_term(struct op *op, struct run_stream *s)
{
    bool reverse = s->stream.bounds.reverse;
    struct place_copy here;
    size_t begin, end;
    enum status st;

    s->has_jumped = true;
    copy_place(s, &here);
    TRY(load_at_or_after(op, s, here.place, bounds_begin(s)));
    if (has_page(s)) {
        records_of(s, here.place, &begin, &end);
        s->record = reverse && end > 0 ? end - 1 : begin;
        if (s->record == s->here->page.count)
            s->record--;
    }
    stay_or_be_ahead(s, here.place);
out:
    return st;
}

static enum status run_fill(struct op *op, struct stream *stream)
{
    struct run_stream *s = stream_of(stream);
    enum status st = ST_OK;

    assert(stream->value.data); /* it stands at a term */
    marks_clear(&stream->marks);
    if (s->is_filled && !s->is_passed && !s->is_ahead)
        TRY(step_within_term(op, s));
    while (!s->is_ahead && !s->is_passed) {
        TRY(op_spend_often(op, 1));
        TRY(read_record(op, s));
        if (stream->marks.at < stream->marks.count)
            goto out;
        if (s->is_passed)
            goto out;
        if (is_at_edge(s) && !s->has_jumped)
            TRY(jump_within_term(op, s));
        else
            TRY(step_within_term(op, s));
    }
out:
    return st;
}

/* ---- terms ---- */

/* Past all records of the place, where some are left. */
static enum status leave_forward(struct op *op, struct run_stream *s, struct slice place)
{
    size_t begin, end;
    enum status st = ST_OK;

    records_of(s, place, &begin, &end);
    if (end == s->here->page.count) {
        TRY(load_at_or_after(op, s, place, UINT64_MAX));
        if (!has_page(s))
            goto out;
        records_of(s, place, &begin, &end);
    }
    s->record = end < s->here->page.count ? end : s->here->page.count - 1;
out:
    return st;
}

static enum status leave_reverse(struct op *op, struct run_stream *s, struct slice place)
{
    size_t begin, end;
    enum status st = ST_OK;

    records_of(s, place, &begin, &end);
    if (begin == 0) {
        TRY(load_at_or_after(op, s, place, 0));
        if (!has_page(s))
            goto out;
        records_of(s, place, &begin, &end);
    }
    if (begin == 0) {
        TRY(load_neighbour(op, s));
        begin = has_page(s) ? s->here->page.count : 1;
    }
    s->record = begin - 1;
out:
    return st;
}

/* Mostly the next record is another term's. */
static bool is_last_of_term(const struct run_stream *s)
{
    return !is_at_edge(s) && !slice_equal(page_place(&s->here->page, s->record + 1), place_here(s));
}

static enum status leave_term(struct op *op, struct run_stream *s)
{
    struct place_copy here;

    assert(has_page(s));
    s->is_filled = false;
    if (!s->stream.bounds.reverse && is_last_of_term(s)) {
        s->record++;
        return ST_OK;
    }
    copy_place(s, &here);
    return s->stream.bounds.reverse ? leave_reverse(op, s, here.place) : leave_forward(op, s, here.place);
}

static enum status run_advance(struct op *op, struct stream *stream)
{
    struct run_stream *s = stream_of(stream);
    enum status st = ST_OK;

    assert(stream->value.data); /* from a term to the next */
    if (!s->is_ahead)
        TRY(leave_term(op, s));
    stand(s);
out:
    return st;
}

static enum status seek_term(struct op *op, struct run_stream *s, struct slice value, uint64_t number)
{
    struct place_copy target;
    enum status st;

    assert(s->value_at <= s->low.size); /* bucket and path, which every place of the stream begins with */
    assert(s->value_at + value.size <= sizeof(target.bytes));
    memcpy(target.bytes, s->low.data, s->value_at);
    memcpy(target.bytes + s->value_at, value.data, value.size);
    TRY(position(op, s, slice_make(target.bytes, s->value_at + value.size), number));
    stand(s);
    s->has_floor = s->stream.value.data && slice_equal(s->stream.value, value);
    s->floor = number;
out:
    return st;
}

static enum status run_seek(struct op *op, struct stream *stream, struct slice value, uint64_t number)
{
    struct run_stream *s = stream_of(stream);
    int order;
    enum status st = ST_OK;

    if (s->is_ahead)
        TRY(run_advance(op, stream));
    order = stream->value.data ? order_values(stream->value, value, stream->bounds.reverse) : 1;
    if (order < 0)
        TRY(seek_term(op, s, value, number));
    if (order != 0)
        goto out;
    marks_skip(&stream->marks, number, stream->bounds.reverse);
    s->has_floor = true;
    s->floor = number;
    s->has_jumped = false;
out:
    return st;
}

static void run_close(struct stream *stream)
{
    struct run_stream *s = stream_of(stream);

    run_page_release(s->here);
    s->here = NULL;
}

static const struct stream_ops run_stream_ops = {
    .seek = run_seek,
    .fill = run_fill,
    .advance = run_advance,
    .close = run_close,
};

void run_stream_open(struct run_stream *s, struct run_reader *reader, uint64_t id, struct slice low,
                     struct slice high, size_t value_at, struct bounds bounds)
{
    s->stream.ops = &run_stream_ops;
    s->stream.bounds = bounds;
    s->stream.value = (struct slice){ 0 };
    marks_clear(&s->stream.marks);
    s->reader = reader;
    s->id = id;
    s->low = low;
    s->high = high;
    s->value_at = value_at;
    s->here = NULL;
    s->record = 0;
    s->is_filled = s->is_ahead = s->is_passed = s->has_jumped = s->has_floor = false;
}

enum status run_stream_start(struct op *op, struct run_stream *s)
{
    enum status st;

    TRY(position(op, s, s->stream.bounds.reverse ? s->high : s->low, 0));
    stand(s);
out:
    return st;
}

/* ---- counting ---- */

static bool is_inside(const struct run_stream *s, struct slice place)
{
    return has_page(s) && slice_compare(page_place(&s->here->page, 0), place) < 0 &&
           slice_compare(place, run_page_last_place(s->here)) <= 0;
}

enum status run_rank(struct op *op, struct run_stream *s, const struct run_facts *facts, struct slice place,
                     int64_t *rank)
{
    size_t before;
    enum status st = ST_OK;

    if (!is_inside(s, place))
        TRY(load_at_or_after(op, s, place, 0));
    *rank = facts->net;
    if (!has_page(s))
        goto out;
    *rank = s->here->page.before;
    before = page_find(&s->here->page, place);
    for (size_t i = 0; i < before; i++)
        *rank += page_net(&s->here->page, i);
out:
    return st;
}

enum status run_bucket(struct op *op, struct run_stream *s, const struct run_facts *facts, uint64_t from,
                       uint64_t *bucket, uint64_t *pages_before)
{
    uint8_t place[PAGE_BUCKET_BYTES];
    enum status st;

    put_be(place, from, PAGE_BUCKET_BYTES);
    TRY(load_at_or_after(op, s, slice_make(place, sizeof(place)), 0));
    *bucket =
        has_page(s) ? get_be(s->here->row.key.data + RUN_ID_BYTES, PAGE_BUCKET_BYTES) : RUN_FILTER_BUCKET;
    *pages_before = has_page(s) ? s->here->page.ordinal : facts->pages;
out:
    return st;
}
