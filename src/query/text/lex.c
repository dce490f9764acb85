/* src/query/text/lex.c - query text to tokens. */
#include "query/text/letters.h"
#include "query/text/lex.h"

enum { KEYWORD_BYTES_MIN = 2, KEYWORD_BYTES_MAX = 9 };

enum byte_class {
    BYTE_OTHER,
    BYTE_SPACE,
    BYTE_WIDE,   /* of a character beyond ASCII: letters.h knows it */
    BYTE_LETTER, /* and the underscore */
    BYTE_DIGIT,
};

static const uint8_t classes[256] = {
    ['\t' ... '\r'] = BYTE_SPACE, [' '] = BYTE_SPACE,  ['0' ... '9'] = BYTE_DIGIT,
    ['A' ... 'Z'] = BYTE_LETTER,  ['_'] = BYTE_LETTER, ['a' ... 'z'] = BYTE_LETTER,
    [0x80 ... 0xff] = BYTE_WIDE,
};

struct keyword {
    const char *text;
    enum token_kind kind;
};

/* Lookup halves it. */
static const struct keyword keywords[] = {
#define KEYWORD(name, text) { text, TOKEN_##name },
#include "query/text/keywords.def"
#undef KEYWORD
};

static uint8_t class_at(const struct lexer *l, size_t at)
{
    return at < l->text.size ? classes[(uint8_t)l->text.data[at]] : (uint8_t)BYTE_OTHER;
}

/* 0 behind the end, which no token is made of. */
static char byte_at(const struct lexer *l, size_t at)
{
    return at < l->text.size ? l->text.data[at] : '\0';
}

static char to_upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static int compare_nocase(struct slice word, const char *text)
{
    for (size_t i = 0; i < word.size; i++) {
        int order = (uint8_t)to_upper(word.data[i]) - (uint8_t)to_upper(text[i]);

        if (order != 0) /* also where the text has ended */
            return order;
    }
    return text[word.size] ? -1 : 0;
}

