/* src/http/parser.c - llhttp's callbacks note where the parts of a request lie. */
#include <assert.h>

#include "http/parser.h"

static struct parser *parser_of(llhttp_t *llhttp)
{
    static_assert(offsetof(struct parser, llhttp) == 0);
    return (struct parser *)llhttp;
}

static char *base_of(const struct parser *parser)
{
    return parser->input->data + parser->input->start;
}

static int refuse(struct parser *parser, enum status why, const char *reason)
{
    parser->why = why;
    parser->reason = reason;
    return HPE_USER;
}

/* A part that began in the last read goes on at this one's first byte, so that parts only ever grow. */
static int extend(struct parser *parser, struct span *span, const char *at, size_t size)
{
    size_t offset = (size_t)(at - base_of(parser));

    if (offset + size > parser->head_bytes_max)
        return refuse(parser, ST_HEADERS_TOO_LARGE, "The request's headers are too large.");
    if (span->at == 0)
        span->at = (uint32_t)offset;
    if (span->at + span->size != offset)
        return refuse(parser, ST_BAD_REQUEST, "a header is folded over several lines");
    span->size += (uint32_t)size;
    parser->head_bytes = offset + size;
    return HPE_OK;
}

static int on_url(llhttp_t *llhttp, const char *at, size_t size)
{
    return extend(parser_of(llhttp), &parser_of(llhttp)->target, at, size);
}

static int on_header_field(llhttp_t *llhttp, const char *at, size_t size)
{
    return extend(parser_of(llhttp), &parser_of(llhttp)->name, at, size);
}

static int on_header_value(llhttp_t *llhttp, const char *at, size_t size)
{
    return extend(parser_of(llhttp), &parser_of(llhttp)->value, at, size);
}

static struct slice slice_at(const char *base, struct span span)
{
    return slice_make(base + span.at, span.size);
}

/* The last one wins where it is repeated. */
static void note_header(struct parser *parser, enum header_id id)
{
    if (parser->header[id].at == 0) {
        assert(parser->noted_count < HEADER_COUNT);
        parser->noted[parser->noted_count++] = (uint8_t)id;
    }
    parser->header[id] = parser->value;
}

static int on_header_value_complete(llhttp_t *llhttp)
{
    struct parser *parser = parser_of(llhttp);
    struct slice name = slice_at(base_of(parser), parser->name);
    const char *wrong;
    enum header_id id;

    /* llhttp's loose mode, which lets raw UTF-8 into targets, also takes such names; proxies may read them otherwise. */
    if (name.size == 0 || memchr(name.data, ' ', name.size) || name.data[name.size] != ':')
        return refuse(parser, ST_BAD_REQUEST, "a header's name is empty or has a space in it");
    if (parser->value.at == 0) /* present and empty is not absent */
        parser->value = (struct span){ parser->name.at + parser->name.size, 0 };
    wrong = framing_header(&parser->framing, name, slice_at(base_of(parser), parser->value));
    if (wrong)
        return refuse(parser, ST_BAD_REQUEST, wrong);
    id = header_find(name);
    if (id == HEADER_HOST && parser->header[id].at) /* a proxy may take the other one */
        return refuse(parser, ST_BAD_REQUEST, "there is more than one Host header");
    if (id != HEADER_COUNT)
        note_header(parser, id);
    else if (slice_is_nocase(name, "expect"))
        parser->expects_continue = slice_is_nocase(slice_at(base_of(parser), parser->value), "100-continue");
    parser->name = parser->value = (struct span){ 0 };
    return HPE_OK;
}

/* llhttp is done: it takes line ends and bodies less strictly than we do, and is not asked about them. */
static int on_headers_complete(llhttp_t *llhttp)
{
    struct parser *parser = parser_of(llhttp);
    struct slice bytes = slice_make(base_of(parser), parser->input->size - parser->input->start);
    const char *wrong;

    if (llhttp->http_major != 1)
        return refuse(parser, ST_BAD_REQUEST, "only HTTP/1.1 and HTTP/1.0 are spoken here");
    parser->old_version = llhttp->http_minor == 0;
    parser->expects_continue &= !parser->old_version;
    parser->keep_alive = llhttp_should_keep_alive(llhttp) != 0;
    wrong = framing_check_head(bytes, &parser->head_size);
    if (!wrong)
        wrong = framing_begin_body(&parser->framing, parser->old_version);
    if (wrong)
        return refuse(parser, ST_BAD_REQUEST, wrong);
    if (!parser->framing.is_chunked && parser->framing.left > parser->body_bytes_max)
        return refuse(parser, ST_TOO_LARGE, "Request size is too large");
    parser->head_done = true;
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_url = on_url,
    .on_header_field = on_header_field,
    .on_header_value = on_header_value,
    .on_header_value_complete = on_header_value_complete,
    .on_headers_complete = on_headers_complete,
};

