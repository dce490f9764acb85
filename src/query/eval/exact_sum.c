/*
 * src/query/eval/exact_sum.c - a sum as one long number, in which every double has its place.
 * Its lowest bit is that of the least double, 2^-1074; the highest is far above the greatest one,
 * so that no sum of doubles that can be stored overflows it.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "query/eval/exact_sum.h"

enum {
    LOWEST_BIT = -1074,
    LIMB_BITS = 32,
    LIMBS = (1074 + 1024 + 160) / LIMB_BITS + 1, /* 160: of how many there may be, and of what is carried */
    UNCARRIED_MAX = 1 << 28,                     /* additions of 2^33 at most to a limb of 2^63 */
    MANTISSA_BITS = 53,
};

/* Each limb in [0, 2^32), but for the last, which has the sign. */
static void carry(int64_t limb[LIMBS])
{
    for (int i = 0; i + 1 < LIMBS; i++) {
        limb[i + 1] += limb[i] >> LIMB_BITS;
        limb[i] &= UINT32_MAX;
    }
}

/* Adds number * 2^shift; the shift counts from the lowest bit. */
static void add_shifted(int64_t limb[LIMBS], unsigned __int128 number, int shift, bool negative)
{
    int at = shift / LIMB_BITS, bits = shift % LIMB_BITS;
    uint64_t low = (uint64_t)(number & UINT32_MAX) << bits;
    int64_t sign = negative ? -1 : 1;

    assert(shift >= 0);
    for (; number || low; at++) {
        limb[at] += sign * (int64_t)(low & UINT32_MAX);
        number >>= LIMB_BITS;
        low = (low >> LIMB_BITS) + ((uint64_t)(number & UINT32_MAX) << bits);
    }
}

static bool make_limbs(struct exact_sum *sum, struct arena *memory)
{
    if (!sum->limb) {
        sum->limb = arena_try_alloc(memory, LIMBS * sizeof(int64_t));
        if (sum->limb)
            memset(sum->limb, 0, LIMBS * sizeof(int64_t));
    }
    return sum->limb;
}

static bool add_double(struct exact_sum *sum, struct arena *memory, double number, uint64_t times)
{
    int exponent, shift;
    uint64_t mantissa = (uint64_t)ldexp(fabs(frexp(number, &exponent)), MANTISSA_BITS);

    if (!make_limbs(sum, memory))
        return false;
    shift = exponent - MANTISSA_BITS - LOWEST_BIT;
    if (shift < 0) { /* below the normal doubles, where the lowest bits are zero */
        mantissa >>= -shift;
        shift = 0;
    }
    add_shifted(sum->limb, (unsigned __int128)mantissa * times, shift, number < 0);
    if (++sum->uncarried == UNCARRIED_MAX) {
        carry(sum->limb);
        sum->uncarried = 0;
    }
    return true;
}

bool exact_sum_add(struct exact_sum *sum, struct arena *memory, struct value number, uint64_t times)
{
    if (number.is_int) {
        sum->whole += (__int128)number.integer * times;
        return true;
    }
    if (isfinite(number.number))
        return add_double(sum, memory, number.number, times);
    sum->has_nan |= isnan(number.number);
    sum->has_infinity |= number.number > 0;
    sum->has_minus_infinity |= number.number < 0;
    return true;
}

static bool bit_at(const int64_t limb[LIMBS], int bit)
{
    return bit >= 0 && limb[bit / LIMB_BITS] >> bit % LIMB_BITS & 1;
}

static bool any_below(const int64_t limb[LIMBS], int bit)
{
    for (int i = 0; i < bit / LIMB_BITS; i++)
        if (limb[i])
            return true;
    return bit > 0 && limb[bit / LIMB_BITS] & ((1ll << bit % LIMB_BITS) - 1);
}

/* The nearest double of a number that is carried and not negative; of two as near, the even one. */
static double nearest(const int64_t limb[LIMBS])
{
    uint64_t mantissa = 0;
    int top = LIMBS * LIMB_BITS - 1, low;

    while (top >= 0 && !bit_at(limb, top))
        top--;
    low = top < MANTISSA_BITS ? 0 : top - MANTISSA_BITS + 1;
    for (int bit = top; bit >= low; bit--)
        mantissa = mantissa << 1 | bit_at(limb, bit);
    if (bit_at(limb, low - 1) && (mantissa & 1 || any_below(limb, low - 1)))
        mantissa++;
    return ldexp((double)mantissa, low + LOWEST_BIT);
}

/* Whether it is an integer of 64 bits, which it then is. */
static bool is_small(const int64_t limb[LIMBS], uint64_t *number)
{
    *number = 0;
    if (any_below(limb, -LOWEST_BIT))
        return false;
    for (int bit = LIMBS * LIMB_BITS - 1; bit >= -LOWEST_BIT; bit--) {
        if (*number >> 62)
            return false;
        *number = *number << 1 | bit_at(limb, bit);
    }
    return true;
}

/* Integers and fractions as one number, carried and not negative; whether it is. */
static bool join_limbs(const struct exact_sum *sum, int64_t limb[LIMBS])
{
    bool negative, whole_negative = sum->whole < 0;

    if (sum->limb)
        memcpy(limb, sum->limb, LIMBS * sizeof(limb[0]));
    else
        memset(limb, 0, LIMBS * sizeof(limb[0]));
    add_shifted(limb, whole_negative ? -(unsigned __int128)sum->whole : (unsigned __int128)sum->whole,
                -LOWEST_BIT, whole_negative);
    carry(limb);
    negative = limb[LIMBS - 1] < 0;
    for (int i = 0; negative && i < LIMBS; i++)
        limb[i] = -limb[i];
    carry(limb);
    return negative;
}

static struct value result_of_limbs(const struct exact_sum *sum)
{
    int64_t limb[LIMBS];
    bool negative = join_limbs(sum, limb);
    uint64_t small;

    if (is_small(limb, &small))
        return value_int(negative ? -(int64_t)small : (int64_t)small);
    return value_double(negative ? -nearest(limb) : nearest(limb));
}

static bool is_finite(const struct exact_sum *sum)
{
    return !sum->has_nan && !sum->has_infinity && !sum->has_minus_infinity;
}

size_t exact_sum_parts(const struct exact_sum *sum, double part[EXACT_SUM_PARTS_MAX])
{
    struct exact_sum left = { 0 };
    int64_t limb[LIMBS];
    bool negative;
    size_t count = 0;

    if (!is_finite(sum)) {
        part[0] = exact_sum_result(sum).number;
        return 1;
    }
    negative = join_limbs(sum, limb);
    left.limb = limb;
    while (count < EXACT_SUM_PARTS_MAX) {
        int64_t now[LIMBS];
        bool turned = join_limbs(&left, now);
        double next = turned ? -nearest(now) : nearest(now);

        if (next == 0 || !isfinite(next))
            break;
        part[count++] = negative ? -next : next;
        add_double(&left, NULL, -next, 1);
    }
    return count;
}

struct value exact_sum_result(const struct exact_sum *sum)
{
    if (sum->has_nan || (sum->has_infinity && sum->has_minus_infinity))
        return value_double(NAN);
    if (sum->has_infinity || sum->has_minus_infinity)
        return value_double(sum->has_infinity ? INFINITY : -INFINITY);
    if (sum->limb)
        return result_of_limbs(sum);
    if (sum->whole >= INT64_MIN && sum->whole <= INT64_MAX)
        return value_int((int64_t)sum->whole);
    return value_double((double)sum->whole);
}
