/*
 * cli/text.h - a text that grows. It begins as { 0 } and is always followed by a NUL once something was added.
 * A machine without memory ends the program: it is a tool, and has nothing to save.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct text {
    char *data; /* NULL: nothing was added yet */
    size_t size, room;
};

/* Bytes that nobody uses yet, behind the text: at least `bytes` of them. */
char *text_reserve(struct text *text, size_t bytes);
void text_add(struct text *text, const char *data, size_t size);
void text_puts(struct text *text, const char *string);
void text_byte(struct text *text, char byte);
__attribute__((format(printf, 2, 3))) void text_printf(struct text *text, const char *fmt, ...);

/* The text as a JSON string, in quotes. What is no UTF-8 becomes U+FFFD. */
void text_json(struct text *text, const char *data, size_t size);

/* Plain text for a terminal: control characters are spelt as \u001b, so that data never steers it. */
void text_safe(struct text *text, const char *data, size_t size);

/* The next character of UTF-8: how many bytes it has. 0: these are none. */
size_t text_character(const char *data, size_t size, unsigned *code);

size_t text_hash(const char *string); /* for tables in memory */

const char *text_of(const struct text *text); /* never NULL */
void text_empty(struct text *text);
void text_free(struct text *text);

/* Memory, or the end of the program. */
void *must_alloc(size_t bytes);
void *must_resize(void *memory, size_t bytes);
char *must_copy(const char *data, size_t size); /* with a NUL behind it */
