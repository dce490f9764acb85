/*
 * src/query/function/fn_array.c - the built-in functions of arrays and sets, and those that choose among values.
 * Elements are compared deeply, as = compares; a set is an array whose duplicates do not count.
 */
#include "query/function/builtins.h"
#include "query/eval/eval.h"
#include "query/eval/hashes.h"

static bool is_array(struct value value)
{
    return value.kind == JSON_ARRAY;
}

static struct value fn_array_concat(struct eval *eval, const struct value *arg, int count)
{
    struct json_builder out;

    for (int i = 0; i < count; i++)
        if (!is_array(arg[i]))
            return value_undefined;
    json_builder_init(&out, &eval->op->arena);
    json_begin_array(&out);
    for (int i = 0; i < count; i++)
        for (struct json_iter j = json_iter(arg[i].json); json_next(&j);)
            json_add(&out, j.value);
    json_end(&out);
    return eval_built(eval, &out);
}

/* Objects need only have what is wanted; arrays have as many elements, each of which may match so. */
static bool matches(struct eval *eval, struct json element, struct json wanted)
{
    struct json_iter i = json_iter(wanted), j = json_iter(element);
    enum json_kind kind = json_kind(wanted);

    if (kind != json_kind(element))
        return false;
    if (kind < JSON_ARRAY)
        return value_equal(value_from_json(element), value_from_json(wanted));
    if (kind == JSON_ARRAY && json_count(element) != json_count(wanted))
        return false;
    while (json_next(&i)) {
        struct json other = kind == JSON_ARRAY && json_next(&j) ? j.value : json_member(element, i.name);

        if (!eval_spend(eval, kind == JSON_OBJECT ? json_size(element) : 0) || !matches(eval, other, i.value))
            return false;
    }
    return true;
}

static bool contains(struct eval *eval, struct json array, struct value wanted, bool partly)
{
    for (struct json_iter i = json_iter(array); json_next(&i) && eval_spend(eval, 0);) {
        if (partly && wanted.kind >= JSON_ARRAY) {
            if (matches(eval, i.value, wanted.json))
                return true;
        } else if (value_equal(value_from_json(i.value), wanted)) {
            return true;
        }
    }
    return false;
}

/* ARRAY_CONTAINS(array, value [, partly = false]) */
static struct value fn_array_contains(struct eval *eval, const struct value *arg, int count)
{
    if (!is_array(arg[0]) || (count > 2 && !value_is_bool(arg[2])))
        return value_undefined;
    return value_bool(contains(eval, arg[0].json, arg[1], count > 2 && arg[2].kind == JSON_TRUE));
}

/*
 * A chain of tests joined by OR (AND), in three-valued logic: one that is `decisive` decides, else one
 * that is undefined leaves the whole undefined.
 */
static struct value contains_each(struct eval *eval, const struct value *arg, int count, bool decisive)
{
    bool all_defined = true;

    if (!is_array(arg[0]))
        return value_undefined;
    for (int i = 1; i < count; i++) {
        if (arg[i].kind == JSON_UNDEFINED)
            all_defined = false;
        else if (contains(eval, arg[0].json, arg[i], false) == decisive)
            return value_bool(decisive);
    }
    return all_defined ? value_bool(!decisive) : value_undefined;
}

static struct value fn_array_contains_any(struct eval *eval, const struct value *arg, int count)
{
    return contains_each(eval, arg, count, true);
}

static struct value fn_array_contains_all(struct eval *eval, const struct value *arg, int count)
{
    return contains_each(eval, arg, count, false);
}

static struct value fn_array_length(struct eval *eval, const struct value *arg, int count)
{
    (void)eval, (void)count;
    return is_array(arg[0]) ? value_int((int64_t)json_count(arg[0].json)) : value_undefined;
}

/* Elements [from, to). */
static struct value slice_of_array(struct eval *eval, struct json array, int64_t from, int64_t to)
{
    struct json_builder out;
    struct json_iter i = json_iter(array);

    json_builder_init(&out, &eval->op->arena);
    json_begin_array(&out);
    for (int64_t at = 0; at < to && json_next(&i); at++)
        if (at >= from)
            json_add(&out, i.value);
    json_end(&out);
    return eval_built(eval, &out);
}

