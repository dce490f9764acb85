/*
 * src/text/near.h - how many letters two words are apart: letters that are put in, left out or changed, to make one of the
 * other.
 */
#pragma once
#include "base/slice.h"

enum { TEXT_DISTANCE_MAX = 2 };

/*
 * Whether the word, of TEXT_WORD_BYTES_MAX bytes at most as the other, is no more than `most` letters away. If not,
 * `ruled_out` is how many bytes it begins with that no word begins with which is; 0: others may go on in another way.
 */
bool text_is_near(struct slice word, struct slice to, uint32_t most, size_t *ruled_out);
