/* src/query/function/fn_regex.c - REGEXMATCH, and taking out or replacing what a regular expression matches. */
#include "query/function/builtins.h"
#include "query/function/regex.h"
#include "query/eval/chars.h"

/* (text, pattern [, flags ...]): NULL when one is no string, or the pattern is none. */
static struct regex *regex_of(struct eval *eval, const struct value *arg, int count)
{
    if (arg[0].kind != JSON_STRING || arg[1].kind != JSON_STRING || (count > 2 && arg[2].kind != JSON_STRING))
        return NULL;
    return regex_get(eval, arg[1].string, count > 2 ? arg[2].string : slice_of(""));
}

static struct value fn_regexmatch(struct eval *eval, const struct value *arg, int count)
{
    struct regex *regex = regex_of(eval, arg, count);
    enum regex_answer answer;

    if (!regex)
        return value_undefined;
    answer = regex_search(eval, regex, arg[0].string, 0);
    return answer == REGEX_GAVE_UP ? value_undefined : value_bool(answer == REGEX_FOUND);
}

static bool is_group(const struct regex *regex, struct value value)
{
    return value.kind == JSON_NUMBER && value.is_int && value.integer >= 0 &&
           (uint64_t)value.integer < regex_group_count(regex);
}

/* (text, pattern [, flags [, group]]): what the group of the first match holds. */
static struct value fn_regexextract(struct eval *eval, const struct value *arg, int count)
{
    struct regex *regex = regex_of(eval, arg, count);
    struct slice found;

    if (!regex || (count > 3 && !is_group(regex, arg[3])))
        return value_undefined;
    if (regex_search(eval, regex, arg[0].string, 0) != REGEX_FOUND)
        return value_undefined;
    if (!regex_group(regex, count > 3 ? (size_t)arg[3].integer : 0, arg[0].string, &found))
        return value_undefined;
    return value_string(found);
}

static bool are_groups(const struct regex *regex, struct value array)
{
    if (array.kind != JSON_ARRAY)
        return false;
    for (struct json_iter i = json_iter(array.json); json_next(&i);)
        if (!is_group(regex, value_from_json(i.value)))
            return false;
    return true;
}

static void add_group(struct json_builder *out, const struct regex *regex, size_t group, struct slice text)
{
    struct slice found = slice_of(""); /* of a group that took no part */

    regex_group(regex, group, text, &found);
    json_add_string(out, found);
}

/* One match: an array of the groups that were asked for. */
static void add_match(struct json_builder *out, const struct regex *regex, const struct value *groups,
                      struct slice text)
{
    json_begin_array(out);
    if (!groups)
        add_group(out, regex, 0, text);
    else
        for (struct json_iter i = json_iter(groups->json); json_next(&i);)
            add_group(out, regex, (size_t)json_int(i.value), text);
    json_end(out);
}

/* Behind the match, and a character further when it is empty: the next one must be another. */
static size_t behind_match(const struct regex *regex, struct slice text, size_t from)
{
    struct slice whole = slice_make(text.data + from, 0);
    const char *at, *end = text.data + text.size;

    regex_group(regex, 0, text, &whole);
    at = whole.data + whole.size;
    if (at == end && whole.size == 0)
        return text.size + 1;
    if (whole.size == 0)
        chars_next(&at, end);
    return (size_t)(at - text.data);
}

static bool in_time(struct eval *eval)
{
    enum status st = op_check(eval->op);

    if (st != ST_OK)
        eval_fail(eval, st);
    return st == ST_OK;
}

/* Adds every match; false when there is none, or not all could be found. */
static bool add_matches(struct eval *eval, struct json_builder *out, struct regex *regex,
                        const struct value *groups, struct slice text)
{
    enum regex_answer answer = REGEX_ABSENT;
    size_t matches = 0;

    for (size_t from = 0; from <= text.size; from = behind_match(regex, text, from)) {
        answer = regex_search(eval, regex, text, from);
        if (answer != REGEX_FOUND)
            break;
        add_match(out, regex, groups, text);
        matches++;
        if (!in_time(eval)) /* a search may take long, and there may be many */
            return false;
    }
    return matches > 0 && answer != REGEX_GAVE_UP;
}

/* (text, pattern [, flags [, groups]]): an array for each match. */
static struct value fn_regexextractall(struct eval *eval, const struct value *arg, int count)
{
    struct regex *regex = regex_of(eval, arg, count);
    struct json_builder out;

    if (!regex || (count > 3 && !are_groups(regex, arg[3])))
        return value_undefined;
    json_builder_init(&out, &eval->op->arena);
    json_begin_array(&out);
    if (!add_matches(eval, &out, regex, count > 3 ? &arg[3] : NULL, arg[0].string))
        return value_undefined;
    json_end(&out);
    return eval_built(eval, &out);
}

/* (text, pattern, replacement [, flags]) */
static struct value replaced(struct eval *eval, const struct value *arg, int count, bool all)
{
    struct regex *regex;
    struct slice result;

    for (int i = 0; i < count; i++)
        if (arg[i].kind != JSON_STRING)
            return value_undefined;
    regex = regex_get(eval, arg[1].string, count > 3 ? arg[3].string : slice_of(""));
    if (!regex || !regex_replace(eval, regex, arg[0].string, arg[2].string, all, &result))
        return value_undefined;
    return value_string(result);
}

static struct value fn_regexreplace(struct eval *eval, const struct value *arg, int count)
{
    return replaced(eval, arg, count, false);
}

static struct value fn_regexreplaceall(struct eval *eval, const struct value *arg, int count)
{
    return replaced(eval, arg, count, true);
}

static const struct builtin rows[] = {
    /* name, fewest and most arguments; then what is not as usual */
    { "REGEXEXTRACT", 2, 4, .code = fn_regexextract, .flags = LATE | TAKES_LONG },
    { "REGEXEXTRACTALL", 2, 4, .code = fn_regexextractall, .flags = LATE | TAKES_LONG },
    { "REGEXMATCH", 2, 3, .code = fn_regexmatch, .flags = LATE | TAKES_LONG,
      .claim = { CLAIM_KINDS, JSON_STRING, JSON_STRING } },
    { "REGEXREPLACE", 3, 4, .code = fn_regexreplace, .flags = LATE | TAKES_LONG },
    { "REGEXREPLACEALL", 3, 4, .code = fn_regexreplaceall, .flags = LATE | TAKES_LONG },
};

const struct builtin_family builtins_regex = { rows, sizeof(rows) / sizeof(rows[0]) };
