/* src/query/text/literal.c - what the text of a number or a string stands for. */
#include <assert.h>
#include <math.h>

#include "json/escape.h"
#include "json/number.h"
#include "query/text/lex.h"
#include "query/text/mistake.h"

enum { CODE_REPLACEMENT = 0xfffd };

/* What a backslash and `c` stand for where no \u is meant: any other character is itself. */
static char plain_escape(char c)
{
    static const char meaning[256] = { ['b'] = '\b', ['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t' };

    return meaning[(uint8_t)c] ? meaning[(uint8_t)c] : c;
}

/* Half a pair is no character, which UTF-8 could hold: U+FFFD stands for it. */
static size_t read_unicode(const char *at, const char *end, uint32_t *code)
{
    size_t size = unicode_escape((const uint8_t *)at, (const uint8_t *)end, code);

    if (size > 0)
        return size;
    *code = CODE_REPLACEMENT;
    return 5;
}

/* Writes what the text stands for, which is never longer, and returns the end. */
static char *unescape(char *to, const char *at, const char *end)
{
    uint32_t code = 0;

    while (at < end) {
        if (*at != '\\') {
            *to++ = *at++;
        } else if (at[1] == 'u') { /* the lexer has seen to four digits */
            at += 1 + read_unicode(at + 1, end, &code);
            to = (char *)utf8_put((uint8_t *)to, code);
        } else {
            *to++ = plain_escape(at[1]);
            at += 2;
        }
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

/* The bits of an int64: from 0x8000000000000000 on they are those of a negative number. */
static struct value hexadecimal(struct slice digits, bool negative)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < digits.size; i++) {
        if (bits >> 60)
            return value_double(INFINITY);
        bits = bits << 4 | (uint64_t)hex_digit((uint8_t)digits.data[i]);
    }
    return value_int((int64_t)(negative ? 0 - bits : bits));
}

static bool is_digit(struct slice text, size_t i)
{
    return i < text.size && text.data[i] >= '0' && text.data[i] <= '9';
}

/* 007, 1. and .5 as JSON would write them: 7, 1.0 and 0.5. */
static enum status as_json_number(struct op *op, struct slice text, struct slice *json)
{
    char *start = arena_try_alloc(&op->arena, text.size + 2), *to = start;
    size_t i = 0;

    if (!start)
        return mistake_memory(op);
    if (text.data[i] == '-')
        *to++ = text.data[i++];
    while (text.data[i] == '0' && is_digit(text, i + 1))
        i++;
    if (text.data[i] == '.')
        *to++ = '0';
    for (; i < text.size; i++) {
        *to++ = text.data[i];
        if (text.data[i] == '.' && !is_digit(text, i + 1))
            *to++ = '0';
    }
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
    size_t sign = text.data[0] == '-';

    if (text.size > sign + 2 && (text.data[sign + 1] | 0x20) == 'x') {
        *number = hexadecimal(slice_after(text, sign + 2), sign > 0);
        return ST_OK;
    }
    return decimal(op, text, number);
}
