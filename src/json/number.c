/* src/json/number.c - text to number. The common cases are exact by themselves; strtod() has the rest. */
#include <stdlib.h>

#include "json/format.h"
#include "json/number.h"

enum { EXPONENT_CLAMP = 1000000, LOCAL_TEXT_BYTES = 128 };

static bool is_digit(const uint8_t *at, const uint8_t *end)
{
    return at < end && (uint8_t)(*at - '0') < 10;
}

/* Adds a run of digits to the mantissa, and says where the run ends. */
static const uint8_t *scan_digits(const uint8_t *at, const uint8_t *end, struct number_text *number)
{
    uint64_t mantissa = number->mantissa;

    for (; is_digit(at, end); at++) {
        if (mantissa > (UINT64_MAX - 9) / 10)
            number->exact = false;
        else
            mantissa = mantissa * 10 + (uint64_t)(*at - '0');
    }
    number->mantissa = mantissa;
    return at;
}

/* The part after 'e'. NULL when there are no digits. */
static const uint8_t *scan_exponent(const uint8_t *at, const uint8_t *end, struct number_text *number)
{
    bool negative = at < end && *at == '-';
    int64_t exponent = 0;

    if (at < end && (*at == '-' || *at == '+'))
        at++;
    number->end = at;
    if (!is_digit(at, end))
        return NULL;
    for (; is_digit(at, end); at++)
        if (exponent < EXPONENT_CLAMP)
            exponent = exponent * 10 + (*at - '0');
    number->exponent += negative ? -exponent : exponent;
    return at;
}

/* The part after '.'. NULL when there are no digits. */
static const uint8_t *scan_fraction(const uint8_t *at, const uint8_t *end, struct number_text *number)
{
    const uint8_t *start = at;

    at = scan_digits(at, end, number);
    number->exponent -= at - start;
    number->end = at;
    return at == start ? NULL : at;
}

bool number_scan(const uint8_t *at, const uint8_t *text_end, struct number_text *number)
{
    *number = (struct number_text){ .start = at, .integer = true, .exact = true };
    if (at < text_end && *at == '-') {
        number->negative = true;
        at++;
    }
    number->end = at;
    if (!is_digit(at, text_end))
        return false;
    if (*at == '0') /* a digit after it is for the caller to refuse */
        at++;
    else
        at = scan_digits(at, text_end, number);
    if (at < text_end && *at == '.') {
        number->integer = false;
        at = scan_fraction(at + 1, text_end, number);
    }
    if (at && at < text_end && (*at == 'e' || *at == 'E')) {
        number->integer = false;
        at = scan_exponent(at + 1, text_end, number);
    }
    if (at)
        number->end = at;
    return at != NULL;
}

bool number_to_int(const struct number_text *number, int64_t *result)
{
    uint64_t limit = (uint64_t)INT64_MAX + number->negative;

    if (!number->integer || !number->exact || number->mantissa > limit)
        return false;
    *result = (int64_t)(number->negative ? 0 - number->mantissa : number->mantissa);
    return true;
}

/* Powers of ten that are exact doubles. */
static const double tens[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                               1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
enum { TENS_MAX = 22 };

/* Both operands are exact, so there is one rounding, and the result is the nearest double. */
static bool exact_double(const struct number_text *number, double *result)
{
    double mantissa = (double)number->mantissa;

    if (!number->exact)
        return false;
    if (number->exponent == 0 || number->mantissa == 0)
        *result = mantissa;
    else if (number->mantissa > (uint64_t)1 << 53)
        return false;
    else if (number->exponent > 0 && number->exponent <= TENS_MAX)
        *result = mantissa * tens[number->exponent];
    else if (number->exponent < 0 && number->exponent >= -TENS_MAX)
        *result = mantissa / tens[-number->exponent];
    else
        return false;
    if (number->negative)
        *result = -*result;
    return true;
}

bool number_to_double(const struct number_text *number, struct arena *arena, double *result)
{
    size_t size = (size_t)(number->end - number->start);
    char local[LOCAL_TEXT_BYTES], *text = local;

    if (exact_double(number, result))
        return true;
    if (size >= sizeof(local))
        text = arena_try_alloc(arena, size + 1);
    if (!text)
        return false;
    memcpy(text, number->start, size);
    text[size] = '\0'; /* strtod() needs an end, and the text goes on */
    *result = strtod(text, NULL);
    return true;
}
