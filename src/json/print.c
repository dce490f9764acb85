/*
 * src/json/print.c - bytes to text.
 * `to` is where the next byte goes; each function returns it moved on, or NULL past the limit.
 * Each value and name is printed with the separator that follows it, so that one question for
 * room serves both; the last separator of a container becomes its bracket.
 */
#include "json/number.h"
#include "json/scan.h"

enum { ESCAPE_TEXT_MAX = 6, SHORT_COPY = 16 };

struct printer {
    struct buf *out;
    char *limit;
    const uint8_t *end; /* bytes of the value may be read up to here */
};

static char *more_room(struct printer *p, char *to, size_t bytes)
{
    if (to)
        p->out->size = (size_t)(to - p->out->data);
    to = buf_reserve(p->out, bytes);
    p->limit = p->out->data + p->out->capacity;
    return to;
}

static inline char *room(struct printer *p, char *to, size_t bytes)
{
    return (size_t)(p->limit - to) >= bytes ? to : more_room(p, to, bytes);
}

/* `end` is the first byte behind the value. NULL when the buffer has failed before. */
static char *begin(struct printer *p, struct buf *out, const uint8_t *end)
{
    *p = (struct printer){ .out = out, .end = end };
    return more_room(p, NULL, 1);
}

/* Gives the buffer what was printed, without the last separator. */
static void finish(struct printer *p, const char *to)
{
    if (to)
        p->out->size = (size_t)(to - p->out->data) - 1;
}

static char *put_escape(char *to, uint8_t c)
{
    static const char letters[256] = {
        ['"'] = '"', ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't',
    };
    static const char hex[] = "0123456789abcdef";

    *to++ = '\\';
    if (letters[c]) {
        *to++ = letters[c];
        return to;
    }
    to = mempcpy(to, "u00", 3);
    *to++ = hex[c >> 4];
    *to++ = hex[c & 15];
    return to;
}

/* A string with something to escape in it: runs that need no escape, and an escape after each. */
static char *print_escaped(struct printer *p, char *to, struct slice text, char separator)
{
    const uint8_t *at = (const uint8_t *)text.data, *end = at + text.size;

    to = room(p, to, 1);
    if (to)
        *to++ = '"';
    while (to && at < end) {
        size_t run = count_unescaped(at, end);

        to = room(p, to, run + ESCAPE_TEXT_MAX);
        if (!to)
            return NULL;
        to = mempcpy(to, at, run);
        at += run;
        if (at < end)
            to = put_escape(to, *at++);
    }
    to = to ? room(p, to, 2) : NULL;
    if (!to)
        return NULL;
    *to++ = '"';
    *to++ = separator;
    return to;
}

static inline char *print_plain(struct printer *p, char *to, struct slice text, char separator)
{
    to = room(p, to, text.size + SHORT_COPY + 3);
    if (!to)
        return NULL;
    *to++ = '"';
    if (text.size <= SHORT_COPY && p->end - (const uint8_t *)text.data >= SHORT_COPY)
        memcpy(to, text.data, SHORT_COPY); /* a copy of known size needs no call */
    else
        copy_short(to, text.data, text.size);
    to += text.size;
    *to++ = '"';
    *to++ = separator;
    return to;
}

static inline char *print_string(struct printer *p, char *to, const uint8_t *at, char separator)
{
    if (*at == TAG_ESCAPED_STRING)
        return print_escaped(p, to, string_at(at), separator);
    return print_plain(p, to, string_at(at), separator);
}

/* In quotes, for JSON has no such number. */
static char *print_not_finite(char *to, double number)
{
    struct slice name = json_name_not_finite(number);

    *to++ = '"';
    to = mempcpy(to, name.data, name.size);
    *to++ = '"';
    return to;
}

static char *print_number(struct printer *p, char *to, const uint8_t *at)
{
    to = room(p, to, NUMBER_TEXT_MAX + 1);
    if (!to)
        return NULL;
    if (*at == TAG_F64 && !isfinite(load_double(at + 1)))
        to = print_not_finite(to, load_double(at + 1));
    else if (*at == TAG_F64)
        to = number_print_double(to, load_double(at + 1));
    else
        to = number_print_int(to, int_at(at));
    *to++ = ',';
    return to;
}

static char *print_word(struct printer *p, char *to, const char *word, size_t size)
{
    to = room(p, to, size);
    return to ? mempcpy(to, word, size) : NULL;
}

static char *print_value(struct printer *p, char *to, const uint8_t *at);

static char *print_elements(struct printer *p, char *to, const uint8_t *at)
{
    const uint8_t *end = at + size_at(at);

    for (at += CONTAINER_HEADER; to && at < end; at += size_at(at))
        to = print_value(p, to, at);
    return to;
}

static char *print_members(struct printer *p, char *to, const uint8_t *at)
{
    const uint8_t *end = at + size_at(at);

    for (at += CONTAINER_HEADER; to && at < end; at += size_at(at)) {
        to = print_string(p, to, at, ':');
        at += size_at(at);
        to = to ? print_value(p, to, at) : NULL;
    }
    return to;
}

static char *print_container(struct printer *p, char *to, const uint8_t *at)
{
    bool is_object = *at == TAG_OBJECT, is_empty = load_u32(at + 5) == 0;

    to = room(p, to, 1);
    if (!to)
        return NULL;
    *to++ = is_object ? '{' : '[';
    to = is_object ? print_members(p, to, at) : print_elements(p, to, at);
    to = to ? room(p, to, 2) : NULL;
    if (!to)
        return NULL;
    to -= !is_empty; /* the last comma */
    *to++ = is_object ? '}' : ']';
    *to++ = ',';
    return to;
}

/* The value and a comma. */
static char *print_value(struct printer *p, char *to, const uint8_t *at)
{
    if (tag_is_string(*at))
        return print_string(p, to, at, ',');
    switch (*at) {
    case TAG_NULL:
        return print_word(p, to, "null,", 5);
    case TAG_FALSE:
        return print_word(p, to, "false,", 6);
    case TAG_TRUE:
        return print_word(p, to, "true,", 5);
    case TAG_ARRAY:
    case TAG_OBJECT:
        return print_container(p, to, at);
    default:
        return print_number(p, to, at);
    }
}

void json_print(struct buf *out, struct json value)
{
    struct printer p;
    char *to;

    if (!value.at)
        return;
    to = begin(&p, out, value.at + size_at(value.at));
    finish(&p, to ? print_value(&p, to, value.at) : NULL);
}

bool json_print_members(struct buf *out, struct json object)
{
    struct printer p;
    char *to;

    assert(json_kind(object) == JSON_OBJECT);
    if (json_count(object) == 0)
        return false;
    to = begin(&p, out, object.at + size_at(object.at));
    finish(&p, to ? print_members(&p, to, object.at) : NULL);
    return true;
}

void json_print_string(struct buf *out, struct slice text)
{
    const uint8_t *at = (const uint8_t *)text.data, *end = at + text.size;
    struct printer p;
    char *to = begin(&p, out, end);

    if (to && count_unescaped(at, end) == text.size)
        finish(&p, print_plain(&p, to, text, ','));
    else if (to)
        finish(&p, print_escaped(&p, to, text, ','));
}

/* JSON cannot write a number that is not finite; as JavaScript does, null is printed. */
void json_print_double(struct buf *out, double number)
{
    char text[NUMBER_TEXT_MAX];

    if (isfinite(number))
        buf_append(out, text, (size_t)(number_print_double(text, number) - text));
    else
        buf_append(out, "null", 4);
}
