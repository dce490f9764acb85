/*
 * src/base/log.h - lines for the operator, on standard error.
 * Standard output belongs to commands' answers.
 *
 * Promise. A call is one line, whatever clients chose of its text: control characters are shown as \xHH.
 */
#pragma once
#include "base/slice.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

void log_set_level(enum log_level level);

/* Lines on standard error are JSON objects from here on: {"time":...,"level":...,"message":...} */
void log_set_json(bool is_json);

/*
 * Whom lines go to instead of standard error, without their time and level; NULL: nobody. It is told on any thread, and
 * logs nothing itself. When log_set_sink() returns, nobody is in the sink that was there before.
 */
typedef void log_sink(void *context, enum log_level level, const char *line);
void log_set_sink(log_sink *sink, void *context);

__attribute__((format(printf, 2, 3))) void log_line(enum log_level level, const char *fmt, ...);

/* A line that programs read, too: `fields` are members of its JSON object, and not in a line of text. */
__attribute__((format(printf, 3, 4))) void log_event(enum log_level level, struct slice fields,
                                                     const char *fmt, ...);

/* What a client chose, in quotes, so that nobody takes it for our own words; cut when it is long. */
enum { LOG_QUOTE_BYTES_MAX = 320 };
struct log_quote {
    char text[LOG_QUOTE_BYTES_MAX + 16];
};
struct log_quote log_quote(struct slice text);
