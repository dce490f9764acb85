/* src/base/log.c - one write per line, so that threads do not mix theirs. */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

static enum log_level most_detailed = LOG_INFO;

void log_set_level(enum log_level level)
{
    most_detailed = level;
}

void log_line(enum log_level level, const char *fmt, ...)
{
    static const char *const names[] = { "error", "warn", "info", "debug" };
    char line[1024];
    struct timespec now;
    struct tm utc;
    va_list args;
    int size;

    if (level > most_detailed)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size = (int)strftime(line, sizeof(line), "%Y-%m-%dT%H:%M:%S", &utc);
    size += snprintf(line + size, sizeof(line) - (size_t)size, ".%03ldZ %s ", now.tv_nsec / 1000000,
                     names[level]);
    va_start(args, fmt);
    size += vsnprintf(line + size, sizeof(line) - (size_t)size, fmt, args);
    va_end(args);
    if (size > (int)sizeof(line) - 1)
        size = (int)sizeof(line) - 1;
    line[size] = '\n';
    if (write(STDERR_FILENO, line, (size_t)size + 1) < 0)
        return; /* nobody is listening: there is nowhere left to say so */
}
