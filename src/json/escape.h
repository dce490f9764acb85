/* src/json/escape.h - \uXXXX, which JSON and the query language write alike. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* A value of one hexadecimal digit, or -1. */
int hex_digit(uint8_t c);

/* Four of them at the front, or -1. */
int hex4(const uint8_t *at, const uint8_t *end);

/*
 * The character that an escape stands for; `at` is at the 'u'. How many bytes it takes, the second half of a
 * pair included; 0 when there are no four digits, or half a pair.
 */
size_t unicode_escape(const uint8_t *at, const uint8_t *end, uint32_t *code);

/* One character as UTF-8: up to four bytes; where the next one goes. */
uint8_t *utf8_put(uint8_t *to, uint32_t code);
