/* cli/text.c - texts that grow, and how bytes are spelt in JSON and on a terminal. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "text.h"

void *must_resize(void *memory, size_t bytes)
{
    void *got = realloc(memory, bytes ? bytes : 1);

    if (!got) {
        fputs("orrery: out of memory\n", stderr);
        exit(1);
    }
    return got;
}

void *must_alloc(size_t bytes)
{
    return memset(must_resize(NULL, bytes), 0, bytes);
}

char *must_copy(const char *data, size_t size)
{
    char *copy = must_resize(NULL, size + 1);

    if (size)
        memcpy(copy, data, size);
    copy[size] = '\0';
    return copy;
}

char *text_reserve(struct text *text, size_t bytes)
{
    size_t wanted = text->size + bytes + 1;

    if (wanted > text->room) {
        text->room = wanted > text->room * 2 ? wanted : text->room * 2;
        text->data = must_resize(text->data, text->room);
    }
    return text->data + text->size;
}

void text_add(struct text *text, const char *data, size_t size)
{
    char *to = text_reserve(text, size);

    if (size)
        memcpy(to, data, size);
    text->size += size;
    text->data[text->size] = '\0';
}

void text_puts(struct text *text, const char *string)
{
    text_add(text, string, strlen(string));
}

void text_byte(struct text *text, char byte)
{
    text_add(text, &byte, 1);
}

void text_printf(struct text *text, const char *fmt, ...)
{
    va_list args;
    int size;

    va_start(args, fmt);
    size = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (size < 0)
        return;
    text_reserve(text, (size_t)size);
    va_start(args, fmt);
    vsnprintf(text->data + text->size, (size_t)size + 1, fmt, args);
    va_end(args);
    text->size += (size_t)size;
}

/* How many bytes a character has that begins so; 0: none begins so. */
static size_t length_of(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first >= 0xC2 && first < 0xE0)
        return 2;
    if (first >= 0xE0 && first < 0xF0)
        return 3;
    return first >= 0xF0 && first < 0xF5 ? 4 : 0;
}

size_t text_character(const char *data, size_t size, unsigned *code)
{
    static const unsigned least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t length = size ? length_of((unsigned char)data[0]) : 0;
    unsigned got;

    if (length == 0 || length > size)
        return 0;
    got = (unsigned char)data[0] & (length == 1 ? 0x7F : 0x7F >> length);
    for (size_t i = 1; i < length; i++) {
        if (((unsigned char)data[i] & 0xC0) != 0x80)
            return 0;
        got = got << 6 | ((unsigned char)data[i] & 0x3F);
    }
    if (got < least[length] || got > 0x10FFFF || (got >= 0xD800 && got < 0xE000))
        return 0;
    *code = got;
    return length;
}

void text_json(struct text *text, const char *data, size_t size)
{
    text_byte(text, '"');
    while (size) {
        unsigned code = 0;
        size_t length = text_character(data, size, &code);

        if (length == 0)
            text_puts(text, "\xEF\xBF\xBD");
        else if (code == '"' || code == '\\')
            text_printf(text, "\\%c", (char)code);
        else if (code == '\n')
            text_puts(text, "\\n");
        else if (code == '\t')
            text_puts(text, "\\t");
        else if (code < 0x20 || code == 0x7F)
            text_printf(text, "\\u%04x", code);
        else
            text_add(text, data, length);
        data += length ? length : 1;
        size -= length ? length : 1;
    }
    text_byte(text, '"');
}

void text_safe(struct text *text, const char *data, size_t size)
{
    while (size) {
        unsigned code = 0;
        size_t length = text_character(data, size, &code);

        if (length == 0)
            text_puts(text, "\xEF\xBF\xBD");
        else if (code < 0x20 || (code >= 0x7F && code < 0xA0) || wcwidth((wchar_t)code) < 0)
            text_printf(text, code > 0xFFFF ? "\\u{%x}" : "\\u%04x", code);
        else
            text_add(text, data, length);
        data += length ? length : 1;
        size -= length ? length : 1;
    }
}

const char *text_of(const struct text *text)
{
    return text->data ? text->data : "";
}

size_t text_hash(const char *string)
{
    size_t hash = 5381;

    for (; *string; string++)
        hash = hash * 33 + (unsigned char)*string;
    return hash;
}

void text_empty(struct text *text)
{
    text->size = 0;
    if (text->data)
        text->data[0] = '\0';
}

void text_free(struct text *text)
{
    free(text->data);
    *text = (struct text){ 0 };
}
