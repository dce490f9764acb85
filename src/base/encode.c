/* src/base/encode.c - base64, hexadecimal, percent-encoding and HTTP dates. */
#include <assert.h>
#include <stdio.h>

#include "base/encode.h"

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put_digits(char *to, uint32_t bits)
{
    to[0] = base64_digits[bits >> 18];
    to[1] = base64_digits[bits >> 12 & 63];
    to[2] = base64_digits[bits >> 6 & 63];
    to[3] = base64_digits[bits & 63];
}

/* Four characters for the last one or two bytes. */
static void encode_rest(char *to, const uint8_t *from, size_t count)
{
    put_digits(to, (uint32_t)from[0] << 16 | (count > 1 ? (uint32_t)from[1] << 8 : 0));
    to[3] = '=';
    if (count == 1)
        to[2] = '=';
}

void base64_encode(struct buf *out, struct slice bytes)
{
    const uint8_t *from = (const uint8_t *)bytes.data;
    size_t size = (bytes.size + 2) / 3 * 4, rest = bytes.size;
    char *to = buf_reserve(out, size);

    if (!to)
        return;
    for (; rest >= 3; rest -= 3, from += 3, to += 4)
        put_digits(to, (uint32_t)from[0] << 16 | (uint32_t)from[1] << 8 | from[2]);
    if (rest)
        encode_rest(to, from, rest);
    out->size += size;
}

/* Each digit's value plus one; 0 for what is no digit. Every request has a signature to decode. */
/* clang-format off */
static const uint8_t base64_values[256] = {
    ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,  ['H'] = 8,
    ['I'] = 9, ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16,
    ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
    ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32,
    ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
    ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
    ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
    ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63, ['/'] = 64,
};
/* clang-format on */

/* The digit's value, or -1. */
static int base64_value(char c)
{
    return base64_values[(uint8_t)c] - 1;
}

/* Up to four characters, without their padding, to one byte less. */
static bool decode_group(const char *from, size_t count, uint8_t *to)
{
    uint32_t bits = 0;

    for (size_t i = 0; i < 4; i++) {
        int value = i < count ? base64_value(from[i]) : 0;

        if (value < 0)
            return false;
        bits = bits << 6 | (uint32_t)value;
    }
    for (size_t i = 0; i + 1 < count; i++)
        to[i] = (uint8_t)(bits >> (16 - 8 * i));
    /* Bits that belong to no byte must be zero, so that no two texts mean the same bytes. */
    return count == 4 || (bits & ((1u << (8 * (4 - count))) - 1)) == 0;
}

/* Four digits to three bytes; what is no digit makes the number negative. */
static bool decode_whole(const char *from, uint8_t *to)
{
    int bits = base64_value(from[0]) * (1 << 18) | base64_value(from[1]) * (1 << 12) |
               base64_value(from[2]) * (1 << 6) | base64_value(from[3]);

    to[0] = (uint8_t)(bits >> 16);
    to[1] = (uint8_t)(bits >> 8);
    to[2] = (uint8_t)bits;
    return bits >= 0;
}

bool base64_decode(struct slice text, uint8_t *bytes, size_t capacity, size_t *size)
{
    size_t padding = 0, wanted;

    if (text.size % 4 != 0)
        return false;
    while (padding < 2 && padding < text.size && text.data[text.size - 1 - padding] == '=')
        padding++;
    wanted = text.size / 4 * 3 - padding;
    if (wanted > capacity)
        return false;
    while (text.size > 4) {
        if (!decode_whole(text.data, bytes))
            return false;
        text = slice_after(text, 4);
        bytes += 3;
    }
    if (text.size && !decode_group(text.data, 4 - padding, bytes))
        return false;
    *size = wanted;
    return true;
}

static const char hex_digits[] = "0123456789ABCDEF";

static void put_hex(char *to, uint8_t byte)
{
    to[0] = hex_digits[byte >> 4];
    to[1] = hex_digits[byte & 15];
}

/* The digit's value, or -1. */
static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One byte from two digits. */
static bool get_hex(const char *from, uint8_t *byte)
{
    int high = hex_value(from[0]), low = hex_value(from[1]);

    if (high < 0 || low < 0)
        return false;
    *byte = (uint8_t)(high << 4 | low);
    return true;
}

