/* src/query/plan/access.c - ranges of index terms, joined by AND and OR. */
#include <math.h>

#include "index/set.h"
#include "keys/ordered.h"
#include "query/plan/access.h"
#include "query/bind/bind.h"

/* Nobody writes into it: whatever changes an access looks at its kind first. */
static const struct access the_any = { .kind = ACCESS_ANY };

struct access *access_any(void)
{
    return (struct access *)&the_any;
}

struct access *access_new(struct planner *planner, struct access from)
{
    struct access *access = arena_try_alloc(&planner->op->arena, sizeof(*access));

    if (!access)
        return access_any();
    *access = from;
    return access;
}

struct access *access_none(struct planner *planner)
{
    return access_new(planner, (struct access){ .kind = ACCESS_NONE, .exact = true });
}

/* ---- paths ---- */

static const struct alias *find_alias(const struct alias *aliases, int slot)
{
    while (aliases && aliases->slot != slot)
        aliases = aliases->outer;
    return aliases;
}

static bool add_step(struct item_path *path, struct index_step step)
{
    if (path->count == ACCESS_STEPS_MAX)
        return false;
    path->step[path->count++] = step;
    return true;
}

bool access_constant(const struct expr *expr, struct value *value)
{
    if (expr->instead)
        expr = expr->instead;
    if (expr->kind != EXPR_LITERAL && expr->kind != EXPR_PARAMETER)
        return false;
    *value = expr->value;
    return true;
}

static bool path_of_name(const struct alias *aliases, const struct expr *expr, struct item_path *path)
{
    const struct alias *alias = find_alias(aliases, expr->slot);

    if (expr->slot == SLOT_ROOT)
        return true;
    if (!alias || !alias->path || !item_path_of(alias->outer, alias->path, path))
        return false;
    path->has_elements |= alias->iterates;
    return !alias->iterates || add_step(path, (struct index_step){ .element = true });
}

static bool add_place(const struct expr *expr, struct item_path *path)
{
    struct value place;

    if (!access_constant(expr->kid[1], &place))
        return false;
    if (place.kind == JSON_STRING)
        return add_step(path, (struct index_step){ .name = place.string });
    path->has_place = true;
    return place.kind == JSON_NUMBER && add_step(path, (struct index_step){ .element = true });
}

/* A property of the item itself that its definition stands for. */
static bool path_of_computed(const struct alias *aliases, const struct expr *expr, struct item_path *path)
{
    struct value name = value_string(expr->name);

    if (expr->instead->kind == EXPR_LITERAL || expr->instead->kind == EXPR_RESULT ||
        (expr->kind != EXPR_MEMBER && expr->kind != EXPR_INDEX) || expr->kid[0]->kind != EXPR_NAME ||
        !path_of_name(aliases, expr->kid[0], path) || path->count)
        return false;
    if (expr->kind == EXPR_INDEX && !access_constant(expr->kid[1], &name))
        return false;
    path->computed = true;
    return add_step(path, (struct index_step){ .name = name.string });
}

bool item_path_of(const struct alias *aliases, const struct expr *expr, struct item_path *path)
{
    if (expr->instead)
        return path_of_computed(aliases, expr, path);
    switch (expr->kind) {
    case EXPR_NAME:
        return path_of_name(aliases, expr, path);
    case EXPR_MEMBER:
        return item_path_of(aliases, expr->kid[0], path) &&
               add_step(path, (struct index_step){ .name = expr->name });
    case EXPR_INDEX:
        return item_path_of(aliases, expr->kid[0], path) && add_place(expr, path);
    default:
        return false;
    }
}

/* An item whose value is not known is at no place in the index: then a filter is not served at all. */
static bool is_known(struct planner *planner, path_id id)
{
    uint8_t bytes[TERM_PATH_BYTES + ORDERED_BYTES_MAX];
    struct slice term = { (char *)bytes, TERM_PATH_BYTES };
    uint64_t unknown;

    term_put_path(bytes, id);
    term.size += term_put_value(bytes + TERM_PATH_BYTES, json_undefined, false);
    return index_count(planner->op, planner->index->view, term, index_prefix_end(&planner->op->arena, term),
                       &unknown) == ST_OK &&
           unknown == 0;
}

bool access_computes(struct planner *planner, struct slice name, path_id *id)
{
    struct computed_path *last = &planner->computed;

    if (!last->name.data || !slice_equal(last->name, name)) {
        *last = (struct computed_path){ .name = name };
        last->usable =
            planner->index->computes(planner->index, name, &last->id) && is_known(planner, last->id);
    }
    *id = last->id;
    return last->usable;
}

