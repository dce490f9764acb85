/*
 * src/advise/form.c - ways to write a date, as patterns: 9 is a digit, and everything else stands for itself. The first that
 * fits counts.
 */
#include "advise/form.h"

const char *const text_form_names[FORM_COUNT] = {
    [FORM_PLAIN] = "no date",
    [FORM_UTC] = "2026-11-16T12:00:00Z",
    [FORM_OFFSET] = "2026-11-16T12:00:00+01:00",
    [FORM_LOCAL] = "2026-11-16T12:00:00",
    [FORM_DAY] = "2026-11-16",
    [FORM_SLASHES] = "11/16/2026",
    [FORM_DOTS] = "16.11.2026",
    [FORM_MAIL] = "Mon, 16 Nov 2026 12:00:00 GMT",
};

enum { TEXT_BYTES_MAX = 40 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* How much of the text the pattern takes; 0: it does not fit. */
static size_t takes(struct slice text, const char *pattern)
{
    size_t at = 0;

    for (; *pattern; pattern++, at++) {
        if (at >= text.size)
            return 0;
        if (*pattern == '9' ? !is_digit(text.data[at]) : text.data[at] != *pattern)
            return 0;
    }
    return at;
}

/* .123 behind the seconds */
static struct slice without_fraction(struct slice rest)
{
    size_t at = 1;

    if (rest.size < 2 || rest.data[0] != '.' || !is_digit(rest.data[1]))
        return rest;
    while (at < rest.size && is_digit(rest.data[at]))
        at++;
    return slice_after(rest, at);
}

/* What follows 2026-11-16T12:00:00 */
static enum text_form form_behind_time(struct slice rest)
{
    rest = without_fraction(rest);
    if (rest.size == 0)
        return FORM_LOCAL;
    if (slice_is(rest, "Z") || slice_is(rest, "z"))
        return FORM_UTC;
    if (rest.data[0] != '+' && rest.data[0] != '-')
        return FORM_PLAIN;
    rest = slice_after(rest, 1);
    return takes(rest, "99:99") == rest.size || takes(rest, "9999") == rest.size ? FORM_OFFSET : FORM_PLAIN;
}

static bool is_mail_date(struct slice text)
{
    return text.size >= 25 && text.data[3] == ',' && takes(slice_after(text, 4), " 99 ") == 4 &&
           takes(slice_after(text, 11), " 9999 99:99:99") == 14;
}

static bool is_whole(struct slice text, const char *pattern)
{
    return takes(text, pattern) == text.size;
}

enum text_form text_form(struct slice text)
{
    if (text.size < 8 || text.size > TEXT_BYTES_MAX)
        return FORM_PLAIN;
    if (is_whole(text, "9999-99-99"))
        return FORM_DAY;
    if (takes(text, "9999-99-99T99:99:99") || takes(text, "9999-99-99 99:99:99"))
        return form_behind_time(slice_after(text, 19));
    if (is_whole(text, "99/99/9999") || is_whole(text, "9/9/9999") || is_whole(text, "9/99/9999") ||
        is_whole(text, "99/9/9999"))
        return FORM_SLASHES;
    if (is_whole(text, "99.99.9999") || is_whole(text, "9.9.9999") || is_whole(text, "9.99.9999") ||
        is_whole(text, "99.9.9999"))
        return FORM_DOTS;
    return is_mail_date(text) ? FORM_MAIL : FORM_PLAIN;
}
