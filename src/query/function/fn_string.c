/*
 * src/query/function/fn_string.c - strings: looking for one in another, cutting, trimming, changing case.
 * Lengths and positions count characters (text.h), positions from 0. A length or position that is no
 * integer gives undefined, as a wrong type does.
 */
#include "query/function/builtins.h"
#include "query/eval/chars.h"

/* Of the result of REPLICATE, as the service's compiler has it; its documentation says 10,000. */
enum { REPLICATE_CHARS_MAX = 100000 };

static bool are_strings(const struct value *arg, int count)
{
    for (int i = 0; i < count; i++)
        if (arg[i].kind != JSON_STRING)
            return false;
    return true;
}

static struct value empty_string(void)
{
    return value_string(slice_of(""));
}

/* --- tests: STARTSWITH(text, part [, ignore case]) and the like --- */

typedef bool test_code(struct eval *eval, struct slice text, struct slice part, bool nocase);

/* A part that is nearly there again and again makes many comparisons of each letter, and each part is looked for by itself. */
enum { NOCASE_COST = 8 };

static bool contains(struct eval *eval, struct slice text, struct slice part, bool nocase)
{
    if (!eval_spend(eval, nocase ? NOCASE_COST * text.size : text.size))
        return false;
    return nocase ? chars_contains_nocase(eval, text, part) : chars_find(text, part) != CHARS_NONE;
}

static bool starts(struct eval *eval, struct slice text, struct slice part, bool nocase)
{
    (void)eval;
    return nocase ? chars_starts_nocase(text, part) : chars_starts(text, part);
}

static bool ends(struct eval *eval, struct slice text, struct slice part, bool nocase)
{
    (void)eval;
    return nocase ? chars_ends_nocase(text, part) : chars_ends(text, part);
}

static bool equals(struct eval *eval, struct slice text, struct slice part, bool nocase)
{
    (void)eval;
    return nocase ? chars_equal_nocase(text, part) : slice_equal(text, part);
}

static struct value tested(struct eval *eval, const struct value *arg, int count, test_code *code)
{
    if (!are_strings(arg, 2) || (count > 2 && !value_is_bool(arg[2])))
        return value_undefined;
    return value_bool(code(eval, arg[0].string, arg[1].string, count > 2 && arg[2].kind == JSON_TRUE));
}

static struct value fn_contains(struct eval *eval, const struct value *arg, int count)
{
    return tested(eval, arg, count, contains);
}

static struct value fn_startswith(struct eval *eval, const struct value *arg, int count)
{
    return tested(eval, arg, count, starts);
}

static struct value fn_endswith(struct eval *eval, const struct value *arg, int count)
{
    return tested(eval, arg, count, ends);
}

static struct value fn_stringequals(struct eval *eval, const struct value *arg, int count)
{
    return tested(eval, arg, count, equals);
}

/* CONTAINS of each part, joined by OR (until one is true) or AND (until one is false), undefined included. */
static struct value contains_each(struct eval *eval, const struct value *arg, int count, bool nocase,
                                  bool until)
{
    bool unknown = false;

    if (arg[0].kind != JSON_STRING)
        return value_undefined;
    for (int i = 1; i < count; i++) {
        if (arg[i].kind != JSON_STRING)
            unknown = true;
        else if (contains(eval, arg[0].string, arg[i].string, nocase) == until)
            return value_bool(until);
    }
    return unknown ? value_undefined : value_bool(!until);
}

static struct value fn_contains_all_ci(struct eval *eval, const struct value *arg, int count)
{
    return contains_each(eval, arg, count, true, false);
}

static struct value fn_contains_all_cs(struct eval *eval, const struct value *arg, int count)
{
    return contains_each(eval, arg, count, false, false);
}

static struct value fn_contains_any_ci(struct eval *eval, const struct value *arg, int count)
{
    return contains_each(eval, arg, count, true, true);
}

static struct value fn_contains_any_cs(struct eval *eval, const struct value *arg, int count)
{
    return contains_each(eval, arg, count, false, true);
}

/* --- positions --- */

/* A place in bytes as one in characters; -1 when there is none. */
static struct value position(struct slice text, size_t at)
{
    return value_int(at == CHARS_NONE ? -1 : (int64_t)chars_length(slice_make(text.data, at)));
}

/* The service keeps 32 bits of a start. */
static int64_t start_of(struct value start)
{
    return (int32_t)(uint32_t)(uint64_t)start.integer;
}

/* A start outside the text finds nothing, not even an empty string. */
static struct value fn_index_of(struct eval *eval, const struct value *arg, int count)
{
    struct slice text = arg[0].string;
    int64_t start = count > 2 ? start_of(arg[2]) : 0;
    size_t from, at;

