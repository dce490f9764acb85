/* src/query/function/policy_path.c - paths of policies, and expressions that are one. */
#include "query/function/policy_path.h"

/* What a step below an item is called, by a literal or by a parameter: c.a, c["a"], c[@p]. */
static bool step_name(const struct expr *expr, struct slice *name)
{
    struct value value = value_string(expr->name);

    if (expr->kind == EXPR_INDEX)
        value = expr->kid[1]->value;
    *name = value.string;
    return (expr->kind == EXPR_MEMBER || expr->kind == EXPR_INDEX) && value.kind == JSON_STRING;
}

bool policy_path_is(const struct expr *expr, struct slice path)
{
    struct slice name, last;
    const char *slash;

    if (expr->kind == EXPR_NAME)
        return path.size == 0;
    if (!step_name(expr, &name))
        return false;
    slash = memrchr(path.data, '/', path.size);
    if (!slash)
        return false;
    last = slice_after(path, (size_t)(slash - path.data) + 1);
    if (last.size >= 2 && last.data[0] == '"' && last.data[last.size - 1] == '"')
        last = slice_make(last.data + 1, last.size - 2);
    return slice_equal(name, last) &&
           policy_path_is(expr->kid[0], slice_make(path.data, (size_t)(slash - path.data)));
}
