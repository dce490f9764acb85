/* src/query/eval/chars.c - characters of UTF-8, and finding one string in another. */
#include <utf8proc.h>

#include "query/eval/chars.h"

/* Up to so many bytes are looked for at every place; more need an algorithm that never goes back. */
enum { PART_SHORT_MAX = 32 };

enum { UTF8_SIZE_MAX = 4 };

static bool is_ascii(struct slice text)
{
    size_t i = 0;
    uint64_t word, seen = 0;

    for (; i + sizeof(word) <= text.size; i += sizeof(word)) {
        memcpy(&word, text.data + i, sizeof(word));
        seen |= word;
    }
    for (; i < text.size; i++)
        seen |= (uint8_t)text.data[i];
    return !(seen & 0x8080808080808080u);
}

static bool is_continuation(char byte)
{
    return (byte & 0xc0) == 0x80;
}

size_t chars_length(struct slice text)
{
    size_t count = 0;

    if (is_ascii(text))
        return text.size;
    for (size_t i = 0; i < text.size; i++)
        count += !is_continuation(text.data[i]);
    return count;
}

static size_t sequence_size(uint8_t lead)
{
    return lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

uint32_t chars_next(const char **at, const char *end)
{
    static const uint8_t lead_bits[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
    const char *from = *at;
    uint8_t lead = (uint8_t)*from;
    size_t size = sequence_size(lead);
    uint32_t character = lead & lead_bits[size];

    *at += 1;
    for (size_t i = 1; i < size && *at < end && is_continuation(**at); i++)
        character = character << 6 | (uint8_t)(*(*at)++ & 0x3f);
    return character;
}

size_t chars_offset(struct slice text, uint64_t character)
{
    const char *at = text.data, *end = text.data + text.size;

    if (character >= text.size)
        return text.size; /* a character has at least a byte */
    if (is_ascii(slice_make(text.data, character)))
        return character;
    for (; character && at < end; character--)
        chars_next(&at, end);
    return (size_t)(at - text.data);
}

uint32_t chars_previous(const char *start, const char **at)
{
    const char *end = *at, *from = end - 1;

    while (from > start && end - from < UTF8_SIZE_MAX && is_continuation(*from))
        from--;
    *at = from;
    return chars_next(&from, end);
}

/* As .NET and the Unicode property have it. */
bool chars_is_blank(uint32_t c)
{
    if (c < 0x80)
        return c == ' ' || (c >= '\t' && c <= '\r');
    return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
           c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

/* Letters from `first` on change their case: 'A' makes small letters, 'a' capitals. */
static uint8_t flip_case(uint8_t c, char first)
{
    return (uint8_t)(c ^ ((unsigned)(c - first) < 26) << 5);
}

static uint8_t ascii_lower(uint8_t c)
{
    return flip_case(c, 'A');
}

static uint32_t unicode_lower(uint32_t c)
{
    return (uint32_t)utf8proc_tolower((utf8proc_int32_t)c);
}

static uint32_t unicode_upper(uint32_t c)
{
    return (uint32_t)utf8proc_toupper((utf8proc_int32_t)c);
}

enum { SHARP_S = 0xdf };

/*
 * As on the service, a letter has another case only where that one's other case is the letter again: sharp s, final
 * sigma, the Turkish letters, the signs for ohm, kelvin and angstrom, and title case stay as they are.
 */
static uint32_t char_lower(uint32_t c)
{
    uint32_t lower;

    if (c < 0x80)
        return ascii_lower((uint8_t)c);
    lower = unicode_lower(c);
    return unicode_upper(lower) == c && lower != SHARP_S ? lower : c;
}

static uint32_t char_upper(uint32_t c)
{
    uint32_t upper;

    if (c < 0x80)
        return flip_case((uint8_t)c, 'a');
    upper = unicode_upper(c);
    return unicode_lower(upper) == c && c != SHARP_S ? upper : c;
}

size_t chars_of_lower(uint32_t lower, uint32_t from[2])
{
    size_t count = 0;

    if (char_lower(lower) == lower)
        from[count++] = lower;
    if (char_upper(lower) != lower)
        from[count++] = char_upper(lower);
    return count;
}

size_t chars_of_upper(uint32_t upper, uint32_t from[2])
{
    size_t count = 0;

    if (char_upper(upper) == upper)
        from[count++] = upper;
    if (char_lower(upper) != upper)
        from[count++] = char_lower(upper);
    return count;
}

uint32_t chars_to_lower(uint32_t character)
{
    return char_lower(character);
}

#define EACH_BYTE(byte) (0x0101010101010101u * (uint8_t)(byte))

/* The same for eight bytes of ASCII: the top bit, which none has set, says which lie in the range. */
static uint64_t flip_word(uint64_t word, char first)
{
    uint64_t from = word + EACH_BYTE(0x80 - first), past = word + EACH_BYTE(0x80 - first - 26);

    return word ^ ((from ^ past) & EACH_BYTE(0x80)) >> 2;
}

static void map_ascii(char *to, struct slice ascii, char first)
{
    uint64_t word;
    size_t i = 0;

    for (; i + sizeof(word) <= ascii.size; i += sizeof(word)) {
        memcpy(&word, ascii.data + i, sizeof(word));
        word = flip_word(word, first);
        memcpy(to + i, &word, sizeof(word));
    }
    for (; i < ascii.size; i++)
        to[i] = (char)flip_case((uint8_t)ascii.data[i], first);
}

static void map_chars(struct buf *out, struct slice text, uint32_t map(uint32_t))
{
    const char *at = text.data, *end = text.data + text.size;

    while (at < end && !out->failed) {
        char *to = buf_reserve(out, UTF8_SIZE_MAX);
        uint32_t character = map(chars_next(&at, end));

        if (to)
            out->size += (size_t)utf8proc_encode_char((utf8proc_int32_t)character, (utf8proc_uint8_t *)to);
    }
}

struct value chars_built(struct eval *eval, const struct buf *buf)
{
    if (buf->failed)
        return eval_fail(eval, ST_QUERY_MEMORY);
    return value_string(buf_as_slice(buf));
}

static struct value mapped(struct eval *eval, struct slice text, char first, uint32_t any(uint32_t))
{
    struct buf out;
    char *to;

    if (is_ascii(text)) {
        to = eval_alloc(eval, text.size);
        if (!to)
            return value_undefined;
        map_ascii(to, text, first);
        return value_string(slice_make(to, text.size));
    }
    buf_init(&out, &eval->op->arena);
    map_chars(&out, text, any);
    return chars_built(eval, &out);
}

struct value chars_upper(struct eval *eval, struct slice text)
{
    return mapped(eval, text, 'a', char_upper);
}

struct value chars_lower(struct eval *eval, struct slice text)
{
    return mapped(eval, text, 'A', char_lower);
}

size_t chars_find(struct slice text, struct slice part)
{
    const char *found;

    if (part.size == 0)
        return 0;
    found = memmem(text.data, text.size, part.data, part.size);
    return found ? (size_t)(found - text.data) : CHARS_NONE;
}

static struct slice reversed(struct eval *eval, struct slice text)
{
    char *to = eval_alloc(eval, text.size);

    if (to)
        for (size_t i = 0; i < text.size; i++)
            to[i] = text.data[text.size - 1 - i];
    return slice_make(to, text.size);
}

/* Forward through the bytes in reverse: there is a linear search for that direction only. */
static size_t find_last_long(struct eval *eval, struct slice text, struct slice part)
{
    struct slice backward = reversed(eval, text), wanted = reversed(eval, part);
    size_t found;

    if (!backward.data || !wanted.data)
        return CHARS_NONE;
    found = chars_find(backward, wanted);
    return found == CHARS_NONE ? CHARS_NONE : text.size - part.size - found;
}

size_t chars_find_last(struct eval *eval, struct slice text, struct slice part)
{
    if (part.size > text.size)
        return CHARS_NONE;
    if (part.size > PART_SHORT_MAX)
        return find_last_long(eval, text, part);
    for (size_t at = text.size - part.size + 1; at-- > 0;)
        if (memcmp(text.data + at, part.data, part.size) == 0)
            return at;
    return CHARS_NONE;
}

bool chars_starts(struct slice text, struct slice part)
{
    return text.size >= part.size && slice_equal(slice_make(text.data, part.size), part);
}

bool chars_ends(struct slice text, struct slice part)
{
    return text.size >= part.size && slice_equal(slice_after(text, text.size - part.size), part);
}

/* A short part of ASCII: bytes against bytes, because nothing outside ASCII can equal it. */
static bool contains_ascii(struct slice text, struct slice part)
{
    char wanted[PART_SHORT_MAX];

    map_ascii(wanted, part, 'A');
    for (size_t at = 0; at + part.size <= text.size; at++) {
        size_t same = 0;

        while (same < part.size && ascii_lower((uint8_t)text.data[at + same]) == (uint8_t)wanted[same])
            same++;
        if (same == part.size)
            return true;
    }
    return false;
}

bool chars_contains_nocase(struct eval *eval, struct slice text, struct slice part)
{
    struct buf folded, wanted;

    if (part.size <= PART_SHORT_MAX && is_ascii(part))
        return contains_ascii(text, part);
    buf_init(&folded, &eval->op->arena);
    map_chars(&folded, text, char_lower);
    buf_init(&wanted, &eval->op->arena);
    map_chars(&wanted, part, char_lower);
    if (folded.failed || wanted.failed)
        return chars_built(eval, folded.failed ? &folded : &wanted), false;
    return chars_find(buf_as_slice(&folded), buf_as_slice(&wanted)) != CHARS_NONE;
}

/* Whether the whole of `part` is in front of `text`; `rest` is what follows it there. */
static bool fold_prefix(struct slice text, struct slice part, struct slice *rest)
{
    const char *a = text.data, *a_end = a + text.size, *b = part.data, *b_end = b + part.size;

    while (b < b_end)
        if (a == a_end || char_lower(chars_next(&a, a_end)) != char_lower(chars_next(&b, b_end)))
            return false;
    *rest = slice_make(a, (size_t)(a_end - a));
    return true;
}

bool chars_starts_nocase(struct slice text, struct slice part)
{
    struct slice rest;

    return fold_prefix(text, part, &rest);
}

bool chars_equal_nocase(struct slice a, struct slice b)
{
    struct slice rest;

    return fold_prefix(a, b, &rest) && rest.size == 0;
}

bool chars_ends_nocase(struct slice text, struct slice part)
{
    const char *a = text.data + text.size, *b = part.data + part.size;

    while (b > part.data)
        if (a == text.data ||
            char_lower(chars_previous(text.data, &a)) != char_lower(chars_previous(part.data, &b)))
            return false;
    return true;
}
