/*
 * src/base/log.h - lines for the operator, on standard error.
 * Standard output belongs to commands' answers.
 */
#pragma once

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Set once at start, before there are threads. */
void log_set_level(enum log_level level);

__attribute__((format(printf, 2, 3))) void log_line(enum log_level level, const char *fmt, ...);
