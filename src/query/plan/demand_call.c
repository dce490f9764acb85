/* src/query/plan/demand_call.c - LIKE and calls of built-in functions, back to their arguments. */
#include <assert.h>
#include <math.h>

#include "json/escape.h"
#include "query/bind/fold.h"
#include "query/eval/chars.h"
#include "query/function/signature.h"
#include "query/plan/demand_private.h"

static const kinds string = 1 << JSON_STRING;

/* The strings that begin so: up to the next one that does not, where there is one. */
static struct values beginning(struct reader *reader, struct slice prefix)
{
    char *next = arena_try_alloc(reader->arena, prefix.size + 1);
    struct interval interval = interval_of_kinds(JSON_STRING, JSON_STRING);

    if (!next || prefix.size == 0 || (uint8_t)prefix.data[prefix.size - 1] == 0xff)
        return values_of_one(reader, interval);
    memcpy(next, prefix.data, prefix.size);
    next[prefix.size - 1]++;
    interval.low = (struct bound_value){ .is_set = true, .value = value_string(prefix) };
    interval.high = (struct bound_value){ .is_set = true,
                                          .is_open = true,
                                          .value = value_string(slice_make(next, prefix.size)) };
    return values_of_one(reader, interval);
}

/* ---- LIKE ---- */

/* A pattern's text up to its first wildcard; [x] stands for x. */
struct pattern {
    struct slice text;
    bool is_whole; /* there is no wildcard */
};

static bool begins_with(struct slice text, struct slice escape)
{
    return escape.size && text.size >= escape.size && memcmp(text.data, escape.data, escape.size) == 0;
}

/* How many bytes a character of a pattern takes there, and which it is; 0: it is a wildcard. */
static size_t plain_character(struct slice rest, struct slice escape, struct slice *character)
{
    bool is_escaped = begins_with(rest, escape);
    struct slice after = slice_after(rest, is_escaped ? escape.size : 1);
    size_t size;

    if (!is_escaped && (rest.data[0] == '%' || rest.data[0] == '_'))
        return 0;
    if (is_escaped || rest.data[0] == '[') {
        if (after.size == 0 || (!is_escaped && (after.data[0] == '^' || after.data[0] == ']')))
            return 0;
        if (!is_escaped && begins_with(after, escape))
            return 0; /* what it escapes is in the set, and not the escape character */
        size = chars_offset(after, 1);
        *character = slice_make(after.data, size);
        if (is_escaped)
            return escape.size + size;
        return after.size > size && after.data[size] == ']' ? size + 2 : 0;
    }
    size = chars_offset(rest, 1);
    *character = slice_make(rest.data, size);
    return size;
}

static bool read_pattern(struct reader *reader, struct slice pattern, struct slice escape,
                         struct pattern *read)
{
    char *text = arena_try_alloc(reader->arena, pattern.size + 1);
    size_t size = 0, taken = 1;

    while (text && pattern.size) {
        struct slice character;

        taken = plain_character(pattern, escape, &character);
        if (taken == 0)
            break;
        memcpy(text + size, character.data, character.size);
        size += character.size;
        pattern = slice_after(pattern, taken);
    }
    *read = (struct pattern){ slice_make(text, size), pattern.size == 0 };
    return text;
}

struct demand *demand_like(struct reader *reader, struct term term, bool truth)
{
    struct term text = demand_kid(term, 0);
    struct value pattern, escape = value_string(slice_of(""));
    struct pattern read;

    if (!truth || !demand_constant(demand_kid(term, 1), &pattern) || pattern.kind != JSON_STRING ||
        (term.expr->kid_count > 2 && !demand_constant(demand_kid(term, 2), &escape)) ||
        escape.kind != JSON_STRING || !read_pattern(reader, pattern.string, escape.string, &read))
        return demand_kinds(reader, text, string);
    if (read.is_whole)
        return demand_equal(reader, text, value_string(read.text));
    return demand_among(reader, text, beginning(reader, read.text));
}

/* ---- cases of letters ---- */

enum { CASES_MAX = 32 };

typedef size_t characters_of(uint32_t character, uint32_t from[2]);

/* Texts that differ in cases of letters: all that become this one. */
struct cases {
    struct slice text[CASES_MAX];
    size_t count;
};

static size_t characters_of_any(uint32_t character, uint32_t from[2])
{
    return chars_of_lower(chars_to_lower(character), from);
}

