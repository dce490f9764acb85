/* test/unit/http/request_test.c - requests that are right, in every form they may come. */
#include "harness.h"

TEST(a_connection_serves_one_request_after_another)
{
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);
    struct http_stats stats;

    for (int i = 0; i < 3; i++) {
        struct reply reply = client_ask(&client, "GET /echo/a HTTP/1.1\r\nHost: x\r\n\r\n");

        CHECK(reply.status == 200 && slice_is(reply.body, "GET /echo/a\n"));
        CHECK(!reply_has(&reply, "Connection:"));
    }
    http_stats(server, &stats);
    CHECK(stats.connections_total == 1 && stats.requests == 3 && stats.requests_on_pool == 0);
    CHECK(stats.connections_open == 1 &&
          stats.bytes_in == 3 * strlen("GET /echo/a HTTP/1.1\r\nHost: x\r\n\r\n"));
    client_close(&client);
    site_close(server);
}

TEST(requests_sent_at_once_are_answered_in_order)
{
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);
    char text[2048];
    size_t size = 0;

    for (int i = 0; i < 10; i++) /* every third one on the pool, every second one with a body */
        size += (size_t)snprintf(text + size, sizeof(text) - size,
                                 "POST /%s/%d HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s",
                                 i % 3 ? "echo" : "pool", i, i % 2 ? 4 : 0, i % 2 ? "body" : "");
    client_send_bytes(&client, text, size);
    for (int i = 0; i < 10; i++) {
        struct reply reply = client_read(&client);
        char expected[64];

        snprintf(expected, sizeof(expected), "POST /%s/%d\n%s", i % 3 ? "echo" : "pool", i,
                 i % 2 ? "body" : "");
        CHECK(reply.status == 200 && slice_is(reply.body, expected));
    }
    client_close(&client);
    site_close(server);
}

TEST(many_requests_sent_at_once_outlast_one_turn_of_the_loop)
{
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);
    static const char one[] = "GET /echo HTTP/1.1\r\n\r\n";
    char text[500 * (sizeof(one) - 1)];

    for (size_t at = 0; at < sizeof(text); at += sizeof(one) - 1)
        memcpy(text + at, one, sizeof(one) - 1);
    client_send_bytes(&client, text, sizeof(text));
    for (int i = 0; i < 500; i++)
        REQUIRE(client_read(&client).status == 200);
    client_close(&client);
    site_close(server);
}

TEST(a_request_may_come_byte_by_byte)
{
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);
    const char *text =
        "POST /header HTTP/1.1\r\nX-Ms-Session-Token:  0:-1#7 \r\nContent-Length: 3\r\n\r\nabc";
    struct reply reply;

    for (const char *at = text; *at; at++)
        client_send_bytes(&client, at, 1);
    reply = client_read(&client);
    CHECK(reply.status == 200 && slice_is(reply.body, "0:-1#7"));
    client_close(&client);
    site_close(server);
}

TEST(the_last_of_repeated_headers_counts_and_an_empty_one_is_not_absent)
{
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);
    struct reply reply;

    reply =
        client_ask(&client, "GET /header HTTP/1.1\r\nx-ms-session-token: a\r\nX-MS-SESSION-TOKEN: b\r\n\r\n");
    CHECK(slice_is(reply.body, "b"));
    reply = client_ask(&client, "GET /header HTTP/1.1\r\nx-ms-session-token:\r\n\r\n");
    CHECK(slice_is(reply.body, ""));
    reply = client_ask(&client, "GET /header HTTP/1.1\r\n\r\n");
    CHECK(slice_is(reply.body, "absent"));
    client_close(&client);
    site_close(server);
}

TEST(a_chunked_body_arrives_as_one_piece)
{
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);
    struct reply reply;

    reply = client_ask(&client, "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
                                "1\r\na\r\n5;name=value\r\nbcdef\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n");
    CHECK(slice_is(reply.body, "POST /echo\nabcdef0123456789abcdef"));
    reply = client_ask(&client, "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    CHECK(slice_is(reply.body, "POST /echo\n"));
    client_close(&client);
    site_close(server);
}

TEST(a_chunked_body_may_come_byte_by_byte_and_the_next_request_follows_it)
{
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);
    const char *text = "POST /echo/1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
                       "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\nGET /echo/2 HTTP/1.1\r\n\r\n";
    struct reply reply;

    for (const char *at = text; *at; at++)
        client_send_bytes(&client, at, 1);
    reply = client_read(&client);
    CHECK(slice_is(reply.body, "POST /echo/1\nabcde"));
    reply = client_read(&client);
    CHECK(slice_is(reply.body, "GET /echo/2\n"));
    client_close(&client);
    site_close(server);
}

