/* src/query/function/fn_date.c - the built-in functions of dates and times; the calendar is in datetime.c. */
#include "query/function/builtins.h"
#include "query/function/datetime.h"
#include "query/eval/eval.h"
#include "query/text/mistake.h"

static bool to_ticks(struct value value, int64_t *ticks)
{
    return value.kind == JSON_STRING && datetime_parse(value.string, ticks);
}

static bool to_part(struct value value, enum datetime_part *part)
{
    return value.kind == JSON_STRING && datetime_part_find(value.string, part);
}

/* A part that can be counted by. */
static bool to_unit(struct value value, enum datetime_part *part)
{
    return to_part(value, part) && *part != DATETIME_WEEKDAY;
}

static struct value text_of(struct eval *eval, int64_t ticks)
{
    char *text = eval_alloc(eval, DATETIME_SIZE + 1);

    if (!text)
        return value_undefined;
    datetime_print(ticks, text);
    return value_string(slice_make(text, DATETIME_SIZE));
}

static int64_t now_ticks(struct eval *eval)
{
    return env_now_ms(eval->op->env) * TICKS_PER_MS;
}

/* A fraction is dropped, toward 1970. */
static int64_t to_ms(int64_t ticks)
{
    return ticks / TICKS_PER_MS;
}

static struct value fn_now_text(struct eval *eval, const struct value *arg, int count)
{
    (void)arg, (void)count;
    return text_of(eval, now_ticks(eval));
}

static struct value fn_now_text_static(struct eval *eval, const struct value *arg, int count)
{
    (void)arg, (void)count;
    return text_of(eval, eval->static_ticks);
}

static struct value fn_now_ticks(struct eval *eval, const struct value *arg, int count)
{
    (void)arg, (void)count;
    return value_int(now_ticks(eval));
}

static struct value fn_now_ticks_static(struct eval *eval, const struct value *arg, int count)
{
    (void)arg, (void)count;
    return value_int(eval->static_ticks);
}

static struct value fn_now_ms(struct eval *eval, const struct value *arg, int count)
{
    (void)arg, (void)count;
    return value_int(to_ms(now_ticks(eval)));
}

static struct value fn_now_ms_static(struct eval *eval, const struct value *arg, int count)
{
    (void)arg, (void)count;
    return value_int(to_ms(eval->static_ticks));
}

static struct value add(struct eval *eval, struct value part_name, int64_t amount, int64_t ticks)
{
    enum datetime_part part;

    if (!to_unit(part_name, &part) || !datetime_add(part, amount, ticks, &ticks))
        return value_undefined;
    return text_of(eval, ticks);
}

/* '-2hour': where the number ends; 0 when there is none. */
static size_t number_size(struct slice span)
{
    size_t sign = span.size > 0 && span.data[0] == '-', at = sign;

    while (at < span.size && span.data[at] >= '0' && span.data[at] <= '9')
        at++;
    return at > sign ? at : 0;
}

/* The time and a span of it, such as '1d', away in the direction of the sign. */
static struct value add_span(struct eval *eval, struct value span, int sign, int64_t ticks)
{
    struct slice text = span.string;
    size_t size = number_size(text), digits = text.data[0] == '-';
    int64_t amount = 0;

    for (size_t i = digits; i < size; i++)
        if (__builtin_mul_overflow(amount, 10, &amount) ||
            __builtin_add_overflow(amount, text.data[i] - '0', &amount))
            return value_undefined;
    return add(eval, value_string(slice_after(text, size)), digits ? -sign * amount : sign * amount, ticks);
}

/* DateTimeAdd of two, NOW and AGO of one take a span, which is a literal. */
static enum status bind_span(struct op *op, const struct query_options *options, struct expr *call)
{
    bool has_span = call->kid_count + 1 == (size_t)call->builtin->args_max;
    struct slice text =
        has_span && call->kid[0]->kind == EXPR_LITERAL && call->kid[0]->value.kind == JSON_STRING
            ? call->kid[0]->value.string
            : slice_of("");
    size_t size = number_size(text);

    (void)options;
    if (!has_span || (size > 0 && size < text.size))
        return ST_OK;
    return mistake(op, call->span, "SC2053",
                   "The timespan argument provided to the DateTime function is invalid.");
}

