/* test/unit/http/limit_test.c - requests that are wrong, too large or too slow, and clients that are too many. */
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"
#include "rntbd/rntbd.h"

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

/* Until the server has read so much. */
static void wait_for_input(struct http_server *server, uint64_t bytes)
{
    struct http_stats stats;

    do {
        sched_yield();
        http_stats(server, &stats);
    } while (stats.bytes_in < bytes);
}

enum { BODY_BYTES = 1024 * 1024 };

/* Sends all of a body but its last byte. What was sent before is read before. */
static struct client send_most_of_a_body(struct http_server *server, uint8_t host, bool wait)
{
    static const char head[] = "POST /echo HTTP/1.1\r\nContent-Length: 1048576\r\n\r\n";
    static char body[BODY_BYTES - 1];
    struct client client = client_connect_from(server, host);
    struct http_stats stats;

    http_stats(server, &stats);
    client_send(&client, head);
    client_send_bytes(&client, body, sizeof(body)); /* which may fail: a refusal comes before its end */
    if (wait)
        wait_for_input(server, stats.bytes_in + sizeof(head) - 1 + sizeof(body));
    return client;
}

static void check_answered(struct http_server *server, uint8_t host, const char *text, int status)
{
    struct client client = client_connect_from(server, host);

    CHECK(client_ask(&client, text).status == status);
    client_close(&client);
}

/* Of 20 MB a quarter is for bodies: one peer gets half of that at most, and the next has room. */
TEST(the_peer_that_holds_most_is_refused_first_and_small_requests_are_never)
{
    struct http_options options = site_options();
    struct client held[4];
    struct http_server *server;
    struct account account;

    account_init(&account, 20 << 20);
    options.account = &account;
    server = site_open(&options);
    held[0] = send_most_of_a_body(server, 1, true);
    held[1] = send_most_of_a_body(server, 1, true);
    held[2] = send_most_of_a_body(server, 1, false);
    CHECK(client_read(&held[2]).status == 503);
    check_answered(server, 1, "GET /echo HTTP/1.1\r\n\r\n", 200);
    check_answered(server, 1, "POST /echo HTTP/1.1\r\nContent-Length: 4\r\n\r\nabcd", 200);
    held[3] = send_most_of_a_body(server, 2, true); /* another peer has room */
    client_send(&held[3], "x");
    CHECK(client_read(&held[3]).status == 200);
    client_send(&held[0], "x"); /* who was let in is served */
    CHECK(client_read(&held[0]).status == 200);
    CHECK(atomic_load(&account.refused[HOLDER_BODIES]) > 0);
    for (size_t i = 0; i < 4; i++)
        client_close(&held[i]);
    site_close(server);
    CHECK(atomic_load(&account.used_bytes) == 0);
}

TEST(who_may_not_send_a_body_is_told_so_when_the_head_is_there)
{
    static const char *const heads[] = {
        "POST /closed HTTP/1.1\r\nContent-Length: 1048576\r\n\r\n",
        "POST /closed HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n",
        "POST /closed HTTP/1.1\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n",
    };
    struct http_server *server = site_open(NULL);
    struct http_stats stats;

    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        struct client client = client_connect(server, 0);
        struct reply reply = client_ask(&client, heads[i]);

        CHECK(reply.status == 401 && slice_is(reply.body, "show your key first"));
        CHECK(reply_has(&reply, "\r\nConnection: close\r\n") && client_is_closed(&client));
        client_close(&client);
    }
    http_stats(server, &stats);
    CHECK(stats.requests == 0); /* the handler has seen none of them */
    site_close(server);
}

TEST(who_sends_chunks_is_asked_for_a_key_when_they_are_not_small_any_more)
{
    static char chunk[16 * 1024];
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);

    memset(chunk, 'a', sizeof(chunk));
    client_send(&client, "POST /closed HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4000\r\n");
    client_send_bytes(&client, chunk, sizeof(chunk));
    client_send(&client, "\r\n1\r\na");
    CHECK(client_read(&client).status == 401);
    client_close(&client);
    site_close(server);
}