TEST(a_large_body_in_small_chunks_takes_no_more_memory_than_its_bytes)
{
    struct http_options options = site_options();
    struct http_server *server;
    struct client client;
    struct reply reply;

    options.body_bytes_max = 60000; /* six times as much comes over the wire */
    server = site_open(&options);
    client = client_connect(server, 0);
    client_send(&client, "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 60000; i++)
        client_send(&client, "1\r\nx\r\n");
    client_send(&client, "0\r\n\r\n");
    reply = client_read(&client);
    CHECK(reply.status == 200 && reply.body.size == 60000 + strlen("POST /echo\n"));
    client_close(&client);
    site_close(server);
}

TEST(trailers_change_nothing)
{
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);
    struct reply reply;

    reply = client_ask(
        &client, "POST /header HTTP/1.1\r\nTransfer-Encoding: chunked\r\nx-ms-session-token: head\r\n\r\n"
                 "1\r\na\r\n0\r\nx-ms-session-token: trailer\r\n\r\n");
    CHECK(slice_is(reply.body, "head"));
    reply = client_ask(&client, "GET /header HTTP/1.1\r\n\r\n");
    CHECK(slice_is(reply.body, "absent"));
    client_close(&client);
    site_close(server);
}

TEST(a_client_that_expects_100_continue_gets_it_before_its_body)
{
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);
    struct reply reply;

    client_send(&client, "PUT /echo HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    reply = client_read_head(&client);
    CHECK(reply.status == 100);
    reply = client_ask(&client, "body");
    CHECK(reply.status == 200 && slice_is(reply.body, "PUT /echo\nbody"));

    /* One that does not wait is not told to go on. */
    reply =
        client_ask(&client, "PUT /echo HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\nbody");
    CHECK(reply.status == 200);
    client_close(&client);
    site_close(server);
}

TEST(a_head_request_gets_the_headers_only)
{
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);
    struct reply reply;

    client_send(&client, "HEAD /echo HTTP/1.1\r\n\r\n");
    reply = client_read_head(&client);
    CHECK(reply.status == 200 && reply_has(&reply, "\r\nContent-Length: 11\r\n"));
    reply = client_ask(&client, "GET /echo HTTP/1.1\r\n\r\n");
    CHECK(reply.status == 200 && slice_is(reply.body, "GET /echo\n"));
    client_close(&client);
    site_close(server);
}

TEST(no_content_has_neither_body_nor_length)
{
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);
    struct reply reply;

    client_send(&client, "DELETE /empty HTTP/1.1\r\n\r\n");
    reply = client_read_head(&client);
    CHECK(reply.status == 204 && !reply_has(&reply, "Content-Length"));
    reply = client_ask(&client, "GET /echo HTTP/1.1\r\n\r\n");
    CHECK(reply.status == 200);
    client_close(&client);
    site_close(server);
}

TEST(the_date_is_the_time_of_the_env)
{
    struct http_options options = site_options();
    struct http_server *server;
    struct client client;
    struct reply reply;

    options.env = test_op()->env;
    server = site_open(&options);
    client = client_connect(server, 0);
    reply = client_ask(&client, "GET /echo HTTP/1.1\r\n\r\n");
    CHECK(reply_has(&reply, "\r\nDate: Tue, 14 Nov 2023 22:13:20 GMT\r\n"));
    env_advance_ms(options.env, 1000);
    reply = client_ask(&client, "GET /echo HTTP/1.1\r\n\r\n");
    CHECK(reply_has(&reply, "\r\nDate: Tue, 14 Nov 2023 22:13:21 GMT\r\n"));
    client_close(&client);
    site_close(server);
}

TEST(connection_close_is_honoured)
{
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);
    struct reply reply = client_ask(&client, "GET /echo HTTP/1.1\r\nConnection: close\r\n\r\n");

    CHECK(reply.status == 200 && reply_has(&reply, "\r\nConnection: close\r\n"));
    CHECK(client_is_closed(&client));
    client_close(&client);
    site_close(server);
}

TEST(http_1_0_closes_unless_it_asks_to_stay)
{
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);
    struct reply reply;

    reply = client_ask(&client, "GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    CHECK(reply.status == 200 && reply_has(&reply, "\r\nConnection: keep-alive\r\n"));
    reply = client_ask(&client, "GET /echo HTTP/1.0\r\n\r\n");
    CHECK(reply.status == 200 && reply_has(&reply, "\r\nConnection: close\r\n"));
    CHECK(client_is_closed(&client));
    client_close(&client);
    site_close(server);
}

TEST(the_protocol_is_never_switched)
{
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);
    struct reply reply;

    reply = client_ask(&client, "GET /echo HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n");
    CHECK(reply.status == 200 && slice_is(reply.body, "GET /echo\n"));
    reply = client_ask(&client, "CONNECT example.com:80 HTTP/1.1\r\nContent-Length: 2\r\n\r\nab");
    CHECK(reply.status == 200 && slice_is(reply.body, "OTHER example.com:80\nab"));
    reply = client_ask(&client, "GET /echo HTTP/1.1\r\n\r\n");
    CHECK(reply.status == 200);
    client_close(&client);
    site_close(server);
}

TEST(targets_may_hold_raw_utf_8_and_signs_that_should_be_escaped)
{
    static const char *const targets[] = { "/echo/gr\xc3\xbc\xc3\x9f", "/echo/a?b?c=\"{}|^`<>",
                                           "/echo/%20%zz", "/echo//..;:@&=+$,", "/echo/\xff\x80" };
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);

    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        char text[256], expected[256];
        struct reply reply;

        snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\n\r\n", targets[i]);
        snprintf(expected, sizeof(expected), "GET %s\n", targets[i]);
        reply = client_ask(&client, text);
        CHECK(reply.status == 200 && slice_is(reply.body, expected));
    }
    client_close(&client);
    site_close(server);
}
