/* src/resource/hybrid_row.c - the operations of a binary batch, read; their results, written. */
#include <assert.h>

#include "keys/bytes.h"
#include "resource/hybrid_row.h"

enum { VERSION = 0x81 };

enum schema {
    SCHEMA_OPERATION = 2145473648,
    SCHEMA_RESULT = 2145473649,
    SCHEMA_SEGMENT = 2147473648,
    SCHEMA_RECORD = 2147473649,
};

enum {
    ROW_HEADER_BYTES = 5,
    SEGMENT_BYTES = ROW_HEADER_BYTES + 5, /* with nothing but its own length, as batches have it */
    RECORD_BYTES = ROW_HEADER_BYTES + 8,
};

/* The type that stands before the value of a sparse column. */
enum type {
    TYPE_FALSE = 2,
    TYPE_TRUE = 3,
    TYPE_INT32 = 7,
    TYPE_UINT32 = 11,
    TYPE_FLOAT64 = 16,
    TYPE_UTF8 = 20,
};

/* A path that the schema knows is a number: the columns count from 1. */
enum operation_path {
    PATH_INDEXING = 8,
    PATH_IF_MATCH,
    PATH_IF_NONE_MATCH,
    PATH_TIME_TO_LIVE,
    PATH_MINIMAL,
};

enum result_path { PATH_RETRY_AFTER = 5, PATH_CHARGE };

bool hybrid_row_is(struct slice text)
{
    return text.size > 0 && (uint8_t)text.data[0] == VERSION;
}

/* CRC-32 as zlib and Ethernet have it, half a byte at a time. */
static uint32_t crc32_of(struct slice bytes)
{
    static const uint32_t of_nibble[16] = {
        0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
        0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
    };
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < bytes.size; i++) {
        crc ^= (uint8_t)bytes.data[i];
        crc = crc >> 4 ^ of_nibble[crc & 15];
        crc = crc >> 4 ^ of_nibble[crc & 15];
    }
    return ~crc;
}

/* ---- reading ---- */

/* What is left of the text. Past its end, `broken` is set and zeros come. */
struct reader {
    struct slice left;
    bool broken;
};

static struct slice take(struct reader *reader, size_t size)
{
    struct slice taken = { reader->left.data, size };

    if (reader->broken || size > reader->left.size) {
        reader->broken = true;
        return slice_make("", 0);
    }
    reader->left = slice_after(reader->left, size);
    return taken;
}

static uint32_t take_u32(struct reader *reader)
{
    struct slice bytes = take(reader, 4);

    return reader->broken ? 0 : (uint32_t)get_le(bytes.data, 4);
}

static uint8_t take_byte(struct reader *reader)
{
    struct slice byte = take(reader, 1);

    return reader->broken ? 0 : (uint8_t)byte.data[0];
}

/* Seven bits in a byte, the least first; the eighth says that there are more. */
static uint32_t take_varuint(struct reader *reader)
{
    uint64_t number = 0;

    for (int shift = 0; shift < 35; shift += 7) {
        uint8_t byte = take_byte(reader);

        number |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80))
            return (uint32_t)number;
    }
    reader->broken = true;
    return 0;
}

static void expect_row(struct reader *reader, enum schema schema)
{
    if (take_byte(reader) != VERSION || take_u32(reader) != (uint32_t)schema)
        reader->broken = true;
}

/* A segment may have a comment or a schema: batches send neither, and need neither. */
static void skip_segment(struct reader *reader)
{
    size_t length;

    expect_row(reader, SCHEMA_SEGMENT);
    if (!(take_byte(reader) & 1))
        reader->broken = true;
    length = take_u32(reader);
    if (length < SEGMENT_BYTES)
        reader->broken = true;
    take(reader, reader->broken ? 0 : length - SEGMENT_BYTES);
}

static struct slice take_record(struct reader *reader)
{
    uint32_t length, crc;
    struct slice row;

    expect_row(reader, SCHEMA_RECORD);
    length = take_u32(reader);
    crc = take_u32(reader);
    row = take(reader, length);
    if (crc32_of(row) != crc)
        reader->broken = true;
    return row;
}

static struct slice take_variable(struct reader *reader)
{
    return take(reader, take_varuint(reader));
}

static void read_sparse(struct reader *reader, struct hybrid_row_operation *operation)
{
    uint8_t type = take_byte(reader);
    uint32_t path = take_varuint(reader);

    if (type == TYPE_UTF8 && path == PATH_INDEXING) {
        operation->indexing = take_variable(reader);
    } else if (type == TYPE_UTF8 && path == PATH_IF_MATCH) {
        operation->if_match = take_variable(reader);
    } else if (type == TYPE_UTF8 && path == PATH_IF_NONE_MATCH) {
        operation->if_none_match = take_variable(reader);
    } else if (type == TYPE_INT32 && path == PATH_TIME_TO_LIVE) {
        take_u32(reader);
        operation->is_foreign = true;
    } else if ((type == TYPE_TRUE || type == TYPE_FALSE) && path == PATH_MINIMAL) {
        operation->minimal = type == TYPE_TRUE;
    } else {
        reader->broken = true;
    }
}

