/* script-host/text.c - ASCII by the block; whatever else by the engine. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

enum {
    BLOCK = 16, /* characters; compilers make vectors of loops that are so long */
    KEPT_COUNT_MAX = 512 * 1024,
};

static bool widen_block(const char *from, JSChar *to)
{
    uint8_t all = 0;

    for (size_t i = 0; i < BLOCK; i++) {
        to[i] = (uint8_t)from[i];
        all |= (uint8_t)from[i];
    }
    return all < 0x80;
}

/* False when it is not all ASCII. */
static bool widen(const char *from, size_t count, JSChar *to)
{
    size_t at = 0;

    for (; at + BLOCK <= count; at += BLOCK)
        if (!widen_block(from + at, to + at))
            return false;
    for (; at < count; at++) {
        if ((uint8_t)from[at] >= 0x80)
            return false;
        to[at] = (uint8_t)from[at];
    }
    return true;
}

static bool narrow_block(const JSChar *from, char *to)
{
    JSChar all = 0;

    for (size_t i = 0; i < BLOCK; i++) {
        to[i] = (char)from[i];
        all |= from[i];
    }
    return all < 0x80;
}

static bool narrow(const JSChar *from, size_t count, char *to)
{
    size_t at = 0;

    for (; at + BLOCK <= count; at += BLOCK)
        if (!narrow_block(from + at, to + at))
            return false;
    for (; at < count; at++) {
        if (from[at] >= 0x80)
            return false;
        to[at] = (char)from[at];
    }
    return true;
}

/* A room that one large frame has made is given back with the next small one. */
static bool make_room(struct text_room *room, size_t count)
{
    if (count <= room->count && (room->count <= KEPT_COUNT_MAX || count > KEPT_COUNT_MAX))
        return true;
    free(room->at);
    room->at = malloc((count ? count : 1) * sizeof(*room->at));
    room->count = room->at ? count : 0;
    return room->at != NULL;
}

JSStringRef text_read(struct text_room *room, const char *utf8)
{
    size_t bytes = strlen(utf8);

    if (make_room(room, bytes) && widen(utf8, bytes, room->at))
        return JSStringCreateWithCharacters(room->at, bytes);
    return JSStringCreateWithUTF8CString(utf8);
}

size_t text_bytes_max(JSStringRef text)
{
    return JSStringGetMaximumUTF8CStringSize(text);
}

size_t text_write(JSStringRef text, char *to, size_t bytes_max)
{
    size_t count = JSStringGetLength(text), bytes;

    if (narrow(JSStringGetCharactersPtr(text), count, to))
        return count;
    bytes = JSStringGetUTF8CString(text, to, bytes_max);
    return bytes ? bytes - 1 : 0;
}
