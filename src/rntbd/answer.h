/* src/rntbd/answer.h - an answer of HTTP to the head of a frame. */
#pragma once
#include "http/session.h"
#include "frame/frame.h"

/* What of the answer does not come from its headers. */
struct frame_answer {
    const uint8_t *activity_id;
    uint32_t request_id;
    struct slice asked_session; /* what the client has seen, as it told; may be absent */
};

/* The payload is the answer's body, and follows the frame where there is one. */
void frame_print_answer(struct buf *out, const struct frame_answer *frame,
                        const struct session_answer *answer);
