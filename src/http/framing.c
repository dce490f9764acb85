/* src/http/framing.c - line ends of the head, lengths of the body, and a table of steps through chunks. */
#include <assert.h>

#include "http/framing.h"

enum { TRAILER_BYTES_MAX = 8 * 1024, SIZE_DIGITS_MAX = 15 };

/* The head */

static const char *check_line(struct slice line)
{
    if (line.size == 0 || line.data[line.size - 1] != '\r')
        return "a line does not end in CRLF";
    if (memchr(line.data, '\r', line.size - 1))
        return "a line has a CR in it";
    if (line.data[0] == ' ' || line.data[0] == '\t')
        return "a header is folded over several lines";
    return NULL;
}

const char *framing_check_head(struct slice bytes, size_t *size)
{
    bool begun = false; /* empty lines before a request are passed over */
    size_t at = 0;

    while (at < bytes.size) {
        const char *from = bytes.data + at, *end = memchr(from, '\n', bytes.size - at);
        struct slice line = slice_make(from, end ? (size_t)(end - from) : bytes.size - at);
        const char *wrong = check_line(line);

        if (wrong)
            return wrong;
        at += line.size + 1;
        *size = at;
        if (begun && line.size == 1)
            return NULL;
        begun |= line.size > 1;
    }
    return "its head does not end in an empty line";
}

const char *framing_header(struct framing *framing, struct slice name, struct slice value)
{
    if (slice_is_nocase(name, "content-length")) {
        if (framing->has_length)
            return "there is more than one Content-Length header";
        framing->has_length = true;
        if (!slice_to_u64(slice_trim(value), &framing->left))
            return "its Content-Length is no number";
    } else if (slice_is_nocase(name, "transfer-encoding")) {
        if (framing->is_chunked)
            return "there is more than one Transfer-Encoding header";
        framing->is_chunked = true;
        if (!slice_is_nocase(slice_trim(value), "chunked"))
            return "its Transfer-Encoding is not chunked";
    }
    return NULL;
}

const char *framing_begin_body(struct framing *framing, bool old_version)
{
    if (framing->is_chunked && framing->has_length)
        return "it has both a Content-Length and a Transfer-Encoding";
    if (framing->is_chunked && old_version)
        return "HTTP/1.0 has no Transfer-Encoding";
    framing->state = framing->is_chunked ? FRAMING_SIZE_FIRST : FRAMING_BODY;
    if (!framing->is_chunked && framing->left == 0)
        framing->state = FRAMING_DONE;
    return NULL;
}

/* Chunks, a byte at a time but for their content */

static const char *expect(struct framing *framing, char byte, char expected, enum framing_state next)
{
    if (byte != expected)
        return "a chunk's line does not end in CRLF";
    framing->state = next;
    return NULL;
}

static int hex_digit(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

static const char *take_size(struct framing *framing, char byte)
{
    int digit = hex_digit(byte);

    if (digit < 0 && framing->state == FRAMING_SIZE_FIRST)
        return "a chunk's size is no number";
    if (digit >= 0) {
        if (framing->left >> 4 * (SIZE_DIGITS_MAX - 1))
            return "a chunk's size is no number";
        framing->left = framing->left << 4 | (unsigned)digit;
        framing->state = FRAMING_SIZE;
        return NULL;
    }
    if (byte != ';')
        return expect(framing, byte, '\r', FRAMING_SIZE_LF);
    framing->state = FRAMING_EXTENSION;
    return NULL;
}

static const char *take_extension(struct framing *framing, char byte)
{
    if (byte == '\r')
        framing->state = FRAMING_SIZE_LF;
    else if ((unsigned char)byte < ' ' && byte != '\t')
        return "a chunk's line does not end in CRLF";
    return NULL;
}

/* Trailers are passed over: nothing that comes after the body may change what the head said. */
static const char *take_trailer(struct framing *framing, char byte)
{
    bool first = framing->state == FRAMING_TRAILER_FIRST;

    if (++framing->trailer_bytes > TRAILER_BYTES_MAX)
        return "its trailers are too long";
    if (byte == '\r')
        framing->state = first ? FRAMING_END_LF : FRAMING_TRAILER_LF;
    else if (byte == '\n' || byte == '\0' || (first && (byte == ' ' || byte == '\t')))
        return "a trailer's line does not end in CRLF";
    else
        framing->state = FRAMING_TRAILER;
    return NULL;
}

static const char *take_byte(struct framing *framing, char byte)
{
    switch (framing->state) {
    case FRAMING_SIZE_FIRST:
    case FRAMING_SIZE:
        return take_size(framing, byte);
    case FRAMING_EXTENSION:
        return take_extension(framing, byte);
    case FRAMING_SIZE_LF:
        return expect(framing, byte, '\n', framing->left ? FRAMING_BODY : FRAMING_TRAILER_FIRST);
    case FRAMING_CHUNK_CR:
        return expect(framing, byte, '\r', FRAMING_CHUNK_LF);
    case FRAMING_CHUNK_LF:
        return expect(framing, byte, '\n', FRAMING_SIZE_FIRST);
    case FRAMING_TRAILER_FIRST:
    case FRAMING_TRAILER:
        return take_trailer(framing, byte);
    case FRAMING_TRAILER_LF:
        return expect(framing, byte, '\n', FRAMING_TRAILER_FIRST);
    case FRAMING_END_LF:
        return expect(framing, byte, '\n', FRAMING_DONE);
    case FRAMING_BODY:
    case FRAMING_DONE:
        break;
    }
    assert(false); /* framing_take() comes here with the others */
    return NULL;
}

static void take_content(struct framing *framing, struct slice bytes, struct slice *part)
{
    size_t size = bytes.size < framing->left ? bytes.size : (size_t)framing->left;

    *part = slice_make(bytes.data, size);
    framing->left -= size;
    if (framing->left == 0)
        framing->state = framing->is_chunked ? FRAMING_CHUNK_CR : FRAMING_DONE;
}

const char *framing_take(struct framing *framing, struct slice bytes, struct slice *part, size_t *taken)
{
    const char *wrong = NULL;
    size_t at = 0;

    *part = slice_make(bytes.data, 0);
    while (!wrong && at < bytes.size && framing->state != FRAMING_BODY && framing->state != FRAMING_DONE)
        wrong = take_byte(framing, bytes.data[at++]);
    if (!wrong && framing->state == FRAMING_BODY && at < bytes.size)
        take_content(framing, slice_after(bytes, at), part);
    *taken = at + part->size;
    return wrong;
}
