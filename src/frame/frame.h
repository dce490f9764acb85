/*
 * src/frame/frame.h - frames of Direct mode as bytes: a head of fixed fields and tokens, then perhaps a payload.
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

/* Tokens that are no header's, and those that are more than one's (tokens.def has the rest): of requests, and of answers. */
enum { ASK_RESOURCE_ID = 0x0000, ASK_PAYLOAD_PRESENT = 0x0002, ASK_REQUEST_ID = 0x004d };
enum {
    TELL_PAYLOAD_PRESENT = 0x0000,
    TELL_LSN = 0x0013,
    TELL_QUORUM_ACKED_LSN = 0x001a,
    TELL_CURRENT_WRITE_QUORUM = 0x001e,
    TELL_CURRENT_REPLICA_SET_SIZE = 0x001f,
    TELL_PARTITION_KEY_RANGE_ID = 0x0021,
    TELL_GLOBAL_COMMITTED_LSN = 0x0029,
    TELL_NUMBER_OF_READ_REGIONS = 0x0030,
    TELL_REQUEST_ID = 0x0035,
    TELL_LOCAL_LSN = 0x003a,
    TELL_QUORUM_ACKED_LOCAL_LSN = 0x003b,
    TELL_ITEM_LOCAL_LSN = 0x003c,
    TELL_SESSION_TOKEN = 0x003e,
};

/* And of the frames that greet. */
enum { GREETING_VERSION, GREETING_CLIENT_VERSION, GREETING_USER_AGENT };
enum {
    HELLO_VERSION,
    HELLO_CLIENT_VERSION,
    HELLO_AGENT,
    HELLO_AGENT_VERSION,
    HELLO_IDLE_SECONDS,
    HELLO_SILENT_SECONDS
};

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

/*
 * A frame is begun, gets its tokens, and is ended: only then its size is known. It is the answer of a status, or a request for
 * frame_asks().
 */
static inline uint32_t frame_asks(uint16_t resource, uint16_t operation)
{
    return resource | (uint32_t)operation << 16;
}

void frame_begin(struct buf *out, uint32_t what, const uint8_t activity_id[GUID_BYTES]);
void frame_byte(struct buf *out, uint16_t id, uint8_t value);
void frame_number(struct buf *out, uint16_t id, uint32_t value);
void frame_big_number(struct buf *out, uint16_t id, uint64_t value);
void frame_real(struct buf *out, uint16_t id, double value);
void frame_text(struct buf *out, uint16_t id, struct slice value); /* nothing where it is too long */
void frame_small_text(struct buf *out, uint16_t id, struct slice value);
void frame_bytes(struct buf *out, uint16_t id, struct slice value); /* as frame_text() */
void frame_end(struct buf *out, size_t payload_bytes); /* the payload follows, if it has any bytes */
