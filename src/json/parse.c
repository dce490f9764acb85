/*
 * src/json/parse.c - text to bytes in one pass.
 * A container's header is written last, over the place kept for it, when its size is known.
 */
#include "json/number.h"
#include "json/parser.h"

enum { TEXT_BYTES_MAX = 512 * 1024 * 1024 }; /* whose bytes surely fit the format's 32-bit sizes */

bool parser_fail(struct parser *p, const char *what)
{
    p->status =
        op_fail(p->op, ST_BAD_REQUEST,
                "The request payload is invalid. Ensure to provide a valid request payload. %s at byte %zu.",
                what, (size_t)(p->at - p->text));
    return false;
}

bool parser_fail_too_large(struct parser *p)
{
    p->status = op_fail_as(p->op, ST_TOO_LARGE);
    return false;
}

bool parser_fail_too_deep(struct parser *p)
{
    p->status = op_fail(p->op, ST_BAD_REQUEST,
                        "The request payload is invalid. Ensure to provide a valid request payload.");
    return false;
}

static bool fail_unexpected(struct parser *p)
{
    return parser_fail(p, p->at == p->end ? "Unexpected end" : "Unexpected character");
}

bool parser_grow(struct parser *p, size_t bytes)
{
    p->out.size = p->to ? parser_place(p) : 0;
    if (bytes > UINT32_MAX - p->out.size || !buf_reserve(&p->out, bytes))
        return parser_fail_too_large(p);
    p->to = (uint8_t *)p->out.data + p->out.size;
    p->limit = (uint8_t *)p->out.data + p->out.capacity;
    return true;
}

static inline bool make_room(struct parser *p)
{
    size_t wanted = (size_t)(p->end - p->at) + TOKEN_ROOM;

    return (size_t)(p->limit - p->to) >= wanted || parser_grow(p, wanted);
}

/* The next byte that is no white space; 0, which begins nothing, at the end. */
static inline uint8_t next_token(struct parser *p)
{
    for (; p->at < p->end; p->at++) {
        uint8_t c = *p->at;

        if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
            return c;
    }
    return 0;
}

static bool parse_literal(struct parser *p, const char *text, size_t size, enum tag tag)
{
    if ((size_t)(p->end - p->at) < size || memcmp(p->at, text, size) != 0)
        return fail_unexpected(p);
    p->at += size;
    *p->to++ = (uint8_t)tag;
    return true;
}

static bool parse_number(struct parser *p)
{
    struct number_text text;
    int64_t integer;
    double number;
    bool found = number_scan(p->at, p->end, &text);

    p->at = text.end;
    if (!found)
        return fail_unexpected(p);
    if (number_to_int(&text, &integer)) {
        p->to = put_int(p->to, integer);
        return true;
    }
    if (!number_to_double(&text, &p->op->arena, &number))
        return parser_fail_too_large(p);
    if (isinf(number))
        return parser_fail(p, "A number too large for a double");
    p->to = put_double(p->to, number);
    return true;
}

/* After an element or a member: steps over a comma, or over the end of the container. */
static inline bool parse_separator(struct parser *p, uint8_t close, bool *ended)
{
    uint8_t c = next_token(p);

    if (c != ',' && c != close)
        return fail_unexpected(p);
    p->at++;
    *ended = c == close;
    return true;
}

static bool parse_value(struct parser *p, int depth);

static bool parse_array(struct parser *p, int depth)
{
    size_t start = parser_place(p), count = 0;
    bool ended;

    p->at++;
    p->to += CONTAINER_HEADER;
    ended = next_token(p) == ']';
    p->at += ended;
    for (; !ended; count++)
        if (!parse_value(p, depth + 1) || !parse_separator(p, ']', &ended))
            return false;
    parser_end_container(p, start, TAG_ARRAY, count);
    return true;
}

