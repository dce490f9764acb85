/*
 * script-host/text.h - frames' text as JavaScriptCore's strings and back, most of it at the speed of a copy.
 * The engine's own way looks at one character after the other. Nearly all that frames carry is ASCII, which is
 * widened and narrowed by the block instead; the rest goes the engine's way.
 *
 * Ownership. A string that comes back is the caller's, to be released. A room keeps memory from call to call.
 */
#pragma once
#include <JavaScriptCore/JavaScript.h>
#include <stddef.h>

struct text_room {
    JSChar *at;
    size_t count;
};

JSStringRef text_read(struct text_room *room, const char *utf8);

/* How many bytes text_write() may want. */
size_t text_bytes_max(JSStringRef text);

/* As UTF-8, without a NUL: how many bytes. */
size_t text_write(JSStringRef text, char *to, size_t bytes_max);
