/* src/query/plan/filter_call.c - LIKE and calls of built-in functions: what is known where they are true. */
#include <assert.h>

#include "query/bind/fold.h"
#include "query/plan/filter_private.h"

/* ---- strings ---- */

static struct filter *string_at(struct arena *arena, const struct alias *aliases, const struct expr *expr)
{
    return filter_kinds_at(arena, aliases, expr, JSON_STRING, JSON_STRING);
}

static struct filter *begins_with(struct arena *arena, const struct alias *aliases, const struct expr *path,
                                  struct slice prefix)
{
    struct interval interval = interval_of_prefix(prefix);

    return filter_at(arena, aliases, path, &interval, 1);
}

/* What stands before the first wildcard; `rest` is how the pattern goes on. */
static struct slice plain_part(struct slice pattern, struct slice escape, struct slice *rest)
{
    size_t size = 0;

    while (size < pattern.size && !strchr("%_[", pattern.data[size]) &&
           !(escape.size && pattern.data[size] == escape.data[0]))
        size++;
    *rest = slice_after(pattern, size);
    return slice_make(pattern.data, size);
}

/* The text that a pattern of nothing but plain and escaped characters stands for. */
static bool plain_text(struct arena *arena, struct slice pattern, struct slice escape, struct slice *text)
{
    char *made = arena_try_alloc(arena, pattern.size + 1);
    size_t size = 0;

    if (!made || escape.size != 1)
        return false;
    for (size_t i = 0; i < pattern.size; i++) {
        if (pattern.data[i] == escape.data[0]) {
            if (++i == pattern.size)
                return false;
        } else if (strchr("%_[", pattern.data[i])) {
            return false;
        }
        made[size++] = pattern.data[i];
    }
    *text = slice_make(made, size);
    return true;
}

struct filter *filter_like(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                           bool truth)
{
    struct value pattern, escape = value_undefined;
    struct slice rest, plain;
    struct filter *filter;
    bool escapes_all;

    if (!fold_constant(expr->kid[1], &pattern) ||
        (expr->kid_count > 2 && !fold_constant(expr->kid[2], &escape)))
        return filter_any();
    if (pattern.kind != JSON_STRING)
        return filter_none(arena);
    if (truth == expr->negated)
        return filter_loosely(string_at(arena, aliases, expr->kid[0]));
    if (escape.kind == JSON_STRING && plain_text(arena, pattern.string, escape.string, &plain))
        return filter_equals(arena, aliases, expr->kid[0], value_string(plain));
    plain = plain_part(pattern.string, escape.kind == JSON_STRING ? escape.string : slice_of(""), &rest);
    if (rest.size == 0)
        return filter_equals(arena, aliases, expr->kid[0], pattern);
    filter = begins_with(arena, aliases, expr->kid[0], plain);
    escapes_all = escape.kind == JSON_STRING && slice_is(escape.string, "%"); /* and then it is no wildcard */
    return slice_is(rest, "%") && !escapes_all ? filter : filter_loosely(filter);
}

/* Whether a test of two strings is told to pass over case: then only the kind is known. */
static bool minds_case(const struct expr *call)
{
    struct value nocase;

    return call->kid_count < 3 || (fold_constant(call->kid[2], &nocase) && nocase.kind == JSON_FALSE);
}

static struct filter *string_test(struct arena *arena, const struct alias *aliases, const struct expr *call)
{
    struct value part;

    assert(call->kid_count >= 2);
    if (!fold_constant(call->kid[1], &part) || part.kind != JSON_STRING || !minds_case(call))
        return filter_loosely(string_at(arena, aliases, call->kid[0]));
    if (filter_claim(call) == CLAIM_BEGINS)
        return begins_with(arena, aliases, call->kid[0], part.string);
    return filter_equals(arena, aliases, call->kid[0], part);
}

/* ---- kinds ---- */

static struct filter *kind_test(struct arena *arena, const struct alias *aliases, const struct expr *call)
{
    const struct builtin_claim *claim = &call->builtin->claim;
    struct interval kinds = interval_of_kinds(claim->first, claim->last);
    struct filter *filter = filter_at(arena, aliases, call->kid[0], &kinds, 1);

    return claim->exact ? filter : filter_loosely(filter);
}

/* ---- arrays ---- */

static struct filter *element_has(struct arena *arena, struct item_path *path, struct json wanted);

/* Of an object that may have more members: each of these. */
static struct filter *element_has_members(struct arena *arena, struct item_path *path, struct json wanted)
{
    struct interval kind = interval_of_kinds(JSON_OBJECT, JSON_OBJECT);
    struct filter *list = filter_list(arena, FILTER_AND, 1 + json_count(wanted));
    size_t depth = path->count;

    filter_put(list, filter_loosely(filter_at_path(arena, path, &kind, 1)));
    for (struct json_iter i = json_iter(wanted);
         json_next(&i) && item_path_add(path, (struct index_step){ .name = i.name });) {
        filter_put(list, element_has(arena, path, i.value));
        path->count = depth;
    }
    return filter_loosely(list);
}

static struct filter *element_has(struct arena *arena, struct item_path *path, struct json wanted)
{
    struct interval interval = interval_of_value(value_from_json(wanted));

