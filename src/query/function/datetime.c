/* src/query/function/datetime.c - ticks to calendar and back: parse, print, add, count, bin. */
#include "query/function/datetime.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum {
    SECONDS_PER_DAY = 86400,
    DAYS_TO_1601 = 584388,
    DAYS_TO_1970 = 719162,
    DAYS_PER_400_YEARS = 146097,
    YEAR_MIN = 1601, /* the Windows epoch */
    YEAR_MAX = 9999,
    OFFSET_MINUTES_MAX = 14 * 60,
};

#define TICKS_PER_DAY ((int64_t)SECONDS_PER_DAY * TICKS_PER_SECOND)
#define TICKS_MIN (-(int64_t)(DAYS_TO_1970 - DAYS_TO_1601) * TICKS_PER_DAY)
#define TICKS_MAX ((int64_t)(3652059 - DAYS_TO_1970) * TICKS_PER_DAY - 1) /* the end of 9999 */

/* A part's names and its ticks: none where their number varies, and where a part is less than one. */
static const struct {
    const char *name[3];
    int64_t ticks;
} parts[] = {
    [DATETIME_YEAR] = { { "year", "yyyy", "yy" }, 0 },
    [DATETIME_MONTH] = { { "month", "mm", "m" }, 0 },
    [DATETIME_DAY] = { { "day", "dd", "d" }, TICKS_PER_DAY },
    [DATETIME_HOUR] = { { "hour", "hh" }, (int64_t)3600 * TICKS_PER_SECOND },
    [DATETIME_MINUTE] = { { "minute", "mi", "n" }, (int64_t)60 * TICKS_PER_SECOND },
    [DATETIME_SECOND] = { { "second", "ss", "s" }, TICKS_PER_SECOND },
    [DATETIME_MILLISECOND] = { { "millisecond", "ms" }, TICKS_PER_MS },
    [DATETIME_MICROSECOND] = { { "microsecond", "mcs" }, 10 },
    [DATETIME_NANOSECOND] = { { "nanosecond", "ns" }, 0 },
    [DATETIME_WEEKDAY] = { { "weekday", "dw" }, 0 },
};

enum { PART_COUNT = sizeof(parts) / sizeof(parts[0]), NANOSECONDS_PER_TICK = 100 };

bool datetime_part_find(struct slice name, enum datetime_part *part)
{
    for (int i = 0; i < PART_COUNT; i++) {
        for (int j = 0; j < 3 && parts[i].name[j]; j++) {
            if (slice_is_nocase(name, parts[i].name[j])) {
                *part = i;
                return true;
            }
        }
    }
    return false;
}

