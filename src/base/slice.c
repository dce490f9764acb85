/* src/base/slice.c - the parts of slice.h that are longer than a line. */
#include "base/slice.h"

enum { WORD = 8, HALF = 4 };

/* A bit is set in each byte that is a capital letter: the one in which it differs from the small letter. */
static uint64_t capitals(uint64_t word)
{
    const uint64_t ones = UINT64_MAX / 255, low = ones * 0x7f;
    uint64_t from_a = (word & low) + ones * (0x80 - 'A'), past_z = (word & low) + ones * (0x7f - 'Z');

    return (from_a & ~past_z & ~word & ones * 0x80) >> 2;
}

static uint64_t lower_word(const char *from, size_t size)
{
    uint64_t word = 0;

    memcpy(&word, from, size);
    return word | capitals(word);
}

static bool equal_words(const char *a, const char *b, size_t size)
{
    return lower_word(a, size) == lower_word(b, size);
}

/* The last word reaches back into the one before. */
bool slice_equal_nocase(struct slice a, struct slice b)
{
    size_t at = 0;

    if (a.size != b.size)
        return false;
    for (; a.size - at >= WORD; at += WORD)
        if (!equal_words(a.data + at, b.data + at, WORD))
            return false;
    if (at == a.size)
        return true;
    if (a.size >= WORD)
        return equal_words(a.data + a.size - WORD, b.data + a.size - WORD, WORD);
    if (a.size >= HALF)
        return equal_words(a.data, b.data, HALF) &&
               equal_words(a.data + a.size - HALF, b.data + a.size - HALF, HALF);
    for (; at < a.size; at++)
        if (!equal_words(a.data + at, b.data + at, 1))
            return false;
    return true;
}

void slice_lower(struct slice a, char *to)
{
    size_t at = 0;

    for (; a.size - at >= WORD; at += WORD) {
        uint64_t word = lower_word(a.data + at, WORD);

        memcpy(to + at, &word, WORD);
    }
    for (; at < a.size; at++)
        to[at] = (char)lower_word(a.data + at, 1);
}

struct slice slice_trim_blanks(struct slice a)
{
    while (a.size && (a.data[0] == ' ' || a.data[0] == '\t'))
        a = slice_after(a, 1);
    while (a.size && (a.data[a.size - 1] == ' ' || a.data[a.size - 1] == '\t'))
        a.size--;
    return a;
}

bool slice_to_u64(struct slice a, uint64_t *number)
{
    uint64_t value = 0;

    if (a.size == 0)
        return false;
    for (size_t i = 0; i < a.size; i++) {
        uint64_t digit = (uint64_t)(a.data[i] - '0');

        if (digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *number = value;
    return true;
}

bool slice_to_i64(struct slice a, int64_t *number)
{
    bool negative = a.size > 0 && a.data[0] == '-';
    uint64_t magnitude;

    if (!slice_to_u64(negative ? slice_after(a, 1) : a, &magnitude) || magnitude > INT64_MAX)
        return false;
    *number = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}
