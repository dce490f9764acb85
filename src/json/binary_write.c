/*
 * src/json/binary_write.c - bytes of ours to binary JSON in one pass.
 * Room is made for a whole value before it is written: `to` is where the next byte goes, and each function that has it
 * returns it moved on. A length is written behind what it counts, into a width that was chosen before, so that nothing
 * moves and a place that a reference names stays.
 */
#include "json/binary_write.h"
#include "json/binary_format.h"
#include "json/scan.h"

enum { SIZES = SYSTEM_STRING_BYTES_MAX + 1, SAME_SIZE_MAX = 6, COUNTED_MIN = 17 };

/* clang-format off */
/* The system strings of each size, by number; 0xff ends a row that is not full. */
static const uint8_t of_size[SIZES][SAME_SIZE_MAX] = {
    { 0xff }, { 0xff }, { 0, 1, 2, 12, 0xff }, { 7, 13, 31, 0xff }, { 5, 17, 21, 22, 23, 27 }, { 4, 6, 14, 15, 24, 28 },
    { 0xff }, { 25, 29, 0xff }, { 10, 0xff }, { 0xff }, { 16, 19, 26, 0xff }, { 9, 0xff }, { 3, 8, 20, 0xff },
    { 0xff }, { 0xff }, { 18, 0xff }, { 0xff }, { 30, 0xff }, { 11, 0xff },
};
/* clang-format on */

/* ---- strings ---- */

/* The number of a system string; SYSTEM_STRINGS when it is none. */
static unsigned system_number(struct slice text)
{
    if (text.size >= SIZES)
        return SYSTEM_STRINGS;
    for (size_t i = 0; i < SAME_SIZE_MAX; i++) {
        unsigned number = of_size[text.size][i];

        if (number >= SYSTEM_STRINGS)
            break;
        if (binary_system_strings[number].data[0] == text.data[0] &&
            memcmp(binary_system_strings[number].data, text.data, text.size) == 0)
            return number;
    }
    return SYSTEM_STRINGS;
}

static uint8_t *put_le(uint8_t *to, uint64_t number, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(number >> 8 * i);
    return to + bytes;
}

static uint8_t *put_long(uint8_t *to, struct slice text)
{
    unsigned width = text.size <= UINT8_MAX ? 0 : text.size <= UINT16_MAX ? 1 : 2;

    *to++ = (uint8_t)(BINARY_STRING_1 + width);
    to = put_le(to, text.size, (size_t)1 << width);
    return mempcpy(to, text.data, text.size);
}

static inline uint8_t *put_plain(uint8_t *to, struct slice text)
{
    if (text.size >= SHORT_STRING_END)
        return put_long(to, text);
    *to++ = (uint8_t)(BINARY_SHORT_STRING + text.size);
    copy_short(to, text.data, text.size);
    return to + text.size;
}

static uint8_t *put_string(uint8_t *to, struct slice text)
{
    unsigned number = system_number(text);

    if (number == SYSTEM_STRINGS)
        return put_plain(to, text);
    *to++ = (uint8_t)(BINARY_SYSTEM + number);
    return to;
}

/* ---- names ---- */

/* Where the writer looks for a name: of names that share a place the last one is known. */
static uint32_t *known_place(struct binary_writer *writer, struct slice name)
{
    const uint8_t *at = (const uint8_t *)name.data;
    uint64_t hash = name.size;

    if (name.size >= 8)
        hash ^= load_u64(at) ^ load_u64(at + name.size - 8) << 1;
    else if (name.size >= 4)
        hash ^= load_u32(at) ^ (uint64_t)load_u32(at + name.size - 4) << 31;
    else
        hash ^= (uint64_t)at[0] << 24 | (uint64_t)at[name.size / 2] << 16 | (uint64_t)at[name.size - 1] << 8;
    return &writer->known[hash * 0x9e3779b97f4a7c15u >> 56];
}

/* Two bytes for each of the first 255 places, and so on: how many a reference takes. */
static size_t reference_bytes(uint32_t place)
{
    return place <= UINT8_MAX ? 2 : place <= UINT16_MAX ? 3 : place < 1u << 24 ? 4 : 5;
}

static uint8_t *put_reference(uint8_t *to, uint32_t place, size_t bytes)
{
    *to++ = (uint8_t)(BINARY_REFERENCE_1 + bytes - 2);
    return put_le(to, place, bytes - 1);
}

