/* src/json/string.c - the text of a string to its bytes: escapes, UTF-8, what printing must escape. */
#include "json/escape.h"
#include "json/parser.h"

/* \uXXXX, and the second half of a pair; p->at is at the 'u'. */
static bool read_unicode(struct parser *p, uint32_t *code)
{
    size_t size = unicode_escape(p->at, p->end, code);

    if (size == 0 && hex4(p->at + 1, p->end) < 0)
        return parser_fail(p, "An escape without four hexadecimal digits");
    if (size == 0)
        return parser_fail(p, "A lone surrogate");
    p->at += size;
    return true;
}

/* The character an escape stands for; p->at is behind the backslash. */
static bool escape(struct parser *p, uint32_t *code)
{
    static const uint8_t meaning[256] = {
        ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
        ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
    };

    if (p->at == p->end)
        return parser_fail(p, "An unfinished string");
    if (*p->at == 'u')
        return read_unicode(p, code);
    *code = meaning[*p->at];
    if (!*code)
        return parser_fail(p, "An unknown escape");
    p->at++;
    return true;
}

/* A run of characters that are not ASCII. */
static bool copy_utf8(struct parser *p)
{
    const uint8_t *start = p->at;
    size_t size;

    for (; p->at < p->end && *p->at >= 0x80; p->at += size) {
        size = utf8_sequence(p->at, p->end);
        if (!size)
            return parser_fail(p, "Invalid UTF-8");
    }
    p->to = mempcpy(p->to, start, (size_t)(p->at - start));
    return true;
}

/* Reads what is not plain: an escape or characters beyond ASCII; p->at is at it. */
static bool other_character(struct parser *p, bool *escaped)
{
    uint32_t code = *p->at;

    if (code >= 0x80)
        return copy_utf8(p);
    if (code == 0)
        return parser_fail(p, "A NUL");
    p->at++;
    if (code == '\\' && !escape(p, &code))
        return false;
    *escaped |= code < 0x80 && byte_escapes((uint8_t)code);
    p->to = utf8_put(p->to, code);
    return true;
}

/* The rest of a string that may be long or hold anything; its bytes begin behind a long header. */
static bool rest_of_string(struct parser *p, uint8_t *tag)
{
    uint8_t *body = tag + STRING_HEADER, *start;
    bool escaped = false;
    size_t size;

    for (;;) {
        size = copy_plain(p->to, p->at, p->end);
        p->at += size;
        p->to += size;
        if (p->at == p->end)
            return parser_fail(p, "An unfinished string");
        if (*p->at == '"')
            break;
        if (!other_character(p, &escaped))
            return false;
    }
    p->at++;
    size = (size_t)(p->to - body);
    start = put_string_header(tag, size, escaped);
    if (start != body)
        memmove(start, body, size);
    p->to = start + size;
    return true;
}

/*
 * While a string may still turn out short and plain, its bytes go where those of a short string belong. After
 * SHORT_STRING_END of them, or at the first byte that is not plain, they move up to make room for a long header.
 */
bool parser_any_string(struct parser *p)
{
    const uint8_t *start = p->at + 1;
    const uint8_t *end = p->end - start > SHORT_STRING_END ? start + SHORT_STRING_END : p->end;
    uint8_t *tag = p->to;
    size_t size = copy_plain(tag + 1, start, end);

    p->at = start + size;
    if (p->at < end && *p->at == '"') {
        *tag = (uint8_t)(TAG_SHORT_STRING + size);
        p->to = tag + 1 + size;
        p->at++;
        return true;
    }
    memmove(tag + STRING_HEADER, tag + 1, size);
    p->to = tag + STRING_HEADER + size;
    return rest_of_string(p, tag);
}
