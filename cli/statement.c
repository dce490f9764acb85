/* cli/statement.c - where a statement ends, and its words. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "statement.h"

static bool is_query(const char *at)
{
    static const char *const before[] = { "\\explain", "\\plan", NULL };

    for (const char *const *word = before; *word; word++)
        if (strncasecmp(at, *word, strlen(*word)) == 0 && isspace((unsigned char)at[strlen(*word)])) {
            at += strlen(*word);
            at += strspn(at, " \t");
        }
    return strncasecmp(at, "select", 6) == 0 && !isalnum((unsigned char)at[6]) && at[6] != '_';
}

static bool line_is_blank(const char *at)
{
    at += strspn(at, " \t\r");
    return *at == '\n' || *at == '\0';
}

/* Blank lines, and lines of comment. */
static const char *skip_nothing(const char *at)
{
    for (;;) {
        at += strspn(at, " \t\r\n;");
        if (strncmp(at, "--", 2) != 0)
            return at;
        at += strcspn(at, "\n");
    }
}

/* Behind a string's end, or where its line ends. */
static const char *skip_string(const char *at)
{
    char quote = *at++;

    while (*at && *at != quote && *at != '\n')
        at += at[0] == '\\' && at[1] && at[1] != '\n' ? 2 : 1;
    return *at == quote ? at + 1 : at;
}

/* Where the statement ends: at a semicolon, a line's end, or the NUL; NULL: it is not whole. */
static const char *end_of(const char *at, bool is_all)
{
    bool query = is_query(at);
    int depth = 0;

    while (*at) {
        if (*at == '"' || *at == '\'') {
            at = skip_string(at);
            continue;
        }
        if (query && at[0] == '-' && at[1] == '-') {
            at += strcspn(at, "\n");
            continue;
        }
        if (*at == '{' || *at == '[')
            depth++;
        else if (*at == '}' || *at == ']')
            depth--;
        else if (*at == ';' && (query || depth <= 0))
            return at;
        else if (*at == '\n' && (query ? at[1] && line_is_blank(at + 1) : depth <= 0))
            return at;
        at++;
    }
    return is_all ? at : NULL;
}

bool statement_take(struct text *from, bool is_all, struct text *statement)
{
    const char *begin = skip_nothing(text_of(from));
    const char *end = *begin ? end_of(begin, is_all) : NULL;
    size_t used;

    if (!end) {
        if (!*begin)
            text_empty(from);
        return false;
    }
    text_empty(statement);
    text_add(statement, begin, (size_t)(end - begin));
    used = (size_t)(end - from->data) + (*end ? 1 : 0);
    memmove(from->data, from->data + used, from->size - used + 1);
    from->size -= used;
    return true;
}

bool statement_begun(const struct text *from)
{
    return *skip_nothing(text_of(from)) != '\0';
}

char *statement_word(const char **line)
{
    const char *at = *line + strspn(*line, " \t\r\n");
    struct text word = { 0 };

    if (!*at)
        return NULL;
    text_puts(&word, "");
    if (*at == '"' || *at == '\'') {
        char quote = *at++;

        while (*at && *at != quote)
            text_byte(&word, *at++);
        at += *at == quote;
    } else {
        while (*at && !isspace((unsigned char)*at))
            text_byte(&word, *at++);
    }
    *line = at;
    return word.data;
}
