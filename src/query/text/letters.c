/*
 * src/query/text/letters.c - letters, digits and blanks beyond ASCII, as the service's compiler has them.
 * It takes characters of up to 16 bits only, and letters of an older Unicode than today's.
 */
#include <stdbool.h>
#include <stdint.h>

#include "query/text/letters.h"

struct letter_range {
    uint16_t first, last;
};

/* Both in order: lookup halves them. */
static const struct letter_range letters[] = {
#define LETTERS(first, last) { first, last },
#define DIGITS(first, last)
#include "query/text/letters.def"
#undef DIGITS
#undef LETTERS
};

static const struct letter_range digits[] = {
#define LETTERS(first, last)
#define DIGITS(first, last) { first, last },
#include "query/text/letters.def"
#undef DIGITS
#undef LETTERS
};

static bool is_among(const struct letter_range *range, size_t count, uint32_t code)
{
    size_t low = 0;

    while (low < count) {
        size_t middle = (low + count) / 2;

        if (code >= range[middle].first && code <= range[middle].last)
            return true;
        if (code < range[middle].first)
            count = middle;
        else
            low = middle + 1;
    }
    return false;
}

static bool is_blank(uint32_t code)
{
    return code == 0x85 || code == 0xa0 || code == 0x1680 || code == 0x180e ||
           (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 || code == 0x202f ||
           code == 0x205f || code == 0x3000;
}

/* Behind a leading byte come as many as it says, six bits each. */
static uint32_t decode(const char *at, size_t *size)
{
    uint8_t lead = (uint8_t)at[0];
    uint32_t code;

    *size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    code = lead & (0x7fU >> *size);
    for (size_t i = 1; i < *size; i++)
        code = code << 6 | ((uint8_t)at[i] & 0x3f);
    return code;
}

enum letter letter_read(const char *at, size_t *size)
{
    uint32_t code = decode(at, size);

    if (is_among(letters, sizeof(letters) / sizeof(letters[0]), code))
        return LETTER_FIRST;
    if (is_among(digits, sizeof(digits) / sizeof(digits[0]), code))
        return LETTER_LATER;
    return is_blank(code) ? LETTER_BLANK : LETTER_NONE;
}
