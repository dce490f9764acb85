/*
 * src/query/plan/ranges.c - from a filter to the partition keys that can pass it.
 * A set of keys is a list of boxes: each fixes some of the key's paths to a value and leaves the
 * others open. AND meets boxes, OR joins them, NOT asks for the keys that make its operand false.
 * What is not understood leaves everything open, so that a set is never too small.
 */
#include <math.h>
#include <stdlib.h>

#include "query/bind/bind.h"
#include "query/eval/builtin.h"
#include "query/eval/eval.h"
#include "query/plan.h"

enum {
    INFERENCE_BYTES_MAX = 32 * 1024 * 1024,
    MEETINGS_MAX = 1 << 16, /* of boxes: past it one side is enough, for it holds the meeting */
    TICKS_PER_MS = 10 * 1000,
};

struct box {
    bool is_fixed[PARTITION_KEY_PATHS_MAX];
    struct json value[PARTITION_KEY_PATHS_MAX];
};

/* A set of keys. Its memory belongs to whoever holds it last: sets are used once. */
struct keys {
    bool all;
    struct box *box;
    size_t count, capacity;
};

static const struct keys every_key = { .all = true };
static const struct keys no_key = { 0 };

/* A source and the path that it stands for. */
struct alias {
    const struct alias *outer;
    int slot;
    const struct expr *path;
};

struct inference {
    struct op *op;
    const struct query_key *key;
    const struct query_options *options;
};

static struct keys keys_where(struct inference *inference, const struct alias *aliases,
                              const struct expr *expr, bool truth);
static struct keys keys_of_rows(struct inference *inference, const struct alias *aliases,
                                const struct select *select);

/* More boxes than there may be are every key. */
static void add_box(struct inference *inference, struct keys *keys, const struct box *box)
{
    if (keys->all)
        return;
    if (keys->count == keys->capacity) {
        size_t capacity = keys->capacity ? 2 * keys->capacity : 4;
        struct box *more = arena_try_alloc(&inference->op->arena, capacity * sizeof(*more));

        if (!more || keys->count >= QUERY_POINTS_MAX) {
            *keys = every_key;
            return;
        }
        if (keys->count)
            memcpy(more, keys->box, keys->count * sizeof(*more));
        keys->box = more;
        keys->capacity = capacity;
    }
    keys->box[keys->count++] = *box;
}

static struct keys join(struct inference *inference, struct keys a, struct keys b)
{
    if (a.all || b.all)
        return every_key;
    for (size_t i = 0; i < b.count; i++)
        add_box(inference, &a, &b.box[i]);
    return a;
}

static bool same(struct json a, struct json b)
{
    if (json_kind(a) == JSON_UNDEFINED || json_kind(b) == JSON_UNDEFINED)
        return json_kind(a) == json_kind(b);
    return json_equal(a, b);
}

/* What both boxes hold; false when a path has two values. */
static bool meet_boxes(const struct box *a, const struct box *b, struct box *both)
{
    *both = *a;
    for (size_t i = 0; i < PARTITION_KEY_PATHS_MAX; i++) {
        if (!b->is_fixed[i])
            continue;
        if (a->is_fixed[i] && !same(a->value[i], b->value[i]))
            return false;
        both->is_fixed[i] = true;
        both->value[i] = b->value[i];
    }
    return true;
}

static struct keys meet(struct inference *inference, struct keys a, struct keys b)
{
    struct keys both = no_key;
    struct box box;

    if (a.all || b.all)
        return a.all ? b : a;
    if (a.count * b.count > MEETINGS_MAX)
        return a.count < b.count ? a : b;
    for (size_t i = 0; i < a.count; i++)
        for (size_t k = 0; k < b.count; k++)
            if (meet_boxes(&a.box[i], &b.box[k], &box))
                add_box(inference, &both, &box);
    return both;
}