void parser_begin(struct parser *parser, size_t head_bytes_max, size_t body_bytes_max)
{
    assert(head_bytes_max + body_bytes_max < UINT32_MAX / 4); /* spans are 32 bits */
    *parser = (struct parser){ .head_bytes_max = head_bytes_max, .body_bytes_max = body_bytes_max };
    llhttp_init(&parser->llhttp, HTTP_REQUEST, &settings);
}

/*
 * All that came in has been parsed. Nothing is kept of chunk sizes, extensions and trailers, so that a request
 * never takes more memory than its head and its body.
 */
static void forget_framing(const struct parser *parser, struct input *input)
{
    size_t end = parser->body.size ? parser->body.at + parser->body.size : parser->head_bytes;

    input->size = input->parsed = input->start + end;
}

static enum parsed want_more(struct parser *parser, struct input *input)
{
    input->parsed = input->size;
    if (parser->head_done) {
        forget_framing(parser, input);
    } else if (input->size - input->start > parser->head_bytes_max) {
        refuse(parser, ST_HEADERS_TOO_LARGE, "The request's headers are too large.");
        return PARSED_WRONG;
    }
    return PARSED_MORE;
}

static enum parsed feed_head(struct parser *parser, struct input *input)
{
    const char *from = input->data + input->parsed;
    llhttp_errno_t error = llhttp_execute(&parser->llhttp, from, input->size - input->parsed);

    if (error == HPE_OK)
        return want_more(parser, input);
    if (error == HPE_PAUSED) {
        assert(parser->head_done);
        input->parsed = input->start + parser->head_size;
        if (!parser->framing.is_chunked)
            input->expected = parser->head_size + parser->framing.left + INPUT_READ_BYTES;
        return PARSED_MORE;
    }
    if (parser->why == ST_OK)
        refuse(parser, ST_BAD_REQUEST, llhttp_get_error_reason(&parser->llhttp));
    return error == HPE_PAUSED_H2_UPGRADE ? PARSED_HTTP2 : PARSED_WRONG;
}

/* The parts of a body are moved together, over the lines between its chunks. False when it becomes too large. */
static bool add_to_body(struct parser *parser, struct slice part)
{
    struct span *body = &parser->body;
    char *to;

    if (part.size > parser->body_bytes_max - body->size) {
        refuse(parser, ST_TOO_LARGE, "Request size is too large");
        return false;
    }
    if (body->at == 0)
        body->at = (uint32_t)(part.data - base_of(parser));
    to = base_of(parser) + body->at + body->size;
    if (to != part.data)
        memmove(to, part.data, part.size);
    body->size += (uint32_t)part.size;
    return true;
}

static enum parsed feed_body(struct parser *parser, struct input *input)
{
    struct framing *framing = &parser->framing;
    struct slice part;
    size_t taken;

    while (framing->state != FRAMING_DONE && input->parsed < input->size) {
        struct slice bytes = slice_make(input->data + input->parsed, input->size - input->parsed);
        const char *wrong = framing_take(framing, bytes, &part, &taken);

        if (wrong)
            refuse(parser, ST_BAD_REQUEST, wrong);
        if (wrong || (part.size && !add_to_body(parser, part)))
            return PARSED_WRONG;
        input->parsed += taken;
    }
    if (framing->state != FRAMING_DONE)
        return want_more(parser, input);
    parser->whole = true;
    return PARSED_WHOLE;
}

enum parsed parser_feed(struct parser *parser, struct input *input)
{
    enum parsed parsed = PARSED_MORE;

    assert(!parser->whole); /* one request at a time */
    assert(input->parsed <= input->size);
    parser->input = input;
    if (!parser->head_done)
        parsed = feed_head(parser, input);
    if (parsed == PARSED_MORE && parser->head_done)
        parsed = feed_body(parser, input);
    return parsed;
}

static enum method method_of(uint8_t method)
{
    switch (method) {
    case HTTP_GET:
        return METHOD_GET;
    case HTTP_HEAD:
        return METHOD_HEAD;
    case HTTP_POST:
        return METHOD_POST;
    case HTTP_PUT:
        return METHOD_PUT;
    case HTTP_PATCH:
        return METHOD_PATCH;
    case HTTP_DELETE:
        return METHOD_DELETE;
    case HTTP_OPTIONS:
        return METHOD_OPTIONS;
    default:
        return METHOD_OTHER;
    }
}

struct slice parser_target(const struct parser *parser, const struct input *input)
{
    return parser->target.size ? slice_at(input->data + input->start, parser->target) : (struct slice){ 0 };
}

void parser_request_head(const struct parser *parser, const struct input *input, struct request *request)
{
    const char *base = input->data + input->start;

    assert(parser->head_done);
    request->method = method_of(parser->llhttp.method);
    request->target = slice_at(base, parser->target);
    for (size_t i = 0; i < parser->noted_count; i++)
        request->header[parser->noted[i]] = slice_trim(slice_at(base, parser->header[parser->noted[i]]));
}

void parser_request(const struct parser *parser, const struct input *input, struct request *request)
{
    assert(parser->whole);
    parser_request_head(parser, input, request);
    request->body = slice_at(input->data + input->start, parser->body);
}