TEST(a_refused_body_that_is_still_being_sent_does_not_keep_its_client_from_the_answer)
{
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);
    static char body[64 * 1024];
    struct reply reply;

    client_send(&client, "POST /closed HTTP/1.1\r\nContent-Length: 1048576\r\n\r\n");
    for (int i = 0; i < 16; i++)
        REQUIRE(client_send_bytes(&client, body, sizeof(body)));
    reply = client_read(&client);
    CHECK(reply.status == 401);
    client_close(&client);
    site_close(server);
}

TEST(a_small_body_is_read_and_its_request_handled)
{
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);

    CHECK(client_ask(&client, "POST /closed HTTP/1.1\r\nContent-Length: 4\r\n\r\nabcd").status == 200);
    client_close(&client);
    site_close(server);
}

TEST(one_peer_does_not_get_all_connections)
{
    struct http_options options = site_options();
    struct client client[6];
    struct http_server *server;

    options.connections_max = 8;
    server = site_open(&options);
    for (int i = 0; i < 5; i++) {
        client[i] = client_connect_from(server, 1);
        CHECK(client_ask(&client[i], "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    }
    client[5] = client_connect_from(server, 1);
    CHECK(client_is_closed(&client[5]));
    check_answered(server, 2, "GET /echo HTTP/1.1\r\n\r\n", 200);
    for (int i = 0; i < 6; i++)
        client_close(&client[i]);
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

/* Half of the time that a request has is the window; a trickle is no silence, and is not enough either. */
TEST(a_request_that_comes_in_a_trickle_is_answered_408)
{
    struct http_options options = site_options();
    struct http_server *server;
    struct client client;

    options.env = env_seeded(1, 1000000);
    server = site_open(&options);
    client = client_connect(server, 0);
    client_send(&client, "PUT /echo HTTP/1.1\r\nContent-Length: 100000\r\n\r\n");
    wait_for_input(server, 46);
    env_advance_ms(options.env, options.request_ms / 2 - 1);
    client_send(&client, "a");
    wait_for_input(server, 47);
    env_advance_ms(options.env, 2); /* a little more than half */
    CHECK(client_read(&client).status == 408);
    client_close(&client);
    site_close(server);
    env_free(options.env);
}

TEST(who_sends_enough_in_each_window_is_served)
{
    static char part[17 * 1024];
    struct http_options options = site_options();
    struct http_server *server;
    struct client client;

    options.env = env_seeded(1, 1000000);
    server = site_open(&options);
    client = client_connect(server, 0);
    client_send(&client, "PUT /echo HTTP/1.1\r\nContent-Length: 34816\r\n\r\n");
    client_send_bytes(&client, part, sizeof(part));
    wait_for_input(server, sizeof(part) + 40);
    env_advance_ms(options.env, options.request_ms / 2 + 1);
    client_send_bytes(&client, part, sizeof(part));
    CHECK(client_read(&client).status == 200);
    client_close(&client);
    site_close(server);
    env_free(options.env);
}

/* What is not taken is counted, and the rest of what its request took is given back. Then its time is over. */
TEST(an_answer_that_nobody_takes_is_on_the_account_until_its_window_is_over)
{
    struct http_options options = site_options();
    struct http_server *server;
    struct account account;
    struct client client;

    account_init(&account, 256 << 20);
    options.account = &account;
    options.env = env_seeded(1, 1000000);
    server = site_open(&options);
    client = client_connect(server, 0);
    client_send(&client, "GET /large HTTP/1.1\r\n\r\n");
    while (atomic_load(&account.held_bytes[HOLDER_ANSWERS]) == 0 ||
           atomic_load(&account.held_bytes[HOLDER_OPERATIONS]) > 1 << 20)
        sched_yield();
    CHECK(atomic_load(&account.held_bytes[HOLDER_ANSWERS]) < LARGE_BYTES);
    while (atomic_load(&account.held_bytes[HOLDER_ANSWERS]) >
           0) { /* what the sockets took was enough at first */
        env_advance_ms(options.env, options.request_ms / 2 + 1);
        sched_yield();
    }
    client_close(&client);
    site_close(server);
    CHECK(atomic_load(&account.used_bytes) == 0);
    env_free(options.env);
}

TEST(a_peer_whose_answers_pile_up_loses_the_connection_that_would_be_too_much)
{
    struct http_options options = site_options();
    struct client client[4];
    struct http_server *server;
    struct account account;
    size_t closed = 0;
    int small = 32 * 1024; /* else the sockets themselves take most of an answer */

    account_init(&account, 64 << 20); /* 16 MB for answers, of which one peer gets half */
    options.account = &account;
    server = site_open(&options);
    for (int i = 0; i < 4; i++) {
        client[i] = client_connect_from(server, 1);
        setsockopt(client[i].fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
        client_send(&client[i], "GET /large HTTP/1.1\r\n\r\n");
    }
    while (atomic_load(&account.refused[HOLDER_ANSWERS]) == 0)
        sched_yield();
    check_answered(server, 2, "GET /large HTTP/1.1\r\n\r\n", 200);
    for (int i = 0; i < 4; i++) {
        closed += client_read(&client[i]).status != 200;
        client_close(&client[i]);
    }
    CHECK(closed > 0 && closed < 4);
    site_close(server);
    CHECK(atomic_load(&account.used_bytes) == 0);
}

static void wait_for_bytes_in_or_timeout(struct http_server *server, uint64_t bytes)
{
    struct http_stats stats;

    do {
        sched_yield();
        http_stats(server, &stats);
    } while (stats.bytes_in < bytes && stats.timeouts == 0);
}

/* A frame's first bytes, and then one every ten seconds: it is never silent for long, and never a request. */
TEST(a_frame_whose_head_comes_byte_by_byte_ends_its_connection)
{
    static const uint8_t begun[] = { 0, 0x30, 0, 0, 0, 0, 0, 0 };
    struct http_options options = site_options();
    struct http_server *server;
    struct http_stats stats;
    struct client client;
    uint64_t sent = sizeof(begun);

    options.direct = &session_rntbd;
    options.request_ms = 30 * 1000;
    options.env = env_seeded(1, 1000000);
    server = site_open(&options);
    client = client_connect(server, 0);
    client_send_bytes(&client, begun, sizeof(begun));
    for (int i = 0; i < 12; i++) {
        wait_for_bytes_in_or_timeout(server, sent);
        env_advance_ms(options.env, 10 * 1000);
        sent += client_send_bytes(&client, "", 1);
    }
    CHECK(client_is_closed(&client));
    http_stats(server, &stats);
    CHECK(stats.timeouts == 1);
    client_close(&client);
    site_close(server);
    env_free(options.env);
}

static void wait_for_connections(struct http_server *server, uint64_t count)
{
    struct http_stats stats;

    do {
        sched_yield();
        http_stats(server, &stats);
    } while (stats.connections_total < count);
}

TEST(idle_connections_are_closed_after_a_while)
{
    struct http_options options = site_options();
    struct http_server *server;
    struct client fresh, used;

    options.env = env_seeded(1, 1000000);
    server = site_open(&options);
    fresh = client_connect(server, 0);
    used = client_connect(server, 0);
    CHECK(client_ask(&used, "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    wait_for_connections(server, 2);
    env_advance_ms(options.env, options.idle_ms + 1);
    CHECK(client_is_closed(&fresh));
    CHECK(client_is_closed(&used));
    client_close(&fresh);
    client_close(&used);
    site_close(server);
    env_free(options.env);
}

TEST(a_request_on_the_pool_is_not_idle)
{
    struct http_options options = site_options();
    struct http_server *server;
    struct client waiting, idle;

    options.env = env_seeded(1, 1000000);
    server = site_open(&options);
    waiting = client_connect(server, 0);
    client_send(&waiting, "GET /wait HTTP/1.1\r\n\r\n");
    gate_wait_for(1);
    idle = client_connect(server, 0);
    wait_for_connections(server, 2);
    env_advance_ms(options.env, options.idle_ms + 1);
    CHECK(client_is_closed(&idle)); /* so the other's time has passed too */
    gate_open();
    CHECK(client_read(&waiting).status == 200);
    client_close(&waiting);
    client_close(&idle);
    site_close(server);
    env_free(options.env);
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