    (void)eval;
    if (!are_strings(arg, 2) || (count > 2 && !value_is_int(arg[2])))
        return value_undefined;
    if (start < 0 || start > (int64_t)chars_length(text))
        return value_int(-1);
    from = chars_offset(text, (uint64_t)start);
    at = chars_find(slice_after(text, from), arg[1].string);
    return position(text, at == CHARS_NONE ? at : at + from);
}

/* An empty string is found at its last character, or at the start where that comes before. */
static struct value last_empty(int64_t length, int64_t start)
{
    int64_t last = start < length - 1 ? start : length - 1;

    return value_int(last > 0 ? last : 0);
}

/* The start is the last character that what is found may have. */
static struct value fn_lastindexof(struct eval *eval, const struct value *arg, int count)
{
    struct slice text = arg[0].string;
    int64_t length, start;

    if (count > 2 && arg[2].kind == JSON_UNDEFINED)
        count = 2;
    if (!are_strings(arg, 2) || (count > 2 && !value_is_int(arg[2])))
        return value_undefined;
    length = (int64_t)chars_length(text);
    start = count > 2 ? start_of(arg[2]) : length;
    if (start < 0 || start > length)
        return value_int(-1);
    if (arg[1].string.size == 0)
        return last_empty(length, start);
    text.size = chars_offset(text, (uint64_t)start + 1);
    return position(text, chars_find_last(eval, text, arg[1].string));
}

static struct value fn_length(struct eval *eval, const struct value *arg, int count)
{
    (void)eval, (void)count;
    if (arg[0].kind != JSON_STRING)
        return value_undefined;
    return value_int((int64_t)chars_length(arg[0].string));
}

/* --- parts --- */

/* What lies outside the text is empty, wherever it begins. */
static struct value part_of(struct slice text, int64_t start, int64_t length)
{
    struct slice rest;

    if (start < 0 || length <= 0)
        return empty_string();
    rest = slice_after(text, chars_offset(text, (uint64_t)start));
    return value_string(slice_make(rest.data, chars_offset(rest, (uint64_t)length)));
}

static struct value fn_left(struct eval *eval, const struct value *arg, int count)
{
    (void)eval, (void)count;
    if (arg[0].kind != JSON_STRING || !value_is_int(arg[1]))
        return value_undefined;
    return part_of(arg[0].string, 0, arg[1].integer);
}

static struct value fn_right(struct eval *eval, const struct value *arg, int count)
{
    int64_t length;

    (void)eval, (void)count;
    if (arg[0].kind != JSON_STRING || !value_is_int(arg[1]))
        return value_undefined;
    length = (int64_t)chars_length(arg[0].string);
    if (arg[1].integer <= 0)
        return empty_string();
    return part_of(arg[0].string, arg[1].integer < length ? length - arg[1].integer : 0, arg[1].integer);
}

static struct value fn_substring(struct eval *eval, const struct value *arg, int count)
{
    (void)eval, (void)count;
    if (arg[0].kind != JSON_STRING || !value_is_int(arg[1]) || !value_is_int(arg[2]))
        return value_undefined;
    return part_of(arg[0].string, arg[1].integer, arg[2].integer);
}

static struct value before(struct slice text, size_t at)
{
    return at == CHARS_NONE ? value_undefined : value_string(slice_make(text.data, at));
}

static struct value after(struct slice text, size_t at, struct slice part)
{
    return at == CHARS_NONE ? value_undefined : value_string(slice_after(text, at + part.size));
}

static struct value fn_substringbefore(struct eval *eval, const struct value *arg, int count)
{
    (void)eval;
    if (!are_strings(arg, count))
        return value_undefined;
    return before(arg[0].string, chars_find(arg[0].string, arg[1].string));
}

static struct value fn_substringafter(struct eval *eval, const struct value *arg, int count)
{
    (void)eval;
    if (!are_strings(arg, count))
        return value_undefined;
    return after(arg[0].string, chars_find(arg[0].string, arg[1].string), arg[1].string);
}

static struct value fn_lastsubstringbefore(struct eval *eval, const struct value *arg, int count)
{
    if (!are_strings(arg, count))
        return value_undefined;
    return before(arg[0].string, chars_find_last(eval, arg[0].string, arg[1].string));
}

static struct value fn_lastsubstringafter(struct eval *eval, const struct value *arg, int count)
{
    if (!are_strings(arg, count))
        return value_undefined;
    return after(arg[0].string, chars_find_last(eval, arg[0].string, arg[1].string), arg[1].string);
}