/* Rounded down, also below zero. */
static int64_t divide_down(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static bool is_leap_year(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int64_t month_days(int64_t year, int64_t month)
{
    static const int8_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

    return month == 2 && is_leap_year(year) ? 29 : days[month - 1];
}

/* Days from 0001-01-01 to the first of the month. The year begins in March, so that a leap day ends it. */
static int64_t days_before(int64_t year, int64_t month)
{
    int64_t shifted_year = month > 2 ? year : year - 1, shifted_month = (month + 9) % 12;

    return shifted_year * 365 + shifted_year / 4 - shifted_year / 100 + shifted_year / 400 +
           (shifted_month * 153 + 2) / 5 - 306;
}

bool datetime_in_range(int64_t ticks)
{
    return ticks >= TICKS_MIN && ticks <= TICKS_MAX;
}

static void split_day(int64_t days, struct datetime *at)
{
    at->year = days * 400 / DAYS_PER_400_YEARS + 1;
    while (days_before(at->year, 1) > days)
        at->year--;
    while (days_before(at->year + 1, 1) <= days)
        at->year++;
    at->month = 1;
    while (at->month < 12 && days_before(at->year, at->month + 1) <= days)
        at->month++;
    at->day = days - days_before(at->year, at->month) + 1;
}

struct datetime datetime_split(int64_t ticks)
{
    struct datetime at;
    int64_t days = divide_down(ticks, TICKS_PER_DAY);
    int64_t in_day = ticks - days * TICKS_PER_DAY;
    int64_t seconds = in_day / TICKS_PER_SECOND;

    assert(datetime_in_range(ticks));
    split_day(days + DAYS_TO_1970, &at);
    at.hour = seconds / 3600;
    at.minute = seconds / 60 % 60;
    at.second = seconds % 60;
    at.fraction = in_day % TICKS_PER_SECOND;
    return at;
}

static bool is_real(const struct datetime *at)
{
    return at->year >= YEAR_MIN && at->year <= YEAR_MAX && at->month >= 1 && at->month <= 12 &&
           at->day >= 1 && at->day <= month_days(at->year, at->month) && at->hour >= 0 && at->hour < 24 &&
           at->minute >= 0 && at->minute < 60 && at->second >= 0 && at->second < 60 && at->fraction >= 0 &&
           at->fraction < TICKS_PER_SECOND;
}

bool datetime_join(const struct datetime *at, int64_t *ticks)
{
    int64_t days;

    if (!is_real(at))
        return false;
    days = days_before(at->year, at->month) + at->day - 1 - DAYS_TO_1970;
    *ticks = (days * SECONDS_PER_DAY + at->hour * 3600 + at->minute * 60 + at->second) * TICKS_PER_SECOND +
             at->fraction;
    return true;
}

/* The next `size` bytes as digits. */
static bool take_digits(struct slice *text, size_t size, int64_t *number)
{
    int64_t sum = 0;

    if (text->size < size)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (text->data[i] < '0' || text->data[i] > '9')
            return false;
        sum = sum * 10 + (text->data[i] - '0');
    }
    *text = slice_after(*text, size);
    *number = sum;
    return true;
}

static bool take_byte(struct slice *text, char byte)
{
    if (text->size == 0 || text->data[0] != byte)
        return false;
    *text = slice_after(*text, 1);
    return true;
}

/* One to seven digits, as ticks. */
static bool take_fraction(struct slice *text, int64_t *ticks)
{
    int64_t digit;
    int count = 0;

    for (*ticks = 0; count < 7 && take_digits(text, 1, &digit); count++)
        *ticks = *ticks * 10 + digit;
    for (int i = count; i < 7; i++)
        *ticks *= 10;
    return count > 0;
}

static bool take_time(struct slice *text, struct datetime *at)
{
    if (!(take_digits(text, 2, &at->hour) && take_byte(text, ':') && take_digits(text, 2, &at->minute) &&
          take_byte(text, ':') && take_digits(text, 2, &at->second)))
        return false;
    return !take_byte(text, '.') || take_fraction(text, &at->fraction);
}

static bool take_date(struct slice *text, struct datetime *at)
{
    return take_digits(text, 4, &at->year) && take_byte(text, '-') && take_digits(text, 2, &at->month) &&
           take_byte(text, '-') && take_digits(text, 2, &at->day);
}

/* [ ](+|-)hh[[:]mm], in minutes; a Z and nothing are 0. */
static bool take_offset(struct slice *text, int64_t *minutes)
{
    int64_t hours, more = 0;
    bool behind;

    *minutes = 0;
    if (text->size == 0 || take_byte(text, 'Z'))
        return true;
    take_byte(text, ' ');
    behind = take_byte(text, '-');
    if (!(behind || take_byte(text, '+')) || !take_digits(text, 2, &hours))
        return false;
    if ((take_byte(text, ':') || text->size > 0) && !take_digits(text, 2, &more))
        return false;
    *minutes = (hours * 60 + more) * (behind ? -1 : 1);
    return more < 60 && llabs(*minutes) <= OFFSET_MINUTES_MAX;
}

/* A blank may stand before the time, and before an offset without one. */
static bool has_time(struct slice text)
{
    return text.size > 1 &&
           (text.data[0] == 'T' || (text.data[0] == ' ' && text.data[1] != '+' && text.data[1] != '-'));
}

bool datetime_parse(struct slice text, int64_t *ticks)
{
    struct datetime at = { 0 };
    int64_t offset;

    if (!take_date(&text, &at))
        return false;
    if (has_time(text)) {
        text = slice_after(text, 1);
        if (!take_time(&text, &at))
            return false;
    }
    if (!take_offset(&text, &offset) || text.size > 0 || !datetime_join(&at, ticks))
        return false;
    *ticks -= offset * 60 * TICKS_PER_SECOND;
    return datetime_in_range(*ticks);
}

static char *put_digits(char *text, int64_t number, int size)
{
    for (int i = size - 1; i >= 0; i--, number /= 10)
        text[i] = (char)('0' + number % 10);
    return text + size;
}

void datetime_print(int64_t ticks, char text[DATETIME_SIZE + 1])
{
    struct datetime at = datetime_split(ticks);
    const struct {
        int64_t number;
        int size;
        char after;
    } field[] = {
        { at.year, 4, '-' },   { at.month, 2, '-' },  { at.day, 2, 'T' },      { at.hour, 2, ':' },
        { at.minute, 2, ':' }, { at.second, 2, '.' }, { at.fraction, 7, 'Z' },
    };

    for (size_t i = 0; i < sizeof(field) / sizeof(field[0]); i++) {
        text = put_digits(text, field[i].number, field[i].size);
        *text++ = field[i].after;
    }
    *text = '\0';
}

/* The first `count` digits of a second's fraction; nothing in place of zeros alone when `trim` asks for it. */
static void put_fraction(struct buf *out, int64_t fraction, int count, bool trim)
{
    char digits[7];
    int zeros = 0;

    put_digits(digits, fraction, sizeof(digits));
    while (zeros < count && digits[zeros] == '0')
        zeros++;
    if (!trim || zeros < count)
        buf_append(out, digits, (size_t)count);
}

/* One letter: as it is. More: two digits at least. */
static void put_number(struct buf *out, int64_t number, int size)
{
    buf_printf(out, "%0*lld", size < 2 ? 1 : 2, (long long)number);
}

static void put_year(struct buf *out, int64_t year, int size)
{
    if (size < 4)
        put_number(out, year % 100, size);
    else
        buf_printf(out, "%04lld", (long long)year);
}

/* One letter, repeated. What stands for nothing is text. */
static void put_field(struct buf *out, const struct datetime *at, char letter, int size)
{
    switch (letter) {
    case 'y':
        put_year(out, at->year, size);
        break;
    case 'M':
        put_number(out, at->month, size);
        break;
    case 'd':
        put_number(out, at->day, size);
        break;
    case 'H':
        put_number(out, at->hour, size);
        break;
    case 'h':
        put_number(out, (at->hour + 11) % 12 + 1, size);
        break;
    case 'm':
        put_number(out, at->minute, size);
        break;
    case 's':
        put_number(out, at->second, size);
        break;
    case 't':
        buf_text(out, size == 1 ? "t" : at->hour < 12 ? "AM" : "PM");
        break;
    case 'f':
    case 'F':
        put_fraction(out, at->fraction, size < 7 ? size : 7, letter == 'F');
        break;
    default:
        for (int i = 0; i < size; i++)
            buf_byte(out, letter);
    }
}

void datetime_format(struct buf *out, int64_t ticks, struct slice pattern)
{
    struct datetime at = datetime_split(ticks);

    while (pattern.size) {
        size_t size = 1;

        if (take_byte(&pattern, '\\')) { /* the next one is text, whatever it is */
            buf_append(out, pattern.data, pattern.size > 0);
        } else {
            while (size < pattern.size && pattern.data[size] == pattern.data[0])
                size++;
            put_field(out, &at, pattern.data[0], (int)size);
        }
        pattern = slice_after(pattern, size < pattern.size ? size : pattern.size);
    }
}

int64_t datetime_part(enum datetime_part part, int64_t ticks)
{
    struct datetime at = datetime_split(ticks);
    const int64_t number[] = {
        [DATETIME_YEAR] = at.year,
        [DATETIME_MONTH] = at.month,
        [DATETIME_DAY] = at.day,
        [DATETIME_HOUR] = at.hour,
        [DATETIME_MINUTE] = at.minute,
        [DATETIME_SECOND] = at.second,
        [DATETIME_MILLISECOND] = at.fraction / TICKS_PER_MS,
        [DATETIME_MICROSECOND] = at.fraction / 10,
        [DATETIME_NANOSECOND] = at.fraction * NANOSECONDS_PER_TICK,
        [DATETIME_WEEKDAY] =
            (divide_down(ticks, TICKS_PER_DAY) + DAYS_TO_1970 + 1) % 7, /* 0001-01-01 was a Monday */
    };

    return number[part];
}

static bool is_calendar(enum datetime_part part)
{
    return part == DATETIME_YEAR || part == DATETIME_MONTH;
}

/* Months since the year 0, which is how calendar parts are counted. */
static int64_t month_number(int64_t ticks)
{
    struct datetime at = datetime_split(ticks);

    return at.year * 12 + at.month - 1;
}

static bool add_months(int64_t count, int64_t ticks, int64_t *result)
{
    struct datetime at = datetime_split(ticks);
    int64_t months;

    if (__builtin_add_overflow(at.year * 12 + at.month - 1, count, &months) || months < 0)
        return false;
    at.year = months / 12;
    at.month = months % 12 + 1;
    if (at.day > month_days(at.year, at.month))
        at.day = month_days(at.year, at.month);
    return datetime_join(&at, result);
}

static bool add_ticks(int64_t count, int64_t ticks, int64_t *result)
{
    return !__builtin_add_overflow(ticks, count, result) && datetime_in_range(*result);
}

/* Half of a tick counts as one, away from zero. */
static int64_t nanoseconds_to_ticks(int64_t count)
{
    int64_t rest = count % NANOSECONDS_PER_TICK;

    return count / NANOSECONDS_PER_TICK + (rest >= NANOSECONDS_PER_TICK / 2) -
           (rest <= -NANOSECONDS_PER_TICK / 2);
}

bool datetime_add(enum datetime_part part, int64_t count, int64_t ticks, int64_t *result)
{
    int64_t unit = part == DATETIME_YEAR ? 12 : part == DATETIME_MONTH ? 1 : parts[part].ticks;
    int64_t units;

    assert(part != DATETIME_WEEKDAY);
    if (part == DATETIME_NANOSECOND)
        return add_ticks(nanoseconds_to_ticks(count), ticks, result);
    if (__builtin_mul_overflow(count, unit, &units))
        return false;
    return is_calendar(part) ? add_months(units, ticks, result) : add_ticks(units, ticks, result);
}

/* Boundaries of seconds, and whole parts of what the fractions differ by. */
static int64_t diff_of_fractions(int64_t part_ticks, int64_t from, int64_t to)
{
    int64_t from_second = divide_down(from, TICKS_PER_SECOND), to_second = divide_down(to, TICKS_PER_SECOND);
    int64_t fractions = (to - to_second * TICKS_PER_SECOND) - (from - from_second * TICKS_PER_SECOND);

    return (to_second - from_second) * (TICKS_PER_SECOND / part_ticks) + fractions / part_ticks;
}

int64_t datetime_diff(enum datetime_part part, int64_t from, int64_t to)
{
    int64_t ticks = parts[part].ticks;

    assert(part != DATETIME_WEEKDAY);
    switch (part) {
    case DATETIME_YEAR:
        return datetime_split(to).year - datetime_split(from).year;
    case DATETIME_MONTH:
        return month_number(to) - month_number(from);
    case DATETIME_MILLISECOND:
    case DATETIME_MICROSECOND:
        return diff_of_fractions(ticks, from, to);
    case DATETIME_NANOSECOND: /* the service lets them begin anew past an int64 */
        return (int64_t)((uint64_t)(to - from) * NANOSECONDS_PER_TICK);
    default:
        return divide_down(to, ticks) - divide_down(from, ticks);
    }
}

static bool bin_exactly(int64_t bin, int64_t origin, int64_t ticks, int64_t *result)
{
    return bin > 0 && add_ticks(divide_down(ticks - origin, bin) * bin, origin, result);
}

/* Bins that are no whole number of ticks, or too long for an int64 of them. */
static bool bin_nearly(double bin, int64_t origin, int64_t ticks, int64_t *result)
{
    double start = isfinite(bin) && bin > 0 ? floor((double)(ticks - origin) / bin) * bin : NAN;

    return start > -0x1p62 && start < 0x1p62 && add_ticks((int64_t)start, origin, result);
}

bool datetime_bin(enum datetime_part part, struct value size, int64_t origin, int64_t ticks, int64_t *result)
{
    int64_t bin;

    if (part == DATETIME_WEEKDAY || is_calendar(part) || !(size.number > 0))
        return false;
    if (part == DATETIME_NANOSECOND && size.number < 0x1p53) /* whole ticks */
        return bin_exactly((int64_t)size.number / NANOSECONDS_PER_TICK, origin, ticks, result);
    if (size.is_int && !__builtin_mul_overflow(size.integer, parts[part].ticks, &bin))
        return bin_exactly(bin, origin, ticks, result);
    return bin_nearly(size.number * (double)parts[part].ticks, origin, ticks, result);
}