/* DATETIMEADD(part, amount, time), DATETIMEADD(span, time) */
static struct value fn_datetimeadd(struct eval *eval, const struct value *arg, int count)
{
    int64_t ticks;

    if (!to_ticks(arg[count - 1], &ticks))
        return value_undefined;
    if (count == 2)
        return add_span(eval, arg[0], 1, ticks);
    return value_is_int(arg[1]) ? add(eval, arg[0], arg[1].integer, ticks) : value_undefined;
}

/* NOW(), NOW(part, amount), NOW(span) */
static struct value fn_now(struct eval *eval, const struct value *arg, int count)
{
    if (count == 0)
        return text_of(eval, now_ticks(eval));
    if (count == 1)
        return add_span(eval, arg[0], 1, now_ticks(eval));
    return value_is_int(arg[1]) ? add(eval, arg[0], arg[1].integer, now_ticks(eval)) : value_undefined;
}

static struct value fn_ago(struct eval *eval, const struct value *arg, int count)
{
    if (count == 1)
        return add_span(eval, arg[0], -1, now_ticks(eval));
    if (!value_is_int(arg[1]) || arg[1].integer == INT64_MIN)
        return value_undefined;
    return add(eval, arg[0], -arg[1].integer, now_ticks(eval));
}

static struct value fn_datetimediff(struct eval *eval, const struct value *arg, int count)
{
    enum datetime_part part;
    int64_t from, to;

    (void)eval, (void)count;
    if (!to_unit(arg[0], &part) || !to_ticks(arg[1], &from) || !to_ticks(arg[2], &to))
        return value_undefined;
    return value_int(datetime_diff(part, from, to));
}

static struct value part_of(enum datetime_part part, struct value text)
{
    int64_t ticks;

    return to_ticks(text, &ticks) ? value_int(datetime_part(part, ticks)) : value_undefined;
}

static struct value fn_datetimepart(struct eval *eval, const struct value *arg, int count)
{
    enum datetime_part part;

    (void)eval, (void)count;
    return to_part(arg[0], &part) ? part_of(part, arg[1]) : value_undefined;
}

static struct value fn_year(struct eval *eval, const struct value *arg, int count)
{
    (void)eval, (void)count;
    return part_of(DATETIME_YEAR, arg[0]);
}

static struct value fn_month(struct eval *eval, const struct value *arg, int count)
{
    (void)eval, (void)count;
    return part_of(DATETIME_MONTH, arg[0]);
}

static struct value fn_day(struct eval *eval, const struct value *arg, int count)
{
    (void)eval, (void)count;
    return part_of(DATETIME_DAY, arg[0]);
}

/* DATETIMEBIN(time, part [, size = 1 [, origin = 1970]]) */
static struct value fn_datetimebin(struct eval *eval, const struct value *arg, int count)
{
    struct value size = count > 2 ? arg[2] : value_int(1);
    enum datetime_part part;
    int64_t ticks, origin = 0;

    if (!to_ticks(arg[0], &ticks) || !to_part(arg[1], &part) || size.kind != JSON_NUMBER)
        return value_undefined;
    if (count > 3 && !to_ticks(arg[3], &origin))
        return value_undefined;
    return datetime_bin(part, size, origin, ticks, &ticks) ? text_of(eval, ticks) : value_undefined;
}

/* The last argument is a fraction's ticks, of which the first seven digits count. */
static struct value fn_datetimefromparts(struct eval *eval, const struct value *arg, int count)
{
    struct datetime at = { 0 };
    int64_t *const field[] = { &at.year, &at.month, &at.day, &at.hour, &at.minute, &at.second, &at.fraction };
    int64_t ticks;

    for (int i = 0; i < count; i++) {
        if (!value_is_int(arg[i]))
            return value_undefined;
        *field[i] = arg[i].integer;
    }
    while (at.fraction >= TICKS_PER_SECOND)
        at.fraction /= 10;
    return datetime_join(&at, &ticks) ? text_of(eval, ticks) : value_undefined;
}

/* As the pattern says; there is no empty one, and no empty text. */
static struct value formatted(struct eval *eval, int64_t ticks, struct value pattern)
{
    struct buf out;

