/*
 * test/unit/http/harness.h - a server with a small handler of its own, and clients of raw sockets.
 * What the handler does is told by the target's beginning:
 *     /echo     answers "METHOD TARGET\n" and the body
 *     /header   answers the value of x-ms-session-token, or "absent"
 *     /empty    204           /large    LARGE_BYTES of a pattern
 *     /pool     goes to the pool, then does as /echo
 *     /wait     goes to the pool and waits there for gate_open()
 *     /stuck    goes to the pool and stays until its op is cancelled, then enters the gate
 *     /hold     keeps the loop itself until gate_open();   /sent   answers how many bytes the server has sent
 *     /closed   may send no body: 401
 *     /pending  is pending until resume_all(), then does as /echo; /pending-pool goes to the pool in between
 *     /steps    spends all the steps that it has on the loop and answers how many; goes to the pool if there are none
 * A read that gets nothing for ten seconds fails the test rather than hang it.
 */
#pragma once
#include <openssl/ssl.h>

#include "http/http.h"
#include "test.h"

enum { LARGE_BYTES = 8 * 1024 * 1024 };

/* Limits are generous and there is one loop; a test changes what it is about. */
struct http_options site_options(void);
struct http_server *site_open(
    const struct http_options *options); /* NULL and a failed test when it cannot be */
void site_close(struct http_server *server);

void gate_close(void);           /* and nobody has entered */
void gate_wait_for(int entered); /* until so many requests are in the handler */
void gate_open(void);

/* As one that commits for others would, once so many are pending. How many were called again since the server was opened. */
void pending_wait_for(size_t count);
void resume_all(size_t count);
size_t resumed_count(void);

struct client {
    int fd;
    SSL *ssl;   /* NULL for plain http */
    char *data; /* what has come */
    size_t size, capacity;
    size_t taken; /* by the last reply, which lies there until the next call */
};

struct reply {
    int status;
    bool whole;              /* false: the server closed, or sent no HTTP */
    struct slice head, body; /* in the client's buffer until the next call */
};

struct client client_connect(const struct http_server *server, size_t address);
struct client client_connect_from(const struct http_server *server, uint8_t host); /* from 127.0.0.host */
void client_send(struct client *client, const char *text);
bool client_send_bytes(struct client *client, const void *data, size_t size); /* false: nobody takes it */
struct reply client_read(struct client *client);                              /* one answer */
struct reply client_read_head(struct client *client); /* of an answer without a body: HEAD, 204, 100 */
struct reply client_ask(struct client *client, const char *text);
bool client_is_closed(struct client *client); /* waits for the other side's end */
void client_close(struct client *client);

bool reply_has(const struct reply *reply, const char *text); /* somewhere in its head */
char pattern_at(size_t offset);                              /* the bytes of /large */