bool access_path_id(struct planner *planner, const struct item_path *path, path_id *id)
{
    struct index_path steps = { path->step, path->count };

    if (path->computed)
        return path->count == 1 && access_computes(planner, path->step[0].name, id);
    *id = index_path_id(&steps);
    return planner->index->has(planner->index, &steps);
}

/* ---- intervals ---- */

struct interval interval_of_kinds(enum json_kind first, enum json_kind last)
{
    return (struct interval){ .first = first, .last = last };
}

struct interval interval_of_value(struct value value)
{
    struct bound_value bound = { .is_set = true, .value = value };

    return (struct interval){ .low = bound, .high = bound, .first = value.kind, .last = value.kind };
}

/* The terms of a value behind the prefix; how far they tell it apart from others is in `size`. */
struct value_bytes {
    uint8_t byte[ORDERED_BYTES_MAX];
    size_t size;
    bool hashed;
};

static bool put_value(struct op *op, struct value value, struct value_bytes *out)
{
    struct json json = value_to_json(op, value);

    if (json_kind(json) != value.kind) /* out of memory, or no number of JSON's */
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
    bool is_point = interval->low.is_set && interval->high.is_set && !interval->is_prefix &&
                    value_equal(interval->low.value, interval->high.value);
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

/* ---- ranges and what joins them ---- */

struct index_path access_keep_path(struct planner *planner, const struct item_path *path)
{
    struct index_step *step = arena_try_alloc(&planner->op->arena, path->count * sizeof(*step));

    if (!step)
        return (struct index_path){ 0 };
    memcpy(step, path->step, path->count * sizeof(*step));
    return (struct index_path){ step, path->count };
}

bool access_same_path(const struct index_path *a, const struct index_path *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->step[i].element != b->step[i].element || !slice_equal(a->step[i].name, b->step[i].name))
            return false;
    return true;
}

/* A name is a computed property's or the document's, never both: steps tell paths apart. */
bool access_is_of_path(const struct access *range, const struct index_path *path)
{
    return range->kind == ACCESS_RANGE && !range->is_cells && !range->joined &&
           access_same_path(&range->path, path);
}

struct access *access_range(struct planner *planner, const struct item_path *path,
                            const struct interval *interval)
{
    struct access range = { .kind = ACCESS_RANGE, .interval = *interval };
    uint8_t prefix[TERM_PATH_BYTES];
    path_id id;

    if (path->count == 0)
        return access_any();
    range.path = access_keep_path(planner, path);
    if (!access_path_id(planner, path, &id)) {
        if (planner->missing_count < MISSING_MAX)
            planner->missing[planner->missing_count++] = range.path;
        return access_any();
    }
    term_put_path(prefix, id);
    range.exact = interval_terms(planner->op, slice_make(prefix, sizeof(prefix)), interval, false,
                                 &range.from, &range.to) &&
                  !path->has_place;
    if (!range.from.data || !range.to.data || !range.path.step)
        return access_any();
    range.of_element = path->has_elements;
    range.one_term = interval->low.is_set && interval->high.is_set && !interval->is_prefix &&
                     value_equal(interval->low.value, interval->high.value);
    if (slice_compare(range.from, range.to) >= 0)
        return access_none(planner);
    return access_new(planner, range);
}

struct access *access_of_key(struct planner *planner)
{
    const struct query_index *index = planner->index;
    struct access *key = NULL;

    for (size_t i = 0; i < index->key_value_count; i++) {
        struct interval interval = interval_of_value(value_from_json(index->key_value[i]));
        struct item_path path = { .count = index->key[i].count };
        struct access *level;

        if (json_kind(index->key_value[i]) == JSON_UNDEFINED || path.count > ACCESS_STEPS_MAX)
            continue;
        memcpy(path.step, index->key[i].step, path.count * sizeof(path.step[0]));
        level = access_range(planner, &path, &interval);
        key = key ? access_and(planner, key, level) : level;
    }
    return key ? key : access_any();
}

static bool add_kid(struct planner *planner, struct access *parent, struct access *kid)
{
    if (!arena_list_reserve(&planner->op->arena, &parent->kid, &parent->kid_capacity, parent->kid_count + 1,
                            sizeof(struct access *)))
        return false;
    parent->kid[parent->kid_count++] = kid;
    return true;
}

/* Adds to a list of the same kind, which is then longer; or begins one. */
static struct access *join(struct planner *planner, enum access_kind kind, struct access *a, struct access *b)
{
    struct access *list = a;

    if (a->kind != kind) {
        list = access_new(planner,
                          (struct access){ .kind = kind, .exact = a->exact, .of_element = a->of_element });
        if (list->kind != kind || !add_kid(planner, list, a))
            return access_any();
    }
    if (b->kind == kind) {
        for (size_t i = 0; i < b->kid_count; i++)
            if (!add_kid(planner, list, b->kid[i]))
                return access_any();
    } else if (!add_kid(planner, list, b)) {
        return access_any();
    }
    list->exact &= b->exact;
    list->of_element |= b->of_element;
    return list;
}

