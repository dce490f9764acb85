/* src/packed/join.c - picks the least term, then merges the numbers of those layers that have it. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "packed/join.h"

void join_init(struct join *join, bool reverse, bool nets)
{
    join->reverse = reverse;
    join->nets = nets;
    join->value = NULL;
    join->value_capacity = 0;
    join->member = NULL;
    join->member_capacity = 0;
    join_lay(join, NULL, 0);
}

void join_free(struct join *join)
{
    free(join->value);
    free(join->member);
}

void join_lay(struct join *join, struct stream **stream, size_t count)
{
    assert(stream || count == 0);
    heap_list_reserve(&join->member, &join->member_capacity, count, sizeof(struct stream *));
    join->stream = stream;
    join->count = count;
    join->member_count = 0;
    join->in_term = false;
    marks_clear(&join->out);
}

static void keep_value(struct join *join, struct slice value)
{
    if (value.size > join->value_capacity || !join->value) {
        join->value_capacity = 2 * value.size + 64;
        free(join->value);
        join->value = heap_allocate_unset(join->value_capacity);
    }
    if (value.size)
        memcpy(join->value, value.data, value.size);
    join->value_bytes = value.size;
}

/* ---- a term ---- */

/* Those that stand at the least term; none at the end. */
static void choose_term(struct join *join)
{
    join->member_count = 0;
    for (size_t i = 0; i < join->count; i++) {
        struct stream *stream = join->stream[i];
        int order = -1;

        if (!stream->value.data)
            continue;
        if (join->member_count > 0)
            order = order_values(stream->value, join->member[0]->value, join->reverse);
        if (order > 0)
            continue;
        if (order < 0)
            join->member_count = 0;
        join->member[join->member_count++] = stream;
    }
}

static enum status fill_if_empty(struct op *op, struct stream *stream)
{
    return stream->marks.at < stream->marks.count ? ST_OK : stream->ops->fill(op, stream);
}

static enum status begin_term(struct op *op, struct join *join)
{
    enum status st = ST_OK;

    assert(!join->in_term);
    choose_term(join);
    if (join->member_count == 0)
        goto out;
    keep_value(join, join->member[0]->value);
    join->in_term = true;
    for (size_t i = 0; i < join->member_count; i++)
        TRY(fill_if_empty(op, join->member[i]));
out:
    return st;
}

static enum status end_term(struct op *op, struct join *join)
{
    enum status st = ST_OK;

    assert(join->in_term);
    join->in_term = false;
    for (size_t i = 0; i < join->member_count; i++)
        TRY(join->member[i]->ops->advance(op, join->member[i]));
out:
    return st;
}

/* ---- numbers ---- */

static uint64_t head_of(const struct stream *stream)
{
    return stream->marks.number[stream->marks.at];
}

/* A member that has no more of the term leaves. */
static enum status settle_member(struct op *op, struct join *join, size_t i, bool *stays)
{
    struct stream *stream = join->member[i];
    enum status st;

    TRY(fill_if_empty(op, stream));
    *stays = stream->marks.at < stream->marks.count;
    if (*stays)
        goto out;
    TRY(stream->ops->advance(op, stream));
    join->member_count--;
    memmove(&join->member[i], &join->member[i + 1], (join->member_count - i) * sizeof(join->member[0]));
out:
    return st;
}

static enum status settle_members(struct op *op, struct join *join)
{
    bool stays;
    enum status st = ST_OK;

    for (size_t i = 0; i < join->member_count; i += stays)
        TRY(settle_member(op, join, i, &stays));
out:
    return st;
}

/* What the layers that have the number say together; it is passed over in each. */
static void take_number(struct join *join, uint64_t number)
{
    bool found = false, oldest_gone = false, newest_gone = false;

    for (size_t i = 0; i < join->member_count; i++) {
        struct marks *marks = &join->member[i]->marks;

        if (marks->at == marks->count || marks->number[marks->at] != number)
            continue;
        newest_gone = marks_is_gone(marks, marks->at++);
        oldest_gone = found ? oldest_gone : newest_gone;
        found = true;
    }
    if (join->nets ? oldest_gone == newest_gone : !newest_gone)
        marks_put(&join->out, number, newest_gone);
}

