/*
 * src/query/function/datetime.h - dates and times of the query language: text, ticks, calendar.
 * A time is a count of 100 ns ticks since 1970, UTC, in the Gregorian calendar, years 1601 to 9999.
 * There are no locales and no leap seconds.
 *
 * Promises
 * 1. Printing then parsing gives the same ticks, and text sorts as ticks do.
 * 2. No result lies outside the years 1601 to 9999: the call answers false instead.
 */
#pragma once
#include "query/value.h"

enum {
    TICKS_PER_MS = 10000,
    TICKS_PER_SECOND = 10000000,
    DATETIME_SIZE = 28, /* of "2020-07-03T00:00:00.0000000Z" */
};

enum datetime_part {
    DATETIME_YEAR,
    DATETIME_MONTH,
    DATETIME_DAY,
    DATETIME_HOUR,
    DATETIME_MINUTE,
    DATETIME_SECOND,
    DATETIME_MILLISECOND,
    DATETIME_MICROSECOND,
    DATETIME_NANOSECOND,
    DATETIME_WEEKDAY, /* 0 is Sunday: a part to look at, and not to count by */
};

/* A moment taken apart. */
struct datetime {
    int64_t year, month, day, hour, minute, second;
    int64_t fraction; /* ticks within the second */
};

/* "month", "mm", "m", in any case. */
bool datetime_part_find(struct slice name, enum datetime_part *part);

/* YYYY-MM-DD[(T| )hh:mm:ss[.f{1,7}]][Z|[ ](+|-)hh[[:]mm]] and nothing else; an offset is taken off. */
bool datetime_parse(struct slice text, int64_t *ticks);

/* "2020-07-03T00:00:00.0000000Z", with a NUL behind it; the ticks are in range. */
void datetime_print(int64_t ticks, char text[DATETIME_SIZE + 1]);

/*
 * By a pattern: d f F h H m M s t y, and more of each for more digits. A backslash makes the next character text,
 * as all others are.
 */
void datetime_format(struct buf *out, int64_t ticks, struct slice pattern);

bool datetime_in_range(int64_t ticks);
struct datetime datetime_split(int64_t ticks);

/* False when there is no such day or time. */
bool datetime_join(const struct datetime *at, int64_t *ticks);

/* Of milliseconds, microseconds and nanoseconds, the whole fraction in that unit. */
int64_t datetime_part(enum datetime_part part, int64_t ticks);

/* A day that the month does not have becomes its last one. Of nanoseconds 50 and more are a tick. */
bool datetime_add(enum datetime_part part, int64_t count, int64_t ticks, int64_t *result);

/* How many boundaries of the part lie between; of parts below a second, how many of them there are. */
int64_t datetime_diff(enum datetime_part part, int64_t from, int64_t to);

/* The start of the bin, of `size` parts each from the origin on, that holds the time; no part beyond days has any. */
bool datetime_bin(enum datetime_part part, struct value size, int64_t origin, int64_t ticks, int64_t *result);
