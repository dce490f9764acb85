/*
 * src/query/plan/kinds.c - kinds of values, from the leaves of an expression up.
 * An operator that gets a kind it does not take gives undefined. Where one side is a constant, its value says more.
 */
#include <math.h>

#include "query/bind/fold.h"
#include "query/function/signature.h"
#include "query/plan/kinds.h"

enum {
    UNDEFINED = 1 << JSON_UNDEFINED,
    NUMBER = 1 << JSON_NUMBER,
    STRING = 1 << JSON_STRING,
    TRUE = 1 << JSON_TRUE,
    FALSE = 1 << JSON_FALSE,
    DEFINED = KINDS_ALL & ~UNDEFINED,
};

static kinds of_value(struct value value)
{
    return kinds_one((enum json_kind)value.kind);
}

/* `given` where every operand may be of the kinds taken, undefined where one may not. */
static kinds of_operands(const struct expr *expr, unsigned taken, unsigned given)
{
    unsigned result = given;

    for (size_t i = 0; i < expr->kid_count; i++) {
        kinds kid = kinds_of(expr->kid[i]);

        if (!(kid & taken))
            return UNDEFINED;
        if (kid & ~taken)
            result |= UNDEFINED;
    }
    return (kinds)result;
}

static kinds negated(kinds truth)
{
    return (kinds)((truth & UNDEFINED) | (truth & TRUE ? FALSE : 0) | (truth & FALSE ? TRUE : 0));
}

/* Whatever is neither true nor false counts as undefined. */
static kinds truth_of(const struct expr *expr)
{
    kinds found = kinds_of(expr);

    return (kinds)((found & KINDS_BOOLEAN) | (found & ~KINDS_BOOLEAN ? UNDEFINED : 0));
}

/* AND: false where one is, true where all are. OR is the same with the two exchanged. */
static kinds of_logic(const struct expr *expr)
{
    bool is_and = expr->operation == OPERATOR_AND;
    unsigned all = TRUE, any = 0;

    for (size_t i = 0; i < expr->kid_count; i++) {
        kinds kid = is_and ? truth_of(expr->kid[i]) : negated(truth_of(expr->kid[i]));

        all &= kid;
        any |= kid & (FALSE | UNDEFINED);
    }
    return is_and ? (kinds)(all | any) : negated((kinds)(all | any));
}

/* ---- comparisons ---- */

/* Looked at once, for what is below it may be deep. */
struct operand {
    kinds kinds;
    bool is_constant;
    struct value value;
};

static struct operand operand_of(const struct expr *expr)
{
    struct operand operand;

    operand.is_constant = fold_constant(expr, &operand.value);
    operand.kinds = operand.is_constant ? of_value(operand.value) : kinds_of(expr);
    return operand;
}

static bool is_nan(const struct operand *operand)
{
    return operand->is_constant && operand->value.kind == JSON_NUMBER && isnan(operand->value.number);
}

static kinds of_equality(const struct operand *a, const struct operand *b)
{
    unsigned result = (a->kinds | b->kinds) & UNDEFINED;

    if (a->kinds & b->kinds & DEFINED)
        result |= TRUE;
    if (a->kinds & DEFINED && b->kinds & DEFINED)
        result |= FALSE;
    return (kinds)(result ? result : UNDEFINED);
}

/* Two kinds that have an order among them: null, booleans, numbers, strings. */
static bool have_order(kinds a, kinds b)
{
    static const unsigned ordered = 1 << JSON_NULL | NUMBER | STRING;

    return (a & b & ordered) || (a & KINDS_BOOLEAN && b & KINDS_BOOLEAN);
}

/* Whether nothing is less than the value, or nothing of its kind greater. */
static bool is_least(struct value value)
{
    return value.kind == JSON_NULL || value.kind == JSON_FALSE ||
           (value.kind == JSON_STRING && value.string.size == 0);
}

static bool is_greatest(struct value value)
{
    return value.kind == JSON_NULL || value.kind == JSON_TRUE;
}

/* Whether e < value, or e > value, is never true. */
static bool is_at_end(const struct operand *operand, bool less)
{
    return operand->is_constant && (less ? is_least(operand->value) : is_greatest(operand->value));
}

static kinds of_order(enum operator_kind operation, const struct operand *a, const struct operand *b)
{
    bool less = operation == OPERATOR_LESS, greater = operation == OPERATOR_GREATER;

    if (!have_order(a->kinds, b->kinds) || is_nan(a) || is_nan(b))
        return UNDEFINED;
    if ((less || greater) && (is_at_end(b, less) || is_at_end(a, greater)))
        return FALSE | UNDEFINED;
    return KINDS_BOOLEAN | UNDEFINED;
}

static kinds of_between(const struct expr *expr)
{
    struct operand value = operand_of(expr->kid[0]), from = operand_of(expr->kid[1]);
    struct operand to = operand_of(expr->kid[2]);
    kinds low = of_order(OPERATOR_GREATER_EQUAL, &value, &from);
    kinds high = of_order(OPERATOR_LESS_EQUAL, &value, &to);
    kinds both = (kinds)((low & high & TRUE) | ((low | high) & (FALSE | UNDEFINED)));

    return expr->negated ? negated(both) : both;
}

