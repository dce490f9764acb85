/* test/unit/http/limit_test.c - requests that are wrong, too large or too slow, and clients that are too many. */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"

/* The answer says why, and the connection ends. */
static void check_refused(const struct http_options *options, const char *text, int status,
                          const char *message)
{
    struct http_server *server = site_open(options);
    struct client client = client_connect(server, 0);
    struct reply reply = client_ask(&client, text);
    struct http_stats stats;

    if (reply.status != status)
        printf("%d for: %.60s\n", reply.status, text);
    CHECK(reply.status == status && reply_has(&reply, "\r\nConnection: close\r\n"));
    CHECK(reply.body.size && memmem(reply.body.data, reply.body.size, message, strlen(message)));
    CHECK(client_is_closed(&client));
    http_stats(server, &stats);
    CHECK(stats.malformed == 1 && stats.requests == 0);
    client_close(&client);
    site_close(server);
}

TEST(malformed_requests_are_told_so)
{
    static const char *const texts[] = {
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "nonsense\r\n\r\n",
        "GET / HTTP/3.7\r\n\r\n",
        "GET / HTTP/2.0\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nmore\r\n",
        "GET /with space HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\nname : value\r\n\r\n",
        "GET / HTTP/1.1\r\nna me: value\r\n\r\n",
        "GET / HTTP/1.1\r\n: value\r\n\r\n",
        "GET / HTTP/1.1\r\nfolded: a\r\n b\r\n\r\n",
        "GET / HTTP/1.1\r\nname: a\001b\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        check_refused(NULL, texts[i], 400, "The request is not valid HTTP: ");
}

TEST(a_head_that_is_too_large_is_refused)
{
    struct http_options options = site_options();
    char text[4096];

    options.head_bytes_max = 1000;
    memset(text, 'a', sizeof(text));
    memcpy(text, "GET /", 5);
    snprintf(text + 2000, sizeof(text) - 2000, " HTTP/1.1\r\n\r\n");
    check_refused(&options, text, 431, "headers are too large");
    snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nlong: %01000d\r\n\r\n", 1);
    check_refused(&options, text, 431, "headers are too large");
    snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nlong: %02000d", 1); /* and does not even end */
    check_refused(&options, text, 431, "headers are too large");
}

TEST(a_body_that_is_too_large_is_refused_by_its_length_alone)
{
    struct http_options options = site_options();

    options.body_bytes_max = 100;
    check_refused(&options, "POST /echo HTTP/1.1\r\nContent-Length: 101\r\n\r\n", 413,
                  "Request size is too large");
    check_refused(&options, "POST /echo HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 101\r\n\r\n", 413,
                  "Request size is too large");
}

TEST(a_chunked_body_that_is_too_large_is_refused_when_it_gets_there)
{
    struct http_options options = site_options();

    options.body_bytes_max = 20;
    check_refused(&options,
                  "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "10\r\n0123456789abcdef\r\n10\r\n0123456789abcdef\r\n",
                  413, "Request size is too large");
}

TEST(a_client_that_goes_on_sending_a_refused_body_still_reads_the_answer)
{
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);
    static char body[256 * 1024];
    struct reply reply;

    client_send(&client, "POST /echo HTTP/1.1\r\nContent-Length: 33554432\r\n\r\n");
    for (int i = 0; i < 64;
         i++) /* more than the sockets hold, and a reset would lose the answer on some systems */
        REQUIRE(client_send_bytes(&client, body, sizeof(body)));
    reply = client_read(&client);
    CHECK(reply.status == 413);
    client_close(&client);
    site_close(server);
}

