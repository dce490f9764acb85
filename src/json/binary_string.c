/*
 * src/json/binary_string.c - the strings of binary JSON to bytes of ours.
 * Some are there as text, some are known by number or by the place of another, and some are packed: they are unpacked
 * where they are going to be, behind room for the longest header.
 */
#include "json/binary_reader.h"

enum { GUID_BYTES = 16, GUID_TEXT = 36 };

#define TEXT(text)             \
    {                          \
        text, sizeof(text) - 1 \
    }
/* clang-format off */
const struct slice binary_system_strings[SYSTEM_STRINGS] = {
    TEXT("$s"), TEXT("$t"), TEXT("$v"), TEXT("_attachments"), TEXT("_etag"), TEXT("_rid"), TEXT("_self"), TEXT("_ts"),
    TEXT("attachments/"), TEXT("coordinates"), TEXT("geometry"), TEXT("GeometryCollection"), TEXT("id"), TEXT("url"),
    TEXT("Value"), TEXT("label"), TEXT("LineString"), TEXT("link"), TEXT("MultiLineString"), TEXT("MultiPoint"),
    TEXT("MultiPolygon"), TEXT("name"), TEXT("Name"), TEXT("Type"), TEXT("Point"), TEXT("Polygon"), TEXT("properties"),
    TEXT("type"), TEXT("value"), TEXT("Feature"), TEXT("FeatureCollection"), TEXT("_id"),
};
/* clang-format on */
#undef TEXT

/* Whether it is UTF-8, and whether JSON must escape some of it. */
static bool look_at(const uint8_t *at, const uint8_t *end, bool *escaped)
{
    size_t size;

    for (*escaped = false; at < end; at += size) {
        size = count_plain(at, end);
        if (size)
            continue;
        size = utf8_sequence(at, end);
        if (!size)
            return false;
        *escaped |= byte_escapes(*at);
    }
    return true;
}

static bool put_text(struct reader *r, const uint8_t *from, size_t size)
{
    struct parser *p = &r->p;
    bool escaped;

    if (!reader_room(r, size))
        return false;
    if (!look_at(from, from + size, &escaped))
        return parser_fail(p, "Invalid UTF-8");
    p->to = put_string_header(p->to, size, escaped);
    copy_short(p->to, from, size);
    p->to += size;
    return true;
}

/* Where the characters of a string go that is made here: behind the longest header. NULL when there is no room. */
static uint8_t *begin_made(struct reader *r, size_t size_max)
{
    return reader_room(r, size_max) ? r->p.to + STRING_HEADER : NULL;
}

static bool end_made(struct reader *r, size_t size, bool escaped)
{
    struct parser *p = &r->p;
    uint8_t *body = p->to + STRING_HEADER, *start = put_string_header(p->to, size, escaped);

    if (start != body)
        memmove(start, body, size);
    p->to = start + size;
    return true;
}

/* The same for characters that may be any. There is room behind them, so that their last block is looked at as a whole. */
static bool end_any(struct reader *r, size_t size)
{
    const uint8_t *at = r->p.to + STRING_HEADER, *end = at + size;
    bool escaped = false;
    uint64_t mask;

    while (end - at >= BLOCK && !block_not_plain(at))
        at += BLOCK;
    mask = block_not_plain(at);
    if (mask && first_in_mask(mask) < (size_t)(end - at) && !look_at(at, end, &escaped))
        return parser_fail(&r->p, "Invalid UTF-8");
    return end_made(r, size, escaped);
}

/* Plain text of any size; p.at is at its first byte. */
bool reader_plain(struct reader *r, uint64_t size)
{
    if (size > reader_left(r))
        return reader_fail_end(r);
    if (!put_text(r, r->p.at, (size_t)size))
        return false;
    r->p.at += size;
    return true;
}

static bool read_long(struct reader *r, uint8_t marker)
{
    uint64_t size;

    return reader_take(r, (size_t)1 << (marker - BINARY_STRING_1), &size) && reader_plain(r, size);
}

/* One of the strings that the format knows; JSON escapes nothing of them. */
static bool put_system(struct reader *r, uint8_t marker)
{
    struct slice text = binary_system_strings[marker - BINARY_SYSTEM];

    if (!reader_room(r, text.size))
        return false;
    r->p.to = put_string_header(r->p.to, text.size, false);
    r->p.to = mempcpy(r->p.to, text.data, text.size);
    return true;
}

/* Reads the plain string that stands at `at`, and goes on where it was. */
static bool read_plain_at(struct reader *r, const uint8_t *at)
{
    const uint8_t *here = r->p.at, *end = r->end;
    uint8_t marker = *at;
    bool good;

    r->p.at = at + 1;
    r->end = r->p.end;
    good = marker < BINARY_STRING_1 ? reader_plain(r, marker - BINARY_SHORT_STRING) : read_long(r, marker);
    if (!good)
        return false;
    r->p.at = here;
    r->end = end;
    return true;
}

