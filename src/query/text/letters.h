/* src/query/text/letters.h - what a character beyond ASCII is to the query language. */
#pragma once
#include <stddef.h>

enum letter {
    LETTER_NONE,
    LETTER_BLANK,
    LETTER_FIRST, /* may begin a name */
    LETTER_LATER, /* may go on with one: a digit of some script */
};

/* The character at the front of the text, which is valid UTF-8 and no ASCII there; *size is that of its bytes. */
enum letter letter_read(const char *at, size_t *size);
