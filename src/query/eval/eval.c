/* src/query/eval/eval.c - expressions, one row at a time. */
#include <assert.h>
#include <math.h>

#include "base/limits.h"
#include "query/eval/builtin.h"
#include "query/eval/like.h"
#include "query/eval/operator.h"
#include "query/query.h"
#include "query/eval/rows.h"
#include "query/eval/truth.h"

enum { STEPS_BETWEEN_CHECKS = 1024, BYTES_OF_A_STEP = 256, ARGS_ON_STACK = 8 };

enum { SMALL_BYTES = 64 }; /* of a value, which has no more than its expression was counted for */

/* On a loop thread, where the slowest of functions counts; so many steps of ours are one of the op's. */
enum { INLINE_STEPS_BETWEEN_CHECKS = 64, INLINE_BYTES_OF_A_STEP = 16, STEPS_OF_A_STEP = 8 };

static void explain_memory(struct eval *eval)
{
    if (eval->op->claim.refused) { /* the memory of all is gone, though this query's share may not be */
        eval->status = ST_TOO_MANY_REQUESTS;
        op_set_error(eval->op, "Too many large queries run at this time. Retry the request.");
        return;
    }
    op_set_error(eval->op,
                 "Query exceeded the maximum allowed memory usage of %d MB. Please consider adding more "
                 "filters to reduce the query response size.",
                 OP_MEMORY_BYTES_MAX / (1024 * 1024));
}

struct value eval_fail(struct eval *eval, enum status status)
{
    assert(status != ST_OK);
    if (eval->status != ST_OK)
        return value_undefined;
    eval->status = status;
    if (status == ST_QUERY_MEMORY)
        explain_memory(eval);
    if (eval->op->error) /* out of the memory that is given back row by row */
        eval->op->error = arena_text(eval->kept, slice_of(eval->op->error));
    return value_undefined;
}

void *eval_alloc(struct eval *eval, size_t bytes)
{
    void *memory = arena_try_alloc(&eval->op->arena, bytes);

    if (!memory)
        eval_fail(eval, ST_QUERY_MEMORY);
    return memory;
}

struct value eval_built(struct eval *eval, struct json_builder *builder)
{
    struct json json = json_built(builder);

    if (json_kind(json) == JSON_UNDEFINED)
        return eval_fail(eval, ST_QUERY_MEMORY);
    return value_from_json(json);
}

bool eval_spend(struct eval *eval, size_t bytes)
{
    bool may_block = eval->op->may_block;

    eval->steps += 1 + bytes / (may_block ? BYTES_OF_A_STEP : INLINE_BYTES_OF_A_STEP);
    if (eval->steps >= eval->check_at && eval->status == ST_OK) {
        enum status st = op_spend(eval->op, (eval->steps - eval->told) / STEPS_OF_A_STEP);

        eval->told = eval->steps;
        eval->check_at = eval->steps + (may_block ? STEPS_BETWEEN_CHECKS : INLINE_STEPS_BETWEEN_CHECKS);
        if (st != ST_OK)
            eval_fail(eval, st);
    }
    return eval->status == ST_OK;
}

/* What may have to be looked at or copied. */
static size_t bytes_of(struct value value)
{
    if (value.kind == JSON_STRING)
        return value.string.size;
    return value.kind >= JSON_ARRAY && !value.is_row ? json_size(value.json) : 0;
}

bool eval_add(struct eval *eval, struct json_builder *out, struct value value)
{
    size_t bytes = bytes_of(value);

    if (bytes > SMALL_BYTES && !eval_spend(eval, bytes))
        return false;
    value_add(out, value);
    return true;
}

struct value eval_copy(struct eval *eval, struct value value)
{
    struct slice bytes = value.kind == JSON_STRING ? value.string : slice_of("");
    char *copy;

    if (value.kind >= JSON_ARRAY && !value.is_row)
        bytes = json_bytes(value.json);
    if (bytes.size == 0)
        return value;
    copy = eval_alloc(eval, bytes.size);
    if (!copy)
        return value_undefined;
    memcpy(copy, bytes.data, bytes.size);
    if (value.kind == JSON_STRING)
        value.string.data = copy;
    else
        value.json.at = (const uint8_t *)copy;
    return value;
}

struct json eval_system(struct eval *eval, struct query_row *row)
{
    if (!row->system.at && row->source->system) {
        row->system = row->source->system(row->source, row, eval->item);
        if (json_kind(row->system) == JSON_UNDEFINED)
            eval_fail(eval, ST_QUERY_MEMORY);
    }
    return row->system;
}

