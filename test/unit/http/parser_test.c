/* test/unit/http/parser_test.c - the parser by itself: the same request however it is cut. */
#include <stdlib.h>

#include "http/parser.h"
#include "test.h"

static void add(struct input *input, const char *text, size_t size)
{
    CHECK(input_reserve(input, size));
    memcpy(input->data + input->size, text, size);
    input->size += size;
}

static enum parsed feed_in_pieces(struct parser *parser, struct input *input, const char *text, size_t piece)
{
    enum parsed parsed = PARSED_MORE;

    for (size_t at = 0; text[at] && parsed == PARSED_MORE; at += piece) {
        size_t size = strnlen(text + at, piece);

        add(input, text + at, size);
        parsed = parser_feed(parser, input);
        if (size < piece)
            break;
    }
    return parsed;
}

TEST(a_request_is_the_same_however_it_is_cut)
{
    const char *text =
        "PATCH /dbs/a/colls/b/docs/c?x=1 HTTP/1.1\r\nHost: h\r\nIf-Match:  \"e\" \r\nother: thing\r\n"
        "Transfer-Encoding: chunked\r\n\r\n4\r\nwiki\r\n5;q=1\r\npedia\r\n0\r\nHost: evil\r\n\r\n";

    for (size_t piece = 1; piece <= strlen(text); piece++) {
        struct parser parser;
        struct input input = { 0 };
        struct request request = { 0 };

        parser_begin(&parser, 1000, 1000);
        REQUIRE(feed_in_pieces(&parser, &input, text, piece) == PARSED_WHOLE);
        parser_request(&parser, &input, &request);
        CHECK(request.method == METHOD_PATCH && slice_is(request.target, "/dbs/a/colls/b/docs/c?x=1"));
        CHECK(slice_is(request.header[HEADER_HOST], "h") &&
              slice_is(request.header[HEADER_IF_MATCH], "\"e\""));
        CHECK(!request.header[HEADER_DATE].data);
        CHECK(slice_is(request.body, "wikipedia"));
        CHECK(!input_has_more(&input));
        input_free(&input);
    }
}

TEST(a_request_ends_where_the_next_one_begins)
{
    const char *text = "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nabGET /next HTTP/1.1\r\n\r\n";
    struct parser parser;
    struct input input = { 0 };
    struct request request = { 0 };

    add(&input, text, strlen(text));
    parser_begin(&parser, 1000, 1000);
    REQUIRE(parser_feed(&parser, &input) == PARSED_WHOLE);
    parser_request(&parser, &input, &request);
    CHECK(slice_is(request.body, "ab"));
    input_next(&input);
    CHECK(input_has_more(&input) && input_reserve(&input, 10000)); /* moved, and moved again */
    parser_begin(&parser, 1000, 1000);
    REQUIRE(parser_feed(&parser, &input) == PARSED_WHOLE);
    parser_request(&parser, &input, &request);
    CHECK(request.method == METHOD_GET && slice_is(request.target, "/next") && request.body.size == 0);
    input_next(&input);
    CHECK(!input_has_more(&input) && input.size == 0);
    input_free(&input);
}

TEST(the_framing_of_chunks_takes_no_memory)
{
    struct parser parser;
    struct input input = { 0 };

    parser_begin(&parser, 1000, 100000);
    REQUIRE(feed_in_pieces(&parser, &input, "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 1000) ==
            PARSED_MORE);
    for (int i = 0; i < 5000; i++)
        REQUIRE(feed_in_pieces(&parser, &input, "1;a-long-extension-that-nobody-reads=42\r\nx\r\n", 17) ==
                PARSED_MORE);
    CHECK(input.capacity <= 16 * 1024);
    REQUIRE(feed_in_pieces(&parser, &input, "0\r\n\r\n", 3) == PARSED_WHOLE);
    CHECK(parser.body.size == 5000);
    input_free(&input);
}
