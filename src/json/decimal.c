/*
 * src/json/decimal.c - number to text, as JavaScript's Number.prototype.toString has it: the
 * fewest digits that read back as the same double, the nearest to it among those.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "json/format.h"
#include "json/number.h"

__extension__ typedef unsigned __int128 u128;

/* digits * 10^exponent, without zeros at the end. */
struct decimal {
    uint64_t digits;
    int exponent;
};

static const uint64_t tens[] = {
    1u,
    10u,
    100u,
    1000u,
    10000u,
    100000u,
    1000000u,
    10000000u,
    100000000u,
    1000000000u,
    10000000000u,
    100000000000u,
    1000000000000u,
    10000000000000u,
    100000000000000u,
    1000000000000000u,
    10000000000000000u,
    100000000000000000u,
    1000000000000000000u,
    10000000000000000000u,
};
enum { TENS_MAX = 19, DIGITS = 17 };

static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                            "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                            "8081828384858687888990919293949596979899";

static int count_digits(uint64_t number)
{
    int bits = 64 - __builtin_clzll(number | 1);
    int digits = bits * 1233 >> 12; /* log10(2), at most one too few */

    return digits + (number >= tens[digits]);
}

/* Exactly `count` digits. */
static char *put_digits(char *to, uint64_t number, int count)
{
    char *at = to + count;

    for (; number >= 100; number /= 100)
        memcpy(at -= 2, pairs + number % 100 * 2, 2);
    if (number >= 10)
        memcpy(at - 2, pairs + number * 2, 2);
    else
        at[-1] = (char)('0' + number);
    return to + count;
}

char *number_print_int(char *to, int64_t number)
{
    uint64_t size = (uint64_t)number;

    if (number < 0) {
        *to++ = '-';
        size = 0 - size;
    }
    return put_digits(to, size, size ? count_digits(size) : 1);
}

static struct decimal without_zeros(uint64_t digits, int exponent)
{
    for (int step = 8; step; step /= 2) {
        if (digits % tens[step] == 0) {
            digits /= tens[step];
            exponent += step;
        }
    }
    while (digits % 10 == 0) {
        digits /= 10;
        exponent++;
    }
    return (struct decimal){ digits, exponent };
}

/*
 * Most numbers that people write have few digits behind the point. digits / 10^places is one
 * rounding of two exact doubles: if it gives the number, the digits read back as it. With at
 * most 15 digits no other decimal as short does, and the fewest places come first.
 */
static bool shortest_by_doubles(double number, struct decimal *result)
{
    static const double powers[] = { 1e1, 1e2, 1e3, 1e4, 1e5, 1e6 };

    if (number >= 1e9)
        return false;
    for (int i = 0; i < 6; i++) {
        int64_t digits = (int64_t)(number * powers[i] + 0.5);

        if ((double)digits / powers[i] == number) {
            *result = (struct decimal){ (uint64_t)digits, -1 - i };
            return true;
        }
    }
    return false;
}

/* floor(log10(number)) for 1e-6 <= number < 1e17; one off beside a power of ten does no harm. */
static int magnitude(double number)
{
    static const double bounds[] = { 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1e0,  1e1,  1e2,  1e3,  1e4, 1e5,
                                     1e6,  1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16 };
    int low = 0, high = sizeof(bounds) / sizeof(bounds[0]);

    while (high - low > 1) {
        int middle = (low + high) / 2;

        *(number < bounds[middle] ? &high : &low) = middle;
    }
    return low - 6;
}

/* number = mantissa / 2^shift, for a normal double; returns the shift. */
static int split(double number, uint64_t *mantissa)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof(bits));
    *mantissa = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    return 1023 + 52 - (int)(bits >> 52 & 0x7ff);
}

/* To a number with `point` bits of fraction; the even multiple when two are as near. */
static uint64_t nearest_multiple(u128 value, int point, uint64_t step)
{
    uint64_t count = (uint64_t)(value >> point) / step;
    u128 above = 2 * (value - ((u128)(count * step) << point)), unit = (u128)step << point;

    if (above > unit || (above == unit && count % 2))
        count++;
    return count * step;
}

