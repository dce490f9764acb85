/* src/query/function/fn_date.c - the built-in functions of dates and times; the calendar is in datetime.c. */
#include "query/function/builtins.h"
#include "query/function/datetime.h"
#include "query/eval/eval.h"

/* Bins begin no earlier than the Windows epoch, 1601-01-01. */
#define BIN_ORIGIN_MIN (-116444736000000000)

static bool to_ticks(struct value value, int64_t *ticks)
{
    return value.kind == JSON_STRING && datetime_parse(value.string, ticks);
}

static bool to_part(struct value value, enum datetime_part *part)
{
    return value.kind == JSON_STRING && datetime_part_find(value.string, part);
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

/* Rounded down, so that a time before 1970 falls in the millisecond that it belongs to. */
static int64_t to_ms(int64_t ticks)
{
    return ticks / TICKS_PER_MS - (ticks % TICKS_PER_MS < 0);
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

    if (!to_part(part_name, &part) || !datetime_add(part, amount, ticks, &ticks))
        return value_undefined;
    return text_of(eval, ticks);
}

static struct value fn_datetimeadd(struct eval *eval, const struct value *arg, int count)
{
    int64_t ticks;

    (void)count;
    if (!value_is_int(arg[1]) || !to_ticks(arg[2], &ticks))
        return value_undefined;
    return add(eval, arg[0], arg[1].integer, ticks);
}

/* NOW(), NOW(part, amount): one argument is neither. */
static struct value fn_now(struct eval *eval, const struct value *arg, int count)
{
    if (count == 0)
        return text_of(eval, now_ticks(eval));
    if (count == 1 || !value_is_int(arg[1]))
        return value_undefined;
    return add(eval, arg[0], arg[1].integer, now_ticks(eval));
}

static struct value fn_ago(struct eval *eval, const struct value *arg, int count)
{
    (void)count;
    if (!value_is_int(arg[1]) || arg[1].integer == INT64_MIN)
        return value_undefined;
    return add(eval, arg[0], -arg[1].integer, now_ticks(eval));
}

static struct value fn_datetimediff(struct eval *eval, const struct value *arg, int count)
{
    enum datetime_part part;
    int64_t from, to, crossed;

    (void)eval, (void)count;
    if (!to_part(arg[0], &part) || !to_ticks(arg[1], &from) || !to_ticks(arg[2], &to))
        return value_undefined;
    return datetime_diff(part, from, to, &crossed) ? value_int(crossed) : value_undefined;
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
    enum datetime_part part;
    int64_t ticks, size = 1, origin = 0;

    if (!to_ticks(arg[0], &ticks) || !to_part(arg[1], &part))
        return value_undefined;
    if (count > 2 && (!value_is_int(arg[2]) || (size = arg[2].integer) <= 0))
        return value_undefined;
    if (count > 3 && (!to_ticks(arg[3], &origin) || origin < BIN_ORIGIN_MIN))
        return value_undefined;
    return datetime_bin(part, size, origin, ticks, &ticks) ? text_of(eval, ticks) : value_undefined;
}

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
    return datetime_join(&at, &ticks) ? text_of(eval, ticks) : value_undefined;
}

static struct value fn_datetimeformat(struct eval *eval, const struct value *arg, int count)
{
    struct buf out;
    int64_t ticks;

    (void)count;
    if (!to_ticks(arg[0], &ticks) || arg[1].kind != JSON_STRING)
        return value_undefined;
    buf_init(&out, &eval->op->arena);
    if (!datetime_format(&out, ticks, arg[1].string))
        return value_undefined;
    return out.failed ? eval_fail(eval, ST_QUERY_MEMORY) : value_string(buf_as_slice(&out));
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

static struct value fn_tickstodatetime(struct eval *eval, const struct value *arg, int count)
{
    (void)count;
    if (!value_is_int(arg[0]) || !datetime_in_range(arg[0].integer))
        return value_undefined;
    return text_of(eval, arg[0].integer);
}

static struct value fn_timestamptodatetime(struct eval *eval, const struct value *arg, int count)
{
    int64_t ticks;

    (void)count;
    if (!value_is_int(arg[0]) || __builtin_mul_overflow(arg[0].integer, (int64_t)TICKS_PER_MS, &ticks))
        return value_undefined;
    return datetime_in_range(ticks) ? text_of(eval, ticks) : value_undefined;
}

static const struct builtin rows[] = {
    { "AGO", 2, 2, .code = fn_ago, .flags = NOT_CONSTANT },
    { "DATETIMEADD", 3, 3, .code = fn_datetimeadd },
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
    { "NOW", 0, 2, .code = fn_now, .flags = NOT_CONSTANT },
    { "TICKSTODATETIME", 1, 1, .code = fn_tickstodatetime },
    { "TIMESTAMPTODATETIME", 1, 1, .code = fn_timestamptodatetime },
    { "YEAR", 1, 1, .code = fn_year },
};

const struct builtin_family builtins_date = { rows, sizeof(rows) / sizeof(rows[0]) };