/* Leads back to a plain string or a system string, and not to another reference: so there is no way in a circle. */
static bool read_reference(struct reader *r, uint8_t marker)
{
    const uint8_t *self = r->p.at - 1, *target;
    uint64_t place;

    if (!reader_take(r, (size_t)(marker - BINARY_REFERENCE_1) + 1, &place))
        return false;
    if (place == 0 || place >= (uint64_t)(self - r->p.text))
        return parser_fail(&r->p, "A reference that leads to no string");
    target = r->p.text + place;
    if (*target >= BINARY_SYSTEM && *target < BINARY_USER)
        return put_system(r, *target);
    if (*target >= BINARY_SHORT_STRING && *target < BINARY_REFERENCE_1)
        return read_plain_at(r, target);
    return parser_fail(&r->p, "A reference that leads to no string");
}

/* The digits of a GUID as text, with its dashes. A nibble each, the low one of a byte first. */
static uint8_t *put_guid(uint8_t *to, const uint8_t *bytes, const char *digits)
{
    for (size_t i = 0; i < GUID_BYTES; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *to++ = '-';
        *to++ = (uint8_t)digits[bytes[i] & 15];
        *to++ = (uint8_t)digits[bytes[i] >> 4];
    }
    return to;
}

static const char hex_lower[] = "0123456789abcdef", hex_upper[] = "0123456789ABCDEF",
                  date_digits[] = " 0123456789:-.TZ";

static bool read_guid(struct reader *r, uint8_t marker)
{
    bool quoted = marker == BINARY_GUID_QUOTED;
    uint8_t *body = begin_made(r, GUID_TEXT + 2), *to = body;

    if (!body)
        return false;
    if (reader_left(r) < GUID_BYTES)
        return reader_fail_end(r);
    if (quoted)
        *to++ = '"';
    to = put_guid(to, r->p.at, marker == BINARY_GUID_UPPER ? hex_upper : hex_lower);
    if (quoted)
        *to++ = '"';
    r->p.at += GUID_BYTES;
    return end_made(r, (size_t)(to - body), quoted);
}

/* A GUID that is a value of its own kind: bytes as Windows lays them out, whose first three groups are numbers. */
bool reader_guid_value(struct reader *r)
{
    static const uint8_t order[GUID_BYTES] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
    uint8_t *body = begin_made(r, GUID_TEXT), bytes[GUID_BYTES];

    if (!body)
        return false;
    if (reader_left(r) < GUID_BYTES)
        return reader_fail_end(r);
    for (size_t i = 0; i < GUID_BYTES; i++)
        bytes[i] = (uint8_t)(r->p.at[order[i]] << 4 | r->p.at[order[i]] >> 4);
    put_guid(body, bytes, hex_lower);
    r->p.at += GUID_BYTES;
    return end_made(r, GUID_TEXT, false);
}

/* Text of sixteen different characters, four bits each. */
static bool read_digits(struct reader *r, uint8_t marker)
{
    const char *digits = marker == BINARY_HEX_LOWER   ? hex_lower
                         : marker == BINARY_HEX_UPPER ? hex_upper
                                                      : date_digits;
    uint8_t *body;
    uint64_t size;
    size_t bytes;

    if (!reader_take(r, 1, &size))
        return false;
    bytes = (size_t)(size + 1) / 2;
    body = begin_made(r, (size_t)size + 1);
    if (!body)
        return false;
    if (reader_left(r) < bytes)
        return reader_fail_end(r);
    if (size % 2 && r->p.at[bytes - 1] >> 4)
        return parser_fail(&r->p, "Bits that belong to no character");
    for (size_t i = 0; i < bytes; i++) {
        body[2 * i] = (uint8_t)digits[r->p.at[i] & 15];
        body[2 * i + 1] = (uint8_t)digits[r->p.at[i] >> 4];
    }
    r->p.at += bytes;
    return end_made(r, (size_t)size, false);
}

/* Eight characters of `width` bits each, the first in the lowest bits, become eight bytes: in halves, thrice. */
static inline uint64_t spread(uint64_t packed, unsigned width)
{
    uint64_t four = ((uint64_t)1 << 4 * width) - 1, two = ((uint64_t)1 << 2 * width) - 1,
             one = ((uint64_t)1 << width) - 1;

    two *= 0x0000000100000001u;
    one *= 0x0001000100010001u;
    packed = (packed & four) | (packed << (32 - 4 * width) & four << 32);
    packed = (packed & two) | (packed << (16 - 2 * width) & two << 16);
    return (packed & one) | (packed << (8 - width) & one << 8);
}

/* Eight characters at a time. Near the end of all bytes no more are loaded than there are. */
static inline void unpack(const struct reader *r, uint8_t *to, size_t bytes, unsigned width, uint8_t base)
{
    const uint8_t *at = r->p.at, *end = at + bytes, *near = end;
    uint64_t each = base * 0x0101010101010101u;

    if (r->p.end - end < 8)
        near = bytes < 8 ? at : end - 7;
    for (; at < near; at += width, to += 8)
        store_u64(to, spread(load_u64(at), width) + each);
    for (; at < end; at += width, to += 8)
        store_u64(to, spread(reader_load(at, (size_t)(end - at)), width) + each);
}

