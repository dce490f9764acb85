/*
 * src/query/eval/like.c - matching a LIKE pattern.
 * A pattern is segments between its %. Within a segment each element matches exactly one character,
 * so the first segment has one place (the front), the last has one (the end), and each other is best
 * put at the first place where it fits: what it leaves is never less than a later place would leave.
 */
#include "query/eval/like.h"
#include "query/eval/chars.h"

enum element_kind {
    ELEMENT_END,   /* of the pattern */
    ELEMENT_RUN,   /* % */
    ELEMENT_ANY,   /* _ */
    ELEMENT_CHAR,  /* body: its bytes */
    ELEMENT_SET,   /* body: what stands between the brackets, ^ excluded */
    ELEMENT_NEVER, /* an escape with nothing behind it: matches nothing */
};

struct element {
    enum element_kind kind;
    bool negated; /* of a set */
    struct slice body;
};

struct segment {
    struct slice pattern;
    size_t characters; /* that it matches */
    bool plain;        /* nothing but characters that stand for themselves */
};

struct like {
    struct eval *eval;
    struct slice escape;
    const char *unclosed; /* from here on no bracket is ever closed; NULL: not known */
};

static struct slice take(struct slice *rest, size_t size)
{
    struct slice taken = slice_make(rest->data, size);

    *rest = slice_after(*rest, size);
    return taken;
}

/* rest is not empty */
static struct slice take_character(struct slice *rest)
{
    const char *at = rest->data;

    chars_next(&at, rest->data + rest->size);
    return take(rest, (size_t)(at - rest->data));
}

static bool is_escape(struct like *like, struct slice rest)
{
    return like->escape.size && chars_starts(rest, like->escape);
}

/* A character that stands for itself, or the one behind an escape; empty when an escape is all there is. */
static struct slice take_literal(struct like *like, struct slice *rest)
{
    if (is_escape(like, *rest)) {
        take(rest, like->escape.size);
        if (!rest->size)
            return *rest;
    }
    return take_character(rest);
}

/* What stands before the closing bracket; false when nothing closes it. */
static bool take_set(struct like *like, struct slice *rest, struct slice *body)
{
    struct slice at = *rest;

    if (like->unclosed && rest->data >= like->unclosed)
        return false;
    while (at.size && at.data[0] != ']')
        take_literal(like, &at);
    if (!at.size) {
        like->unclosed = rest->data;
        return false;
    }
    *body = take(rest, rest->size - at.size);
    take(rest, 1);
    return true;
}

static struct element set_element(struct slice body)
{
    bool negated = body.size && body.data[0] == '^';

    return (struct element){ ELEMENT_SET, negated, slice_after(body, negated) };
}

static struct element next_element(struct like *like, struct slice *rest)
{
    struct slice after, body;

    if (!rest->size)
        return (struct element){ .kind = ELEMENT_END };
    after = slice_after(*rest, 1);
    if (is_escape(like, *rest)) {
        body = take_literal(like, rest);
        return (struct element){ body.size ? ELEMENT_CHAR : ELEMENT_NEVER, false, body };
    }
    if (rest->data[0] == '[' && take_set(like, &after, &body)) {
        *rest = after;
        return set_element(body);
    }
    body = take_character(rest);
    if (body.data[0] == '%')
        return (struct element){ .kind = ELEMENT_RUN };
    return (struct element){ body.data[0] == '_' ? ELEMENT_ANY : ELEMENT_CHAR, false, body };
}

static uint32_t decode(struct slice character)
{
    return chars_next(&character.data, character.data + character.size);
}

/* a, a-f, and a dash that has nothing on one side of it. */
static bool set_has(struct like *like, struct slice set, uint32_t character)
{
    while (set.size) {
        uint32_t low = decode(take_literal(like, &set)), high = low;

        if (set.size > 1 && set.data[0] == '-') {
            take(&set, 1);
            high = decode(take_literal(like, &set));
        }
        if (character >= low && character <= high)
            return true;
    }
    return false;
}

static bool element_matches(struct like *like, const struct element *element, struct slice character)
{
    switch (element->kind) {
    case ELEMENT_ANY:
        return true;
    case ELEMENT_CHAR:
        return slice_equal(element->body, character);
    case ELEMENT_SET:
        return set_has(like, element->body, decode(character)) != element->negated;
    default:
        return false;
    }
}

/* How many bytes in front stand for themselves. */
static size_t plain_size(struct like *like, struct slice pattern)
{
    int escape = like->escape.size ? like->escape.data[0] : '%';
    size_t size = 0;

    while (size < pattern.size && pattern.data[size] != '%' && pattern.data[size] != '_' &&
           pattern.data[size] != '[' && pattern.data[size] != escape)
        size++;
    return size;
}

/* Reads up to a % or the end; says whether it was a %. */
static bool next_segment(struct like *like, struct slice *rest, struct segment *segment)
{
    struct slice start = *rest;
    size_t plain = plain_size(like, start);
    struct element element;

    *segment = (struct segment){ slice_make(start.data, plain), 0, true };
    if (plain == start.size || (start.data[plain] == '%' && !is_escape(like, slice_after(start, plain)))) {
        *rest = slice_after(start, plain + (plain < start.size));
        return plain < start.size;
    }
    segment->plain = false;
    do {
        segment->pattern.size = (size_t)(rest->data - start.data);
        element = next_element(like, rest);
        segment->characters++;
    } while (element.kind > ELEMENT_RUN);
    segment->characters--;
    return element.kind == ELEMENT_RUN;
}

/* Whether the segment fits in front of the text, which then loses it. */
static bool fits(struct like *like, const struct segment *segment, struct slice *text)
{
    struct slice pattern = segment->pattern, rest = *text;

    if (segment->plain) {
        if (!chars_starts(rest, pattern))
            return false;
        take(text, pattern.size);
        return true;
    }
    while (pattern.size) {
        struct element element = next_element(like, &pattern);

        if (!rest.size || !eval_spend(like->eval, element.body.size) ||
            !element_matches(like, &element, take_character(&rest)))
            return false;
    }
    *text = rest;
    return true;
}

/* Drops the text up to behind the first place where the segment fits. */
static bool skip(struct like *like, const struct segment *segment, struct slice *text)
{
    if (segment->plain) {
        size_t at = chars_find(*text, segment->pattern);

        if (at == CHARS_NONE)
            return false;
        take(text, at + segment->pattern.size);
        return true;
    }
    while (!fits(like, segment, text)) {
        if (text->size <= segment->characters || like->eval->status != ST_OK)
            return false; /* a character has at least a byte */
        take_character(text);
    }
    return true;
}

/* Whether the segment fits at the end of the text. */
static bool ends(struct like *like, const struct segment *segment, struct slice text)
{
    const char *at = text.data + text.size;

    if (segment->plain)
        return chars_ends(text, segment->pattern);
    for (size_t i = 0; i < segment->characters; i++) {
        if (at == text.data)
            return false;
        chars_previous(text.data, &at);
    }
    text = slice_after(text, (size_t)(at - text.data));
    return fits(like, segment, &text);
}

bool like_match(struct eval *eval, struct slice text, struct slice pattern, struct slice escape)
{
    struct like like = { .eval = eval, .escape = escape };
    struct segment segment;

    if (!next_segment(&like, &pattern, &segment))
        return fits(&like, &segment, &text) && text.size == 0;
    if (!fits(&like, &segment, &text))
        return false;
    while (next_segment(&like, &pattern, &segment))
        if (!skip(&like, &segment, &text))
            return false;
    return ends(&like, &segment, text);
}
