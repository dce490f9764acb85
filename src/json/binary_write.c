/*
 * src/json/binary_write.c - bytes of ours to binary JSON in one pass.
 * Room is made for a whole value before it is written: `to` is where the next byte goes, and each function that has it
 * returns it moved on. A length is written behind what it counts, into a width that was chosen before, so that nothing
 * moves and a place that a reference names stays.
 */
#include "json/binary_write.h"
#include "json/binary_format.h"
#include "json/scan.h"

enum { COUNTED_MIN = 17, SLOTS = 64, COPIED = 16 };

/* ---- strings ---- */

/* clang-format off */
/* The number of the one system string that may stand in a slot. */
static const uint8_t system_slots[SLOTS] = {
     0,  0, 31,  0,  0,  0,  7, 27, 26,  0,  0,  0,  0,  0,  5, 23,
     0, 16,  0,  0, 25, 17,  0,  0, 24,  0, 30, 20,  0, 21, 19, 18,
     8,  0,  0,  6, 22, 15,  1,  4, 12,  0,  0, 10,  9, 13,  0,  2,
     0,  3,  0,  0,  0,  0,  0, 28, 11,  0, 29,  0,  0,  0, 14,  0,
};
/* clang-format on */

/* By first byte, last byte and size, which are together different for each of them; so are the slots, by this factor. */
static inline size_t system_slot(struct slice text)
{
    uint32_t key =
        (uint8_t)text.data[0] | (uint32_t)(uint8_t)text.data[text.size - 1] << 8 | (uint32_t)text.size << 16;

    return key * 0x47122fabu >> 26;
}

/* The number of a system string; SYSTEM_STRINGS when it is none. */
static inline unsigned system_number(struct slice text)
{
    unsigned number;

    if (text.size - 2 > SYSTEM_STRING_BYTES_MAX - 2) /* below 2 it is huge */
        return SYSTEM_STRINGS;
    number = system_slots[system_slot(text)];
    return slice_equal(binary_system_strings[number], text) ? number : SYSTEM_STRINGS;
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

/* Most strings are shorter than a block; then one is copied, if that much can be read, without a loop or a call. */
static inline uint8_t *put_plain(const struct binary_writer *writer, uint8_t *to, struct slice text)
{
    if (text.size >= SHORT_STRING_END)
        return put_long(to, text);
    *to++ = (uint8_t)(BINARY_SHORT_STRING + text.size);
    if (text.size <= COPIED && (const uint8_t *)text.data + COPIED <= writer->end)
        memcpy(to, text.data, COPIED);
    else
        copy_short(to, text.data, text.size);
    return to + text.size;
}

/* A string by its number, if it has one. */
static inline uint8_t *put_string(const struct binary_writer *writer, uint8_t *to, struct slice text)
{
    unsigned number = system_number(text);

    if (number == SYSTEM_STRINGS)
        return put_plain(writer, to, text);
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

/* A name within an array, whose elements often have the same names: a reference, where there is one that is shorter. */
static uint8_t *put_known(struct binary_writer *writer, uint8_t *to, struct slice name)
{
    const uint8_t *start = (const uint8_t *)writer->out->data + writer->start;
    uint32_t *known = known_place(writer, name);

    if (!writer->knows)
        memset(writer->known, 0, sizeof(writer->known));
    writer->knows = true;
    if (*known && start[*known] == BINARY_SHORT_STRING + name.size &&
        memcmp(start + *known + 1, name.data, name.size) == 0 && reference_bytes(*known) <= name.size)
        return put_reference(to, *known, reference_bytes(*known));
    *known = (uint32_t)(to - start);
    return put_plain(writer, to, name);
}

static inline uint8_t *put_name(struct binary_writer *writer, uint8_t *to, struct slice name)
{
    if (writer->arrays && name.size >= 2 && name.size < SHORT_STRING_END &&
        system_number(name) == SYSTEM_STRINGS)
        return put_known(writer, to, name);
    return put_string(writer, to, name);
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

/* Doubles that JSON lacks are strings, as they are in text. */
static uint8_t *put_number(uint8_t *to, const uint8_t *at)
{
    struct slice name;

    if (isfinite(load_double(at + 1)))
        return put_marked(to, BINARY_DOUBLE, load_u64(at + 1), 8);
    name = json_name_not_finite(load_double(at + 1));
    *to++ = (uint8_t)(BINARY_SHORT_STRING + name.size);
    return mempcpy(to, name.data, name.size);
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
        struct slice name = string_at(at);

        to = put_name(writer, to, name);
        at = (const uint8_t *)name.data + name.size;
        to = put_value(writer, to, at);
    }
    return to;
}

static uint8_t *put_elements(struct binary_writer *writer, uint8_t *to, const uint8_t *at)
{
    const uint8_t *end = at + size_at(at);

    writer->arrays++;
    for (at += CONTAINER_HEADER; at < end; at += size_at(at))
        to = put_value(writer, to, at);
    writer->arrays--;
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
        return put_plain(writer, to, string_at(at));
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
        return put_number(to, at);
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
    writer->end = NULL;
    writer->arrays = 0;
    writer->knows = false;
    buf_byte(out, (char)BINARY_FIRST_BYTE);
}

void binary_value(struct binary_writer *writer, struct json value)
{
    uint8_t *to = reserve(writer, binary_bytes_max(json_size(value)));

    assert(value.at);
    writer->end = value.at + json_size(value);
    if (to)
        grow_to(writer, put_value(writer, to, value.at));
}

void binary_members(struct binary_writer *writer, struct json object)
{
    uint8_t *to = reserve(writer, binary_bytes_max(json_size(object)));

    assert(json_kind(object) == JSON_OBJECT);
    writer->end = object.at + json_size(object);
    if (to)
        grow_to(writer, put_members(writer, to, object.at));
}

/* What comes in parts is a string of ours or a name: nothing behind it can be read. */
static uint8_t *reserve_text(struct binary_writer *writer, size_t size)
{
    writer->end = NULL;
    return reserve(writer, binary_bytes_max(size));
}

void binary_name(struct binary_writer *writer, const char *name)
{
    struct slice text = slice_of(name);
    uint8_t *to = reserve_text(writer, text.size);

    if (to)
        grow_to(writer, put_name(writer, to, text));
}

void binary_known(struct binary_writer *writer, enum binary_known string)
{
    buf_byte(writer->out, (char)(BINARY_SYSTEM + string));
}

void binary_int(struct binary_writer *writer, int64_t number)
{
    uint8_t *to = reserve(writer, NUMBER_BYTES_MAX);

    if (to)
        grow_to(writer, put_integer(to, number));
}

static struct binary_frame open_container(struct binary_writer *writer, uint8_t marker, size_t bytes_max)
{
    bool is_array = marker == BINARY_ARRAY;
    enum binary_shape shape = shape_for(bytes_max);
    uint8_t *to = reserve(writer, 1 + sizeof(uint32_t));

    writer->arrays += is_array;
    if (!to)
        return (struct binary_frame){ .is_array = is_array };
    *to++ = (uint8_t)(marker + shape);
    grow_to(writer, to + width_of(shape));
    return (struct binary_frame){ writer->out->size, (uint8_t)width_of(shape), is_array };
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

    writer->arrays -= frame.is_array;
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
