/* src/frame/frame.c - tokens off bytes, and onto them. */
#include <assert.h>
#include <endian.h>

#include "frame/frame.h"

/* How many bytes a value has, or how many its length has. */
static const struct {
    uint8_t value, length;
} widths[TOKEN_TYPES] = {
    [TOKEN_BYTE] = { 1, 0 },          [TOKEN_USHORT] = { 2, 0 },       [TOKEN_ULONG] = { 4, 0 },
    [TOKEN_LONG] = { 4, 0 },          [TOKEN_ULONGLONG] = { 8, 0 },    [TOKEN_LONGLONG] = { 8, 0 },
    [TOKEN_GUID] = { GUID_BYTES, 0 }, [TOKEN_SMALL_STRING] = { 0, 1 }, [TOKEN_STRING] = { 0, 2 },
    [TOKEN_ULONG_STRING] = { 0, 4 },  [TOKEN_SMALL_BYTES] = { 0, 1 },  [TOKEN_BYTES] = { 0, 2 },
    [TOKEN_ULONG_BYTES] = { 0, 4 },   [TOKEN_FLOAT] = { 4, 0 },        [TOKEN_DOUBLE] = { 8, 0 },
};

static uint64_t number_of(struct slice bytes)
{
    uint64_t number = 0;

    assert(bytes.size <= sizeof(number));
    memcpy(&number, bytes.data, bytes.size);
    return le64toh(number);
}

uint32_t frame_u32(struct slice bytes)
{
    assert(bytes.size >= sizeof(uint32_t));
    return (uint32_t)number_of(slice_make(bytes.data, sizeof(uint32_t)));
}

uint16_t frame_u16(struct slice bytes)
{
    assert(bytes.size >= sizeof(uint16_t));
    return (uint16_t)number_of(slice_make(bytes.data, sizeof(uint16_t)));
}

static bool take(struct slice *rest, size_t size, struct slice *taken)
{
    if (size > rest->size)
        return false;
    *taken = slice_make(rest->data, size);
    *rest = slice_after(*rest, size);
    return true;
}

bool frame_take_token(struct slice *rest, struct frame_token *token)
{
    struct slice head, length;
    uint8_t type;
    size_t size;

    if (!take(rest, sizeof(uint16_t) + 1, &head))
        return false;
    type = (uint8_t)head.data[sizeof(uint16_t)];
    if (type >= TOKEN_TYPES)
        return false;
    *token = (struct frame_token){ .id = frame_u16(head), .type = (enum token_type)type };
    if (!take(rest, widths[type].length, &length))
        return false;
    size = length.size ? (size_t)number_of(length) : widths[type].value;
    return take(rest, size, &token->value);
}

bool frame_token_is_text(const struct frame_token *token)
{
    return widths[token->type].length > 0;
}

bool frame_token_is_whole(const struct frame_token *token)
{
    return token->type <= TOKEN_LONGLONG;
}

uint64_t frame_token_number(const struct frame_token *token)
{
    assert(frame_token_is_whole(token));
    return number_of(token->value);
}

/* Writing */

static void put(struct buf *out, uint64_t number, size_t size)
{
    uint64_t little = htole64(number);

    buf_append(out, (const char *)&little, size);
}

static void put_token(struct buf *out, uint16_t id, enum token_type type, uint64_t number, size_t size)
{
    put(out, id, sizeof(id));
    put(out, type, 1);
    put(out, number, size);
}

void frame_begin(struct buf *out, uint32_t what, const uint8_t activity_id[GUID_BYTES])
{
    assert(out->size == 0);
    put(out, 0, sizeof(uint32_t));
    put(out, what, sizeof(uint32_t));
    buf_append(out, (const char *)activity_id, GUID_BYTES);
}

void frame_byte(struct buf *out, uint16_t id, uint8_t value)
{
    put_token(out, id, TOKEN_BYTE, value, 1);
}

void frame_number(struct buf *out, uint16_t id, uint32_t value)
{
    put_token(out, id, TOKEN_ULONG, value, sizeof(value));
}

void frame_big_number(struct buf *out, uint16_t id, uint64_t value)
{
    put_token(out, id, TOKEN_LONGLONG, value, sizeof(value));
}

void frame_real(struct buf *out, uint16_t id, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    put_token(out, id, TOKEN_DOUBLE, bits, sizeof(bits));
}

static void put_text(struct buf *out, uint16_t id, enum token_type type, struct slice value)
{
    if (value.size > TOKEN_TEXT_BYTES_MAX)
        return;
    put_token(out, id, type, value.size, sizeof(uint16_t));
    buf_slice(out, value);
}

void frame_text(struct buf *out, uint16_t id, struct slice value)
{
    put_text(out, id, TOKEN_STRING, value);
}

void frame_bytes(struct buf *out, uint16_t id, struct slice value)
{
    put_text(out, id, TOKEN_BYTES, value);
}

void frame_small_text(struct buf *out, uint16_t id, struct slice value)
{
    assert(value.size <= UINT8_MAX);
    put_token(out, id, TOKEN_SMALL_STRING, value.size, 1);
    buf_slice(out, value);
}

void frame_end(struct buf *out, size_t payload_bytes)
{
    uint32_t size = htole32((uint32_t)out->size);

    if (out->failed)
        return;
    memcpy(out->data, &size, sizeof(size));
    if (payload_bytes)
        put(out, payload_bytes, sizeof(uint32_t));
}
