/*
 * src/text/stem.h - what is left of a word without its endings: "foxes" and "fox" are one. By libstemmer, whose rules are
 * Snowball's.
 *
 * Ownership. What comes back is the calling thread's until its next call.
 * Threads. Any: each has its own stemmers, which end with it.
 */
#pragma once
#include "text/language.h"

/* Of a folded word. */
struct slice stem_of(enum text_language language, struct slice word);