static kinds of_in(const struct expr *expr)
{
    struct operand value = operand_of(expr->kid[0]);
    unsigned result = value.kinds & UNDEFINED;

    for (size_t i = 1; i < expr->kid_count && !(result & TRUE); i++) {
        struct operand member = operand_of(expr->kid[i]);

        result |= of_equality(&value, &member) & (TRUE | UNDEFINED);
    }
    if (value.kinds & DEFINED)
        result |= FALSE;
    return expr->negated ? negated((kinds)result) : (kinds)result;
}

static kinds of_comparison(const struct expr *expr)
{
    struct operand a = operand_of(expr->kid[0]), b = operand_of(expr->kid[1]);

    if (expr->operation == OPERATOR_EQUAL)
        return of_equality(&a, &b);
    if (expr->operation == OPERATOR_NOT_EQUAL)
        return negated(of_equality(&a, &b));
    return of_order(expr->operation, &a, &b);
}

static kinds of_coalescing(const struct expr *expr)
{
    kinds first = kinds_of(expr->kid[0]);

    return first & UNDEFINED ? (kinds)((first & DEFINED) | kinds_of(expr->kid[1])) : first;
}

static kinds of_binary(const struct expr *expr)
{
    switch (expr->operation) {
    case OPERATOR_AND:
    case OPERATOR_OR:
        return of_logic(expr);
    case OPERATOR_COALESCE:
        return of_coalescing(expr);
    case OPERATOR_CONCAT:
        return of_operands(expr, STRING, STRING);
    case OPERATOR_EQUAL:
    case OPERATOR_NOT_EQUAL:
    case OPERATOR_LESS:
    case OPERATOR_LESS_EQUAL:
    case OPERATOR_GREATER:
    case OPERATOR_GREATER_EQUAL:
        return of_comparison(expr);
    default:
        return of_operands(expr, NUMBER, NUMBER);
    }
}

/* ---- calls ---- */

/* A small letter's. */
static kinds of_letter(char letter)
{
    switch (letter) {
    case 'n':
        return NUMBER;
    case 's':
        return STRING;
    case 'b':
        return KINDS_BOOLEAN;
    case 'a':
        return 1 << JSON_ARRAY;
    case 'o':
        return 1 << JSON_OBJECT;
    case 'd':
        return DEFINED;
    default:
        return KINDS_ALL;
    }
}

kinds kinds_of_letter(char letter)
{
    bool is_capital = letter >= 'A' && letter <= 'Z';

    return (kinds)(is_capital ? of_letter((char)(letter - 'A' + 'a')) | UNDEFINED : of_letter(letter));
}

/* Undefined where an argument can be of no kind that the function takes. */
static kinds of_call(const struct expr *expr)
{
    const char *signature = expr->builtin ? builtin_signature(expr->builtin, expr->kid_count) : NULL;
    const char *at = signature ? signature + 1 : NULL;
    char letter;

    if (!signature)
        return KINDS_ALL;
    for (size_t i = 0; i < expr->kid_count && (letter = signature_next(&at)); i++)
        if (!(kinds_of(expr->kid[i]) & kinds_of_letter(letter)))
            return UNDEFINED;
    return signature[0] == 'B' ? KINDS_BOOLEAN : (kinds)(kinds_of_letter(signature[0]) | UNDEFINED);
}

static kinds of_unary(const struct expr *expr)
{
    if (expr->operation == OPERATOR_NOT)
        return negated(truth_of(expr->kid[0]));
    return of_operands(expr, NUMBER, NUMBER);
}

static kinds of_choice(const struct expr *expr)
{
    kinds condition = kinds_of(expr->kid[0]);
    unsigned result = 0;

    if (condition & TRUE)
        result |= kinds_of(expr->kid[1]);
    if (condition & ~TRUE)
        result |= kinds_of(expr->kid[2]);
    return (kinds)result;
}

/* SELECT VALUE COUNT(...). */
static bool counts(const struct select *select)
{
    const struct expr *item = select->value ? select->item[0].expr : NULL;

    return item && item->kind == EXPR_CALL && item->builtin->flags & AGGREGATE &&
           item->builtin->aggregate.counts;
}

kinds kinds_of(const struct expr *expr)
{
    struct value value;

    if (fold_constant(expr, &value))
        return of_value(value);
    if (expr->instead)
        return KINDS_ALL;
    switch (expr->kind) {
    case EXPR_UNARY:
        return of_unary(expr);
    case EXPR_BINARY:
        return of_binary(expr);
    case EXPR_TERNARY:
        return of_choice(expr);
    case EXPR_BETWEEN:
        return of_between(expr);
    case EXPR_IN:
        return of_in(expr);
    case EXPR_LIKE:
        return expr->negated ? negated(of_operands(expr, STRING, KINDS_BOOLEAN))
                             : of_operands(expr, STRING, KINDS_BOOLEAN);
    case EXPR_CALL:
        return of_call(expr);
    case EXPR_ARRAY:
    case EXPR_ARRAY_OF:
        return kinds_one(JSON_ARRAY);
    case EXPR_OBJECT:
        return kinds_one(JSON_OBJECT);
    case EXPR_EXISTS:
        return KINDS_BOOLEAN;
    case EXPR_SUBQUERY:
        return counts(expr->select) ? NUMBER | UNDEFINED : KINDS_ALL;
    default:
        return KINDS_ALL;
    }
}