/* Half of a meeting holds all of it, so that ANY may be left out: then it is not exact. */
static struct access *only(struct planner *planner, struct access *access)
{
    struct access *copy;

    if (access->kind == ACCESS_ANY || !access->exact)
        return access;
    copy = access_new(planner, *access);
    if (copy->exact)
        copy->exact = false;
    return copy;
}

struct access *access_and(struct planner *planner, struct access *a, struct access *b)
{
    struct access *both;

    if (a->kind == ACCESS_NONE || b->kind == ACCESS_NONE)
        return access_none(planner);
    if (a->kind == ACCESS_ANY || b->kind == ACCESS_ANY)
        return only(planner, a->kind == ACCESS_ANY ? b : a);
    both = join(planner, ACCESS_AND, a, b);
    if (both->of_element && both->kind == ACCESS_AND)
        both->exact = false;
    return both;
}

struct access *access_or(struct planner *planner, struct access *a, struct access *b)
{
    if (a->kind == ACCESS_ANY || b->kind == ACCESS_ANY)
        return access_any();
    if (a->kind == ACCESS_NONE)
        return b;
    return b->kind == ACCESS_NONE ? a : join(planner, ACCESS_OR, a, b);
}

struct access *access_with_left_out(struct planner *planner, struct access *access)
{
    struct slice term = planner->index->left_out;
    struct access range = { .kind = ACCESS_RANGE, .is_left_out = true, .one_term = true, .from = term };

    if (!term.data || access->kind == ACCESS_ANY)
        return access;
    range.to = index_prefix_end(&planner->op->arena, term);
    return access_or(planner, access, access_new(planner, range));
}

/* ---- as text ---- */

enum { KIDS_PRINTED = 16 };

static const char *const kind_names[] = { "undefined", "null",   "false", "true",
                                          "number",    "string", "array", "object" };

void access_print_path(struct buf *out, const struct index_path *path)
{
    for (size_t i = 0; i < path->count; i++) {
        buf_byte(out, '/');
        if (path->step[i].element)
            buf_text(out, "[]");
        else
            buf_slice(out, path->step[i].name);
    }
}

static void print_bound(struct buf *out, const struct bound_value *bound, enum json_kind kind)
{
    if (bound->is_set)
        value_print(out, bound->value);
    else
        buf_text(out, kind_names[kind]);
}

static void print_interval(struct buf *out, const struct interval *interval, bool one_term)
{
    if (one_term || interval->is_prefix) {
        buf_text(out, one_term ? "= " : "begins with ");
        value_print(out, interval->low.value);
        return;
    }
    buf_byte(out, interval->low.is_set && interval->low.is_open ? '(' : '[');
    print_bound(out, &interval->low, interval->first);
    buf_text(out, ", ");
    print_bound(out, &interval->high, interval->last);
    buf_byte(out, interval->high.is_set && interval->high.is_open ? ')' : ']');
}

static void print_joined(struct buf *out, const struct access *access)
{
    buf_byte(out, '[');
    for (size_t i = 0; i < access->joined_used; i++) {
        if (i)
            buf_text(out, ", ");
        access_print_path(out, &access->joined->part[i]);
    }
    buf_byte(out, ']');
    if (!access->exact)
        buf_byte(out, '~');
}

static void print_range(struct buf *out, const struct access *access)
{
    if (access->is_left_out) {
        buf_text(out, "left out");
        return;
    }
    if (access->joined) {
        print_joined(out, access);
        return;
    }
    access_print_path(out, &access->path);
    buf_byte(out, ' ');
    if (access->is_cells)
        buf_text(out, "near");
    else
        print_interval(out, &access->interval, access->one_term);
    if (!access->exact)
        buf_byte(out, '~');
}

static void print_list(struct buf *out, const struct access *access)
{
    buf_byte(out, '(');
    for (size_t i = 0; i < access->kid_count; i++) {
        if (i)
            buf_text(out, access->kind == ACCESS_AND ? " AND " : " OR ");
        if (i == KIDS_PRINTED) {
            buf_text(out, "...");
            break;
        }
        access_print(out, access->kid[i]);
    }
    buf_text(out, access->exact ? ")" : ")~");
}

/* What may hold more than it should is marked with ~. */
void access_print(struct buf *out, const struct access *access)
{
    switch (access->kind) {
    case ACCESS_ANY:
        buf_text(out, "any");
        break;
    case ACCESS_NONE:
        buf_text(out, "none");
        break;
    case ACCESS_RANGE:
        print_range(out, access);
        break;
    default:
        print_list(out, access);
    }
}
