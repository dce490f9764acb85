/*
 * src/query/function/fn_vector.c - VECTORDISTANCE(a, b [, bruteForce [, options]]).
 * Every vector is compared with every other: an index changes nothing but speed, so bruteForce and
 * the options that tune an index are checked (vector.c) and then ignored. Numbers are what the type holds of them; with
 * those it is computed in doubles.
 */
#include <math.h>

#include "query/function/builtins.h"
#include "query/eval/eval.h"
#include "query/function/vector.h"

struct numbers {
    const double *at;
    size_t count;
};

/* The memo after the first row. An argument that is a constant is read once, and found here ever after. */
struct memo {
    struct vector_policy policy; /* prepared */
    struct remembered {
        struct slice bytes;
        struct numbers numbers;
        bool differs;
    } argument[2];
};

/* Two doubles in one register, on any processor we run on; four sums of them do not wait for one another. */
typedef double pair __attribute__((vector_size(2 * sizeof(double))));

enum { LANES = 8 };

struct sums {
    pair a, b, c, d;
};

static double total(struct sums s)
{
    pair sum = (s.a + s.b) + (s.c + s.d);

    return sum[0] + sum[1];
}

/* Arrays of numbers end in zeros up to a whole number of lanes, so that there is no rest to look after. */
static size_t padded(size_t count)
{
    return (count + LANES - 1) / LANES * LANES;
}

static pair load(const double *at)
{
    pair p;

    memcpy(&p, at, sizeof(p));
    return p;
}

static pair product(const double *a, const double *b)
{
    return load(a) * load(b);
}

static pair squared_difference(const double *a, const double *b)
{
    pair apart = load(a) - load(b);

    return apart * apart;
}

static double dot_product(struct numbers a, struct numbers b)
{
    struct sums s = { 0 };

    for (size_t i = 0; i < a.count; i += LANES) {
        s.a += product(a.at + i, b.at + i);
        s.b += product(a.at + i + 2, b.at + i + 2);
        s.c += product(a.at + i + 4, b.at + i + 4);
        s.d += product(a.at + i + 6, b.at + i + 6);
    }
    return total(s);
}

static double euclidean(struct numbers a, struct numbers b)
{
    struct sums s = { 0 };

    for (size_t i = 0; i < a.count; i += LANES) {
        s.a += squared_difference(a.at + i, b.at + i);
        s.b += squared_difference(a.at + i + 2, b.at + i + 2);
        s.c += squared_difference(a.at + i + 4, b.at + i + 4);
        s.d += squared_difference(a.at + i + 6, b.at + i + 6);
    }
    return sqrt(total(s));
}

/* A vector of zeros has no direction: the service says 0. */
static double cosine(struct numbers a, struct numbers b)
{
    double sizes = sqrt(dot_product(a, a) * dot_product(b, b));

    return sizes == 0 ? 0 : dot_product(a, b) / sizes;
}

static double (*const functions[])(struct numbers, struct numbers) = {
    [VECTOR_COSINE] = cosine,
    [VECTOR_DOT_PRODUCT] = dot_product,
    [VECTOR_EUCLIDEAN] = euclidean,
};

/* Empty when the array is, or holds anything but numbers of the type. */
static struct numbers read_numbers(struct eval *eval, struct arena *memory, struct json array,
                                   enum vector_type type)
{
    size_t count = json_count(array), i = 0;
    double *at = arena_try_alloc(memory, padded(count) * sizeof(double));

    if (!at) {
        eval_fail(eval, ST_QUERY_MEMORY);
        return (struct numbers){ 0 };
    }
    for (struct json_iter each = json_iter(array); json_next(&each);) {
        if (json_kind(each.value) != JSON_NUMBER)
            return (struct numbers){ 0 };
        at[i++] = json_double(each.value);
    }
    if (!vector_hold(type, at, count))
        return (struct numbers){ 0 };
    for (; i < padded(count); i++)
        at[i] = 0;
    return (struct numbers){ at, count };
}

static struct memo *memo_of(struct eval *eval)
{
    const struct vector_policy *policy = *eval->memo;
    struct memo *memo;