    if (json_kind(wanted) == JSON_OBJECT)
        return element_has_members(arena, path, wanted);
    if (json_kind(wanted) == JSON_ARRAY) /* whose elements may match in part, too */
        interval = interval_of_kinds(JSON_ARRAY, JSON_ARRAY);
    return filter_at_path(arena, path, &interval, 1);
}

/* The array has an element that equals a constant or, `partly`, has what it has. */
static struct filter *holds(struct arena *arena, const struct alias *aliases, const struct expr *array,
                            struct value wanted, bool partly)
{
    struct interval interval = interval_of_value(wanted);
    struct item_path path;

    item_path_begin(&path);
    if (!item_path_of(aliases, array, &path) || !item_path_add(&path, (struct index_step){ .element = true }))
        return filter_any();
    if (wanted.kind == JSON_UNDEFINED || !value_is_finite(wanted))
        return filter_none(arena);
    if (partly && wanted.kind >= JSON_ARRAY)
        return filter_loosely(element_has(arena, &path, wanted.json));
    return filter_at_path(arena, &path, &interval, 1);
}

/* The value is one of a constant array's. */
static struct filter *is_held(struct arena *arena, const struct alias *aliases, const struct expr *call)
{
    struct interval *point;
    struct value array;
    size_t count = 0;

    if (!fold_constant(call->kid[0], &array))
        return filter_any();
    if (array.kind != JSON_ARRAY)
        return filter_none(arena);
    point = arena_try_alloc(arena, json_count(array.json) * sizeof(*point));
    if (!point)
        return filter_any();
    for (struct json_iter i = json_iter(array.json); json_next(&i);)
        point[count++] = interval_of_value(value_from_json(i.value));
    return filter_one_of(arena, aliases, call->kid[1], point, count);
}

static struct filter *array_contains(struct arena *arena, const struct alias *aliases,
                                     const struct expr *call)
{
    struct value wanted, partly = value_bool(false);

    if (call->kid_count > 2 && !fold_constant(call->kid[2], &partly))
        return filter_any();
    if (!value_is_bool(partly))
        return filter_none(arena);
    if (fold_constant(call->kid[1], &wanted))
        return holds(arena, aliases, call->kid[0], wanted, partly.kind == JSON_TRUE);
    return partly.kind == JSON_FALSE ? is_held(arena, aliases, call) : filter_any();
}

static struct filter *array_contains_each(struct arena *arena, const struct alias *aliases,
                                          const struct expr *call)
{
    bool all = filter_claim(call) == CLAIM_HOLDS_ALL;
    struct filter *list = filter_list(arena, all ? FILTER_AND : FILTER_OR, call->kid_count);
    struct value wanted;

    if (all)
        filter_put(list, filter_any());
    for (size_t i = 1; i < call->kid_count; i++)
        filter_put(list, fold_constant(call->kid[i], &wanted)
                             ? holds(arena, aliases, call->kid[0], wanted, false)
                             : filter_any());
    return filter_loosely(list);
}

/* ---- geometries ---- */

struct filter *filter_near(struct arena *arena, const struct alias *aliases, const struct expr *call,
                           double reach)
{
    struct filter made = { .kind = FILTER_NEAR, .loose = true, .reach = reach };
    struct value geometry;

    assert(call->kid_count == 2);
    for (size_t i = 0; i < 2; i++) {
        struct item_path path;

        item_path_begin(&path);
        if (!fold_constant(call->kid[1 - i], &geometry) || !item_path_of(aliases, call->kid[i], &path))
            continue;
        if (geometry.kind != JSON_OBJECT)
            return filter_none(arena);
        made.geometry = geometry.json;
        return item_path_keep(arena, &path, &made.path) ? filter_make(arena, made) : filter_any();
    }
    return filter_any();
}

static struct filter *area(struct arena *arena, const struct alias *aliases, const struct expr *call)
{
    return filter_near(arena, aliases, call, 0);
}

/* ---- calls ---- */

typedef struct filter *claim_code(struct arena *arena, const struct alias *aliases, const struct expr *call);

/* NULL: where it is true, nothing is known. */
static claim_code *const claims[] = {
    [CLAIM_NOTHING] = NULL,
    [CLAIM_KINDS] = kind_test,
    [CLAIM_BEGINS] = string_test,
    [CLAIM_EQUALS] = string_test,
    [CLAIM_HOLDS] = array_contains,
    [CLAIM_HOLDS_ALL] = array_contains_each,
    [CLAIM_HOLDS_ANY] = array_contains_each,
    [CLAIM_TOUCHES] = area,
    [CLAIM_DISTANCE] = NULL,
    [CLAIM_WORDS] = filter_words,
    [CLAIM_ANY_WORDS] = filter_words,
    [CLAIM_MAGNITUDE] = NULL,
    [CLAIM_LOWER] = NULL,
    [CLAIM_UPPER] = NULL,
    [CLAIM_REVERSE] = NULL,
    [CLAIM_LENGTH] = NULL,
    [CLAIM_CHOICE] = NULL,
    [CLAIM_CHOSEN] = NULL,
};

struct filter *filter_call(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                           bool truth)
{
    claim_code *code = claims[filter_claim(expr)];

    return truth && code ? code(arena, aliases, expr) : filter_any();
}