static const struct keyword *find_keyword(struct slice word)
{
    size_t low = 0, high = sizeof(keywords) / sizeof(keywords[0]);

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = compare_nocase(word, keywords[middle].text);

        if (order == 0)
            return &keywords[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static enum token_kind word_kind(struct slice word)
{
    const struct keyword *keyword;

    if (word.size < KEYWORD_BYTES_MIN || word.size > KEYWORD_BYTES_MAX) /* c is what most words are */
        return TOKEN_NAME;
    keyword = find_keyword(word);
    if (!keyword)
        return TOKEN_NAME;
    if (keyword->text[1] >= 'a' && !slice_is(word, keyword->text))
        return TOKEN_NAME;
    return keyword->kind;
}

static void count_continued(struct lexer *l, size_t start)
{
    for (size_t i = start; i < l->at; i++)
        l->continued += ((uint8_t)l->text.data[i] & 0xc0) == 0x80;
}

static enum letter wide_at(const struct lexer *l, size_t at, size_t *size)
{
    return class_at(l, at) == BYTE_WIDE ? letter_read(l->text.data + at, size) : LETTER_NONE;
}

static bool begins_word(const struct lexer *l, size_t at)
{
    size_t size;

    return class_at(l, at) == BYTE_LETTER || wide_at(l, at, &size) == LETTER_FIRST;
}

static size_t skip_ascii_word(const struct lexer *l, size_t at)
{
    while (class_at(l, at) >= BYTE_LETTER)
        at++;
    return at;
}

/* Behind letters and digits of any script. */
static size_t skip_word(const struct lexer *l, size_t at)
{
    size_t size = 0;

    for (at = skip_ascii_word(l, at); wide_at(l, at, &size) >= LETTER_FIRST; at = skip_ascii_word(l, at))
        at += size;
    return at;
}

static enum token_kind lex_word(struct lexer *l)
{
    size_t start = l->at, ascii = skip_ascii_word(l, start);

    l->at = class_at(l, ascii) == BYTE_WIDE ? skip_word(l, ascii) : ascii;
    if (l->at == ascii)
        return word_kind(slice_make(l->text.data + start, ascii - start));
    count_continued(l, start);
    return TOKEN_NAME;
}

static enum token_kind lex_parameter(struct lexer *l)
{
    size_t start = ++l->at;

    if (!begins_word(l, start))
        return TOKEN_BAD_CHARACTER;
    l->at = skip_word(l, start);
    count_continued(l, start);
    return TOKEN_PARAMETER;
}

static size_t skip_digits(const struct lexer *l, size_t at)
{
    while (class_at(l, at) == BYTE_DIGIT)
        at++;
    return at;
}

static bool is_hex(char c)
{
    c |= 0x20;
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* Behind an exponent; *good becomes false when it has no digits. */
static size_t skip_exponent(const struct lexer *l, size_t at, bool *good)
{
    if ((byte_at(l, at) | 0x20) != 'e')
        return at;
    at++;
    if (byte_at(l, at) == '+' || byte_at(l, at) == '-')
        at++;
    *good = class_at(l, at) == BYTE_DIGIT;
    return skip_digits(l, at);
}

static size_t skip_decimal(const struct lexer *l, size_t at, bool *good)
{
    at = skip_digits(l, at);
    if (byte_at(l, at) == '.')
        at = skip_digits(l, at + 1);
    return skip_exponent(l, at, good);
}

/* The digits behind 0x, or the 0 alone: the x is then glued to it. */
static size_t skip_hexadecimal(const struct lexer *l, size_t at)
{
    size_t digits = at + 2, end = digits;

    while (is_hex(byte_at(l, end)))
        end++;
    return end > digits ? end : at + 1;
}

static enum token_kind lex_number(struct lexer *l)
{
    bool is_hexadecimal = byte_at(l, l->at) == '0' && (byte_at(l, l->at + 1) | 0x20) == 'x';
    size_t start = l->at, end;
    bool good = true;

    end = is_hexadecimal ? skip_hexadecimal(l, start) : skip_decimal(l, start, &good);
    l->at = skip_word(l, end);
    count_continued(l, end);
    return good && l->at == end ? TOKEN_NUMBER : TOKEN_BAD_NUMBER;
}

/* Behind a backslash and what it stands before. A \u without four digits ends the string there: *good is false. */
static size_t skip_escape(const struct lexer *l, size_t at, bool *good)
{
    size_t digits = at + 2;

    if (byte_at(l, at + 1) != 'u')
        return digits;
    for (; digits < at + 6; digits++)
        if (!is_hex(byte_at(l, digits))) {
            *good = false;
            return digits + 1;
        }
    return digits;
}

static enum token_kind lex_string(struct lexer *l)
{
    size_t start = l->at, at = start + 1, end = l->text.size;
    char quote = l->text.data[start];
    bool good = true;

    while (good && at < end && l->text.data[at] != quote)
        at = l->text.data[at] == '\\' ? skip_escape(l, at, &good) : at + 1;
    good &= at < end;
    at += good;
    l->at = at < end ? at : end;
    while (((uint8_t)byte_at(l, l->at) & 0xc0) == 0x80)
        l->at++;
    count_continued(l, start);
    return good ? TOKEN_STRING : TOKEN_BAD_STRING;
}

/* One whole character, so that an error can cite it. */
static enum token_kind lex_bad_character(struct lexer *l)
{
    size_t start = l->at++;

    while (((uint8_t)byte_at(l, l->at) & 0xc0) == 0x80)
        l->at++;
    count_continued(l, start);
    return TOKEN_BAD_CHARACTER;
}

struct punctuation {
    const char *text;
    enum token_kind kind;
};

/* What begins with another comes before it. */
static const struct punctuation punctuation[] = {
    { ",", TOKEN_COMMA },
    { ".", TOKEN_DOT },
    { "(", TOKEN_OPEN },
    { ")", TOKEN_CLOSE },
    { "[", TOKEN_BRACKET_OPEN },
    { "]", TOKEN_BRACKET_CLOSE },
    { "{", TOKEN_BRACE_OPEN },
    { "}", TOKEN_BRACE_CLOSE },
    { "=", TOKEN_EQUAL },
    { "!=", TOKEN_NOT_EQUAL },
    { "<>", TOKEN_NOT_EQUAL },
    { "<=", TOKEN_LESS_EQUAL },
    { "<<", TOKEN_SHIFT_LEFT },
    { "<", TOKEN_LESS },
    { ">>>", TOKEN_SHIFT_RIGHT_UNSIGNED },
    { ">>", TOKEN_SHIFT_RIGHT },
    { ">=", TOKEN_GREATER_EQUAL },
    { ">", TOKEN_GREATER },
    { "+", TOKEN_PLUS },
    { "-", TOKEN_MINUS },
    { "*", TOKEN_STAR },
    { "/", TOKEN_SLASH },
    { "%", TOKEN_PERCENT },
    { ":", TOKEN_COLON },
    { "??", TOKEN_COALESCE },
    { "?", TOKEN_QUESTION },
    { "||", TOKEN_CONCAT },
    { "|", TOKEN_BIT_OR },
    { "^", TOKEN_BIT_XOR },
    { "&", TOKEN_BIT_AND },
    { "~", TOKEN_BIT_NOT },
};

static enum token_kind lex_punctuation(struct lexer *l)
{
    struct slice rest = slice_after(l->text, l->at);

    for (size_t i = 0; i < sizeof(punctuation) / sizeof(punctuation[0]); i++)
        if (rest.data[0] == punctuation[i].text[0] && slice_starts_with(rest, punctuation[i].text)) {
            l->at += strlen(punctuation[i].text);
            return punctuation[i].kind;
        }
    return lex_bad_character(l);
}

static size_t skip_space(const struct lexer *l, size_t at)
{
    size_t size = 0;

    for (;;) {
        while (class_at(l, at) == BYTE_SPACE)
            at++;
        if (wide_at(l, at, &size) != LETTER_BLANK)
            return at;
        at += size;
    }
}

/* White space, and comments from -- to the end of the line. */
static void skip_blank(struct lexer *l)
{
    size_t start = l->at;

    for (;;) {
        l->at = skip_space(l, l->at);
        if (byte_at(l, l->at) != '-' || byte_at(l, l->at + 1) != '-')
            break;
        while (l->at < l->text.size && l->text.data[l->at] != '\n' && l->text.data[l->at] != '\r')
            l->at++;
    }
    count_continued(l, start);
}

static enum token_kind lex_kind(struct lexer *l)
{
    char first = byte_at(l, l->at);

    if (l->at == l->text.size)
        return TOKEN_END;
    switch ((enum byte_class)class_at(l, l->at)) {
    case BYTE_LETTER:
        return lex_word(l);
    case BYTE_DIGIT:
        return lex_number(l);
    case BYTE_WIDE:
        return begins_word(l, l->at) ? lex_word(l) : lex_bad_character(l);
    default:
        break;
    }
    if (first == '"' || first == '\'')
        return lex_string(l);
    if (first == '@')
        return lex_parameter(l);
    if (first == '.' && class_at(l, l->at + 1) == BYTE_DIGIT)
        return lex_number(l);
    return lex_punctuation(l);
}

void lex_next(struct lexer *lexer, struct token *token)
{
    size_t start;

    skip_blank(lexer);
    start = lexer->at;
    token->span.start = (uint32_t)(lexer->at - lexer->continued);
    token->kind = lex_kind(lexer);
    token->span.end = (uint32_t)(lexer->at - lexer->continued);
    token->text = slice_make(lexer->text.data + start, lexer->at - start);
}
