/*
 * test/unit/http/http2_limit_test.c - HTTP/2 that is wrong, too large, too slow or too much.
 * Frames that no client would send are written here byte by byte (RFC 9113, 4.1: length, type, flags, stream).
 */
#include <stdlib.h>
#include <sys/socket.h>

#include "base/limits.h"
#include "http2_client.h"

/* The rest of the server is as it was. */
static void check_others_are_served(struct http_server *server)
{
    struct http2_client *modern = http2_connect(server, NULL, 0);
    struct client client = client_connect(server, 0);

    CHECK(http2_ask(modern, &(struct http2_request){ .path = "/echo" })->status == 200);
    CHECK(client_ask(&client, "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    http2_disconnect(modern);
    client_close(&client);
}

TEST(what_http2_forbids_resets_the_stream_and_no_other)
{
    static const struct http2_header wrong[] = {
        { "connection", "close" },
        { "transfer-encoding", "chunked" },
        { "upgrade", "h2c" },
        { "keep-alive", "5" },
        { "te", "gzip" },
        { "X-Upper", "case" },
        { ":late", "pseudo-header" },
        { ":path", "/twice" },
        { "content-length", "-1" },
        { "content-length", "7" }, /* and no body */
    };
    struct http_server *server = site_open(NULL);
    struct http2_client *client = http2_connect(server, NULL, 0);
    struct http_stats stats;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const struct http2_reply *reply = http2_ask(client, &(struct http2_request){ .extra = { wrong[i] } });

        if (reply->error != NGHTTP2_PROTOCOL_ERROR)
            printf("%s: %s has the error %u\n", wrong[i].name, wrong[i].value, reply->error);
        CHECK(reply->ended && !reply->whole && reply->error == NGHTTP2_PROTOCOL_ERROR);
    }
    CHECK(http2_ask(client, &(struct http2_request){ .path = "/echo" })->status == 200);
    http_stats(server, &stats);
    CHECK(stats.requests == 1);
    http2_disconnect(client);
    site_close(server);
}

TEST(what_is_malformed_in_a_request_is_told)
{
    static const struct http2_header wrong[] = { { "host", "another" },
                                                 { "x-name", "a\001b" },
                                                 { "x na me", "value" } };
    struct http_server *server = site_open(NULL);
    struct http2_client *client = http2_connect(server, NULL, 0);
    struct http_stats stats;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const struct http2_reply *reply = http2_ask(client, &(struct http2_request){ .extra = { wrong[i] } });

        CHECK(reply->whole && reply->status == 400);
        CHECK(reply->body && strstr(reply->body, "The request is not valid HTTP: "));
    }
    CHECK(http2_ask(client, &(struct http2_request){ .extra = { { "host", "LocalHost" } } })->status == 200);
    http_stats(server, &stats);
    CHECK(stats.requests == 1 && stats.malformed == 3);
    http2_disconnect(client);
    site_close(server);
}

TEST(a_head_that_is_too_large_is_refused_over_http2)
{
    static char value[12 * 1024];
    struct http_server *server = site_open(NULL);
    struct http2_client *client = http2_connect(server, NULL, 0);
    const struct http2_reply *reply;

    memset(value, 'v', sizeof(value) - 1);
    reply = http2_ask(client, &(struct http2_request){ .extra = { { "x-one", value } } });
    CHECK(reply->status == 200);
    reply = http2_ask(client, &(struct http2_request){ .extra = { { "x-one", value }, { "x-two", value } } });
    CHECK(reply->whole && reply->status == 431);
    reply = http2_ask(client, &(struct http2_request){ .method = "PUT",
                                                       .extra = { { "x-one", value }, { "x-two", value } },
                                                       .open = true });
    CHECK(reply->whole && reply->status == 431); /* and the rest of it is not waited for */
    CHECK(http2_ask(client, &(struct http2_request){ .path = "/echo" })->status == 200);
    http2_disconnect(client);
    site_close(server);
}

static size_t put_frame_head(uint8_t *at, size_t length, uint8_t type, uint8_t flags, uint32_t stream)
{
    const uint8_t head[] = {
        (uint8_t)(length >> 16), (uint8_t)(length >> 8),  (uint8_t)length,        type,           flags,
        (uint8_t)(stream >> 24), (uint8_t)(stream >> 16), (uint8_t)(stream >> 8), (uint8_t)stream
    };

    memcpy(at, head, sizeof(head));
    return sizeof(head);
}

