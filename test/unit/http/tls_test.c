/* test/unit/http/tls_test.c - https on the same port, with the certificate a server makes for itself. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http/certificate.h"
#include "http2_client.h"

static char cert_file[128], key_file[128];

static enum status make_certificate(void)
{
    static const char *const names[] = { "db.example.com", "10.1.2.3" };

    snprintf(cert_file, sizeof(cert_file), "%s/cert.pem", test_directory());
    snprintf(key_file, sizeof(key_file), "%s/key.pem", test_directory());
    return certificate_ensure(test_op(), cert_file, key_file, names, 2);
}

static struct http_options tls_options(void)
{
    struct http_options options = site_options();

    CHECK(make_certificate() == ST_OK);
    options.tls_cert_file = cert_file;
    options.tls_key_file = key_file;
    return options;
}

/* Trusts the server's certificate only, and wants it to name `name`. */
static SSL_CTX *trust(const char *name)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    X509_VERIFY_PARAM *wanted = SSL_CTX_get0_param(context);

    CHECK(SSL_CTX_load_verify_locations(context, cert_file, NULL) == 1);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    if (X509_VERIFY_PARAM_set1_ip_asc(wanted, name) != 1)
        CHECK(X509_VERIFY_PARAM_set1_host(wanted, name, 0) == 1);
    return context;
}

static bool shake_hands(struct client *client, SSL_CTX *context)
{
    client->ssl = SSL_new(context);
    SSL_set_fd(client->ssl, client->fd);
    return SSL_connect(client->ssl) == 1;
}

static bool connects_as(const struct http_server *server, const char *name)
{
    struct client client = client_connect(server, 0);
    SSL_CTX *context = trust(name);
    bool ok = shake_hands(&client, context);

    client_close(&client);
    SSL_CTX_free(context);
    return ok;
}

TEST(http_and_https_share_a_port)
{
    struct http_options options = tls_options();
    struct http_server *server = site_open(&options);
    struct client plain = client_connect(server, 0), secret = client_connect(server, 0);
    SSL_CTX *context = trust("localhost");
    struct reply reply;

    reply = client_ask(&plain, "GET /echo HTTP/1.1\r\n\r\n");
    CHECK(reply.status == 200 && reply_has(&reply, "\r\nx-tls: no\r\n"));
    REQUIRE(shake_hands(&secret, context));
    for (int i = 0; i < 3; i++) {
        reply = client_ask(&secret, "GET /echo HTTP/1.1\r\n\r\n");
        CHECK(reply.status == 200 && reply_has(&reply, "\r\nx-tls: yes\r\n"));
    }
    client_close(&plain);
    client_close(&secret);
    SSL_CTX_free(context);
    site_close(server);
}

TEST(the_made_certificate_verifies_for_every_name_it_was_made_for)
{
    struct http_options options = tls_options();
    struct http_server *server = site_open(&options);
    char host[256] = "";

    CHECK(connects_as(server, "localhost"));
    CHECK(connects_as(server, "127.0.0.1"));
    CHECK(connects_as(server, "::1"));
    CHECK(connects_as(server, "db.example.com"));
    CHECK(connects_as(server, "10.1.2.3"));
    gethostname(host, sizeof(host) - 1);
    CHECK(connects_as(server, host));
    CHECK(!connects_as(server, "elsewhere.example.com"));
    CHECK(!connects_as(server, "10.1.2.4"));
    site_close(server);
}

TEST(a_certificate_is_made_once_and_its_key_is_for_the_owner_only)
{
    struct stat before, after, key;

    REQUIRE(make_certificate() == ST_OK);
    REQUIRE(stat(cert_file, &before) == 0 && stat(key_file, &key) == 0);
    CHECK((key.st_mode & 0777) == 0600);
    REQUIRE(make_certificate() == ST_OK);
    REQUIRE(stat(cert_file, &after) == 0);
    CHECK(before.st_ino == after.st_ino);
    unlink(key_file); /* half a pair is no pair */
    REQUIRE(make_certificate() == ST_OK);
    REQUIRE(stat(cert_file, &after) == 0);
    CHECK(before.st_ino != after.st_ino || before.st_mtim.tv_nsec != after.st_mtim.tv_nsec);
}