/* --- trimming: of white space, or of any of the characters of a second string --- */

enum { TRIM_LEFT = 1, TRIM_RIGHT = 2, TRIM_BYTES_BETWEEN_CHECKS = 1 << 16, TRIM_STEPS = 128 };

struct trim {
    struct eval *eval;
    bool blanks;
    bool ascii[128]; /* of the set */
    struct slice set;
    size_t searched_bytes;
};

static struct trim trim_of(struct eval *eval, const struct value *arg, int count)
{
    struct trim trim = { .eval = eval, .blanks = count == 1 || arg[1].string.size == 0 };

    if (trim.blanks)
        return trim;
    trim.set = arg[1].string;
    for (size_t i = 0; i < trim.set.size; i++)
        if ((uint8_t)trim.set.data[i] < 128)
            trim.ascii[(uint8_t)trim.set.data[i]] = true;
    return trim;
}

/* The set may be as long as the text, so that looking through it again and again can take long. */
static bool in_set(struct trim *trim, struct slice character)
{
    enum status st;

    trim->searched_bytes += trim->set.size;
    if (trim->searched_bytes > TRIM_BYTES_BETWEEN_CHECKS) {
        trim->searched_bytes = 0;
        st = op_spend(trim->eval->op, TRIM_STEPS);
        if (st != ST_OK)
            return eval_fail(trim->eval, st), false;
    }
    return chars_find(trim->set, character) != CHARS_NONE;
}

static bool is_trimmed(struct trim *trim, const char *at, const char *end, uint32_t character)
{
    if (trim->blanks)
        return chars_is_blank(character);
    return (uint8_t)*at < 128 ? trim->ascii[(uint8_t)*at] : in_set(trim, slice_make(at, (size_t)(end - at)));
}

static struct value trimmed(struct eval *eval, const struct value *arg, int count, int sides)
{
    const char *start = arg[0].string.data, *end, *at;
    struct trim trim;

    if (!are_strings(arg, count))
        return value_undefined;
    trim = trim_of(eval, arg, count);
    end = start + arg[0].string.size;
    for (at = start; (sides & TRIM_LEFT) && start < end; start = at) {
        uint32_t character = chars_next(&at, end);

        if (!is_trimmed(&trim, start, at, character))
            break;
    }
    for (at = end; (sides & TRIM_RIGHT) && start < end; end = at) {
        uint32_t character = chars_previous(start, &at);

        if (!is_trimmed(&trim, at, end, character))
            break;
    }
    return value_string(slice_make(start, (size_t)(end - start)));
}

static struct value fn_ltrim(struct eval *eval, const struct value *arg, int count)
{
    return trimmed(eval, arg, count, TRIM_LEFT);
}

static struct value fn_rtrim(struct eval *eval, const struct value *arg, int count)
{
    return trimmed(eval, arg, count, TRIM_RIGHT);
}

static struct value fn_trim(struct eval *eval, const struct value *arg, int count)
{
    return trimmed(eval, arg, count, TRIM_LEFT | TRIM_RIGHT);
}

/* --- new strings --- */

static struct value fn_lower(struct eval *eval, const struct value *arg, int count)
{
    (void)count;
    return arg[0].kind == JSON_STRING ? chars_lower(eval, arg[0].string) : value_undefined;
}

static struct value fn_upper(struct eval *eval, const struct value *arg, int count)
{
    (void)count;
    return arg[0].kind == JSON_STRING ? chars_upper(eval, arg[0].string) : value_undefined;
}

static struct value fn_concat(struct eval *eval, const struct value *arg, int count)
{
    size_t size = 0;
    char *text, *to;

    if (!are_strings(arg, count))
        return value_undefined;
    for (int i = 0; i < count; i++)
        size += arg[i].string.size;
    text = to = eval_alloc(eval, size);
    if (!text)
        return value_undefined;
    for (int i = 0; i < count; i++)
        to = mempcpy(to, arg[i].string.data, arg[i].string.size);
    return value_string(slice_make(text, size));
}

static struct value fn_reverse(struct eval *eval, const struct value *arg, int count)
{
    const char *at = arg[0].string.data, *end, *from;
    char *to;

    (void)count;
    if (arg[0].kind != JSON_STRING)
        return value_undefined;
    to = eval_alloc(eval, arg[0].string.size);
    if (!to)
        return value_undefined;
    end = at + arg[0].string.size;
    for (to += arg[0].string.size; at < end; memcpy(to, from, (size_t)(at - from))) {
        from = at;
        chars_next(&at, end);
        to -= at - from;
    }
    return value_string(slice_make(to, arg[0].string.size));
}

