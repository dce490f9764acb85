/*
 * src/query/text/lex.h - query text to tokens, one at a time.
 *     struct lexer lexer = { .text = text };  lex_next(&lexer, &token);
 * What is no token becomes one of the TOKEN_BAD kinds, and is told where the parser meets it: the
 * first thing wrong in the text is the one that a client hears of.
 *
 * Ownership. A token points into the text. The text is valid UTF-8.
 */
#pragma once
#include "query/value/tree.h"

enum token_kind {
    TOKEN_END,
    TOKEN_NAME,
    TOKEN_PARAMETER, /* @name */
    TOKEN_NUMBER,    /* decimal or 0x..., without a sign */
    TOKEN_STRING,    /* in either quotes, every \u with four digits behind it */

    TOKEN_BAD_CHARACTER,
    TOKEN_BAD_NUMBER, /* glued to letters, or unfinished */
    TOKEN_BAD_STRING, /* without an end, or up to a \u without four digits */

#define KEYWORD(name, text) TOKEN_##name,
#include "query/text/keywords.def"
#undef KEYWORD

    TOKEN_OPEN, /* ( */
    TOKEN_CLOSE,
    TOKEN_BRACKET_OPEN, /* [ */
    TOKEN_BRACKET_CLOSE,
    TOKEN_BRACE_OPEN, /* { */
    TOKEN_BRACE_CLOSE,
    TOKEN_COMMA,
    TOKEN_DOT,
    TOKEN_COLON,
    TOKEN_QUESTION,
    TOKEN_COALESCE, /* ?? */
    TOKEN_CONCAT,   /* || */
    TOKEN_BIT_OR,
    TOKEN_BIT_XOR,
    TOKEN_BIT_AND,
    TOKEN_BIT_NOT,
    TOKEN_EQUAL,
    TOKEN_NOT_EQUAL, /* != and <> */
    TOKEN_LESS,
    TOKEN_LESS_EQUAL,
    TOKEN_GREATER,
    TOKEN_GREATER_EQUAL,
    TOKEN_SHIFT_LEFT,
    TOKEN_SHIFT_RIGHT,
    TOKEN_SHIFT_RIGHT_UNSIGNED, /* >>> */
    TOKEN_PLUS,
    TOKEN_MINUS,
    TOKEN_STAR,
    TOKEN_SLASH,
    TOKEN_PERCENT,

    TOKEN_KIND_COUNT
};

struct token {
    enum token_kind kind;
    struct span span;
    struct slice text; /* as written */
};

struct lexer {
    struct slice text;
    size_t at;
    size_t
        continued; /* bytes before `at` that go on with a character: byte offset less these is its number */
};

/* TOKEN_END again and again once the text is used up. */
void lex_next(struct lexer *lexer, struct token *token);

/* Words with a meaning in some places only, which are names in the others. */
static inline bool token_is_name(enum token_kind kind)
{
    return kind == TOKEN_NAME || kind == TOKEN_ALL || kind == TOKEN_FIRST || kind == TOKEN_LAST ||
           kind == TOKEN_RANK;
}

/*
 * What TOKEN_NUMBER and TOKEN_STRING stand for (literal.c). ST_QUERY_MEMORY when memory ends. A number beyond
 * every double, or hexadecimal and beyond 64 bits, is infinite. The parser may have put a sign before it.
 */
enum status token_number(struct op *op, const struct token *token, struct value *number);
enum status token_string(struct op *op, const struct token *token, struct slice *string);