TEST(two_certificates_differ_and_last_ten_years)
{
    X509 *certs[2];
    int days, seconds;

    for (int i = 0; i < 2; i++) {
        FILE *file;

        REQUIRE(make_certificate() == ST_OK);
        file = fopen(cert_file, "r");
        REQUIRE(file);
        certs[i] = PEM_read_X509(file, NULL, NULL, NULL);
        fclose(file);
        unlink(cert_file);
    }
    CHECK(ASN1_INTEGER_cmp(X509_get_serialNumber(certs[0]), X509_get_serialNumber(certs[1])) != 0);
    CHECK(ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(certs[0]), X509_get0_notAfter(certs[0])) == 1);
    CHECK(days == 3651);
    X509_free(certs[0]);
    X509_free(certs[1]);
}

TEST(a_certificate_that_cannot_be_written_is_an_error_that_names_the_file)
{
    CHECK(certificate_ensure(test_op(), "/nowhere/cert.pem", "/nowhere/key.pem", NULL, 0) != ST_OK);
    CHECK(strstr(test_op()->error, "/nowhere/key.pem"));
}

TEST(a_certificate_file_that_is_none_is_an_error_that_names_the_file)
{
    struct http_options options = site_options();
    struct http_server *server = NULL;

    options.tls_cert_file = options.tls_key_file = "/nowhere/cert.pem";
    CHECK(http_open(test_op(), &options, &server) != ST_OK);
    CHECK(!server && strstr(test_op()->error, "/nowhere/cert.pem"));
}

TEST(large_bodies_cross_tls_whole_in_both_directions)
{
    struct http_options options = tls_options();
    struct http_server *server = site_open(&options);
    struct client client = client_connect(server, 0);
    SSL_CTX *context = trust("localhost");
    static char body[300000];
    struct reply reply;
    bool same = true;

    REQUIRE(shake_hands(&client, context));
    memset(body, 'b', sizeof(body));
    client_send(&client, "POST /pool HTTP/1.1\r\nContent-Length: 300000\r\n\r\n");
    client_send_bytes(&client, body, sizeof(body));
    reply = client_read(&client);
    CHECK(reply.status == 200 && reply.body.size == strlen("POST /pool\n") + sizeof(body));
    reply = client_ask(&client, "GET /large HTTP/1.1\r\n\r\n");
    REQUIRE(reply.status == 200 && reply.body.size == LARGE_BYTES);
    for (size_t i = 0; i < LARGE_BYTES; i++)
        same = same && reply.body.data[i] == pattern_at(i);
    CHECK(same);
    client_close(&client);
    SSL_CTX_free(context);
    site_close(server);
}

TEST(requests_sent_in_one_record_are_all_answered)
{
    struct http_options options = tls_options();
    struct http_server *server = site_open(&options);
    struct client client = client_connect(server, 0);
    SSL_CTX *context = trust("localhost");

    REQUIRE(shake_hands(&client, context));
    client_send(&client, "GET /echo HTTP/1.1\r\n\r\nGET /pool HTTP/1.1\r\n\r\nGET /echo HTTP/1.1\r\n\r\n");
    for (int i = 0; i < 3; i++)
        CHECK(client_read(&client).status == 200);
    client_close(&client);
    SSL_CTX_free(context);
    site_close(server);
}

/* What no poll tells about: bytes that OpenSSL has read already and the parser has not seen. */
TEST(more_than_one_buffer_of_records_in_one_piece_is_read_to_its_end)
{
    struct http_options options = tls_options();
    struct http_server *server = site_open(&options);
    struct client client = client_connect(server, 0);
    SSL_CTX *context = trust("localhost");
    static const char one[] = "GET /echo HTTP/1.1\r\n\r\n";
    static char text[2000 * (sizeof(one) - 1)];

    for (size_t at = 0; at < sizeof(text); at += sizeof(one) - 1)
        memcpy(text + at, one, sizeof(one) - 1);
    REQUIRE(shake_hands(&client, context));
    client_send_bytes(&client, text, sizeof(text));
    for (int i = 0; i < 2000; i++)
        REQUIRE(client_read(&client).status == 200);
    client_close(&client);
    SSL_CTX_free(context);
    site_close(server);
}

