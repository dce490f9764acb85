/* src/query/text/literal.c - what the text of a number or a string stands for. */
#include <assert.h>
#include <stdlib.h>

#include "json/escape.h"
#include "json/number.h"
#include "query/text/lex.h"
#include "query/text/mistake.h"

size_t escape_read(const char *at, const char *end, uint32_t *code)
{
    static const uint8_t meaning[256] = {
        ['"'] = '"',  ['\''] = '\'', ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
        ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r',  ['t'] = '\t',
    };

    if (at == end)
        return 0;
    if (*at == 'u')
        return unicode_escape((const uint8_t *)at, (const uint8_t *)end, code);
    *code = meaning[(uint8_t)*at];
    return *code ? 1 : 0;
}

/* Writes what the text stands for, which is never longer, and returns the end. */
static char *unescape(char *to, const char *at, const char *end)
{
    uint32_t code = 0;
    size_t size;

    while (at < end) {
        if (*at != '\\') {
            *to++ = *at++;
            continue;
        }
        size = escape_read(at + 1, end, &code);
        assert(size > 0); /* the lexer takes no other for a string */
        at += 1 + size;
        to = (char *)utf8_put((uint8_t *)to, code);
    }
    return to;
}

enum status token_string(struct op *op, const struct token *token, struct slice *string)
{
    struct slice text = slice_make(token->text.data + 1, token->text.size - 2);
    char *start;

    *string = text;
    if (!text.size || !memchr(text.data, '\\', text.size))
        return ST_OK;
    start = arena_try_alloc(&op->arena, text.size);
    if (!start)
        return mistake_memory(op);
    *string = slice_make(start, (size_t)(unescape(start, text.data, text.data + text.size) - start));
    return ST_OK;
}

/* Past 64 bits strtod() rounds; it wants a NUL behind the text. */
static enum status long_hexadecimal(struct op *op, struct slice text, struct value *number)
{
    char *copy = arena_try_alloc(&op->arena, text.size + 1);

    if (!copy)
        return mistake_memory(op);
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    *number = value_double(strtod(copy, NULL));
    return ST_OK;
}

static enum status hexadecimal(struct op *op, struct slice text, struct value *number)
{
    uint64_t bits = 0;

    for (size_t i = 2; i < text.size; i++) {
        if (bits >> 60)
            return long_hexadecimal(op, text, number);
        bits = bits << 4 | (uint64_t)hex_digit((uint8_t)text.data[i]);
    }
    *number = bits <= INT64_MAX ? value_int((int64_t)bits) : value_double((double)bits);
    return ST_OK;
}

static bool is_digit(struct slice text, size_t i)
{
    return i < text.size && text.data[i] >= '0' && text.data[i] <= '9';
}

/* 007, 1. and .5 as JSON would write them: 7, 1 and 0.5. */
static enum status as_json_number(struct op *op, struct slice text, struct slice *json)
{
    char *start = arena_try_alloc(&op->arena, text.size + 1), *to = start;
    size_t i = 0;

    if (!start)
        return mistake_memory(op);
    while (text.data[i] == '0' && is_digit(text, i + 1))
        i++;
    if (text.data[i] == '.')
        *to++ = '0';
    for (; i < text.size; i++)
        if (text.data[i] != '.' || is_digit(text, i + 1))
            *to++ = text.data[i];
    *json = slice_make(start, (size_t)(to - start));
    return ST_OK;
}

static bool scans_whole(struct slice text, struct number_text *scanned)
{
    const uint8_t *at = (const uint8_t *)text.data, *end = at + text.size;

    return number_scan(at, end, scanned) && scanned->end == end;
}

static enum status convert(struct op *op, const struct number_text *scanned, struct value *number)
{
    int64_t integer;
    double real;

    if (number_to_int(scanned, &integer)) {
        *number = value_int(integer);
        return ST_OK;
    }
    if (!number_to_double(scanned, &op->arena, &real))
        return mistake_memory(op);
    *number = value_double(real);
    return ST_OK;
}

static enum status decimal(struct op *op, struct slice text, struct value *number)
{
    struct number_text scanned;
    enum status st;
    bool whole;

    if (scans_whole(text, &scanned))
        return convert(op, &scanned, number);
    TRY(as_json_number(op, text, &text));
    whole = scans_whole(text, &scanned);
    assert(whole); /* the lexer takes nothing else for a number */
    TRY(convert(op, &scanned, number));
out:
    return st;
}

enum status token_number(struct op *op, const struct token *token, struct value *number)
{
    struct slice text = token->text;

    if (text.size > 2 && (text.data[1] | 0x20) == 'x')
        return hexadecimal(op, text, number);
    return decimal(op, text, number);
}