/* Adds one character, in each of its cases, to every text. */
static bool add_character(struct reader *reader, struct cases *cases, const uint32_t *from, size_t count)
{
    struct cases longer = { .count = 0 };

    if (cases->count * count > CASES_MAX)
        return false;
    for (size_t i = 0; i < cases->count; i++)
        for (size_t k = 0; k < count; k++) {
            uint8_t *text = arena_try_alloc(reader->arena, cases->text[i].size + 4);

            if (!text)
                return false;
            memcpy(text, cases->text[i].data, cases->text[i].size);
            longer.text[longer.count++] =
                slice_make((char *)text, (size_t)(utf8_put(text + cases->text[i].size, from[k]) - text));
        }
    *cases = longer;
    return true;
}

/* False when there are too many, or the text is not of characters. */
static bool find_cases(struct reader *reader, struct slice text, characters_of *of, struct cases *cases)
{
    const char *at = text.data, *end = text.data + text.size;

    *cases = (struct cases){ { slice_of("") }, 1 };
    while (at < end) {
        const char *began = at;
        uint32_t character = chars_next(&at, end), from[2];
        uint8_t bytes[4];

        if (at - began != utf8_put(bytes, character) - bytes ||
            memcmp(began, bytes, (size_t)(at - began)) != 0 ||
            !add_character(reader, cases, from, of(character, from)))
            return false;
    }
    return true;
}

/* The argument is one of the texts that become one of these. */
static struct demand *in_cases(struct reader *reader, struct term argument, struct values values,
                               characters_of *of)
{
    struct interval *point = values_room(reader, values.count * CASES_MAX);
    size_t count = 0;
    struct cases cases;

    for (size_t i = 0; point && i < values.count; i++) {
        struct value value = values.interval[i].low.value;

        if (!interval_is_point(&values.interval[i]) || value.kind != JSON_STRING ||
            !find_cases(reader, value.string, of, &cases))
            return demand_kinds(reader, argument, string);
        for (size_t k = 0; k < cases.count; k++)
            point[count++] = interval_of_value(value_string(cases.text[k]));
    }
    if (!point)
        return demand_kinds(reader, argument, string);
    return count ? demand_among(reader, argument, values_of(point, count)) : demand_none(reader);
}

static struct demand *lower(struct reader *reader, struct term term, struct values values)
{
    return in_cases(reader, demand_kid(term, 0), values, chars_of_lower);
}

static struct demand *upper(struct reader *reader, struct term term, struct values values)
{
    return in_cases(reader, demand_kid(term, 0), values, chars_of_upper);
}

/* ---- strings ---- */

/* ASCII alone: elsewhere what are the characters is not seen from both ends alike. */
static bool reversed(struct reader *reader, struct slice text, struct slice *result)
{
    char *made = arena_try_alloc(reader->arena, text.size + 1);

    for (size_t i = 0; made && i < text.size; i++) {
        if ((uint8_t)text.data[i] >= 0x80)
            return false;
        made[text.size - 1 - i] = text.data[i];
    }
    *result = slice_make(made, text.size);
    return made;
}

static struct demand *reverse(struct reader *reader, struct term term, struct values values)
{
    struct value value = values.interval[0].low.value;
    struct slice text;

    if (values.count != 1 || !interval_is_point(values.interval) || value.kind != JSON_STRING ||
        !reversed(reader, value.string, &text))
        return demand_kinds(reader, demand_kid(term, 0), string);
    return demand_equal(reader, demand_kid(term, 0), value_string(text));
}

/* A text of no characters is the empty one. */
static struct demand *length(struct reader *reader, struct term term, struct values values)
{
    struct value value = values.interval[0].low.value;

    if (values.count == 1 && interval_is_point(values.interval) && value.kind == JSON_NUMBER &&
        value.number == 0)
        return demand_equal(reader, demand_kid(term, 0), value_string(slice_of("")));
    return demand_any();
}

/* Whether a test of two strings is told to pass over case; false when that is not known. */
static bool reads_case(struct term call, bool *minds)
{
    struct value nocase;

    *minds = true;
    if (call.expr->kid_count < 3)
        return true;
    if (!demand_constant(demand_kid(call, 2), &nocase) || !value_is_bool(nocase))
        return false;
    *minds = nocase.kind == JSON_FALSE;
    return true;
}

static struct demand *same_text(struct reader *reader, struct term call)
{
    bool minds_case;
    struct value text;

    for (size_t i = 0; i < 2; i++) {
        struct term other = demand_kid(call, 1 - i);
        struct values one;

        if (!demand_constant(demand_kid(call, i), &text) || text.kind != JSON_STRING ||
            !reads_case(call, &minds_case))
            continue;
        one = values_of_one(reader, interval_of_value(text));
        return minds_case ? demand_among(reader, other, one)
                          : in_cases(reader, other, one, characters_of_any);
    }
    return demand_kinds(reader, demand_kid(call, 0), string);
}

