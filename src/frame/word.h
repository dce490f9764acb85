/*
 * src/frame/word.h - what a token's number is as the text of a header, and back.
 * tokens.def says for each token in which form its header has its value. Words are compared without regard to case, as headers
 * are.
 */
#pragma once
#include "base/slice.h"

enum frame_form {
    FORM_NONE, /* the token is passed over */
    FORM_TEXT,
    FORM_NUMBER,
    FORM_FLAG,
    FORM_PAGE_SIZE, /* -1: as many as there are */
    FORM_MATCH,     /* a text, whose header is the operation's */
    FORM_DIRECTIVE,
    FORM_KEY_TYPE,
    FORM_PREFERS,
    FORM_FORMAT,
    FORM_FORMATS, /* a bit for each */
    FORM_CONSISTENCY,
    FORM_NAME,
};

enum { WORD_BYTES_MAX = 24 };

bool frame_form_is_text(enum frame_form form);

/* In the room, or a constant. Absent where the number stands for the usual, or for nothing. */
struct slice frame_word(enum frame_form form, uint64_t number, char room[WORD_BYTES_MAX]);

/* False: no number stands for this word. */
bool frame_word_number(enum frame_form form, struct slice word, uint32_t *number);