void hex_encode_upper(struct buf *out, struct slice bytes)
{
    char *to = buf_reserve(out, 2 * bytes.size);

    if (!to)
        return;
    for (size_t i = 0; i < bytes.size; i++)
        put_hex(to + 2 * i, (uint8_t)bytes.data[i]);
    out->size += 2 * bytes.size;
}

bool hex_decode(struct slice text, uint8_t *bytes, size_t capacity, size_t *size)
{
    if (text.size % 2 != 0 || text.size / 2 > capacity)
        return false;
    for (size_t i = 0; i < text.size / 2; i++)
        if (!get_hex(text.data + 2 * i, bytes + i))
            return false;
    *size = text.size / 2;
    return true;
}

bool percent_decode(struct arena *arena, struct slice text, struct slice *decoded)
{
    size_t size = 0;
    char *out;

    if (text.size == 0 || !memchr(text.data, '%', text.size)) { /* nearly always */
        *decoded = text;
        return true;
    }
    out = arena_try_alloc(arena, text.size);
    if (!out)
        return false;
    while (text.size) {
        const char *escape = memchr(text.data, '%', text.size);
        size_t plain = escape ? (size_t)(escape - text.data) : text.size;

        memcpy(out + size, text.data, plain);
        size += plain;
        text = slice_after(text, plain);
        if (text.size == 0)
            break;
        if (text.size < 3 || !get_hex(text.data + 1, (uint8_t *)out + size))
            return false;
        size++;
        text = slice_after(text, 3);
    }
    *decoded = slice_make(out, size);
    return true;
}