static struct demand *begins(struct reader *reader, struct term call)
{
    bool minds_case;
    struct value text;

    if (!demand_constant(demand_kid(call, 1), &text) || text.kind != JSON_STRING ||
        !reads_case(call, &minds_case) || !minds_case)
        return demand_kinds(reader, demand_kid(call, 0), string);
    return demand_among(reader, demand_kid(call, 0), beginning(reader, text.string));
}

/* ---- arrays ---- */

/* Objects match in part, those within arrays, too. JSON is parsed to a bounded depth. */
static bool has_object(struct json value)
{
    bool found = json_kind(value) == JSON_OBJECT;

    if (json_kind(value) != JSON_ARRAY)
        return found;
    for (struct json_iter i = json_iter(value); !found && json_next(&i);)
        found = has_object(i.value);
    return found;
}

/* The constants of an array; of what may match in part, its kind. */
static bool elements_of(struct reader *reader, struct value array, bool partly, struct values *values)
{
    struct interval *point = array.kind == JSON_ARRAY ? values_room(reader, json_count(array.json)) : NULL;

    size_t count = 0;

    if (!point)
        return false;
    for (struct json_iter i = json_iter(array.json); json_next(&i);) {
        enum json_kind kind = json_kind(i.value);

        point[count++] = partly && has_object(i.value) ? interval_of_kinds(kind, kind)
                                                       : interval_of_value(value_from_json(i.value));
    }
    *values = values_of(point, count);
    return true;
}

/* [a, b] that holds a constant: one of them is it. */
static struct demand *one_is(struct reader *reader, struct term array, struct value value)
{
    struct demand *list = demand_list(reader, DEMAND_OR, array.expr->kid_count);

    for (size_t i = 0; i < array.expr->kid_count; i++)
        demand_put(list, demand_equal(reader, demand_kid(array, i), value));
    return list;
}

/* NaN in an array is no value that a document holds: the service's planner gives up. */
static bool has_not_finite(const struct expr *expr)
{
    if (expr->kind == EXPR_LITERAL && expr->value.kind == JSON_NUMBER && !isfinite(expr->value.number))
        return true;
    for (size_t i = 0; i < expr->kid_count; i++)
        if (has_not_finite(expr->kid[i]))
            return true;
    return false;
}

static struct demand *holds(struct reader *reader, struct term call)
{
    struct term array = demand_kid(call, 0), wanted = demand_kid(call, 1);
    struct value constant, partly = value_bool(false);
    bool exact = call.expr->kid_count < 3 ||
                 (demand_constant(demand_kid(call, 2), &partly) && partly.kind == JSON_FALSE);
    struct values values;

    if (has_not_finite(array.expr))
        return demand_any();
    if (demand_constant(array, &constant) && elements_of(reader, constant, !exact, &values))
        return values.count ? demand_among(reader, wanted, values) : demand_none(reader);
    if (array.expr->kind == EXPR_ARRAY && exact && demand_constant(wanted, &constant) &&
        constant.kind != JSON_UNDEFINED)
        return one_is(reader, array, constant);
    return demand_pair(reader, DEMAND_AND, demand_kinds(reader, array, kinds_one(JSON_ARRAY)),
                       demand_kinds(reader, wanted, KINDS_DEFINED));
}

static struct demand *holds_any(struct reader *reader, struct term call)
{
    struct demand *list = demand_list(reader, DEMAND_OR, call.expr->kid_count);
    struct value array;
    struct values values;

    if (has_not_finite(call.expr->kid[0]) || !demand_constant(demand_kid(call, 0), &array) ||
        !elements_of(reader, array, false, &values) || values.count == 0)
        return demand_any();
    for (size_t i = 1; i < call.expr->kid_count; i++)
        demand_put(list, demand_among(reader, demand_kid(call, i), values));
    return list;
}

/* ---- numbers, kinds, choices ---- */

/* The number with either sign. */
static struct demand *magnitude(struct reader *reader, struct term term, struct values values)
{
    struct interval *point = values_room(reader, 2 * values.count);
    size_t count = 0;

    for (size_t i = 0; point && i < values.count; i++) {
        struct value value = values.interval[i].low.value;

        if (!interval_is_point(&values.interval[i]) || value.kind != JSON_NUMBER || !isfinite(value.number) ||
            !(value.number > 0) || (value.is_int && value.integer == INT64_MAX))
            return demand_kinds(reader, demand_kid(term, 0), kinds_one(JSON_NUMBER));
        point[count++] = interval_of_value(value);
        point[count++] =
            interval_of_value(value.is_int ? value_int(-value.integer) : value_double(-value.number));
    }
    return point ? demand_among(reader, demand_kid(term, 0), values_of(point, count)) : demand_any();
}