/*
 * One header of 3,000 bytes goes into the table (RFC 7541, 6.2.1), and then each byte is that header again (6.1): 16 KB
 * that mean 48 MB.
 */
TEST(a_head_that_grows_by_decompression_is_refused_and_takes_no_memory)
{
    static uint8_t bomb[9 + 16384];
    static char value[3000];
    struct http_server *server = site_open(NULL);
    struct http2_client *client = http2_connect(server, NULL, 0);
    nghttp2_hd_deflater *deflater;
    nghttp2_nv headers[] = {
        { (uint8_t *)":method", (uint8_t *)"GET", 7, 3, 0 },
        { (uint8_t *)":scheme", (uint8_t *)"http", 7, 4, 0 },
        { (uint8_t *)":path", (uint8_t *)"/echo", 5, 5, 0 },
        { (uint8_t *)":authority", (uint8_t *)"localhost", 10, 9, 0 },
        { (uint8_t *)"x-ms-session-token", (uint8_t *)value, 18, sizeof(value), 0 },
    };
    ssize_t used;

    memset(value, 'x', sizeof(value));
    nghttp2_hd_deflate_new(&deflater, 4096);
    used = nghttp2_hd_deflate_hd(deflater, bomb + 9, 16384, headers, 5);
    REQUIRE(used > 0);
    memset(bomb + 9 + used, 0x80 | 62, 16384 - (size_t)used); /* the newest of the table */
    put_frame_head(bomb, 16384, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, 1);
    nghttp2_session_set_next_stream_id(client->session, 3);
    http2_send_bytes(client, bomb, sizeof(bomb));
    /* The client's own side knows nothing of stream 1, and would complain about its answer: the server's side tells. */
    for (struct http_stats stats = { 0 }; stats.malformed == 0;)
        http_stats(server, &stats);
    check_others_are_served(server);
    nghttp2_hd_deflate_del(deflater);
    http2_disconnect(client);
    site_close(server);
}

TEST(a_body_that_is_too_large_is_refused_over_http2_and_its_answer_can_be_read)
{
    static char body[2 * 1024 * 1024];
    struct http_server *server = site_open(NULL);
    struct http2_client *client = http2_connect(server, NULL, 0);
    struct http2_request request = { .method = "PUT", .body = body, .body_size = sizeof(body) };
    const struct http2_reply *reply = http2_ask(client, &request);

    CHECK(reply->whole && reply->status == 413 && reply->error == NGHTTP2_NO_ERROR);
    request.extra[0] = (struct http2_header){ "content-length", "2097152" };
    request.open = true;
    request.body_size = 0;
    reply = http2_ask(client, &request); /* by its length alone */
    CHECK(reply->whole && reply->status == 413);
    for (int i = 0; i < 3; i++) { /* what nobody read was given back to the connection's window */
        reply =
            http2_ask(client, &(struct http2_request){ .method = "PUT", .body = body, .body_size = 1000000 });
        CHECK(reply->status == 200);
    }
    http2_disconnect(client);
    site_close(server);
}

TEST(bodies_of_http2_take_so_much_memory_together_and_no_more)
{
    static char body[256 * 1024];
    struct http_options options = site_options();
    struct http2_client *client;
    struct http_server *server;
    struct account account;

    account_init(&account, 1 << 20); /* a quarter of it is for bodies */
    options.account = &account;
    server = site_open(&options);
    client = http2_connect(server, NULL, 0);
    CHECK(
        http2_ask(client, &(struct http2_request){ .method = "PUT", .body = body, .body_size = sizeof(body) })
            ->status == 503);
    CHECK(http2_ask(client, &(struct http2_request){ .method = "PUT", .body = body, .body_size = 30000 })
              ->status == 200);
    http2_disconnect(client);
    site_close(server);
}

