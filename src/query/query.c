/* src/query/query.c - recognising the query that lists every item. */
#include "query/query.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

/* The next word or single character; empty at the end. */
static struct slice next_token(struct slice *text)
{
    struct slice token;
    size_t size = 0;

    while (text->size && is_space(text->data[0]))
        *text = slice_after(*text, 1);
    while (size < text->size && is_name_byte(text->data[size]))
        size++;
    if (size == 0 && text->size)
        size = 1;
    token = slice_make(text->data, size);
    *text = slice_after(*text, size);
    return token;
}

bool query_is_everything(struct slice text)
{
    static const char *const words[] = { "select", "*", "from" };
    struct slice name;

    for (size_t i = 0; i < 3; i++)
        if (!slice_is_nocase(next_token(&text), words[i]))
            return false;
    name = next_token(&text);
    return name.size && is_name_byte(name.data[0]) && !is_digit(name.data[0]) && next_token(&text).size == 0;
}
