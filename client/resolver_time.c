/* client/resolver_time.c - times as ISO 8601 has them, to milliseconds and back. */
#include <stdio.h>

#include "resolver.h"

enum { DAY_MS = 24 * 60 * 60 * 1000, YEAR_MAX = 9999 };

/* Days from 1970-01-01 to a date of the Gregorian calendar, counted in years that begin in March. */
static int64_t days_of_date(int64_t year, int month, int day)
{
    int64_t era, of_era, day_of_year;

    year -= month <= 2;
    era = (year >= 0 ? year : year - 399) / 400;
    of_era = year - era * 400;
    day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719468;
}

static int days_in_month(int64_t year, int month)
{
    static const uint8_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return month == 2 && is_leap ? 29 : days[month - 1];
}

/* `count` digits at the front, taken away; false when they are not there. */
static bool take_digits(struct slice *text, size_t count, int64_t *number)
{
    *number = 0;
    if (text->size < count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (text->data[i] < '0' || text->data[i] > '9')
            return false;
        *number = *number * 10 + (text->data[i] - '0');
    }
    *text = slice_after(*text, count);
    return true;
}

static bool take_byte(struct slice *text, char byte)
{
    if (!text->size || text->data[0] != byte)
        return false;
    *text = slice_after(*text, 1);
    return true;
}

/* A fraction of a second: what is finer than a millisecond is cut off. */
static bool take_fraction(struct slice *text, int64_t *ms)
{
    int64_t digit, weight = 100;
    size_t count = 0;

    for (; take_digits(text, 1, &digit); count++, weight /= 10)
        *ms += digit * weight;
    return count > 0;
}

static bool take_zone(struct slice *text, int64_t *ms)
{
    int64_t hours, minutes;
    bool is_west;

    if (text->size == 0 || take_byte(text, 'Z')) /* without a zone it is UTC */
        return text->size == 0;
    is_west = take_byte(text, '-');
    if ((!is_west && !take_byte(text, '+')) || !take_digits(text, 2, &hours) || !take_byte(text, ':') ||
        !take_digits(text, 2, &minutes) || hours > 23 || minutes > 59)
        return false;
    *ms += (is_west ? 1 : -1) * (hours * 60 + minutes) * 60 * 1000;
    return text->size == 0;
}

bool time_parse(struct slice text, int64_t *time_ms)
{
    int64_t year, month, day, hour, minute, second;

    if (!take_digits(&text, 4, &year) || !take_byte(&text, '-') || !take_digits(&text, 2, &month) ||
        !take_byte(&text, '-') || !take_digits(&text, 2, &day) || month < 1 || month > 12 || day < 1 ||
        day > days_in_month(year, (int)month))
        return false;
    *time_ms = days_of_date(year, (int)month, (int)day) * DAY_MS;
    if (text.size == 0)
        return true;
    if (!take_byte(&text, 'T') || !take_digits(&text, 2, &hour) || !take_byte(&text, ':') ||
        !take_digits(&text, 2, &minute) || !take_byte(&text, ':') || !take_digits(&text, 2, &second) ||
        hour > 23 || minute > 59 || second > 59)
        return false;
    *time_ms += ((hour * 60 + minute) * 60 + second) * 1000;
    if (take_byte(&text, '.') && !take_fraction(&text, time_ms))
        return false;
    return take_zone(&text, time_ms);
}

size_t time_print(int64_t time_ms, char text[TIME_TEXT_MAX])
{
    int64_t days = time_ms / DAY_MS - (time_ms % DAY_MS < 0), ms = time_ms - days * DAY_MS;
    int64_t shifted = days + 719468, era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int64_t of_era = shifted - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t day_of_year = of_era - (365 * year + year / 4 - year / 100), march = (5 * day_of_year + 2) / 153;
    int64_t month = march < 10 ? march + 3 : march - 9;

    year += era * 400 + (month <= 2);
    if (year < 0 || year > YEAR_MAX)
        return 0;
    return (size_t)snprintf(text, TIME_TEXT_MAX, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", (int)year, (int)month,
                            (int)(day_of_year - (153 * march + 2) / 5 + 1), (int)(ms / 3600000),
                            (int)(ms / 60000 % 60), (int)(ms / 1000 % 60), (int)(ms % 1000));
}