TEST(a_record_that_ends_with_the_buffer_is_not_the_last)
{
    struct http_options options = tls_options();
    struct http_server *server = site_open(&options);
    struct client client = client_connect(server, 0);
    SSL_CTX *context = trust("localhost");
    static char text[8192 + 64];

    /* The first request is as large as the first buffer; the second is in the same record. */
    memset(text, 'x', sizeof(text));
    memcpy(text, "GET /echo HTTP/1.1\r\nlong: ", 26);
    memcpy(text + 8192 - 4, "\r\n\r\n", 4);
    memcpy(text + 8192, "GET /echo HTTP/1.1\r\n\r\n", 22);
    REQUIRE(shake_hands(&client, context));
    client_send_bytes(&client, text, 8192 + 22);
    CHECK(client_read(&client).status == 200);
    CHECK(client_read(&client).status == 200);
    client_close(&client);
    SSL_CTX_free(context);
    site_close(server);
}

TEST(records_that_come_together_are_all_read)
{
    struct http_options options = tls_options();
    struct http_server *server = site_open(&options);
    struct client client = client_connect(server, 0);
    SSL_CTX *context = trust("localhost");
    int corked = 1;

    REQUIRE(shake_hands(&client, context));
    CHECK(client_ask(&client, "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    setsockopt(client.fd, IPPROTO_TCP, TCP_CORK, &corked, sizeof(corked));
    for (int i = 0; i < 5; i++)
        client_send(&client, "GET /echo HTTP/1.1\r\n\r\n");
    corked = 0;
    setsockopt(client.fd, IPPROTO_TCP, TCP_CORK, &corked, sizeof(corked));
    for (int i = 0; i < 5; i++)
        REQUIRE(client_read(&client).status == 200);
    client_close(&client);
    SSL_CTX_free(context);
    site_close(server);
}

/* A connection that has agreed on the protocols that are offered: each a byte of its size, and its name. */
static struct client agree_on(const struct http_server *server, SSL_CTX *context, const char *offered)
{
    struct client client = client_connect(server, 0);

    SSL_CTX_set_alpn_protos(context, (const unsigned char *)offered, (unsigned int)strlen(offered));
    if (!shake_hands(&client, context))
        client_close(&client);
    return client;
}

TEST(http2_is_spoken_where_it_is_offered_and_http_1_1_where_it_is_not)
{
    struct http_options options = tls_options();
    struct http_server *server = site_open(&options);
    SSL_CTX *context = trust("localhost");
    struct client both = agree_on(server, context, "\x08http/1.1\x02h2");
    struct client old = agree_on(server, context, "\x08http/1.1"),
                  foreign = agree_on(server, context, "\x02h3");
    struct http2_client *modern;
    const struct http2_reply *reply;

    REQUIRE(both.ssl && old.ssl);
    CHECK(!foreign.ssl);
    modern = http2_connect_over(both, NULL, 0);
    for (int i = 0; i < 3; i++) {
        reply = http2_ask(modern, &(struct http2_request){ .path = "/pool" });
        CHECK(reply->status == 200 && http2_head_has(reply, "x-tls: yes\n"));
    }
    CHECK(http2_ask(modern, &(struct http2_request){ .path = "/large" })->body_size == LARGE_BYTES);
    CHECK(client_ask(&old, "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    http2_disconnect(modern);
    client_close(&old);
    SSL_CTX_free(context);
    site_close(server);
}

/* Over TLS the two sides have agreed before (RFC 9113, 3.2). */
TEST(prior_knowledge_is_for_plain_connections)
{
    struct http_options options = tls_options();
    struct http_server *server = site_open(&options);
    SSL_CTX *context = trust("localhost");
    struct client client = agree_on(server, context, "\x08http/1.1");

    REQUIRE(client.ssl);
    CHECK(client_ask(&client, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").status == 400);
    client_close(&client);
    SSL_CTX_free(context);
    site_close(server);
}

TEST(tls_1_1_is_refused_and_1_2_is_not)
{
    struct http_options options = tls_options();
    struct http_server *server = site_open(&options);
    struct client old = client_connect(server, 0), client = client_connect(server, 0);
    SSL_CTX *context = trust("localhost");

    SSL_CTX_set_security_level(context, 0); /* the client would; the server does not */
    SSL_CTX_set_min_proto_version(context, TLS1_1_VERSION);
    SSL_CTX_set_max_proto_version(context, TLS1_1_VERSION);
    CHECK(!shake_hands(&old, context));
    SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
    CHECK(shake_hands(&client, context));
    CHECK(client_ask(&client, "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    client_close(&old);
    client_close(&client);
    SSL_CTX_free(context);
    site_close(server);
}

TEST(a_handshake_that_does_not_end_in_time_is_closed)
{
    struct http_options options = tls_options();
    struct http_server *server;
    struct client client;
    struct http_stats stats;

    options.request_ms = 50;
    server = site_open(&options);
    client = client_connect(server, 0);
    client_send_bytes(&client, "\x16\x03\x01", 3);
    CHECK(client_is_closed(&client));
    http_stats(server, &stats);
    CHECK(stats.timeouts == 1);
    client_close(&client);
    site_close(server);
}

TEST(a_refused_request_is_answered_over_tls_too)
{
    struct http_options options = tls_options();
    struct http_server *server = site_open(&options);
    struct client client = client_connect(server, 0);
    SSL_CTX *context = trust("localhost");

    REQUIRE(shake_hands(&client, context));
    CHECK(client_ask(&client, "nonsense\r\n\r\n").status == 400);
    CHECK(client_is_closed(&client));
    CHECK(SSL_get_shutdown(client.ssl) & SSL_RECEIVED_SHUTDOWN); /* a proper goodbye, not a cut */
    client_close(&client);
    SSL_CTX_free(context);
    site_close(server);
}

/* ---- plain http where it is not wanted ---- */

TEST(plain_http_is_refused_in_words_and_https_is_served)
{
    struct http_options options = tls_options();
    struct http_server *server;
    struct client plain, own, secret;
    SSL_CTX *context = trust("localhost");
    struct reply reply;

    options.tls_only = true;
    server = site_open(&options);
    plain = client_connect_from(server, 2);
    own = client_connect(server, 0); /* from the address that it goes to */
    secret = client_connect_from(server, 2);
    reply = client_ask(&plain, "GET /echo HTTP/1.1\r\n\r\n");
    CHECK(reply.status == 400 && reply_has(&reply, "\r\nConnection: close\r\n"));
    CHECK(memmem(reply.body.data, reply.body.size, "https only", 10) && client_is_closed(&plain));
    CHECK(client_ask(&own, "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    REQUIRE(shake_hands(&secret, context));
    CHECK(client_ask(&secret, "GET /echo HTTP/1.1\r\n\r\n").status == 200);
    client_close(&plain);
    client_close(&own);
    client_close(&secret);
    SSL_CTX_free(context);
    site_close(server);
}

static bool connects_with(const struct http_server *server, const char *suites)
{
    struct client client = client_connect(server, 0);
    SSL_CTX *context = trust("localhost");
    bool ok;

    SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
    CHECK(SSL_CTX_set_cipher_list(context, suites) == 1);
    ok = shake_hands(&client, context);
    client_close(&client);
    SSL_CTX_free(context);
    return ok;
}

TEST(tls_1_2_has_forward_secrecy_and_authenticated_encryption_only)
{
    struct http_options options = tls_options();
    struct http_server *server = site_open(&options);

    CHECK(connects_with(server, "ECDHE-ECDSA-AES128-GCM-SHA256"));
    CHECK(connects_with(server, "ECDHE-ECDSA-CHACHA20-POLY1305"));
    CHECK(!connects_with(server, "ECDHE-ECDSA-AES128-SHA"));
    CHECK(!connects_with(server, "ECDHE-ECDSA-AES256-SHA384"));
    site_close(server);
}

TEST(the_made_certificate_vouches_for_nobody_else)
{
    X509 *cert;
    FILE *file;

    REQUIRE(make_certificate() == ST_OK);
    file = fopen(cert_file, "r");
    REQUIRE(file);
    cert = PEM_read_X509(file, NULL, NULL, NULL);
    fclose(file);
    CHECK(X509_check_ca(cert) == 0);
    CHECK(X509_get_key_usage(cert) == KU_DIGITAL_SIGNATURE);
    X509_free(cert);
}
