/* src/query/function/vector.c - VectorDistance before it runs: policies, options, and what is wrong with them. */
#include "base/limits.h"
#include "query/function/policy_path.h"
#include "query/function/vector.h"
#include "query/text/mistake.h"

static const char *const functions[] = {
    [VECTOR_COSINE] = "cosine",
    [VECTOR_DOT_PRODUCT] = "dotproduct",
    [VECTOR_EUCLIDEAN] = "euclidean",
};

static const char *const types[] = {
    [VECTOR_FLOAT32] = "float32",
    [VECTOR_FLOAT16] = "float16",
    [VECTOR_INT8] = "int8",
    [VECTOR_UINT8] = "uint8",
};

/* A number has a range; a name is one of a list. */
struct option {
    const char *name;
    const char *const *names;
    size_t name_count;
    double low, high;
    bool whole;
    const char *code; /* of a number that is out of its range */
};

static const struct option options[] = {
    /* name, names and their count, low and high, whole, code */
    { "distanceFunction", functions, sizeof(functions) / sizeof(*functions), 0, 0, false, NULL },
    { "dataType", types, sizeof(types) / sizeof(*types), 0, 0, false, NULL },
    { "searchListSizeMultiplier", NULL, 0, 1, 100, true, "SC2213" },
    { "quantizedVectorListMultiplier", NULL, 0, 1, 50, true, "SC2214" },
    { "filterPriority", NULL, 0, 0, 1, false, "SC2215" },
};

static int find_name(struct slice name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (slice_is_nocase(name, names[i]))
            return (int)i;
    return -1;
}

bool vector_function_named(struct slice name, enum vector_function *function)
{
    int found = find_name(name, functions, sizeof(functions) / sizeof(*functions));

    if (found >= 0)
        *function = (enum vector_function)found;
    return found >= 0;
}

bool vector_type_named(struct slice name, enum vector_type *type)
{
    int found = find_name(name, types, sizeof(types) / sizeof(*types));

    if (found >= 0)
        *type = (enum vector_type)found;
    return found >= 0;
}

/* ------- policies ------- */

static struct vector_policy read_policy(struct json embedding)
{
    struct vector_policy policy = { .function = VECTOR_COSINE,
                                    .type = VECTOR_FLOAT32,
                                    .dimensions = VECTOR_DIMENSIONS_DEFAULT };
    struct json function = json_get(embedding, "distanceFunction"), type = json_get(embedding, "dataType");
    struct json dimensions = json_get(embedding, "dimensions");

    if (json_kind(function) == JSON_STRING)
        vector_function_named(json_string(function), &policy.function);
    if (json_kind(type) == JSON_STRING)
        vector_type_named(json_string(type), &policy.type);
    if (json_kind(dimensions) == JSON_NUMBER && json_double(dimensions) >= 1 &&
        json_double(dimensions) <= UINT32_MAX)
        policy.dimensions = (uint32_t)json_double(dimensions);
    return policy;
}

const struct vector_policy *vector_policy_of(struct op *op, const struct expr *call, struct json vectors)
{
    for (size_t k = 0; k < call->kid_count && k < 2; k++)
        for (struct json_iter i = json_iter(json_get(vectors, "vectorEmbeddings")); json_next(&i);) {
            struct json path = json_get(i.value, "path");
            struct vector_policy *policy;

            if (json_kind(path) != JSON_STRING || !policy_path_is(call->kid[k], json_string(path)))
                continue;
            policy = arena_alloc(&op->arena, sizeof(*policy));
            *policy = read_policy(i.value);
            return policy;
        }
    return NULL;
}

/* ------- options ------- */

/* What an expression is before any row is seen; undefined when rows decide. */
static struct value constant(const struct expr *expr)
{
    struct value value;

    if (expr->kind == EXPR_LITERAL || expr->kind == EXPR_PARAMETER)
        return expr->value;
    if (expr->kind == EXPR_UNARY && expr->operation == OPERATOR_MINUS) {
        value = constant(expr->kid[0]);
        if (value.kind == JSON_NUMBER)
            return value_double(-value.number);
    }
    return value_undefined;
}

/* undefined stands for no option at all; what rows decide is as wrong as null. */
static struct value written(const struct expr *expr)
{
    struct value value = constant(expr);

    return value.kind != JSON_UNDEFINED || expr->kind == EXPR_LITERAL ? value : value_null;
}

static const char *value_text(struct op *op, struct value value)
{
    struct buf text;

    buf_init(&text, &op->arena);
    if (value.kind == JSON_STRING)
        buf_slice(&text, value.string);
    else
        value_print(&text, value);
    buf_byte(&text, '\0');
    return text.failed ? "" : text.data;
}

static enum status check_name(struct op *op, struct span span, const struct option *option,
                              struct value value)
{
    if (value.kind != JSON_STRING)
        return mistake(
            op, span, "SC2210",
            "VectorDistance function options argument property value of option '%s' must be a string "
            "literal.",
            option->name);
    if (find_name(value.string, option->names, option->name_count) < 0)
        return mistake(
            op, span, "SC2210",
            "VectorDistance function options argument property value '%s' is not a valid value for "
            "option '%s'.",
            value_text(op, value), option->name);
    return ST_OK;
}

