/* test/unit/http/server_test.c - listening, stopping, many clients, and clients that leave. */
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "harness.h"
#include "http/server.h"

TEST(a_port_that_is_taken_is_an_error_that_names_it)
{
    struct http_options options = site_options();
    struct http_server *server = site_open(NULL), *second = NULL;
    const char *taken = http_address(server, 0);
    char expected[128];

    options.listen = &taken;
    CHECK(http_open(test_op(), &options, &second) != ST_OK);
    snprintf(expected, sizeof(expected), "cannot listen on %s: Address already in use", taken);
    CHECK(!second && strcmp(test_op()->error, expected) == 0);
    site_close(server);
}

TEST(a_port_is_free_again_when_the_server_has_stopped)
{
    struct http_options options = site_options();
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);
    char address[64];
    const char *listen = address;

    CHECK(client_ask(&client, "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    snprintf(address, sizeof(address), "%s", http_address(server, 0));
    http_stop(server, 1000);
    options.listen = &listen;
    site_close(site_open(&options));
    client_close(&client);
    http_free(server);
}

TEST(addresses_that_are_none_are_refused)
{
    static const char *const wrong[] = { "",
                                         "8081",
                                         "127.0.0.1",
                                         "127.0.0.1:",
                                         "127.0.0.1:65536",
                                         "127.0.0.1:x",
                                         "256.1.1.1:0",
                                         "no.such.name.invalid:0",
                                         "203.0.113.1:0" };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct http_options options = site_options();
        struct http_server *server = NULL;

        options.listen = &wrong[i];
        test_op()->error = NULL;
        CHECK(http_open(test_op(), &options, &server) != ST_OK);
        CHECK(!server && test_op()->error);
    }
}