/* A name, and a place to refer to from now on; or a reference, where that is shorter. */
static uint8_t *put_name(struct binary_writer *writer, uint8_t *to, struct slice name)
{
    const uint8_t *start = (const uint8_t *)writer->out->data + writer->start;
    unsigned number = system_number(name);
    uint32_t *known;

    if (number < SYSTEM_STRINGS) {
        *to++ = (uint8_t)(BINARY_SYSTEM + number);
        return to;
    }
    if (name.size < 2 || name.size >= SHORT_STRING_END)
        return put_plain(to, name);
    known = known_place(writer, name);
    if (*known && start[*known] == BINARY_SHORT_STRING + name.size &&
        memcmp(start + *known + 1, name.data, name.size) == 0 && reference_bytes(*known) <= name.size)
        return put_reference(to, *known, reference_bytes(*known));
    *known = (uint32_t)(to - start);
    return put_plain(to, name);
}

/* ---- numbers ---- */

static uint8_t *put_marked(uint8_t *to, enum binary_marker marker, uint64_t bits, size_t bytes)
{
    *to++ = (uint8_t)marker;
    return put_le(to, bits, bytes);
}

static uint8_t *put_integer(uint8_t *to, int64_t number)
{
    uint64_t bits = (uint64_t)number;

    if (number >= 0 && number < SMALL_INT_END) {
        *to++ = (uint8_t)(BINARY_INT + number);
        return to;
    }
    if (number >= 0 && number <= UINT8_MAX)
        return put_marked(to, BINARY_U8, bits, 1);
    if (number == (int16_t)number)
        return put_marked(to, BINARY_I16, bits, 2);
    if (number == (int32_t)number)
        return put_marked(to, BINARY_I32, bits, 4);
    return put_marked(to, BINARY_I64, bits, 8);
}

/* ---- containers ---- */

/* The shape whose length holds `bytes_max`. */
static enum binary_shape shape_for(size_t bytes_max)
{
    return bytes_max <= UINT8_MAX    ? SHAPE_LENGTH_1
           : bytes_max <= UINT16_MAX ? SHAPE_LENGTH_2
                                     : SHAPE_LENGTH_4;
}

static size_t width_of(enum binary_shape length)
{
    return (size_t)1 << (length - SHAPE_LENGTH_1);
}

static uint8_t *put_value(struct binary_writer *writer, uint8_t *to, const uint8_t *at);

static uint8_t *put_members(struct binary_writer *writer, uint8_t *to, const uint8_t *at)
{
    const uint8_t *end = at + size_at(at);

    for (at += CONTAINER_HEADER; at < end; at += size_at(at)) {
        to = put_name(writer, to, string_at(at));
        at += size_at(at);
        to = put_value(writer, to, at);
    }
    return to;
}

static uint8_t *put_elements(struct binary_writer *writer, uint8_t *to, const uint8_t *at)
{
    const uint8_t *end = at + size_at(at);

    for (at += CONTAINER_HEADER; at < end; at += size_at(at))
        to = put_value(writer, to, at);
    return to;
}

static uint8_t *put_inside(struct binary_writer *writer, uint8_t *to, const uint8_t *at)
{
    return *at == TAG_OBJECT ? put_members(writer, to, at) : put_elements(writer, to, at);
}

/* Long arrays tell their count, which spares readers a walk. */
static uint8_t *put_sized(struct binary_writer *writer, uint8_t *to, const uint8_t *at, uint8_t marker)
{
    uint32_t count = load_u32(at + 5);
    enum binary_shape shape = shape_for(binary_bytes_max(load_u32(at + 1)));
    size_t width = width_of(shape);
    bool counted = *at == TAG_ARRAY && count >= COUNTED_MIN;
    uint8_t *length = to + 1, *inside = length + width;

    *to = (uint8_t)(marker + shape + (counted ? SHAPE_COUNT_1 - SHAPE_LENGTH_1 : 0));
    if (counted)
        inside = put_le(inside, count, width);
    to = put_inside(writer, inside, at);
    put_le(length, (uint64_t)(to - inside), width);
    return to;
}

static uint8_t *put_container(struct binary_writer *writer, uint8_t *to, const uint8_t *at)
{
    uint8_t marker = *at == TAG_OBJECT ? BINARY_OBJECT : BINARY_ARRAY;
    uint32_t count = load_u32(at + 5);

    if (count > 1)
        return put_sized(writer, to, at, marker);
    *to++ = (uint8_t)(marker + (count ? SHAPE_ONE : SHAPE_EMPTY));
    return put_inside(writer, to, at);
}

