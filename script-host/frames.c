/* script-host/frames.c - whole frames, read and written with blocking calls. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frames.h"

enum {
    FRAME_BROKEN_STATUS = 2,
    KEPT_BYTES_MAX = 1024 * 1024, /* a larger buffer is given back once its frame is done with */
};

void frame_broken(void)
{
    _exit(FRAME_BROKEN_STATUS);
}

/* All of it, or no return: a stream that ends between frames is the parent's goodbye. */
static void read_all(int fd, char *to, size_t bytes, int status_at_end)
{
    size_t done = 0;

    while (done < bytes) {
        ssize_t got = read(fd, to + done, bytes - done);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            _exit(done == 0 && got == 0 ? status_at_end : FRAME_BROKEN_STATUS);
        done += (size_t)got;
    }
}

static bool grow(char **buffer, size_t *buffer_bytes, size_t bytes)
{
    char *grown;

    if (bytes <= *buffer_bytes && (*buffer_bytes <= KEPT_BYTES_MAX || bytes > KEPT_BYTES_MAX))
        return true;
    free(*buffer);
    grown = malloc(bytes);
    *buffer = grown;
    *buffer_bytes = grown ? bytes : 0;
    return grown != NULL;
}

static uint32_t length_of(const unsigned char *header)
{
    return header[0] | (uint32_t)header[1] << 8 | (uint32_t)header[2] << 16 | (uint32_t)header[3] << 24;
}

void frame_read(int fd, struct frame *frame)
{
    unsigned char header[FRAME_HEADER_BYTES];
    uint32_t length;

    read_all(fd, (char *)header, sizeof(header), 0);
    length = length_of(header);
    if (length < 1 || length > FRAME_BYTES_MAX || !grow(&frame->buffer, &frame->buffer_bytes, length + 1))
        frame_broken();
    read_all(fd, frame->buffer, length, FRAME_BROKEN_STATUS);
    frame->buffer[length] = '\0';
    frame->kind = frame->buffer[0];
    frame->payload = frame->buffer + 1;
    frame->payload_bytes = length - 1;
}

char *outgoing_reserve(struct outgoing *out, size_t bytes)
{
    out->used = 0;
    return grow(&out->buffer, &out->buffer_bytes, FRAME_HEADER_BYTES + bytes)
               ? out->buffer + FRAME_HEADER_BYTES
               : NULL;
}

void outgoing_set(struct outgoing *out, enum frame_kind kind, const char *payload)
{
    size_t payload_bytes = strlen(payload);
    char *at = outgoing_reserve(out, 1 + payload_bytes + 1);

    if (!at)
        frame_broken();
    at[0] = (char)kind;
    memcpy(at + 1, payload, payload_bytes + 1);
    out->used = 1 + payload_bytes; /* the NUL stays here */
}

void frame_write(int fd, struct outgoing *out)
{
    size_t bytes = FRAME_HEADER_BYTES + out->used, done = 0;

    for (int i = 0; i < FRAME_HEADER_BYTES; i++)
        out->buffer[i] = (char)(out->used >> (8 * i));
    while (done < bytes) {
        ssize_t put = write(fd, out->buffer + done, bytes - done);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            frame_broken();
        done += (size_t)put;
    }
}