/* Nothing that differs from row to row, and nothing that is more than a computation. */
static bool is_constant(const struct expr *expr)
{
    static const unsigned not_constant = NOT_CONSTANT | AGGREGATE | NOT_BUILT | TAKES_ROW;

    if (expr->instead)
        return expr->instead->kind == EXPR_LITERAL;
    if (expr->kind == EXPR_NAME || expr->kind == EXPR_UDF || expr->select)
        return false;
    if (expr->kind == EXPR_CALL && expr->builtin->flags & not_constant)
        return false;
    for (size_t i = 0; i < expr->kid_count; i++)
        if (!is_constant(expr->kid[i]))
            return false;
    return true;
}

/* False when the expression is no constant, or cannot be computed. */
static bool constant(struct inference *inference, const struct expr *expr, struct value *value)
{
    struct eval eval = { .op = inference->op,
                         .kept = &inference->op->arena,
                         .static_ticks = inference->op->now_ms * TICKS_PER_MS,
                         .planar = inference->options->planar };

    if (!is_constant(expr))
        return false;
    *value = eval_expr(&eval, expr);
    return eval.status == ST_OK;
}

static const struct alias *find_alias(const struct alias *aliases, int slot)
{
    while (aliases && aliases->slot != slot)
        aliases = aliases->outer;
    return aliases;
}

/* The last step of a path; false for an element of an array, and for what the item itself does not have. */
static bool step_name(const struct expr *expr, struct slice *name)
{
    if (expr->instead)
        return false;
    if (expr->kind == EXPR_MEMBER) {
        *name = expr->name;
        return true;
    }
    if (expr->kind != EXPR_INDEX || expr->kid[1]->value.kind != JSON_STRING ||
        (expr->kid[1]->kind != EXPR_LITERAL && expr->kid[1]->kind != EXPR_PARAMETER))
        return false;
    *name = expr->kid[1]->value.string;
    return true;
}

/* A source's name stands for the path behind it; the item's own ends the walk. */
static const struct expr *behind_name(const struct alias *aliases, const struct expr *expr)
{
    while (expr && expr->kind == EXPR_NAME && expr->slot != SLOT_ROOT) {
        const struct alias *alias = find_alias(aliases, expr->slot);

        expr = alias ? alias->path : NULL;
    }
    return expr;
}

static bool leads_to(const struct alias *aliases, const struct expr *expr, const struct slice *segment,
                     size_t count)
{
    struct slice name;

    for (; count > 0; count--) {
        expr = behind_name(aliases, expr);
        if (!expr || !step_name(expr, &name) || !slice_equal(name, segment[count - 1]))
            return false;
        expr = expr->kid[0];
    }
    expr = behind_name(aliases, expr);
    return expr && expr->kind == EXPR_NAME;
}

/* Which of the key's paths the expression is; -1 for none. */
static int key_path(const struct inference *inference, const struct alias *aliases, const struct expr *expr)
{
    for (size_t i = 0; i < inference->key->path_count; i++)
        if (leads_to(aliases, expr, inference->key->path[i].segment, inference->key->path[i].count))
            return (int)i;
    return -1;
}

/* Arrays and objects are no key values: an item that has one lies with those that have none. */
static void add_value(struct inference *inference, struct keys *keys, int path, struct value value)
{
    struct box box = { 0 };

    if (value.kind == JSON_UNDEFINED)
        return; /* nothing equals undefined */
    box.is_fixed[path] = true;
    if (value.kind < JSON_ARRAY) {
        box.value[path] = value_to_json(inference->op, value);
        if (json_kind(box.value[path]) != value.kind)
            *keys = every_key;
    }
    add_box(inference, keys, &box);
}

/* ABS(path) = number. */
static struct keys keys_of_absolute(struct inference *inference, int path, struct value value)
{
    struct keys keys = no_key;

    if (value.kind != JSON_NUMBER || !(value.number > 0) || (value.is_int && value.integer == INT64_MAX))
        return every_key;
    add_value(inference, &keys, path, value);
    add_value(inference, &keys, path, value.is_int ? value_int(-value.integer) : value_double(-value.number));
    return keys;
}