/* The member with the least number, and where the others begin. */
static struct stream *least_member(const struct join *join, uint64_t *others_begin)
{
    struct stream *least = join->member[0];

    *others_begin = join->reverse ? 0 : UINT64_MAX;
    for (size_t i = 1; i < join->member_count; i++) {
        struct stream *stream = join->member[i], *loser = stream;

        if (comes_before(head_of(stream), head_of(least), join->reverse)) {
            loser = least;
            least = stream;
        }
        if (comes_before(head_of(loser), *others_begin, join->reverse))
            *others_begin = head_of(loser);
    }
    return least;
}

/* Up to where the others begin nobody contradicts. */
static void take_alone(struct join *join, struct marks *marks, uint64_t others_begin)
{
    while (marks->at < marks->count && join->out.count < MARKS_MAX &&
           comes_before(marks->number[marks->at], others_begin, join->reverse)) {
        bool gone = marks_is_gone(marks, marks->at);

        if (join->nets || !gone)
            marks_put(&join->out, marks->number[marks->at], gone);
        marks->at++;
    }
}

static enum status merge_numbers(struct op *op, struct join *join)
{
    enum status st = ST_OK;

    while (join->out.count < MARKS_MAX) {
        uint64_t others_begin;
        struct stream *least;

        TRY(settle_members(op, join));
        if (join->member_count < 2)
            goto out;
        least = least_member(join, &others_begin);
        if (head_of(least) == others_begin)
            take_number(join, others_begin);
        else
            take_alone(join, &least->marks, others_begin);
    }
out:
    return st;
}

static void give(struct join *join, struct marks *marks, struct join_block *block)
{
    assert(join->in_term); /* the value is that of the term at hand */
    assert(marks->at <= marks->count);
    block->value = slice_make(join->value, join->value_bytes);
    block->number = marks->number + marks->at;
    block->gone = marks->any_gone ? marks->gone + marks->at : NULL;
    block->count = marks->count - marks->at;
    marks->at = marks->count;
}

/* One layer alone has the rest of the term: its block goes on as it is, unless something is gone that readers must not see. */
static void give_single(struct join *join, struct join_block *block)
{
    struct marks *marks = &join->member[0]->marks;

    assert(join->member_count == 1);
    assert(join->out.count == 0);
    if (join->nets || !marks->any_gone) {
        give(join, marks, block);
        return;
    }
    while (marks->at < marks->count && join->out.count < MARKS_MAX) {
        if (!marks->gone[marks->at])
            marks_put(&join->out, marks->number[marks->at], false);
        marks->at++;
    }
    give(join, &join->out, block);
}

/* A block of the term at hand, perhaps an empty one. */
static enum status next_of_term(struct op *op, struct join *join, struct join_block *block)
{
    enum status st;

    marks_clear(&join->out);
    TRY(settle_members(op, join));
    if (join->member_count > 1)
        TRY(merge_numbers(op, join));
    if (join->out.count > 0)
        give(join, &join->out, block);
    else if (join->member_count == 1)
        give_single(join, block);
    else if (join->member_count == 0)
        TRY(end_term(op, join));
out:
    return st;
}

enum status join_next(struct op *op, struct join *join, struct join_block *block)
{
    enum status st = ST_OK;

    *block = (struct join_block){ 0 };
    while (block->count == 0) {
        if (!join->in_term)
            TRY(begin_term(op, join));
        if (!join->in_term)
            goto out;
        TRY(next_of_term(op, join, block));
        TRY(op_spend_often(op, block->count == 0)); /* a term with nothing left may follow another */
    }
out:
    return st;
}

enum status join_seek(struct op *op, struct join *join, struct slice value, uint64_t number)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < join->count; i++)
        TRY(join->stream[i]->ops->seek(op, join->stream[i], value, number));
    join->in_term = false;
out:
    return st;
}
