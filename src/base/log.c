/* src/base/log.c - one write per line, so that threads do not mix theirs. */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

enum { TEXT_BYTES_MAX = 960 };

static enum log_level most_detailed = LOG_INFO;

void log_set_level(enum log_level level)
{
    most_detailed = level;
}

/* How many bytes the control character has that begins here, or 0. Those of C1 have two, and terminals obey them. */
static size_t control_bytes(const char *at)
{
    unsigned char byte = (unsigned char)at[0], next = byte ? (unsigned char)at[1] : 0;

    if (byte < 0x20 || byte == 0x7f)
        return 1;
    return byte == 0xc2 && next >= 0x80 && next < 0xa0 ? 2 : 0;
}

/* Appends the text, or as much of it as there is room for. */
static size_t show(char *line, size_t size, size_t capacity, const char *text)
{
    while (*text && size + sizeof("\\xc2\\x9b") <= capacity) {
        size_t hidden = control_bytes(text);

        if (hidden == 0)
            line[size++] = *text++;
        for (; hidden > 0; hidden--)
            size += (size_t)snprintf(line + size, sizeof("\\x00"), "\\x%02x", (unsigned char)*text++);
    }
    return size;
}

static size_t show_time(char *line, size_t capacity, enum log_level level)
{
    static const char *const names[] = { "error", "warn", "info", "debug" };
    struct timespec now;
    struct tm utc;
    size_t size;

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size = strftime(line, capacity, "%Y-%m-%dT%H:%M:%S", &utc);
    return size +
           (size_t)snprintf(line + size, capacity - size, ".%03ldZ %s ", now.tv_nsec / 1000000, names[level]);
}

void log_line(enum log_level level, const char *fmt, ...)
{
    char text[TEXT_BYTES_MAX], line[TEXT_BYTES_MAX + 64];
    va_list args;
    size_t size;

    if (level > most_detailed)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    size = show_time(line, sizeof(line), level);
    size = show(line, size, sizeof(line) - 1, text);
    line[size++] = '\n';
    if (write(STDERR_FILENO, line, size) < 0)
        return; /* nobody is listening: there is nowhere left to say so */
}

struct log_quote log_quote(struct slice text)
{
    struct log_quote quote;
    size_t size = 0;

    quote.text[size++] = '"';
    for (size_t i = 0; i < text.size && size < LOG_QUOTE_BYTES_MAX; i++) {
        if (text.data[i] == '"' || text.data[i] == '\\')
            quote.text[size++] = '\\';
        quote.text[size++] =
            text.data[i] ? text.data[i] : ' '; /* log_line() shows other control characters */
    }
    snprintf(quote.text + size, sizeof(quote.text) - size, "%s\"", size < LOG_QUOTE_BYTES_MAX ? "" : "...");
    return quote;
}