/* Whether it is a call that says so of keys. */
static bool claims(const struct expr *expr, enum claim_kind kind)
{
    return expr->kind == EXPR_CALL && expr->builtin->claim.names_keys && expr->builtin->claim.kind == kind;
}

/* `side` = `other`, where `side` may be the key and `other` a constant. */
static struct keys keys_of_side(struct inference *inference, const struct alias *aliases,
                                const struct expr *side, const struct expr *other)
{
    bool absolute = claims(side, CLAIM_MAGNITUDE);
    int path = key_path(inference, aliases, absolute ? side->kid[0] : side);
    struct keys keys = no_key;
    struct value value;

    if (path < 0 || !constant(inference, other, &value))
        return every_key;
    if (absolute)
        return keys_of_absolute(inference, path, value);
    add_value(inference, &keys, path, value);
    return keys;
}

/* A subquery that gives one value a row has one only where its own filter passes. */
static struct keys keys_of_defined(struct inference *inference, const struct alias *aliases,
                                   const struct expr *expr)
{
    if (expr->kind == EXPR_SUBQUERY)
        return keys_of_rows(inference, aliases, expr->select);
    return every_key;
}

static struct keys keys_of_equal(struct inference *inference, const struct alias *aliases,
                                 const struct expr *a, const struct expr *b)
{
    struct keys keys =
        meet(inference, keys_of_side(inference, aliases, a, b), keys_of_side(inference, aliases, b, a));

    keys = meet(inference, keys, keys_of_defined(inference, aliases, a));
    return meet(inference, keys, keys_of_defined(inference, aliases, b));
}

/* AND when true and OR when false: every operand; the other two: any. */
static struct keys keys_of_logic(struct inference *inference, const struct alias *aliases,
                                 const struct expr *expr, bool truth)
{
    bool needs_every = (expr->operation == OPERATOR_AND) == truth;
    struct keys keys = needs_every ? every_key : no_key;

    for (size_t i = 0; i < expr->kid_count; i++) {
        struct keys more = keys_where(inference, aliases, expr->kid[i], truth);

        keys = needs_every ? meet(inference, keys, more) : join(inference, keys, more);
    }
    return keys;
}

static struct keys keys_of_binary(struct inference *inference, const struct alias *aliases,
                                  const struct expr *expr, bool truth)
{
    switch (expr->operation) {
    case OPERATOR_AND:
    case OPERATOR_OR:
        return keys_of_logic(inference, aliases, expr, truth);
    case OPERATOR_EQUAL:
        return truth ? keys_of_equal(inference, aliases, expr->kid[0], expr->kid[1]) : every_key;
    case OPERATOR_NOT_EQUAL:
        return truth ? every_key : keys_of_equal(inference, aliases, expr->kid[0], expr->kid[1]);
    default:
        return every_key;
    }
}

static struct keys keys_of_in(struct inference *inference, const struct alias *aliases,
                              const struct expr *expr, bool truth)
{
    struct keys keys = no_key;

    if (expr->negated == truth)
        return every_key;
    for (size_t i = 1; i < expr->kid_count && !keys.all; i++)
        keys = join(inference, keys, keys_of_equal(inference, aliases, expr->kid[0], expr->kid[i]));
    return keys;
}

/* ARRAY_CONTAINS(constant, path): partial matches are of objects, which are no keys anyway. */
static struct keys keys_of_contains(struct inference *inference, const struct alias *aliases,
                                    const struct expr *expr)
{
    int path = key_path(inference, aliases, expr->kid[1]);
    struct keys keys = no_key;
    struct value list;

    if (path < 0 || !constant(inference, expr->kid[0], &list) || list.kind != JSON_ARRAY)
        return every_key;
    for (struct json_iter i = json_iter(list.json); json_next(&i);)
        add_value(inference, &keys, path, value_from_json(i.value));
    return keys;
}

