/* src/base/log.c - one write per line, so that threads do not mix theirs. */
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/encode.h"
#include "base/log.h"

enum { TEXT_BYTES_MAX = 960 };

static void write_line(void *context, enum log_level level, const char *text);

static const char *const level_names[] = { "error", "warn", "info", "debug" };
static _Atomic(enum log_level) most_detailed = LOG_INFO;
static atomic_bool writes_json;
static pthread_mutex_t mutex =
    PTHREAD_MUTEX_INITIALIZER; /* guards the two below, and is held while a line is told */
static log_sink *sink = write_line;
static void *sink_context;

void log_set_level(enum log_level level)
{
    atomic_store_explicit(&most_detailed, level, memory_order_relaxed);
}

void log_set_json(bool is_json)
{
    atomic_store_explicit(&writes_json, is_json, memory_order_relaxed);
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

static size_t show_time(char *line, size_t capacity)
{
    struct timespec now;
    struct tm utc;
    size_t size;

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size = strftime(line, capacity, "%Y-%m-%dT%H:%M:%S", &utc);
    return size + (size_t)snprintf(line + size, capacity - size, ".%03ldZ", now.tv_nsec / 1000000);
}

/* One write, whatever there is of it. */
static void write_json(enum log_level level, const char *text, struct slice fields)
{
    char head[64] = "{\"time\":\"", message[TEXT_BYTES_MAX * 2], rest[] = "}\n";
    size_t head_size = strlen(head), message_size;
    struct iovec piece[4];

    head_size += show_time(head + head_size, 32);
    head_size += (size_t)snprintf(head + head_size, sizeof(head) - head_size, "\",\"level\":\"%s\"",
                                  level_names[level]);
    message_size = (size_t)snprintf(message, sizeof(message), ",\"message\":\"");
    message_size += quoted_write(message + message_size, sizeof(message) - message_size - 2, slice_of(text));
    message[message_size++] = '"';
    if (fields.size)
        message[message_size++] = ',';
    piece[0] = (struct iovec){ head, head_size };
    piece[1] = (struct iovec){ message, message_size };
    piece[2] = (struct iovec){ (char *)fields.data, fields.size };
    piece[3] = (struct iovec){ rest, 2 };
    if (writev(STDERR_FILENO, piece, 4) < 0)
        return; /* as below */
}

static void write_line(void *context, enum log_level level, const char *text)
{
    char line[TEXT_BYTES_MAX + 64];
    size_t size = show_time(line, sizeof(line));

    (void)context;
    size += (size_t)snprintf(line + size, sizeof(line) - size, " %s %s\n", level_names[level], text);
    if (write(STDERR_FILENO, line, size) < 0)
        return; /* nobody is listening: there is nowhere left to say so */
}

__attribute__((format(printf, 3, 0))) static void tell(enum log_level level, struct slice fields,
                                                       const char *fmt, va_list args)
{
    char text[TEXT_BYTES_MAX], line[TEXT_BYTES_MAX];

    if (level > atomic_load_explicit(&most_detailed, memory_order_relaxed))
        return;
    vsnprintf(text, sizeof(text), fmt, args);
    line[show(line, 0, sizeof(line) - 1, text)] = '\0';
    pthread_mutex_lock(&mutex);
    if (sink == write_line && atomic_load_explicit(&writes_json, memory_order_relaxed))
        write_json(level, line, fields);
    else if (sink)
        sink(sink_context, level, line);
    pthread_mutex_unlock(&mutex);
}

void log_line(enum log_level level, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    tell(level, slice_make("", 0), fmt, args);
    va_end(args);
}

void log_event(enum log_level level, struct slice fields, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    tell(level, fields, fmt, args);
    va_end(args);
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