TEST(who_may_not_send_a_body_by_http2_is_told_so_before_it_is_read)
{
    static char body[256 * 1024];
    struct http_server *server = site_open(NULL);
    struct http2_client *client = http2_connect(server, NULL, 0);
    struct http_stats stats;

    CHECK(http2_ask(client,
                    &(struct http2_request){
                        .method = "PUT", .path = "/closed", .body = body, .body_size = sizeof(body) })
              ->status == 401);
    CHECK(http2_ask(client,
                    &(struct http2_request){
                        .method = "PUT", .path = "/echo", .body = body, .body_size = sizeof(body) })
              ->status == 200);
    CHECK(http2_ask(
              client,
              &(struct http2_request){ .method = "PUT", .path = "/closed", .body = body, .body_size = 100 })
              ->status == 200);
    http_stats(server, &stats);
    CHECK(stats.requests == 2); /* the handler has not seen the first */
    http2_disconnect(client);
    site_close(server);
}

/* Streams that a client opens and does not finish: the client may send no more than the windows of them all. */
TEST(what_may_come_unasked_is_bounded_by_the_windows)
{
    static char body[512 * 1024];
    struct http_server *server = site_open(NULL);
    struct http2_client *client = http2_connect(server, NULL, 0);

    CHECK(http2_ask(client, &(struct http2_request){ .path = "/echo" })->status == 200);
    CHECK(nghttp2_session_get_remote_settings(client->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS) ==
          HTTP2_STREAMS_MAX);
    CHECK(nghttp2_session_get_remote_settings(client->session, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE) ==
          HTTP2_WINDOW_BYTES);
    CHECK(nghttp2_session_get_remote_settings(client->session, NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE) ==
          16 * 1024);
    CHECK(nghttp2_session_get_remote_window_size(client->session) == HTTP2_WINDOWS_BYTES);
    http2_submit(client,
                 &(struct http2_request){ .method = "PUT", .open = true, .body = body, .body_size = 1 });
    CHECK(http2_ask(client, &(struct http2_request){ .path = "/echo" })->status == 200);
    http2_disconnect(client);
    site_close(server);
}

TEST(a_request_of_http2_that_does_not_end_in_time_is_answered_408)
{
    struct http_options options = site_options();
    struct http2_client *client;
    struct http_server *server;
    const struct http2_reply *reply;

    options.request_ms = 50;
    server = site_open(&options);
    client = http2_connect(server, NULL, 0);
    reply = http2_ask(client,
                      &(struct http2_request){ .method = "PUT", .open = true, .body = "ab", .body_size = 2 });
    CHECK(reply->whole && reply->status == 408 && reply->error == NGHTTP2_NO_ERROR);
    CHECK(http2_ask(client, &(struct http2_request){ .path = "/echo" })->status == 200);
    http2_disconnect(client);
    site_close(server);
}

/* Nothing else may come between the frames of a head (RFC 9113, 4.3), so the connection ends with it. */
TEST(a_head_of_http2_that_does_not_end_in_time_ends_its_connection)
{
    struct http_options options = site_options();
    struct http2_client *client;
    struct http_server *server;
    uint8_t frame[9 + 1];

    options.request_ms = 50;
    server = site_open(&options);
    client = http2_connect(server, NULL, 0);
    put_frame_head(frame, 1, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM, 1);
    frame[9] = 0x82; /* :method: GET */
    http2_send_bytes(client, frame, sizeof(frame));
    CHECK(http2_is_closed(client) && client->got_goaway);
    http2_disconnect(client);
    site_close(server);
}

TEST(an_idle_connection_of_http2_is_told_so_and_closed_after_a_while)
{
    struct http_options options = site_options();
    struct http2_client *client;
    struct http_server *server;

    options.env = env_seeded(1, 1000000);
    server = site_open(&options);
    client = http2_connect(server, NULL, 0);
    CHECK(http2_ask(client, &(struct http2_request){ .path = "/echo" })->status == 200);
    env_advance_ms(options.env, options.idle_ms + 1);
    nghttp2_submit_ping(client->session, NGHTTP2_FLAG_NONE, NULL);
    CHECK(http2_is_closed(client) && client->got_goaway && client->goaway_error == NGHTTP2_NO_ERROR);
    http2_disconnect(client);
    site_close(server);
    env_free(options.env);
}

