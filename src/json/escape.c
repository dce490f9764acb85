/* src/json/escape.c - \uXXXX to a character, a character to UTF-8. */
#include "json/escape.h"

int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int hex4(const uint8_t *at, const uint8_t *end)
{
    int code = 0;

    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);

        if (digit < 0)
            return -1;
        code = code * 16 + digit;
    }
    return code;
}

uint8_t *utf8_put(uint8_t *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (uint8_t)code;
    } else if (code < 0x800) {
        *to++ = (uint8_t)(0xc0 | code >> 6);
        *to++ = (uint8_t)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *to++ = (uint8_t)(0xe0 | code >> 12);
        *to++ = (uint8_t)(0x80 | (code >> 6 & 0x3f));
        *to++ = (uint8_t)(0x80 | (code & 0x3f));
    } else {
        *to++ = (uint8_t)(0xf0 | code >> 18);
        *to++ = (uint8_t)(0x80 | (code >> 12 & 0x3f));
        *to++ = (uint8_t)(0x80 | (code >> 6 & 0x3f));
        *to++ = (uint8_t)(0x80 | (code & 0x3f));
    }
    return to;
}

size_t unicode_escape(const uint8_t *at, const uint8_t *end, uint32_t *code)
{
    int first = hex4(at + 1, end), second;

    if (first < 0)
        return 0;
    *code = (uint32_t)first;
    if (first < 0xd800 || first > 0xdfff)
        return 5;
    if (first > 0xdbff || end - at < 11 || at[5] != '\\' || at[6] != 'u')
        return 0;
    second = hex4(at + 7, end);
    if (second < 0xdc00 || second > 0xdfff)
        return 0;
    *code = 0x10000 + ((uint32_t)(first - 0xd800) << 10) + (uint32_t)(second - 0xdc00);
    return 11;
}