TEST(requests_that_are_being_read_take_so_much_memory_together_and_no_more)
{
    struct http_options options = site_options();
    struct http_server *server;
    struct client large, other;
    static char body[256 * 1024];

    options.input_bytes_max = 64 * 1024;
    server = site_open(&options);
    large = client_connect(server, 0);
    client_send(&large, "POST /echo HTTP/1.1\r\nContent-Length: 262144\r\n\r\n");
    client_send_bytes(&large, body, sizeof(body)); /* which may fail: the answer comes before its end */
    CHECK(client_read(&large).status == 503);
    client_close(&large);
    other = client_connect(server, 0); /* what the refused one held is free again */
    CHECK(client_ask(&other, "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    client_close(&other);
    site_close(server);
}

TEST(a_request_that_does_not_end_in_time_is_answered_408)
{
    static const char *const beginnings[] = { "GET /ec", "GET /echo HTTP/1.1\r\nhost",
                                              "PUT /echo HTTP/1.1\r\nContent-Length: 4\r\n\r\nab" };
    struct http_options options = site_options();
    struct http_server *server;
    struct http_stats stats;

    options.request_ms = 50;
    server = site_open(&options);
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
        struct client client = client_connect(server, 0);
        struct reply reply = client_ask(&client, beginnings[i]);

        CHECK(reply.status == 408 && reply_has(&reply, "\r\nConnection: close\r\n"));
        CHECK(client_is_closed(&client));
        client_close(&client);
    }
    http_stats(server, &stats);
    CHECK(stats.timeouts == 3);
    site_close(server);
}

TEST(idle_connections_are_closed_after_a_while)
{
    struct http_options options = site_options();
    struct http_server *server;
    struct client fresh, used;

    options.idle_ms = 50;
    server = site_open(&options);
    fresh = client_connect(server, 0);
    used = client_connect(server, 0);
    CHECK(client_ask(&used, "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    CHECK(client_is_closed(&fresh));
    CHECK(client_is_closed(&used));
    client_close(&fresh);
    client_close(&used);
    site_close(server);
}

TEST(a_request_on_the_pool_is_not_idle)
{
    struct http_options options = site_options();
    struct http_server *server;
    struct client waiting, idle;

    options.idle_ms = options.request_ms = 50;
    server = site_open(&options);
    waiting = client_connect(server, 0);
    client_send(&waiting, "GET /wait HTTP/1.1\r\n\r\n");
    gate_wait_for(1);
    idle = client_connect(server, 0);
    CHECK(client_is_closed(&idle)); /* so the other's time has passed too */
    gate_open();
    CHECK(client_read(&waiting).status == 200);
    client_close(&waiting);
    client_close(&idle);
    site_close(server);
}

/* Only one connection is allowed, so a second one is served when the first has been closed. */
TEST(a_client_that_does_not_read_its_answer_is_closed)
{
    struct http_options options = site_options();
    struct http_server *server;
    struct client deaf;
    int status = 0;

    options.connections_max = 1;
    options.request_ms = 50;
    server = site_open(&options);
    deaf = client_connect(server, 0);
    client_send(&deaf, "GET /large HTTP/1.1\r\n\r\n");
    for (int tries = 0; tries < 100000 && status != 200; tries++) {
        struct client next = client_connect(server, 0);

        status = client_ask(&next, "GET /echo HTTP/1.1\r\n\r\n").status;
        client_close(&next);
    }
    CHECK(status == 200);
    client_close(&deaf);
    site_close(server);
}

TEST(connections_past_the_limit_are_closed_at_once)
{
    struct http_options options = site_options();
    struct http_server *server;
    struct client first, second, third;
    struct http_stats stats;

    options.connections_max = 2;
    server = site_open(&options);
    first = client_connect(server, 0);
    second = client_connect(server, 0);
    CHECK(client_ask(&first, "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    CHECK(client_ask(&second, "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    third = client_connect(server, 0);
    CHECK(client_is_closed(&third));
    CHECK(client_ask(&first, "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    http_stats(server, &stats);
    CHECK(stats.connections_open == 2 && stats.connections_refused == 1);
    client_close(&first);
    client_close(&second);
    client_close(&third);
    site_close(server);
}

/* Every number below the limit is in use, so that accept has none to give. */
static void use_up_descriptors(int *taken, size_t *count, size_t max)
{
    int fd = 0;

    for (*count = 0; *count < max && fd >= 0;) {
        fd = open("/dev/null", O_RDONLY);
        if (fd >= 0)
            taken[(*count)++] = fd;
    }
}

TEST(without_descriptors_new_connections_are_closed_and_old_ones_served)
{
    struct http_server *server = site_open(NULL);
    struct client served = client_connect(server, 0), refused, later;
    struct rlimit before, low;
    int taken[256];
    size_t count;

    CHECK(client_ask(&served, "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    getrlimit(RLIMIT_NOFILE, &before);
    low = (struct rlimit){ 128, before.rlim_max };
    setrlimit(RLIMIT_NOFILE, &low);
    use_up_descriptors(taken, &count, 256);
    REQUIRE(count > 0);
    close(taken[--count]); /* for the client's own socket */
    refused = client_connect(server, 0);
    CHECK(client_is_closed(&refused));
    CHECK(client_ask(&served, "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    setrlimit(RLIMIT_NOFILE, &before);
    while (count > 0)
        close(taken[--count]);
    later = client_connect(server, 0);
    CHECK(client_ask(&later, "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    client_close(&served);
    client_close(&refused);
    client_close(&later);
    site_close(server);
}