/* ARRAY_SLICE(array, start [, length]): a negative start counts from the end. */
static struct value fn_array_slice(struct eval *eval, const struct value *arg, int count)
{
    int64_t size, start, length;

    if (!is_array(arg[0]) || !value_is_int(arg[1]) || (count > 2 && !value_is_int(arg[2])))
        return value_undefined;
    size = (int64_t)json_count(arg[0].json);
    start = arg[1].integer < 0 ? arg[1].integer + size : arg[1].integer;
    if (start < 0)
        start = 0;
    if (start > size)
        start = size;
    length = count > 2 ? arg[2].integer : size;
    if (length > size - start)
        length = size - start;
    return slice_of_array(eval, arg[0].json, start, start + length);
}

/* Exact while integers suffice. False when an element is no number. */
static bool sum_of(struct json array, struct value *sum)
{
    int64_t whole = 0;
    double total = 0;
    bool exact = true;

    for (struct json_iter i = json_iter(array); json_next(&i);) {
        if (json_kind(i.value) != JSON_NUMBER)
            return false;
        total += json_double(i.value);
        exact = exact && json_is_int(i.value) && !__builtin_add_overflow(whole, json_int(i.value), &whole);
    }
    *sum = exact ? value_int(whole) : value_double(total);
    return true;
}

static struct value fn_array_sum(struct eval *eval, const struct value *arg, int count)
{
    struct value sum;

    (void)eval, (void)count;
    if (!is_array(arg[0]) || json_count(arg[0].json) == 0 || !sum_of(arg[0].json, &sum))
        return value_undefined;
    return sum;
}

static struct value fn_array_avg(struct eval *eval, const struct value *arg, int count)
{
    struct value sum;

    (void)eval, (void)count;
    if (!is_array(arg[0]) || json_count(arg[0].json) == 0 || !sum_of(arg[0].json, &sum))
        return value_undefined;
    return value_double(sum.number / (double)json_count(arg[0].json));
}

static int by_number(const void *a, const void *b)
{
    return value_compare(*(const struct value *)a, *(const struct value *)b);
}

static struct value middle_of(const struct value *number, size_t count)
{
    if (count % 2)
        return number[count / 2];
    return value_double((number[count / 2 - 1].number + number[count / 2].number) / 2);
}

static struct value fn_array_median(struct eval *eval, const struct value *arg, int count)
{
    struct value *number;
    size_t size = 0;

    (void)count;
    if (!is_array(arg[0]) || json_count(arg[0].json) == 0)
        return value_undefined;
    number = eval_alloc(eval, json_count(arg[0].json) * sizeof(*number));
    if (!number)
        return value_undefined;
    for (struct json_iter i = json_iter(arg[0].json); json_next(&i);) {
        number[size] = value_from_json(i.value);
        if (number[size++].kind != JSON_NUMBER)
            return value_undefined;
    }
    qsort(number, size, sizeof(*number), by_number);
    return middle_of(number, size);
}

/* As ARRAY_MAX and ARRAY_MIN have them in order: NaN is as great as infinity. */
static int compare_elements(struct value a, struct value b)
{
    if (a.kind == JSON_NUMBER && isnan(a.number))
        a = value_double(INFINITY);
    if (b.kind == JSON_NUMBER && isnan(b.number))
        b = value_double(INFINITY);
    return value_compare(a, b);
}

/* The greatest with a sign of 1, the least with -1; arrays and objects have no order among the rest. */
static struct value extreme_of(struct value array, int sign)
{
    struct value best = value_undefined;

    if (!is_array(array))
        return value_undefined;
    for (struct json_iter i = json_iter(array.json); json_next(&i);) {
        if (json_kind(i.value) >= JSON_ARRAY)
            return value_undefined;
        if (best.kind == JSON_UNDEFINED || compare_elements(value_from_json(i.value), best) * sign > 0)
            best = value_from_json(i.value);
    }
    return best;
}

static struct value fn_array_max(struct eval *eval, const struct value *arg, int count)
{
    (void)eval, (void)count;
    return extreme_of(arg[0], 1);
}

static struct value fn_array_min(struct eval *eval, const struct value *arg, int count)
{
    (void)eval, (void)count;
    return extreme_of(arg[0], -1);
}