/*
 * In integers. number = mantissa / 2^shift is scaled by `power` of ten to `value`, which has 17
 * digits and `point` bits of fraction, one more than shift. So `power`, in the same unit, is
 * half the way to the next double, and what reads back as number lies nearer than that. It is
 * 0.5 to 11.2: at most one multiple of 100 lies inside, and is the shortest if there is one;
 * else the nearest multiple of 10, if inside; else the nearest integer.
 * Bounds never count: they have more than 17 digits. Below a power of two the next double is
 * nearer, but those that get here are decimals of at most 14 digits, and found exactly.
 */
static bool shortest_by_integers(double number, struct decimal *result)
{
    uint64_t mantissa;
    int scale, point;
    u128 power, value;

    if (number < 1e-6 || number >= 0x1p53 || double_is_int(number))
        return false;
    point = split(number, &mantissa) + 1;
    scale = DIGITS - 1 - magnitude(number);
    power = scale > TENS_MAX ? (u128)tens[TENS_MAX] * tens[scale - TENS_MAX] : tens[scale];
    value = 2 * mantissa * power;
    for (uint64_t step = 100; step; step /= 10) {
        uint64_t nearest = nearest_multiple(value, point, step);
        u128 at = (u128)nearest << point, distance = at > value ? at - value : value - at;

        if (distance < power) {
            *result = without_zeros(nearest, -scale);
            return true;
        }
    }
    return false;
}

static bool reads_back(struct decimal decimal, double number)
{
    char text[40];

    snprintf(text, sizeof(text), "%" PRIu64 "e%d", decimal.digits, decimal.exponent);
    return strtod(text, NULL) == number;
}

/* The nearest decimal of so many digits. */
static struct decimal rounded(double number, int digits)
{
    char text[40], *end;
    uint64_t mantissa;

    snprintf(text, sizeof(text), "%.*e", digits - 1, number);
    if (digits > 1)
        memmove(text + 1, text + 2, strlen(text + 2) + 1); /* the point */
    mantissa = strtoull(text, &end, 10);
    return (struct decimal){ mantissa, (int)strtol(end + 1, NULL, 10) - (digits - 1) };
}

/*
 * By trial, for what is left: the very large and the very small. 15 digits always read back
 * unless the double has lost precision near zero. Above a power of two the doubles lie further
 * apart, so that the next decimal up may do where the nearest does not.
 */
static struct decimal shortest_by_trial(double number)
{
    struct decimal decimal = { 0 };
    int binary;
    bool power_of_two = frexp(number, &binary) == 0.5;

    for (int digits = isnormal(number) ? 15 : 1; digits <= DIGITS; digits++) {
        decimal = rounded(number, digits);
        if (reads_back(decimal, number))
            break;
        decimal.digits++;
        if (power_of_two && reads_back(decimal, number))
            break;
    }
    return without_zeros(decimal.digits, decimal.exponent);
}

static char *put_zeros(char *to, int count)
{
    memset(to, '0', (size_t)count);
    return to + count;
}

/* d.ddde+dd */
static char *put_scientific(char *to, struct decimal decimal, int count)
{
    int exponent = decimal.exponent + count - 1;

    put_digits(to + 1, decimal.digits, count);
    to[0] = to[1];
    to[1] = '.';
    to += count > 1 ? count + 1 : 1;
    *to++ = 'e';
    *to++ = exponent < 0 ? '-' : '+';
    return number_print_int(to, abs(exponent));
}

/* Where the point goes is ECMA-262's Number::toString, steps 6 to 10. */
static char *put_decimal(char *to, struct decimal decimal)
{
    int count = count_digits(decimal.digits), point = count + decimal.exponent;

    if (point > 21 || point <= -6)
        return put_scientific(to, decimal, count);
    if (point >= count) {
        to = put_digits(to, decimal.digits, count);
        return put_zeros(to, point - count);
    }
    if (point <= 0) {
        *to++ = '0';
        *to++ = '.';
        to = put_zeros(to, -point);
        return put_digits(to, decimal.digits, count);
    }
    put_digits(to + 1, decimal.digits, count);
    memmove(to, to + 1, (size_t)point);
    to[point] = '.';
    return to + count + 1;
}

char *number_print_double(char *to, double number)
{
    struct decimal decimal;

    assert(isfinite(number));
    if (number > -0x1p53 && number < 0x1p53 && double_is_int(number))
        return number_print_int(to, (int64_t)number);
    if (number < 0) {
        *to++ = '-';
        number = -number;
    }
    if (!shortest_by_doubles(number, &decimal) && !shortest_by_integers(number, &decimal))
        decimal = shortest_by_trial(number);
    return put_decimal(to, decimal);
}
