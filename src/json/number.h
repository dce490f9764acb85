/*
 * src/json/number.h - numbers as text, both ways.
 * Reading is exact to the nearest double; printing is what JavaScript prints.
 */
#pragma once
#include "base/arena.h"

/* A number's text in parts. mantissa * 10^exponent is its size, if `exact`. */
struct number_text {
    const uint8_t *start, *end;
    uint64_t mantissa;
    int64_t exponent;
    bool negative;
    bool integer; /* neither a fraction nor an exponent was written */
    bool exact;   /* no digit was left out of the mantissa */
};

/* Reads as far as a number goes. False when there is none; `end` is then where it stopped. */
bool number_scan(const uint8_t *at, const uint8_t *text_end, struct number_text *number);

/* Whether the text is an integer that fits. */
bool number_to_int(const struct number_text *number, int64_t *result);

/* The nearest double, infinite when too large. False when the arena's limit was reached. */
bool number_to_double(const struct number_text *number, struct arena *arena, double *result);

/* Each writes at most NUMBER_TEXT_MAX bytes and returns the end. */
enum { NUMBER_TEXT_MAX = 26 };
char *number_print_int(char *to, int64_t number);
char *number_print_double(char *to, double number);