/* A stream whose window stays shut holds its answer; the connection's other streams are served meanwhile. */
TEST(an_answer_that_its_client_leaves_no_room_for_is_given_up)
{
    const nghttp2_settings_entry shut = { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0 };
    struct http_options options = site_options();
    const struct http2_reply *reply;
    struct http2_client *client;
    struct http_server *server;
    struct http_stats stats;

    options.request_ms = 50;
    server = site_open(&options);
    client = http2_connect(server, &shut, 1);
    reply = http2_wait(client, http2_get(client, "/large"));
    CHECK(reply->status == 200 && !reply->whole && reply->error == NGHTTP2_CANCEL);
    CHECK(http2_ask(client, &(struct http2_request){ .path = "/empty" })->status == 204);
    http_stats(server, &stats);
    CHECK(stats.timeouts == 1);
    http2_disconnect(client);
    site_close(server);
}

/* Other requests of the connection earn the frames by which its client opens the window, a byte at a time. */
TEST(an_answer_that_is_taken_in_a_trickle_over_http2_is_given_up)
{
    const nghttp2_settings_entry shut = { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0 };
    struct http_options options = site_options();
    struct http2_client *client;
    struct http_server *server;
    int32_t large;

    options.request_ms = 10;
    options.env = env_seeded(1, 1000000); /* it moves with each byte, however slow the machine is */
    server = site_open(&options);
    client = http2_connect(server, &shut, 1);
    large = http2_get(client, "/large");
    for (int tries = 0; tries < HTTP2_STREAMS - 8 && !http2_reply(client, large)->ended; tries++) {
        env_advance_ms(options.env, 1);
        nghttp2_submit_window_update(client->session, NGHTTP2_FLAG_NONE, large, 1);
        CHECK(http2_ask(client, &(struct http2_request){ .path = "/empty" })->status == 204);
    }
    CHECK(http2_reply(client, large)->error == NGHTTP2_CANCEL);
    http2_disconnect(client);
    site_close(server);
    env_free(options.env);
}

/* Which one ends first depends on which came together; small requests go on meanwhile. */
static const struct http2_reply *wait_for_one(struct http2_client *client, const int32_t *ids, int count)
{
    for (int tries = 0; tries < HTTP2_STREAMS / 2; tries++) {
        for (int i = 0; i < count; i++)
            if (http2_reply(client, ids[i])->ended)
                return http2_reply(client, ids[i]);
        CHECK(http2_ask(client, &(struct http2_request){ .path = "/empty" })->status == 204);
    }
    return http2_reply(client, ids[0]);
}

/* Streams whose windows stay shut hold their answers: as in HTTP/1.1 a peer gets half of what there is for that. */
TEST(a_peer_whose_answers_pile_up_by_http2_loses_the_stream_that_would_be_too_much)
{
    const nghttp2_settings_entry shut = { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0 };
    struct http_options options = site_options();
    struct http2_client *client, *other;
    struct http_server *server;
    struct account account;
    int32_t ids[6];

    account_init(&account, 256 << 20); /* 64 MB for answers */
    options.account = &account;
    server = site_open(&options);
    client = http2_connect_over(client_connect_from(server, 1), &shut, 1);
    for (int i = 0; i < 6; i++)
        ids[i] = http2_get(client, "/large");
    CHECK(wait_for_one(client, ids, 6)->error == NGHTTP2_CANCEL);
    CHECK(atomic_load(&account.refused[HOLDER_ANSWERS]) > 0);
    CHECK(atomic_load(&account.held_bytes[HOLDER_ANSWERS]) == 4 * (size_t)LARGE_BYTES);
    CHECK(atomic_load(&account.held_bytes[HOLDER_OPERATIONS]) < 1 << 20);
    other = http2_connect_over(client_connect_from(server, 2), NULL, 0);
    CHECK(http2_wait(other, http2_get(other, "/large"))->whole);
    http2_disconnect(other);
    http2_disconnect(client);
    site_close(server);
    CHECK(atomic_load(&account.used_bytes) == 0);
}