static uint8_t *put_value(struct binary_writer *writer, uint8_t *to, const uint8_t *at)
{
    if (tag_is_string(*at))
        return put_string(to, string_at(at));
    switch (*at) {
    case TAG_NULL:
    case TAG_FALSE:
    case TAG_TRUE:
        *to++ = (uint8_t)(BINARY_NULL + *at - TAG_NULL);
        return to;
    case TAG_ARRAY:
    case TAG_OBJECT:
        return put_container(writer, to, at);
    case TAG_F64:
        return put_marked(to, BINARY_DOUBLE, load_u64(at + 1), 8);
    default:
        return put_integer(to, int_at(at));
    }
}

/* ---- parts ---- */

static uint8_t *reserve(struct binary_writer *writer, size_t bytes)
{
    return (uint8_t *)buf_reserve(writer->out, bytes);
}

static void grow_to(struct binary_writer *writer, const uint8_t *end)
{
    writer->out->size = (size_t)(end - (const uint8_t *)writer->out->data);
}

void binary_begin(struct binary_writer *writer, struct buf *out)
{
    writer->out = out;
    writer->start = out->size;
    memset(writer->known, 0, sizeof(writer->known));
    buf_byte(out, (char)BINARY_FIRST_BYTE);
}

void binary_value(struct binary_writer *writer, struct json value)
{
    uint8_t *to = reserve(writer, binary_bytes_max(json_size(value)));

    assert(value.at);
    if (to)
        grow_to(writer, put_value(writer, to, value.at));
}

void binary_members(struct binary_writer *writer, struct json object)
{
    uint8_t *to = reserve(writer, binary_bytes_max(json_size(object)));

    assert(json_kind(object) == JSON_OBJECT);
    if (to)
        grow_to(writer, put_members(writer, to, object.at));
}

void binary_string(struct binary_writer *writer, struct slice text)
{
    uint8_t *to = reserve(writer, binary_bytes_max(text.size));

    if (to)
        grow_to(writer, put_string(to, text));
}

void binary_name(struct binary_writer *writer, const char *name)
{
    uint8_t *to = reserve(writer, binary_bytes_max(strlen(name)));

    if (to)
        grow_to(writer, put_name(writer, to, slice_of(name)));
}

void binary_int(struct binary_writer *writer, int64_t number)
{
    uint8_t *to = reserve(writer, NUMBER_BYTES_MAX);

    if (to)
        grow_to(writer, put_integer(to, number));
}

static struct binary_frame open_container(struct binary_writer *writer, uint8_t marker, size_t bytes_max)
{
    enum binary_shape shape = shape_for(bytes_max);
    uint8_t *to = reserve(writer, 1 + sizeof(uint32_t));

    if (!to)
        return (struct binary_frame){ 0 };
    *to++ = (uint8_t)(marker + shape);
    grow_to(writer, to + width_of(shape));
    return (struct binary_frame){ .at = writer->out->size, .width = (uint8_t)width_of(shape) };
}

struct binary_frame binary_open_object(struct binary_writer *writer, size_t bytes_max)
{
    return open_container(writer, BINARY_OBJECT, bytes_max);
}

struct binary_frame binary_open_array(struct binary_writer *writer, size_t bytes_max)
{
    return open_container(writer, BINARY_ARRAY, bytes_max);
}

void binary_close(struct binary_writer *writer, struct binary_frame frame)
{
    size_t bytes = writer->out->size - frame.at;

    if (writer->out->failed)
        return;
    assert(frame.width);
    assert(bytes >> 8 * frame.width == 0); /* whoever opened it knew how much would come */
    put_le((uint8_t *)writer->out->data + frame.at - frame.width, bytes, frame.width);
}

size_t binary_begin_text(struct binary_writer *writer)
{
    buf_append(writer->out, "\xc0\x00", 2);
    return writer->out->size;
}

void binary_end_text(struct binary_writer *writer, size_t text)
{
    size_t size = writer->out->size - text;

    if (writer->out->failed)
        return;
    assert(size <= UINT8_MAX);
    writer->out->data[text - 1] = (char)size;
}

void json_print_binary(struct buf *out, struct json value)
{
    struct binary_writer writer;

    if (!value.at)
        return;
    binary_begin(&writer, out);
    binary_value(&writer, value);
}