/* CHOOSE(index, first, second, ...): the index counts from 1. */
static struct value fn_choose(struct eval *eval, const struct value *arg, int count)
{
    (void)eval;
    if (!value_is_int(arg[0]) || arg[0].integer < 1 || arg[0].integer >= count)
        return value_undefined;
    return arg[arg[0].integer];
}

static struct value fn_iif(struct eval *eval, const struct value *arg, int count)
{
    (void)eval, (void)count;
    return arg[0].kind == JSON_TRUE ? arg[1] : arg[2];
}

/* The evaluator has put the item's number in the item's place. */
static struct value fn_documentid(struct eval *eval, const struct value *arg, int count)
{
    (void)eval, (void)count;
    return arg[0];
}

/* One property cannot be both: the value's hides the name's. */
static struct value members_of(struct eval *eval, struct json object, struct slice name_key,
                               struct slice value_key)
{
    bool both = !slice_equal(name_key, value_key);
    struct json_builder out;

    json_builder_init(&out, &eval->op->arena);
    json_begin_array(&out);
    for (struct json_iter i = json_iter(object);
         json_next(&i) && eval_spend(eval, name_key.size + value_key.size);) {
        json_begin_object(&out);
        if (both) {
            json_add_name(&out, name_key);
            json_add_string(&out, i.name);
        }
        json_add_name(&out, value_key);
        json_add(&out, i.value);
        json_end(&out);
    }
    json_end(&out);
    return eval_built(eval, &out);
}

/* OBJECTTOARRAY(object [, name = "k" [, value = "v"]]): undefined ones at the end are as if they were not there. */
static struct value fn_objecttoarray(struct eval *eval, const struct value *arg, int count)
{
    struct value name_key = value_string(slice_of("k")), value_key = value_string(slice_of("v"));

    while (count > 1 && arg[count - 1].kind == JSON_UNDEFINED)
        count--;
    if (count > 1)
        name_key = arg[1];
    if (count > 2)
        value_key = arg[2];
    if (arg[0].kind != JSON_OBJECT || name_key.kind != JSON_STRING || value_key.kind != JSON_STRING)
        return value_undefined;
    return members_of(eval, arg[0].json, name_key.string, value_key.string);
}

/* Whether it was not in the set, which it is from now on. False too when memory or time is up. */
static bool is_new(struct eval *eval, struct hashes *set, struct json value)
{
    int added;

    if (!eval_spend(eval, 0))
        return false;
    if (value_has_nan(value)) /* it is always new */
        return true;
    added = hashes_add(set, json_hash_seeded(eval->op->seed, value));
    if (added < 0)
        eval_fail(eval, ST_QUERY_MEMORY);
    return added > 0;
}

static struct hashes set_of(struct eval *eval, struct json array)
{
    struct hashes set = { .memory = &eval->op->arena };

    for (struct json_iter i = json_iter(array); json_next(&i);)
        is_new(eval, &set, i.value);
    return set;
}

/* Elements that are new to the set, each once, at the end of what is being built. */
static void add_new(struct eval *eval, struct json_builder *out, struct hashes *set, struct json array)
{
    for (struct json_iter i = json_iter(array); json_next(&i);)
        if (is_new(eval, set, i.value))
            json_add(out, i.value);
}

static struct value fn_setunion(struct eval *eval, const struct value *arg, int count)
{
    struct hashes set = { .memory = &eval->op->arena };
    struct json_builder out;

    (void)count;
    if (!is_array(arg[0]) || !is_array(arg[1]))
        return value_undefined;
    json_builder_init(&out, &eval->op->arena);
    json_begin_array(&out);
    add_new(eval, &out, &set, arg[0].json);
    add_new(eval, &out, &set, arg[1].json);
    json_end(&out);
    return eval_built(eval, &out);
}

static struct value fn_setdifference(struct eval *eval, const struct value *arg, int count)
{
    struct json_builder out;
    struct hashes set;

    (void)count;
    if (!is_array(arg[0]) || !is_array(arg[1]))
        return value_undefined;
    set = set_of(eval, arg[1].json);
    json_builder_init(&out, &eval->op->arena);
    json_begin_array(&out);
    add_new(eval, &out, &set, arg[0].json);
    json_end(&out);
    return eval_built(eval, &out);
}

