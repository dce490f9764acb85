/* test/unit/http/http2_test.c - requests over HTTP/2 by prior knowledge: what they ask, side by side, and how they end. */
#include <pthread.h>
#include <sys/socket.h>

#include "http2_client.h"

TEST(a_request_says_the_same_as_over_http_1_1)
{
    struct http_server *server = site_open(NULL);
    struct http2_client *client = http2_connect(server, NULL, 0);
    const struct http2_reply *reply;

    reply = http2_ask(client, &(struct http2_request){ .path = "/echo/a%20b?c=d" });
    CHECK(reply->status == 200 && http2_body_is(reply, "GET /echo/a%20b?c=d\n"));
    CHECK(http2_head_has(reply, "x-tls: no\n") && http2_head_has(reply, "content-length: 20\n"));
    CHECK(http2_head_has(reply, "date: ") && !http2_head_has(reply, "onnection"));
    reply = http2_ask(client, &(struct http2_request){ .method = "POST", .body = "text", .body_size = 4 });
    CHECK(reply->status == 200 && http2_body_is(reply, "POST /echo\ntext"));
    reply = http2_ask(client, &(struct http2_request){ .method = "PATCH", .body = "", .body_size = 0 });
    CHECK(http2_body_is(reply, "PATCH /echo\n"));
    reply = http2_ask(client, &(struct http2_request){ .method = "BREW" });
    CHECK(http2_body_is(reply, "OTHER /echo\n"));
    reply = http2_ask(client, &(struct http2_request){ .path = "/header",
                                                       .extra = { { "x-ms-session-token", "0:-1#5" } } });
    CHECK(http2_body_is(reply, "0:-1#5"));
    reply = http2_ask(
        client, &(struct http2_request){ .path = "/header", .extra = { { "x-ms-session-token", "" } } });
    CHECK(reply->status == 200 && reply->body_size == 0);
    reply = http2_ask(client, &(struct http2_request){ .path = "/header" });
    CHECK(http2_body_is(reply, "absent"));
    http2_disconnect(client);
    site_close(server);
}

TEST(answers_without_a_body_end_with_their_head)
{
    struct http_server *server = site_open(NULL);
    struct http2_client *client = http2_connect(server, NULL, 0);
    const struct http2_reply *reply;

    reply = http2_ask(client, &(struct http2_request){ .path = "/empty" });
    CHECK(reply->status == 204 && reply->whole && !http2_head_has(reply, "content-length"));
    reply = http2_ask(client, &(struct http2_request){ .method = "HEAD" });
    CHECK(reply->status == 200 && reply->whole && reply->body_size == 0);
    CHECK(http2_head_has(reply, "content-length: 11\n"));
    http2_disconnect(client);
    site_close(server);
}

TEST(a_client_that_asks_whether_to_go_on_is_told_so_by_http2_too)
{
    struct http_server *server = site_open(NULL);
    struct http2_client *client = http2_connect(server, NULL, 0);
    const struct http2_reply *reply = http2_ask(
        client,
        &(struct http2_request){
            .method = "PUT", .extra = { { "expect", "100-continue" } }, .body = "x", .body_size = 1 });

    CHECK(reply->was_continued && reply->status == 200 && http2_body_is(reply, "PUT /echo\nx"));
    http2_disconnect(client);
    site_close(server);
}

/* What is read before the protocol is known belongs to HTTP/2 too. */
TEST(the_first_bytes_of_http2_may_come_one_by_one)
{
    struct http_server *server = site_open(NULL);
    struct http2_client *client = http2_connect(server, NULL, 0);
    int32_t id = http2_get(client, "/echo");
    const uint8_t *data;
    ssize_t size;

    while ((size = nghttp2_session_mem_send(client->session, &data)) > 0)
        for (ssize_t i = 0; i < size; i++)
            client_send_bytes(&client->client, data + i, 1);
    CHECK(http2_wait(client, id)->status == 200);
    http2_disconnect(client);
    site_close(server);
}

TEST(a_connection_that_has_spoken_http_1_1_goes_on_with_it)
{
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);

    CHECK(client_ask(&client, "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    CHECK(client_ask(&client, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").status == 400);
    CHECK(client_is_closed(&client));
    client_close(&client);
    site_close(server);
}

TEST(large_bodies_cross_http2_whole_in_both_directions)
{
    static char body[1024 * 1024];
    struct http_server *server = site_open(NULL);
    struct http2_client *client = http2_connect(server, NULL, 0);
    const struct http2_reply *reply;
    size_t wrong = 0;

    for (size_t i = 0; i < sizeof(body); i++)
        body[i] = pattern_at(i);
    for (int i = 0; i < 3; i++) { /* more than the windows that are open at first */
        reply = http2_ask(
            client, &(struct http2_request){ .method = "PUT", .body = body, .body_size = sizeof(body) });
        CHECK(reply->status == 200 && reply->body_size == 10 + sizeof(body));
        CHECK(reply->body && memcmp(reply->body + 10, body, sizeof(body)) == 0);
    }
    reply = http2_ask(client, &(struct http2_request){ .path = "/large" });
    REQUIRE(reply->whole && reply->body_size == LARGE_BYTES);
    for (size_t i = 0; i < LARGE_BYTES; i++)
        wrong += reply->body[i] != pattern_at(i);
    CHECK(wrong == 0);
    http2_disconnect(client);
    site_close(server);
}

