/* test/unit/http/framing_test.c - what a server in front might read otherwise is refused, however it is cut. */
#include "http/parser.h"
#include "test.h"

static const struct {
    const char *about, *text;
} refused[] = {
    { "the first header is folded", "GET / HTTP/1.1\r\n host: a\r\n\r\n" },
    { "the first header is folded by a tab", "GET / HTTP/1.1\r\n\thost: a\r\n\r\n" },
    { "a later header is folded", "GET / HTTP/1.1\r\na: b\r\n c\r\n\r\n" },
    { "an empty header is folded", "GET / HTTP/1.1\r\na:\r\n b\r\n\r\n" },
    { "an empty line is folded", "GET / HTTP/1.1\r\na: b\r\n \r\n\r\n" },
    { "a line of the head ends in LF", "GET / HTTP/1.1\r\na: b\nc: d\r\n\r\n" },
    { "the request line ends in LF", "GET / HTTP/1.1\na: b\r\n\r\n" },
    { "the head ends in LF", "GET / HTTP/1.1\r\na: b\r\n\n" },
    { "all lines end in LF", "GET / HTTP/1.1\na: b\n\n" },
    { "an empty line before the request is LF", "\nGET / HTTP/1.1\r\n\r\n" },
    { "a header has a CR in it", "GET / HTTP/1.1\r\na: b\rc: d\r\n\r\n" },
    { "a header ends in two CRs", "GET / HTTP/1.1\r\na: b\r\r\n\r\n" },
    { "a header has a NUL in it", "GET / HTTP/1.1\r\na: \001\r\n\r\n" },
    { "space before the colon", "GET / HTTP/1.1\r\nContent-Length : 1\r\n\r\na" },
    { "a tab before the colon", "GET / HTTP/1.1\r\nContent-Length\t: 1\r\n\r\na" },
    { "space in a name", "GET / HTTP/1.1\r\nContent Length: 1\r\n\r\na" },
    { "a header without a colon", "GET / HTTP/1.1\r\nContent-Length\r\n\r\n" },
    { "a header without a name", "GET / HTTP/1.1\r\n: a\r\n\r\n" },
    { "two lengths that differ", "PUT / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab" },
    { "two lengths that agree", "PUT / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na" },
    { "two lengths in one header", "PUT / HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\na" },
    { "an empty length", "PUT / HTTP/1.1\r\nContent-Length:\r\n\r\n" },
    { "a length with a sign", "PUT / HTTP/1.1\r\nContent-Length: +1\r\n\r\na" },
    { "a length in hexadecimal", "PUT / HTTP/1.1\r\nContent-Length: 0x1\r\n\r\na" },
    { "a length of more than 64 bits", "PUT / HTTP/1.1\r\nContent-Length: 18446744073709551617\r\n\r\na" },
    { "a length, then chunks",
      "PUT / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" },
    { "chunks, then a length",
      "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" },
    { "another coding before chunked",
      "PUT / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" },
    { "another coding after chunked", "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n" },
    { "chunked twice", "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n" },
    { "chunked in two headers",
      "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" },
    { "identity", "PUT / HTTP/1.1\r\nTransfer-Encoding: identity\r\n\r\n" },
    { "an empty coding", "PUT / HTTP/1.1\r\nTransfer-Encoding:\r\n\r\n" },
    { "chunked with something behind it",
      "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n" },
    { "chunks in HTTP/1.0", "PUT / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" },
    { "a chunk that ends in other bytes",
      "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\naXX0\r\n\r\n" },
    { "a chunk that ends in LF", "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\n0\r\n\r\n" },
    { "a chunk that is longer than its size",
      "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n" },
    { "a chunk's size ends in LF", "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n" },
    { "a chunk's size ends in CR", "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\ra\r\n0\r\n\r\n" },
    { "space before a chunk's size",
      "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n 1\r\na\r\n0\r\n\r\n" },
    { "space behind a chunk's size",
      "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1 \r\na\r\n0\r\n\r\n" },
    { "a chunk's size in C's hexadecimal",
      "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n" },
    { "a chunk's size of more than 64 bits",
      "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000001\r\na\r\n0\r\n\r\n" },
    { "no size", "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\r\n0\r\n\r\n" },
    { "LF in a chunk's extension",
      "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;a\n=b\r\na\r\n0\r\n\r\n" },
    { "CR in a chunk's extension",
      "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;a\r=b\r\na\r\n0\r\n\r\n" },
    { "a trailer ends in LF", "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\na: b\nc: d\r\n\r\n" },
    { "a trailer is folded", "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n a: b\r\n\r\n" },
    { "the body ends in LF", "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\n" },
    { "no version", "GET /\r\n\r\n" },
};

static enum parsed feed(const char *text, size_t piece, struct parser *parser)
{
    enum parsed parsed = PARSED_MORE;
    struct input input = { 0 };

    parser_begin(parser, 4096, 4096);
    for (size_t at = 0, size; text[at] && parsed == PARSED_MORE; at += size) {
        size = strnlen(text + at, piece);
        CHECK(input_reserve(&input, size));
        memcpy(input.data + input.size, text + at, size);
        input.size += size;
        parsed = parser_feed(parser, &input);
    }
    input_free(&input);
    return parsed;
}

TEST(what_somebody_in_front_might_read_otherwise_is_refused)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        for (size_t piece = 1; piece < 100; piece++) {
            struct parser parser;
            enum parsed parsed = feed(refused[i].text, piece, &parser);

            if (parsed == PARSED_WRONG && parser.why == ST_BAD_REQUEST && parser.reason)
                continue;
            printf("in pieces of %zu: %s\n", piece, refused[i].about);
            CHECK(false);
            break;
        }
}

TEST(what_is_written_as_it_should_be_is_taken)
{
    static const char *const texts[] = {
        "GET / HTTP/1.1\r\n\r\n",
        "\r\nGET / HTTP/1.1\r\nhost: a\r\n\r\n",
        "PUT / HTTP/1.1\r\ncontent-LENGTH:1\r\n\r\na",
        "PUT / HTTP/1.1\r\nContent-Length: \t001 \r\n\r\na",
        "PUT / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n",
        "PUT / HTTP/1.1\r\nTransfer-Encoding: "
        "chunked\r\n\r\n0001;a=\"b\"\r\na\r\nA\r\n0123456789\r\n000\r\n\r\n",
        "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n\r\r\n1\r\n\n\r\n0\r\na: b\r\nc: d\r\n\r\n",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        for (size_t piece = 1; piece < 100; piece++) {
            struct parser parser;

            CHECK(feed(texts[i], piece, &parser) == PARSED_WHOLE);
        }
}

TEST(trailers_do_not_go_on_for_ever)
{
    static char text[64 * 1024];
    struct parser parser;
    size_t at =
        (size_t)snprintf(text, sizeof(text), "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n");

    for (; at + 16 < sizeof(text); at += 6)
        memcpy(text + at, "a: b\r\n", 7);
    CHECK(feed(text, 100, &parser) == PARSED_WRONG);
}