/* Of kinds that have one value each: null, false, true. */
static struct keys keys_of_kinds(struct inference *inference, const struct alias *aliases,
                                 const struct expr *expr)
{
    int path = key_path(inference, aliases, expr->kid[0]);
    struct keys keys = no_key;

    if (path < 0)
        return every_key;
    for (enum json_kind kind = expr->builtin->claim.first; kind <= expr->builtin->claim.last; kind++)
        add_value(inference, &keys, path, (struct value){ .kind = (uint8_t)kind });
    return keys;
}

static struct keys keys_of_call(struct inference *inference, const struct alias *aliases,
                                const struct expr *expr, bool truth)
{
    if (!truth)
        return every_key;
    if (claims(expr, CLAIM_HOLDS))
        return keys_of_contains(inference, aliases, expr);
    if (claims(expr, CLAIM_KINDS))
        return keys_of_kinds(inference, aliases, expr);
    return every_key;
}

/* A path by itself passes where it is true. */
static struct keys keys_of_path(struct inference *inference, const struct alias *aliases,
                                const struct expr *expr, bool truth)
{
    int path = key_path(inference, aliases, expr);
    struct keys keys = no_key;

    if (path < 0)
        return every_key;
    add_value(inference, &keys, path, value_bool(truth));
    return keys;
}

/* The keys of items for which the expression can be true, or false. */
static struct keys keys_where(struct inference *inference, const struct alias *aliases,
                              const struct expr *expr, bool truth)
{
    struct value value;

    if (expr->kind == EXPR_BINARY && (expr->operation == OPERATOR_AND || expr->operation == OPERATOR_OR))
        return keys_of_logic(inference, aliases, expr, truth);
    if (expr->kind == EXPR_UNARY && expr->operation == OPERATOR_NOT)
        return keys_where(inference, aliases, expr->kid[0], !truth);
    if (constant(inference, expr, &value))
        return value.kind == (truth ? JSON_TRUE : JSON_FALSE) ? every_key : no_key;
    switch (expr->kind) {
    case EXPR_MEMBER:
    case EXPR_INDEX:
        return keys_of_path(inference, aliases, expr, truth);
    case EXPR_BINARY:
        return keys_of_binary(inference, aliases, expr, truth);
    case EXPR_IN:
        return keys_of_in(inference, aliases, expr, truth);
    case EXPR_CALL:
        return keys_of_call(inference, aliases, expr, truth);
    case EXPR_EXISTS:
        return truth ? keys_of_rows(inference, aliases, expr->select) : every_key;
    default:
        return every_key;
    }
}

/* The keys of items for which a subquery has a row. An aggregate has one of nothing at all. */
static struct keys keys_of_rows(struct inference *inference, const struct alias *aliases,
                                const struct select *select)
{
    struct alias alias = { .outer = aliases };

    if (select->aggregate_count || select->group_count || select->source_count > 1 || !select->where)
        return every_key;
    if (select->source_count == 0 || select->source[0].kind != SOURCE_PATH)
        return keys_where(inference, aliases, select->where, true);
    alias.slot = select->source[0].slot;
    alias.path = select->source[0].path;
    return keys_where(inference, &alias, select->where, true);
}

/* The keys of items that the statement looks at. */
static struct keys keys_of_select(struct inference *inference, const struct select *select)
{
    const struct source *first = select->source;
    struct alias alias = { 0 };
    struct keys keys = every_key;

    if (select->source_count == 0)
        return no_key;
    if (first->kind == SOURCE_SUBQUERY)
        keys = keys_of_select(inference, first->select);
    if (!select->where)
        return keys;
    if (first->kind != SOURCE_PATH)
        return meet(inference, keys, keys_where(inference, NULL, select->where, true));
    alias.slot = first->slot;
    alias.path = first->path;
    return keys_where(inference, &alias, select->where, true);
}

