/*
 * src/json/binary_write.h - values as binary JSON, for clients that ask for it, straight from the form of json.h.
 * A value by itself:     json_print_binary(out, value);
 * A value in parts:      binary_begin(&writer, out);
 *                        frame = binary_open_object(&writer, bytes_max);
 *                        binary_name(&writer, "id");  binary_value(&writer, id);  ...
 *                        binary_close(&writer, frame);
 *
 * What is written is made for speed on both sides: names that the format knows by number; within arrays, names that came
 * before as references to where they came; everything else plain. So it takes fewer bytes than text, and no more time.
 * Forms that take still fewer bytes, and more time, are not used; nor are those that a client must name as a feature.
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
    const uint8_t *end;                 /* of the value that is being written: up to here bytes can be read */
    unsigned arrays;                    /* that are open */
    bool knows;                         /* a name was noted below; before that it holds nothing */
    uint32_t known[BINARY_NAMES_KNOWN]; /* places of names by their hashes; 0: none */
};

/* A container that is open: where what is in it begins, and how wide its length is. */
struct binary_frame {
    size_t at;
    uint8_t width;
    bool is_array;
};

/* The whole value, its first byte included. Undefined prints nothing. */
void json_print_binary(struct buf *out, struct json value);

/* Of a value in the form of json.h: at most so many bytes of binary, and room for a block that is copied whole. */
static inline size_t binary_bytes_max(size_t bytes)
{
    return bytes + bytes / 2 + 32;
}

void binary_begin(struct binary_writer *writer, struct buf *out);

/* What is inside has no more than `bytes_max` bytes. */
struct binary_frame binary_open_object(struct binary_writer *writer, size_t bytes_max);
struct binary_frame binary_open_array(struct binary_writer *writer, size_t bytes_max);
void binary_close(struct binary_writer *writer, struct binary_frame frame);

void binary_name(struct binary_writer *writer, const char *name);

/* The strings that the format has for items. */
enum binary_known {
    KNOWN_ATTACHMENTS = 3, /* _attachments */
    KNOWN_ETAG,
    KNOWN_RID,
    KNOWN_SELF,
    KNOWN_TS,
    KNOWN_ATTACHMENTS_LINK, /* attachments/ */
};
void binary_known(struct binary_writer *writer, enum binary_known string);
void binary_value(struct binary_writer *writer, struct json value);
void binary_int(struct binary_writer *writer, int64_t number);

/* The members of an object, each name with its value. */
void binary_members(struct binary_writer *writer, struct json object);

/* A string of at most 255 bytes that the caller appends to the buffer between the two calls. */
size_t binary_begin_text(struct binary_writer *writer);
void binary_end_text(struct binary_writer *writer, size_t text);