    if (pattern.kind != JSON_STRING || pattern.string.size == 0)
        return value_undefined;
    buf_init(&out, &eval->op->arena);
    datetime_format(&out, ticks, pattern.string);
    if (out.failed)
        return eval_fail(eval, ST_QUERY_MEMORY);
    return out.size ? value_string(buf_as_slice(&out)) : value_undefined;
}

static struct value fn_datetimeformat(struct eval *eval, const struct value *arg, int count)
{
    int64_t ticks;

    (void)count;
    return to_ticks(arg[0], &ticks) ? formatted(eval, ticks, arg[1]) : value_undefined;
}

static struct value fn_datetimetoticks(struct eval *eval, const struct value *arg, int count)
{
    int64_t ticks;

    (void)eval, (void)count;
    return to_ticks(arg[0], &ticks) ? value_int(ticks) : value_undefined;
}

static struct value fn_datetimetotimestamp(struct eval *eval, const struct value *arg, int count)
{
    int64_t ticks;

    (void)eval, (void)count;
    return to_ticks(arg[0], &ticks) ? value_int(to_ms(ticks)) : value_undefined;
}

/* A count of so many ticks each, as text: by a pattern, where there is one. */
static struct value counted(struct eval *eval, const struct value *arg, int count, int64_t unit)
{
    int64_t ticks;

    if (!value_is_int(arg[0]) || __builtin_mul_overflow(arg[0].integer, unit, &ticks) ||
        !datetime_in_range(ticks))
        return value_undefined;
    return count > 1 ? formatted(eval, ticks, arg[1]) : text_of(eval, ticks);
}

static struct value fn_tickstodatetime(struct eval *eval, const struct value *arg, int count)
{
    return counted(eval, arg, count, 1);
}

static struct value fn_timestamptodatetime(struct eval *eval, const struct value *arg, int count)
{
    return counted(eval, arg, count, TICKS_PER_MS);
}

static const struct builtin rows[] = {
    { "AGO", 1, 2, .code = fn_ago, .flags = NOT_CONSTANT, .bind = bind_span },
    { "DATETIMEADD", 2, 3, .code = fn_datetimeadd, .bind = bind_span },
    { "DATETIMEBIN", 2, 4, .code = fn_datetimebin },
    { "DATETIMEDIFF", 3, 3, .code = fn_datetimediff },
    { "DATETIMEFORMAT", 2, 2, .code = fn_datetimeformat },
    { "DATETIMEFROMPARTS", 3, 7, .code = fn_datetimefromparts },
    { "DATETIMEPART", 2, 2, .code = fn_datetimepart },
    { "DATETIMETOTICKS", 1, 1, .code = fn_datetimetoticks },
    { "DATETIMETOTIMESTAMP", 1, 1, .code = fn_datetimetotimestamp },
    { "DAY", 1, 1, .code = fn_day },
    { "GETCURRENTDATETIME", 0, 0, .code = fn_now_text, .flags = NOT_CONSTANT },
    { "GETCURRENTDATETIMESTATIC", 0, 0, .code = fn_now_text_static, .flags = NOT_CONSTANT },
    { "GETCURRENTTICKS", 0, 0, .code = fn_now_ticks, .flags = NOT_CONSTANT },
    { "GETCURRENTTICKSSTATIC", 0, 0, .code = fn_now_ticks_static, .flags = NOT_CONSTANT },
    { "GETCURRENTTIMESTAMP", 0, 0, .code = fn_now_ms, .flags = NOT_CONSTANT },
    { "GETCURRENTTIMESTAMPSTATIC", 0, 0, .code = fn_now_ms_static, .flags = NOT_CONSTANT },
    { "MONTH", 1, 1, .code = fn_month },
    { "NOW", 0, 2, .code = fn_now, .flags = NOT_CONSTANT, .bind = bind_span },
    { "TICKSTODATETIME", 1, 2, .code = fn_tickstodatetime },
    { "TIMESTAMPTODATETIME", 1, 2, .code = fn_timestamptodatetime },
    { "YEAR", 1, 1, .code = fn_year },
};

const struct builtin_family builtins_date = { rows, sizeof(rows) / sizeof(rows[0]) };