static bool is_unreserved(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

void percent_encode(struct buf *out, struct slice text)
{
    char *to = buf_reserve(out, 3 * text.size);

    if (!to)
        return;
    for (size_t i = 0; i < text.size; i++) {
        if (is_unreserved(text.data[i])) {
            *to++ = text.data[i];
            continue;
        }
        *to++ = '%';
        put_hex(to, (uint8_t)text.data[i]);
        to += 2;
    }
    out->size = (size_t)(to - out->data);
}

static const char weekdays[7][4] = {
    "Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"
}; /* 1970 began on a Thursday */
static const char months[12][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };

enum { SECONDS_PER_DAY = 24 * 60 * 60 };

struct civil {
    int64_t year;
    int month, day; /* from 1 */
};

/*
 * Days since 1970 of a date in the Gregorian calendar. Years are counted from March, so that
 * the leap day is a year's last; 400 years have 146,097 days.
 */
static int64_t days_from_civil(struct civil date)
{
    int64_t year = date.month <= 2 ? date.year - 1 : date.year;
    int64_t month = (date.month + 9) % 12;

    return 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + date.day - 1 - 719468;
}

static bool is_leap(int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_in_month(int64_t year, int month)
{
    static const int days[12] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

    return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

static struct civil civil_from_days(int64_t days)
{
    struct civil date = { 1970 + days / 366, 1, 1 }; /* never a later year than the right one */

    while (days_from_civil((struct civil){ date.year + 1, 1, 1 }) <= days)
        date.year++;
    days -= days_from_civil(date);
    while (days >= days_in_month(date.year, date.month))
        days -= days_in_month(date.year, date.month++);
    date.day = (int)days + 1;
    return date;
}

static int64_t within(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

void http_date_format(int64_t ms, char date[HTTP_DATE_SIZE + 1])
{
    const int64_t last_of_9999 = 253402300799;
    int64_t seconds = within(ms / 1000, 0, last_of_9999);
    int64_t days = seconds / SECONDS_PER_DAY;
    struct civil civil = civil_from_days(days);
    int second = (int)(seconds % SECONDS_PER_DAY);
    int size;

    assert(civil.year >= 1970 && civil.year <= 9999);
    size = snprintf(date, HTTP_DATE_SIZE + 1, "%s, %02d %s %04d %02d:%02d:%02d GMT", weekdays[days % 7],
                    civil.day, months[civil.month - 1], (int)civil.year, second / 3600, second / 60 % 60,
                    second % 60);
    assert(size == HTTP_DATE_SIZE);
}

/* Three letters as a number, the same in either case; no other three bytes have that of letters. */
static uint32_t letters(const char *from)
{
    return ((uint32_t)(uint8_t)from[0] << 16 | (uint32_t)(uint8_t)from[1] << 8 | (uint8_t)from[2]) | 0x202020;
}

/* The name's place in the list, from 0, or -1. */
static int name_index(const char *name, const char names[][4], int count)
{
    uint32_t wanted = letters(name);

    for (int i = 0; i < count; i++)
        if (letters(names[i]) == wanted)
            return i;
    return -1;
}

/* The number that two digits of the date make, or one so far below 0 that no others make up for it. */
static int two_digits(struct slice date, size_t at)
{
    unsigned tens = (unsigned)(date.data[at] - '0'), ones = (unsigned)(date.data[at + 1] - '0');

    return tens <= 9 && ones <= 9 ? (int)(10 * tens + ones) : -1000 * 1000;
}

/* Letters and digits replaced, a date looks like this. */
static bool date_has_shape(struct slice date)
{
    static const char shape[] = "aaa, 00 aaa 0000 00:00:00 aaa";
    static const uint8_t marks[] = { 3, 4, 7, 11, 16, 19, 22, 25 };

    if (date.size != HTTP_DATE_SIZE)
        return false;
    for (size_t i = 0; i < sizeof(marks); i++)
        if (shape[marks[i]] != date.data[marks[i]])
            return false;
    return true;
}

/* Go writes UTC. */
static bool date_is_universal(const char *zone)
{
    return letters(zone) == letters("GMT") || letters(zone) == letters("UTC");
}

bool http_date_parse(struct slice date, int64_t *ms)
{
    struct civil civil;
    int hour, minute, second;

    if (!date_has_shape(date) || name_index(date.data, weekdays, 7) < 0 || !date_is_universal(date.data + 26))
        return false;
    civil.day = two_digits(date, 5);
    civil.month = 1 + name_index(date.data + 8, months, 12);
    civil.year = 100 * two_digits(date, 12) + two_digits(date, 14);
    hour = two_digits(date, 17);
    minute = two_digits(date, 20);
    second = two_digits(date, 23);
    if (civil.year < 1 || civil.month < 1 || civil.day < 1 ||
        civil.day > days_in_month(civil.year, civil.month))
        return false;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
        second > 60) /* 60: a leap second */
        return false;
    *ms = 1000 * (days_from_civil(civil) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second);
    return true;
}

/* ---- JSON strings ---- */

/* How many bytes the letter has that begins here, in UTF-8; 0: none does. */
static size_t letter_bytes(struct slice text)
{
    unsigned char first = (unsigned char)text.data[0];
    size_t size = first < 0x80                    ? 1
                  : first >= 0xc2 && first < 0xe0 ? 2
                  : first >= 0xe0 && first < 0xf0 ? 3
                                                  : 4;
    unsigned char second = size > 1 && text.size > 1 ? (unsigned char)text.data[1] : 0;

    if (size > text.size || (size == 4 && (first < 0xf0 || first > 0xf4)))
        return 0;
    for (size_t i = 1; i < size; i++)
        if (((unsigned char)text.data[i] & 0xc0) != 0x80)
            return 0;
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) || /* overlong, and surrogates */
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
        return 0;
    return size;
}

size_t quoted_write(char *to, size_t room, struct slice text)
{
    size_t size = 0;

    while (text.size && room - size >= QUOTED_BYTES_MAX) {
        size_t letter = letter_bytes(text);
        unsigned char byte = (unsigned char)text.data[0];

        if (letter == 0) {
            for (const char *at = "\xef\xbf\xbd"; *at; at++)
                to[size++] = *at;
            letter = 1;
        } else if (byte == '"' || byte == '\\') {
            to[size++] = '\\';
            to[size++] = (char)byte;
        } else if (byte < 0x20) {
            static const char digits[] = "0123456789abcdef";

            for (const char *at = "\\u00"; *at; at++)
                to[size++] = *at;
            to[size++] = digits[byte >> 4];
            to[size++] = digits[byte & 15];
        } else {
            memcpy(to + size, text.data, letter);
            size += letter;
        }
        text = slice_after(text, letter);
    }
    return size;
}