TEST(answers_that_nobody_takes_hold_no_more_than_their_bytes_however_small_they_are)
{
    const nghttp2_settings_entry shut = { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0 };
    enum { COUNT = 60, CHUNK_BYTES = 16 * 1024 };
    struct http_options options = site_options();
    struct http2_client *client;
    struct http_server *server;
    struct account account;

    account_init(&account, 256 << 20);
    options.account = &account;
    server = site_open(&options);
    client = http2_connect_over(client_connect_from(server, 1), &shut, 1);
    for (int i = 0; i < COUNT; i++)
        http2_get(client, "/echo");
    CHECK(http2_ask(client, &(struct http2_request){ .path = "/empty" })->status ==
          204); /* behind all of them */
    CHECK(http2_ask(client, &(struct http2_request){ .path = "/empty" })->status == 204);
    CHECK(atomic_load(&account.held_bytes[HOLDER_ANSWERS]) > 0);
    CHECK(atomic_load(&account.held_bytes[HOLDER_OPERATIONS]) < COUNT / 2 * CHUNK_BYTES);
    http2_disconnect(client);
    site_close(server);
}

/* Only one connection is allowed, so a second one is served when the first has been closed. */
TEST(a_client_of_http2_that_reads_nothing_is_closed)
{
    const nghttp2_settings_entry wide = { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 64 * 1024 * 1024 };
    struct http_options options = site_options();
    struct http2_client *deaf;
    struct http_server *server;
    int status = 0;

    options.connections_max = 1;
    options.request_ms = 50;
    server = site_open(&options);
    deaf = http2_connect(server, &wide, 1);
    nghttp2_session_set_local_window_size(deaf->session, NGHTTP2_FLAG_NONE, 0, 64 * 1024 * 1024);
    http2_get(deaf, "/large");
    http2_send(deaf);
    for (int tries = 0; tries < 100000 && status != 200; tries++) {
        struct client next = client_connect(server, 0);

        status = client_ask(&next, "GET /echo HTTP/1.1\r\n\r\n").status;
        client_close(&next);
    }
    CHECK(status == 200);
    http2_disconnect(deaf);
    site_close(server);
}

