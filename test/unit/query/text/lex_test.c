/* test/unit/query/text/lex_test.c - where tokens end, and of which kind they are. */
#include "query/text/lex.h"
#include "test.h"

/* The texts of the tokens with a bar between them. */
static const char *tokens(const char *text)
{
    struct lexer lexer = { .text = slice_of(text) };
    struct token token;
    struct buf out;

    buf_init(&out, &test_op()->arena);
    for (;;) {
        lex_next(&lexer, &token);
        if (token.kind == TOKEN_END)
            break;
        buf_slice(&out, token.text);
        buf_byte(&out, '|');
    }
    buf_byte(&out, '\0');
    return out.data;
}

static struct token first(const char *text)
{
    struct lexer lexer = { .text = slice_of(text) };
    struct token token;

    lex_next(&lexer, &token);
    return token;
}

TEST(the_longest_operator_wins)
{
    CHECK(strcmp(tokens("a>>>b>>c>=d>e"), "a|>>>|b|>>|c|>=|d|>|e|") == 0);
    CHECK(strcmp(tokens("a<<b<=c<>d<e"), "a|<<|b|<=|c|<>|d|<|e|") == 0);
    CHECK(strcmp(tokens("a??b?c||d|e"), "a|??|b|?|c||||d|||e|") == 0);
    CHECK(strcmp(tokens("a!=b=c"), "a|!=|b|=|c|") == 0);
    CHECK(strcmp(tokens("()[]{},.:+-*/%~&^"), "(|)|[|]|{|}|,|.|:|+|-|*|/|%|~|&|^|") == 0);
}

TEST(numbers_end_where_they_end)
{
    CHECK(strcmp(tokens("1 1. .5 1.5e3 1e-3 0x1f 1..5"), "1|1.|.5|1.5e3|1e-3|0x1f|1.|.5|") == 0);
    CHECK(strcmp(tokens("1+2-3"), "1|+|2|-|3|") == 0);
    CHECK(strcmp(tokens("a[0].b"), "a|[|0|]|.|b|") == 0);
    CHECK(strcmp(tokens("1e5e 1e 0x 12_3"), "1e5e|1e|0x|12_3|") == 0);
    CHECK(first("1e5e").kind == TOKEN_BAD_NUMBER);
    CHECK(first("1e").kind == TOKEN_BAD_NUMBER);
    CHECK(first("12_3").kind == TOKEN_BAD_NUMBER);
    CHECK(first("1.").kind == TOKEN_NUMBER);
    CHECK(first(".").kind == TOKEN_DOT);
}

TEST(keywords_are_found_in_any_case_but_for_literals)
{
    static const struct {
        const char *text;
        enum token_kind kind;
    } words[] = {
#define KEYWORD(name, text) { text, TOKEN_##name },
#include "query/text/keywords.def"
#undef KEYWORD
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        CHECK(first(words[i].text).kind == words[i].kind);
    CHECK(first("select").kind == TOKEN_SELECT);
    CHECK(first("SeLeCt").kind == TOKEN_SELECT);
    CHECK(first("distinct").kind == TOKEN_DISTINCT);
    CHECK(first("True").kind == TOKEN_NAME);
    CHECK(first("NULL").kind == TOKEN_NAME);
    CHECK(first("UDF").kind == TOKEN_NAME);
    CHECK(first("selects").kind == TOKEN_NAME);
    CHECK(first("selec").kind == TOKEN_NAME);
    CHECK(first("a").kind == TOKEN_NAME);
    CHECK(first("zz").kind == TOKEN_NAME);
    CHECK(first("undefined1").kind == TOKEN_NAME);
}

TEST(names_are_of_letters_of_any_script)
{
    CHECK(strcmp(tokens("\xc3\xb1"
                        "and\xc3\xba.\xe6\x97\xa5\xe6\x9c\xac @\xc3\xa9"
                        "1"),
                 "\xc3\xb1"
                 "and\xc3\xba|.|\xe6\x97\xa5\xe6\x9c\xac|@\xc3\xa9"
                 "1|") == 0);
    CHECK(strcmp(tokens("a\xc2\xb2 b\xd9\xa3"), "a\xc2\xb2|b\xd9\xa3|") == 0); /* digits behind a letter */
    CHECK(first("\xc2\xb2").kind == TOKEN_BAD_CHARACTER);
    CHECK(first("\xf0\x90\x90\x80").kind == TOKEN_BAD_CHARACTER); /* a letter beyond 16 bits */
    CHECK(first("FROM\xe3\x80\x80"
                "c")
              .kind == TOKEN_FROM);
    CHECK(first("FROM\xc3\xa9").kind == TOKEN_NAME);
    CHECK(strcmp(tokens("a\xe3\x80\x80"
                        "b\x0b"
                        "c"),
                 "a|b|c|") == 0); /* blanks of any script */
}

TEST(strings_end_at_their_own_quote)
{
    CHECK(strcmp(tokens("'a\"b'\"c'd\"x"), "'a\"b'|\"c'd\"|x|") == 0);
    CHECK(strcmp(tokens("'a\\'b' 'c\\\\' d"), "'a\\'b'|'c\\\\'|d|") == 0);
    CHECK(first("'abc").kind == TOKEN_BAD_STRING);
    CHECK(first("'a\tb'").kind == TOKEN_STRING);
    CHECK(first("'\\x'").kind == TOKEN_STRING);
    CHECK(first("'\\u00'").kind == TOKEN_BAD_STRING);
}

TEST(the_end_is_the_end_again)
{
    struct lexer lexer = { .text = slice_of("a ") };
    struct token token;

    lex_next(&lexer, &token);
    for (int i = 0; i < 3; i++) {
        lex_next(&lexer, &token);
        CHECK(token.kind == TOKEN_END && token.span.start == 2 && token.span.end == 2);
    }
}

TEST(every_keyword_is_found_as_it_is_written)
{
    static const struct {
        const char *text;
        enum token_kind kind;
    } words[] = {
#define KEYWORD(name, text) { text, TOKEN_##name },
#include "query/text/keywords.def"
#undef KEYWORD
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        struct lexer lexer = { .text = slice_of(words[i].text) };
        struct token token;

        lex_next(&lexer, &token);
        CHECK(token.kind == words[i].kind);
    }
}