    if (policy && policy->prepared)
        return *eval->memo;
    memo = arena_alloc(eval->kept, sizeof(*memo));
    *memo = (struct memo){ 0 };
    if (policy)
        memo->policy = *policy;
    memo->policy.prepared = true;
    *eval->memo = memo;
    return memo;
}

static struct numbers numbers_of(struct eval *eval, struct remembered *known, struct json array,
                                 enum vector_type type)
{
    struct slice bytes = json_bytes(array);
    char *copy;

    if (known->bytes.data && slice_equal(known->bytes, bytes))
        return known->numbers;
    if (known->differs || known->bytes.data) {
        known->bytes.data = NULL;
        known->differs = true;
        return read_numbers(eval, &eval->op->arena, array, type);
    }
    known->numbers = read_numbers(eval, eval->kept, array, type);
    copy = arena_try_alloc(eval->kept, bytes.size);
    if (copy)
        known->bytes = slice_make(memcpy(copy, bytes.data, bytes.size), bytes.size);
    return known->numbers;
}

/* By the options and then the policy. A call's options are the same for all of its rows. */
struct manner {
    enum vector_function function;
    enum vector_type type;
};

/* False when the options are none. */
static bool manner_of(const struct vector_policy *policy, const struct value *arg, int count,
                      struct manner *manner)
{
    struct json function, type;

    *manner = (struct manner){ policy->function, policy->type };
    if (count > 2 && !value_is_bool(arg[2]))
        return false;
    if (count <= 3)
        return true;
    if (arg[3].kind != JSON_OBJECT)
        return false;
    function = json_get(arg[3].json, "distanceFunction");
    type = json_get(arg[3].json, "dataType");
    return (json_kind(function) == JSON_UNDEFINED ||
            (json_kind(function) == JSON_STRING &&
             vector_function_named(json_string(function), &manner->function))) &&
           (json_kind(type) == JSON_UNDEFINED ||
            (json_kind(type) == JSON_STRING && vector_type_named(json_string(type), &manner->type)));
}

static struct value measure(struct eval *eval, const struct value *arg, int count, bool nearest_is_greatest)
{
    struct memo *memo = memo_of(eval);
    struct manner manner;
    struct numbers a, b;
    double distance;

    if (arg[0].kind != JSON_ARRAY || arg[1].kind != JSON_ARRAY ||
        json_count(arg[0].json) != json_count(arg[1].json) || !manner_of(&memo->policy, arg, count, &manner))
        return value_undefined;
    if (memo->policy.dimensions && json_count(arg[0].json) != memo->policy.dimensions)
        return value_undefined;
    a = numbers_of(eval, &memo->argument[0], arg[0].json, manner.type);
    b = numbers_of(eval, &memo->argument[1], arg[1].json, manner.type);
    if (a.count == 0 || b.count == 0)
        return value_undefined;
    distance = functions[manner.function](a, b);
    if (nearest_is_greatest && manner.function == VECTOR_EUCLIDEAN)
        distance = 0 - distance; /* and no distance is 0, not -0 */
    return isfinite(distance) ? value_double(distance) : value_undefined;
}

static struct value fn_vectordistance(struct eval *eval, const struct value *arg, int count)
{
    return measure(eval, arg, count, false);
}

/* What ranges are asked for in a ranking: the greater, the nearer, whatever the function. */
static struct value fn_vectorscore(struct eval *eval, const struct value *arg, int count)
{
    return measure(eval, arg, count, true);
}

static const struct builtin rows[] = {
    { "VECTORDISTANCE", 2, 4, .code = fn_vectordistance, .flags = NOT_OF_ITEM | TAKES_LONG | RANKS,
      .bind = vector_bind },
    { "_VECTORSCORE", 2, 4, .code = fn_vectorscore, .flags = NOT_OF_ITEM | TAKES_LONG | ORDERS | DESCENDS,
      .bind = vector_bind },
};

const struct builtin_family builtins_vector = { rows, sizeof(rows) / sizeof(rows[0]) };