/* The one that is asked for, where the rest of them is not at hand. */
static struct json system_one(struct eval *eval, struct query_row *row, struct slice name)
{
    struct query_source *source = row->source;
    struct json value;

    if (row->system.at || !source->system_one)
        return json_member(eval_system(eval, row), name);
    if (!source->system_one(source, row, name, eval->item, &value))
        eval_fail(eval, ST_QUERY_MEMORY);
    return value;
}

struct value eval_plain(struct eval *eval, struct value value)
{
    struct json_builder out;
    struct json system, front, back;

    if (!value.is_row)
        return value;
    system = eval_system(eval, value.row);
    if (eval->status != ST_OK)
        return value_undefined;
    json_split(&eval->op->arena, value.row->body, value.row->behind, &front, &back);
    json_builder_init(&out, &eval->op->arena);
    json_begin_object(&out);
    json_add_members(&out, front, NULL);
    json_add_members(&out, system, NULL);
    json_add_members(&out, back, NULL);
    json_end(&out);
    return eval_built(eval, &out);
}

static struct json member_of(struct eval *eval, const struct value *object, struct slice name)
{
    struct json found;

    if (object->kind != JSON_OBJECT)
        return json_undefined;
    if (!object->is_row)
        return json_member(object->json, name);
    found = json_member(object->row->body, name);
    if (!found.at && name.size && name.data[0] == '_')
        found = system_one(eval, object->row, name);
    return found;
}

struct json eval_member(struct eval *eval, const struct expr *expr)
{
    const struct expr *of = expr->kid[0];
    struct value object;

    assert(expr->kind == EXPR_MEMBER && !expr->instead);
    if (of->kind == EXPR_NAME && !of->instead)
        return member_of(eval, &eval->slot[of->slot], expr->name);
    if (of->kind == EXPR_MEMBER && !of->instead)
        return json_member(eval_member(eval, of), expr->name);
    object = eval_expr(eval, of);
    return member_of(eval, &object, expr->name);
}

/* A fraction of an index is cut off. */
static struct value eval_index(struct eval *eval, const struct expr *expr)
{
    struct value container = eval_expr(eval, expr->kid[0]);
    struct value index = eval_expr(eval, expr->kid[1]);

    if (index.kind == JSON_STRING)
        return value_from_json(member_of(eval, &container, index.string));
    if (container.kind != JSON_ARRAY || index.kind != JSON_NUMBER ||
        !(index.number > -1 && index.number < 0x1p53))
        return value_undefined;
    return value_from_json(json_element(container.json, (size_t)index.number));
}

static struct value eval_concat(struct eval *eval, struct value a, struct value b)
{
    char *text;

    if (a.kind != JSON_STRING || b.kind != JSON_STRING || !eval_spend(eval, a.string.size + b.string.size))
        return value_undefined;
    text = eval_alloc(eval, a.string.size + b.string.size);
    if (!text)
        return value_undefined;
    memcpy(text, a.string.data, a.string.size);
    memcpy(text + a.string.size, b.string.data, b.string.size);
    return value_string(slice_make(text, a.string.size + b.string.size));
}

static struct value eval_binary(struct eval *eval, const struct expr *expr)
{
    struct value a, b;

    if (is_of_truth(expr->operation))
        return (struct value){ .kind = (uint8_t)eval_truth(eval, expr) };
    a = eval_expr(eval, expr->kid[0]);
    if (expr->operation == OPERATOR_COALESCE)
        return a.kind != JSON_UNDEFINED ? a : eval_expr(eval, expr->kid[1]);
    b = eval_expr(eval, expr->kid[1]);
    if (expr->operation == OPERATOR_CONCAT)
        return eval_concat(eval, a, b);
    if (a.is_row || b.is_row) {
        a = eval_plain(eval, a);
        b = eval_plain(eval, b);
    }
    return operator_binary(expr->operation, a, b);
}

static struct value negate_if(bool negated, struct value value)
{
    return negated ? operator_unary(OPERATOR_NOT, value) : value;
}

static struct value eval_between(struct eval *eval, const struct expr *expr)
{
    struct value x = eval_expr(eval, expr->kid[0]);
    struct value low = operator_binary(OPERATOR_GREATER_EQUAL, x, eval_expr(eval, expr->kid[1]));
    struct value high = operator_binary(OPERATOR_LESS_EQUAL, x, eval_expr(eval, expr->kid[2]));

