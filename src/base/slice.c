/* src/base/slice.c - the parts of slice.h that are longer than a line. */
#include "base/slice.h"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

enum { WORD = 8 };

bool slice_equal_nocase(struct slice a, struct slice b)
{
    size_t i = 0;

    if (a.size != b.size)
        return false;
    while (i < a.size) {
        if (a.size - i >= WORD && memcmp(a.data + i, b.data + i, WORD) == 0) {
            i += WORD; /* most often both are in lower case */
            continue;
        }
        if (lower(a.data[i]) != lower(b.data[i]))
            return false;
        i++;
    }
    return true;
}

bool slice_is_nocase(struct slice a, const char *text)
{
    return slice_equal_nocase(a, slice_of(text));
}

struct slice slice_trim(struct slice a)
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
