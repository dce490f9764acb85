/* test/unit/query/sketch.h - a tree in one line, for tests to compare. */
#pragma once
#include "query/value/tree.h"

/*
 * The statement or its mistake: (SELECT a b FROM c WHERE (= (. c a) 1)), or code start-end message.
 * AND and OR show all that they join; names of members in brackets stand in quotes.
 */
const char *sketch_query(const char *text);
const char *sketch_bytes(struct slice text);

/* The expression of SELECT VALUE `text`. */
const char *sketch_value(const char *text);