/* In the order of the shorter array. Each of its values is asked for once, so that asking may add it. */
static struct value fn_setintersect(struct eval *eval, const struct value *arg, int count)
{
    struct hashes others, seen = { .memory = &eval->op->arena };
    struct json_builder out;
    int shorter;

    (void)count;
    if (!is_array(arg[0]) || !is_array(arg[1]))
        return value_undefined;
    shorter = json_count(arg[1].json) < json_count(arg[0].json);
    others = set_of(eval, arg[1 - shorter].json);
    json_builder_init(&out, &eval->op->arena);
    json_begin_array(&out);
    for (struct json_iter i = json_iter(arg[shorter].json); json_next(&i);)
        if (is_new(eval, &seen, i.value) && !is_new(eval, &others, i.value))
            json_add(&out, i.value);
    json_end(&out);
    return eval_built(eval, &out);
}

static struct value fn_setequal(struct eval *eval, const struct value *arg, int count)
{
    struct hashes first, second;

    (void)count;
    if (!is_array(arg[0]) || !is_array(arg[1]))
        return value_undefined;
    first = set_of(eval, arg[0].json);
    second = set_of(eval, arg[1].json);
    if (first.count != second.count)
        return value_bool(false);
    for (struct json_iter i = json_iter(arg[1].json); json_next(&i);)
        if (is_new(eval, &first, i.value))
            return value_bool(false);
    return value_bool(true);
}

static const struct builtin rows[] = {
    { "_TRY_ARRAY_CONTAINS", 2, 3, .code = fn_array_contains, .claim = { CLAIM_HOLDS } },
    { "ARRAY_AVG", 1, 1, "ARRAYAVG", .code = fn_array_avg },
    { "ARRAY_CONCAT", 2, ARGS_NO_MAX, "ARRAYCONCAT", .code = fn_array_concat },
    { "ARRAY_CONTAINS", 2, 3, "ARRAYCONTAINS", .code = fn_array_contains, .claim = { CLAIM_HOLDS } },
    { "ARRAY_CONTAINS_ALL", 2, ARGS_NO_MAX, "ARRAYCONTAINSALL", .code = fn_array_contains_all,
      .flags = TAKES_UNDEFINED, .claim = { CLAIM_HOLDS_ALL } },
    { "ARRAY_CONTAINS_ANY", 2, ARGS_NO_MAX, "ARRAYCONTAINSANY", .code = fn_array_contains_any,
      .flags = TAKES_UNDEFINED, .claim = { CLAIM_HOLDS_ANY } },
    { "ARRAY_LENGTH", 1, 1, "ARRAYLENGTH", .code = fn_array_length },
    { "ARRAY_MAX", 1, 1, "ARRAYMAX", .code = fn_array_max },
    { "ARRAY_MEDIAN", 1, 1, "ARRAYMEDIAN", .code = fn_array_median, .flags = TAKES_LONG },
    { "ARRAY_MIN", 1, 1, "ARRAYMIN", .code = fn_array_min },
    { "ARRAY_SLICE", 2, 3, "ARRAYSLICE", .code = fn_array_slice },
    { "ARRAY_SUM", 1, 1, "ARRAYSUM", .code = fn_array_sum },
    { "CHOOSE", 2, ARGS_NO_MAX, .code = fn_choose, .flags = TAKES_UNDEFINED, .claim = { CLAIM_CHOSEN } },
    { "DOCUMENTID", 1, 1, .code = fn_documentid, .flags = TAKES_ROW },
    { "IIF", 3, 3, .code = fn_iif, .flags = TAKES_UNDEFINED, .claim = { CLAIM_CHOICE } },
    { "OBJECTTOARRAY", 1, 3, .code = fn_objecttoarray, .flags = TAKES_UNDEFINED },
    { "SETDIFFERENCE", 2, 2, "SET_DIFFERENCE", .code = fn_setdifference, .flags = TAKES_LONG },
    { "SETEQUAL", 2, 2, "SET_EQUAL", .code = fn_setequal, .flags = TAKES_LONG },
    { "SETINTERSECT", 2, 2, "SET_INTERSECT", .code = fn_setintersect, .flags = TAKES_LONG },
    { "SETUNION", 2, 2, "SET_UNION", .code = fn_setunion, .flags = TAKES_LONG },
};

const struct builtin_family builtins_array = { rows, sizeof(rows) / sizeof(rows[0]) };
