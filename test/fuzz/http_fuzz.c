/*
 * test/fuzz/http_fuzz.c - any bytes, cut anywhere, give requests that lie inside what came in.
 * The first byte says how the rest is cut: into pieces of so many bytes, or, when it is 0, into
 * pieces whose sizes follow from the bytes themselves. Every cut must give the same requests, unless
 * a head is at its limit: of one that comes at once, the line ends are not counted.
 */
#include <assert.h>
#include <stdlib.h>

#include "http/parser.h"

enum { HEAD_BYTES_MAX = 512, BODY_BYTES_MAX = 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_inside(const struct input *input, struct slice part)
{
    if (!part.data)
        return;
    assert(part.data >= input->data && part.data + part.size <= input->data + input->parsed);
}

static uint32_t mix(uint32_t hash, struct slice part)
{
    for (size_t i = 0; i < part.size; i++)
        hash = (hash ^ (uint8_t)part.data[i]) * 16777619u;
    return (hash ^ (part.data != NULL)) * 16777619u;
}

static uint32_t check_request(const struct parser *parser, const struct input *input)
{
    struct request request = { 0 };
    uint32_t hash = 2166136261u;

    parser_request(parser, input, &request);
    check_inside(input, request.target);
    check_inside(input, request.body);
    assert(request.target.size <= HEAD_BYTES_MAX && request.body.size <= BODY_BYTES_MAX);
    hash = mix(mix(hash, request.target), request.body);
    for (int id = 0; id < HEADER_COUNT; id++) {
        check_inside(input, request.header[id]);
        hash = mix(hash, request.header[id]);
    }
    return hash ^ (uint32_t)request.method;
}

/* Takes requests off the input until there is none whole; false when one is wrong. */
static bool take_requests(struct parser *parser, struct input *input, uint32_t *hash)
{
    while (input_has_more(input)) {
        switch (parser_feed(parser, input)) {
        case PARSED_MORE:
            assert(input->size - input->start <= HEAD_BYTES_MAX + BODY_BYTES_MAX + 256);
            return true;
        case PARSED_WRONG:
            assert(parser->why != ST_OK && parser->reason);
            return false;
        case PARSED_HTTP2:
            return false;
        case PARSED_WHOLE:
            *hash = *hash * 31 + check_request(parser, input);
            input_next(input);
            parser_begin(parser, HEAD_BYTES_MAX, BODY_BYTES_MAX);
        }
    }
    return true;
}

static uint32_t parse(const uint8_t *data, size_t size, size_t piece, bool *at_limit)
{
    struct parser parser;
    struct input input = { 0 };
    uint32_t hash = 0;

    parser_begin(&parser, HEAD_BYTES_MAX, BODY_BYTES_MAX);
    for (size_t at = 0, next; at < size; at += next) {
        next = piece ? piece : 1u + data[at] % 7;
        if (next > size - at)
            next = size - at;
        if (!input_reserve(&input, next))
            abort();
        memcpy(input.data + input.size, data + at, next);
        input.size += next;
        if (!take_requests(&parser, &input, &hash))
            break;
    }
    *at_limit |= parser.why == ST_HEADERS_TOO_LARGE;
    input_free(&input);
    return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t one_by_one, cut;
    bool at_limit = false;

    if (size == 0)
        return 0;
    one_by_one = parse(data + 1, size - 1, 1, &at_limit);
    cut = parse(data + 1, size - 1, data[0], &at_limit);
    assert(one_by_one == cut || at_limit);
    return 0;
}
