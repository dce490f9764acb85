/*
 * src/json/binary_write.h - values as binary JSON, for clients that ask for it, straight from the form of json.h.
 * A value by itself:     json_print_binary(out, value);
 * A value in parts:      binary_begin(&writer, out);
 *                        frame = binary_open_object(&writer, bytes_max);
 *                        binary_name(&writer, "id");  binary_value(&writer, id);  ...
 *                        binary_close(&writer, frame);
 *
 * What is written is made for speed on both sides: strings that the format knows by number, names that came before as
 * references to where they came, everything else plain. So it takes about the bytes of the text, and less time. Forms
 * that take still fewer bytes, and more time, are not used; nor are those that a client must name as a feature.
 *
 * Ownership. The buffer is the caller's, and notes if it fails. Nothing else may write to it between the calls, unless
 * they say so. References count from where the writer began.
 */
#pragma once
#include "json/json.h"

enum { BINARY_NAMES_KNOWN = 256 };

struct binary_writer {
    struct buf *out;
    size_t start;                       /* where the first byte is */
    uint32_t known[BINARY_NAMES_KNOWN]; /* places of names by their hashes; 0: none */
};

/* A container that is open: where its length goes. */
struct binary_frame {
    size_t at;
    uint8_t width;
};

/* The whole value, its first byte included. Undefined prints nothing. */
void json_print_binary(struct buf *out, struct json value);

/* Of a value in the form of json.h: at most so many bytes of binary. */
static inline size_t binary_bytes_max(size_t bytes)
{
    return bytes + bytes / 2 + 16;
}

void binary_begin(struct binary_writer *writer, struct buf *out);

/* What is inside has no more than `bytes_max` bytes. */
struct binary_frame binary_open_object(struct binary_writer *writer, size_t bytes_max);
struct binary_frame binary_open_array(struct binary_writer *writer, size_t bytes_max);
void binary_close(struct binary_writer *writer, struct binary_frame frame);

void binary_name(struct binary_writer *writer, const char *name);
void binary_value(struct binary_writer *writer, struct json value);
void binary_string(struct binary_writer *writer, struct slice text);
void binary_int(struct binary_writer *writer, int64_t number);

/* The members of an object, each name with its value. */
void binary_members(struct binary_writer *writer, struct json object);

/* A string of at most 255 bytes that the caller appends to the buffer between the two calls. */
size_t binary_begin_text(struct binary_writer *writer);
void binary_end_text(struct binary_writer *writer, size_t text);
