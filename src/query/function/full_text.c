/* src/query/function/full_text.c - full-text functions before they run: languages, keywords, and what is wrong with them. */
#include "query/function/full_text.h"
#include "query/function/policy_path.h"
#include "query/text/mistake.h"

static void name_language(struct json name, enum text_language *language)
{
    if (json_kind(name) == JSON_STRING)
        text_language_named(json_string(name), language);
}

enum text_language full_text_language(const struct expr *text, struct json policy)
{
    enum text_language language = TEXT_ENGLISH;

    name_language(json_get(policy, "defaultLanguage"), &language);
    for (struct json_iter i = json_iter(json_get(policy, "fullTextPaths")); json_next(&i);) {
        struct json path = json_get(i.value, "path");

        if (json_kind(path) == JSON_STRING && policy_path_is(text, json_string(path)))
            name_language(json_get(i.value, "language"), &language);
    }
    return language;
}

static bool is_distance(struct value distance)
{
    return value_is_int(distance) && distance.integer >= 0 && distance.integer <= TEXT_DISTANCE_MAX;
}

bool full_text_keyword(struct value value, struct slice *word, uint32_t *distance)
{
    struct value term, far;

    *distance = 0;
    *word = value.string;
    if (value.kind == JSON_STRING)
        return true;
    if (value.kind != JSON_OBJECT || value.is_row)
        return false;
    term = value_from_json(json_get(value.json, "term"));
    far = value_from_json(json_get(value.json, "distance"));
    if (term.kind != JSON_STRING || !is_distance(far))
        return false;
    *word = term.string;
    *distance = (uint32_t)far.integer;
    return true;
}

enum status full_text_bind(struct op *op, const struct query_options *options, struct expr *call)
{
    struct full_text_call *bound = arena_alloc(&op->arena, sizeof(*bound));

    *bound = (struct full_text_call){ .language = full_text_language(call->kid[0], options->full_text) };
    call->memo = bound;
    return ST_OK;
}

static bool is_constant(const struct expr *expr)
{
    return expr->kind == EXPR_LITERAL || expr->kind == EXPR_PARAMETER;
}

/* {term: "a", distance: 1, ...}, as it is written. */
static bool is_fuzzy(const struct expr *expr)
{
    bool has_term = false, has_distance = false;

    for (size_t i = 0; expr->kind == EXPR_OBJECT && i < expr->kid_count; i++) {
        const struct expr *kid = expr->kid[i];

        if (slice_is(expr->names[i], "term"))
            has_term = is_constant(kid) && kid->value.kind == JSON_STRING;
        if (slice_is(expr->names[i], "distance"))
            has_distance = is_constant(kid) && is_distance(kid->value);
    }
    return has_term && has_distance;
}

static bool is_keyword(const struct expr *expr)
{
    struct slice word;
    uint32_t distance;

    return (is_constant(expr) && full_text_keyword(expr->value, &word, &distance)) || is_fuzzy(expr);
}

enum status full_text_bind_score(struct op *op, const struct query_options *options, struct expr *call)
{
    for (size_t i = 1; i < call->kid_count; i++)
        if (!is_keyword(call->kid[i]))
            return mistake(/* the first is cited, whichever it is */
                           op, call->kid[1]->span, "SC2241",
                           "The second through last arguments of the 'FullTextScore' function must be "
                           "literals of "
                           "type string or object specifying the fuzzy search argument containing a 'term' "
                           "property "
                           "which is a string and a 'distance' property which is a number between 0 and 2 "
                           "(inclusive).");
    return full_text_bind(op, options, call);
}

static bool is_number(const struct expr *expr)
{
    return is_constant(expr) && expr->value.kind == JSON_NUMBER;
}

static bool are_all(const struct expr *array, bool (*are)(const struct expr *))
{
    for (size_t i = 0; i < array->kid_count; i++)
        if (!are(array->kid[i]))
            return false;
    return array->kind == EXPR_ARRAY;
}

enum status full_text_bind_rewritten(struct op *op, const struct query_options *options, struct expr *call)
{
    struct expr **kid = call->kid;

    if (!are_all(kid[1], is_keyword) || !is_number(kid[2]) || !is_number(kid[3]) ||
        !are_all(kid[4], is_number))
        return mistake(op, call->span, "SC2242",
                       "One or more arguments provided by the rewritten full text query are invalid.");
    return full_text_bind(op, options, call);
}
