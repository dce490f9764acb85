/*
 * src/query/run/ahead.h - a source that reads ahead, so that the functions of many rows are called together.
 * A call of a user-defined function costs a message to another process. Over a block of items the statement is
 * walked twice: once to tell which calls there will be, then, when they have been made, to compute. What was told in vain,
 * or not at all, changes nothing but the time it takes.
 */
#pragma once
#include "query/run/cursor.h"

struct ahead;

/* The source to read from in place of the cursor's own. The cursor's rows are walked by nobody else meanwhile. */
struct query_source *ahead_open(struct cursor *cursor, const struct query_options *options,
                                struct ahead **ahead);
void ahead_close(struct ahead *ahead); /* NULL is welcome */