static kinds kinds_between(enum json_kind first, enum json_kind last)
{
    unsigned found = 0;

    for (enum json_kind kind = first; kind <= last; kind++)
        found |= kinds_one(kind);
    return (kinds)found;
}

/* IS_STRING(e). Where that is false, e may be undefined, and numbers that are computed may be of no kind. */
static struct demand *of_kinds(struct reader *reader, struct term call, bool truth)
{
    const struct builtin_claim *claim = &call.expr->builtin->claim;
    kinds wanted = kinds_between(claim->first, claim->last);

    if (truth)
        return demand_kinds(reader, demand_kid(call, 0), wanted);
    if (!claim->exact || !demand_is_step(call.expr->kid[0]))
        return demand_any();
    return demand_kinds(reader, demand_kid(call, 0), (kinds)~wanted);
}

static struct demand *chosen(struct reader *reader, struct term call, struct values values)
{
    struct demand *list;
    struct value which;

    if (demand_constant(demand_kid(call, 0), &which)) {
        if (!value_is_int(which) || which.integer < 1 || (size_t)which.integer >= call.expr->kid_count)
            return demand_none(reader);
        return demand_among(reader, demand_kid(call, (size_t)which.integer), values);
    }
    list = demand_list(reader, DEMAND_OR, call.expr->kid_count);
    for (size_t i = 1; i < call.expr->kid_count; i++)
        demand_put(list, demand_pair(reader, DEMAND_AND,
                                     demand_equal(reader, demand_kid(call, 0), value_int((int64_t)i)),
                                     demand_among(reader, demand_kid(call, i), values)));
    return list;
}

/* ---- calls ---- */

/* What the function takes; where it takes undefined, nothing. */
static struct demand *of_signature(struct reader *reader, struct term call)
{
    const char *signature = builtin_signature(call.expr->builtin, call.expr->kid_count);
    const char *at = signature ? signature + 1 : "";
    struct demand *list = demand_list(reader, DEMAND_AND, call.expr->kid_count);
    char letter;

    for (size_t i = 0; i < call.expr->kid_count && (letter = signature_next(&at)); i++)
        demand_put(list, demand_kinds(reader, demand_kid(call, i), kinds_of_letter(letter)));
    return list;
}

/* Where the call is true. */
static struct demand *of_true(struct reader *reader, struct term call)
{
    switch (call.expr->builtin->claim.kind) {
    case CLAIM_KINDS:
        return of_kinds(reader, call, true);
    case CLAIM_BEGINS:
        return begins(reader, call);
    case CLAIM_EQUALS:
        return same_text(reader, call);
    case CLAIM_HOLDS:
        return holds(reader, call);
    case CLAIM_HOLDS_ANY:
        return holds_any(reader, call);
    default:
        return demand_any();
    }
}

/* Of values that are computed from the arguments. */
static struct demand *of_result(struct reader *reader, struct term call, struct values values)
{
    switch (call.expr->builtin->claim.kind) {
    case CLAIM_MAGNITUDE:
        return magnitude(reader, call, values);
    case CLAIM_LOWER:
        return lower(reader, call, values);
    case CLAIM_UPPER:
        return upper(reader, call, values);
    case CLAIM_REVERSE:
        return reverse(reader, call, values);
    case CLAIM_LENGTH:
        return length(reader, call, values);
    case CLAIM_CHOICE:
        return demand_choice(reader, demand_kid(call, 0), demand_kid(call, 1), demand_kid(call, 2), values);
    case CLAIM_CHOSEN:
        return chosen(reader, call, values);
    default:
        return demand_any();
    }
}

struct demand *demand_call(struct reader *reader, struct term call, struct values values)
{
    kinds truths = values_kinds(values) & KINDS_BOOLEAN;
    struct demand *claimed;

    if (call.expr->builtin->flags & AGGREGATE)
        return demand_any();
    if (truths == kinds_one(JSON_TRUE) && values_kinds(values) == truths)
        claimed = of_true(reader, call);
    else if (truths == kinds_one(JSON_FALSE) && values_kinds(values) == truths &&
             call.expr->builtin->claim.kind == CLAIM_KINDS)
        claimed = of_kinds(reader, call, false);
    else
        claimed = demand_any();
    if (claimed->kind == DEMAND_ANY)
        claimed = of_result(reader, call, values);
    return demand_pair(reader, DEMAND_AND, claimed, of_signature(reader, call));
}
