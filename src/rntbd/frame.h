/*
 * src/rntbd/frame.h - frames of Direct mode as bytes: a head of fixed fields and tokens, then perhaps a payload.
 *
 *     request   u32 size | u16 resource | u16 operation | guid activity | tokens   [ u32 size | payload ]
 *     answer    u32 size | u32 status                   | guid activity | tokens   [ u32 size | payload ]
 *     token     u16 id | u8 type | value
 *
 * The size of the head counts itself and the tokens, and not the payload. Integers are little-endian.
 */
#pragma once
#include "base/buf.h"

enum { FRAME_FIXED_BYTES = 24, FRAME_LENGTH_BYTES = 4, GUID_BYTES = 16, TOKEN_TEXT_BYTES_MAX = 65535 };

enum token_type {
    TOKEN_BYTE,
    TOKEN_USHORT,
    TOKEN_ULONG,
    TOKEN_LONG,
    TOKEN_ULONGLONG,
    TOKEN_LONGLONG,
    TOKEN_GUID,
    TOKEN_SMALL_STRING,
    TOKEN_STRING,
    TOKEN_ULONG_STRING,
    TOKEN_SMALL_BYTES,
    TOKEN_BYTES,
    TOKEN_ULONG_BYTES,
    TOKEN_FLOAT,
    TOKEN_DOUBLE,
    TOKEN_TYPES
};

struct frame_token {
    uint16_t id;
    enum token_type type;
    struct slice value; /* as it came, without its length */
};

uint32_t frame_u32(struct slice bytes); /* its first four */
uint16_t frame_u16(struct slice bytes);

/* Takes the next token off the rest, which is not empty. False: it is none. */
bool frame_take_token(struct slice *rest, struct frame_token *token);
bool frame_token_is_text(const struct frame_token *token);  /* or bytes */
bool frame_token_is_whole(const struct frame_token *token); /* a number without a fraction */
uint64_t frame_token_number(const struct frame_token *token);

/* A frame is begun, gets its tokens, and is ended: only then its size is known. */
void frame_begin(struct buf *out, uint32_t status, const uint8_t activity_id[GUID_BYTES]);
void frame_byte(struct buf *out, uint16_t id, uint8_t value);
void frame_number(struct buf *out, uint16_t id, uint32_t value);
void frame_big_number(struct buf *out, uint16_t id, uint64_t value);
void frame_real(struct buf *out, uint16_t id, double value);
void frame_text(struct buf *out, uint16_t id, struct slice value); /* nothing where it is too long */
void frame_small_text(struct buf *out, uint16_t id, struct slice value);
void frame_end(struct buf *out, size_t payload_bytes); /* the payload follows, if it has any bytes */