static bool read_packed_text(struct reader *r, size_t size, unsigned width, uint8_t base)
{
    size_t bytes = (size * width + 7) / 8;
    uint8_t *body = begin_made(r, size + 8);

    if (!body)
        return false;
    if (reader_left(r) < bytes)
        return reader_fail_end(r);
    if (base >= 0x80) /* all of it is ASCII, so that nothing runs over into the next character */
        return parser_fail(&r->p, "Packed text that is not ASCII");
    if (width == 7) /* as most have it: written out for it */
        unpack(r, body, bytes, 7, 0);
    else
        unpack(r, body, bytes, width, base);
    r->p.at += bytes;
    return end_any(r, size);
}

static bool read_packed(struct reader *r, uint8_t marker)
{
    bool is_wide = marker == BINARY_PACKED_7_2, has_base = marker < BINARY_PACKED_7_1;
    unsigned width = has_base ? 4u + marker - BINARY_PACKED_4 : 7;
    uint64_t size, base = 0;

    if (!reader_take(r, is_wide ? 2 : 1, &size) || (has_base && !reader_take(r, 1, &base)))
        return false;
    return read_packed_text(r, (size_t)size, width, (uint8_t)base);
}

static uint8_t *put_base64(uint8_t *to, const uint8_t *bytes, size_t size, bool for_url)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_";

    for (size_t i = 0; i < size; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16 | (i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (i + 2 < size ? bytes[i + 2] : 0);

        for (int shift = 18; shift >= 0; shift -= 6) {
            unsigned digit = three >> shift & 63;

            *to++ = (uint8_t)alphabet[digit >= 62 && for_url ? digit + 2 : digit];
        }
    }
    return to;
}

/* `pad` characters at the end carry nothing; whether they are there as equals signs. */
static bool read_base64_text(struct reader *r, size_t quads, size_t pad, bool padded, bool for_url)
{
    size_t bytes = 3 * quads - pad;
    uint8_t *body = begin_made(r, 4 * quads), *to;

    if (!body)
        return false;
    if (reader_left(r) < bytes)
        return reader_fail_end(r);
    to = put_base64(body, r->p.at, bytes, for_url);
    if (padded)
        memset(to - pad, '=', pad);
    r->p.at += bytes;
    return end_made(r, 4 * quads - (padded ? 0 : pad), false);
}

static bool read_base64(struct reader *r, uint8_t marker)
{
    size_t width = (size_t)(marker - BINARY_BASE64_1) % 2 + 1;
    bool for_url = marker >= BINARY_BASE64URL_1;
    uint64_t quads, pad;

    if (!reader_take(r, width, &quads) || !reader_take(r, 1, &pad))
        return false;
    if (pad <= 2 && (quads || !pad))
        return read_base64_text(r, (size_t)quads, (size_t)pad, true, for_url);
    if (pad >= 0xfd && pad <= 0xfe && quads)
        return read_base64_text(r, (size_t)quads, 0xff - (size_t)pad, false, for_url);
    return parser_fail(&r->p, "A padding that base64 does not have");
}

/* Bytes, which JSON has as base64. */
bool reader_bytes(struct reader *r, uint8_t marker)
{
    uint64_t size;

    if (!reader_take(r, (size_t)1 << (marker - BINARY_BYTES_1), &size))
        return false;
    if (size > reader_left(r))
        return reader_fail_end(r);
    return read_base64_text(r, (size_t)(size + 2) / 3, (size_t)(3 - size % 3) % 3, true, false);
}

bool reader_is_string(uint8_t marker)
{
    return (marker >= BINARY_SYSTEM && marker < BINARY_UNASSIGNED) ||
           (marker >= BINARY_BASE64_1 && marker <= BINARY_REFERENCE_4);
}

/* p.at is behind the marker, which is a string's. */
bool reader_string(struct reader *r, uint8_t marker)
{
    if (marker >= BINARY_SHORT_STRING && marker < BINARY_STRING_1)
        return reader_short(r, marker - BINARY_SHORT_STRING);
    if (marker >= BINARY_REFERENCE_1)
        return read_reference(r, marker);
    if (marker >= BINARY_STRING_1)
        return read_long(r, marker);
    if (marker < BINARY_USER)
        return put_system(r, marker);
    if (marker < BINARY_UNASSIGNED)
        return parser_fail(&r->p, "A string of a dictionary");
    if (marker >= BINARY_PACKED_4)
        return read_packed(r, marker);
    if (marker >= BINARY_HEX_LOWER)
        return read_digits(r, marker);
    return marker >= BINARY_GUID_LOWER ? read_guid(r, marker) : read_base64(r, marker);
}
