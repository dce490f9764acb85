/* src/base/log.c - one write per line, so that threads do not mix theirs. */
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

enum { TEXT_BYTES_MAX = 960 };

static void write_line(void *context, enum log_level level, const char *text);

static _Atomic(enum log_level) most_detailed = LOG_INFO;
static pthread_mutex_t mutex =
    PTHREAD_MUTEX_INITIALIZER; /* guards the two below, and is held while a line is told */
static log_sink *sink = write_line;
static void *sink_context;

void log_set_level(enum log_level level)
{
    atomic_store_explicit(&most_detailed, level, memory_order_relaxed);
}

void log_set_sink(log_sink *to, void *context)
{
    pthread_mutex_lock(&mutex);
    sink = to;
    sink_context = context;
    pthread_mutex_unlock(&mutex);
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

static void write_line(void *context, enum log_level level, const char *text)
{
    char line[TEXT_BYTES_MAX + 64];
    size_t size = show_time(line, sizeof(line), level);

    (void)context;
    size += (size_t)snprintf(line + size, sizeof(line) - size, "%s\n", text);
    if (write(STDERR_FILENO, line, size) < 0)
        return; /* nobody is listening: there is nowhere left to say so */
}

void log_line(enum log_level level, const char *fmt, ...)
{
    char text[TEXT_BYTES_MAX], line[TEXT_BYTES_MAX];
    va_list args;

    if (level > atomic_load_explicit(&most_detailed, memory_order_relaxed))
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    line[show(line, 0, sizeof(line) - 1, text)] = '\0';
    pthread_mutex_lock(&mutex);
    if (sink)
        sink(sink_context, level, line);
    pthread_mutex_unlock(&mutex);
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
