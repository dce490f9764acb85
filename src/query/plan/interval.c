/* src/query/plan/interval.c - values between two bounds: made, met, and as terms of an index. */
#include <assert.h>
#include <math.h>

#include "index/set.h"
#include "keys/ordered.h"
#include "query/plan/interval.h"

struct interval interval_of_kinds(enum json_kind first, enum json_kind last)
{
    assert(first <= last);
    return (struct interval){ .first = first, .last = last };
}

struct interval interval_of_value(struct value value)
{
    struct bound_value bound = { .is_set = true, .value = value };

    return (struct interval){ .low = bound, .high = bound, .first = value.kind, .last = value.kind };
}

struct interval interval_of_prefix(struct slice prefix)
{
    struct interval interval = interval_of_value(value_string(prefix));

    interval.is_prefix = true;
    return interval;
}

/* Values that have an order have it among their own kind. */
static struct interval kind_of(struct value value)
{
    if (value_is_bool(value))
        return interval_of_kinds(JSON_FALSE, JSON_TRUE);
    return interval_of_kinds(value.kind, value.kind);
}

struct interval interval_of_order(enum operator_kind operation, struct value value)
{
    bool less = operation == OPERATOR_LESS || operation == OPERATOR_LESS_EQUAL;
    struct interval interval = kind_of(value);
    struct bound_value *bound = less ? &interval.high : &interval.low;

    assert(value.kind != JSON_UNDEFINED);
    assert(value.kind < JSON_ARRAY); /* arrays and objects have no order */
    *bound = (struct bound_value){ .is_set = true, .value = value };
    bound->is_open = operation == OPERATOR_LESS || operation == OPERATOR_GREATER;
    return interval;
}

void interval_complement(struct value value, struct interval both[2])
{
    assert(value.kind < JSON_ARRAY); /* their terms are hashes, which others may share */
    both[0] = both[1] = interval_of_kinds(JSON_NULL, JSON_OBJECT);
    both[0].high = both[1].low = (struct bound_value){ .is_set = true, .is_open = true, .value = value };
}

/* The one that leaves less; `sign` is 1 for lower bounds. */
static struct bound_value tighter(struct bound_value a, struct bound_value b, int sign)
{
    int order = a.is_set && b.is_set ? sign * value_compare(a.value, b.value) : 0;

    if (!a.is_set || !b.is_set)
        return a.is_set ? a : b;
    if (order == 0)
        return a.is_open ? a : b;
    return order > 0 ? a : b;
}

/* Below the first kind, or above the last, a bound bounds nothing. */
static void leave_out_needless(struct interval *both)
{
    if (both->low.is_set && (int)both->low.value.kind < (int)both->first)
        both->low = (struct bound_value){ 0 };
    if (both->high.is_set && (int)both->high.value.kind > (int)both->last)
        both->high = (struct bound_value){ 0 };
}

struct interval interval_meet(const struct interval *a, const struct interval *b)
{
    struct interval both = { .first = a->first > b->first ? a->first : b->first,
                             .last = a->last < b->last ? a->last : b->last };

    assert(!a->is_prefix);
    assert(!b->is_prefix);
    both.low = tighter(a->low, b->low, 1);
    both.high = tighter(a->high, b->high, -1);
    leave_out_needless(&both);
    return both;
}

static bool has_both(const struct interval *interval)
{
    return interval->low.is_set && interval->high.is_set && !interval->is_prefix;
}

/* An array with NaN in it equals nothing, but is one value. */
bool interval_is_point(const struct interval *interval)
{
    struct value low = interval->low.value, high = interval->high.value;

    if (!has_both(interval) || low.kind != high.kind)
        return false;
    return low.kind >= JSON_ARRAY ? json_equal(low.json, high.json) : value_equal(low, high);
}

bool interval_is_empty(const struct interval *interval)
{
    int order = has_both(interval) ? value_compare(interval->low.value, interval->high.value) : -1;

    if (interval->first > interval->last ||
        (interval->low.is_set && (enum json_kind)interval->low.value.kind > interval->last) ||
        (interval->high.is_set && (enum json_kind)interval->high.value.kind < interval->first))
        return true;
    return order > 0 || (order == 0 && (interval->low.is_open || interval->high.is_open));
}

bool interval_has(const struct interval *interval, struct value value)
{
    struct interval point = interval_of_value(value);
    struct interval both = interval_meet(interval, &point);

    return !interval_is_empty(&both);
}

bool interval_is_stored(const struct interval *interval)
{
    return !interval->low.is_set || value_is_finite(interval->low.value);
}

/* ---- as terms ---- */

/* The terms of a value behind the prefix; how far they tell it apart from others is in `size`. */
struct value_bytes {
    uint8_t byte[ORDERED_BYTES_MAX];
    size_t size;
    bool hashed;
};

static bool put_value(struct op *op, struct value value, struct value_bytes *out)
{
    struct json json = value_to_json(op, value);

    if (json_kind(json) != value.kind || !value_is_finite(value)) /* out of memory, or no number of JSON's */
        return false;
    out->size = ordered_encode(json, out->byte);
    out->hashed = ordered_is_hashed(slice_make(out->byte, out->size));
    return true;
}

