/* src/text/stop_words.h - words that say nothing. */
#pragma once
#include "base/slice.h"

/* Of a folded word of English. */
bool stop_word_is(struct slice word);