/* The empty string is everywhere, so that replacing it means nothing. */
static struct value fn_replace(struct eval *eval, const struct value *arg, int count)
{
    struct slice rest = arg[0].string, from = arg[1].string;
    struct buf out;
    size_t at;

    if (!are_strings(arg, count) || from.size == 0)
        return value_undefined;
    buf_init(&out, &eval->op->arena);
    while ((at = chars_find(rest, from)) != CHARS_NONE && !out.failed) {
        buf_append(&out, rest.data, at);
        buf_slice(&out, arg[2].string);
        rest = slice_after(rest, at + from.size);
    }
    if (rest.data == arg[0].string.data)
        return arg[0];
    buf_slice(&out, rest);
    return chars_built(eval, &out);
}

static struct value fn_replicate(struct eval *eval, const struct value *arg, int count)
{
    struct slice text = arg[0].string;
    size_t length;
    struct buf out;

    (void)count;
    if (arg[0].kind != JSON_STRING || !value_is_int(arg[1]) || arg[1].integer < 0)
        return value_undefined;
    length = chars_length(text);
    if (length == 0)
        return arg[0];
    if (arg[1].number * (double)length > REPLICATE_CHARS_MAX)
        return value_undefined;
    buf_init(&out, &eval->op->arena);
    for (int64_t i = 0; i < arg[1].integer; i++)
        buf_slice(&out, text);
    return chars_built(eval, &out);
}

static const struct builtin rows[] = {
    /* name, fewest and most arguments; then what is not as usual */
    { "CONCAT", 2, ARGS_NO_MAX, .code = fn_concat },
    { "CONTAINS", 2, 3, .code = fn_contains, .claim = { CLAIM_KINDS, JSON_STRING, JSON_STRING } },
    { "CONTAINS_ALL_CI", 2, ARGS_NO_MAX, "CONTAINSALLCI", .code = fn_contains_all_ci,
      .flags = TAKES_UNDEFINED },
    { "CONTAINS_ALL_CS", 2, ARGS_NO_MAX, "CONTAINSALLCS", .code = fn_contains_all_cs,
      .flags = TAKES_UNDEFINED },
    { "CONTAINS_ANY_CI", 2, ARGS_NO_MAX, "CONTAINSANYCI", .code = fn_contains_any_ci,
      .flags = TAKES_UNDEFINED },
    { "CONTAINS_ANY_CS", 2, ARGS_NO_MAX, "CONTAINSANYCS", .code = fn_contains_any_cs,
      .flags = TAKES_UNDEFINED },
    { "ENDSWITH", 2, 3, .code = fn_endswith, .claim = { CLAIM_KINDS, JSON_STRING, JSON_STRING } },
    { "INDEX_OF", 2, 3, "INDEXOF", .code = fn_index_of },
    { "LASTINDEXOF", 2, 3, .code = fn_lastindexof, .flags = TAKES_UNDEFINED },
    { "LASTSUBSTRINGAFTER", 2, 2, .code = fn_lastsubstringafter },
    { "LASTSUBSTRINGBEFORE", 2, 2, .code = fn_lastsubstringbefore },
    { "LEFT", 2, 2, .code = fn_left },
    { "LENGTH", 1, 1, .code = fn_length, .claim = { CLAIM_LENGTH } },
    { "LOWER", 1, 1, .code = fn_lower, .claim = { CLAIM_LOWER } },
    { "LTRIM", 1, 2, .code = fn_ltrim },
    { "REPLACE", 3, 3, .code = fn_replace, .flags = TAKES_LONG },
    { "REPLICATE", 2, 2, .code = fn_replicate, .flags = TAKES_LONG },
    { "REVERSE", 1, 1, .code = fn_reverse, .claim = { CLAIM_REVERSE } },
    { "RIGHT", 2, 2, .code = fn_right },
    { "RTRIM", 1, 2, .code = fn_rtrim },
    { "STARTSWITH", 2, 3, .code = fn_startswith, .claim = { CLAIM_BEGINS } },
    { "STRINGEQUALS", 2, 3, "STRING_EQUALS", .code = fn_stringequals, .claim = { CLAIM_EQUALS } },
    { "SUBSTRING", 3, 3, .code = fn_substring },
    { "SUBSTRINGAFTER", 2, 2, .code = fn_substringafter },
    { "SUBSTRINGBEFORE", 2, 2, .code = fn_substringbefore },
    { "TRIM", 1, 2, .code = fn_trim },
    { "UPPER", 1, 1, .code = fn_upper, .claim = { CLAIM_UPPER } },
};

const struct builtin_family builtins_string = { rows, sizeof(rows) / sizeof(rows[0]) };