/* To the protocol a stream ends when it is reset; its operation goes on until it sees that it is cancelled. */
TEST(streams_that_were_reset_count_while_their_operations_run)
{
    struct http_server *server = site_open(NULL);
    struct http2_client *client = http2_connect(server, NULL, 0);
    struct http_stats stats;
    int32_t id;

    for (int i = 0; i < HTTP2_STREAMS_MAX; i++)
        http2_get(client, "/wait");
    http2_send(client);
    gate_wait_for(HTTP2_STREAMS_MAX);
    for (id = 1; id < 2 * HTTP2_STREAMS_MAX; id += 2)
        nghttp2_submit_rst_stream(client->session, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
    id = http2_get(client, "/echo");
    CHECK(http2_wait(client, id)->ended && http2_reply(client, id)->error == NGHTTP2_REFUSED_STREAM);
    check_others_are_served(server);
    http_stats(server, &stats);
    CHECK(stats.requests == HTTP2_STREAMS_MAX + 2);
    gate_open();
    do
        id = http2_get(client, "/echo");
    while (http2_wait(client, id)->error == NGHTTP2_REFUSED_STREAM);
    CHECK(http2_reply(client, id)->status == 200);
    http2_disconnect(client);
    site_close(server);
}

/* CVE-2023-44487 */
TEST(requests_that_are_reset_at_once_end_the_connection_before_long)
{
    struct http_server *server = site_open(NULL);
    struct http2_client *client = http2_connect(server, NULL, 0);
    struct http_stats stats;

    for (int i = 0; i < 3000 && !client->is_closed; i++) {
        int32_t id = http2_get(client, "/pool");

        http2_send(client);
        nghttp2_submit_rst_stream(client->session, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
        http2_send(client);
    }
    CHECK(http2_is_closed(client) && client->got_goaway && client->goaway_error != NGHTTP2_NO_ERROR);
    http_stats(server, &stats);
    CHECK(stats.requests < 1500);
    check_others_are_served(server);
    http2_disconnect(client);
    site_close(server);
}

TEST(streams_of_all_connections_together_are_bounded)
{
    struct http_options options = site_options();
    struct http2_client *one, *other;
    struct http_server *server;
    int32_t id;

    options.connections_max = 10;
    server = site_open(&options);
    one = http2_connect(server, NULL, 0);
    other = http2_connect(server, NULL, 0);
    for (int i = 0; i < 10; i++)
        http2_get(one, "/wait");
    http2_send(one);
    gate_wait_for(10);
    id = http2_get(other, "/echo");
    CHECK(http2_wait(other, id)->error == NGHTTP2_REFUSED_STREAM);
    gate_open();
    CHECK(http2_wait(one, 19)->status == 200);
    CHECK(http2_ask(other, &(struct http2_request){ .path = "/echo" })->status == 200);
    http2_disconnect(one);
    http2_disconnect(other);
    site_close(server);
}

/* A frame of a flood, with a payload of zeros. Stream 1 has been answered, stream 3 is being sent. */
static const struct flood {
    const char *name;
    uint8_t type, flags;
    uint32_t stream;
    size_t length;
} floods[] = {
    { "pings", NGHTTP2_PING, 0, 0, 8 },
    { "answers to pings", NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, 8 },
    { "settings", NGHTTP2_SETTINGS, 0, 0, 0 },
    { "priorities", NGHTTP2_PRIORITY, 0, 1, 5 },
    { "resets of what has ended", NGHTTP2_RST_STREAM, 0, 1, 4 },
    { "empty parts of a body", NGHTTP2_DATA, 0, 3, 0 },
    { "nothing but padding", NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 3, 1 },
    { "frames of unknown kinds", 0xbe, 0, 0, 0 },
    { "priorities of requests", 0x10, 0, 0, 4 },
    { "empty continuations", NGHTTP2_CONTINUATION, 0, 5, 0 },
};

enum { FRAMES_AT_ONCE = 1000 };

static void flood(struct http2_client *client, const struct flood *kind)
{
    static uint8_t frames[FRAMES_AT_ONCE * (9 + 16)], begin[9];
    size_t size = 0;

    memset(frames, 0, sizeof(frames));
    for (int i = 0; i < FRAMES_AT_ONCE; i++)
        size +=
            put_frame_head(frames + size, kind->length, kind->type, kind->flags, kind->stream) + kind->length;
    put_frame_head(begin, 0, NGHTTP2_HEADERS, 0, 5);
    if (kind->type == NGHTTP2_CONTINUATION)
        http2_send_bytes(client, begin, sizeof(begin));
    for (int i = 0; i < 1000 && !client->is_closed; i++)
        http2_send_bytes(client, frames, size);
}

TEST(floods_of_frames_end_the_connection_before_long)
{
    for (size_t i = 0; i < sizeof(floods) / sizeof(floods[0]); i++) {
        struct http_server *server = site_open(NULL);
        struct http2_client *client = http2_connect(server, NULL, 0);
        struct http_stats stats;

        CHECK(http2_ask(client, &(struct http2_request){ .path = "/echo" })->status == 200);
        http2_submit(client,
                     &(struct http2_request){ .method = "PUT", .open = true, .body = "x", .body_size = 1 });
        flood(client, &floods[i]);
        if (!http2_is_closed(client))
            printf("still there after a flood of %s\n", floods[i].name);
        CHECK(client->is_closed);
        http_stats(server, &stats);
        CHECK(stats.requests == 1);
        check_others_are_served(server);
        http2_disconnect(client);
        site_close(server);
    }
}

/* A download opens windows all the time, and a long upload has many frames: neither is a flood. */
TEST(a_busy_connection_is_not_taken_for_a_flood)
{
    static char body[20000];
    struct http_server *server = site_open(NULL);
    struct http2_client *client = http2_connect(server, NULL, 0);

    for (int i = 0; i < 1000; i++) {
        nghttp2_submit_ping(client->session, NGHTTP2_FLAG_NONE, NULL);
        nghttp2_submit_window_update(client->session, NGHTTP2_FLAG_NONE, 0, 1);
        CHECK(http2_ask(client,
                        &(struct http2_request){ .method = "PUT", .body = body, .body_size = sizeof(body) })
                  ->status == 200);
    }
    for (int i = 0; i < 3; i++)
        CHECK(http2_ask(client, &(struct http2_request){ .path = "/large" })->body_size == LARGE_BYTES);
    CHECK(!client->got_goaway);
    http2_disconnect(client);
    site_close(server);
}