/* The service names the number only where it is whole, as it has to be. */
static enum status check_number(struct op *op, struct span span, const struct option *option,
                                struct value value)
{
    if (value.kind != JSON_NUMBER)
        return mistake(
            op, span, "SC2210",
            "VectorDistance function options argument property value of option '%s' must be a number "
            "literal.",
            option->name);
    if (value.number >= option->low && value.number <= option->high && (value.is_int || !option->whole))
        return ST_OK;
    if (option->whole && value.is_int)
        return mistake(op, span, option->code,
                       "The '%s' value %s specified in the VectorDistance function is outside the supported "
                       "range. The value must be between %g and %g.",
                       option->name, value_text(op, value), option->low, option->high);
    return mistake(op, span, option->code,
                   "The '%s' value specified in the VectorDistance function must be %s between %g and %g.",
                   option->name, option->whole ? "an integer" : "a value", option->low, option->high);
}

static enum status check_value(struct op *op, struct span span, const struct option *option,
                               struct value value)
{
    return option->names ? check_name(op, span, option, value) : check_number(op, span, option, value);
}

static enum status check_option(struct op *op, struct span span, struct slice name, struct value value)
{
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if (slice_is(name, options[i].name))
            return value.kind == JSON_UNDEFINED ? ST_OK : check_value(op, span, &options[i], value);
    return mistake(op, span, "SC2210",
                   "'%.*s' is not a valid option name for VectorDistance function options argument.",
                   SLICE_ARGS(name));
}

/* Said in the text, or by a parameter. */
static bool is_said(const struct expr *expr)
{
    return expr->kind == EXPR_LITERAL || expr->kind == EXPR_PARAMETER;
}

/* Whether the search is to be exact. */
static enum status check_exactness(struct op *op, const struct expr *call)
{
    const struct expr *given = call->kid_count > 2 ? call->kid[2] : NULL;

    if (!given || (is_said(given) && value_is_bool(given->value)))
        return ST_OK;
    return mistake(op, given->span, "SC2212",
                   "The third argument provided in the VectorDistance function is invalid. This value must "
                   "be a boolean value set to either \"true\" to execute an exact search or \"false\" to "
                   "execute an efficient search leveraging the index.");
}

enum status vector_check_call(struct op *op, const struct expr *call, const struct vector_policy *policy)
{
    const struct expr *given = call->kid_count > 3 ? call->kid[3] : NULL;
    enum status st = ST_OK;

    (void)policy;
    TRY(check_exactness(op, call));
    if (!given)
        goto out;
    if (given->kind == EXPR_OBJECT) {
        for (size_t i = 0; i < given->kid_count; i++)
            TRY(check_option(op, given->span, given->names[i], written(given->kid[i])));
    } else if (constant(given).kind == JSON_OBJECT) {
        for (struct json_iter i = json_iter(constant(given).json); json_next(&i);)
            TRY(check_option(op, given->span, i.name, value_from_json(i.value)));
    } else {
        TRY(mistake(op, given->span, "SC2210",
                    "Options argument of VectorDistance function must be an object literal expression."));
    }
out:
    return st;
}

enum status vector_bind(struct op *op, const struct query_options *given, struct expr *call)
{
    const struct vector_policy *policy = vector_policy_of(op, call, given->vectors);

    call->memo = (void *)policy;
    return vector_check_call(op, call, policy);
}

struct value vector_option(const struct expr *call, const char *name)
{
    const struct expr *given = call->kid_count > 3 ? call->kid[3] : NULL;

    if (!given)
        return value_undefined;
    if (given->kind == EXPR_OBJECT) {
        for (size_t i = 0; i < given->kid_count; i++)
            if (slice_is(given->names[i], name))
                return constant(given->kid[i]);
    } else if (constant(given).kind == JSON_OBJECT) {
        return value_from_json(json_get(constant(given).json, name));
    }
    return value_undefined;
}

enum vector_function vector_function_of(const struct expr *call, const struct vector_policy *policy)
{
    enum vector_function function = policy ? policy->function : VECTOR_COSINE;
    struct value named = vector_option(call, options[0].name);

    if (named.kind == JSON_STRING)
        vector_function_named(named.string, &function);
    return function;
}

enum vector_type vector_type_of(const struct expr *call, const struct vector_policy *policy)
{
    enum vector_type type = policy ? policy->type : VECTOR_FLOAT32;
    struct value named = vector_option(call, options[1].name);

    if (named.kind == JSON_STRING)
        vector_type_named(named.string, &type);
    return type;
}

bool vector_nearest_is_greatest(const struct expr *call, const struct vector_policy *policy)
{
    return vector_function_of(call, policy) != VECTOR_EUCLIDEAN;
}

struct json vector_index_of(const struct expr *path, struct json indexing)
{
    for (struct json_iter i = json_iter(json_get(indexing, "vectorIndexes")); json_next(&i);) {
        struct json of = json_get(i.value, "path");

        if (json_kind(of) == JSON_STRING && policy_path_is(path, json_string(of)))
            return i.value;
    }
    return json_undefined;
}
