/* src/rntbd/request.h - a frame's head to the request that it stands for. */
#pragma once
#include "http/session.h"
#include "frame/frame.h"

/* What a frame says of itself besides its request. */
struct frame_about {
    uint16_t resource, operation;
    uint32_t request_id;
    bool has_payload;
};

/* The fixed fields, and the tokens that say how the frame goes on. False: it is none. */
bool frame_look(struct slice head, struct frame_about *about);

/*
 * Notes method, target and headers in the stream. A request that means nothing here is refused, with its reason in the
 * stream. False: the head is malformed. `version` is the protocol's, as the client has told it when it connected.
 */
bool frame_read_request(struct stream *stream, struct slice head, struct slice version);
