/*
 * script-host/frames.h - frames in and out of the one socket; src/script/frames.h says what is in them.
 *
 * Ownership. A frame's bytes belong to the struct and live until the next read into it.
 * Threads. One.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "script/frames.h"

struct frame {
    char kind;
    char *payload; /* ends with a NUL that is not of it */
    size_t payload_bytes;

    char *buffer;
    size_t buffer_bytes;
};

/* A frame to be: room for the length, then `used` bytes, the first of them its kind. */
struct outgoing {
    char *buffer;
    size_t buffer_bytes, used;
};

/* Waits for a frame. Ends the process when the other end was closed (0) or broke the rules (FRAME_BROKEN_STATUS). */
void frame_read(int fd, struct frame *frame);

/* Room for kind and payload of up to `bytes`; NULL when there is no memory. */
char *outgoing_reserve(struct outgoing *out, size_t bytes);

/* kind and a short payload of our own. */
void outgoing_set(struct outgoing *out, enum frame_kind kind, const char *payload);

void frame_write(int fd, struct outgoing *out);

/* There is nobody to tell: the parent sees the end of the stream. No exit handlers: they may want what is denied. */
__attribute__((noreturn)) void frame_broken(void);
