/* test/unit/route/origin_test.c - which names we answer to, which web pages may ask. */
#include "route/origin.h"
#include "rig.h"

static const char *const names[] = { "orrery.example", "db" };

static const struct {
    const char *host;
    enum status status;
} hosts[] = {
    { "localhost", ST_OK },
    { "localhost:8081", ST_OK },
    { "LocalHost:1", ST_OK },
    { "db.localhost:8081", ST_OK },
    { " localhost ", ST_OK },
    { "127.0.0.1", ST_OK },
    { "127.0.0.1:8081", ST_OK },
    { "192.168.1.7:8081", ST_OK },
    { "[::1]", ST_OK },
    { "[::1]:8081", ST_OK },
    { "[2001:db8::1]:8081", ST_OK },
    { "orrery.example:8081", ST_OK },
    { "ORRERY.example", ST_OK },
    { "db", ST_OK },
    { "evil.example", ST_FORBIDDEN },
    { "evil.example:8081", ST_FORBIDDEN },
    { "localhost.evil.example", ST_FORBIDDEN },
    { "evillocalhost", ST_FORBIDDEN },
    { ".localhost", ST_FORBIDDEN },
    { "127.0.0.1.evil.example", ST_FORBIDDEN },
    { "1.2.3", ST_FORBIDDEN },
    { "[evil.example]:8081", ST_FORBIDDEN },
    { "x.db", ST_FORBIDDEN },
    { "orrery.example.evil", ST_FORBIDDEN },
    { ":8081", ST_FORBIDDEN },
    { "", ST_BAD_HEADER },
    { NULL, ST_BAD_HEADER },
    /* what follows the name is a port and nothing else: it goes into the account's endpoints */
    { "localhost:", ST_OK },
    { "[::1", ST_BAD_HEADER },
    { "a\".localhost", ST_BAD_HEADER },
    { "a\\.localhost", ST_BAD_HEADER },
    { "localhost:80x", ST_BAD_HEADER },
    { "localhost:80\"}", ST_BAD_HEADER },
    { "localhost:1@evil.example", ST_BAD_HEADER },
    { "[::1]x:80", ST_BAD_HEADER },
    { "[::1]evil", ST_BAD_HEADER },
};

TEST(a_host_is_an_address_loopback_or_a_name_we_were_told)
{
    struct route_options options = { .host_names = names, .host_name_count = 2 };

    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        struct request request = { .header[HEADER_HOST] =
                                       hosts[i].host ? slice_of(hosts[i].host) : (struct slice){ 0 } };

        if (origin_check_host(test_op(), &options, &request) != hosts[i].status)
            test_failed(__FILE__, __LINE__, hosts[i].host ? hosts[i].host : "no host");
    }
}

/* --- web pages --- */

struct asked {
    struct route_options options;
    struct request request;
    struct answer answer;
};

static bool ask(struct asked *asked, const char *const *allowed, size_t count, const char *origin)
{
    asked->options = (struct route_options){ .cors_origins = allowed, .cors_origin_count = count };
    asked->request.header[HEADER_ORIGIN] = origin ? slice_of(origin) : (struct slice){ 0 };
    buf_init(&asked->answer.head, &test_op()->arena);
    return origin_allow(&asked->options, &asked->request, &asked->answer);
}

static struct slice header(const struct asked *asked, const char *name)
{
    return rig_header(test_op(), &asked->answer, name);
}

/* Promise 3. */
TEST(a_star_lets_every_name_in_that_is_one)
{
    const char *const star[] = { "*" };
    struct route_options options = { .host_names = star, .host_name_count = 1 };
    static const struct {
        const char *host;
        enum status status;
    } cases[] = { { "cosmosdb:8081", ST_OK },
                  { "evil.example", ST_OK },
                  { "a b", ST_BAD_HEADER },
                  { "cosmosdb:80x", ST_BAD_HEADER },
                  { ":8081", ST_FORBIDDEN } };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct request request = { .header[HEADER_HOST] = slice_of(cases[i].host) };

        CHECK(origin_check_host(test_op(), &options, &request) == cases[i].status);
    }
}

TEST(a_page_may_ask_only_if_its_origin_was_allowed)
{
    static const char *const allowed[] = { "http://localhost:3000", "https://app.example" }, *const any[] = {
        "*"
    };
    struct asked asked = { 0 };

    CHECK(!ask(&asked, NULL, 0, "http://localhost:3000") && asked.answer.head.size == 0);
    CHECK(ask(&asked, allowed, 2, "https://app.example"));
    CHECK(slice_is(header(&asked, "access-control-allow-origin"), "https://app.example"));
    CHECK(slice_is(header(&asked, "vary"), "origin"));
    CHECK(!header(&asked, "access-control-allow-methods").data);
    CHECK(!ask(&asked, allowed, 2, "http://app.example") &&
          !ask(&asked, allowed, 2, "https://app.example.evil"));
    CHECK(!ask(&asked, allowed, 2, "null") && !ask(&asked, allowed, 2, NULL));
    CHECK(ask(&asked, any, 1, "http://whatever.example"));
    CHECK(slice_is(header(&asked, "access-control-allow-origin"), "http://whatever.example"));
    CHECK(!ask(&asked, any, 1, NULL));
}

TEST(a_preflight_is_told_methods_and_the_headers_it_wants)
{
    static const char *const any[] = { "*" };
    struct asked asked = { 0 };

    asked.request.header[HEADER_ACCESS_CONTROL_REQUEST_METHOD] = slice_of("PUT");
    asked.request.header[HEADER_ACCESS_CONTROL_REQUEST_HEADERS] = slice_of("authorization,x-ms-date");
    CHECK(ask(&asked, any, 1, "http://a"));
    CHECK(slice_is(header(&asked, "access-control-allow-headers"), "authorization,x-ms-date"));
    CHECK(strstr(arena_text(&test_op()->arena, header(&asked, "access-control-allow-methods")), "PUT"));
}