/* How many of the key's levels a box names, from the first on; 0 when it is no place at all. */
static size_t levels_of(const struct query_key *key, const struct box *box)
{
    size_t levels = 0;

    while (levels < key->path_count && box->is_fixed[levels])
        levels++;
    return key->version == EPK_MULTI || levels == key->path_count ? levels : 0;
}

static void point_of(const struct query_key *key, const struct box *box, size_t levels, struct epk *point)
{
    struct partition_key values = { .count = levels };

    memcpy(values.component, box->value, levels * sizeof(box->value[0]));
    if (key->system && json_kind(values.component[0]) == JSON_UNDEFINED)
        values.count = 0;
    epk_compute(key->version, &values, point);
}

static int by_epk(const void *a, const void *b)
{
    return slice_compare(epk_slice(a), epk_slice(b));
}

/* Hierarchical keys begin with the keys above them; other keys are whole, and equal or different. */
static bool is_within(const struct query_key *key, const struct epk *inner, const struct epk *outer)
{
    if (key->version != EPK_MULTI)
        return slice_equal(epk_slice(inner), epk_slice(outer));
    return inner->size >= outer->size && memcmp(inner->bytes, outer->bytes, outer->size) == 0;
}

/* In order, and none within another: what lies within a point follows it. */
static void sort_points(const struct query_key *key, struct query_ranges *ranges)
{
    size_t kept = 0;

    qsort(ranges->point, ranges->count, sizeof(*ranges->point), by_epk);
    for (size_t i = 0; i < ranges->count; i++)
        if (kept == 0 || !is_within(key, &ranges->point[i], &ranges->point[kept - 1]))
            ranges->point[kept++] = ranges->point[i];
    ranges->count = kept;
}

static void to_ranges(struct op *op, const struct query_key *key, const struct keys *keys,
                      struct query_ranges *ranges)
{
    *ranges = (struct query_ranges){ .all = keys->all };
    if (keys->all || keys->count == 0)
        return;
    ranges->point = arena_try_alloc(&op->arena, keys->count * sizeof(*ranges->point));
    if (!ranges->point) {
        ranges->all = true;
        return;
    }
    for (size_t i = 0; i < keys->count; i++) {
        size_t levels = levels_of(key, &keys->box[i]);

        if (levels == 0) {
            *ranges = (struct query_ranges){ .all = true };
            return;
        }
        point_of(key, &keys->box[i], levels, &ranges->point[ranges->count++]);
    }
    sort_points(key, ranges);
}

bool query_point_is_prefix(const struct query_key *key, const struct epk *point)
{
    struct partition_key undefined = { .count = key->path_count };
    struct epk whole;

    if (key->version != EPK_MULTI)
        return false;
    epk_compute(key->version, &undefined, &whole); /* every whole key is as long */
    return point->size < whole.size;
}

/* Points that outlive the inference. */
static void keep_points(struct op *op, struct query_ranges *ranges)
{
    struct epk *kept;

    if (ranges->count == 0)
        return;
    kept = arena_try_alloc(&op->arena, ranges->count * sizeof(*kept));
    if (kept)
        memcpy(kept, ranges->point, ranges->count * sizeof(*kept));
    else
        *ranges = (struct query_ranges){ .all = true };
    ranges->point = kept;
}

/* What it works with is given back at once: a long filter must leave the query its memory. */
enum status query_ranges(struct op *op, const struct select *select, const struct query_key *key,
                         const struct query_options *options, struct query_ranges *ranges)
{
    struct inference inference = { op, key, options };
    struct arena callers = op->arena;
    struct arena own;
    struct keys keys;

    arena_init(&own, INFERENCE_BYTES_MAX);
    op->arena = own;
    keys = keys_of_select(&inference, select);
    to_ranges(op, key, &keys, ranges);
    own = op->arena;
    op->arena = callers;
    keep_points(op, ranges);
    arena_free(&own);
    return ST_OK;
}