static bool parse_name(struct parser *p)
{
    if (next_token(p) != '"')
        return fail_unexpected(p);
    if (!make_room(p) || !parser_string(p))
        return false;
    if (next_token(p) != ':')
        return fail_unexpected(p);
    p->at++;
    return true;
}

static bool parse_member(struct parser *p, struct object_names *names, int depth)
{
    size_t name_at = parser_place(p);
    struct name_entry *entry;

    if (!parse_name(p))
        return false;
    entry = names_add(&p->names, names, (const uint8_t *)p->out.data, name_at);
    if (!entry)
        return parser_fail_too_large(p);
    entry->value_at = (uint32_t)parser_place(p);
    return parse_value(p, depth + 1);
}

/* The new body is written behind the old one and moved over it. */
bool parser_drop_repeated(struct parser *p, const struct object_names *names, size_t start, size_t spare)
{
    const struct name_entry *entries = p->names.entries + names->first;
    size_t count = names_count(&p->names, names), body_bytes;
    uint8_t *body, *copy;

    if (!parser_grow(p, parser_place(p) - start + spare))
        return false;
    copy = p->to;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *name = (const uint8_t *)p->out.data + entries[i].name_at;
        const uint8_t *value = (const uint8_t *)p->out.data + entries[i].value_at;

        copy = mempcpy(copy, name, size_at(name));
        copy = mempcpy(copy, value, size_at(value));
    }
    body = (uint8_t *)p->out.data + start + CONTAINER_HEADER;
    body_bytes = (size_t)(copy - p->to);
    memmove(body, p->to, body_bytes);
    p->to = body + body_bytes;
    return true;
}

static bool parse_object(struct parser *p, int depth)
{
    struct object_names names = names_begin(&p->names);
    size_t start = parser_place(p);
    bool ended;

    p->at++;
    p->to += CONTAINER_HEADER;
    ended = next_token(p) == '}';
    p->at += ended;
    while (!ended)
        if (!parse_member(p, &names, depth) || !parse_separator(p, '}', &ended))
            return false;
    if (names.repeated && !parser_drop_repeated(p, &names, start, (size_t)(p->end - p->at) + TOKEN_ROOM))
        return false;
    parser_end_container(p, start, TAG_OBJECT, names_count(&p->names, &names));
    names_end(&p->names, &names);
    return true;
}

/* `depth` is how many containers are open around the value. */
static bool parse_value(struct parser *p, int depth)
{
    uint8_t c = next_token(p);

    if (!make_room(p))
        return false;
    switch (c) {
    case '"':
        return parser_string(p);
    case '{':
        return depth < JSON_DEPTH_MAX ? parse_object(p, depth) : parser_fail_too_deep(p);
    case '[':
        return depth < JSON_DEPTH_MAX ? parse_array(p, depth) : parser_fail_too_deep(p);
    case 't':
        return parse_literal(p, "true", 4, TAG_TRUE);
    case 'f':
        return parse_literal(p, "false", 5, TAG_FALSE);
    case 'n':
        return parse_literal(p, "null", 4, TAG_NULL);
    default:
        return parse_number(p);
    }
}

static bool parse_text(struct parser *p)
{
    if (p->end - p->text > TEXT_BYTES_MAX)
        return parser_fail_too_large(p);
    if (!parse_value(p, 0))
        return false;
    return next_token(p) == 0 && p->at == p->end ? true : fail_unexpected(p);
}

void parser_init(struct parser *p, struct op *op, struct slice bytes)
{
    p->op = op;
    p->text = p->at = (const uint8_t *)bytes.data;
    p->end = p->text + bytes.size;
    p->to = p->limit = NULL;
    p->status = ST_OK;
    buf_init(&p->out, &op->arena);
    names_init(&p->names, &op->arena);
}

enum status json_parse(struct op *op, struct slice text, struct json *value)
{
    struct parser p;

    parser_init(&p, op, text);
    if (!parse_text(&p))
        return p.status;
    value->at = (const uint8_t *)p.out.data;
    return ST_OK;
}