TEST(requests_of_one_connection_are_answered_as_they_are_done)
{
    struct http_server *server = site_open(NULL);
    struct http2_client *client = http2_connect(server, NULL, 0);
    int32_t waits = http2_get(client, "/wait"), pool = http2_get(client, "/pool");
    int32_t pending = http2_get(client, "/pending");

    CHECK(http2_ask(client, &(struct http2_request){ .path = "/echo" })->status == 200);
    CHECK(http2_body_is(http2_wait(client, pool), "GET /pool\n"));
    resume_all(1);
    CHECK(http2_body_is(http2_wait(client, pending), "GET /pending\n"));
    CHECK(!http2_reply(client, waits)->ended);
    gate_open();
    CHECK(http2_body_is(http2_wait(client, waits), "GET /wait\n"));
    http2_disconnect(client);
    site_close(server);
}

TEST(a_group_that_is_resumed_together_is_answered_whole)
{
    struct http_server *server = site_open(NULL);
    struct http2_client *client = http2_connect(server, NULL, 0);
    int32_t ids[60];

    for (size_t i = 0; i < 60; i++)
        ids[i] = http2_get(client, i % 2 ? "/pending" : "/pending-pool");
    http2_send(client);
    resume_all(60);
    for (size_t i = 0; i < 60; i++)
        CHECK(http2_wait(client, ids[i])->status == 200);
    CHECK(resumed_count() == 60);
    http2_disconnect(client);
    site_close(server);
}

TEST(a_stream_that_is_reset_cancels_its_operation_and_no_other)
{
    struct http_server *server = site_open(NULL);
    struct http2_client *client = http2_connect(server, NULL, 0);
    int32_t waits = http2_get(client, "/wait"), stuck = http2_get(client, "/stuck");

    http2_send(client);
    gate_wait_for(2);
    nghttp2_submit_rst_stream(client->session, NGHTTP2_FLAG_NONE, stuck, NGHTTP2_CANCEL);
    http2_send(client);
    gate_wait_for(3); /* it has seen that it is cancelled */
    gate_open();
    CHECK(http2_wait(client, waits)->status == 200);
    CHECK(http2_ask(client, &(struct http2_request){ .path = "/echo" })->status == 200);
    http2_disconnect(client);
    site_close(server);
}

TEST(a_client_that_leaves_cancels_all_its_streams)
{
    struct http_server *server = site_open(NULL);
    struct http2_client *client = http2_connect(server, NULL, 0);
    struct linger at_once = { .l_onoff = 1 };

    for (int i = 0; i < 5; i++)
        http2_get(client, "/stuck");
    for (int i = 0; i < 5; i++)
        http2_get(client, "/pending");
    http2_submit(client,
                 &(struct http2_request){ .method = "PUT", .open = true, .body = "half", .body_size = 4 });
    http2_send(client);
    gate_wait_for(5);
    pending_wait_for(5);
    setsockopt(client->client.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    http2_disconnect(client);
    gate_wait_for(10);
    resume_all(5);
    site_close(server);
    CHECK(resumed_count() == 5);
}

static void *stop(void *server)
{
    http_stop(server, 30 * 1000);
    return NULL;
}

TEST(stopping_says_goodbye_and_lets_streams_in_flight_finish)
{
    struct http_server *server = site_open(NULL);
    struct http2_client *busy = http2_connect(server, NULL, 0), *idle = http2_connect(server, NULL, 0);
    int32_t waits = http2_get(busy, "/wait");
    pthread_t stopper;

    CHECK(http2_ask(idle, &(struct http2_request){ .path = "/echo" })->status == 200);
    http2_send(busy);
    gate_wait_for(1);
    pthread_create(&stopper, NULL, stop, server);
    CHECK(http2_wait_for_goaway(busy) && busy->goaway_error == NGHTTP2_NO_ERROR &&
          busy->goaway_last_id == waits);
    CHECK(http2_is_closed(idle) && idle->got_goaway && idle->goaway_error == NGHTTP2_NO_ERROR);
    gate_open();
    CHECK(http2_wait(busy, waits)->status == 200);
    CHECK(http2_is_closed(busy));
    pthread_join(stopper, NULL);
    http_free(server);
    http2_disconnect(busy);
    http2_disconnect(idle);
}

TEST(stopping_cancels_the_streams_that_are_not_done_after_the_drain_time)
{
    struct http_server *server = site_open(NULL);
    struct http2_client *client = http2_connect(server, NULL, 0);

    http2_get(client, "/stuck");
    http2_get(client, "/stuck");
    http2_send(client);
    gate_wait_for(2);
    http_stop(server, 20);
    gate_wait_for(4);
    http_free(server);
    http2_disconnect(client);
}