/* What all values share that begin as this one does, hash and end left out. */
static void cut_to_shared(struct value_bytes *bytes, bool is_prefix)
{
    if (bytes->hashed && bytes->byte[0] == JSON_STRING + 1)
        bytes->size = 1 + ORDERED_STRING_BYTES;
    else if (is_prefix)
        bytes->size--;
}

static struct slice term_of(struct op *op, struct slice prefix, const struct value_bytes *bytes,
                            bool descending)
{
    uint8_t *term = arena_try_alloc(&op->arena, prefix.size + bytes->size);

    if (!term)
        return (struct slice){ 0 };
    memcpy(term, prefix.data, prefix.size);
    for (size_t i = 0; i < bytes->size; i++)
        term[prefix.size + i] = descending ? (uint8_t)~bytes->byte[i] : bytes->byte[i];
    return slice_make(term, prefix.size + bytes->size);
}

static void put_kind(enum json_kind kind, struct value_bytes *out)
{
    out->byte[0] = (uint8_t)(kind + 1);
    out->size = 1;
    out->hashed = false;
}

/* One end of an interval: bytes whose terms lie inside it or, when it is `open`, outside. */
struct edge {
    struct value_bytes bytes;
    bool open;
};

static bool edge_of(struct op *op, const struct bound_value *bound, enum json_kind kind, bool is_prefix,
                    bool is_point, struct edge *edge)
{
    edge->open = bound->is_set && bound->is_open;
    if (!bound->is_set) {
        put_kind(kind, &edge->bytes);
        return true;
    }
    if (!put_value(op, bound->value, &edge->bytes))
        return false;
    if (is_prefix || (edge->bytes.hashed && !is_point)) {
        edge->open &= !edge->bytes.hashed; /* others begin as it does: they may lie inside */
        cut_to_shared(&edge->bytes, is_prefix);
    }
    return true;
}

bool interval_terms(struct op *op, struct slice prefix, const struct interval *interval, bool descending,
                    struct slice *from, struct slice *to)
{
    bool is_point = interval_is_point(interval);
    const struct bound_value *high = interval->is_prefix ? &interval->low : &interval->high;
    struct edge low_edge, high_edge, swap;
    bool exact;

    *from = *to = (struct slice){ 0 };
    if (!edge_of(op, &interval->low, interval->first, interval->is_prefix, is_point, &low_edge) ||
        !edge_of(op, high, interval->last, interval->is_prefix, is_point, &high_edge))
        return false;
    exact = !((low_edge.bytes.hashed || high_edge.bytes.hashed) && !interval->is_prefix) &&
            !(interval->is_prefix && interval->low.value.string.size > ORDERED_STRING_BYTES);
    if (descending) {
        swap = low_edge;
        low_edge = high_edge;
        high_edge = swap;
    }
    *from = term_of(op, prefix, &low_edge.bytes, descending);
    *to = term_of(op, prefix, &high_edge.bytes, descending);
    if (from->data && low_edge.open)
        *from = index_prefix_end(&op->arena, *from);
    if (to->data && !high_edge.open)
        *to = index_prefix_end(&op->arena, *to);
    return exact && from->data && to->data;
}

/* ---- as text ---- */

static const char *const kind_names[] = { "undefined", "null",   "false", "true",
                                          "number",    "string", "array", "object" };

static void print_bound(struct buf *out, const struct bound_value *bound, enum json_kind kind)
{
    if (bound->is_set)
        value_print(out, bound->value);
    else
        buf_text(out, kind_names[kind]);
}

void interval_print(struct buf *out, const struct interval *interval)
{
    if (interval->is_prefix || interval_is_point(interval)) {
        buf_text(out, interval->is_prefix ? "begins with " : "= ");
        value_print(out, interval->low.value);
        return;
    }
    buf_byte(out, interval->low.is_set && interval->low.is_open ? '(' : '[');
    print_bound(out, &interval->low, interval->first);
    buf_text(out, ", ");
    print_bound(out, &interval->high, interval->last);
    buf_byte(out, interval->high.is_set && interval->high.is_open ? ')' : ']');
}

enum operator_kind interval_opposite_order(enum operator_kind operation)
{
    switch (operation) {
    case OPERATOR_LESS:
        return OPERATOR_GREATER_EQUAL;
    case OPERATOR_LESS_EQUAL:
        return OPERATOR_GREATER;
    case OPERATOR_GREATER:
        return OPERATOR_LESS_EQUAL;
    case OPERATOR_GREATER_EQUAL:
        return OPERATOR_LESS;
    case OPERATOR_EQUAL:
        return OPERATOR_NOT_EQUAL;
    default:
        return OPERATOR_EQUAL;
    }
}

enum operator_kind interval_turned_order(enum operator_kind operation)
{
    switch (operation) {
    case OPERATOR_LESS:
        return OPERATOR_GREATER;
    case OPERATOR_LESS_EQUAL:
        return OPERATOR_GREATER_EQUAL;
    case OPERATOR_GREATER:
        return OPERATOR_LESS;
    case OPERATOR_GREATER_EQUAL:
        return OPERATOR_LESS_EQUAL;
    default:
        return operation;
    }
}