TEST(ipv6_is_served_where_there_is_any)
{
    static const char *const listen[] = { "[::1]:0" };
    struct http_options options = site_options();
    struct http_server *server;
    struct client client;

    if (access("/proc/net/if_inet6", R_OK) != 0)
        return;
    options.listen = listen;
    server = site_open(&options);
    CHECK(strncmp(http_address(server, 0), "[::1]:", 6) == 0);
    client = client_connect(server, 0);
    CHECK(client_ask(&client, "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    client_close(&client);
    site_close(server);
}

TEST(every_address_of_a_name_is_served_on_the_same_port)
{
    static const char *const listen[] = { "localhost:0" };
    struct http_options options = site_options();
    struct http_server *server;
    const char *port;

    options.listen = listen;
    server = site_open(&options);
    port = strrchr(http_address(server, 0), ':');
    for (size_t i = 0; http_address(server, i); i++) {
        struct client client = client_connect(server, i);

        CHECK(strcmp(strrchr(http_address(server, i), ':'), port) == 0);
        CHECK(client_ask(&client, "GET /echo HTTP/1.1\r\n\r\n").status == 200);
        client_close(&client);
    }
    site_close(server);
}

static bool has_ipv6_loopback(void)
{
    struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    bool bound = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0;

    if (fd >= 0)
        close(fd);
    return bound;
}

TEST(localhost_is_both_loopback_addresses_whatever_the_hosts_file_says)
{
    static const char *const listen[] = { "localhost:0" };
    struct http_options options = site_options();
    bool v4 = false, v6 = false;
    struct http_server *server;

    options.listen = listen;
    server = site_open(&options);
    for (size_t i = 0; http_address(server, i); i++) {
        v4 |= strncmp(http_address(server, i), "127.0.0.1:", 10) == 0;
        v6 |= strncmp(http_address(server, i), "[::1]:", 6) == 0;
    }
    CHECK(v4 && v6 == has_ipv6_loopback());
    site_close(server);
}

TEST(a_request_that_waits_does_not_delay_others_on_its_loop)
{
    struct http_server *server = site_open(NULL); /* one loop */
    struct client waiting = client_connect(server, 0), other = client_connect(server, 0);
    struct http_stats stats;
    struct reply reply;

    client_send(&waiting, "GET /wait HTTP/1.1\r\n\r\n");
    gate_wait_for(1);
    CHECK(client_ask(&other, "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    CHECK(client_ask(&other, "GET /pool HTTP/1.1\r\n\r\n").status == 200);
    http_stats(server, &stats);
    CHECK(stats.requests_on_pool == 2 && stats.pool_threads >= 2);
    gate_open();
    reply = client_read(&waiting);
    CHECK(reply.status == 200 && slice_is(reply.body, "GET /wait\n"));
    client_close(&waiting);
    client_close(&other);
    site_close(server);
}

TEST(what_comes_together_shares_the_steps_of_a_round_and_what_gets_none_goes_to_the_pool)
{
    enum { CLIENTS = ROUND_STEPS_MAX / INLINE_STEPS_MAX + 3 };
    struct http_server *server = site_open(NULL); /* one loop */
    struct client holding = client_connect(server, 0), clients[CLIENTS];
    int on_loop = 0, on_pool = 0;

    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = client_connect(server, 0);
        CHECK(client_ask(&clients[i], "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    }
    client_send(&holding, "GET /hold HTTP/1.1\r\n\r\n");
    gate_wait_for(1);
    for (int i = 0; i < CLIENTS; i++)
        client_send(&clients[i], "GET /steps HTTP/1.1\r\n\r\n");
    gate_open();
    for (int i = 0; i < CLIENTS; i++) {
        struct reply reply = client_read(&clients[i]);

        on_loop += atoi(reply.body.data) == INLINE_STEPS_MAX;
        on_pool += slice_is(reply.body, "0");
    }
    CHECK(on_loop == ROUND_STEPS_MAX / INLINE_STEPS_MAX && on_pool == 3);
    CHECK(atoi(client_ask(&clients[0], "GET /steps HTTP/1.1\r\n\r\n").body.data) == INLINE_STEPS_MAX);
    for (int i = 0; i < CLIENTS; i++)
        client_close(&clients[i]);
    client_close(&holding);
    site_close(server);
}

TEST(what_follows_a_waiting_request_is_read_when_its_turn_comes)
{
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);

    client_send(&client, "GET /wait HTTP/1.1\r\n\r\n");
    gate_wait_for(1);
    client_send(&client, "GET /echo/2 HTTP/1.1\r\n\r\n");
    gate_open();
    CHECK(slice_is(client_read(&client).body, "GET /wait\n"));
    CHECK(slice_is(client_read(&client).body, "GET /echo/2\n"));
    client_close(&client);
    site_close(server);
}

TEST(three_hundred_clients_are_served_at_once)
{
    struct http_options options = site_options();
    struct http_server *server;
    static struct client clients[300];

    options.loops = 2;
    server = site_open(&options);
    for (int i = 0; i < 300; i++)
        clients[i] = client_connect(server, 0);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 300; i++)
            client_send(&clients[i], i % 2 ? "GET /pool HTTP/1.1\r\n\r\n" : "GET /echo HTTP/1.1\r\n\r\n");
        for (int i = 0; i < 300; i++)
            CHECK(client_read(&clients[i]).status == 200);
    }
    for (int i = 0; i < 300; i++)
        client_close(&clients[i]);
    site_close(server);
}

TEST(every_loop_has_its_share_of_the_connections)
{
    struct http_options options = site_options();
    struct http_server *server;
    struct client clients[30];

    options.loops = 3;
    server = site_open(&options);
    for (int i = 0; i < 30; i++) {
        clients[i] = client_connect(server, 0);
        CHECK(client_ask(&clients[i], "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    }
    for (size_t i = 0; i < 3; i++)
        CHECK(atomic_load(&server->loops[i].open) == 10);
    for (int i = 0; i < 30; i++)
        client_close(&clients[i]);
    site_close(server);
}

TEST(a_large_answer_reaches_a_slow_reader_whole)
{
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);
    struct reply reply;
    int small = 32 * 1024;
    bool same = true;

    setsockopt(client.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    reply = client_ask(&client, "GET /large HTTP/1.1\r\n\r\n");
    REQUIRE(reply.status == 200 && reply.body.size == LARGE_BYTES);
    for (size_t i = 0; i < LARGE_BYTES; i++)
        same = same && reply.body.data[i] == pattern_at(i);
    CHECK(same);
    CHECK(client_ask(&client, "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    client_close(&client);
    site_close(server);
}

/* Both requests are there when the loop comes to them, the large one first. */
TEST(a_large_answer_lets_others_have_their_turn_before_it_is_sent_whole)
{
    struct http_server *server = site_open(NULL);
    struct client holds = client_connect(server, 0), takes = client_connect(server, 0),
                  asks = client_connect(server, 0);
    struct reply reply;
    int64_t sent;

    CHECK(client_ask(&takes, "GET /echo HTTP/1.1\r\n\r\n").status == 200); /* the loop has them all */
    CHECK(client_ask(&asks, "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    client_send(&holds, "GET /hold HTTP/1.1\r\n\r\n");
    gate_wait_for(1);
    client_send(&takes, "GET /large HTTP/1.1\r\n\r\n");
    client_send(&asks, "GET /sent HTTP/1.1\r\n\r\n");
    gate_open();
    reply = client_read(&asks);
    REQUIRE(reply.status == 200 && slice_to_i64(reply.body, &sent));
    CHECK(sent < LARGE_BYTES / 32);
    CHECK(client_read(&takes).body.size == LARGE_BYTES);
    CHECK(client_read(&holds).status == 200);
    client_close(&holds);
    client_close(&takes);
    client_close(&asks);
    site_close(server);
}

TEST(clients_that_leave_in_the_middle_leave_nothing_behind)
{
    static const char *const texts[] = { "",
                                         "GET",
                                         "POST /echo HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc",
                                         "GET /large HTTP/1.1\r\n\r\n",
                                         "GET /pool HTTP/1.1\r\n\r\n",
                                         "nonsense\r\n\r\n" };
    struct http_server *server = site_open(NULL);
    struct linger reset = { 1, 0 };

    for (int i = 0; i < 60; i++) {
        struct client client = client_connect(server, 0);

        client_send(&client, texts[i % 6]);
        if (i % 12 >= 6) /* by a reset, not by a goodbye */
            setsockopt(client.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
        client_close(&client);
    }
    site_close(server);
}

TEST(a_client_that_leaves_for_good_cancels_its_request)
{
    struct linger reset = { .l_onoff = 1 };
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);

    client_send(&client, "GET /stuck HTTP/1.1\r\n\r\n");
    gate_wait_for(1); /* a reset would take the request with it, were it not read yet */
    setsockopt(client.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    client_close(&client);
    gate_wait_for(2); /* the handler left because its op was cancelled */
    site_close(server);
}

TEST(a_client_that_only_stops_sending_gets_its_answer)
{
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);

    client_send(&client, "GET /wait HTTP/1.1\r\n\r\n");
    shutdown(client.fd, SHUT_WR);
    gate_wait_for(1);
    gate_open();
    CHECK(client_read(&client).status == 200);
    CHECK(client_is_closed(&client));
    client_close(&client);
    site_close(server);
}

static void *stop(void *server)
{
    http_stop(server, 30 * 1000);
    return NULL;
}

TEST(stopping_lets_the_request_in_flight_finish_and_closes_the_idle)
{
    struct http_server *server = site_open(NULL);
    struct client waiting = client_connect(server, 0), idle = client_connect(server, 0);
    struct reply reply;
    pthread_t stopper;

    client_send(&waiting, "GET /wait HTTP/1.1\r\n\r\n");
    gate_wait_for(1);
    CHECK(client_ask(&idle, "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    pthread_create(&stopper, NULL, stop, server);
    CHECK(client_is_closed(&idle)); /* the stop has begun */
    gate_open();
    reply = client_read(&waiting);
    CHECK(reply.status == 200 && reply_has(&reply, "\r\nConnection: close\r\n"));
    CHECK(client_is_closed(&waiting));
    pthread_join(stopper, NULL);
    client_close(&waiting);
    client_close(&idle);
    http_free(server);
}

TEST(stopping_closes_a_connection_whose_answer_was_under_way)
{
    struct http_server *server = site_open(NULL);
    struct client reading = client_connect(server, 0), idle = client_connect(server, 0);
    pthread_t stopper;
    char first;

    client_send(&reading, "GET /large HTTP/1.1\r\n\r\n");
    CHECK(recv(reading.fd, &first, 1, MSG_PEEK) == 1); /* too large for the sockets: it is not all sent */
    CHECK(client_ask(&idle, "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    pthread_create(&stopper, NULL, stop, server);
    CHECK(client_is_closed(&idle));
    CHECK(client_read(&reading).body.size == LARGE_BYTES);
    CHECK(client_is_closed(&reading)); /* at once: a client waits ten seconds, the drain takes thirty */
    pthread_join(stopper, NULL);
    client_close(&reading);
    client_close(&idle);
    http_free(server);
}

TEST(stopping_cancels_what_is_not_done_after_the_drain_time)
{
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0), slow = client_connect(server, 0);

    client_send(&slow, "GET /large HTTP/1.1\r\n\r\n");
    client_send(&client, "GET /stuck HTTP/1.1\r\n\r\n");
    CHECK(client_ask(&slow, "").status == 200);
    client_send(&slow, "GET /unfin");
    http_stop(server, 20); /* comes back, although the one would wait for ever and the other never ends */
    CHECK(client_is_closed(&client));
    CHECK(client_is_closed(&slow));
    client_close(&client);
    client_close(&slow);
    http_free(server);
}

TEST(an_idle_server_stops_at_once)
{
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);
    int64_t before;

    CHECK(client_ask(&client, "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    before = env_monotonic_ms(env_system());
    http_stop(server, 10 * 1000);
    CHECK(env_monotonic_ms(env_system()) - before < 5000); /* far from the ten seconds it might have waited */
    CHECK(client_is_closed(&client));
    client_close(&client);
    http_free(server);
}

TEST(a_server_that_was_never_started_can_be_freed)
{
    struct http_options options = site_options();
    struct http_server *server = NULL;

    REQUIRE(http_open(test_op(), &options, &server) == ST_OK);
    CHECK(http_address(server, 0) && !http_address(server, 1));
    http_free(server);
    http_free(NULL);
}

/* ---- pending ---- */

TEST(what_is_pending_is_answered_once_it_is_resumed)
{
    enum { CLIENTS = 12 };
    struct http_options options = site_options();
    struct client client[CLIENTS];
    struct http_server *server;

    options.loops = 2;
    server = site_open(&options);
    for (size_t i = 0; i < CLIENTS; i++)
        client[i] = client_connect(server, 0);
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < CLIENTS; i++)
            client_send(&client[i], "GET /pending HTTP/1.1\r\n\r\nGET /echo HTTP/1.1\r\n\r\n");
        resume_all(CLIENTS);
        for (size_t i = 0; i < CLIENTS; i++) {
            CHECK(slice_is(client_read(&client[i]).body, "GET /pending\n"));
            CHECK(slice_is(client_read(&client[i]).body, "GET /echo\n"));
        }
    }
    CHECK(resumed_count() == 20 * CLIENTS);
    for (size_t i = 0; i < CLIENTS; i++)
        client_close(&client[i]);
    site_close(server);
}

TEST(what_is_resumed_and_would_have_to_wait_goes_to_the_pool)
{
    struct http_server *server = site_open(NULL);
    struct client client = client_connect(server, 0);
    struct http_stats stats;

    client_send(&client, "GET /pending-pool HTTP/1.1\r\n\r\n");
    resume_all(1);
    CHECK(slice_is(client_read(&client).body, "GET /pending-pool\n"));
    http_stats(server, &stats);
    CHECK(stats.requests_on_pool == 1);
    client_close(&client);
    site_close(server);
}

/* What it holds is given back by its second call, whoever still wants the answer. */
TEST(a_server_that_stops_calls_again_what_is_pending_though_its_client_has_left)
{
    struct http_server *server = site_open(NULL);
    struct client client[2] = { client_connect(server, 0), client_connect(server, 0) };
    pthread_t thread;

    client_send(&client[0], "GET /pending HTTP/1.1\r\n\r\n");
    client_send(&client[1], "GET /pending-pool HTTP/1.1\r\n\r\n");
    pending_wait_for(2);
    client_close(&client[0]);
    CHECK(pthread_create(&thread, NULL, stop, server) == 0);
    resume_all(2);
    pthread_join(thread, NULL);
    CHECK(resumed_count() == 2 && client_read(&client[1]).status == 200);
    client_close(&client[1]);
    http_free(server);
}

TEST(a_small_answer_that_waits_for_its_loop_keeps_no_more_than_itself)
{
    struct exchange exchange = { 0 };
    struct account account;

    account_init(&account, 64 << 20);
    op_init(&exchange.op, env_system(), SIZE_MAX);
    op_join_account(&exchange.op, &account);
    for (size_t body = 10; body <= 10000; body *= 1000) { /* a small one, and one that is not */
        CHECK(arena_try_alloc(&exchange.op.arena, 1 << 20));
        buf_init(&exchange.answer.head, &exchange.op.arena);
        buf_init(&exchange.answer.body, &exchange.op.arena);
        exchange.answer.status = 429;
        buf_text(&exchange.answer.head, "x-ms-substatus: 3200\r\n");
        for (size_t i = 0; i < body; i++)
            buf_byte(&exchange.answer.body, 'x');
        job_keep_answer_alone(&exchange);
        CHECK((atomic_load(&account.used_bytes) <= 16 * 1024) == (body == 10));
        CHECK(exchange.answer.status == 429 && exchange.answer.body.size == body);
        CHECK(slice_is(buf_as_slice(&exchange.answer.head), "x-ms-substatus: 3200\r\n"));
        CHECK(memchr(exchange.answer.body.data, 0, body) == NULL &&
              exchange.answer.body.data[body - 1] == 'x');
    }
    op_free(&exchange.op);
    CHECK(atomic_load(&account.used_bytes) == 0);
}
