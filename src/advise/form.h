/* src/advise/form.h - in which way a text writes a date, if it is one. */
#pragma once
#include "base/slice.h"

enum text_form {
    FORM_PLAIN, /* no date */
    FORM_UTC,   /* 2026-11-16T12:00:00Z, with or without a fraction */
    FORM_OFFSET,
    FORM_LOCAL, /* neither Z nor offset */
    FORM_DAY,   /* 2026-11-16 */
    FORM_SLASHES,
    FORM_DOTS,
    FORM_MAIL, /* Mon, 16 Nov 2026 12:00:00 GMT */
    FORM_COUNT
};

extern const char *const text_form_names[FORM_COUNT];

enum text_form text_form(struct slice text);