    if (low.kind == JSON_FALSE || high.kind == JSON_FALSE)
        return value_bool(expr->negated);
    if (low.kind == JSON_UNDEFINED || high.kind == JSON_UNDEFINED)
        return value_undefined;
    return value_bool(!expr->negated);
}

/* A long list of constants was sorted by the binder. */
static bool in_sorted(const struct in_list *list, struct value x)
{
    size_t low = 0, high = list->count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = value_compare(x, list->value[middle]);

        if (order == 0)
            return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

/* An undefined member is like any other that is not equal. */
static struct value eval_in(struct eval *eval, const struct expr *expr)
{
    struct value x = eval_plain(eval, eval_expr(eval, expr->kid[0]));

    if (x.kind == JSON_UNDEFINED)
        return value_undefined;
    if (expr->memo && !(x.kind == JSON_NUMBER && isnan(x.number)))
        return value_bool(in_sorted(expr->memo, x) != expr->negated);
    for (size_t i = 1; i < expr->kid_count; i++) {
        struct value equal =
            operator_binary(OPERATOR_EQUAL, x, eval_plain(eval, eval_expr(eval, expr->kid[i])));

        if (equal.kind == JSON_TRUE)
            return value_bool(!expr->negated);
    }
    return value_bool(expr->negated);
}

static struct value eval_like(struct eval *eval, const struct expr *expr)
{
    struct value text = eval_expr(eval, expr->kid[0]), pattern = eval_expr(eval, expr->kid[1]);
    struct value escape = expr->kid_count > 2 ? eval_expr(eval, expr->kid[2]) : value_undefined;

    if (text.kind != JSON_STRING || pattern.kind != JSON_STRING || !eval_spend(eval, text.string.size))
        return value_undefined;
    return negate_if(expr->negated,
                     value_bool(like_match(eval, text.string, pattern.string,
                                           escape.kind == JSON_STRING ? escape.string : slice_of(""))));
}

/* False when an argument is undefined and the function does not ask for it then, or when time is up. */
static bool eval_arguments(struct eval *eval, const struct expr *expr, struct value *arg, unsigned flags)
{
    size_t bytes = 0;

    for (size_t i = 0; i < expr->kid_count; i++) {
        arg[i] = eval_expr(eval, expr->kid[i]);
        if (arg[i].kind == JSON_UNDEFINED && !(flags & TAKES_UNDEFINED))
            return false;
        if (flags & TAKES_ROW)
            arg[i] = arg[i].is_row ? value_int((int64_t)arg[i].row->number) : value_undefined;
        else
            arg[i] = eval_plain(eval, arg[i]);
        bytes += bytes_of(arg[i]);
    }
    return eval_spend(eval, bytes);
}

static struct value eval_udf(struct eval *eval, const struct expr *expr, const struct value *arg)
{
    struct value result = value_undefined;
    enum status st;

    if (eval->tells) {
        assert(eval->udf_told);
        eval->udf_told(eval->op, eval->udf_context, expr->name, arg, (int)expr->kid_count);
        return value_undefined;
    }
    assert(eval->udf); /* the binder refuses calls where there are none */
    st = eval->udf(eval->op, eval->udf_context, expr->name, arg, (int)expr->kid_count, &result);
    return st == ST_OK ? result : eval_fail(eval, st);
}

static struct value eval_call(struct eval *eval, struct expr *expr)
{
    struct value few[ARGS_ON_STACK];
    struct value *arg = few;
    unsigned flags = expr->kind == EXPR_UDF ? TAKES_UNDEFINED : expr->builtin->flags;
    struct value result;
    void **outer = eval->memo;

    if (flags & AGGREGATE)
        return eval->result[expr->slot];
    if (expr->kid_count > ARGS_ON_STACK) {
        arg = eval_alloc(eval, expr->kid_count * sizeof(*arg));
        if (!arg)
            return value_undefined;
    }
    if (!eval_arguments(eval, expr, arg, flags))
        return value_undefined;
    if (expr->kind == EXPR_UDF)
        return eval_udf(eval, expr, arg);
    if (expr->kept_run != eval->run) { /* the memory of the execution before is gone */
        expr->kept_run = eval->run;
        expr->kept = expr->memo;
    }
    assert(
        expr->builtin->code); /* of a row without code: aggregates are answered above, others are not bound */
    eval->memo = &expr->kept;
    result = expr->builtin->code(eval, arg, (int)expr->kid_count);
    eval->memo = outer;
    return result;
}

static struct value eval_array(struct eval *eval, const struct expr *expr)
{
    struct json_builder out;

    json_builder_init(&out, &eval->op->arena);
    json_begin_array(&out);
    for (size_t i = 0; i < expr->kid_count; i++) {
        struct value value = eval_plain(eval, eval_expr(eval, expr->kid[i]));

        if (value.kind != JSON_UNDEFINED && !eval_add(eval, &out, value))
            return value_undefined;
    }
    json_end(&out);
    return eval_built(eval, &out);
}

static struct value eval_object(struct eval *eval, const struct expr *expr)
{
    struct json_builder out;

    json_builder_init(&out, &eval->op->arena);
    json_begin_object(&out);
    for (size_t i = 0; i < expr->kid_count; i++) {
        struct value value = eval_plain(eval, eval_expr(eval, expr->kid[i]));

        if (value.kind == JSON_UNDEFINED)
            continue;
        json_add_name(&out, expr->names[i]);
        if (!eval_add(eval, &out, value))
            return value_undefined;
    }
    json_end(&out);
    return eval_built(eval, &out);
}

/* What became of a subquery's rows. */
struct gathered {
    size_t count;
    struct value last;
    struct json_builder *array;
};

static bool gather_one(struct eval *eval, struct value value, void *context)
{
    struct gathered *got = context;

    got->last = value;
    if (++got->count <= 1)
        return true;
    if (eval->status == ST_OK)
        op_set_error(eval->op, "The cardinality of a scalar subquery result set cannot be greater than one.");
    eval_fail(eval, ST_BAD_REQUEST);
    return false;
}

static bool gather_first(struct eval *eval, struct value value, void *context)
{
    struct gathered *got = context;

    (void)eval;
    got->last = value;
    got->count++;
    return false;
}

static bool gather_last(struct eval *eval, struct value value, void *context)
{
    (void)eval;
    ((struct gathered *)context)->last = value;
    return true;
}

static bool gather_array(struct eval *eval, struct value value, void *context)
{
    struct gathered *got = context;

    return eval_add(eval, got->array, eval_plain(eval, value));
}

static struct value eval_subquery(struct eval *eval, const struct expr *expr)
{
    struct gathered got = { .last = value_undefined };
    struct json_builder array;

    assert(expr->select);
    switch (expr->kind) {
    case EXPR_EXISTS:
        rows_each(eval, expr->select, gather_first, &got);
        return value_bool(got.count > 0);
    case EXPR_FIRST:
        rows_each(eval, expr->select, gather_first, &got);
        return got.last;
    case EXPR_LAST:
        rows_each(eval, expr->select, gather_last, &got);
        return got.last;
    case EXPR_ARRAY_OF:
        json_builder_init(&array, &eval->op->arena);
        json_begin_array(&array);
        got.array = &array;
        rows_each(eval, expr->select, gather_array, &got);
        json_end(&array);
        return eval_built(eval, &array);
    default:
        rows_each(eval, expr->select, gather_one, &got);
        return got.last;
    }
}

struct value eval_expr(struct eval *eval, const struct expr *expr)
{
    if (expr->instead)
        return eval_expr(eval, expr->instead);
    switch (expr->kind) {
    case EXPR_LITERAL:
    case EXPR_PARAMETER:
        return expr->value;
    case EXPR_NAME:
        return eval->slot[expr->slot];
    case EXPR_RESULT:
        return eval->result[expr->slot];
    case EXPR_MEMBER:
        return value_from_json(eval_member(eval, expr));
    case EXPR_INDEX:
        return eval_index(eval, expr);
    case EXPR_UNARY:
        return operator_unary(expr->operation, eval_expr(eval, expr->kid[0]));
    case EXPR_BINARY:
        return eval_binary(eval, expr);
    case EXPR_TERNARY:
        return eval_expr(eval, expr->kid[eval_truth(eval, expr->kid[0]) == JSON_TRUE ? 1 : 2]);
    case EXPR_BETWEEN:
        return eval_between(eval, expr);
    case EXPR_IN:
        return eval_in(eval, expr);
    case EXPR_LIKE:
        return eval_like(eval, expr);
    case EXPR_CALL:
    case EXPR_UDF:
        return eval_call(eval, (struct expr *)expr);
    case EXPR_ARRAY:
        return eval_array(eval, expr);
    case EXPR_OBJECT:
        return eval_object(eval, expr);
    default:
        return eval_subquery(eval, expr);
    }
}
