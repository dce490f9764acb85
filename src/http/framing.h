/*
 * src/http/framing.h - where a request's head and body end, read as strictly as it is written.
 * A server in front of this one may read the same bytes. If the two differ about where a request ends, somebody can
 * hide a request in another one's body. So there is one way to write each thing, and every other way is refused: lines
 * end in CRLF, a header is one line, a body has one Content-Length of digits or is exactly "chunked", and a chunk ends
 * where its size says, in CRLF (RFC 9112, 2.2, 5.1, 5.2, 6, 7.1).
 *
 * Every function that refuses gives the reason as a text for the client, and NULL when there is nothing wrong.
 */
#pragma once
#include "base/exchange.h"

/* The line ends of a whole head, from the request's first byte on. `bytes` may go on behind its `size` bytes. */
const char *framing_check_head(struct slice bytes, size_t *size);

enum framing_state {
    FRAMING_BODY, /* `left` bytes of it, or of the chunk, are to come */
    FRAMING_CHUNK_CR,
    FRAMING_CHUNK_LF,
    FRAMING_SIZE_FIRST,
    FRAMING_SIZE,
    FRAMING_EXTENSION,
    FRAMING_SIZE_LF,
    FRAMING_TRAILER_FIRST,
    FRAMING_TRAILER,
    FRAMING_TRAILER_LF,
    FRAMING_END_LF,
    FRAMING_DONE,
};

struct framing {
    uint64_t left;
    size_t trailer_bytes;
    enum framing_state state;
    bool has_length, is_chunked;
};

/* Takes one header of the head; those that are not about the body are passed over. */
const char *framing_header(struct framing *framing, struct slice name, struct slice value);

/* The head has ended. */
const char *framing_begin_body(struct framing *framing, bool old_version);

/*
 * Takes what came of the body, up to the body's end. `part` is the next run of its content in there, which may be empty.
 * `taken` bytes are done with. Called again for the rest until nothing is left or the state is FRAMING_DONE.
 */
const char *framing_take(struct framing *framing, struct slice bytes, struct slice *part, size_t *taken);
