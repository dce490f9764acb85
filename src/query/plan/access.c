/* src/query/plan/access.c - ranges of index terms, joined by AND and OR. */
#include <assert.h>

#include "index/set.h"
#include "keys/ordered.h"
#include "query/plan/access.h"

/* Nobody writes into it: code that changes an access looks at its kind first. */
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

/* ---- where terms lie ---- */

/*
 * An item whose computed value is not known is at no place in the index. Then the index does not serve the path at
 * all.
 */
static bool is_known(struct planner *planner, path_id id)
{
    uint8_t bytes[TERM_PATH_BYTES + ORDERED_BYTES_MAX];
    struct slice term = { (char *)bytes, TERM_PATH_BYTES };
    uint64_t unknown;
    enum status st;

    term_put_path(bytes, id);
    term.size += term_put_value(bytes + TERM_PATH_BYTES, json_undefined, false);
    st = index_count(planner->op, planner->index->view, term, index_prefix_end(&planner->op->arena, term),
                     &unknown);
    if (st != ST_OK)
        planner->status = st;
    return st == ST_OK && unknown == 0;
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

bool access_path_id(struct planner *planner, const struct index_path *steps, bool computed, path_id *id)
{
    if (computed)
        return steps->count == 1 && access_computes(planner, steps->step[0].name, id);
    *id = index_path_id(planner->index->policy, steps);
    return planner->index->has(planner->index, steps);
}

/* ---- ranges and what joins them ---- */

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
    return range->kind == ACCESS_RANGE && !range->is_cells && !range->is_words && !range->joined &&
           access_same_path(&range->path, path);
}

struct access *access_range(struct planner *planner, const struct kept_path *path,
                            const struct interval *interval)
{
    struct access range = { .kind = ACCESS_RANGE, .path = path->steps, .interval = *interval };
    uint8_t prefix[TERM_PATH_BYTES];
    path_id id;

    if (path->steps.count == 0)
        return access_any();
    if (!access_path_id(planner, &path->steps, path->traits.computed, &id)) {
        if (planner->missing_count < MISSING_MAX)
            planner->missing[planner->missing_count++] = range.path;
        return access_any();
    }
    term_put_path(prefix, id);
    range.exact = interval_terms(planner->op, slice_make(prefix, sizeof(prefix)), interval, false,
                                 &range.from, &range.to) &&
                  !path->traits.has_place;
    if (!range.from.data || !range.to.data)
        return access_any();
    range.of_element = path->traits.has_elements;
    range.one_term = interval_is_point(interval);
    if (slice_compare(range.from, range.to) >= 0)
        return access_none(planner);
    return access_new(planner, range);
}

struct access *access_of_key(struct planner *planner)
{
    const struct query_index *index = planner->index;
    struct access *key = NULL;

    assert(index->key_value_count <= index->key_count);
    for (size_t i = 0; i < index->key_value_count; i++) {
        struct interval interval = interval_of_value(value_from_json(index->key_value[i]));
        struct kept_path path = { .steps = index->key[i] };
        struct access *level;

        if (json_kind(index->key_value[i]) == JSON_UNDEFINED)
            continue;
        level = access_range(planner, &path, &interval);
        key = key ? access_and(planner, key, level) : level;
    }
    return key ? key : access_any();
}

static bool add_kid(struct planner *planner, struct access *parent, struct access *kid)
{
    assert(parent->kind == ACCESS_AND || parent->kind == ACCESS_OR);
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

    assert(a->kind != ACCESS_ANY); /* nobody writes into that one */
    assert(b->kind != ACCESS_ANY);
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

/* One side of an AND holds every item of both, so ANY may be left out. What is left is then not exact. */
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

static bool has_order(const struct interval *interval)
{
    return !interval->is_prefix && (!interval->low.is_set || interval->low.value.kind <= JSON_STRING) &&
           (!interval->high.is_set || interval->high.value.kind <= JSON_STRING);
}

static bool is_of_one_value(const struct access *range)
{
    for (size_t i = 0; i < range->path.count; i++)
        if (range->path.step[i].element)
            return false;
    return range->kind == ACCESS_RANGE && range->path.count && !range->of_element;
}

/* A path that leads into no array has one value, which then lies in both: of c.n > 1 AND c.n < 9 there is one range. */
static bool can_meet(const struct access *a, const struct access *b)
{
    return is_of_one_value(a) && is_of_one_value(b) && access_is_of_path(a, &b->path) &&
           access_is_of_path(b, &a->path) && has_order(&a->interval) && has_order(&b->interval) &&
           memcmp(a->from.data, b->from.data, TERM_PATH_BYTES) == 0;
}

/* NULL when there is no memory. */
static struct access *meet(struct planner *planner, const struct access *a, const struct access *b)
{
    struct slice prefix = slice_make(a->from.data, TERM_PATH_BYTES);
    struct access both = *a;

    both.interval = interval_meet(&a->interval, &b->interval);
    if (interval_is_empty(&both.interval))
        return access_none(planner);
    both.exact = interval_terms(planner->op, prefix, &both.interval, false, &both.from, &both.to) &&
                 a->exact && b->exact;
    both.one_term = interval_is_point(&both.interval);
    if (!both.from.data || !both.to.data)
        return NULL;
    if (slice_compare(both.from, both.to) >= 0)
        return access_none(planner);
    return access_new(planner, both);
}

/* A range that meets one of the list's takes its place; NULL when there is none. */
static struct access *meet_in(struct planner *planner, struct access *list, const struct access *range)
{
    struct access *both = NULL;

    if (can_meet(list, range))
        return meet(planner, list, range);
    for (size_t i = 0; list->kind == ACCESS_AND && i < list->kid_count && !both; i++) {
        if (!can_meet(list->kid[i], range))
            continue;
        both = meet(planner, list->kid[i], range);
        if (!both || both->kind != ACCESS_RANGE)
            return both;
        list->kid[i] = both;
        list->exact &= range->exact;
    }
    return both ? list : NULL;
}

struct access *access_and(struct planner *planner, struct access *a, struct access *b)
{
    struct access *both;

    if (a->kind == ACCESS_NONE || b->kind == ACCESS_NONE)
        return access_none(planner);
    if (a->kind == ACCESS_ANY || b->kind == ACCESS_ANY)
        return only(planner, a->kind == ACCESS_ANY ? b : a);
    both = meet_in(planner, a, b);
    if (!both && b->kind == ACCESS_AND)
        both = meet_in(planner, b, a);
    if (both)
        return both;
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

static void print_joined(struct buf *out, const struct access *access)
{
    assert(access->joined_used <= access->joined->part_count);
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
    else if (access->is_words)
        buf_printf(out, "has %.*s", SLICE_ARGS(access->stem));
    else
        interval_print(out, &access->interval);
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
