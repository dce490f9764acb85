/*
 * src/query/function/fn_unknown.c - functions that the service has and whose results nobody outside it can tell.
 * What is wrong with a call is told in the service's words; of the rest, that it is not there.
 */
#include "query/function/builtins.h"
#include "query/query.h"
#include "query/text/mistake.h"
#include "query/value/tree.h"

static enum status not_built(struct op *op, const struct expr *call)
{
    return op_fail(op, ST_NOT_BUILT, "The function %s is not available in this version of the server.",
                   call->builtin->name);
}

/* Written with digits alone: 1.0 and 1e3 are none. */
static bool is_integer_literal(const struct expr *expr)
{
    return expr->kind == EXPR_LITERAL && value_is_int(expr->value);
}

static bool is_undefined(const struct expr *expr)
{
    return expr->kind == EXPR_LITERAL && expr->value.kind == JSON_UNDEFINED;
}

/* HASH(value [, modulo [, seed]]): a number of 64 bits by a function that was never published. */
static enum status bind_hash(struct op *op, const struct query_options *options, struct expr *call)
{
    const struct expr *modulo = call->kid_count > 1 ? call->kid[1] : NULL;
    const struct expr *seed = call->kid_count > 2 ? call->kid[2] : NULL;

    (void)options;
    if (modulo && !is_undefined(modulo) && !(is_integer_literal(modulo) && modulo->value.integer != 0))
        return mistake(op, modulo->span, "SC2051",
                       "The modulo value for the 'Hash' function must be a non-zero integer literal.");
    if (seed && !is_integer_literal(seed))
        return mistake(op, seed->span, "SC2052",
                       "The seed value for the 'Hash' function must be an integer literal.");
    return not_built(op, call);
}

/* GENERATEEMBEDDINGS(text): asks a model, of which there is none here. */
static enum status bind_embeddings(struct op *op, const struct query_options *options, struct expr *call)
{
    const struct expr *text = call->kid[0];

    (void)options;
    if ((text->kind != EXPR_LITERAL && text->kind != EXPR_PARAMETER) || text->value.kind != JSON_STRING)
        return mistake(op, text->span, "SC2216",
                       "The 'GenerateEmbeddings' function requires a single string literal argument.");
    return not_built(op, call);
}

static const struct builtin rows[] = {
    { "GENERATEEMBEDDINGS", 1, 1, .bind = bind_embeddings },
    { "HASH", 1, 3, .bind = bind_hash },
};

const struct builtin_family builtins_unknown = { rows, sizeof(rows) / sizeof(rows[0]) };
