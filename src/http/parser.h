/*
 * src/http/parser.h - HTTP/1.1 bytes to one request at a time; llhttp, which reads heads, is known here only.
 * An input holds what has come in, in one run of memory. The parser notes where things lie as
 * offsets, since the memory moves as it grows, and turns them into slices when the request is whole.
 *
 * Ownership. The input owns its memory; the slices of a request end when the input changes.
 */
#pragma once
#include <llhttp.h>

#include "http/framing.h"
#include "http/input.h"

struct parser {
    llhttp_t llhttp;
    const struct input *input; /* while parser_feed() runs */
    size_t head_bytes_max, body_bytes_max;
    struct framing framing;
    struct span target, name, value, body, header[HEADER_COUNT];
    uint8_t noted[HEADER_COUNT]; /* which of those there are: most requests have few */
    size_t noted_count;
    size_t head_bytes; /* up to the last thing noted */
    size_t head_size;  /* with the empty line that ends it */
    bool head_done, whole, keep_alive, old_version, expects_continue;
    enum status why;
    const char *reason; /* of PARSED_WRONG */
};

/* PARSED_HTTP2: these are the first bytes of HTTP/2 (RFC 9113, 3.4), and nothing is taken of them. */
enum parsed { PARSED_MORE, PARSED_WHOLE, PARSED_WRONG, PARSED_HTTP2 };

void parser_begin(struct parser *parser, size_t head_bytes_max, size_t body_bytes_max);

/* Takes what has come in. The bytes of a chunked body are moved together in the input. */
enum parsed parser_feed(struct parser *parser, struct input *input);

/* After PARSED_WHOLE. Headers that the request lacks are left as they are. */
void parser_request(const struct parser *parser, const struct input *input, struct request *request);

/* At any time; empty until it was read. */
struct slice parser_target(const struct parser *parser, const struct input *input);

/* What there is of it when its head is there: no body. */
void parser_request_head(const struct parser *parser, const struct input *input, struct request *request);

/* True when the head is here, and more of a body is coming than just anybody may send. */
static inline bool parser_needs_admission(const struct parser *parser, size_t small_bytes)
{
    return parser->head_done && (parser->expects_continue || parser->body.size > small_bytes ||
                                 (!parser->framing.is_chunked && parser->framing.left > small_bytes));
}

/* True when the headers are here, the client waits for "100 Continue", and has sent nothing of the body yet. */
static inline bool parser_awaits_continue(const struct parser *parser)
{
    return parser->expects_continue && parser->head_done && parser->body.size == 0;
}