/* Reads the columns in the order of their bits. The two integers are there even where their bits are not set. */
static void read_operation(struct reader *reader, struct hybrid_row_operation *operation)
{
    struct slice epk = { 0 }, binary_id = { 0 };
    struct slice *const variable[] = { &operation->key, &epk, &operation->id, &binary_id, &operation->body };
    uint8_t present;

    expect_row(reader, SCHEMA_OPERATION);
    present = take_byte(reader);
    operation->type = (int32_t)take_u32(reader);
    take_u32(reader); /* what it is an operation on: there is nothing but items */
    if (!(present & 1) || present & 0x80)
        reader->broken = true;
    for (size_t i = 0; i < sizeof(variable) / sizeof(variable[0]); i++)
        if (present & 4 << i)
            *variable[i] = take_variable(reader);
    while (!reader->broken && reader->left.size)
        read_sparse(reader, operation);
    operation->is_foreign |= epk.data || binary_id.data;
}

enum status hybrid_row_read(struct op *op, struct slice text, struct hybrid_row_operation *operations,
                            size_t max, size_t *count)
{
    struct reader records = { .left = text };

    skip_segment(&records);
    for (*count = 0; !records.broken && records.left.size; ++*count) {
        struct reader row = { .left = take_record(&records) };
        struct hybrid_row_operation ignored, *operation = *count < max ? &operations[*count] : &ignored;

        *operation = (struct hybrid_row_operation){ 0 };
        if (!records.broken)
            read_operation(&row, operation);
        records.broken |= row.broken;
    }
    if (records.broken)
        return op_fail(op, ST_BAD_REQUEST,
                       "The request payload is invalid. Ensure to provide a valid request payload.");
    return ST_OK;
}

/* ---- writing ---- */

static void put_u32(struct buf *out, uint32_t number)
{
    uint8_t bytes[4];

    put_le(bytes, number, sizeof(bytes));
    buf_append(out, bytes, sizeof(bytes));
}

static void put_row(struct buf *out, enum schema schema)
{
    buf_byte(out, (char)VERSION);
    put_u32(out, (uint32_t)schema);
}

static void put_varuint(struct buf *out, size_t number)
{
    for (; number > 0x7F; number >>= 7)
        buf_byte(out, (char)(0x80 | (number & 0x7F)));
    buf_byte(out, (char)number);
}

static void put_charge(struct buf *out, double charge)
{
    uint8_t bytes[8];
    uint64_t bits;

    memcpy(&bits, &charge, sizeof(bits));
    put_le(bytes, bits, sizeof(bytes));
    buf_byte(out, TYPE_FLOAT64);
    put_varuint(out, PATH_CHARGE);
    buf_append(out, bytes, sizeof(bytes));
}

void hybrid_row_begin(struct buf *out)
{
    assert(out->size == 0);
    put_row(out, SCHEMA_SEGMENT);
    buf_byte(out, 1);
    put_u32(out, SEGMENT_BYTES);
}

/* Writes everything that stands before the body's bytes. Length and CRC of the row are filled in later. */
static void put_head(struct buf *out, const struct hybrid_row_result *result, bool has_body,
                     size_t body_bytes)
{
    put_row(out, SCHEMA_RECORD);
    put_u32(out, 0);
    put_u32(out, 0);
    put_row(out, SCHEMA_RESULT);
    buf_byte(out,
             (char)(1 | (result->sub_status ? 2 : 0) | (result->etag.data ? 4 : 0) | (has_body ? 8 : 0)));
    put_u32(out, (uint32_t)result->status);
    put_u32(out, (uint32_t)result->sub_status);
    if (result->etag.data) {
        put_varuint(out, result->etag.size);
        buf_slice(out, result->etag);
    }
    if (has_body)
        put_varuint(out, body_bytes);
}

/* Moves the last `bytes` of the buffer to before the `body_bytes` that precede them. */
static void move_before(struct buf *out, size_t bytes, size_t body_bytes)
{
    enum { HEAD_BYTES_MAX = 256 };
    char head[HEAD_BYTES_MAX], *start = out->data + out->size - bytes - body_bytes;

    assert(bytes <= sizeof(head));
    memcpy(head, start + body_bytes, bytes);
    memmove(start + bytes, start, body_bytes);
    memcpy(start, head, bytes);
}

void hybrid_row_result(struct buf *out, const struct hybrid_row_result *result, ptrdiff_t body)
{
    bool has_body = body != HYBRID_ROW_NO_BODY;
    size_t start = has_body ? (size_t)body : out->size, body_bytes = out->size - start;
    struct slice row;

    assert(start <= out->size);
    put_head(out, result, has_body, body_bytes);
    if (out->failed)
        return;
    move_before(out, out->size - start - body_bytes, body_bytes);
    if (result->retry_after_ms) {
        buf_byte(out, TYPE_UINT32);
        put_varuint(out, PATH_RETRY_AFTER);
        put_u32(out, result->retry_after_ms);
    }
    put_charge(out, result->charge);
    if (out->failed)
        return;
    row = slice_make(out->data + start + RECORD_BYTES, out->size - start - RECORD_BYTES);
    put_le((uint8_t *)out->data + start + ROW_HEADER_BYTES, row.size, 4);
    put_le((uint8_t *)out->data + start + ROW_HEADER_BYTES + 4, crc32_of(row), 4);
}
